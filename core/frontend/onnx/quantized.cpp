#include "core/frontend/onnx/quantized.h"

#include "core/frontend/onnx/shared_converters.h"

#include <algorithm>

namespace lathe::frontend::onnx_detail {
namespace {

/// Scales and zero points of rows: [M] -> [M, 1].
ValueId ofRows(Composer& c, ValueId parameter)
{
    return parameter.valid() ? along(c, parameter, 0, 2) : parameter;
}

ValueId scaled(Composer& c, std::string_view op, ValueId x, ValueId scale, ValueId zero, DType dtype)
{
    std::vector<ValueId> inputs{x, scale};
    if (zero.valid())
        inputs.push_back(zero);
    return c.op(op, inputs, {{"dtype", std::string(toString(dtype))}});
}

} // namespace

Result<ValueId> parameterInput(Builder& b, const NodeReader& node, std::int64_t index)
{
    if (!node.hasInput(index))
        return ValueId();
    LATHE_TRY_ASSIGN(const ValueId id, b.input(node, index));
    return b.shape(id) == Ints{1} ? b.reshape(id, {}) : Result<ValueId>(id);
}

Result<Quantized> quantizedInput(Builder& b, const NodeReader& node, std::int64_t values, std::int64_t scale,
                                 std::int64_t zero)
{
    Quantized q;
    LATHE_TRY_ASSIGN(q.values, b.input(node, values));
    LATHE_TRY(b.input(node, scale));
    LATHE_TRY_ASSIGN(q.scale, parameterInput(b, node, scale));
    LATHE_TRY_ASSIGN(q.zero, parameterInput(b, node, zero));
    return q;
}

ValueId along(Composer& c, ValueId parameter, std::int64_t axis, std::int64_t rank)
{
    if (c.rank(parameter) != 1 || rank < 2)
        return parameter;
    Ints column(static_cast<std::size_t>(rank - axis), 1);
    column[0] = c.extent(parameter, 0);
    return c.reshape(parameter, column);
}

ValueId dequantized(Composer& c, const Quantized& q, DType dtype)
{
    return scaled(c, "dequantize", q.values, q.scale, q.zero, dtype);
}

ValueId quantized(Composer& c, ValueId x, ValueId scale, ValueId zero)
{
    return scaled(c, "quantize", x, scale, zero, zero.valid() ? c.dtype(zero) : DType::U8);
}

Quantized quantizedByRange(Composer& c, ValueId x)
{
    const ValueId none = c.like(x, 0);
    const ValueId high = c.op("maximum", {c.reduce("max", x, {}, false), none});
    const ValueId low = c.op("minimum", {c.reduce("min", x, {}, false), none});
    // Of zeros alone, 1, as ONNX Runtime gives: the standard's formula would divide by 0.
    const ValueId width = c.sub(high, low);
    Quantized q;
    q.scale = c.where(c.op("equal", {width, none}), c.like(x, 1), c.div(width, c.like(x, 255)));
    q.zero = quantized(c, c.op("negative", {low}), q.scale, c.number(DType::U8, 0));
    q.values = quantized(c, x, q.scale, q.zero);
    return q;
}

ValueId requantized(Composer& c, ValueId sums, ValueId multiplier, ValueId zero)
{
    return scaled(c, "requantize", sums, multiplier, zero, zero.valid() ? c.dtype(zero) : DType::U8);
}

ValueId centred(Composer& c, ValueId values, ValueId zero)
{
    if (!zero.valid() || c.isZero(zero))
        return values;
    const DType wide = c.failed() || sizeOf(c.dtype(values)) == 1 ? DType::I16 : DType::I32;
    return c.sub(c.cast(values, wide), c.cast(zero, wide));
}

Result<ValueId> integerProduct(Builder& b, Composer& c, const Quantized& left, const Quantized& right)
{
    const ValueId x = centred(c, left.values, ofRows(c, left.zero));
    const ValueId y = centred(c, right.values, right.zero);
    LATHE_TRY(c.finish({}));
    return matrixProduct(b, x, y);
}

ValueId productScale(Composer& c, const Quantized& left, const Quantized& right)
{
    return c.mul(c.cast(ofRows(c, left.scale), DType::F32), c.cast(right.scale, DType::F32));
}

} // namespace lathe::frontend::onnx_detail
