// com.microsoft: operators on integers with scales, as ONNX Runtime's quantizer writes them.

#include "core/frontend/onnx/quantized.h"
#include "core/frontend/onnx/shared_converters.h"
#include "core/support/element_count.h"
#include "core/support/message.h"

#include <fmt/format.h>

#include <algorithm>

namespace lathe::frontend::onnx_detail {
namespace {

/// Scale and zero point of a result.
struct QuantizedTarget
{
    ValueId scale, zero;
};

Result<QuantizedTarget> targetInput(Builder& b, const NodeReader& node, std::int64_t scale, std::int64_t zero,
                                    DType dtype)
{
    LATHE_TRY(b.input(node, scale));
    QuantizedTarget target;
    LATHE_TRY_ASSIGN(target.scale, parameterInput(b, node, scale));
    LATHE_TRY_ASSIGN(target.zero, parameterInput(b, node, zero));
    if (!target.zero.valid())
        target.zero = b.scalar(dtype, 0);
    return target;
}

/// The functions of one tensor that follow the pattern x, scale, zero, scale of y, zero of y.
struct QuantizedUnary
{
    Quantized x;
    QuantizedTarget y;
};

Result<QuantizedUnary> unaryInputs(Builder& b, const NodeReader& node)
{
    QuantizedUnary u;
    LATHE_TRY_ASSIGN(u.x, quantizedInput(b, node, 0, 1, 2));
    LATHE_TRY_ASSIGN(u.y, targetInput(b, node, 3, 4, b.dtype(u.x.values)));
    return u;
}

struct QuantizedBinary
{
    Quantized left, right;
    QuantizedTarget result;
};

Result<QuantizedBinary> binaryInputs(Builder& b, const NodeReader& node)
{
    QuantizedBinary pair;
    LATHE_TRY_ASSIGN(pair.left, quantizedInput(b, node, 0, 1, 2));
    LATHE_TRY_ASSIGN(pair.right, quantizedInput(b, node, 3, 4, 5));
    LATHE_TRY_ASSIGN(pair.result, targetInput(b, node, 6, 7, b.dtype(pair.left.values)));
    return pair;
}

Result<std::vector<ValueId>> quantizedAdd(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const QuantizedBinary pair, binaryInputs(b, node));
    Composer c(b);
    const ValueId sum = c.add(dequantized(c, pair.left), dequantized(c, pair.right));
    return c.finish({quantized(c, sum, pair.result.scale, pair.result.zero)});
}

/// The product is exact in int32, and scaled once.
Result<std::vector<ValueId>> quantizedMul(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const QuantizedBinary pair, binaryInputs(b, node));
    Composer c(b);
    const auto whole = [&](const Quantized& q) { return c.cast(centred(c, q.values, q.zero), DType::I32); };
    const ValueId scale = c.div(c.mul(pair.left.scale, pair.right.scale), pair.result.scale);
    return c.finish({requantized(c, c.mul(whole(pair.left), whole(pair.right)), scale, pair.result.zero)});
}

Result<std::vector<ValueId>> quantizedSigmoid(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const QuantizedUnary u, unaryInputs(b, node));
    Composer c(b);
    return c.finish({quantized(c, c.op("sigmoid", {dequantized(c, u.x)}), u.y.scale, u.y.zero)});
}

Result<std::vector<ValueId>> quantizedLeakyRelu(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const QuantizedUnary u, unaryInputs(b, node));
    LATHE_TRY_ASSIGN(const double alpha, node.number("alpha", 0.01F));
    Composer c(b);
    const ValueId y = c.op("leaky_relu", {dequantized(c, u.x)}, {{"alpha", alpha}});
    return c.finish({quantized(c, y, u.y.scale, u.y.zero)});
}

