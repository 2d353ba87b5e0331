#include "core/graph/passes.h"
#include "core/graph/rewrite.h"

namespace lathe::graph {
namespace {

/// Batch norm of one tensor in inference: x * scale + shift. The arithmetic on the parameters is left to constant folding.
class BatchNorm
{
public:
    BatchNorm(Graph& graph, const Node& node)
        : m_graph(graph)
        , m_node(node)
        , m_shape(graph.value(node.inputs[0]).shape)
    {
    }

    ValueId rewrite()
    {
        const ValueId gamma = m_node.inputs[1];
        const ValueId beta = m_node.inputs[2];
        const ValueId mean = m_node.inputs[3];
        const ValueId variance = m_node.inputs[4];
        m_length = m_graph.value(variance).shape;
        const auto epsilon = static_cast<float>(attrFloat(m_node, "epsilon", 1e-5));
        const ValueId small = addFloats(m_graph, m_node.name + "_epsilon", {}, {epsilon});
        ValueId scale = step("rsqrt", {step("add", {variance, small}, "var_eps")}, "rsqrt");
        if (attrInt(m_node, "scale", 1) != 0)
            scale = step("multiply", {gamma, scale}, "scale");
        ValueId shift = step("multiply", {step("negative", {mean}, "neg_mean"), scale}, "neg_mean_scaled");
        if (attrInt(m_node, "center", 1) != 0)
            shift = step("add", {shift, beta}, "shift");
        const ValueId scaled = wide("multiply", m_node.inputs[0], along(scale, "scale_full"), "mul");
        return wide("add", scaled, along(shift, "shift_full"), "add");
    }

private:
    ValueId step(const char* op, std::vector<ValueId> inputs, const char* suffix)
    {
        return append(m_graph, m_node.name + "_" + suffix, op, std::move(inputs), {}, DType::F32, m_length, m_node.origin);
    }
    ValueId wide(const char* op, ValueId a, ValueId b, const char* suffix)
    {
        return append(m_graph, m_node.name + "_" + suffix, op, {a, b}, {}, DType::F32, m_shape, m_node.origin);
    }
    /// A vector as a tensor of full rank that broadcasts along the normalised axis.
    ValueId along(ValueId vector, const char* suffix)
    {
        const auto rank = static_cast<std::int64_t>(m_shape.size());
        std::int64_t axis = attrInt(m_node, "axis", 1);
        axis = axis < 0 ? axis + rank : axis;
        std::vector<std::int64_t> full(m_shape.size(), 1);
        full[static_cast<std::size_t>(axis)] = m_length[0];
        return append(m_graph, m_node.name + "_" + suffix, "reshape", {vector}, {{"newshape", full}}, DType::F32, full, m_node.origin);
    }

    Graph& m_graph;
    Node m_node; ///< a copy: the graph's nodes move when some are appended
    std::vector<std::int64_t> m_shape;
    std::vector<std::int64_t> m_length;
};

} // namespace

Result<Graph> simplifyInference(Graph graph)
{
    const std::size_t count = graph.nodes.size();
    for (std::size_t i = 0; i < count; ++i) {
        const Node& node = graph.nodes[i];
        const ValueId output = node.outputs.front();
        if (node.op == "dropout" || node.op == "identity")
            replaceUses(graph, output, node.inputs[0]);
        else if (node.op == "batch_norm" && graph.value(node.inputs[0]).dtype == DType::F32)
            replaceUses(graph, output, BatchNorm(graph, node).rewrite());
    }
    return compact(graph);
}

} // namespace lathe::graph
