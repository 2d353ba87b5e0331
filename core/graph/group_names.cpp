#include "core/graph/group.h"
#include "core/graph/operator.h"
#include "core/graph/reference_rules.h"
#include "core/support/hash.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lathe::graph {
namespace {

/// The reference's name of an operator, as its function names spell it.
std::string referenceName(const Node& node)
{
    return traitsOf(node).nnName ? "nn_" + node.op : node.op;
}

std::string anchorName(const Graph& graph, const Node& node)
{
    if (const auto& label = traitsOf(node).label)
        return label(graph, node);
    return fmt::format("{} {}", node.op, fmt::join(graph.value(node.inputs[0]).shape, "x"));
}

} // namespace

std::string readableName(const Graph& graph, const Group& group)
{
    const Node& anchor = graph.node(group.anchor);
    std::string text = anchorName(graph, anchor);
    const std::vector<std::int64_t>& shape = graph.value(anchor.outputs[0]).shape;
    if (!shape.empty() && shape[0] > 1 && shape.size() > 1 && traitsOf(anchor).countsBatch)
        text += fmt::format(" batch {}", shape[0]);
    text += ' ';
    for (const NodeId id : group.nodes) {
        const Node& node = graph.node(id);
        if (id == group.anchor)
            continue;
        const auto& suffix = traitsOf(node).suffix;
        text += '+' + (suffix ? suffix(graph, node) : node.op);
    }
    if (text.back() == ' ')
        text.pop_back();
    return text;
}

std::string functionName(const Graph& graph, const Group& group, const std::string& algorithm)
{
    constexpr std::size_t kLongest = 80;
    std::string text = "fused";
    for (const NodeId id : group.nodes) {
        const bool winograd = id == group.anchor && winogradTile(algorithm) != 0;
        text += '_';
        text += winograd ? "nn_contrib_conv2d_winograd_without_weight_transform" : referenceName(graph.node(id));
    }
    if (text.size() <= kLongest)
        return text;
    return fmt::format("{}_{}", text.substr(0, kLongest), contentHash(text).hex().substr(0, 16));
}

} // namespace lathe::graph
