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
    constexpr std::array kNeural = {"conv2d", "conv2d_transpose", "dense", "batch_matmul", "matmul", "bias_add", "batch_norm", "relu", "leaky_relu", "prelu",
                                    "max_pool2d", "avg_pool2d", "global_avg_pool2d", "global_max_pool2d", "softmax", "log_softmax", "batch_flatten",
                                    "pad", "dropout"};
    return std::find(kNeural.begin(), kNeural.end(), op) != kNeural.end() ? "nn_" + op : op;
}

std::string window(const Ints& size, const Ints& strides)
{
    std::string text = fmt::format("{}x{}", size[0], size[1]);
    if (strides != Ints{1, 1})
        text += strides[0] == strides[1] ? fmt::format("/{}", strides[0]) : fmt::format("/{}x{}", strides[0], strides[1]);
    return text;
}

struct Image
{
    std::int64_t channels = 0;
    std::string size; ///< "28" or "28x14"
};

Image imageOf(const Value& value, const Node& node)
{
    const bool nhwc = attrString(node, "layout", "NCHW") == "NHWC";
    const std::int64_t h = value.shape[nhwc ? 1 : 2];
    const std::int64_t w = value.shape[nhwc ? 2 : 3];
    return {value.shape[nhwc ? 3 : 1], h == w ? fmt::format("{}", h) : fmt::format("{}x{}", h, w)};
}

std::string convName(const Graph& graph, const Node& node)
{
    const Image in = imageOf(graph.value(node.inputs[0]), node);
    const Image out = imageOf(graph.value(node.outputs[0]), node);
    const bool nhwc = attrString(node, "layout", "NCHW") == "NHWC";
    const std::string kernel = attrString(node, "kernel_layout", nhwc ? "HWIO" : node.op == "conv2d" ? "OIHW" : "IOHW");
    const Ints& weight = graph.value(node.inputs[1]).shape;
    const std::string size = window({weight[kernel.find('H')], weight[kernel.find('W')]}, attrInts(node, "strides", {1, 1}));
    const std::int64_t groups = attrInt(node, "groups", 1);
    if (groups > 1 && groups == in.channels && in.channels == out.channels)
        return fmt::format("depthwise_{} {} {} @{}", node.op, size, in.channels, out.size);
    std::string text = fmt::format("{} {} {}->{} @{}", node.op, size, in.channels, out.channels, out.size);
    if (groups > 1)
        text += fmt::format(" groups {}", groups);
    if (const Ints dilations = attrInts(node, "dilations", {1, 1}); dilations != Ints{1, 1})
        text += fmt::format(" dilation {}x{}", dilations[0], dilations[1]);
    return text;
}

std::string anchorName(const Graph& graph, const Node& node)
{
    const Value& in = graph.value(node.inputs[0]);
    const Value& out = graph.value(node.outputs[0]);
    if (node.op == "conv2d" || node.op == "conv2d_transpose")
        return convName(graph, node);
    if (node.op == "max_pool2d" || node.op == "avg_pool2d") {
        const Image image = imageOf(out, node);
        return fmt::format("{} {} {} @{}", node.op, window(attrInts(node, "pool_size", {1, 1}), attrInts(node, "strides", {1, 1})), image.channels, image.size);
    }
    if (node.op == "global_avg_pool2d" || node.op == "global_max_pool2d") {
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
