#include "core/graph/input_ranges.h"

#include "core/graph/operator.h"
#include "core/graph/operators/element.h"
#include "core/support/element_count.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace lathe::graph {

namespace {

constexpr std::size_t kLookedThrough = std::size_t{1} << 20; ///< bytes of a constant

bool isWholeNumber(const Value& value)
{
    return isInteger(value.dtype) && value.dtype != DType::Bool;
}

/// The least and the largest element of constants, looked at once.
class ConstantRanges
{
public:
    explicit ConstantRanges(const Graph& graph)
        : m_graph(graph)
    {
    }

    std::optional<ValueRange> of(ValueId id)
    {
        const auto known = m_ranges.find(id.value);
        return known != m_ranges.end() ? known->second : m_ranges[id.value] = look(m_graph.value(id));
    }

private:
    static std::optional<ValueRange> look(const Value& value)
    {
        if (!value.constant || value.constant->bytes == 0 || value.constant->bytes > kLookedThrough)
            return std::nullopt;
        const auto contents = contentsOf(*value.constant);
        if (!contents)
            return std::nullopt;
        const auto count = contents->bytes.size() / static_cast<std::size_t>(sizeOf(value.dtype));
        const std::vector<double> elements = operators::readFloats(contents->bytes.data(), value.dtype, count);
        const auto [least, largest] = std::ranges::minmax_element(elements);
        if (std::ranges::any_of(elements, [](double element) { return std::isnan(element); }))
            return std::nullopt;
        return ValueRange{*least, *largest};
    }

    const Graph& m_graph;
    std::map<std::int32_t, std::optional<ValueRange>> m_ranges;
};

Demand demandOf(const Graph& graph, const Node& node, std::size_t operand, const Demand& results,
                const std::function<std::optional<ValueRange>(ValueId)>& constant)
{
    const OpTraits& traits = traitsOf(node);
    Demand demand;
    if (traits.demands)
        demand = traits.demands({graph, node, operand, results, constant});
    const Value& value = graph.value(node.inputs[operand]);
    if (operand == 1 && traits.picksFrom) {
        const std::int64_t places = traits.picksFrom(node, graph.value(node.inputs[0]).shape, value.shape);
        if (places > 0)
            demand.add({.needed = ValueRange{0, static_cast<double>(places - 1)}});
        demand.distinct = demand.distinct && elementCount(value.shape) <= places;
        return demand;
    }
    if (traits.demands)
        return demand;
    const Cost cost = costOf(node);
    if (cost == Cost::Movement || cost == Cost::Free)
        return results;
    return isWholeNumber(value) ? results : Demand();
}

double leastOf(DType dtype)
{
    return isSigned(dtype) ? -std::ldexp(1.0, static_cast<int>(sizeOf(dtype)) * 8 - 1) : 0;
}

double largestOf(DType dtype)
{
    const int bits = static_cast<int>(sizeOf(dtype)) * 8 - (isSigned(dtype) ? 1 : 0);
    return bits >= 63 ? std::ldexp(1.0, 62) : std::ldexp(1.0, bits) - 1;
}

/// An end that is open is put where made-up integers end anyway, or as far from the other.
InputRange rangeFrom(const Value& value, const Demand& demand)
{
    constexpr double kUsual = 127;
    std::optional<ValueRange> range = demand.needed ? demand.needed : demand.guarded;
    InputRange out;
    out.needed = demand.needed.has_value();
    if (isWholeNumber(value)) {
        range = range ? range : demand.usual;
        if (!range || (std::isinf(range->low) && std::isinf(range->high)))
            return {};
        range->low = std::ceil(range->low);
        range->high = std::floor(range->high);
    } else if (!range || !isFloat(value.dtype) || (std::isinf(range->low) && std::isinf(range->high))) {
        return {};
    }
    if (std::isinf(range->low))
        range->low = range->high >= 0 ? std::max(-kUsual, leastOf(value.dtype)) : range->high - kUsual;
    if (std::isinf(range->high))
        range->high = range->low <= kUsual ? kUsual : range->low + kUsual;
    if (isWholeNumber(value))
        range = ValueRange{std::max(range->low, leastOf(value.dtype)), std::min(range->high, largestOf(value.dtype))};
    if (range->empty())
        return {};
    out.range = range;
    out.distinct = demand.distinct && static_cast<double>(elementCount(value.shape)) <= range->high - range->low + 1;
    return out;
}

std::vector<Demand> inputDemands(const Graph& graph, int depth);

/// What the bodies of a node of control flow ask of its operands, beyond what it is told by `operand`.
Demand demandOfBodies(const Node& node, std::size_t operand, int depth)
{
    const Control control = traitsOf(node).control;
    Demand demand;
    // A loop's body has an iteration and a condition where the node has trips and a condition (operators/control.cpp).
    const std::size_t own = control == Control::If ? 1 : 2;
    const std::size_t first = control == Control::If ? 1 : 0;
    if (operand < own || depth >= kDeepestBodies)
        return demand;
    for (const std::shared_ptr<const Graph>& body : node.bodies) {
        const std::vector<Demand> inside = inputDemands(*body, depth + 1);
        if (operand - first < inside.size())
            demand.add(inside[operand - first]);
    }
    return demand;
}

std::vector<Demand> inputDemands(const Graph& graph, int depth)
{
    ConstantRanges constants(graph);
    const std::function constant = [&constants](ValueId id) { return constants.of(id); };
    std::vector<Demand> demands(graph.values.size());
    for (std::size_t n = graph.nodes.size(); n-- > 0;) {
        const Node& node = graph.nodes[n];
        Demand results;
        for (const ValueId output : node.outputs)
            if (output.valid())
                results.add(demands[static_cast<std::size_t>(output.value)]);
        for (std::size_t i = 0; i < node.inputs.size(); ++i)
            if (node.inputs[i].valid() && !graph.value(node.inputs[i]).constant)
                demands[static_cast<std::size_t>(node.inputs[i].value)].add(
                    node.bodies.empty() ? demandOf(graph, node, i, results, constant) : demandOfBodies(node, i, depth));
    }
    std::vector<Demand> inputs;
    for (const ValueId input : graph.inputs)
        inputs.push_back(demands[static_cast<std::size_t>(input.value)]);
    return inputs;
}

} // namespace

std::vector<InputRange> inputRanges(const Graph& graph)
{
    const std::vector<Demand> demands = inputDemands(graph, 0);
    std::vector<InputRange> ranges;
    for (std::size_t i = 0; i < demands.size(); ++i)
        ranges.push_back(rangeFrom(graph.value(graph.inputs[i]), demands[i]));
    return ranges;
}

} // namespace lathe::graph
