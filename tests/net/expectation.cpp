#include "tests/net/expectation.h"

#include "core/graph/in_doubles.h"
#include "core/graph/node_types.h"
#include "core/graph/operators/element.h"
#include "core/graph/passes.h"
#include "core/graph/rewrite.h"
#include "core/support/element_count.h"
#include "core/support/random.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

namespace lathe::net {

namespace {

using graph::Graph;
using graph::HostTensor;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Digits of the significand and the exponent of the smallest number.
struct Format
{
    int digits = 53, smallest = -1074;
    double largest = std::numeric_limits<double>::max();
};

Format formatOf(DType dtype)
{
    switch (dtype) {
    case DType::F16: return {11, -24, 65504};
    case DType::BF16: return {8, -133, 0x1.fep127};
    case DType::F32: return {24, -149, 0x1.fffffep127};
    default: return {};
    }
}

/// The distance to the next number of the type.
double unitAt(double value, DType dtype)
{
    const Format format = formatOf(dtype);
    if (!std::isfinite(value))
        return 0;
    const int exponent = value == 0 ? format.smallest : std::ilogb(value) - format.digits + 1;
    return std::ldexp(1.0, std::max(exponent, format.smallest));
}

/// What is stated for f32; f64 has 29 digits more.
double absoluteOf(const Bound& bound, DType dtype)
{
    return dtype == DType::F64 ? std::ldexp(bound.absolute, -29) : bound.absolute;
}

/// Makes of a network in double what code may compute of the original one: summands err as far as sums of so many do,
/// in any order, and results by their operator's own bound. Errors are factors and summands, nodes of their own, so
/// that they are made in bodies of control flow too.
class ErrorMaker
{
public:
    ErrorMaker(bool passErrorsOn, std::uint64_t seed)
        : m_passErrorsOn(passErrorsOn)
        , m_random(seed)
    {
    }

    /// The types of `original` say how much its code errs.
    Graph operator()(const Graph& wide, const Graph& original)
    {
        Graph made = wide;
        made.nodes.clear();
        for (std::size_t n = 0; n < wide.nodes.size(); ++n) {
            graph::Node node = wide.nodes[n];
            for (std::size_t i = 0; i < node.bodies.size(); ++i)
                node.bodies[i] = std::make_shared<const Graph>((*this)(*node.bodies[i], *original.nodes[n].bodies[i]));
            if (graph::traitsOf(node).sums)
                for (graph::ValueId& id : node.inputs)
                    if (const DType dtype = original.value(id).dtype; isFloat(dtype))
                        id = withErrors(made, id, dtype, node.op == "batch_norm");
            std::vector<std::pair<graph::ValueId, graph::ValueId>> erring; // what it computes, what others read
            if (m_passErrorsOn && !isExact(node.op) && node.bodies.empty())
                for (graph::ValueId& id : node.outputs)
                    if (isFloat(original.value(id).dtype)) {
                        const graph::ValueId exact = like(made, id);
                        erring.emplace_back(exact, std::exchange(id, exact));
                    }
            const Bound bound = boundOf(node.op);
            made.nodes.push_back(std::move(node));
            for (const auto& [exact, result] : erring)
                err(made, exact, result, original.value(result).dtype, bound);
        }
        return made;
    }

private:
    static graph::ValueId like(Graph& made, graph::ValueId id)
    {
        const graph::Value value = made.value(id);
        return made.addValue(value.name, value.dtype, value.shape);
    }

    void join(Graph& made, const char* op, graph::ValueId x, const std::vector<double>& numbers, graph::ValueId result)
    {
        const std::vector<std::int64_t> shape = made.value(x).shape;
        const graph::ValueId operand = graph::addNumbers(made, "errors", DType::F64, shape, numbers);
        made.nodes.push_back({fmt::format("error {}", m_count++), op, {}, {x, operand}, {result}, {}});
    }

    std::size_t countOf(const Graph& made, graph::ValueId id) const
    {
        return static_cast<std::size_t>(elementCount(made.value(id).shape));
    }

