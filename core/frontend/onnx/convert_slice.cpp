// Parts of tensors, and constants.

#include "core/frontend/onnx/composer.h"
#include "core/frontend/onnx/schema.h"
#include "core/support/element_count.h"
#include "core/support/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lathe::frontend::onnx_detail {
namespace {

Result<std::vector<ValueId>> convertConcat(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const std::int64_t axis, node.integer("axis", b.opset() < 4 ? 1 : 0));
    std::vector<ValueId> inputs;
    for (std::int64_t i = 0; i < node.inputCount(); ++i) {
        LATHE_TRY_ASSIGN(const ValueId input, b.input(node, i));
        inputs.push_back(input);
    }
    LATHE_TRY_ASSIGN(const ValueId y, b.emit("concatenate", {{"axis", axis}}, inputs));
    return std::vector{y};
}

/// A slice for each part. Sizes as attribute, or as input since opset 13; without them equal parts, the last one
/// smaller where num_outputs is given (opset 18).
Result<std::vector<ValueId>> convertSplit(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(std::int64_t axis, node.integer("axis", 0));
    LATHE_TRY_ASSIGN(const std::optional<Ints> given, attributeOrInput(b, node, "split", 1));
    LATHE_TRY_ASSIGN(const std::int64_t parts, node.integer("num_outputs", node.proto().output_size()));
    const std::int64_t rank = b.rank(x);
    if (axis < -rank || axis >= rank)
        return makeError(Errc::BadFile, say(Msg::AxisOutside, axis, rank));
    axis = axis < 0 ? axis + rank : axis;
    const std::int64_t extent = b.shape(x)[static_cast<std::size_t>(axis)];
    Ints sizes = given.value_or(Ints{});
    if (!given) {
        if (parts < 1 || parts > node.proto().output_size())
            return makeError(Errc::BadFile, say(Msg::OutputsSaid, parts, node.proto().output_size()));
        const std::int64_t size = (extent + parts - 1) / parts;
        for (std::int64_t i = 0; i < parts; ++i)
            sizes.push_back(std::clamp<std::int64_t>(extent - i * size, 0, size));
    }
    std::vector<ValueId> results;
    std::int64_t sum = 0;
    for (const std::int64_t size : sizes) {
        if (size < 0 || size > extent - sum)
            return makeError(Errc::BadFile, say(Msg::SizesOfAxis, fmt::format("[{}]", fmt::join(sizes, ", ")), extent));
        LATHE_TRY_ASSIGN(
            const ValueId part,
            b.emit("strided_slice", {{"begin", Ints{sum}}, {"end", Ints{sum + size}}, {"axes", Ints{axis}}}, {x}));
        results.push_back(part);
        sum += size;
    }
    if (sum != extent || sizes.empty())
        return makeError(Errc::BadFile, say(Msg::SizesOfAxis, fmt::format("[{}]", fmt::join(sizes, ", ")), extent));
    return results;
}

/// begin, end, axes and steps as attributes up to opset 9, as inputs since.
Result<std::vector<ValueId>> convertSlice(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(const std::optional<Ints> begin, attributeOrInput(b, node, "starts", 1));
    LATHE_TRY_ASSIGN(const std::optional<Ints> end, attributeOrInput(b, node, "ends", 2));
    LATHE_TRY_ASSIGN(const std::optional<Ints> axes, attributeOrInput(b, node, "axes", 3));
    LATHE_TRY_ASSIGN(const std::optional<Ints> steps, attributeOrInput(b, node, "steps", 4));
    if (!begin || !end)
        return makeError(Errc::BadFile, say(Msg::StartsAndEnds));
    Attrs attrs{{"begin", *begin}, {"end", *end}};
    if (axes)
        attrs["axes"] = *axes;
    if (steps)
        attrs["strides"] = *steps;
    LATHE_TRY_ASSIGN(const ValueId y, b.emit("strided_slice", std::move(attrs), {x}));
    return std::vector{y};
}

Result<std::vector<ValueId>> convertGather(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(const ValueId indices, b.input(node, 1));
    LATHE_TRY_ASSIGN(const std::int64_t axis, node.integer("axis", 0));
    LATHE_TRY_ASSIGN(const ValueId y, b.emit("take", {{"axis", axis}}, {x, indices}));
    return std::vector{y};
}

