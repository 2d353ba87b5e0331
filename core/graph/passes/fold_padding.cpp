#include "core/graph/passes.h"
#include "core/graph/rewrite.h"

#include <optional>

namespace lathe::graph {
namespace {

using Ints = std::vector<std::int64_t>;

/// Amounts for {top, left, bottom, right} if the node pads rows and columns alone, with zeros.
std::optional<Ints> imagePadding(const Node& node, std::string_view layout)
{
    if (node.op != "pad" || attrString(node, "mode", "constant") != "constant" || attrFloat(node, "value", 0) != 0)
        return std::nullopt;
    const Ints width = attrInts(node, "pad_width");
    if (width.size() != 8)
        return std::nullopt;
    const std::size_t h = layout == "NHWC" ? 1 : 2;
    const Ints amounts{width[2 * h], width[2 * h + 2], width[2 * h + 1], width[2 * h + 3]};
    for (std::size_t d = 0; d < 4; ++d) {
        const bool spatial = d == h || d == h + 1;
        for (std::size_t side = 0; side < 2; ++side) {
            const std::int64_t amount = width[2 * d + side];
            if (amount < 0 || (!spatial && amount != 0))
                return std::nullopt;
        }
    }
    return amounts;
}

} // namespace

Result<Graph> foldPadding(Graph graph)
{
    for (Node& node : graph.nodes) {
        if (node.op != "conv2d")
            continue;
        const NodeId producer = graph.value(node.inputs[0]).producer;
        if (!producer.valid())
            continue;
        const Node& pad = graph.node(producer);
        const auto amounts = imagePadding(pad, attrString(node, "layout", "NCHW"));
        if (!amounts)
            continue;
        Ints padding = attrInts(node, "padding", {0, 0, 0, 0});
        for (std::size_t i = 0; i < padding.size(); ++i)
            padding[i] += (*amounts)[i];
        node.attrs["padding"] = padding;
        node.inputs[0] = pad.inputs[0];
    }
    return compact(graph);
}

} // namespace lathe::graph
