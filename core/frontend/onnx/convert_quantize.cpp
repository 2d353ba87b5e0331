// To and from integers with scales, in the standard's own domain and in com.microsoft.

#include "core/frontend/onnx/quantized.h"
#include "core/frontend/onnx/schema.h"
#include "core/frontend/onnx/shared_converters.h"
#include "core/support/message.h"

#include <fmt/format.h>

namespace lathe::frontend::onnx_detail {
namespace {

struct Spread
{
    std::int64_t axis = 0; ///< of scales and zero points with several values
    std::int64_t block = 0; ///< neighbours along the axis that share a scale; 0: none do
};

/// Errors: BadFile if the scale does not fit the data.
Result<Spread> spreadOf(Builder& b, NodeReader& node, ValueId x, ValueId scale)
{
    Spread s;
    LATHE_TRY_ASSIGN(s.axis, node.integer("axis", 1));
    LATHE_TRY_ASSIGN(s.block, node.integer("block_size", 0));
    const std::int64_t rank = b.rank(x);
    if (b.rank(scale) == 0) {
        s.axis = 0; // not asked for; an older axis of 1 may not even exist
        return s;
    }
    s.axis = s.axis < 0 ? s.axis + rank : s.axis;
    if (s.axis < 0 || s.axis >= rank)
        return makeError(Errc::BadFile, say(Msg::AttributeAxisOutside));
    if (s.block == 0 && b.shape(scale) != Ints{b.shape(x)[static_cast<std::size_t>(s.axis)]})
        return makeError(Errc::BadFile, say(Msg::ScaleLength));
    if (s.block == 0)
        return s;
    Ints blocks = b.shape(x);
    std::int64_t& along = blocks[static_cast<std::size_t>(s.axis)];
    if (s.block > 0)
        along = (along + s.block - 1) / s.block;
    if (s.block < 0 || b.shape(scale) != blocks)
        return makeError(Errc::BadFile, say(Msg::ScaleBlocks, s.block));
    return s;
}

/// A scale or zero point as it broadcasts to x: one value, one along the axis, or one for each entry where blocks share
/// them.
ValueId spread(Composer& c, ValueId parameter, ValueId x, const Spread& s)
{
    if (s.block == 0 || c.rank(parameter) == 0)
        return along(c, parameter, s.axis, c.rank(x));
    Ints apart = c.shape(parameter);
    const Ints blocks = apart;
    apart.insert(apart.begin() + s.axis + 1, 1);
    Ints wide = apart, joined = blocks;
    wide[static_cast<std::size_t>(s.axis) + 1] = s.block;
    joined[static_cast<std::size_t>(s.axis)] *= s.block;
    const ValueId all = c.reshape(c.broadcast(c.reshape(parameter, apart), wide), joined);
    return c.slice(all, s.axis, 0, c.extent(x, s.axis));
}

/// Of the standard alone: com.microsoft's are older.
Result<DType> outputType(NodeReader& node, DType fallback)
{
    LATHE_TRY_ASSIGN(const std::int64_t wanted, node.integer("output_dtype", 0));
    if (wanted == 0)
        return fallback;
    const auto dtype = dtypeOf(wanted);
    if (!dtype)
        return makeError(Errc::Unsupported, say(Msg::NeedsAttributeNumber, "output_dtype", dataTypeText(wanted)));
    return *dtype;
}

Result<std::vector<ValueId>> convertQuantize(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const Quantized q, quantizedInput(b, node, 0, 1, 2)); // "values" are still numbers
    LATHE_TRY_ASSIGN(const Spread s, spreadOf(b, node, q.values, q.scale));
    LATHE_TRY_ASSIGN(const std::int64_t precision, node.integer("precision", 0));
    node.ignore("saturate"); // of 8-bit floats alone
    LATHE_TRY_ASSIGN(const DType dtype, outputType(node, q.zero.valid() ? b.dtype(q.zero) : DType::U8));
    if (precision != 0 && dtypeOf(precision) != DType::F32)
        return makeError(Errc::Unsupported, say(Msg::NeedsAttributeNumber, "precision", dataTypeText(precision)));
    if (dtype != DType::U8 && dtype != DType::I8 && dtype != DType::U16 && dtype != DType::I16)
        return makeError(Errc::Unsupported, say(Msg::NeedsQuantizationTo, toString(dtype)));
    Composer c(b);
    const ValueId x = isFloat(b.dtype(q.values)) ? q.values : c.cast(q.values, DType::F32);
    const ValueId zero = q.zero.valid() ? c.cast(q.zero, dtype) : c.number(dtype, 0);
    return c.finish({quantized(c, x, spread(c, q.scale, x, s), spread(c, zero, x, s))});
}

Result<std::vector<ValueId>> convertDequantize(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const Quantized q, quantizedInput(b, node, 0, 1, 2));
    LATHE_TRY_ASSIGN(const Spread s, spreadOf(b, node, q.values, q.scale));
    LATHE_TRY_ASSIGN(const DType dtype, outputType(node, b.dtype(q.scale)));
    if (!isFloat(dtype))
        return makeError(Errc::Unsupported, say(Msg::NeedsAttributeNumber, "output_dtype", toString(dtype)));
    Composer c(b);
    const ValueId zero = q.zero.valid() ? spread(c, q.zero, q.values, s) : q.zero;
    return c.finish({dequantized(c, {q.values, spread(c, q.scale, q.values, s), zero}, dtype)});
}

