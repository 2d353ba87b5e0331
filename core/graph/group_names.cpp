#include "core/graph/group.h"

#include "core/graph/reference_rules.h"
#include "core/graph/rewrite.h"
#include "core/support/hash.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace lathe::graph {
namespace {

using Ints = std::vector<std::int64_t>;

/// The reference's name of an operator, as its function names spell it.
std::string referenceName(const std::string& op)
{
    constexpr std::array kNeural = {"conv2d", "conv2d_transpose", "conv3d", "conv3d_transpose", "dense", "batch_matmul", "matmul", "bias_add", "batch_norm", "relu", "leaky_relu", "prelu",
                                    "max_pool2d", "avg_pool2d", "global_avg_pool2d", "global_max_pool2d", "max_pool3d", "avg_pool3d",
                                    "global_avg_pool3d", "global_max_pool3d", "softmax", "log_softmax", "batch_flatten", "pad", "dropout"};
    return std::find(kNeural.begin(), kNeural.end(), op) != kNeural.end() ? "nn_" + op : op;
}

bool isCube(const Ints& extents)
{
    return std::ranges::all_of(extents, [&](std::int64_t extent) { return extent == extents[0]; });
}

std::string window(const Ints& size, const Ints& strides)
{
    std::string text = fmt::format("{}", fmt::join(size, "x"));
    if (!std::ranges::all_of(strides, [](std::int64_t s) { return s == 1; }))
        text += isCube(strides) ? fmt::format("/{}", strides[0]) : fmt::format("/{}", fmt::join(strides, "x"));
    return text;
}

bool channelsLast(const Node& node)
{
    return attrString(node, "layout", "NCHW").ends_with('C');
}

struct Image
{
    std::int64_t channels = 0;
    std::string size; ///< "28" or "28x14", of volumes "16x28x28"
};

Image imageOf(const Value& value, const Node& node)
{
    const bool last = channelsLast(node);
    const auto first = value.shape.begin() + (last ? 1 : 2);
    const Ints extents(first, last ? value.shape.end() - 1 : value.shape.end());
    return {last ? value.shape.back() : value.shape[1], isCube(extents) ? fmt::format("{}", extents[0]) : fmt::format("{}", fmt::join(extents, "x"))};
}

std::string convName(const Graph& graph, const Node& node)
{
    const Image in = imageOf(graph.value(node.inputs[0]), node);
    const Image out = imageOf(graph.value(node.outputs[0]), node);
    const Ints& weight = graph.value(node.inputs[1]).shape;
    const std::string taps = weight.size() == 5 ? "DHW" : "HW";
    const std::string kernel = attrString(node, "kernel_layout", channelsLast(node) ? taps + "IO" : (node.op.ends_with("transpose") ? "IO" : "OI") + taps);
    const Ints ones(taps.size(), 1);
    Ints extents;
    for (const char tap : taps)
        extents.push_back(weight[kernel.find(tap)]);
    const std::string size = window(extents, attrInts(node, "strides", ones));
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

std::string anchorName(const Graph& graph, const Node& node)
{
    const Value& in = graph.value(node.inputs[0]);
    const Value& out = graph.value(node.outputs[0]);
    if (node.op.starts_with("conv2d") || node.op.starts_with("conv3d"))
        return convName(graph, node);
    if (node.op.starts_with("max_pool") || node.op.starts_with("avg_pool")) {
        const Image image = imageOf(out, node);
        const Ints size = attrInts(node, "pool_size");
        return fmt::format("{} {} {} @{}", node.op, window(size, attrInts(node, "strides", Ints(size.size(), 1))), image.channels, image.size);
    }
    if (node.op.starts_with("global_")) {
        const Image image = imageOf(in, node);
        return fmt::format("{} {} @{}", node.op, image.channels, image.size);
    }
    if (node.op == "dense")
        return fmt::format("dense {}->{}", in.shape[1], out.shape[1]);
    return fmt::format("{} {}", node.op, fmt::join(in.shape, "x"));
}

} // namespace

std::string readableName(const Graph& graph, const Group& group)
{
    const Node& anchor = graph.node(group.anchor);
    std::string text = anchorName(graph, anchor);
    const Ints& shape = graph.value(anchor.outputs[0]).shape;
    if (!shape.empty() && shape[0] > 1 && shape.size() > 1 && anchor.op != "matmul" && anchor.op != "batch_matmul")
        text += fmt::format(" batch {}", shape[0]);
    text += ' ';
    for (const NodeId id : group.nodes) {
        const Node& node = graph.node(id);
        if (id == group.anchor)
            continue;
        const bool sum = node.op == "add" && node.inputs.size() == 2 && !graph.value(node.inputs[0]).constant && !graph.value(node.inputs[1]).constant;
        text += sum ? "+residual" : "+" + node.op;
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
        text += winograd ? "nn_contrib_conv2d_winograd_without_weight_transform" : referenceName(graph.node(id).op);
    }
    if (text.size() <= kLongest)
        return text;
    return fmt::format("{}_{}", text.substr(0, kLongest), contentHash(text).hex().substr(0, 16));
}

} // namespace lathe::graph
