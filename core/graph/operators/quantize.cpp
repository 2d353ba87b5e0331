// To and from integers with scales. Scales and zero points stay visible as operands: one value for the whole tensor, or
// one for each entry of attribute "axis".
//
//   quantize    saturate(round(x / scale) + zero)        in float32, whatever the float that comes in
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

/// The dimension that scales and zero points with several values lie along; 0 for tensors of rank 0.
Result<std::size_t> axisOf(const Node& node, std::span<const std::int64_t> data)
{
    LATHE_TRY_ASSIGN(const std::int64_t given, intAttr(node, "axis", 0));
    if (data.empty())
        return std::size_t{0};
    LATHE_TRY_ASSIGN(const std::int64_t axis, normalAxis(given, data.size()));
    return static_cast<std::size_t>(axis);
}

Result<> checkParameters(const Node& node, InputTypes inputs, DType zero)
{
    LATHE_TRY_ASSIGN(const std::size_t axis, axisOf(node, inputs[0].shape));
    LATHE_TRY(needFloat(inputs[1]));
    if (inputs.size() > 2 && inputs[2].dtype != zero)
        return brokenRule(
            fmt::format("the zero point must be {}, it is {}", toString(zero), toString(inputs[2].dtype)));
    for (const TensorType& parameter : inputs.subspan(1)) {
        if (!parameter.shape.empty() && (inputs[0].shape.empty() || parameter.shape != Shape{inputs[0].shape[axis]}))
            return brokenRule(fmt::format("a scale or zero point must have one value, or one for each entry of axis {} "
                                          "of {}; its shape is {}",
                                          axis, shapeText(inputs[0].shape), shapeText(parameter.shape)));
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
    LATHE_TRY(checkParameters(node, inputs, dtype));
    return Types{{dtype, inputs[0].shape}};
}

Result<Types> inferRequantize(const Node& node, InputTypes inputs, Constants)
{
    LATHE_TRY_ASSIGN(const DType dtype, quantizedType(node));
    if (inputs[0].dtype != DType::I32)
        return brokenRule(fmt::format("sums must be int32, they are {}", toString(inputs[0].dtype)));
    LATHE_TRY(checkParameters(node, inputs, dtype));
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
    LATHE_TRY(checkParameters(node, inputs, inputs[0].dtype));
    return Types{{dtype, inputs[0].shape}};
}

/// Values of a scale or zero point, and which of them goes with an element of the data.
template<typename T>
struct PerElement
{
    std::vector<T> values;
    std::int64_t inner = 1, extent = 1;

    T at(std::size_t element) const
    {
        return values.size() == 1 ? values[0] : values[(static_cast<std::int64_t>(element) / inner) % extent];
    }
};

template<typename T>
PerElement<T> perElement(std::vector<T> values, std::span<const std::int64_t> data, std::size_t axis)
{
    PerElement<T> p{std::move(values)};
    if (p.values.size() == 1)
        return p;
    p.extent = data[axis];
    for (std::size_t d = axis + 1; d < data.size(); ++d)
        p.inner *= data[d];
    return p;
}

struct ScaleAndZero
{
    PerElement<double> scale;
    PerElement<std::int64_t> zero;
};

Result<ScaleAndZero> scaleAndZeroOf(const Node& node, Hosts inputs)
{
    LATHE_TRY_ASSIGN(const std::size_t axis, axisOf(node, inputs[0]->type.shape));
    const Shape& shape = inputs[0]->type.shape;
    return ScaleAndZero{
        perElement(readFloats(*inputs[1]), shape, axis),
        perElement(inputs.size() > 2 ? readInts(*inputs[2]) : std::vector<std::int64_t>{0}, shape, axis)};
}

std::int64_t saturated(float value, std::int64_t zero, DType dtype)
{
    const int bits = 8 * static_cast<int>(sizeOf(dtype));
    const double low = isSigned(dtype) ? -std::ldexp(1.0, bits - 1) : 0.0;
    const double high = low + std::ldexp(1.0, bits) - 1;
    const double shifted = std::nearbyint(value) + static_cast<double>(zero);
    return static_cast<std::int64_t>(shifted > low ? std::min(shifted, high) : low);
}

/// quantize and requantize: they differ in how the scale is applied.
template<bool Divide>
Result<> evaluateToInteger(const Node& node, Hosts inputs, std::span<HostTensor> outputs)
{
    LATHE_TRY_ASSIGN(const ScaleAndZero p, scaleAndZeroOf(node, inputs));
    const std::vector<double> values = readFloats(*inputs[0]);
    std::vector<std::int64_t> results(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto x = static_cast<float>(values[i]), scale = static_cast<float>(p.scale.at(i));
        results[i] = saturated(Divide ? x / scale : x * scale, p.zero.at(i), outputs[0].type.dtype);
    }
    writeInts(outputs[0], results);
    return {};
}

Result<> evaluateDequantize(const Node& node, Hosts inputs, std::span<HostTensor> outputs)
{
    LATHE_TRY_ASSIGN(const ScaleAndZero p, scaleAndZeroOf(node, inputs));
    const std::vector<std::int64_t> values = readInts(*inputs[0]);
    std::vector<double> results(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto centred = static_cast<std::int32_t>(values[i] - p.zero.at(i)); // wraps
        results[i] = static_cast<float>(centred) * static_cast<float>(p.scale.at(i));
    }
    writeFloats(outputs[0], results);
    return {};
}

using Definition = compute::Tensor (*)(compute::DagBuilder&, compute::Tensor, compute::Tensor,
                                       std::optional<compute::Tensor>, std::size_t, DType);

template<Definition Define>
Result<compute::Tensor> computeScaled(const Node& node, Tensors inputs, ComputeContext& context)
{
    LATHE_TRY_ASSIGN(const std::size_t axis, axisOf(node, context.builder.shape(inputs[0])));
    return Define(context.builder, inputs[0], inputs[1], inputs.size() > 2 ? std::optional(inputs[2]) : std::nullopt,
                  axis, context.outputTypes[0].dtype);
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
         {.layout = LayoutRule::AlongAxis}},
        // Weights in eight bits are worth more as constants of the kernel's type than the room that they take.
        {"dequantize",
         Pattern::Broadcast,
         2,
         3,
         inferDequantize,
         computeScaled<compute::dequantize>,
         evaluateDequantize,
         {.layout = LayoutRule::AlongAxis, .lateFolding = LateFolding::Always, .foldsLarge = true}},
        {"requantize",
         Pattern::Broadcast,
         2,
         3,
         inferRequantize,
         computeScaled<compute::requantize>,
         evaluateToInteger<false>,
         {.layout = LayoutRule::AlongAxis}},
    };
    return table;
}

} // namespace lathe::graph::operators
