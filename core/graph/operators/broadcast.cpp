// Functions of several tensors that broadcast together, element by element.

#include "core/compute/definitions/elementwise.h"
#include "core/graph/operators/demands.h"
#include "core/graph/operators/element.h"
#include "core/graph/operators/families.h"
#include "core/graph/operators/rules.h"
#include "core/support/element_count.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace lathe::graph::operators {
namespace {

using Unsigned = std::uint64_t;

// Integers wrap; divisions are guarded by the caller.
std::int64_t addInt(std::int64_t a, std::int64_t b)
{
    return static_cast<std::int64_t>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
}
std::int64_t subtractInt(std::int64_t a, std::int64_t b)
{
    return static_cast<std::int64_t>(static_cast<Unsigned>(a) - static_cast<Unsigned>(b));
}
std::int64_t multiplyInt(std::int64_t a, std::int64_t b)
{
    return static_cast<std::int64_t>(static_cast<Unsigned>(a) * static_cast<Unsigned>(b));
}
std::int64_t divideInt(std::int64_t a, std::int64_t b)
{
    return b == -1 ? subtractInt(0, a) : a / b;
} // towards zero
std::int64_t modInt(std::int64_t a, std::int64_t b)
{
    if (b == -1)
        return 0;
    const std::int64_t rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
/// As numbers without a sign, which the 64 bits hold.
template<typename F>
std::int64_t ofUnsigned(std::int64_t a, std::int64_t b, F function)
{
    return static_cast<std::int64_t>(function(static_cast<Unsigned>(a), static_cast<Unsigned>(b)));
}

std::int64_t powUnsigned(std::int64_t base, std::int64_t exponent)
{
    std::int64_t result = 1;
    for (auto left = static_cast<Unsigned>(exponent); left > 0; left /= 2) {
        if (left % 2 == 1)
            result = multiplyInt(result, base);
        base = multiplyInt(base, base);
    }
    return result;
}
std::int64_t powInt(std::int64_t base, std::int64_t exponent)
{
    if (exponent < 0)
        return base == 1 ? 1 : (base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0);
    return powUnsigned(base, exponent);
}

// Largest and smallest pass NaN on, as the field does.
double maximumOf(double a, double b)
{
    return std::isnan(a) || a > b ? a : b;
}
double minimumOf(double a, double b)
{
    return std::isnan(a) || a < b ? a : b;
}

using compute::Binary;
using Tensors = std::span<const compute::Tensor>;
using FloatBinary = double (*)(double, double);
using IntBinary = std::int64_t (*)(std::int64_t, std::int64_t);

enum class Domain
{
    Number, ///< numbers to the same type
    Comparison, ///< numbers (or bool) to bool
    Logic, ///< bool to bool
    Bits, ///< integers to the same type
    Shift ///< unsigned integers to the same type
};

template<typename T, typename F>
std::vector<T> applyBroadcast(const TensorType& out, const TensorType& a, const TensorType& b, const std::vector<T>& x,
                              const std::vector<T>& y, F function)
{
    const std::array strides = {broadcastStrides(a.shape, out.shape), broadcastStrides(b.shape, out.shape)};
    const std::int64_t stepX = rowStride(strides[0]), stepY = rowStride(strides[1]), length = rowLength(out.shape);
    std::vector<T> values(static_cast<std::size_t>(elementCount(out.shape)));
    forEachRow<2>(out.shape, strides, [&](std::int64_t position, const std::array<std::int64_t, 2>& offsets) {
        for (std::int64_t i = 0; i < length; ++i)
            values[position + i] = function(x[offsets[0] + i * stepX], y[offsets[1] + i * stepY]);
    });
    return values;
}

Result<Types> inferBinary(Domain domain, InputTypes inputs)
{
    LATHE_TRY(needSameType(inputs));
    if (domain == Domain::Number && inputs[0].dtype == DType::Bool)
        return brokenRule("the inputs must be numbers, they are bool");
    if (domain == Domain::Logic && inputs[0].dtype != DType::Bool)
        return brokenRule(fmt::format("the inputs must be bool, they are {}", toString(inputs[0].dtype)));
    const DType dtype = inputs[0].dtype;
    if (domain == Domain::Bits && !isInteger(dtype))
        return brokenRule(fmt::format("the inputs must be integers, they are {}", toString(dtype)));
    if (domain == Domain::Shift && (!isInteger(dtype) || isSigned(dtype)))
        return brokenRule(fmt::format("the inputs must be unsigned integers, they are {}", toString(dtype)));
    LATHE_TRY_ASSIGN(Shape shape, broadcastShape(inputs[0].shape, inputs[1].shape));
    return Types{{domain == Domain::Comparison ? DType::Bool : dtype, std::move(shape)}};
}

/// `unsignedFunction` is of integers without a sign; null: the same.
OpDef binary(std::string_view name, Binary definition, Domain domain, FloatBinary function, IntBinary intFunction,
             IntBinary unsignedFunction = nullptr)
{
    const bool divides = name == "divide" || name == "mod";
    return {name,
            Pattern::Broadcast,
            2,
            2,
            [domain](const Node&, InputTypes inputs, Constants) { return inferBinary(domain, inputs); },
            [definition](const Node&, Tensors inputs, ComputeContext& context) -> Result<compute::Tensor> {
                return compute::binary(context.builder, definition, inputs[0], inputs[1]);
            },
            [function, intFunction, unsignedFunction, divides](const Node&, std::span<const HostTensor* const> inputs,
                                                               std::span<HostTensor> outputs) -> Result<> {
                const TensorType& a = inputs[0]->type;
                const TensorType& b = inputs[1]->type;
                if (isFloat(a.dtype)) {
                    writeFloats(outputs[0], applyBroadcast<double>(outputs[0].type, a, b, readFloats(*inputs[0]),
                                                                   readFloats(*inputs[1]), function));
                    return {};
                }
                const std::vector<std::int64_t> divisors = readInts(*inputs[1]);
                if (divides && std::ranges::find(divisors, 0) != divisors.end())
                    return brokenRule("integers are divided by zero");
                const IntBinary ofType = isSigned(a.dtype) || unsignedFunction == nullptr ? intFunction
                                                                                          : unsignedFunction;
                writeInts(outputs[0],
                          applyBroadcast<std::int64_t>(outputs[0].type, a, b, readInts(*inputs[0]), divisors, ofType));
                return {};
            },
            {.layout = LayoutRule::Elementwise, .demands = binaryDemands(definition)}};
}

/// The four operations of arithmetic, which passes know more of.
OpDef arithmetic(std::string_view name, Binary definition, FloatBinary function, IntBinary intFunction, double neutral,
                 const OpTraits& more, IntBinary unsignedFunction = nullptr)
{
    OpDef entry = binary(name, definition, Domain::Number, function, intFunction, unsignedFunction);
    entry.traits = more;
    entry.traits.layout = LayoutRule::Elementwise;
    entry.traits.neutral = neutral;
    entry.traits.demands = binaryDemands(definition);
    entry.traits.signsZeros = definition == Binary::Multiply || definition == Binary::Divide;
    return entry;
}

/// What people call the sum of two computed tensors.
std::string sumSuffix(const Graph& graph, const Node& node)
{
    const auto computed = [&](ValueId id) { return !graph.value(id).constant; };
    return std::ranges::all_of(node.inputs, computed) ? "residual" : node.op;
}

template<typename Relation>
OpDef comparison(std::string_view name, Binary definition)
{
    return binary(
        name, definition, Domain::Comparison, [](double a, double b) { return Relation{}(a, b) ? 1.0 : 0.0; },
        [](std::int64_t a, std::int64_t b) -> std::int64_t { return Relation{}(a, b) ? 1 : 0; },
        [](std::int64_t a, std::int64_t b) { return ofUnsigned(a, b, Relation()); });
}

OpDef bits(std::string_view name, Binary definition, Domain domain, IntBinary function)
{
    return binary(name, definition, domain, nullptr, function);
}

/// The number of places is unsigned; the width of a narrow result cuts off what does not fit.
std::int64_t shiftedLeft(std::int64_t x, std::int64_t places)
{
    return static_cast<Unsigned>(places) > 63 ? 0 : static_cast<std::int64_t>(static_cast<Unsigned>(x) << places);
}
std::int64_t shiftedRight(std::int64_t x, std::int64_t places)
{
    return static_cast<Unsigned>(places) > 63 ? 0 : static_cast<std::int64_t>(static_cast<Unsigned>(x) >> places);
}

OpDef logic(std::string_view name, Binary definition, IntBinary function)
{
    return binary(name, definition, Domain::Logic, nullptr, function);
}

Result<Types> inferWhere(const Node&, InputTypes inputs, Constants)
{
    if (inputs[0].dtype != DType::Bool)
        return brokenRule(fmt::format("the condition must be bool, it is {}", toString(inputs[0].dtype)));
    LATHE_TRY(needSameType(inputs.subspan(1)));
    LATHE_TRY_ASSIGN(const Shape values, broadcastShape(inputs[1].shape, inputs[2].shape));
    LATHE_TRY_ASSIGN(Shape shape, broadcastShape(inputs[0].shape, values));
    return Types{{inputs[1].dtype, std::move(shape)}};
}

Result<> evaluateWhere(const Node&, std::span<const HostTensor* const> inputs, std::span<HostTensor> outputs)
{
    const Shape& out = outputs[0].type.shape;
    const std::array strides = {broadcastStrides(inputs[0]->type.shape, out),
                                broadcastStrides(inputs[1]->type.shape, out),
                                broadcastStrides(inputs[2]->type.shape, out)};
    const auto size = sizeOf(outputs[0].type.dtype);
    const std::array steps = {rowStride(strides[0]), rowStride(strides[1]), rowStride(strides[2])};
    forEachRow<3>(out, strides, [&](std::int64_t position, const std::array<std::int64_t, 3>& offsets) {
        for (std::int64_t i = 0; i < rowLength(out); ++i) {
            const bool first = inputs[0]->bytes[static_cast<std::size_t>(offsets[0] + i * steps[0])] != std::byte{0};
            const std::size_t k = first ? 1 : 2;
            std::memcpy(outputs[0].bytes.data() + (position + i) * size,
                        inputs[k]->bytes.data() + (offsets[k] + i * steps[k]) * size, static_cast<std::size_t>(size));
        }
    });
    return {};
}

Result<Types> inferPrelu(const Node&, InputTypes inputs, Constants)
{
    LATHE_TRY(needFloat(inputs[0]));
    LATHE_TRY(needSameType(inputs));
    LATHE_TRY_ASSIGN(const Shape shape, broadcastShape(inputs[0].shape, inputs[1].shape));
    if (shape != inputs[0].shape)
        return brokenRule(fmt::format("the slope {} must broadcast into data {}", shapeText(inputs[1].shape),
                                      shapeText(inputs[0].shape)));
    return Types{inputs[0]};
}

Result<> evaluatePrelu(const Node&, std::span<const HostTensor* const> inputs, std::span<HostTensor> outputs)
{
    writeFloats(outputs[0], applyBroadcast<double>(outputs[0].type, inputs[0]->type, inputs[1]->type,
                                                   readFloats(*inputs[0]), readFloats(*inputs[1]),
                                                   [](double x, double slope) { return x < 0 ? slope * x : x; }));
    return {};
}

} // namespace

std::span<const OpDef> broadcastOperators()
{
    static const std::vector<OpDef> table = {
        arithmetic("add", Binary::Add, [](double a, double b) { return a + b; }, addInt, 0,
                   {.scale = ScaleRule::Sum,
                    .mergesConstants = true,
                    .lateFolding = LateFolding::Always,
                    .suffix = sumSuffix}),
        arithmetic("subtract", Binary::Subtract, [](double a, double b) { return a - b; }, subtractInt, 0,
                   {.scale = ScaleRule::Sum, .lateFolding = LateFolding::Always}),
        arithmetic("multiply", Binary::Multiply, [](double a, double b) { return a * b; }, multiplyInt, 1,
                   {.scale = ScaleRule::Product, .mergesConstants = true, .lateFolding = LateFolding::Always}),
        arithmetic(
            "divide", Binary::Divide, [](double a, double b) { return a / b; }, divideInt, 1,
            {.lateFolding = LateFolding::OfFloats},
            [](std::int64_t a, std::int64_t b) { return ofUnsigned(a, b, std::divides<Unsigned>()); }),
        binary(
            "mod", Binary::Mod, Domain::Number, [](double a, double b) { return std::fmod(a, b); }, modInt,
            [](std::int64_t a, std::int64_t b) { return ofUnsigned(a, b, std::modulus<Unsigned>()); }),
        binary(
            "pow", Binary::Power, Domain::Number, [](double a, double b) { return std::pow(a, b); }, powInt,
            powUnsigned),
        binary(
            "maximum", Binary::Maximum, Domain::Number, maximumOf,
            [](std::int64_t a, std::int64_t b) { return std::max(a, b); },
            [](std::int64_t a, std::int64_t b) {
                return ofUnsigned(a, b, [](Unsigned x, Unsigned y) { return std::max(x, y); });
            }),
        binary(
            "minimum", Binary::Minimum, Domain::Number, minimumOf,
            [](std::int64_t a, std::int64_t b) { return std::min(a, b); },
            [](std::int64_t a, std::int64_t b) {
                return ofUnsigned(a, b, [](Unsigned x, Unsigned y) { return std::min(x, y); });
            }),
        comparison<std::equal_to<>>("equal", Binary::Equal),
        comparison<std::not_equal_to<>>("not_equal", Binary::NotEqual),
        comparison<std::less<>>("less", Binary::Less),
        comparison<std::less_equal<>>("less_equal", Binary::LessEqual),
        comparison<std::greater<>>("greater", Binary::Greater),
        comparison<std::greater_equal<>>("greater_equal", Binary::GreaterEqual),
        logic("logical_and", Binary::LogicalAnd, [](std::int64_t a, std::int64_t b) { return a & b; }),
        logic("logical_or", Binary::LogicalOr, [](std::int64_t a, std::int64_t b) { return a | b; }),
        logic("logical_xor", Binary::LogicalXor, [](std::int64_t a, std::int64_t b) { return a ^ b; }),
        bits("bitwise_and", Binary::BitAnd, Domain::Bits, [](std::int64_t a, std::int64_t b) { return a & b; }),
        bits("bitwise_or", Binary::BitOr, Domain::Bits, [](std::int64_t a, std::int64_t b) { return a | b; }),
        bits("bitwise_xor", Binary::BitXor, Domain::Bits, [](std::int64_t a, std::int64_t b) { return a ^ b; }),
        bits("left_shift", Binary::ShiftLeft, Domain::Shift, shiftedLeft),
        bits("right_shift", Binary::ShiftRight, Domain::Shift, shiftedRight),
        {"where",
         Pattern::Broadcast,
         3,
         3,
         inferWhere,
         [](const Node&, Tensors inputs, ComputeContext& context) -> Result<compute::Tensor> {
             return compute::where(context.builder, inputs[0], inputs[1], inputs[2]);
         },
         evaluateWhere,
         {.layout = LayoutRule::Elementwise, .demands = selectionDemands(), .signsZeros = true}},
        {"prelu",
         Pattern::Broadcast,
         2,
         2,
         inferPrelu,
         [](const Node&, Tensors inputs, ComputeContext& context) -> Result<compute::Tensor> {
             return compute::prelu(context.builder, inputs[0], inputs[1]);
         },
         evaluatePrelu,
         {.layout = LayoutRule::Elementwise, .nnName = true}},
    };
    return table;
}

} // namespace lathe::graph::operators