    /// Summands with the errors that sums of so many make, whatever the order. `ofType`: those that make a factor and a
    /// summand of several operands, each rounded to its type.
    graph::ValueId withErrors(Graph& made, graph::ValueId id, DType dtype, bool ofType)
    {
        std::vector<double> factors(countOf(made, id));
        const double unit = std::ldexp(1.0, -formatOf(ofType || dtype == DType::F64 ? dtype : DType::F32).digits);
        const double scale = unit * (1 + std::sqrt(static_cast<double>(factors.size())) / 4);
        for (double& factor : factors)
            factor = 1 + sign() * (1 + m_random.uniform()) * scale;
        const graph::ValueId result = like(made, id);
        join(made, "multiply", id, factors, result);
        return result;
    }

    void err(Graph& made, graph::ValueId exact, graph::ValueId result, DType dtype, const Bound& bound)
    {
        // A product that is added at once is not rounded: half a unit at least.
        const double ulps = std::max(bound.ulps, dtype == DType::F64 ? 1 : 0.5);
        const Format computed = formatOf(dtype == DType::F64 ? DType::F64 : DType::F32); // half floats in f32
        // Which of the tensors between are rounded to half floats is the code's choice: one unit, of which slack takes
        // sixteen times the sixteenth.
        const bool isHalf = dtype == DType::F16 || dtype == DType::BF16;
        const double rounding = isHalf ? std::ldexp(1.0 / 16, 1 - formatOf(dtype).digits) : 0;
        std::vector<double> factors(countOf(made, exact)), summands(factors.size());
        for (std::size_t i = 0; i < factors.size(); ++i) {
            const double up = sign();
            factors[i] = 1 + up * (std::ldexp(ulps, -computed.digits) + rounding);
            summands[i] = up * (std::ldexp(ulps, computed.smallest) + absoluteOf(bound, dtype));
        }
        const graph::ValueId scaled = like(made, exact);
        join(made, "multiply", exact, factors, scaled);
        join(made, "add", scaled, summands, result);
    }

    double sign() { return m_random.below(2) == 0 ? 1.0 : -1.0; }

