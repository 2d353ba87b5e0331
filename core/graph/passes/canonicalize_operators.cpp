#include "core/graph/operator.h"
#include "core/graph/passes.h"
#include "core/graph/rewrite.h"

namespace lathe::graph {
namespace {

/// Constants of lower rank get leading ones, so that every broadcast is read by position.
void expandConstants(Graph& graph, std::size_t index)
{
    const Node node = graph.nodes[index];
    const std::size_t rank = graph.value(node.outputs[0]).shape.size();
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        const Value& value = graph.value(node.inputs[i]);
        // Scalars stay: they become literals of the kernel.
        if (value.constant && !value.shape.empty() && value.shape.size() < rank)
            graph.nodes[index].inputs[i] = reshaped(graph, node.inputs[i], padRank(value.shape, rank), {}, {});
    }
}

void constantToTheRight(const Graph& graph, Node& node)
{
    if (graph.value(node.inputs[0]).constant && !graph.value(node.inputs[1]).constant)
        std::swap(node.inputs[0], node.inputs[1]);
}

} // namespace

Result<Graph> canonicalizeOperators(Graph graph)
{
    const std::size_t count = graph.nodes.size();
    for (std::size_t i = 0; i < count; ++i) {
        const OpTraits& traits = traitsOf(graph.nodes[i]); // of the operator that it was
        if (traits.canonicalize)
            traits.canonicalize(graph, NodeId(static_cast<std::int64_t>(i)));
        if (traits.mergesConstants)
            constantToTheRight(graph, graph.nodes[i]);
        if (traits.layout == LayoutRule::Elementwise)
            expandConstants(graph, i);
    }
    return compact(graph);
}

} // namespace lathe::graph
