#include "tests/net/expectation.h"

#include "core/graph/node_types.h"
#include "core/graph/operators/element.h"
#include "core/graph/passes.h"
#include "core/graph/rewrite.h"
#include "core/support/random.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

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

/// One unit of the type that code computes in: half floats are computed in f32.
double computedUnit(double value, DType dtype)
{
    return unitAt(value, dtype == DType::F64 ? DType::F64 : DType::F32);
}

/// What is stated for f32; f64 has 29 digits more.
double absoluteOf(const Bound& bound, DType dtype)
{
    return dtype == DType::F64 ? std::ldexp(bound.absolute, -29) : bound.absolute;
}

HostTensor widened(const HostTensor& tensor)
{
    if (!isFloat(tensor.type.dtype))
        return tensor;
    HostTensor wide = HostTensor::zeros({DType::F64, tensor.type.shape});
    graph::operators::writeFloats(wide, graph::operators::readFloats(tensor));
    return wide;
}

/// The node with its attributes that name a type of floats naming double.
graph::Node widened(graph::Node node)
{
    for (const char* key : {"dtype", "out_dtype"}) {
        const auto found = node.attrs.find(key);
        if (found == node.attrs.end())
            continue;
        for (const DType dtype : {DType::F16, DType::BF16, DType::F32})
            if (const auto* text = std::get_if<std::string>(&found->second); text && *text == toString(dtype))
                found->second = std::string(toString(DType::F64));
    }
    return node;
}

/// Runs a network in double.
class WideRun
{
public:
    /// A seed: with errors where code may make some.
    WideRun(const Graph& graph, bool errsAtAll, bool passErrorsOn, std::uint64_t seed)
        : m_graph(graph)
        , m_errs(errsAtAll)
        , m_passErrorsOn(passErrorsOn)
        , m_random(seed)
        , m_values(graph.values.size())
    {
    }

    Result<std::vector<HostTensor>> run(const std::vector<HostTensor>& inputs)
    {
        for (std::size_t i = 0; i < inputs.size(); ++i)
            slot(m_graph.inputs[i]) = widened(inputs[i]);
        for (const graph::Node& node : m_graph.nodes)
            LATHE_TRY(runNode(node));
        std::vector<HostTensor> outputs;
        for (const graph::ValueId id : m_graph.outputs) {
            LATHE_TRY(ready(id));
            outputs.push_back(*slot(id));
        }
        return outputs;
    }

private:
    std::optional<HostTensor>& slot(graph::ValueId id) { return m_values[static_cast<std::size_t>(id.value)]; }

    Result<> ready(graph::ValueId id)
    {
        if (slot(id))
            return {};
        LATHE_TRY_ASSIGN(const HostTensor constant, graph::tensorOf(m_graph.value(id)));
        slot(id) = widened(constant);
        return {};
    }

    Result<> runNode(const graph::Node& node)
    {
        const graph::OpDef* entry = graph::findOperator(node.op);
        const bool sums = m_errs && entry != nullptr && entry->traits.sums;
        std::vector<HostTensor> disturbed;
        disturbed.reserve(node.inputs.size());
        std::vector<const HostTensor*> operands;
        for (const graph::ValueId id : node.inputs) {
            LATHE_TRY(ready(id));
            const bool errs = sums && isFloat(slot(id)->type.dtype);
            if (errs)
                disturbed.push_back(withErrors(*slot(id), m_graph.value(id).dtype, node.op == "batch_norm"));
            operands.push_back(errs ? &disturbed.back() : &*slot(id));
        }
        LATHE_TRY_ASSIGN(std::vector<HostTensor> results, graph::evaluateNode(widened(node), operands));
        for (std::size_t i = 0; i < results.size(); ++i) {
            if (m_errs && m_passErrorsOn && !isExact(node.op) && isFloat(results[i].type.dtype))
                err(results[i], m_graph.value(node.outputs[i]).dtype, boundOf(node.op));
            slot(node.outputs[i]) = std::move(results[i]);
        }
        return {};
    }

    /// Summands with the errors that sums of so many make, whatever the order. `ofType`: those that make a factor and a
    /// summand of several operands, each rounded to its type.
    HostTensor withErrors(const HostTensor& tensor, DType dtype, bool ofType)
    {
        HostTensor result = tensor;
        std::span<double> values = result.as<double>();
        const double unit = std::ldexp(1.0, -formatOf(ofType || dtype == DType::F64 ? dtype : DType::F32).digits);
        const double scale = unit * (1 + std::sqrt(static_cast<double>(values.size())) / 4);
        for (double& value : values)
            value += std::isfinite(value) ? sign() * (1 + m_random.uniform()) * scale * std::abs(value) : 0;
        return result;
    }

    void err(HostTensor& tensor, DType dtype, const Bound& bound)
    {
        for (double& value : tensor.as<double>())
            if (std::isfinite(value))
                // A product that is added at once is not rounded: half a unit at least.
                value += sign()
                         * (std::max(bound.ulps, dtype == DType::F64 ? 1 : 0.5) * computedUnit(value, dtype)
                            + absoluteOf(bound, dtype));
    }

    double sign() { return m_random.below(2) == 0 ? 1.0 : -1.0; }

    const Graph& m_graph;
    bool m_errs, m_passErrorsOn;
    Random m_random;
    std::vector<std::optional<HostTensor>> m_values;
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

Result<std::vector<Expected>> expect(const Graph& graph, const std::vector<HostTensor>& inputs,
                                     const ExpectationOptions& options)
{
    constexpr std::uint64_t kDisturbedRuns = 3;
    LATHE_TRY_ASSIGN(std::vector<HostTensor> rounded, graph::interpret(graph, inputs));
    LATHE_TRY_ASSIGN(const std::vector<HostTensor> precise, WideRun(graph, false, false, 0).run(inputs));
    std::vector<std::vector<HostTensor>> disturbed;
    for (std::uint64_t i = 0; i < kDisturbedRuns; ++i) {
        LATHE_TRY_ASSIGN(std::vector<HostTensor> run,
                         WideRun(graph, true, options.passErrorsOn, options.seed + i).run(inputs));
        disturbed.push_back(std::move(run));
    }
    std::vector<Expected> all;
    for (std::size_t o = 0; o < rounded.size(); ++o) {
        Expected one;
        const graph::NodeId producer = graph.value(graph.outputs[o]).producer;
        if (producer.valid())
            one.bound = boundOf(graph.node(producer).op);
        // A zero keeps what sign it has on its way.
        one.bound.anyZero = std::ranges::any_of(graph.nodes,
                                                [](const graph::Node& n) { return boundOf(n.op).anyZero; });
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
