#include "core/graph/operator.h"
#include "core/graph/passes.h"
#include "core/graph/rewrite.h"

#include <optional>

namespace lathe::graph {
namespace {

using Ints = std::vector<std::int64_t>;

/// Amounts before each spatial dimension, then behind each, if the node pads these alone, with zeros.
std::optional<Ints> imagePadding(const Node& node, std::size_t dims, std::string_view layout)
{
    const auto& zeroPadding = traitsOf(node).zeroPadding;
    const auto width = zeroPadding ? zeroPadding(node) : std::nullopt;
    if (!width || width->size() != 2 * (dims + 2))
        return std::nullopt;
    const std::size_t first = layout.ends_with('C') ? 1 : 2;
    Ints amounts(2 * dims, 0);
    for (std::size_t d = 0; d < dims + 2; ++d) {
        const bool spatial = d >= first && d < first + dims;
        for (std::size_t side = 0; side < 2; ++side) {
            const std::int64_t amount = (*width)[2 * d + side];
            if (!spatial && amount != 0)
                return std::nullopt;
            if (spatial)
                amounts[d - first + side * dims] = amount;
        }
    }
    return amounts;
}

} // namespace

Result<Graph> foldPadding(Graph graph)
{
    for (Node& node : graph.nodes) {
        if (!traitsOf(node).takesPadding)
            continue;
        const std::size_t dims = graph.value(node.inputs[0]).shape.size() - 2;
        const NodeId producer = graph.value(node.inputs[0]).producer;
        if (!producer.valid())
            continue;
        const Node& pad = graph.node(producer);
        const auto amounts = imagePadding(pad, dims, attrString(node, "layout", "NCHW"));
        if (!amounts)
            continue;
        Ints padding = attrInts(node, "padding", Ints(2 * dims, 0));
        for (std::size_t i = 0; i < padding.size(); ++i)
            padding[i] += (*amounts)[i];
        node.attrs["padding"] = padding;
        node.inputs[0] = pad.inputs[0];
    }
    return compact(graph);
}

} // namespace lathe::graph