    bool m_passErrorsOn;
    Random m_random;
    int m_count = 0;
};

double difference(double a, double b)
{
    return a == b || (std::isnan(a) && std::isnan(b)) ? 0
           : std::isfinite(a) && std::isfinite(b)     ? std::abs(a - b)
                                                      : kInfinity;
}

bool same(double a, double b)
{
    return a == b || (std::isnan(a) && std::isnan(b));
}

} // namespace

bool isExact(std::string_view op)
{
    static const std::set<std::string_view> kExact = {"abs",
                                                      "argmax",
                                                      "argmin",
                                                      "batch_flatten",
                                                      "broadcast_to",
                                                      "cast",
                                                      "ceil",
                                                      "clip",
                                                      "concatenate",
                                                      "dropout",
                                                      "equal",
                                                      "expand_dims",
                                                      "floor",
                                                      "gather_elements",
                                                      "gather_nd",
                                                      "greater",
                                                      "greater_equal",
                                                      "identity",
                                                      "is_nan",
                                                      "less",
                                                      "less_equal",
                                                      "logical_and",
                                                      "logical_not",
                                                      "logical_or",
                                                      "logical_xor",
                                                      "max",
                                                      "max_pool2d",
                                                      "max_pool3d",
                                                      "global_max_pool2d",
                                                      "global_max_pool3d",
                                                      "maximum",
                                                      "min",
                                                      "minimum",
                                                      "mod",
                                                      "negative",
                                                      "not_equal",
                                                      "pad",
                                                      "relu",
                                                      "reshape",
                                                      "round",
                                                      "sign",
                                                      "split",
                                                      "squeeze",
                                                      "strided_slice",
                                                      "take",
                                                      "thresholded_relu",
                                                      "top_positions",
                                                      "transpose",
                                                      "where"};
    return kExact.contains(op);
}

Bound boundOf(std::string_view op)
{
    struct Row
    {
        std::string_view op;
        Bound bound;
    };
    static constexpr Row kRows[] = {
        {"add", {0}},
        {"subtract", {0}},
        {"multiply", {0}},
        {"divide", {0.51}},
        {"sqrt", {0.51}},
        {"reciprocal", {0.51}},
        {"relu", {0, 0, true}},
        {"clip", {0, 0, true}},
        {"maximum", {0, 0, true}},
        {"minimum", {0, 0, true}},
        {"max", {0, 0, true}},
        {"min", {0, 0, true}},
        {"max_pool2d", {0, 0, true}},
        {"max_pool3d", {0, 0, true}},
        {"global_max_pool2d", {0, 0, true}},
        {"global_max_pool3d", {0, 0, true}},
        {"grid_sample", {4, 0, true}}, // weights have signs too
        {"grid_sample", {4, 0, true}},
        {"celu", {4, 0, true}},
        {"hard_sigmoid", {4, 2e-7, true}},
        {"acos", {6}},
        {"erf", {6}},
        {"log_softmax", {4, 2.4e-7}}, // the logarithm of a sum, which is rounded beside 1
        {"mish", {8, 1e-41}}, // e^x is subnormal
        {"gelu", {6, 4e-7, true}}, // the tails cancel: a bound that is not relative
        {"gelu_tanh", {6, 4e-7, true}},
        {"hard_swish", {4, 4e-7, true}}, // x / 6 + 0.5 cancels
        {"pow", {4}},
    };
    for (const Row& row : kRows)
        if (row.op == op)
            return row.bound;
    return isExact(op) ? Bound{0} : Bound{};
}

bool mayGiveAnyZero(const Graph& graph)
{
    return std::ranges::any_of(graph.nodes, [](const graph::Node& node) {
        return boundOf(node.op).anyZero
               || std::ranges::any_of(node.bodies, [](const auto& body) { return mayGiveAnyZero(*body); });
    });
}

Result<std::vector<Expected>> expect(const Graph& graph, const std::vector<HostTensor>& inputs,
                                     const ExpectationOptions& options)
{
    constexpr std::uint64_t kDisturbedRuns = 3;
    LATHE_TRY_ASSIGN(std::vector<HostTensor> rounded, graph::interpret(graph, inputs));
    LATHE_TRY_ASSIGN(const Graph wide, graph::inDoubles(graph));
    const std::vector<HostTensor> wideInputs = graph::inDoubles(inputs);
    LATHE_TRY_ASSIGN(const std::vector<HostTensor> precise, graph::interpret(wide, wideInputs));
    std::vector<std::vector<HostTensor>> disturbed;
    for (std::uint64_t i = 0; i < kDisturbedRuns; ++i) {
        const Graph erring = ErrorMaker(options.passErrorsOn, options.seed + i)(wide, graph);
        LATHE_TRY_ASSIGN(std::vector<HostTensor> run, graph::interpret(erring, wideInputs));
        disturbed.push_back(std::move(run));
    }
    const bool mayErr = std::ranges::any_of(graph.nodes, [](const graph::Node& n) { return !isExact(n.op); });
    std::vector<Expected> all;
    for (std::size_t o = 0; o < rounded.size(); ++o) {
        Expected one;
        const graph::NodeId producer = graph.value(graph.outputs[o]).producer;
        if (producer.valid())
            one.bound = boundOf(graph.node(producer).op);
        one.bound.anyZero = mayGiveAnyZero(graph);
        one.isExact = !mayErr && !graph.nodes.empty(); // constants were folded by who knows what
        const DType dtype = rounded[o].type.dtype;
        if (isFloat(dtype)) {
            const std::vector<double> r = graph::operators::readFloats(rounded[o]),
                                      p = graph::operators::readFloats(precise[o]);
            HostTensor narrowed = HostTensor::zeros(rounded[o].type);
            graph::operators::writeFloats(narrowed, p);
            const std::vector<double> n = graph::operators::readFloats(narrowed);
            one.slack.resize(r.size());
            for (std::size_t i = 0; i < r.size(); ++i) {
                // What overflows the type in both runs is infinite in both.
                double off = same(r[i], n[i]) && !std::isfinite(r[i]) ? 0 : difference(r[i], p[i]);
                for (const auto& run : disturbed)
                    off = std::max(off, difference(run[o].as<double>()[i], p[i]));
                // The runs are in double themselves, and say nothing of what is less than a unit of it; of half floats
                // less than the unit of the last tensor.
                if (dtype != DType::F32 && options.passErrorsOn && mayErr)
                    off = std::max(off, unitAt(r[i], dtype) / (dtype == DType::F64 ? 2 : 16));
                one.slack[i] = 16 * off;
            }
        } else {
            // Integers behind a jump that an error crosses.
            const std::vector<std::int64_t> r = graph::operators::readInts(rounded[o]),
                                            p = graph::operators::readInts(precise[o]);
            one.slack.resize(r.size());
            for (std::size_t i = 0; i < r.size(); ++i) {
                bool sure = r[i] == p[i];
                for (const auto& run : disturbed)
                    sure = sure && graph::operators::readInts(run[o])[i] == p[i];
                one.slack[i] = sure ? 0 : kInfinity;
            }
        }
        one.tensor = std::move(rounded[o]);
        all.push_back(std::move(one));
    }
    return all;
}

std::string compare(const HostTensor& got, const Expected& wanted)
{
    const HostTensor& want = wanted.tensor;
    if (!(got.type == want.type))
        return fmt::format("it is {}, not {}", graph::typeText(got.type), graph::typeText(want.type));
    const DType dtype = want.type.dtype;
    if (!isFloat(dtype)) {
        const auto size = static_cast<std::size_t>(sizeOf(dtype));
        for (std::size_t i = 0; i * size < want.bytes.size(); ++i) {
            if (wanted.slack[i] > 0
                || std::equal(got.bytes.begin() + static_cast<std::ptrdiff_t>(i * size),
                              got.bytes.begin() + static_cast<std::ptrdiff_t>((i + 1) * size),
                              want.bytes.begin() + static_cast<std::ptrdiff_t>(i * size)))
                continue;
            return fmt::format("element {} is {}, not {}", i, graph::operators::readInts(got)[i],
                               graph::operators::readInts(want)[i]);
        }
        return {};
    }
    const std::vector<double> g = graph::operators::readFloats(got), w = graph::operators::readFloats(want);
    const Format format = formatOf(dtype);
    const bool isHalf = dtype == DType::F16 || dtype == DType::BF16;
    const double ulps = isHalf ? std::min(wanted.bound.ulps, 1.0) : wanted.bound.ulps;
    for (std::size_t i = 0; i < w.size(); ++i) {
        if (std::isinf(wanted.slack[i]))
            continue;
        const double tolerance = wanted.slack[i] + ulps * unitAt(w[i], dtype) + absoluteOf(wanted.bound, dtype);
        bool right = false;
        if (std::isnan(w[i]) || std::isnan(g[i]))
            right = std::isnan(w[i]) && std::isnan(g[i]);
        else if (g[i] == w[i])
            right = g[i] != 0 || wanted.bound.anyZero || wanted.slack[i] > 0
                    || std::signbit(g[i]) == std::signbit(w[i]);
        else if (std::isinf(g[i]) && std::isinf(w[i])) // something divided by a zero of either sign
            right = wanted.bound.anyZero;
        else if (std::isinf(g[i]) || std::isinf(w[i])) // rounded to one side of the largest number or the other
            right = std::signbit(g[i]) == std::signbit(w[i]) && ulps + wanted.slack[i] > 0
                    && std::min(std::abs(g[i]), std::abs(w[i])) + tolerance >= format.largest;
        else
            right = std::abs(g[i] - w[i]) <= tolerance;
        if (!right)
            return fmt::format("element {} is {:.17g}, not {:.17g} (within {:.3g})", i, g[i], w[i], tolerance);
    }
    return {};
}

} // namespace lathe::net
