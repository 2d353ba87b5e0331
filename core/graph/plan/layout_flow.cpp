#include "core/graph/plan/layout_flow.h"

#include "core/graph/fuse.h"
#include "core/graph/op_traits.h"

#include <algorithm>
#include <unordered_set>

namespace lathe::graph::plan {
namespace {

using NodeSet = std::unordered_set<NodeId>;

std::string orderOfRank(std::size_t rank)
{
    switch (rank) {
    case 2: return "NC";
    case 3: return "NCW";
    case 4: return "NCHW";
    case 5: return "NCDHW";
    default: return {};
    }
}

std::string orderOf(const Graph& graph, const Node& node)
{
    const std::size_t rank = graph.value(node.outputs.front()).shape.size();
    std::string order = attrString(node, "layout", orderOfRank(rank));
    if (order.size() != rank)
        order.clear();
    return order;
}

/// Which dimension the node's attribute "axis" names; -1 if none of the rank.
std::int64_t axisOf(const Node& node, std::size_t rank)
{
    const std::int64_t dimensions = static_cast<std::int64_t>(rank);
    const std::int64_t axis = attrInt(node, "axis", traitsOf(node).axis);
    return axis >= -dimensions && axis < dimensions ? (axis + dimensions) % dimensions : -1;
}

bool joinsChannels(const Node& node, std::string_view order)
{
    const std::int64_t axis = axisOf(node, order.size());
    return axis < 0 || order[static_cast<std::size_t>(axis)] == 'C';
}

bool padsChannels(const Node& node, std::string_view order)
{
    const std::vector<std::int64_t> width = attrInts(node, "pad_width");
    const std::size_t channel = order.find('C');
    return channel == std::string_view::npos || width.size() != 2 * order.size() || width[2 * channel] != 0
           || width[2 * channel + 1] != 0;
}

/// Whether at least two operands are no constants: a join of one with constants is not worth a rule of its own.
bool joinsValues(const Graph& graph, const Node& node)
{
    return std::count_if(node.inputs.begin(), node.inputs.end(),
                         [&](ValueId id) { return id.valid() && !graph.value(id).constant; })
           >= 2;
}

/// Sorts the nodes of a group by where they stand to its anchor.
class Sides
{
public:
    Sides(const Graph& graph, const Subgraph& group, NodeId anchor)
        : m_graph(graph)
        , m_members(group.nodes.begin(), group.nodes.end())
    {
        m_behind.insert(anchor);
        for (const NodeId id : group.nodes) { // in topological order
            if (anyProducer(id, [&](NodeId producer) { return m_behind.contains(producer); }))
                m_behind.insert(id);
        }
        m_before.insert(anchor);
        for (auto it = group.nodes.rbegin(); it != group.nodes.rend(); ++it) {
            if (m_before.contains(*it))
                anyProducer(*it, [&](NodeId producer) {
                    if (m_members.contains(producer))
                        m_before.insert(producer);
                    return false;
                });
        }
    }

    bool isMember(NodeId id) const { return m_members.contains(id); }
    bool isBehind(NodeId id) const { return m_behind.contains(id); } ///< the anchor too
    bool isBefore(NodeId id) const { return m_before.contains(id); } ///< the anchor too

private:
    template<typename Test>
    bool anyProducer(NodeId id, Test test) const
    {
        const std::vector<ValueId>& inputs = m_graph.node(id).inputs;
        return std::any_of(inputs.begin(), inputs.end(), [&](ValueId input) {
            return input.valid() && m_graph.value(input).producer.valid() && test(m_graph.value(input).producer);
        });
    }

