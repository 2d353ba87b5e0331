#include "core/graph/lowering_order.h"

#include <map>
#include <optional>

namespace lathe::graph {

std::vector<std::int32_t> loweringOrder(const Graph& graph, const Partition& partition)
{
    std::map<std::int32_t, std::size_t> madeBy; ///< subgraph by value
    for (std::size_t s = 0; s < partition.subgraphs.size(); ++s)
        for (const ValueId output : partition.subgraphs[s].outputs)
            madeBy[output.value] = s;
    std::vector<std::int32_t> order;
    std::vector<bool> isPlaced(partition.tasks.size()), isVisited(partition.subgraphs.size());
    const auto place = [&](std::int32_t task) {
        if (task < 0 || isPlaced[static_cast<std::size_t>(task)])
            return;
        isPlaced[static_cast<std::size_t>(task)] = true;
        order.push_back(task);
    };
    const auto makerOf = [&madeBy](ValueId value) -> std::optional<std::size_t> {
        const auto maker = madeBy.find(value.value);
        return maker == madeBy.end() ? std::nullopt : std::optional(maker->second);
    };
    // Depth first without recursion: networks may be thousands of operators deep.
    struct Visit
    {
        std::size_t subgraph, nextInput;
    };
    const auto visit = [&](std::size_t first) {
        if (isVisited[first])
            return;
        isVisited[first] = true;
        std::vector<Visit> stack = {{first, 0}};
        while (!stack.empty()) {
            Visit& top = stack.back();
            const Subgraph& subgraph = partition.subgraphs[top.subgraph];
            if (top.nextInput == subgraph.inputs.size()) {
                place(subgraph.task);
                stack.pop_back();
                continue;
            }
            const auto maker = makerOf(subgraph.inputs[top.nextInput++]);
            if (maker && !isVisited[*maker]) {
                isVisited[*maker] = true;
                stack.push_back({*maker, 0});
            }
        }
    };
    for (const ValueId output : graph.outputs)
        if (const auto maker = makerOf(output))
            visit(*maker);
    for (std::size_t s = 0; s < partition.subgraphs.size(); ++s) // what only control flow leads to
        visit(s);
    for (std::size_t t = 0; t < partition.tasks.size(); ++t)
        place(static_cast<std::int32_t>(t));
    return order;
}

} // namespace lathe::graph
