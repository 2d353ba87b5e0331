// To and from integers with scales. Kernels compute in float32 or int32; results are rounded to even and saturated.

#include "core/frontend/onnx/composer.h"
#include "core/frontend/onnx/schema.h"
#include "core/support/message.h"

#include <fmt/format.h>

#include <cmath>

namespace lathe::frontend::onnx_detail {
namespace {

Result<std::vector<std::int64_t>> rangeOf(DType dtype)
{
    switch (dtype) {
    case DType::I8: return Ints{-128, 127};
    case DType::U8: return Ints{0, 255};
    case DType::I16: return Ints{-32768, 32767};
    case DType::U16: return Ints{0, 65535};
    default: return makeError(Errc::Unsupported, say(Msg::NeedsQuantizationTo, toString(dtype)));
    }
}

/// A scale or zero point against x: one for all, one per entry of `axis`, or one per block of entries.
ValueId spread(Composer& c, ValueId parameter, ValueId x, std::int64_t axis, std::int64_t block)
{
    const Ints shape = c.shape(parameter);
    if (shape.empty() || (shape.size() == 1 && shape[0] == 1 && block == 0))
        return c.reshape(parameter, {});
    axis = axis < 0 ? axis + c.rank(x) : axis;
    if (axis < 0 || axis >= c.rank(x))
        return c.bad(say(Msg::AttributeAxisOutside));
    const auto d = static_cast<std::size_t>(axis);
    if (block == 0) {
        if (shape.size() != 1 || shape[0] != c.extent(x, axis))
            return c.bad(say(Msg::ScaleLength));
        Ints column(static_cast<std::size_t>(c.rank(x) - axis), 1);
        column[0] = shape[0];
        return c.reshape(parameter, column);
    }
    if (static_cast<std::int64_t>(shape.size()) != c.rank(x) || block < 0 || block > c.extent(x, axis))
        return c.bad("the scale of blocks must have as many dimensions as the input");
    Ints apart = shape, wide, joined = shape;
    apart.insert(apart.begin() + axis + 1, 1);
    wide = apart;
    wide[d + 1] = block;
    joined[d] *= block;
    return c.slice(c.reshape(c.broadcast(c.reshape(parameter, apart), wide), joined), axis, 0, c.extent(x, axis));
}

/// round(x) + zero, saturated to `dtype`; zero is of x's type.
ValueId toInteger(Composer& c, ValueId x, ValueId zero, DType dtype)
{
    const auto range = rangeOf(dtype);
    if (!range)
        return c.fail(range.error());
    ValueId y = c.op("round", {x});
    if (zero.valid())
        y = c.add(y, zero);
    y = c.op("clip", {y}, {{"min", static_cast<double>((*range)[0])}, {"max", static_cast<double>((*range)[1])}});
    return c.cast(y, dtype);
}

Result<std::vector<ValueId>> convertQuantize(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(const ValueId scale, b.input(node, 1));
    LATHE_TRY_ASSIGN(const std::int64_t axis, node.integer("axis", 1));
    LATHE_TRY_ASSIGN(const std::int64_t block, node.integer("block_size", 0));
    LATHE_TRY_ASSIGN(const std::int64_t wanted, node.integer("output_dtype", 0));
    LATHE_TRY_ASSIGN(const std::int64_t precision, node.integer("precision", 0));
    node.ignore("saturate"); // of 8-bit floats alone
    Composer c(b);
    DType dtype = DType::U8;
    ValueId zero;
    if (node.hasInput(2)) {
        LATHE_TRY_ASSIGN(zero, b.input(node, 2));
        dtype = b.dtype(zero);
        zero = spread(c, c.cast(zero, DType::F32), x, axis, block);
    } else if (wanted != 0) {
        const auto known = dtypeOf(wanted);
        if (!known)
            return makeError(Errc::Unsupported, say(Msg::NeedsAttributeNumber, "output_dtype", dataTypeText(wanted)));
        dtype = *known;
    }
    if (precision != 0 && dtypeOf(precision) != DType::F32)
        return makeError(Errc::Unsupported, say(Msg::NeedsAttributeNumber, "precision", dataTypeText(precision)));
    const ValueId ratio = c.div(c.cast(x, DType::F32), spread(c, c.cast(scale, DType::F32), x, axis, block));
    return c.finish({toInteger(c, ratio, zero, dtype)});
}

Result<std::vector<ValueId>> convertDequantize(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(const ValueId scale, b.input(node, 1));
    LATHE_TRY_ASSIGN(const std::int64_t axis, node.integer("axis", 1));
    LATHE_TRY_ASSIGN(const std::int64_t block, node.integer("block_size", 0));
    LATHE_TRY_ASSIGN(const std::int64_t wanted, node.integer("output_dtype", 0));
    const auto dtype = wanted == 0 ? std::optional(b.dtype(scale)) : dtypeOf(wanted);
    if (!dtype || !isFloat(*dtype))
        return makeError(Errc::Unsupported, say(Msg::NeedsAttributeNumber, "output_dtype", dataTypeText(wanted)));
    Composer c(b);
    ValueId y = c.cast(x, DType::F32);
    if (node.hasInput(2)) {
        LATHE_TRY_ASSIGN(const ValueId zero, b.input(node, 2));
        y = c.sub(y, spread(c, c.cast(zero, DType::F32), x, axis, block));
    }
    return c.finish({c.cast(c.mul(y, spread(c, c.cast(scale, DType::F32), x, axis, block)), *dtype)});
}

/// Scale and zero point from the range of the values, which always holds 0.
Result<std::vector<ValueId>> convertDynamicQuantize(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    Composer c(b);
    const ValueId none = c.like(x, 0);
    const ValueId high = c.op("maximum", {c.reduce("max", x, {}, false), none});
    const ValueId low = c.op("minimum", {c.reduce("min", x, {}, false), none});
    // Of zeros alone, 1, as ONNX Runtime gives: the standard's formula would divide by 0.
    const ValueId width = c.sub(high, low);
    const ValueId scale = c.where(c.op("equal", {width, none}), c.like(x, 1), c.div(width, c.like(x, 255)));
    const ValueId shift = c.op("clip", {c.op("round", {c.div(c.op("negative", {low}), scale)})},
                               {{"min", 0.0}, {"max", 255.0}});
    return c.finish({toInteger(c, c.div(x, scale), shift, DType::U8), scale, c.cast(shift, DType::U8)});
}

/// An input as int32 without its zero point. `rows`: zero points are of rows ([M]), else of columns.
Result<ValueId> centred(Builder& b, Composer& c, NodeReader& node, std::int64_t value, std::int64_t zeroPoint,
                        bool rows)
{
    LATHE_TRY_ASSIGN(const ValueId given, b.input(node, value));
    ValueId x = c.cast(given, DType::I32);
    if (node.hasInput(zeroPoint)) {
        LATHE_TRY_ASSIGN(const ValueId zero, b.input(node, zeroPoint));
        ValueId shift = c.cast(zero, DType::I32);
        if (rows && c.rank(shift) == 1 && c.extent(shift, 0) > 1)
            shift = c.reshape(shift, {c.extent(shift, 0), 1});
        x = c.sub(x, shift);
    }
    return x;
}

Result<std::vector<ValueId>> convertMatMulInteger(Builder& b, NodeReader& node)
{
    Composer c(b);
    LATHE_TRY_ASSIGN(const ValueId left, centred(b, c, node, 0, 2, true));
    LATHE_TRY_ASSIGN(const ValueId right, centred(b, c, node, 1, 3, false));
    return c.finish({c.matmul(left, right)});
}

Result<std::vector<ValueId>> convertQLinearMatMul(Builder& b, NodeReader& node)
{
    Composer c(b);
    LATHE_TRY_ASSIGN(const ValueId left, centred(b, c, node, 0, 2, true));
    LATHE_TRY_ASSIGN(const ValueId right, centred(b, c, node, 3, 5, false));
    std::vector<ValueId> scales;
    for (const std::int64_t i : {1, 4, 6}) {
        LATHE_TRY_ASSIGN(const ValueId scale, b.input(node, i));
        scales.push_back(c.cast(scale, DType::F32));
    }
    if (c.rank(scales[0]) == 1 && c.extent(scales[0], 0) > 1)
        scales[0] = c.reshape(scales[0], {c.extent(scales[0], 0), 1});
    LATHE_TRY_ASSIGN(const ValueId zero, b.input(node, 7));
    const ValueId product = c.cast(c.matmul(left, right), DType::F32);
    const ValueId y = c.div(c.mul(product, c.mul(scales[0], scales[1])), scales[2]);
    return c.finish({c.failed() ? ValueId() : toInteger(c, y, c.cast(zero, DType::F32), b.dtype(zero))});
}

} // namespace

std::span<const ConverterEntry> quantizeConverters()
{
    static constexpr ConverterEntry kTable[] = {
        {"DequantizeLinear", convertDequantize}, {"DynamicQuantizeLinear", convertDynamicQuantize},
        {"MatMulInteger", convertMatMulInteger}, {"QLinearMatMul", convertQLinearMatMul},
        {"QuantizeLinear", convertQuantize},
    };
    return kTable;
}

} // namespace lathe::frontend::onnx_detail
