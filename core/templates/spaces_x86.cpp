// The spaces of the reference's templates for processors, and the rules of its fallbacks (autotvm.md 3.1).

#include "core/templates/fallback.h"
#include "core/templates/spaces.h"

namespace lathe::templates {
namespace {

constexpr std::int64_t kMaxWidthTile = 64; ///< of the register tile along the output's width

/// The largest number up to `most` that divides `extent`.
std::int64_t largestDivisor(std::int64_t extent, std::int64_t most)
{
    for (std::int64_t d = std::min(extent, most); d > 1; --d)
        if (extent % d == 0)
            return d;
    return 1;
}

SplitEntity inTwo(std::int64_t extent, std::int64_t inner)
{
    return {{extent / inner, inner}};
}

SplitRule widthTile(std::int64_t width, SplitPolicy policy)
{
    SplitRule rule{width, 2, policy};
    rule.filter = [](std::span<const std::int64_t> sizes) { return sizes.back() <= kMaxWidthTile; };
    return rule;
}

Result<> addFlags(ConfigSpace& space, const std::string& name)
{
    return space.addOption(name, std::vector<JsonValue>{{true}, {false}});
}

Result<ConfigSpace> convSpace(const Workload& workload, const TemplateFacts& facts)
{
    LATHE_TRY_ASSIGN(const ConvArgs conv, convArgs(workload));
    ConfigSpace space;
    LATHE_TRY(space.addSplit("tile_ic", {conv.inChannels, 2}));
    LATHE_TRY(space.addSplit("tile_oc", {conv.outChannels, 2}));
    LATHE_TRY(space.addSplit("tile_ow", widthTile(conv.outWidth(), facts.widthPolicy)));
    if (conv.kernelHeight != 1 || conv.kernelWidth != 1)
        LATHE_TRY(addFlags(space, "unroll_kw"));
    else if (conv.outHeight() > 1)
        LATHE_TRY(space.addOption("tile_oh", {1, 2}));
    else
        LATHE_TRY(space.addOption("tile_oh", {1}));
    return space;
}

Result<ConfigSpace> depthwiseSpace(const Workload& workload, const TemplateFacts& /*facts*/)
{
    LATHE_TRY_ASSIGN(const ConvArgs conv, convArgs(workload));
    if (conv.outChannels != conv.inChannels)
        return notFor(workload, "the channel multiplier", "1");
    if (conv.dilation != std::array<std::int64_t, 2>{1, 1})
        return notFor(workload, "the dilation", "1");
    ConfigSpace space;
    LATHE_TRY(space.addSplit("tile_ic", {conv.inChannels, 2}));
    LATHE_TRY(space.addSplit("tile_oc", {conv.outChannels, 2}));
    LATHE_TRY(space.addSplit("tile_ow", widthTile(conv.outWidth(), SplitPolicy::Factors)));
    LATHE_TRY(addFlags(space, "unroll_kw"));
    return space;
}

Result<Config> convFallback(const Workload& workload, const TemplateFacts& facts, const ConfigSpace& space)
{
    LATHE_TRY_ASSIGN(const ConvArgs conv, convArgs(workload));
    Config config = plainFallback(space);
    const std::int64_t oc = largestDivisor(conv.outChannels, facts.vectorLanes);
    config.set("tile_oc", inTwo(conv.outChannels, oc));
    config.set("tile_ic", inTwo(conv.inChannels, largestDivisor(conv.inChannels, oc)));
    const std::int64_t width = conv.outWidth();
    if (space.find("unroll_kw") != nullptr) {
        config.set("tile_ow", inTwo(width, largestDivisor(width, 31)));
        config.set("unroll_kw", OptionEntity{{false}});
        return config;
    }
    // The widest tile first, for it the highest, so that the two are fewer than 32 accumulators.
    const std::int64_t tileWidth = largestDivisor(width, 31);
    config.set("tile_ow", inTwo(width, tileWidth));
    config.set("tile_oh", OptionEntity{{largestDivisor(conv.outHeight(), 31 / tileWidth)}});
    return config;
}

Result<ConfigSpace> densePackSpace(const Workload& workload, const TemplateFacts& /*facts*/)
{
    LATHE_TRY_ASSIGN(const DenseArgs dense, denseArgs(workload));
    SplitRule inner{dense.m, 2};
    inner.filter = [](std::span<const std::int64_t> sizes) { return sizes.back() <= 16; };
    ConfigSpace space;
    LATHE_TRY(space.addSplit("tile_y", {dense.m, 3}));
    LATHE_TRY(space.addSplit("tile_x", {dense.n, 3}));
    LATHE_TRY(space.addSplit("tile_k", {dense.k, 2}));
    LATHE_TRY(space.addSplit("tile_inner", inner));
    return space;
}

/// The middle size doubles while more than four blocks are left and their number is even.
SplitEntity inThree(std::int64_t extent, std::int64_t inner)
{
    const std::int64_t blocks = extent / inner;
    std::int64_t middle = 1;
    while (blocks / middle > 4 && blocks / middle % 2 == 0)
        middle *= 2;
    return {{blocks / middle, middle, inner}};
}

Result<Config> densePackFallback(const Workload& workload, const TemplateFacts& facts, const ConfigSpace& space)
{
    LATHE_TRY_ASSIGN(const DenseArgs dense, denseArgs(workload));
    Config config = plainFallback(space);
    std::int64_t rows = 8;
    while (dense.m % rows != 0)
        rows /= 2;
    config.set("tile_y", inThree(dense.m, rows));
    config.set("tile_x", inThree(dense.n, largestDivisor(dense.n, 2 * facts.vectorLanes)));
    config.set("tile_k", inTwo(dense.k, 1));
    config.set("tile_inner", inTwo(dense.m, rows));
    return config;
}

Result<ConfigSpace> denseNopackSpace(const Workload& workload, const TemplateFacts& /*facts*/)
{
    LATHE_TRY_ASSIGN(const DenseArgs dense, denseArgs(workload));
    ConfigSpace space;
    LATHE_TRY(space.addSplit("tile_y", {dense.m, 2}));
    LATHE_TRY(space.addSplit("tile_x", {dense.n, 2}));
    LATHE_TRY(space.addSplit("tile_k", {dense.k, 2}));
    return space;
}

Result<Config> denseNopackFallback(const Workload& workload, const TemplateFacts& facts, const ConfigSpace& space)
{
    LATHE_TRY_ASSIGN(const DenseArgs dense, denseArgs(workload));
    Config config = plainFallback(space);
    config.set("tile_y", inTwo(dense.m, dense.m));
    config.set("tile_x", inTwo(dense.n, 1));
    config.set("tile_k", inTwo(dense.k, largestDivisor(dense.k, 2 * facts.vectorLanes)));
    return config;
}

} // namespace

std::vector<Template> x86Templates()
{
    return {{.name = "conv2d_NCHWc.x86",
             .family = kProcessorFamily,
             .pattern = Pattern::Conv2d,
             .space = convSpace,
             .fallback = convFallback,
             .steps = convStepsX86},
            {.name = "depthwise_conv2d_NCHWc.x86",
             .family = kProcessorFamily,
             .pattern = Pattern::DepthwiseConv2d,
             .space = depthwiseSpace,
             .fallback = convFallback,
             .steps = depthwiseStepsX86},
            {.name = "dense_nopack.x86",
             .family = kProcessorFamily,
             .pattern = Pattern::Dense,
             .priority = 5,
             .space = denseNopackSpace,
             .fallback = denseNopackFallback,
             .steps = denseNopackStepsX86},
            {.name = "dense_pack.x86",
             .family = kProcessorFamily,
             .pattern = Pattern::Dense,
             .space = densePackSpace,
             .fallback = densePackFallback,
             .steps = densePackStepsX86}};
}

} // namespace lathe::templates
