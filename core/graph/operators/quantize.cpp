// To and from integers with scales. Scales and zero points stay visible as operands, which broadcast to the data: one
// value for the whole tensor, one for each channel, or one for each block.
//
//   quantize    saturate(round(x / scale) + zero)        in float32 (float64 where data or scale are)
//   dequantize  (x - zero) * scale                       the difference in int32, the product in float32
//   requantize  saturate(round(x * multiplier) + zero)   of sums in int32; multiplier = scales that go in / scale out
//
// Halves are rounded to even. This is ONNX Runtime's order of operations: its results are the same to the last number.
// NaN becomes the lowest number, as there. The standard says nothing of it, nor of requantize's order.

#include "core/compute/definitions/quantize.h"

#include "core/graph/operators/element.h"
#include "core/graph/operators/families.h"
#include "core/graph/operators/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lathe::graph::operators {
namespace {

using Tensors = std::span<const compute::Tensor>;
using Hosts = std::span<const HostTensor* const>;

bool isQuantized(DType dtype)
{
    return dtype == DType::I8 || dtype == DType::U8 || dtype == DType::I16 || dtype == DType::U16;
}

Result<> checkScale(InputTypes inputs, DType zero)
{
    LATHE_TRY(needFloat(inputs[1]));
    if (inputs.size() > 2 && inputs[2].dtype != zero)
        return brokenRule(
            fmt::format("the zero point must be {}, it is {}", toString(zero), toString(inputs[2].dtype)));
    for (const TensorType& parameter : inputs.subspan(1)) {
        LATHE_TRY_ASSIGN(const Shape shape, broadcastShape(inputs[0].shape, parameter.shape));
        if (shape != inputs[0].shape)
            return brokenRule(fmt::format("a scale or zero point {} must broadcast into data {}",
                                          shapeText(parameter.shape), shapeText(inputs[0].shape)));
    }
    return {};
}

Result<DType> quantizedType(const Node& node)
{
    LATHE_TRY_ASSIGN(const DType dtype, dtypeAttr(node, "dtype", DType::U8));
    if (!isQuantized(dtype))
        return brokenRule(fmt::format("attribute dtype must be an integer of 8 or 16 bits, it is {}", toString(dtype)));
    return dtype;
}

Result<Types> inferQuantize(const Node& node, InputTypes inputs, Constants)
{
    LATHE_TRY_ASSIGN(const DType dtype, quantizedType(node));
    LATHE_TRY(needFloat(inputs[0]));
    LATHE_TRY(checkScale(inputs, dtype));
    return Types{{dtype, inputs[0].shape}};
}

Result<Types> inferRequantize(const Node& node, InputTypes inputs, Constants)
{
    LATHE_TRY_ASSIGN(const DType dtype, quantizedType(node));
    if (inputs[0].dtype != DType::I32)
        return brokenRule(fmt::format("sums must be int32, they are {}", toString(inputs[0].dtype)));
    LATHE_TRY(checkScale(inputs, dtype));
    return Types{{dtype, inputs[0].shape}};
}

Result<Types> inferDequantize(const Node& node, InputTypes inputs, Constants)
{
    LATHE_TRY_ASSIGN(const DType dtype, dtypeAttr(node, "dtype", DType::F32));
    if (!isFloat(dtype))
        return brokenRule(fmt::format("attribute dtype must be a float, it is {}", toString(dtype)));
    if (!isQuantized(inputs[0].dtype) && inputs[0].dtype != DType::I32)
        return brokenRule(fmt::format("data must be integers of 8, 16 or 32 bits with a sign for the last, they are {}",
                                      toString(inputs[0].dtype)));
    LATHE_TRY(checkScale(inputs, inputs[0].dtype));
    return Types{{dtype, inputs[0].shape}};
}

std::int64_t saturated(double value, std::int64_t zero, DType dtype)
{
    const int bits = 8 * static_cast<int>(sizeOf(dtype));
    const double low = isSigned(dtype) ? -std::ldexp(1.0, bits - 1) : 0.0;
    const double high = low + std::ldexp(1.0, bits) - 1;
    const double shifted = std::nearbyint(value) + static_cast<double>(zero);
    return static_cast<std::int64_t>(shifted > low ? std::min(shifted, high) : low);
}

/// For each element of the data: body(its place, place of its scale, place of its zero point).
template<typename Body>
void forEachScaled(Hosts inputs, Body&& body)
{
    const Shape& shape = inputs[0]->type.shape;
    const Shape none;
    const std::array strides = {broadcastStrides(inputs[1]->type.shape, shape),
                                broadcastStrides(inputs.size() > 2 ? inputs[2]->type.shape : none, shape)};
    const std::int64_t length = rowLength(shape), scaleStep = rowStride(strides[0]), zeroStep = rowStride(strides[1]);
    forEachRow<2>(shape, strides, [&](std::int64_t position, const std::array<std::int64_t, 2>& offsets) {
        for (std::int64_t i = 0; i < length; ++i)
            body(static_cast<std::size_t>(position + i), static_cast<std::size_t>(offsets[0] + i * scaleStep),
                 static_cast<std::size_t>(offsets[1] + i * zeroStep));
    });
}

bool inDouble(Hosts inputs)
{
    return inputs[0]->type.dtype == DType::F64 || inputs[1]->type.dtype == DType::F64;
}

std::vector<std::int64_t> zerosOf(Hosts inputs)
{
    return inputs.size() > 2 ? readInts(*inputs[2]) : std::vector<std::int64_t>{0};
}

/// quantize and requantize: they differ in how the scale is applied.
template<bool Divide>
Result<> evaluateToInteger(const Node&, Hosts inputs, std::span<HostTensor> outputs)
{
    const std::vector<double> values = readFloats(*inputs[0]), scales = readFloats(*inputs[1]);
    const std::vector<std::int64_t> zeros = zerosOf(inputs);
    std::vector<std::int64_t> results(values.size());
    const auto apply = [&]<typename Real>(Real) {
        forEachScaled(inputs, [&](std::size_t i, std::size_t s, std::size_t z) {
            const auto x = static_cast<Real>(values[i]), scale = static_cast<Real>(scales[s]);
            results[i] = saturated(Divide ? x / scale : x * scale, zeros[z], outputs[0].type.dtype);
        });
    };
    if (inDouble(inputs))
        apply(double());
    else
        apply(float());
    writeInts(outputs[0], results);
    return {};
}

Result<> evaluateDequantize(const Node&, Hosts inputs, std::span<HostTensor> outputs)
{
    const std::vector<std::int64_t> values = readInts(*inputs[0]), zeros = zerosOf(inputs);
    const std::vector<double> scales = readFloats(*inputs[1]);
    const bool wide = inDouble(inputs);
    std::vector<double> results(values.size());
    forEachScaled(inputs, [&](std::size_t i, std::size_t s, std::size_t z) {
        const auto centred = static_cast<std::int32_t>(values[i] - zeros[z]); // wraps
        results[i] = wide ? centred * scales[s] : static_cast<float>(centred) * static_cast<float>(scales[s]);
    });
    writeFloats(outputs[0], results);
    return {};
}

using ScaledDefinition = compute::Tensor (*)(compute::DagBuilder&, compute::Tensor, compute::Tensor,
                                             std::optional<compute::Tensor>, DType);

template<ScaledDefinition Define>
Result<compute::Tensor> computeScaled(const Node&, Tensors inputs, ComputeContext& context)
{
    return Define(context.builder, inputs[0], inputs[1], inputs.size() > 2 ? std::optional(inputs[2]) : std::nullopt,
                  context.outputTypes[0].dtype);
}

} // namespace

std::span<const OpDef> quantizeOperators()
{
    static const std::vector<OpDef> table = {
        {"quantize",
         Pattern::Broadcast,
         2,
         3,
         inferQuantize,
         computeScaled<compute::quantize>,
         evaluateToInteger<true>,
         {.layout = LayoutRule::Elementwise}},
        // Weights in eight bits are worth more as constants of the kernel's type than the room that they take.
        {"dequantize",
         Pattern::Broadcast,
         2,
         3,
         inferDequantize,
         computeScaled<compute::dequantize>,
         evaluateDequantize,
         {.layout = LayoutRule::Elementwise, .lateFolding = LateFolding::Always, .foldsLarge = true}},
        {"requantize",
         Pattern::Broadcast,
         2,
         3,
         inferRequantize,
         computeScaled<compute::requantize>,
         evaluateToInteger<false>,
         {.layout = LayoutRule::Elementwise}},
    };
    return table;
}

} // namespace lathe::graph::operators
