#include "core/graph/passes.h"
#include "core/graph/rewrite.h"

#include <map>
#include <tuple>

namespace lathe::graph {

Result<Graph> eliminateCommonSubexpressions(Graph graph)
{
    using Key = std::tuple<std::string, Attrs, std::vector<ValueId>>;
    std::map<Key, NodeId> seen;
    // In topological order, so that the inputs of equal nodes have been made equal before.
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        if (!graph.nodes[i].bodies.empty())
            continue;
        const NodeId id(static_cast<std::int64_t>(i));
        const auto [it, isNew] = seen.try_emplace(Key{graph.nodes[i].op, graph.nodes[i].attrs, graph.nodes[i].inputs},
                                                  id);
        if (isNew)
            continue;
        const std::vector<ValueId> kept = graph.node(it->second).outputs;
        const std::vector<ValueId> dropped = graph.nodes[i].outputs;
        for (std::size_t k = 0; k < dropped.size() && k < kept.size(); ++k)
            replaceUses(graph, dropped[k], kept[k]);
    }
    return compact(graph);
}

} // namespace lathe::graph