    const Graph& m_graph;
    NodeSet m_members, m_behind, m_before;
};

/// The way from the anchor's data back to what the group reads: through nodes with one operand that is no constant.
struct DataPath
{
    NodeSet nodes; ///< of the group, without the anchor
    ValueId input; ///< invalid: what is on the way works in one order only
};

DataPath dataPathOf(const Graph& graph, const Sides& sides, NodeId anchor, std::string_view order)
{
    DataPath path;
    ValueId value = graph.node(anchor).inputs.front();
    while (value.valid() && graph.value(value).producer.valid() && sides.isMember(graph.value(value).producer)) {
        const NodeId id = graph.value(value).producer;
        const Node& node = graph.node(id);
        ValueId only;
        for (const ValueId input : node.inputs) {
            if (!input.valid() || graph.value(input).constant)
                continue;
            if (only.valid() && only != input)
                return path;
            only = input;
        }
        if (!only.valid() || !passesLayouts(graph, node, order))
            return path;
        path.nodes.insert(id);
        value = only;
    }
    if (value.valid() && !graph.value(value).constant && graph.value(value).shape.size() == order.size())
        path.input = value;
    return path;
}

} // namespace

bool passesLayouts(const Graph& graph, const Node& node, std::string_view order)
{
    if (node.outputs.size() != 1 || graph.value(node.outputs.front()).shape.size() != order.size() || order.empty())
        return false;
    switch (traitsOf(node).layout) {
    case LayoutRule::Elementwise: return true;
    case LayoutRule::AlongAxis: return patternOf(node) <= Pattern::Broadcast;
    case LayoutRule::Join: return !joinsChannels(node, order) || joinsValues(graph, node);
    case LayoutRule::Pad: return !padsChannels(node, order);
    case LayoutRule::Image: return attrString(node, "layout", orderOfRank(order.size())) == order;
    case LayoutRule::Fixed:
    case LayoutRule::Slice:
    case LayoutRule::Reduction:
    case LayoutRule::Reshape:
    case LayoutRule::Transpose:
    case LayoutRule::Convolution: return false;
    }
    return false;
}

GroupFlow flowOf(const Graph& graph, const Subgraph& group, NodeId anchor)
{
    GroupFlow flow;
    flow.order = orderOf(graph, graph.node(anchor));
    const Sides sides(graph, group, anchor);
    const std::vector<std::int64_t>& shape = graph.value(graph.node(anchor).outputs.front()).shape;
    for (const NodeId id : group.nodes) {
        const Node& node = graph.node(id);
        const bool keeps = passesLayouts(graph, node, flow.order) && graph.value(node.outputs.front()).shape == shape;
        if (sides.isBehind(id) && id != anchor)
            flow.plainResult = flow.plainResult || !keeps;
    }
    const DataPath path = dataPathOf(graph, sides, anchor, flow.order);
    for (const ValueId input : group.inputs) {
        const Value& value = graph.value(input);
        if (value.constant)
            continue;
        bool asData = false, asResult = false, plainly = false;
        for (const NodeId id : group.nodes) {
            const Node& node = graph.node(id);
            for (std::size_t i = 0; i < node.inputs.size(); ++i) {
                if (node.inputs[i] != input)
                    continue;
                const bool onPath = path.nodes.contains(id) || (id == anchor && i == 0);
                // What stands beside the way to the anchor passes layouts on, or what it gives is plain, and so is what
                // it reads.
                const bool inStep = !sides.isBefore(id) && value.shape == shape && !flow.plainResult
                                    && passesLayouts(graph, node, flow.order);
                asData = asData || (onPath && path.input == input);
                asResult = asResult || (!onPath && inStep);
                plainly = plainly || !(onPath ? path.input == input : inStep);
            }
        }
        if (asData)
            flow.inputs.push_back({input, Reads::Data});
        if (asResult)
            flow.inputs.push_back({input, Reads::Result});
        if (plainly)
            flow.inputs.push_back({input, Reads::Plain});
    }
    return flow;
}

std::vector<std::int64_t> joinedChannels(const Graph& graph, const Subgraph& group, std::string_view order)
{
    std::vector<std::int64_t> channels;
    const std::size_t channel = order.find('C');
    for (const NodeId id : group.nodes) {
        const Node& node = graph.node(id);
        if (traitsOf(node).layout != LayoutRule::Join || !joinsChannels(node, order))
            continue;
        for (const ValueId input : node.inputs) {
            if (input.valid() && channel < graph.value(input).shape.size())
                channels.push_back(graph.value(input).shape[channel]);
        }
    }
    return channels;
}

} // namespace lathe::graph::plan