/// All amounts before, then all amounts after, as attribute up to opset 10, as input since; axes since opset 18.
Result<std::vector<ValueId>> convertPad(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(const std::string mode, node.text("mode", "constant"));
    LATHE_TRY_ASSIGN(const std::optional<Ints> amounts, attributeOrInput(b, node, "pads", 1));
    LATHE_TRY_ASSIGN(double value, node.number("value", 0.0));
    if (mode != "constant" && mode != "edge" && mode != "reflect" && mode != "wrap")
        return makeError(Errc::Unsupported, say(Msg::NeedsAttributeValue, "mode", mode.substr(0, 40)));
    ValueId fill; // where it is not known
    if (node.hasInput(2)) {
        LATHE_TRY_ASSIGN(fill, b.input(node, 2));
    }
    if (fill.valid() && (b.isConstant(fill) || b.isEmpty(fill) || mode != "constant")) {
        fill = {};
        LATHE_TRY_ASSIGN(const std::vector<double> values, b.constantNumbers(node, 2, "the padding value"));
        if (values.size() != 1)
            return makeError(Errc::BadFile, say(Msg::PadValueNotOne));
        value = values[0];
    }
    const std::int64_t rank = b.rank(x);
    Ints axes;
    if (node.hasInput(3)) {
        LATHE_TRY_ASSIGN(axes, b.constantInts(node, 3, "axes"));
    } else {
        for (std::int64_t i = 0; i < rank; ++i)
            axes.push_back(i);
    }
    if (!amounts || amounts->size() != 2 * axes.size())
        return makeError(Errc::BadFile, say(Msg::PadsForDimensions, amounts ? amounts->size() : 0, axes.size()));
    Ints width(static_cast<std::size_t>(2 * rank), 0);
    for (std::size_t i = 0; i < axes.size(); ++i) {
        if (axes[i] < -rank || axes[i] >= rank)
            return makeError(Errc::BadFile, say(Msg::AxisOutsideInput, axes[i]));
        const auto d = static_cast<std::size_t>(axes[i] < 0 ? axes[i] + rank : axes[i]);
        width[2 * d] = (*amounts)[i];
        width[2 * d + 1] = (*amounts)[i + axes.size()];
    }
    if (mode == "wrap") {
        constexpr std::int64_t kMaxWrapped = std::int64_t{1} << 20;
        Composer c(b);
        ValueId y = x;
        for (std::int64_t d = 0; d < rank; ++d) {
            const std::int64_t before = width[static_cast<std::size_t>(2 * d)],
                               after = width[static_cast<std::size_t>(2 * d + 1)],
                               extent = b.shape(x)[static_cast<std::size_t>(d)];
            if (before < 0 || after < 0 || before > kMaxWrapped || after > kMaxWrapped || extent < 1
                || extent > kMaxWrapped)
                return makeError(Errc::Unsupported, say(Msg::NeedsWrap, before, after, extent));
            Ints positions;
            for (std::int64_t i = -before; i < extent + after; ++i)
                positions.push_back((i % extent + extent) % extent);
            if (before + after > 0)
                y = c.take(y, positions, d);
        }
        return c.finish({y});
    }
    if (fill.valid()) {
        if (b.dtype(fill) != b.dtype(x) || b.rank(fill) > 1)
            return makeError(Errc::BadFile, say(Msg::PadValueNotOne));
        Composer c(b);
        const ValueId inside = c.pad(c.broadcast(b.scalar(DType::Bool, 1), b.shape(x)), width);
        return c.finish({c.where(inside, c.pad(x, width), c.reshape(fill, {}))});
    }
    LATHE_TRY_ASSIGN(const ValueId y, b.emit("pad", {{"pad_width", width}, {"mode", mode}, {"value", value}}, {x}));
    return std::vector{y};
}

