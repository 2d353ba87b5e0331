// Data movement is taken out of the way of fusion. A kernel takes the elementwise work that follows it only if nothing
// changes the shape between them, and exporters write a matrix product of a batch as reshape, product, reshape: bias,
// activation and residual come behind the second reshape. Lathe's own partition wants them in the product's kernel.

#include "core/graph/fuse.h"
#include "core/graph/operator.h"
#include "core/graph/passes.h"
#include "core/graph/rewrite.h"
#include "core/support/element_count.h"

#include <algorithm>

namespace lathe::graph {
namespace {

using Ints = std::vector<std::int64_t>;

bool isReshape(const Node& node)
{
    return costOf(node) == Cost::Free;
}

bool permutes(const Node& node)
{
    return traitsOf(node).layout == LayoutRule::Transpose;
}

bool isElementwise(const Node& node)
{
    const Pattern pattern = patternOf(node);
    return node.outputs.size() == 1 && (pattern == Pattern::Elementwise || pattern == Pattern::Broadcast);
}

/// Without leading ones.
Ints core(const Ints& shape)
{
    return Ints(std::find_if(shape.begin(), shape.end(), [](std::int64_t extent) { return extent != 1; }), shape.end());
}

bool endsWith(const Ints& shape, const Ints& tail)
{
    return tail.size() <= shape.size() && std::equal(tail.rbegin(), tail.rend(), shape.rbegin());
}

class Mover
{
public:
    explicit Mover(Graph& graph)
        : m_graph(graph)
    {
    }

    void run()
    {
        const std::size_t count = m_graph.nodes.size();
        for (std::size_t i = 0; i < count; ++i)
            turnIntoReshape(m_graph.nodes[i]);
        m_uses = useCounts(m_graph);
        for (std::size_t i = 0; i < count; ++i)
            sink(i);
        for (std::size_t i = m_graph.nodes.size(); i-- > 0;)
            copyForSlices(NodeId(static_cast<std::int64_t>(i)));
    }

private:
    const Ints& shape(ValueId id) const { return m_graph.value(id).shape; }
    const Node* producer(ValueId id) const
    {
        const NodeId node = id.valid() ? m_graph.value(id).producer : NodeId();
        return node.valid() ? &m_graph.node(node) : nullptr;
    }
    bool readOnce(ValueId id) const
    {
        return static_cast<std::size_t>(id.value) >= m_uses.size() || m_uses[static_cast<std::size_t>(id.value)] == 1;
    }

    /// A transpose that moves dimensions of one element alone moves nothing.
    void turnIntoReshape(Node& node) const
    {
        if (!permutes(node))
            return;
        const Ints& from = shape(node.inputs[0]);
        if (!keepsOrder(from, permutationOf(node, from.size())))
            return;
        node.op = "reshape";
        node.attrs = {{"newshape", shape(node.outputs[0])}};
    }

    /// True if the value comes out of a kernel that takes elementwise work, or of such work behind one.
    bool endsKernel(ValueId id) const
    {
        for (const Node* node = producer(id); node != nullptr;) {
            if (patternOf(*node) == Pattern::OutElementwiseFusable)
                return true;
            if (!isElementwise(*node))
                return false;
            const auto main = std::find_if(node->inputs.begin(), node->inputs.end(), [&](ValueId input) {
                return input.valid() && producer(input) != nullptr && shape(input) == shape(node->outputs[0])
                       && readOnce(input);
            });
            node = main == node->inputs.end() ? nullptr : producer(*main);
        }
        return false;
    }

    /// What a chain of reshapes that nothing else reads begins with.
    ValueId beforeReshapes(ValueId id) const
    {
        for (const Node* node = producer(id); node != nullptr && isReshape(*node) && readOnce(id); node = producer(id))
            id = node->inputs[0];
        return id;
    }

    /// `id`, an operand of elementwise work on `wide`, for the same work on `flat`; invalid if a reshape cannot make
    /// it.
    ValueId reshaped(ValueId id, const Ints& wide, const Ints& flat, const Node& user)
    {
        if (!id.valid())
            return {};
        Ints wanted = core(shape(id));
        if (shape(id) == wide)
            wanted = flat;
        else if (!endsWith(wide, wanted) || !endsWith(flat, wanted))
            return {};
        else // full rank, as other passes leave it
            wanted = padRank(wanted, flat.size());
        const Value operand = m_graph.value(id);
        if (operand.constant)
            return m_graph.addConstant(operand.name, operand.dtype, wanted, operand.constant,
                                       derivedFrom(operand, "reshape"));
        return append(m_graph, user.name + "_operand", "reshape", {id}, {{"newshape", wanted}}, operand.dtype, wanted,
                      user.origin);
    }

