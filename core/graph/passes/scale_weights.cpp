// Squeeze-and-excitation multiplies every channel of an image by what it computed from the image, and a pointwise
// convolution follows. The scales may as well go into its weights, which are far fewer than the image's elements: one
// pass over the image less.

#include "core/graph/operator.h"
#include "core/graph/passes.h"
#include "core/graph/rewrite.h"

namespace lathe::graph {
namespace {

using Ints = std::vector<std::int64_t>;

constexpr std::int64_t kWorthIt = 2; ///< elements of the image to each weight; constant weights lie better in memory

class Scaler
{
public:
    explicit Scaler(Graph& graph)
        : m_graph(graph)
        , m_uses(useCounts(graph))
    {
    }

    void run()
    {
        const std::size_t count = m_graph.nodes.size();
        for (std::size_t i = 0; i < count; ++i)
            if (traitsOf(m_graph.nodes[i]).layout == LayoutRule::Convolution)
                rewrite(i);
    }

private:
    const Ints& shape(ValueId id) const { return m_graph.value(id).shape; }

    bool isPointwise(const Node& conv) const
    {
        const Ints& weight = shape(conv.inputs[1]);
        return attrString(conv, "layout", "NCHW") == "NHWC" && attrString(conv, "kernel_layout", "OIHW") == "HWIO"
               && attrInt(conv, "groups", 1) == 1 && weight[0] == 1 && weight[1] == 1
               && m_graph.value(conv.inputs[1]).constant && isFloat(m_graph.value(conv.inputs[1]).dtype);
    }

    void rewrite(std::size_t index)
    {
        const Node conv = m_graph.nodes[index]; // a copy: nodes move when some are appended
        if (!isPointwise(conv))
            return;
        const NodeId producer = m_graph.value(conv.inputs[0]).producer;
        if (!producer.valid() || traitsOf(m_graph.node(producer)).scale != ScaleRule::Product
            || m_uses[static_cast<std::size_t>(conv.inputs[0].value)] != 1)
            return;
        const Ints image = shape(conv.inputs[0]);
        const Ints weight = shape(conv.inputs[1]);
        const Node product = m_graph.node(producer);
        const DType dtype = m_graph.value(conv.inputs[1]).dtype;
        for (std::size_t side = 0; side < 2; ++side) {
            const ValueId scale = product.inputs[side], data = product.inputs[1 - side];
            if (shape(data) != image || shape(scale) != Ints{1, 1, 1, image[3]} || image[0] != 1
                || image[1] * image[2] < kWorthIt * weight[3])
                continue;
            const ValueId rows = append(m_graph, product.name + "_rows", "reshape", {scale},
                                        {{"newshape", Ints{1, 1, image[3], 1}}}, dtype, {1, 1, image[3], 1},
                                        product.origin);
            const ValueId scaled = append(m_graph, conv.name + "_weight_scaled", "multiply", {conv.inputs[1], rows}, {},
                                          dtype, weight, product.origin);
            m_graph.nodes[index].inputs[0] = data;
            m_graph.nodes[index].inputs[1] = scaled;
            return;
        }
    }

    Graph& m_graph;
    const std::vector<std::int32_t> m_uses;
};

} // namespace

Result<Graph> scaleWeights(Graph graph)
{
    Scaler(graph).run();
    return compact(graph);
}

} // namespace lathe::graph