Result<std::vector<ValueId>> convertDynamicQuantize(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    Composer c(b);
    const Quantized q = quantizedByRange(c, x);
    return c.finish({q.values, q.scale, q.zero});
}

Result<std::vector<ValueId>> convertMatMulInteger(Builder& b, NodeReader& node)
{
    Quantized left, right;
    LATHE_TRY_ASSIGN(left.values, b.input(node, 0));
    LATHE_TRY_ASSIGN(right.values, b.input(node, 1));
    LATHE_TRY_ASSIGN(left.zero, parameterInput(b, node, 2));
    LATHE_TRY_ASSIGN(right.zero, parameterInput(b, node, 3));
    Composer c(b);
    LATHE_TRY_ASSIGN(const ValueId sums, integerProduct(b, c, left, right));
    return c.finish({sums});
}

Result<std::vector<ValueId>> convertQLinearMatMul(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const Quantized left, quantizedInput(b, node, 0, 1, 2));
    LATHE_TRY_ASSIGN(const Quantized right, quantizedInput(b, node, 3, 4, 5));
    LATHE_TRY(b.input(node, 6));
    LATHE_TRY_ASSIGN(const ValueId scale, parameterInput(b, node, 6));
    LATHE_TRY_ASSIGN(const ValueId zero, parameterInput(b, node, 7));
    Composer c(b);
    LATHE_TRY_ASSIGN(const ValueId sums, integerProduct(b, c, left, right));
    // A vector is of the result's rows.
    const ValueId multiplier = c.div(productScale(c, left, right), along(c, c.cast(scale, DType::F32), 0, 2));
    return c.finish({requantized(c, sums, multiplier, zero.valid() ? along(c, zero, 0, 2) : zero)});
}

/// Zero points of the weight may be one for each of its filters.
Result<ValueId> integerConvolution(Builder& b, NodeReader& node, const Quantized& data, const Quantized& weight,
                                   ValueId bias)
{
    Composer c(b);
    const ValueId x = centred(c, data.values, data.zero);
    const ValueId w = centred(c, weight.values,
                              weight.zero.valid() ? along(c, weight.zero, 0, c.rank(weight.values)) : weight.zero);
    LATHE_TRY(c.finish({}));
    return convolve(b, node, x, w, bias);
}

Result<std::vector<ValueId>> convertConvInteger(Builder& b, NodeReader& node)
{
    Quantized data, weight;
    LATHE_TRY_ASSIGN(data.values, b.input(node, 0));
    LATHE_TRY_ASSIGN(weight.values, b.input(node, 1));
    LATHE_TRY_ASSIGN(data.zero, parameterInput(b, node, 2));
    LATHE_TRY_ASSIGN(weight.zero, parameterInput(b, node, 3));
    LATHE_TRY_ASSIGN(const ValueId sums, integerConvolution(b, node, data, weight, {}));
    return std::vector{sums};
}

Result<std::vector<ValueId>> convertQLinearConv(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const Quantized data, quantizedInput(b, node, 0, 1, 2));
    LATHE_TRY_ASSIGN(const Quantized weight, quantizedInput(b, node, 3, 4, 5));
    LATHE_TRY(b.input(node, 6));
    LATHE_TRY_ASSIGN(const ValueId scale, parameterInput(b, node, 6));
    LATHE_TRY_ASSIGN(const ValueId zero, parameterInput(b, node, 7));
    ValueId bias; // in int32, with the scale of the products
    if (node.hasInput(8)) {
        LATHE_TRY_ASSIGN(bias, b.input(node, 8));
    }
    LATHE_TRY_ASSIGN(const ValueId sums, integerConvolution(b, node, data, weight, bias));
    Composer c(b);
    const ValueId multiplier = c.div(c.mul(data.scale, weight.scale), scale);
    return c.finish({requantized(c, sums, along(c, multiplier, 1, c.rank(sums)), zero)});
}

} // namespace

std::span<const ConverterEntry> quantizeConverters()
{
    static constexpr ConverterEntry kTable[] = {
        {"ConvInteger", convertConvInteger},
        {"DequantizeLinear", convertDequantize},
        {"DynamicQuantizeLinear", convertDynamicQuantize},
        {"MatMulInteger", convertMatMulInteger},
        {"QLinearConv", convertQLinearConv},
        {"QLinearMatMul", convertQLinearMatMul},
        {"QuantizeLinear", convertQuantize},
    };
    return kTable;
}

} // namespace lathe::frontend::onnx_detail
