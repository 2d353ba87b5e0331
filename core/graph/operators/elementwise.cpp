// Functions of one tensor, element by element.

#include "core/compute/definitions/elementwise.h"

#include "core/graph/operators/demands.h"
#include "core/graph/operators/element.h"
#include "core/graph/operators/families.h"
#include "core/graph/operators/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace lathe::graph::operators {
namespace {

double clampTo(double value, double low, double high)
{
    return value < low ? low : (value > high ? high : value);
}

double softplus(double x)
{
    return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}

double reluOf(double x)
{
    return x < 0 ? 0.0 : x;
} // keeps NaN
double negativeOf(double x)
{
    return -x;
}
double absOf(double x)
{
    return std::fabs(x);
}
double signOf(double x)
{
    return x > 0 ? 1.0 : (x < 0 ? -1.0 : (std::isnan(x) ? x : 0.0));
}
double expOf(double x)
{
    return std::exp(x);
}
double logOf(double x)
{
    return std::log(x);
}
double sqrtOf(double x)
{
    return std::sqrt(x);
}
double rsqrtOf(double x)
{
    return 1.0 / std::sqrt(x);
}
double reciprocalOf(double x)
{
    return 1.0 / x;
}
double tanhOf(double x)
{
    return std::tanh(x);
}
double erfOf(double x)
{
    return std::erf(x);
}
double sigmoidOf(double x)
{
    return 1.0 / (1.0 + std::exp(-x));
}
double sinOf(double x)
{
    return std::sin(x);
}
double cosOf(double x)
{
    return std::cos(x);
}
double tanOf(double x)
{
    return std::tan(x);
}
double asinOf(double x)
{
    return std::asin(x);
}
double acosOf(double x)
{
    return std::acos(x);
}
double atanOf(double x)
{
    return std::atan(x);
}
double sinhOf(double x)
{
    return std::sinh(x);
}
double coshOf(double x)
{
    return std::cosh(x);
}
double asinhOf(double x)
{
    return std::asinh(x);
}
double acoshOf(double x)
{
    return std::acosh(x);
}
double atanhOf(double x)
{
    return std::atanh(x);
}
double floorOf(double x)
{
    return std::floor(x);
}
double ceilOf(double x)
{
    return std::ceil(x);
}
double roundOf(double x)
{
    return std::nearbyint(x);
}
double siluOf(double x)
{
    return x * sigmoidOf(x);
}
double geluOf(double x)
{
    return 0.5 * x * (1.0 + std::erf(x / std::numbers::sqrt2));
}
double geluTanhOf(double x)
{
    return 0.5 * x * (1.0 + std::tanh(std::sqrt(2.0 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}
double hardSwishOf(double x)
{
    return x * clampTo(x / 6.0 + 0.5, 0.0, 1.0);
}
double mishOf(double x)
{
    return x * std::tanh(softplus(x));
}

std::int64_t negated(std::int64_t x)
{
    return static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(x));
} // wraps
std::int64_t reluInt(std::int64_t x)
{
    return std::max<std::int64_t>(x, 0);
}
std::int64_t absInt(std::int64_t x)
{
    return x < 0 ? negated(x) : x;
}
std::int64_t signInt(std::int64_t x)
{
    return x > 0 ? 1 : (x < 0 ? -1 : 0);
}
std::int64_t sameInt(std::int64_t x)
{
    return x;
}
std::int64_t anyInt(std::int64_t x)
{
    return x == 0 ? 0 : 1;
}
std::int64_t notInt(std::int64_t x)
{
    return x == 0 ? 1 : 0;
}

using compute::Unary;
using Tensors = std::span<const compute::Tensor>;
using FloatUnary = double (*)(double);
using IntUnary = std::int64_t (*)(std::int64_t);

Result<Types> inferFloat(const Node&, InputTypes inputs, Constants)
{
    LATHE_TRY(needFloat(inputs[0]));
    return Types{inputs[0]};
}

Result<Types> inferNumber(const Node&, InputTypes inputs, Constants)
{
    if (inputs[0].dtype == DType::Bool)
        return brokenRule("the input must be a number, it is bool");
    return Types{inputs[0]};
}

Result<Types> inferBool(const Node&, InputTypes inputs, Constants)
{
    if (inputs[0].dtype != DType::Bool)
        return brokenRule(fmt::format("the input must be bool, it is {}", toString(inputs[0].dtype)));
    return Types{inputs[0]};
}

OpDef floatUnary(std::string_view name, FloatUnary function, Unary definition)
{
    return {
        name,
        Pattern::Elementwise,
        1,
        1,
        inferFloat,
        [definition](const Node&, Tensors inputs, ComputeContext& context) -> Result<compute::Tensor> {
            return compute::unary(context.builder, definition, inputs[0]);
        },
        [function](const Node&, std::span<const HostTensor* const> inputs, std::span<HostTensor> outputs) -> Result<> {
            std::vector<double> values = readFloats(*inputs[0]);
            for (double& value : values)
                value = function(value);
            writeFloats(outputs[0], values);
            return {};
        },
        {.layout = LayoutRule::Elementwise}};
}

/// `unsignedFunction` takes the bits of integers without a sign.
OpDef numberUnary(std::string_view name, FloatUnary function, IntUnary intFunction, IntUnary unsignedFunction,
                  Unary definition)
{
    OpDef entry = floatUnary(name, function, definition);
    entry.inferTypes = inferNumber;
    entry.evaluate = [function, intFunction, unsignedFunction](const Node&, std::span<const HostTensor* const> inputs,
                                                               std::span<HostTensor> outputs) -> Result<> {
        if (isFloat(inputs[0]->type.dtype)) {
            std::vector<double> values = readFloats(*inputs[0]);
            for (double& value : values)
                value = function(value);
            writeFloats(outputs[0], values);
        } else {
            std::vector<std::int64_t> values = readInts(*inputs[0]);
            const IntUnary ofType = isSigned(inputs[0]->type.dtype) ? intFunction : unsignedFunction;
            for (std::int64_t& value : values)
                value = ofType(value);
            writeInts(outputs[0], values);
        }
        return {};
    };
    return entry;
}

/// A function with up to two numbers from attributes.
struct Parameters
{
    std::string_view first, second;
    double firstFallback = 0, secondFallback = 0;
};
using ParametricFunction = double (*)(double x, double a, double b);
using ParametricDefinition = compute::Tensor (*)(compute::DagBuilder&, compute::Tensor, double a, double b);

OpDef parametric(std::string_view name, Parameters parameters, ParametricFunction function,
                 ParametricDefinition definition)
{
    const auto read = [parameters](const Node& node) -> Result<std::pair<double, double>> {
        std::pair<double, double> values{parameters.firstFallback, parameters.secondFallback};
        LATHE_TRY_ASSIGN(values.first, floatAttr(node, parameters.first, values.first));
        if (!parameters.second.empty()) {
            LATHE_TRY_ASSIGN(values.second, floatAttr(node, parameters.second, values.second));
        }
        return values;
    };
    return {name,
            Pattern::Elementwise,
            1,
            1,
            [read](const Node& node, InputTypes inputs, Constants) -> Result<Types> {
                LATHE_TRY(needFloat(inputs[0]));
                LATHE_TRY(read(node));
                return Types{inputs[0]};
            },
            [read, definition](const Node& node, Tensors inputs, ComputeContext& context) -> Result<compute::Tensor> {
                LATHE_TRY_ASSIGN(const auto ab, read(node));
                return definition(context.builder, inputs[0], ab.first, ab.second);
            },
            [read, function](const Node& node, std::span<const HostTensor* const> inputs,
                             std::span<HostTensor> outputs) -> Result<> {
                LATHE_TRY_ASSIGN(const auto ab, read(node));
                std::vector<double> values = readFloats(*inputs[0]);
                for (double& value : values)
                    value = function(value, ab.first, ab.second);
                writeFloats(outputs[0], values);
                return {};
            },
            {.layout = LayoutRule::Elementwise}};
}

/// The entry with traits of its own; all of this family are elementwise.
OpDef withTraits(OpDef entry, OpTraits traits)
{
    traits.layout = LayoutRule::Elementwise;
    entry.traits = std::move(traits);
    return entry;
}

ValueId passedOn(Graph& graph, NodeId id)
{
    return graph.node(id).inputs[0];
}

Result<Types> inferClip(const Node& node, InputTypes inputs, Constants constants)
{
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    LATHE_TRY_ASSIGN(const double low, floatAttr(node, "min", -kInfinity));
    LATHE_TRY_ASSIGN(const double high, floatAttr(node, "max", kInfinity));
    if (std::isnan(low) || std::isnan(high))
        return brokenRule("min and max must be numbers");
    return inferNumber(node, inputs, constants);
}

/// A bound of integers of the type, kept as T: cut towards zero, within the type.
template<typename T>
T endOf(DType dtype, double bound)
{
    HostTensor end = HostTensor::zeros({dtype, {}});
    writeFloats(end, std::array{bound});
    return static_cast<T>(readInts(end)[0]);
}

Result<> evaluateClip(const Node& node, std::span<const HostTensor* const> inputs, std::span<HostTensor> outputs)
{
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    LATHE_TRY_ASSIGN(const double low, floatAttr(node, "min", -kInfinity));
    LATHE_TRY_ASSIGN(const double high, floatAttr(node, "max", kInfinity));
    // An empty interval gives its upper end, as ONNX says.
    const DType dtype = inputs[0]->type.dtype;
    if (!isFloat(dtype)) {
        const auto clipped = [&]<typename T>(T) {
            const T least = endOf<T>(dtype, low), most = endOf<T>(dtype, high);
            std::vector<std::int64_t> values = readInts(*inputs[0]);
            for (std::int64_t& value : values)
                value = static_cast<std::int64_t>(std::min(std::max(static_cast<T>(value), least), most));
            writeInts(outputs[0], values);
        };
        if (isSigned(dtype))
            clipped(std::int64_t{});
        else
            clipped(std::uint64_t{});
        return {};
    }
    std::vector<double> values = readFloats(*inputs[0]);
    for (double& value : values)
        value = value < low ? std::min(low, high) : (value > high ? high : value);
    writeFloats(outputs[0], values);
    return {};
}

Result<compute::Tensor> computeClip(const Node& node, Tensors inputs, ComputeContext& context)
{
    std::optional<double> low, high;
    if (node.attrs.contains("min")) {
        LATHE_TRY_ASSIGN(low, floatAttr(node, "min", 0));
    }
    if (node.attrs.contains("max")) {
        LATHE_TRY_ASSIGN(high, floatAttr(node, "max", 0));
    }
    return compute::clip(context.builder, inputs[0], low, high);
}

Result<Types> inferCast(const Node& node, InputTypes inputs, Constants)
{
    if (!node.attrs.contains("dtype"))
        return brokenRule("attribute dtype is missing");
    LATHE_TRY_ASSIGN(const DType dtype, dtypeAttr(node, "dtype", DType::F32));
    return Types{{dtype, inputs[0].shape}};
}

/// Integers as floats, rounded once to f32 or f64; half floats are rounded from f32.
void writeConverted(HostTensor& out, std::span<const std::int64_t> values, bool isUnsigned)
{
    std::vector<double> numbers;
    for (const std::int64_t value : values) {
        if (out.type.dtype == DType::F64)
            numbers.push_back(isUnsigned ? static_cast<double>(static_cast<std::uint64_t>(value))
                                         : static_cast<double>(value));
        else
            numbers.push_back(isUnsigned ? static_cast<float>(static_cast<std::uint64_t>(value))
                                         : static_cast<float>(value));
    }
    writeFloats(out, numbers);
}

Result<> evaluateCast(const Node&, std::span<const HostTensor* const> inputs, std::span<HostTensor> outputs)
{
    const DType from = inputs[0]->type.dtype;
    const DType to = outputs[0].type.dtype;
    if (isFloat(from)) {
        std::vector<double> values = readFloats(*inputs[0]);
        if (to == DType::Bool)
            std::ranges::for_each(values, [](double& value) { value = value != 0 ? 1.0 : 0.0; });
        writeFloats(outputs[0], values);
    } else {
        std::vector<std::int64_t> values = readInts(*inputs[0]);
        if (isFloat(to)) {
            writeConverted(outputs[0], values, from == DType::U64);
            return {};
        }
        if (to == DType::Bool)
            std::ranges::for_each(values, [](std::int64_t& value) { value = value != 0 ? 1 : 0; });
        writeInts(outputs[0], values);
    }
    return {};
}

/// Also of identity, whose output has the input's type.
Result<compute::Tensor> computeCast(const Node&, Tensors inputs, ComputeContext& context)
{
    return compute::cast(context.builder, inputs[0], context.outputTypes[0].dtype);
}

Result<Types> inferSame(const Node&, InputTypes inputs, Constants)
{
    return Types{inputs[0]};
}

Result<> evaluateCopy(const Node&, std::span<const HostTensor* const> inputs, std::span<HostTensor> outputs)
{
    outputs[0].bytes = inputs[0]->bytes;
    return {};
}

} // namespace

std::span<const OpDef> elementwiseOperators()
{
    static const std::vector<OpDef> table = {
        withTraits(numberUnary("relu", reluOf, reluInt, sameInt, Unary::Relu),
                   {.scale = ScaleRule::Positive, .nnName = true}),
        withTraits(numberUnary("negative", negativeOf, negated, negated, Unary::Negative),
                   {.lateFolding = LateFolding::Always, .demands = negativeDemands(), .signsZeros = true}),
        withTraits(numberUnary("abs", absOf, absInt, sameInt, Unary::Abs), {.demands = absDemands(), .signsZeros = true}),
        withTraits(numberUnary("sign", signOf, signInt, anyInt, Unary::Sign), {.demands = noDemands()}),
        floatUnary("exp", expOf, Unary::Exp),
        floatUnary("log", logOf, Unary::Log),
        withTraits(floatUnary("sqrt", sqrtOf, Unary::Sqrt), {.signsZeros = true}),
        floatUnary("rsqrt", rsqrtOf, Unary::Rsqrt),
        withTraits(floatUnary("reciprocal", reciprocalOf, Unary::Reciprocal), {.signsZeros = true}),
        withTraits(floatUnary("tanh", tanhOf, Unary::Tanh), {.signsZeros = true}),
        withTraits(floatUnary("erf", erfOf, Unary::Erf), {.signsZeros = true}),
        floatUnary("sigmoid", sigmoidOf, Unary::Sigmoid),
        withTraits(floatUnary("sin", sinOf, Unary::Sin), {.signsZeros = true}),
        floatUnary("cos", cosOf, Unary::Cos),
        withTraits(floatUnary("tan", tanOf, Unary::Tan), {.signsZeros = true}),
        withTraits(floatUnary("asin", asinOf, Unary::Asin), {.signsZeros = true}),
        floatUnary("acos", acosOf, Unary::Acos),
        withTraits(floatUnary("atan", atanOf, Unary::Atan), {.signsZeros = true}),
        withTraits(floatUnary("sinh", sinhOf, Unary::Sinh), {.signsZeros = true}),
        floatUnary("cosh", coshOf, Unary::Cosh),
        withTraits(floatUnary("asinh", asinhOf, Unary::Asinh), {.signsZeros = true}),
        floatUnary("acosh", acoshOf, Unary::Acosh),
        withTraits(floatUnary("atanh", atanhOf, Unary::Atanh), {.signsZeros = true}),
        withTraits(floatUnary("floor", floorOf, Unary::Floor), {.demands = sameDemands(), .signsZeros = true}),
        withTraits(floatUnary("ceil", ceilOf, Unary::Ceil), {.demands = sameDemands(), .signsZeros = true}),
        withTraits(floatUnary("round", roundOf, Unary::Round), {.demands = sameDemands(), .signsZeros = true}),
        floatUnary("softplus", softplus, Unary::Softplus),
        floatUnary("silu", siluOf, Unary::Silu),
        floatUnary("gelu", geluOf, Unary::Gelu),
        floatUnary("gelu_tanh", geluTanhOf, Unary::GeluTanh),
        floatUnary("hard_swish", hardSwishOf, Unary::HardSwish),
        floatUnary("mish", mishOf, Unary::Mish),
        withTraits(parametric(
                       "leaky_relu", {"alpha", "", 0.01, 0},
                       [](double x, double a, double) { return x < 0 ? a * x : x; },
                       [](compute::DagBuilder& builder, compute::Tensor x, double a, double) {
                           return compute::leakyRelu(builder, x, a);
                       }),
                   {.scale = ScaleRule::Positive, .nnName = true}),
        parametric(
            "elu", {"alpha", "", 1.0, 0}, [](double x, double a, double) { return x < 0 ? a * std::expm1(x) : x; },
            [](compute::DagBuilder& builder, compute::Tensor x, double a, double) {
                return compute::elu(builder, x, a);
            }),
        parametric(
            "selu", {"alpha", "gamma", 1.67326319217681884765625, 1.05070102214813232421875},
            [](double x, double a, double g) { return g * (x < 0 ? a * std::expm1(x) : x); }, compute::selu),
        parametric(
            "celu", {"alpha", "", 1.0, 0}, [](double x, double a, double) { return x < 0 ? a * std::expm1(x / a) : x; },
            [](compute::DagBuilder& builder, compute::Tensor x, double a, double) {
                return compute::celu(builder, x, a);
            }),
        parametric(
            "hard_sigmoid", {"alpha", "beta", 0.2, 0.5},
            [](double x, double a, double b) { return clampTo(a * x + b, 0.0, 1.0); }, compute::hardSigmoid),
        parametric(
            "thresholded_relu", {"alpha", "", 1.0, 0}, [](double x, double a, double) { return x > a ? x : 0.0; },
            [](compute::DagBuilder& builder, compute::Tensor x, double a, double) {
                return compute::thresholdedRelu(builder, x, a);
            }),
        {"logical_not",
         Pattern::Elementwise,
         1,
         1,
         inferBool,
         [](const Node&, Tensors inputs, ComputeContext& context) -> Result<compute::Tensor> {
             return compute::unary(context.builder, Unary::LogicalNot, inputs[0]);
         },
         [](const Node&, std::span<const HostTensor* const> inputs, std::span<HostTensor> outputs) -> Result<> {
             std::vector<std::int64_t> values = readInts(*inputs[0]);
             std::ranges::transform(values, values.begin(), notInt);
             writeInts(outputs[0], values);
             return {};
         },
         {.layout = LayoutRule::Elementwise}},
        {"is_nan",
         Pattern::Elementwise,
         1,
         1,
         [](const Node&, InputTypes inputs, Constants) -> Result<Types> {
             LATHE_TRY(needFloat(inputs[0]));
             return Types{{DType::Bool, inputs[0].shape}};
         },
         [](const Node&, Tensors inputs, ComputeContext& context) -> Result<compute::Tensor> {
             return compute::unary(context.builder, Unary::IsNan, inputs[0]);
         },
         [](const Node&, std::span<const HostTensor* const> inputs, std::span<HostTensor> outputs) -> Result<> {
             const std::vector<double> values = readFloats(*inputs[0]);
             std::vector<std::int64_t> found(values.size());
             std::ranges::transform(values, found.begin(), [](double value) { return std::isnan(value) ? 1 : 0; });
             writeInts(outputs[0], found);
             return {};
         },
         {.layout = LayoutRule::Elementwise}},
        {"clip",
         Pattern::Elementwise,
         1,
         1,
         inferClip,
         computeClip,
         evaluateClip,
         {.layout = LayoutRule::Elementwise, .demands = clipDemands()}},
        // Weights of another type (half floats) are worth more as constants of the kernel's than the room that they
        // take.
        {"cast",
         Pattern::Elementwise,
         1,
         1,
         inferCast,
         computeCast,
         evaluateCast,
         {.layout = LayoutRule::Elementwise,
          .identityIfSameType = true,
          .lateFolding = LateFolding::Always,
          .foldsLarge = true,
          .demands = sameDemands(),
          .signsZeros = true}},
        {"identity",
         Pattern::Elementwise,
         1,
         1,
         inferSame,
         computeCast,
         evaluateCopy,
         {.layout = LayoutRule::Elementwise, .cost = Cost::Free, .signsZeros = true, .simplify = passedOn}},
        // Inference only: dropout passes its input on. A pass removes it; it is never fused.
        {"dropout",
         Pattern::Opaque,
         1,
         1,
         inferSame,
         nullptr,
         evaluateCopy,
         {.layout = LayoutRule::Elementwise,
          .cost = Cost::Free,
          .nnName = true,
          .signsZeros = true,
          .simplify = passedOn}},
    };
    return table;
}

} // namespace lathe::graph::operators