    /// work(reshape(x), ...) becomes reshape(work(x, ...)).
    void sink(std::size_t index)
    {
        const Node node = m_graph.nodes[index];
        if (!isElementwise(node))
            return;
        const Ints wide = shape(node.outputs[0]);
        for (std::size_t i = 0; i < node.inputs.size(); ++i) {
            if (!node.inputs[i].valid() || shape(node.inputs[i]) != wide)
                continue;
            const ValueId x = beforeReshapes(node.inputs[i]);
            if (x == node.inputs[i] || !readOnce(x) || !endsKernel(x))
                continue;
            const Ints flat = shape(x);
            std::vector<ValueId> inputs = node.inputs;
            inputs[i] = x;
            bool possible = true;
            for (std::size_t k = 0; k < inputs.size() && possible; ++k) {
                if (k != i)
                    inputs[k] = reshaped(node.inputs[k], wide, flat, node);
                possible = inputs[k].valid();
            }
            if (!possible)
                continue;
            const ValueId old = node.outputs[0];
            const Value type = m_graph.value(old);
            const ValueId result = m_graph.addValue(type.name, type.dtype, flat);
            m_graph.nodes[index].inputs = inputs;
            m_graph.nodes[index].outputs = {result};
            m_graph.value(result).producer = NodeId(static_cast<std::int64_t>(index));
            Node back;
            back.name = uniqueNodeName(m_graph, node.name + "_reshape");
            back.op = "reshape";
            back.attrs = {{"newshape", wide}};
            back.inputs = {result};
            back.outputs = {old};
            back.origin = node.origin;
            m_graph.addNode(std::move(back));
            return;
        }
    }

    static bool moves(const Node& node) { return isReshape(node) || permutes(node); }

    /// Movement in front of several slices is done by each slice for its part, instead of once for all and then again.
    void copyForSlices(NodeId id)
    {
        if (!moves(m_graph.node(id)))
            return;
        const ValueId moved = m_graph.node(id).outputs[0];
        if (m_graph.isResult(moved))
            return;
        std::vector<std::size_t> readers;
        for (std::size_t i = 0; i < m_graph.nodes.size(); ++i)
            if (std::find(m_graph.nodes[i].inputs.begin(), m_graph.nodes[i].inputs.end(), moved)
                != m_graph.nodes[i].inputs.end())
                readers.push_back(i);
        if (readers.size() < 2 || !std::all_of(readers.begin(), readers.end(), [&](std::size_t i) {
                return endsInSlices(m_graph.nodes[i], 0);
            }))
            return;
        for (std::size_t r = 1; r < readers.size(); ++r) {
            const Node node = m_graph.node(id);
            const Value type = m_graph.value(moved);
            const ValueId copy = append(m_graph, node.name, node.op, node.inputs, node.attrs, type.dtype, type.shape,
                                        node.origin);
            std::replace(m_graph.nodes[readers[r]].inputs.begin(), m_graph.nodes[readers[r]].inputs.end(), moved, copy);
        }
    }

    /// All that is made of the node's result, but for movement, are slices: together they read each element about once.
    bool endsInSlices(const Node& node, int depth) const
    {
        if (traitsOf(node).slices)
            return elementCount(shape(node.outputs[0])) < elementCount(shape(node.inputs[0]));
        constexpr int kDeepest = 8;
        if (!moves(node) || depth == kDeepest)
            return false;
        const ValueId moved = node.outputs[0];
        bool any = false;
        for (const Node& reader : m_graph.nodes) {
            if (std::find(reader.inputs.begin(), reader.inputs.end(), moved) == reader.inputs.end())
                continue;
            any = true;
            if (!endsInSlices(reader, depth + 1))
                return false;
        }
        return any && !m_graph.isResult(moved);
    }

    Graph& m_graph;
    std::vector<std::int32_t> m_uses; ///< before anything was appended
};

} // namespace

Result<Graph> sinkReshapes(Graph graph)
{
    Mover mover(graph);
    mover.run();
    LATHE_TRY_ASSIGN(Graph ordered, compact(graph));
    LATHE_TRY_ASSIGN(Graph simple, simplifyExpressions(std::move(ordered)));
    return inferTypes(std::move(simple));
}

} // namespace lathe::graph
