#include "ui/views/graph_layout.h"

#include <algorithm>
#include <numeric>

namespace lathe::ui {

// Layered drawing in the manner of Sugiyama: rank by longest path; order by the mean position of neighbours, sweeping down
// and up; then columns are pulled towards the mean of the neighbours while keeping a distance of one, so that chains run
// straight. Long edges are not given dummy nodes: residual edges of networks are drawn as curves beside the chain.
GraphLayout layoutGraph(const session::GraphView& graph)
{
    const auto n = static_cast<int>(graph.nodes.size());
    GraphLayout layout;
    layout.centers.resize(n);
    std::vector<std::vector<int>> before(graph.nodes.size()), after(graph.nodes.size());
    for (const session::EdgeView& edge : graph.edges) {
        if (edge.from < 0 || edge.to < 0)
            continue;
        before[static_cast<std::size_t>(edge.to)].push_back(edge.from);
        after[static_cast<std::size_t>(edge.from)].push_back(edge.to);
    }
    std::vector<int> rank(graph.nodes.size(), 0);
    for (int i = 0; i < n; ++i) // nodes are in topological order
        for (const int p : before[static_cast<std::size_t>(i)])
            rank[static_cast<std::size_t>(i)] = std::max(rank[static_cast<std::size_t>(i)], rank[static_cast<std::size_t>(p)] + 1);
    layout.layers = n == 0 ? 0 : *std::max_element(rank.begin(), rank.end()) + 1;
    std::vector<std::vector<int>> layers(static_cast<std::size_t>(layout.layers));
    for (int i = 0; i < n; ++i)
        layers[static_cast<std::size_t>(rank[static_cast<std::size_t>(i)])].push_back(i);

    std::vector<double> x(graph.nodes.size(), 0);
    for (const auto& layer : layers)
        for (std::size_t k = 0; k < layer.size(); ++k)
            x[static_cast<std::size_t>(layer[k])] = static_cast<double>(k) - static_cast<double>(layer.size() - 1) / 2;
    const auto pull = [&](std::vector<int>& layer, const std::vector<std::vector<int>>& neighbours) {
        std::vector<double> want(layer.size());
        for (std::size_t k = 0; k < layer.size(); ++k) {
            const auto& around = neighbours[static_cast<std::size_t>(layer[k])];
            double sum = 0;
            for (const int other : around)
                sum += x[static_cast<std::size_t>(other)];
            want[k] = around.empty() ? x[static_cast<std::size_t>(layer[k])] : sum / static_cast<double>(around.size());
        }
        std::vector<std::size_t> order(layer.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return want[a] < want[b]; });
        std::vector<int> sorted;
        double last = -1e9;
        double shift = 0;
        std::vector<double> placed;
        for (const std::size_t k : order) {
            sorted.push_back(layer[k]);
            last = std::max(want[k], last + 1);
            placed.push_back(last);
            shift += want[k] - last;
        }
        shift /= static_cast<double>(std::max<std::size_t>(placed.size(), 1));
        layer = sorted;
        for (std::size_t k = 0; k < sorted.size(); ++k)
            x[static_cast<std::size_t>(sorted[k])] = placed[k] + shift;
    };
    for (int sweep = 0; sweep < 6; ++sweep) {
        for (auto& layer : layers)
            pull(layer, before);
        for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer)
            pull(*layer, after);
    }
    double low = 0;
    double high = 0;
    for (const double value : x) {
        low = std::min(low, value);
        high = std::max(high, value);
    }
    for (int i = 0; i < n; ++i)
        layout.centers[i] = QPointF(x[static_cast<std::size_t>(i)] - low, rank[static_cast<std::size_t>(i)]);
    layout.width = high - low + 1;
    return layout;
}

} // namespace lathe::ui