Result<std::vector<ValueId>> convertConstant(Builder& b, NodeReader& node)
{
    if (node.has("value")) {
        LATHE_TRY_ASSIGN(::onnx::TensorProto* const proto, node.tensor("value"));
        LATHE_TRY_ASSIGN(ConstTensor tensor, b.tensors().read(*proto));
        return std::vector{b.addConstant({}, std::move(tensor))};
    }
    if (node.has("value_float")) {
        LATHE_TRY_ASSIGN(const double value, node.number("value_float", 0));
        return std::vector{b.scalar(DType::F32, value)};
    }
    if (node.has("value_floats")) {
        LATHE_TRY_ASSIGN(const std::vector<double> values, node.numbers("value_floats"));
        return std::vector{b.constant(DType::F32, {static_cast<std::int64_t>(values.size())}, values)};
    }
    if (node.has("value_int")) {
        LATHE_TRY_ASSIGN(const std::int64_t value, node.integer("value_int", 0));
        return std::vector{b.addConstant({}, {DType::I64, {}, graph::makeConst(&value, sizeof(value))})};
    }
    if (node.has("value_ints")) {
        LATHE_TRY_ASSIGN(const Ints values, node.integers("value_ints"));
        return std::vector{b.ints(values)};
    }
    LATHE_TRY(node.finish()); // names the form that it has
    return makeError(Errc::BadFile, say(Msg::ConstantNoValue));
}

constexpr std::int64_t kMaxMade = std::int64_t{1} << 24; ///< elements of a tensor that a few bytes of the file ask for

Result<std::vector<ValueId>> convertConstantOfShape(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const Ints shape, b.constantInts(node, 0, "shape"));
    LATHE_TRY_ASSIGN(::onnx::TensorProto* const proto, node.tensor("value"));
    ConstTensor value;
    if (proto) {
        LATHE_TRY_ASSIGN(value, b.tensors().read(*proto));
        if (value.data->bytes != static_cast<std::size_t>(sizeOf(value.dtype)))
            return makeError(Errc::BadFile, say(Msg::ValueNotOne));
    } else {
        const float zero = 0;
        value = {DType::F32, {1}, graph::makeConst(&zero, sizeof(zero))};
    }
    const auto count = checkedElementCount(shape, kMaxMade);
    if (!count)
        return makeError(Errc::BadFile, say(Msg::ShapeTooLarge, fmt::format("[{}]", fmt::join(shape, ", ")), kMaxMade));
    LATHE_TRY(b.charge(*count * sizeOf(value.dtype)));
    std::vector<std::byte> bytes;
    bytes.reserve(static_cast<std::size_t>(*count) * value.data->bytes);
    for (std::int64_t i = 0; i < *count; ++i)
        bytes.insert(bytes.end(), value.data->data, value.data->data + value.data->bytes);
    return std::vector{b.addConstant({}, {value.dtype, shape, graph::makeConst(bytes.data(), bytes.size())})};
}

Result<std::vector<ValueId>> convertRange(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId first, b.input(node, 0));
    node.ignore("stash_type"); // the precision of the arithmetic
    double ends[3] = {};
    for (std::int64_t i = 0; i < 3; ++i) {
        LATHE_TRY_ASSIGN(const std::vector<double> values, b.constantNumbers(node, i, "a bound"));
        if (values.size() != 1)
            return makeError(Errc::BadFile, say(Msg::RangeNotScalars));
        ends[i] = values[0];
    }
    const double count = ends[2] == 0 ? -1 : std::max(std::ceil((ends[1] - ends[0]) / ends[2]), 0.0);
    if (std::isnan((ends[1] - ends[0]) / ends[2]) || ends[2] == 0 || count > static_cast<double>(kMaxMade))
        return makeError(Errc::BadFile, say(Msg::RangeTooLong, ends[0], ends[1], ends[2]));
    LATHE_TRY(b.charge(static_cast<std::int64_t>(count) * sizeOf(b.dtype(first))));
    std::vector<double> values;
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(count); ++i)
        values.push_back(ends[0] + static_cast<double>(i) * ends[2]);
    return std::vector{b.constant(b.dtype(first), {static_cast<std::int64_t>(values.size())}, values)};
}

} // namespace

std::span<const ConverterEntry> sliceConverters()
{
    static constexpr ConverterEntry kTable[] = {
        {"Concat", convertConcat}, {"Constant", convertConstant}, {"ConstantOfShape", convertConstantOfShape},
        {"Gather", convertGather}, {"Pad", convertPad},           {"Range", convertRange},
        {"Slice", convertSlice},   {"Split", convertSplit},
    };
    return kTable;
}

} // namespace lathe::frontend::onnx_detail
