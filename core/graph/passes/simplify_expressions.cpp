#include "core/graph/node_types.h"
#include "core/graph/passes.h"
#include "core/graph/rewrite.h"

#include <optional>

namespace lathe::graph {
namespace {

using Ints = std::vector<std::int64_t>;

/// The value of a scalar float constant.
std::optional<double> scalarOf(const Value& value)
{
    if (!value.shape.empty())
        return std::nullopt;
    const auto numbers = constNumbers(value);
    return numbers ? std::optional(numbers->front()) : std::nullopt;
}

bool isFree(const Node& node)
{
    return costOf(node) == Cost::Free;
}

class Simplifier
{
public:
    explicit Simplifier(Graph& graph)
        : m_graph(graph)
        , m_uses(useCounts(graph))
    {
    }

    Result<> run()
    {
        const std::size_t count = m_graph.nodes.size();
        for (std::size_t i = 0; i < count; ++i) {
            dropNeutral(i);
            mergeShapes(i);
            mergeTransposes(i);
            LATHE_TRY(mergeConstants(i));
        }
        return {};
    }

private:
    const Node* producer(ValueId id) const
    {
        const NodeId node = m_graph.value(id).producer;
        return node.valid() ? &m_graph.node(node) : nullptr;
    }
    const Ints& shape(ValueId id) const { return m_graph.value(id).shape; }

    /// x + 0, x - 0, x * 1, x / 1 with a scalar; casts and reshapes to what there is.
    void dropNeutral(std::size_t index)
    {
        const Node& node = m_graph.nodes[index];
        const OpTraits& traits = traitsOf(node);
        bool drops = false;
        if (node.inputs.size() == 2 && traits.neutral) {
            drops = scalarOf(m_graph.value(node.inputs[1])) == traits.neutral;
        } else if (node.inputs.size() == 1 && (traits.identityIfSameType || isFree(node))) {
            const Value& in = m_graph.value(node.inputs[0]);
            const Value& out = m_graph.value(node.outputs[0]);
            drops = in.dtype == out.dtype && in.shape == out.shape;
        }
        if (drops)
            replaceUses(m_graph, node.outputs[0], node.inputs[0]);
    }

    /// A reshape of a reshape is one.
    void mergeShapes(std::size_t index)
    {
        Node& node = m_graph.nodes[index];
        if (!isFree(node))
            return;
        const Node* inner = producer(node.inputs[0]);
        if (!inner || !isFree(*inner))
            return;
        node.op = "reshape";
        node.attrs = {{"newshape", shape(node.outputs[0])}};
        node.inputs[0] = inner->inputs[0];
    }

    void mergeTransposes(std::size_t index)
    {
        Node& node = m_graph.nodes[index];
        if (!permutes(node))
            return;
        Ints axes = permutationOf(node, shape(node.inputs[0]).size());
        const Node* inner = producer(node.inputs[0]);
        if (inner && permutes(*inner)) {
            const Ints first = permutationOf(*inner, axes.size());
            for (std::int64_t& axis : axes)
                axis = first[static_cast<std::size_t>(axis)];
            node.inputs[0] = inner->inputs[0];
            node.attrs = {{"axes", axes}};
        }
        for (std::size_t d = 0; d < axes.size(); ++d) {
            if (axes[d] != static_cast<std::int64_t>(d))
                return;
        }
        replaceUses(m_graph, node.outputs[0], node.inputs[0]);
    }

    static bool permutes(const Node& node) { return traitsOf(node).layout == LayoutRule::Transpose; }

    /// (x + a) + b with constants of one shape is x + (a + b); likewise for products.
    Result<> mergeConstants(std::size_t index)
    {
        const Node node = m_graph.nodes[index];
        if (!traitsOf(node).mergesConstants || !m_graph.value(node.inputs[1]).constant)
            return {};
        const Node* inner = producer(node.inputs[0]);
        if (!inner || inner->op != node.op || m_uses[static_cast<std::size_t>(node.inputs[0].value)] != 1)
            return {};
        const ValueId a = inner->inputs[1];
        const ValueId x = inner->inputs[0];
        if (!m_graph.value(a).constant || shape(a) != shape(node.inputs[1]) || shape(x) != shape(node.outputs[0]))
            return {};
        LATHE_TRY_ASSIGN(const HostTensor left, tensorOf(m_graph.value(a)));
        LATHE_TRY_ASSIGN(const HostTensor right, tensorOf(m_graph.value(node.inputs[1])));
        const HostTensor* const operands[] = {&left, &right};
        Node constantNode = node;
        constantNode.outputs.resize(1);
        LATHE_TRY_ASSIGN(const std::vector<HostTensor> merged, evaluateNode(constantNode, operands));
        const Value* const both[] = {&m_graph.value(a), &m_graph.value(node.inputs[1])};
        const auto provenance = derivedFrom(both, node.op);
        const ValueId sum = m_graph.addConstant(m_graph.value(node.inputs[1]).name, merged[0].type.dtype,
                                                merged[0].type.shape,
                                                makeConst(merged[0].bytes.data(), merged[0].bytes.size()), provenance);
        m_graph.nodes[index].inputs = {x, sum};
        return {};
    }

    Graph& m_graph;
    std::vector<std::int32_t> m_uses;
};

} // namespace

Result<Graph> simplifyExpressions(Graph graph)
{
    Simplifier simplifier(graph);
    LATHE_TRY(simplifier.run());
    return compact(graph);
}

} // namespace lathe::graph