/// Up to opset 12 all dimensions from the axis on are one.
Result<std::vector<ValueId>> quantizedSoftmax(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const QuantizedUnary u, unaryInputs(b, node));
    LATHE_TRY_ASSIGN(std::int64_t axis, node.integer("axis", -1));
    LATHE_TRY_ASSIGN(const std::int64_t opset, node.integer("opset", 13));
    Composer c(b);
    const Ints shape = b.shape(u.x.values);
    const std::int64_t rank = b.rank(u.x.values);
    axis = axis < 0 ? axis + rank : axis;
    if (axis < 0 || axis >= rank)
        return makeError(Errc::BadFile, say(Msg::AttributeAxisOutside));
    ValueId x = dequantized(c, u.x);
    if (opset < 13) {
        const auto split = static_cast<std::size_t>(axis);
        x = c.reshape(x, {elementCount(std::span(shape).first(split)), elementCount(std::span(shape).subspan(split))});
        axis = 1;
    }
    return c.finish({quantized(c, c.reshape(c.softmax(x, axis), shape), u.y.scale, u.y.zero)});
}

Result<std::vector<ValueId>> quantizedAveragePool(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const QuantizedUnary u, unaryInputs(b, node));
    LATHE_TRY_ASSIGN(const std::int64_t last, node.integer("channels_last", 0));
    Composer c(b);
    ValueId x = dequantized(c, u.x);
    if (last != 0)
        x = channelsFirst(c, x);
    LATHE_TRY(c.finish({}));
    LATHE_TRY_ASSIGN(ValueId y, pooled(b, node, x, true));
    y = quantized(c, y, u.y.scale, u.y.zero);
    return c.finish({last != 0 ? channelsLast(c, y) : y});
}

/// The sum is exact in int32; the count goes into the scale.
Result<std::vector<ValueId>> quantizedGlobalAveragePool(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const QuantizedUnary u, unaryInputs(b, node));
    LATHE_TRY_ASSIGN(const std::int64_t last, node.integer("channels_last", 0));
    const std::int64_t rank = b.rank(u.x.values);
    if (rank < 3)
        return makeError(Errc::BadFile, say(Msg::InputUnder3));
    Composer c(b);
    Ints axes;
    double count = 1;
    for (std::int64_t d = last != 0 ? 1 : 2; d < rank - (last != 0 ? 1 : 0); ++d) {
        axes.push_back(d);
        count *= static_cast<double>(b.shape(u.x.values)[static_cast<std::size_t>(d)]);
    }
    const ValueId sum = c.reduce("sum", c.cast(centred(c, u.x.values, u.x.zero), DType::I32), axes);
    const ValueId scale = c.div(u.x.scale, c.mul(u.y.scale, c.like(u.y.scale, count)));
    return c.finish({requantized(c, sum, scale, u.y.zero)});
}

Result<std::vector<ValueId>> quantizedConcat(Builder& b, NodeReader& node)
{
    constexpr std::int64_t kFirst = 2; // behind scale and zero point of the result
    LATHE_TRY_ASSIGN(const std::int64_t axis, node.integer("axis", 0));
    const std::int64_t count = node.inputCount() - kFirst;
    if (count < 3 || count % 3 != 0)
        return makeError(Errc::BadFile, say(Msg::QuantizedTriples));
    LATHE_TRY_ASSIGN(const QuantizedTarget target, targetInput(b, node, 0, 1, DType::U8));
    Composer c(b);
    std::vector<ValueId> parts;
    for (std::int64_t i = kFirst; i < kFirst + count; i += 3) {
        LATHE_TRY_ASSIGN(const Quantized part, quantizedInput(b, node, i, i + 1, i + 2));
        parts.push_back(quantized(c, dequantized(c, part), target.scale, target.zero));
    }
    return c.finish({c.concat(parts, axis)});
}

Result<std::vector<ValueId>> quantizedWhere(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId condition, b.input(node, 0));
    LATHE_TRY_ASSIGN(const Quantized x, quantizedInput(b, node, 1, 2, 3));
    LATHE_TRY_ASSIGN(const Quantized y, quantizedInput(b, node, 4, 5, 6));
    LATHE_TRY_ASSIGN(const QuantizedTarget target, targetInput(b, node, 7, 8, b.dtype(x.values)));
    Composer c(b);
    const auto into = [&](const Quantized& q) { return quantized(c, dequantized(c, q), target.scale, target.zero); };
    return c.finish({c.where(condition, into(x), into(y))});
}

