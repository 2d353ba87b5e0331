#include "ui/views/graph_layout.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace lathe::ui {

namespace {

// A long edge holds a narrow place in each layer that it passes, so that it runs beside the items and not behind them.
constexpr double kEdgeWidth = 0.18;

struct Vertex
{
    int layer = 0;
    double x = 0;
    double width = 1;
    std::vector<int> up, down;
};

double distance(const Vertex& left, const Vertex& right)
{
    return (left.width + right.width) / 2;
}

/// Orders a layer by the mean place of the neighbours on one side and puts each vertex as near to it as the others allow:
/// neighbours that push each other form a block that stands at the mean of what its members want.
void pull(std::vector<int>& layer, std::vector<Vertex>& vertices, bool up)
{
    struct Wish
    {
        int vertex;
        double x;
    };
    std::vector<Wish> wishes;
    for (const int v : layer) {
        const Vertex& vertex = vertices[static_cast<std::size_t>(v)];
        const std::vector<int>& around = up ? vertex.up : vertex.down;
        double sum = 0;
        for (const int other : around)
            sum += vertices[static_cast<std::size_t>(other)].x;
        wishes.push_back({v, around.empty() ? vertex.x : sum / static_cast<double>(around.size())});
    }
    std::stable_sort(wishes.begin(), wishes.end(), [](const Wish& a, const Wish& b) { return a.x < b.x; });
    struct Block
    {
        std::size_t first, count;
        double offsets = 0; ///< sum of (wish - offset in the block): the block's place is its mean
        double place() const { return offsets / static_cast<double>(count); }
        double width = 0; ///< from the first centre to the last
    };
    std::vector<Block> blocks;
    for (std::size_t k = 0; k < wishes.size(); ++k) {
        blocks.push_back({k, 1, wishes[k].x, 0});
        while (blocks.size() > 1) {
            Block& left = blocks[blocks.size() - 2];
            const Block& right = blocks.back();
            const double gap = distance(vertices[static_cast<std::size_t>(wishes[right.first - 1].vertex)], vertices[static_cast<std::size_t>(wishes[right.first].vertex)]);
            if (left.place() + left.width + gap <= right.place())
                break;
            const double shift = left.width + gap;
            left.offsets += right.offsets - shift * static_cast<double>(right.count);
            left.count += right.count;
            left.width = shift + right.width;
            blocks.pop_back();
        }
    }
    for (const Block& block : blocks) {
        double x = block.place();
        for (std::size_t k = block.first; k < block.first + block.count; ++k) {
            if (k > block.first)
                x += distance(vertices[static_cast<std::size_t>(wishes[k - 1].vertex)], vertices[static_cast<std::size_t>(wishes[k].vertex)]);
            vertices[static_cast<std::size_t>(wishes[k].vertex)].x = x;
        }
    }
    for (std::size_t k = 0; k < layer.size(); ++k)
        layer[k] = wishes[k].vertex;
}

} // namespace

// Layered drawing in the manner of Sugiyama: rank by longest path, dummy vertices on long edges, sweeps down and up.
GraphLayout layoutGraph(int items, const std::vector<std::pair<int, int>>& edges)
{
    GraphLayout layout;
    layout.centers.resize(items);
    layout.edges.resize(static_cast<qsizetype>(edges.size()));
    std::vector<Vertex> vertices(static_cast<std::size_t>(items));
    std::vector<std::vector<int>> before(vertices.size());
    for (const auto& [from, to] : edges)
        before[static_cast<std::size_t>(to)].push_back(from);
    for (int i = 0; i < items; ++i)
        for (const int p : before[static_cast<std::size_t>(i)])
            vertices[static_cast<std::size_t>(i)].layer = std::max(vertices[static_cast<std::size_t>(i)].layer, vertices[static_cast<std::size_t>(p)].layer + 1);
    for (const Vertex& vertex : vertices)
        layout.layers = std::max(layout.layers, vertex.layer + 1);

    std::vector<std::vector<int>> chains;
    for (const auto& [from, to] : edges) {
        std::vector<int> chain{from};
        for (int layer = vertices[static_cast<std::size_t>(from)].layer + 1; layer < vertices[static_cast<std::size_t>(to)].layer; ++layer) {
            Vertex dummy;
            dummy.layer = layer;
            dummy.width = kEdgeWidth;
            chain.push_back(static_cast<int>(vertices.size()));
            vertices.push_back(std::move(dummy));
        }
        chain.push_back(to);
        for (std::size_t k = 1; k < chain.size(); ++k) {
            vertices[static_cast<std::size_t>(chain[k - 1])].down.push_back(chain[k]);
            vertices[static_cast<std::size_t>(chain[k])].up.push_back(chain[k - 1]);
        }
        chains.push_back(std::move(chain));
    }
    std::vector<std::vector<int>> layers(static_cast<std::size_t>(layout.layers));
    for (std::size_t v = 0; v < vertices.size(); ++v)
        layers[static_cast<std::size_t>(vertices[v].layer)].push_back(static_cast<int>(v));
    for (auto& layer : layers) {
        double x = 0;
        for (std::size_t k = 0; k < layer.size(); ++k) {
            if (k > 0)
                x += distance(vertices[static_cast<std::size_t>(layer[k - 1])], vertices[static_cast<std::size_t>(layer[k])]);
            vertices[static_cast<std::size_t>(layer[k])].x = x;
        }
        for (const int v : layer)
            vertices[static_cast<std::size_t>(v)].x -= x / 2;
    }
    for (int sweep = 0; sweep < 8; ++sweep) {
        for (auto& layer : layers)
            pull(layer, vertices, true);
        for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer)
            pull(*layer, vertices, false);
    }
    for (auto& layer : layers) // chains hang straight below what feeds them
        pull(layer, vertices, true);

    double low = items == 0 ? 0 : std::numeric_limits<double>::infinity();
    double high = items == 0 ? 0 : -std::numeric_limits<double>::infinity();
    for (const Vertex& vertex : vertices) {
        low = std::min(low, vertex.x - vertex.width / 2);
        high = std::max(high, vertex.x + vertex.width / 2);
    }
    const auto point = [&](int v) {
        return QPointF(vertices[static_cast<std::size_t>(v)].x - low - 0.5, vertices[static_cast<std::size_t>(v)].layer);
    };
    for (int i = 0; i < items; ++i)
        layout.centers[i] = point(i);
    for (std::size_t e = 0; e < edges.size(); ++e)
        for (const int v : chains[e])
            layout.edges[static_cast<qsizetype>(e)] << point(v);
    layout.width = high - low;
    return layout;
}

} // namespace lathe::ui
