#include "core/graph/reference_rules.h"

#include <charconv>

namespace lathe::graph {
namespace {

using Ints = std::vector<std::int64_t>;

struct ConvFacts
{
    bool nhwc = false;
    std::int64_t batch = 0;
    std::int64_t height = 0; ///< of the input
    std::int64_t inChannels = 0;
    std::int64_t outChannels = 0;
    bool winogradApplies = false; ///< 3x3, stride 1, dilation 1, one group, floating point, weights known ahead of time
};

ConvFacts factsOf(const Graph& graph, const Node& conv)
{
    const Value& data = graph.value(conv.inputs[0]);
    const Value& weight = graph.value(conv.inputs[1]);
    ConvFacts f;
    f.nhwc = attrString(conv, "layout", "NCHW") == "NHWC";
    const std::string kernel = attrString(conv, "kernel_layout", f.nhwc ? "HWIO" : "OIHW");
    f.batch = data.shape[0];
    f.height = data.shape[f.nhwc ? 1 : 2];
    f.inChannels = data.shape[f.nhwc ? 3 : 1];
    f.outChannels = weight.shape[kernel.find('O')];
    const Ints ones{1, 1};
    // The transform of the weights is defined for the layouts that go with the data's.
    const bool plainKernel = kernel == (f.nhwc ? "HWIO" : "OIHW");
    f.winogradApplies = plainKernel && weight.shape[kernel.find('H')] == 3 && weight.shape[kernel.find('W')] == 3
                        && attrInts(conv, "strides", ones) == ones && attrInts(conv, "dilations", ones) == ones
                        && attrInt(conv, "groups", 1) == 1 && isFloat(data.dtype) && isFloat(weight.dtype)
                        && weight.constant;
    return f;
}

/// NVIDIA GPUs from compute capability 7.0 on have units for small matrix products; the reference then prefers a
/// template that the auto-scheduler cannot change.
bool tensorCoresTake(const ConvFacts& f, const Target& target)
{
    const auto arch = target.attribute("arch");
    if (target.kind() != "cuda" || !arch || !arch->starts_with("sm_"))
        return false;
    int capability = 0;
    std::from_chars(arch->data() + 3, arch->data() + arch->size(), capability);
    if (capability < 70)
        return false;
    const auto fits = [&](std::int64_t n, std::int64_t ci, std::int64_t co) {
        return f.batch % n == 0 && f.inChannels % ci == 0 && f.outChannels % co == 0;
    };
    return fits(16, 16, 16) || fits(8, 16, 32) || fits(32, 16, 8);
}

} // namespace

bool referenceKeepsShortOperands(const Node& anchor, compute::NameEra era)
{
    return anchor.op == "dense" && era != compute::NameEra::Nested;
}

std::string referenceAlgorithm(const Graph& graph, const Node& conv, const Target& target)
{
    if (conv.op != "conv2d")
        return "direct";
    const ConvFacts f = factsOf(graph, conv);
    if (!f.nhwc || !f.winogradApplies)
        return "direct";
    const std::string family = target.family();
    if (family == "gpu")
        return tensorCoresTake(f, target) ? "direct" : f.height % 8 == 0 ? "winograd:4" : "winograd:2";
    if (family == "mali")
        return f.height % 4 == 0 ? "winograd:4" : "winograd:2";
    return f.outChannels > 64 && f.outChannels < 512 ? "winograd:4" : "direct";
}

std::vector<std::string> algorithmsFor(const Graph& graph, const Node& conv)
{
    if (!factsOf(graph, conv).winogradApplies)
        return {"direct"};
    return {"direct", "winograd:2", "winograd:4"};
}

std::int64_t winogradTile(std::string_view algorithm)
{
    constexpr std::string_view kPrefix = "winograd:";
    if (!algorithm.starts_with(kPrefix))
        return 0;
    return algorithm.substr(kPrefix.size()) == "4" ? 4 : 2;
}

} // namespace lathe::graph
