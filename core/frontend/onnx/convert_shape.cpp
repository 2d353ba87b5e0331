// The same elements in another shape or order, and arithmetic on shapes. Shapes are static, so Shape and Size are
// constants.

#include "core/frontend/onnx/importer.h"
#include "core/frontend/onnx/schema.h"
#include "core/support/element_count.h"
#include "core/support/message.h"

#include <fmt/format.h>

#include <algorithm>

namespace lathe::frontend::onnx_detail {
namespace {

Result<std::vector<ValueId>> convertFlatten(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(std::int64_t axis, node.integer("axis", 1));
    const std::int64_t rank = b.rank(x);
    if (axis < -rank || axis > rank)
        return makeError(Errc::BadFile, say(Msg::AxisOutside, axis, rank));
    axis = axis < 0 ? axis + rank : axis;
    if (axis == 1 && rank >= 1) {
        LATHE_TRY_ASSIGN(const ValueId y, b.emit("batch_flatten", {}, {x}));
        return std::vector{y};
    }
    const std::span<const std::int64_t> shape = b.shape(x);
    const auto split = static_cast<std::size_t>(axis);
    LATHE_TRY_ASSIGN(const ValueId y,
                     b.reshape(x, {elementCount(shape.first(split)), elementCount(shape.subspan(split))}));
    return std::vector{y};
}

Result<std::vector<ValueId>> convertReshape(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(std::optional<Ints> shape, attributeOrInput(b, node, "shape", 1));
    LATHE_TRY_ASSIGN(const std::int64_t allowZero, node.integer("allowzero", 0));
    if (!shape)
        return makeError(Errc::BadFile, say(Msg::ShapeAbsent));
    if (shape->size() > 64)
        return makeError(Errc::BadFile, say(Msg::ShapeDimensions, shape->size()));
    if (allowZero != 0 && std::ranges::find(*shape, 0) != shape->end()) {
        const bool fits = b.isEmpty(x) && std::ranges::all_of(*shape, [](std::int64_t extent) { return extent >= 0; });
        if (!fits)
            return makeError(Errc::BadFile, say(Msg::AllowzeroNeedsEmpty));
        return std::vector{b.emptyConstant({b.dtype(x), std::move(*shape)})};
    }
    LATHE_TRY_ASSIGN(const ValueId y, b.emit("reshape", {{"newshape", std::move(*shape)}}, {x}));
    return std::vector{y};
}

Result<std::vector<ValueId>> convertTranspose(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    Ints reversed;
    for (std::int64_t i = b.rank(x); i > 0; --i)
        reversed.push_back(i - 1);
    LATHE_TRY_ASSIGN(const Ints axes, node.integers("perm", reversed));
    LATHE_TRY_ASSIGN(const ValueId y, b.emit("transpose", {{"axes", axes}}, {x}));
    return std::vector{y};
}

/// Squeeze and Unsqueeze: axes as attribute, or as input since opset 13.
Result<std::vector<ValueId>> convertSqueeze(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(const std::optional<Ints> axes, attributeOrInput(b, node, "axes", 1));
    const bool squeeze = node.op() == "Squeeze";
    if (!squeeze && !axes)
        return makeError(Errc::BadFile, say(Msg::AxesAbsent));
    LATHE_TRY_ASSIGN(const ValueId y,
                     b.emit(squeeze ? "squeeze" : "expand_dims", {{"axes", axes.value_or(Ints{})}}, {x}));
    return std::vector{y};
}

Result<std::vector<ValueId>> convertExpand(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(Ints shape, b.constantInts(node, 1, "shape"));
    // Broadcasting works both ways: a 1 in the wanted shape keeps the input's extent.
    const Ints& in = b.shape(x);
    if (in.size() > shape.size())
        shape.insert(shape.begin(), in.size() - shape.size(), 1);
    for (std::size_t i = 0; i < in.size(); ++i) {
        std::int64_t& wanted = shape[shape.size() - 1 - i];
        if (wanted == 1)
            wanted = in[in.size() - 1 - i];
    }
    if (shape == in)
        return std::vector{x};
    LATHE_TRY_ASSIGN(const ValueId y, b.emit("broadcast_to", {{"shape", std::move(shape)}}, {x}));
    return std::vector{y};
}

/// Repeats each dimension: [d] -> [1, d] -> [r, d] -> [r * d], all dimensions at once.
Result<std::vector<ValueId>> convertTile(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(const Ints repeats, b.constantInts(node, 1, "repeats"));
    const Ints in = b.shape(x);
    if (repeats.size() != in.size())
        return makeError(Errc::BadFile, say(Msg::RepeatsForDimensions, repeats.size(), in.size()));
    Ints apart, wide, out;
    for (std::size_t i = 0; i < in.size(); ++i) {
        if (repeats[i] < 0 || repeats[i] > 0x7fffffff)
            return makeError(Errc::BadFile, say(Msg::RepeatsOutOfRange, repeats[i]));
        apart.insert(apart.end(), {1, in[i]});
        wide.insert(wide.end(), {repeats[i], in[i]});
    }
    LATHE_TRY_ASSIGN(ValueId y, b.reshape(x, apart));
    if (wide != apart) {
        LATHE_TRY_ASSIGN(y, b.emit("broadcast_to", {{"shape", wide}}, {y})); // refuses what is too large
    }
    for (std::size_t i = 0; i < in.size(); ++i)
        out.push_back(in[i] * repeats[i]);
    LATHE_TRY_ASSIGN(y, b.reshape(y, out));
    return std::vector{y};
}

/// DepthToSpace and SpaceToDepth are a reshape, a transpose and a reshape.
Result<std::vector<ValueId>> convertDepthSpace(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(const std::int64_t block, node.integer("blocksize", 0));
    LATHE_TRY_ASSIGN(const std::string mode, node.text("mode", "DCR"));
    const bool toSpace = node.op() == "DepthToSpace";
    if (b.rank(x) != 4 || block < 1 || block > 0x7fff || (mode != "DCR" && mode != "CRD"))
        return makeError(Errc::BadFile, say(Msg::BlocksOfImage));
    const Ints in = b.shape(x);
    if (std::ranges::find(in, 0) != in.end())
        return makeError(Errc::BadFile, say(Msg::InputEmpty));
    const std::int64_t n = in[0], c = in[1], h = in[2], w = in[3];
    if (toSpace ? c % (block * block) != 0 : (h % block != 0 || w % block != 0))
        return makeError(Errc::BadFile, say(Msg::BlocksizeDivides, block, fmt::format("[{}]", fmt::join(in, ", "))));
    Ints apart, axes, out;
    if (toSpace) {
        const std::int64_t depth = c / (block * block);
        apart = mode == "DCR" ? Ints{n, block, block, depth, h, w} : Ints{n, depth, block, block, h, w};
        axes = mode == "DCR" ? Ints{0, 3, 4, 1, 5, 2} : Ints{0, 1, 4, 2, 5, 3};
        out = {n, depth, h * block, w * block};
    } else {
        apart = {n, c, h / block, block, w / block, block};
        axes = mode == "DCR" ? Ints{0, 3, 5, 1, 2, 4} : Ints{0, 1, 3, 5, 2, 4};
        out = {n, c * block * block, h / block, w / block};
    }
    LATHE_TRY_ASSIGN(ValueId y, b.reshape(x, apart));
    LATHE_TRY_ASSIGN(y, b.emit("transpose", {{"axes", axes}}, {y}));
    LATHE_TRY_ASSIGN(y, b.reshape(y, out));
    return std::vector{y};
}

Result<std::vector<ValueId>> convertShape(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    const Ints& shape = b.shape(x);
    if (node.op() == "Size") {
        const std::int64_t count = elementCount(shape);
        const ValueId y = b.addConstant({}, {DType::I64, {}, graph::makeConst(&count, sizeof(count))});
        return std::vector{y};
    }
    const auto rank = static_cast<std::int64_t>(shape.size());
    LATHE_TRY_ASSIGN(std::int64_t start, node.integer("start", 0));
    LATHE_TRY_ASSIGN(std::int64_t end, node.integer("end", rank));
    start = std::clamp<std::int64_t>(start < 0 ? std::max(start, -rank) + rank : start, 0, rank);
    end = std::clamp<std::int64_t>(end < 0 ? std::max(end, -rank) + rank : end, start, std::max(rank, start));
    return std::vector{b.ints(Ints(shape.begin() + start, shape.begin() + end))};
}

} // namespace

std::span<const ConverterEntry> shapeConverters()
{
    static constexpr ConverterEntry kTable[] = {
        {"DepthToSpace", convertDepthSpace}, {"Expand", convertExpand},     {"Flatten", convertFlatten},
        {"Reshape", convertReshape},         {"Shape", convertShape},       {"Size", convertShape},
        {"SpaceToDepth", convertDepthSpace}, {"Squeeze", convertSqueeze},   {"Tile", convertTile},
        {"Transpose", convertTranspose},     {"Unsqueeze", convertSqueeze},
    };
    return kTable;
}

} // namespace lathe::frontend::onnx_detail
