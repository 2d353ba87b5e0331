#include "core/graph/operators/labels.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace lathe::graph::operators {
namespace {

using Ints = std::vector<std::int64_t>;

bool isCube(const Ints& extents)
{
    return std::ranges::all_of(extents, [&](std::int64_t extent) { return extent == extents[0]; });
}

std::string windowText(const Ints& size, const Ints& strides)
{
    std::string text = fmt::format("{}", fmt::join(size, "x"));
    if (!std::ranges::all_of(strides, [](std::int64_t s) { return s == 1; }))
        text += isCube(strides) ? fmt::format("/{}", strides[0]) : fmt::format("/{}", fmt::join(strides, "x"));
    return text;
}

bool hasChannelsLast(const Node& node)
{
    return attrString(node, "layout", "NCHW").ends_with('C');
}

struct ImageText
{
    std::int64_t channels = 0;
    std::string size; ///< "28" or "28x14", of volumes "16x28x28"
};

ImageText imageOf(const Value& value, const Node& node)
{
    const bool last = hasChannelsLast(node);
    const auto first = value.shape.begin() + (last ? 1 : 2);
    const Ints extents(first, last ? value.shape.end() - 1 : value.shape.end());
    return {last ? value.shape.back() : value.shape[1],
            isCube(extents) ? fmt::format("{}", extents[0]) : fmt::format("{}", fmt::join(extents, "x"))};
}

/// `channelOrder`: in which the kernel of channels first has its channels.
std::string windowedProductLabel(const Graph& graph, const Node& node, const char* channelOrder)
{
    const ImageText in = imageOf(graph.value(node.inputs[0]), node);
    const ImageText out = imageOf(graph.value(node.outputs[0]), node);
    const Ints& weight = graph.value(node.inputs[1]).shape;
    const std::string taps = weight.size() == 5 ? "DHW" : "HW";
    const std::string kernel = attrString(node, "kernel_layout",
                                          hasChannelsLast(node) ? taps + "IO" : channelOrder + taps);
    const Ints ones(taps.size(), 1);
    Ints extents;
    for (const char tap : taps)
        extents.push_back(weight[kernel.find(tap)]);
    const std::string size = windowText(extents, attrInts(node, "strides", ones));
    const std::int64_t groups = attrInt(node, "groups", 1);
    if (groups > 1 && groups == in.channels && in.channels == out.channels)
        return fmt::format("depthwise_{} {} {} @{}", node.op, size, in.channels, out.size);
    std::string text = fmt::format("{} {} {}->{} @{}", node.op, size, in.channels, out.channels, out.size);
    if (groups > 1)
        text += fmt::format(" groups {}", groups);
    if (const Ints dilations = attrInts(node, "dilations", ones); dilations != ones)
        text += fmt::format(" dilation {}", fmt::join(dilations, "x"));
    return text;
}

} // namespace

std::string convolutionLabel(const Graph& graph, const Node& node)
{
    return windowedProductLabel(graph, node, "OI");
}

std::string transposedConvolutionLabel(const Graph& graph, const Node& node)
{
    return windowedProductLabel(graph, node, "IO");
}

std::string poolLabel(const Graph& graph, const Node& node)
{
    const ImageText image = imageOf(graph.value(node.outputs[0]), node);
    const Ints size = attrInts(node, "pool_size");
    return fmt::format("{} {} {} @{}", node.op, windowText(size, attrInts(node, "strides", Ints(size.size(), 1))),
                       image.channels, image.size);
}

std::string wholePoolLabel(const Graph& graph, const Node& node)
{
    const ImageText image = imageOf(graph.value(node.inputs[0]), node);
    return fmt::format("{} {} @{}", node.op, image.channels, image.size);
}

std::string denseLabel(const Graph& graph, const Node& node)
{
    return fmt::format("{} {}->{}", node.op, graph.value(node.inputs[0]).shape[1],
                       graph.value(node.outputs[0]).shape[1]);
}

} // namespace lathe::graph::operators
