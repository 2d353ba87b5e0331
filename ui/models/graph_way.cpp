#include "ui/models/graph_way.h"

#include <algorithm>
#include <vector>

namespace lathe::ui {

// Nodes are in topological order: one walk up the indices sees every node after all that feed it.
GraphWay wayBetween(const session::GraphView& graph, int a, int b)
{
    GraphWay way{std::min(a, b), std::max(a, b), {}, 0, 0, 0};
    const auto count = static_cast<int>(graph.nodes.size());
    if (way.from < 0 || way.to >= count || a == b)
        return way;
    const auto length = static_cast<std::size_t>(count);
    std::vector<std::vector<int>> next(length);
    for (const session::EdgeView& edge : graph.edges)
        if (edge.from >= way.from && edge.to >= 0 && edge.to <= way.to)
            next[static_cast<std::size_t>(edge.from)].push_back(edge.to);
    for (auto& to : next) { // two tensors between two nodes are one step
        std::ranges::sort(to);
        to.erase(std::unique(to.begin(), to.end()), to.end());
    }
    std::vector<bool> leads(length, false); // to the end
    leads[static_cast<std::size_t>(way.to)] = true;
    for (int n = way.to - 1; n >= way.from; --n)
        leads[static_cast<std::size_t>(n)] = std::ranges::any_of(
            next[static_cast<std::size_t>(n)], [&leads](int to) { return leads[static_cast<std::size_t>(to)]; });
    if (!leads[static_cast<std::size_t>(way.from)])
        return way;
    std::vector<double> paths(length, 0);
    std::vector<int> shortest(length, count);
    std::vector<int> longest(length, 0);
    paths[static_cast<std::size_t>(way.from)] = 1;
    shortest[static_cast<std::size_t>(way.from)] = 0;
    for (int n = way.from; n <= way.to; ++n) {
        const auto at = static_cast<std::size_t>(n);
        if (paths[at] == 0 || !leads[at])
            continue;
        way.nodes.insert(n);
        for (const int other : next[at]) {
            const auto to = static_cast<std::size_t>(other);
            paths[to] += paths[at];
            shortest[to] = std::min(shortest[to], shortest[at] + 1);
            longest[to] = std::max(longest[to], longest[at] + 1);
        }
    }
    const auto end = static_cast<std::size_t>(way.to);
    way.shortest = shortest[end];
    way.longest = longest[end];
    way.paths = paths[end];
    return way;
}

} // namespace lathe::ui
