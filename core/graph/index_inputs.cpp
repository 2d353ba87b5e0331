#include "core/graph/index_inputs.h"

#include "core/graph/op_traits.h"

#include <algorithm>

namespace lathe::graph {

namespace {

bool isWholeNumber(const Value& value)
{
    return isInteger(value.dtype) && value.dtype != DType::Bool;
}

/// Follows the values that come from one input as long as they are integers: moved, widened, wrapped at their end.
std::int64_t placesOf(const Graph& graph, ValueId input)
{
    std::vector<bool> derived(graph.values.size(), false);
    const auto isDerived = [&derived](ValueId id) { return id.valid() && derived[static_cast<std::size_t>(id.value)]; };
    derived[static_cast<std::size_t>(input.value)] = true;
    std::int64_t places = 0;
    for (const Node& node : graph.nodes) {
        const auto& picksFrom = traitsOf(node).picksFrom;
        if (picksFrom && node.inputs.size() > 1 && isDerived(node.inputs[1])) {
            const std::int64_t here = picksFrom(node, graph.value(node.inputs[0]).shape,
                                                graph.value(node.inputs[1]).shape);
            if (here > 0)
                places = places == 0 ? here : std::min(places, here);
        }
        const bool follows = picksFrom ? isDerived(node.inputs[0]) : std::ranges::any_of(node.inputs, isDerived);
        for (const ValueId output : node.outputs)
            derived[static_cast<std::size_t>(output.value)] = follows && isWholeNumber(graph.value(output));
    }
    return places;
}

} // namespace

std::vector<std::int64_t> indexInputs(const Graph& graph)
{
    std::vector<std::int64_t> places;
    for (const ValueId input : graph.inputs)
        places.push_back(isWholeNumber(graph.value(input)) ? placesOf(graph, input) : 0);
    return places;
}

} // namespace lathe::graph