/// A bias is added to the numbers.
ValueId withBias(Composer& c, ValueId sums, ValueId scale, ValueId bias)
{
    const ValueId y = c.mul(c.cast(sums, DType::F32), scale);
    return bias.valid() ? c.add(y, bias) : y;
}

Result<std::vector<ValueId>> convertMatMulIntegerToFloat(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const Quantized left, quantizedInput(b, node, 0, 2, 4));
    LATHE_TRY_ASSIGN(const Quantized right, quantizedInput(b, node, 1, 3, 5));
    LATHE_TRY_ASSIGN(const ValueId bias, parameterInput(b, node, 6));
    Composer c(b);
    LATHE_TRY_ASSIGN(const ValueId sums, integerProduct(b, c, left, right));
    const ValueId wideBias = bias.valid() ? c.cast(bias, DType::F32) : bias;
    return c.finish({c.cast(withBias(c, sums, productScale(c, left, right), wideBias), b.dtype(left.scale))});
}

Result<std::vector<ValueId>> convertDynamicQuantizeMatMul(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(const Quantized right, quantizedInput(b, node, 1, 2, 3));
    LATHE_TRY_ASSIGN(const ValueId bias, parameterInput(b, node, 4));
    Composer c(b);
    const Quantized left = quantizedByRange(c, x);
    LATHE_TRY(c.finish({}));
    LATHE_TRY_ASSIGN(const ValueId sums, integerProduct(b, c, left, right));
    return c.finish({withBias(c, sums, productScale(c, left, right), bias)});
}

/// alpha * A' * B' + C, where C is in int32 and has the scale of the products; without a scale of the result, in
/// float32.
Result<std::vector<ValueId>> quantizedGemm(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(Quantized left, quantizedInput(b, node, 0, 1, 2));
    LATHE_TRY_ASSIGN(Quantized right, quantizedInput(b, node, 3, 4, 5));
    LATHE_TRY_ASSIGN(const double alpha, node.number("alpha", 1));
    LATHE_TRY_ASSIGN(const std::int64_t transA, node.integer("transA", 0));
    LATHE_TRY_ASSIGN(const std::int64_t transB, node.integer("transB", 0));
    Composer c(b);
    if (transA != 0)
        left.values = c.transpose(left.values, {1, 0});
    if (transB != 0)
        right.values = c.transpose(right.values, {1, 0});
    LATHE_TRY(c.finish({}));
    LATHE_TRY_ASSIGN(ValueId sums, integerProduct(b, c, left, right));
    if (node.hasInput(6)) {
        LATHE_TRY_ASSIGN(const ValueId bias, b.input(node, 6));
        sums = c.add(sums, bias);
    }
    const ValueId scale = c.mul(c.number(DType::F32, alpha), productScale(c, left, right));
    if (!node.hasInput(7))
        return c.finish({c.mul(c.cast(sums, DType::F32), scale)});
    LATHE_TRY_ASSIGN(const QuantizedTarget target, targetInput(b, node, 7, 8, b.dtype(left.values)));
    return c.finish({requantized(c, sums, c.div(scale, target.scale), target.zero)});
}

} // namespace

std::span<const ConverterEntry> contribQuantizeConverters()
{
    static constexpr ConverterEntry kTable[] = {
        {"DynamicQuantizeMatMul", convertDynamicQuantizeMatMul},
        {"MatMulIntegerToFloat", convertMatMulIntegerToFloat},
        {"QGemm", quantizedGemm},
        {"QLinearAdd", quantizedAdd},
        {"QLinearAveragePool", quantizedAveragePool},
        {"QLinearConcat", quantizedConcat},
        {"QLinearGlobalAveragePool", quantizedGlobalAveragePool},
        {"QLinearLeakyRelu", quantizedLeakyRelu},
        {"QLinearMul", quantizedMul},
        {"QLinearSigmoid", quantizedSigmoid},
        {"QLinearSoftmax", quantizedSoftmax},
        {"QLinearWhere", quantizedWhere},
    };
    return kTable;
}

} // namespace lathe::frontend::onnx_detail
