#include "core/graph/fuse_inputs.h"

#include "core/graph/operator.h"

#include <algorithm>

namespace lathe::graph {
namespace {

constexpr std::int64_t kFewChannels = 4; ///< fewer than a vector: no load of several of them is lost

/// The only reader of a value that stays inside of the graph; invalid if there are more or none.
NodeId onlyReader(const Graph& graph, const std::vector<std::vector<NodeId>>& consumers, ValueId value)
{
    const std::vector<NodeId>& readers = consumers[static_cast<std::size_t>(value.value)];
    const bool leaves = graph.isResult(value);
    return readers.size() == 1 && !leaves ? readers.front() : NodeId();
}

bool readsElements(const Graph& graph, const Node& reader, ValueId data)
{
    const auto layout = reader.attrs.find("layout");
    const bool nhwc = layout != reader.attrs.end() && layout->second == Attr(std::string("NHWC"));
    return traitsOf(reader).layout == LayoutRule::Convolution && nhwc && reader.inputs[0] == data
           && graph.value(data).shape.back() <= kFewChannels;
}

} // namespace

std::vector<std::vector<NodeId>> fuseInputs(const Graph& graph, std::vector<std::vector<NodeId>> groups)
{
    const auto consumers = graph.consumers();
    for (std::vector<NodeId>& group : groups) {
        if (group.size() != 1 || traitsOf(graph.node(group.front())).layout != LayoutRule::Transpose)
            continue;
        const ValueId moved = graph.node(group.front()).outputs.front();
        const NodeId reader = onlyReader(graph, consumers, moved);
        if (!reader.valid() || graph.node(reader).region != graph.node(group.front()).region
            || !readsElements(graph, graph.node(reader), moved))
            continue;
        const auto target = std::find_if(groups.begin(), groups.end(), [&](const std::vector<NodeId>& g) {
            return std::find(g.begin(), g.end(), reader) != g.end();
        });
        target->insert(target->begin(), group.front());
        group.clear();
    }
    std::erase_if(groups, [](const std::vector<NodeId>& nodes) { return nodes.empty(); });
    return groups;
}

} // namespace lathe::graph
