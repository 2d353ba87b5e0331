#include "core/graph/operator.h"
#include "core/graph/passes.h"
#include "core/graph/rewrite.h"

namespace lathe::graph {

Result<Graph> simplifyInference(Graph graph)
{
    const std::size_t count = graph.nodes.size();
    for (std::size_t i = 0; i < count; ++i) {
        const OpTraits& traits = traitsOf(graph.nodes[i]);
        if (!traits.simplify)
            continue;
        const ValueId output = graph.nodes[i].outputs.front();
        replaceUses(graph, output, traits.simplify(graph, NodeId(static_cast<std::int64_t>(i))));
    }
    return compact(graph);
}

} // namespace lathe::graph
