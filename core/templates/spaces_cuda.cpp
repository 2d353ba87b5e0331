// The spaces of the reference's templates for GPUs (autotvm.md 3.2). Splits in four are [block, virtual thread, thread,
// inner], splits of reductions in two [outer, inner].

#include "core/templates/fallback.h"
#include "core/templates/spaces.h"

namespace lathe::templates {
namespace {

Result<> addUnrolling(ConfigSpace& space, const TemplateFacts& facts, std::int64_t someSteps)
{
    LATHE_TRY(space.addOption("auto_unroll_max_step", {0, someSteps, 1500}));
    return facts.explicitUnroll ? space.addOption("unroll_explicit", {1}) : space.addOption("unroll_explicit", {0, 1});
}

/// Rows (0) or columns (1) of the input that so many of the output read by so many of the kernel.
std::int64_t window(const ConvArgs& conv, std::size_t which, std::int64_t outputs, std::int64_t kernel)
{
    return (outputs - 1) * conv.strides[which] + (kernel - 1) * conv.dilation[which] + 1;
}

Result<ConfigSpace> directSpace(const Workload& workload, const TemplateFacts& facts)
{
    LATHE_TRY_ASSIGN(const ConvArgs conv, convArgs(workload));
    ConfigSpace space;
    LATHE_TRY(space.addSplit("tile_f", {conv.outChannels, 4}));
    LATHE_TRY(space.addSplit("tile_y", {conv.outHeight(), 4}));
    LATHE_TRY(space.addSplit("tile_x", {conv.outWidth(), 4}));
    LATHE_TRY(space.addSplit("tile_rc", {conv.inChannels, 2}));
    LATHE_TRY(space.addSplit("tile_ry", {conv.kernelHeight, 2}));
    LATHE_TRY(space.addSplit("tile_rx", {conv.kernelWidth, 2}));
    LATHE_TRY(addUnrolling(space, facts, 512));
    limitThreads(space, facts, {{"tile_f", 2}, {"tile_y", 2}, {"tile_x", 2}});
    limitVirtualThreads(space, facts, {{"tile_f", 1}, {"tile_y", 1}, {"tile_x", 1}});
    limitShared(space, facts, conv.dtype, [conv](const Config& config) {
        const std::int64_t rc = innerSize(config, "tile_rc"), ry = innerSize(config, "tile_ry"),
                           rx = innerSize(config, "tile_rx");
        return std::vector<std::vector<std::int64_t>>{
            {rc, window(conv, 0, innerSize(config, "tile_y"), ry), window(conv, 1, innerSize(config, "tile_x"), rx)},
            {innerSize(config, "tile_f"), rc, ry, rx}};
    });
    return space;
}

std::int64_t winogradTileCuda(const ConvArgs& conv)
{
    return conv.height % 8 == 0 ? 4 : 2; // by the input's height, not the output's
}

Result<ConfigSpace> winogradSpace(const Workload& workload, const TemplateFacts& facts)
{
    LATHE_TRY_ASSIGN(const ConvArgs conv, convArgs(workload));
    if (conv.kernelHeight != conv.kernelWidth || conv.kernelHeight < 3 || conv.kernelHeight > 7)
        return notFor(workload, "the kernel", "a square of 3 to 7");
    LATHE_TRY(checkUnitSteps(workload, conv));
    const std::int64_t m = winogradTileCuda(conv);
    const std::int64_t alpha = m + conv.kernelHeight - 1;
    const std::int64_t tilesDown = (conv.outHeight() + m - 1) / m, tilesAcross = (conv.outWidth() + m - 1) / m;
    if (tilesDown * tilesAcross > kMaxExtent / conv.batch)
        return notFor(workload, "the number of tiles", "below 2^31");

    // The matrices of a batch are not tiled: what remains of the four sizes is the number of blocks.
    SplitRule batch{alpha * alpha, 4};
    batch.filter = [](std::span<const std::int64_t> sizes) { return sizes[1] == 1 && sizes[2] == 1 && sizes[3] == 1; };
    ConfigSpace space;
    LATHE_TRY(space.addSplit("tile_b", batch));
    LATHE_TRY(space.addSplit("tile_y", {conv.outChannels, 4}));
    LATHE_TRY(space.addSplit("tile_x", {conv.batch * tilesDown * tilesAcross, 4}));
    LATHE_TRY(space.addSplit("tile_rc", {conv.inChannels, 2}));
    LATHE_TRY(addUnrolling(space, facts, 128));
    limitThreads(space, facts, {{"tile_b", 2}, {"tile_y", 2}, {"tile_x", 2}});
    limitVirtualThreads(space, facts, {{"tile_b", 1}, {"tile_y", 1}, {"tile_x", 1}});
    limitShared(space, facts, conv.dtype, [](const Config& config) {
        const std::int64_t rc = innerSize(config, "tile_rc");
        return std::vector<std::vector<std::int64_t>>{{innerSize(config, "tile_y"), rc},
                                                      {innerSize(config, "tile_x"), rc}};
    });
    return space;
}

Result<ConfigSpace> depthwiseGpuSpace(const Workload& workload, const TemplateFacts& facts)
{
    LATHE_TRY_ASSIGN(const ConvArgs conv, convArgs(workload));
    ConfigSpace space;
    LATHE_TRY(space.addSplit("tile_f", {conv.outChannels, 4}));
    LATHE_TRY(space.addSplit("tile_y", {conv.outHeight(), 4}));
    LATHE_TRY(space.addSplit("tile_x", {conv.outWidth(), 4}));
    LATHE_TRY(addUnrolling(space, facts, 256));
    limitThreads(space, facts, {{"tile_f", 2}, {"tile_y", 2}, {"tile_x", 2}});
    limitVirtualThreads(space, facts, {{"tile_f", 1}, {"tile_y", 1}, {"tile_x", 1}});
    limitShared(space, facts, conv.dtype, [conv](const Config& config) {
        const std::int64_t f = innerSize(config, "tile_f");
        return std::vector<std::vector<std::int64_t>>{{f,
                                                       window(conv, 0, innerSize(config, "tile_y"), conv.kernelHeight),
                                                       window(conv, 1, innerSize(config, "tile_x"), conv.kernelWidth)},
                                                      {f, conv.kernelHeight, conv.kernelWidth}};
    });
    return space;
}

/// The inner part of K is the threads of a block, which add up what they have together.
Result<ConfigSpace> smallBatchSpace(const Workload& workload, const TemplateFacts& facts)
{
    LATHE_TRY_ASSIGN(const DenseArgs dense, denseArgs(workload));
    ConfigSpace space;
    LATHE_TRY(space.addSplit("tile_k", {dense.k, 2}));
    limitThreads(space, facts, {{"tile_k", 1}});
    return space;
}

Result<Config> smallBatchFallback(const Workload& workload, const TemplateFacts& /*facts*/, const ConfigSpace& space)
{
    LATHE_TRY_ASSIGN(const DenseArgs dense, denseArgs(workload));
    Config config = plainFallback(space);
    LATHE_TRY(setLimited(config, "tile_k", dense.k, 64));
    return config;
}

/// The reference wants to filter these splits (virtual threads, threads and their product among a few numbers), and
/// gives all filters up where one of them leaves nothing. That of tile_k always does: it compares the outermost size,
/// which is stored as -1. So its spaces are these, unfiltered.
Result<ConfigSpace> largeBatchSpace(const Workload& workload, const TemplateFacts& facts)
{
    LATHE_TRY_ASSIGN(const DenseArgs dense, denseArgs(workload));
    ConfigSpace space;
    LATHE_TRY(space.addSplit("tile_x", {dense.m, 4}));
    LATHE_TRY(space.addSplit("tile_y", {dense.n, 4}));
    LATHE_TRY(space.addSplit("tile_k", {dense.k, 3}));
    limitThreads(space, facts, {{"tile_x", 2}, {"tile_y", 2}});
    limitVirtualThreads(space, facts, {{"tile_x", 1}, {"tile_y", 1}});
    limitShared(space, facts, dense.dtype, [](const Config& config) {
        const std::int64_t k = innerSize(config, "tile_k");
        return std::vector<std::vector<std::int64_t>>{{innerSize(config, "tile_x"), k},
                                                      {innerSize(config, "tile_y"), k}};
    });
    return space;
}

/// The reference makes no task of this one for small batches (autotvm.md 3.2).
bool isLargeBatch(const MatchedNest& nest)
{
    constexpr std::int64_t kLargeBatch = 32;
    return nest.dense() != nullptr && nest.dense()->m >= kLargeBatch;
}

} // namespace

std::vector<Template> cudaTemplates()
{
    constexpr std::string_view kFamily = "gpu";
    return {{.name = "conv2d_nchw.cuda",
             .family = kFamily,
             .pattern = Pattern::Conv2d,
             .space = directSpace,
             .steps = convStepsCuda},
            {.name = "conv2d_nchw_winograd.cuda",
             .family = kFamily,
             .pattern = Pattern::Conv2d,
             .priority = 5,
             .space = winogradSpace,
             .steps = winogradStepsCuda,
             .winogradTile = winogradTileCuda},
            {.name = "depthwise_conv2d_nchw.cuda",
             .family = kFamily,
             .pattern = Pattern::DepthwiseConv2d,
             .space = depthwiseGpuSpace,
             .steps = depthwiseStepsCuda},
            {.name = "dense_small_batch.gpu",
             .family = kFamily,
             .pattern = Pattern::Dense,
             .space = smallBatchSpace,
             .fallback = smallBatchFallback,
             .steps = denseSmallBatchSteps},
            {.name = "dense_large_batch.gpu",
             .family = kFamily,
             .pattern = Pattern::Dense,
             .priority = 5,
             .space = largeBatchSpace,
             .steps = denseLargeBatchSteps,
             .suits = isLargeBatch}};
}

} // namespace lathe::templates
