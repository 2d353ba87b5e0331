// The spaces of the reference's templates for Arm's Mali (autotvm.md 3.3). Splits in three are [block, thread, inner].

#include "core/templates/fallback.h"
#include "core/templates/spaces.h"

#include <algorithm>

namespace lathe::templates {
namespace {

constexpr std::int64_t kMaxUnroll = 16;

/// Refuses configurations that unroll an axis of more than 16, or vectorize one of a length that no vector has.
/// `lengthsOf` gives the lengths of the axes that the knob marks.
void limitMarks(ConfigSpace& space, const std::string& knob,
                std::function<std::vector<std::int64_t>(const Config&)> lengthsOf)
{
    space.addConstraint(
        {"marks of " + knob, [knob, lengthsOf = std::move(lengthsOf)](const Config& config) -> std::optional<Message> {
             const auto* annotate = std::get_if<AnnotateEntity>(config.find(knob));
             if (annotate == nullptr)
                 return std::nullopt;
             const std::vector<std::int64_t> lengths = lengthsOf(config);
             for (std::size_t i = 0; i < std::min(lengths.size(), annotate->marks.size()); ++i) {
                 const std::int64_t length = lengths[i];
                 if (annotate->marks[i] == Mark::Unroll && length > kMaxUnroll)
                     return say(Msg::TemplateWrong, "the length " + std::to_string(length) + " of an unrolled axis",
                                "at most " + std::to_string(kMaxUnroll));
                 const bool lanes = length >= 1 && length <= 16 && (length & (length - 1)) == 0;
                 if (annotate->marks[i] == Mark::Vec && !lanes)
                     return say(Msg::TemplateWrong, "the length " + std::to_string(length) + " of a vectorized axis",
                                "1, 2, 4, 8 or 16");
             }
             return std::nullopt;
         }});
}

/// The inner sizes of splits.
std::function<std::vector<std::int64_t>(const Config&)> innerSizes(std::vector<std::string> knobs)
{
    return [knobs = std::move(knobs)](const Config& config) {
        std::vector<std::int64_t> lengths;
        for (const std::string& knob : knobs) {
            const std::vector<std::int64_t>* sizes = config.sizes(knob);
            lengths.push_back(sizes == nullptr || sizes->empty() ? 1 : sizes->back());
        }
        return lengths;
    };
}

Result<ConfigSpace> spatialPackSpace(const Workload& workload, const TemplateFacts& facts)
{
    LATHE_TRY_ASSIGN(const ConvArgs conv, convArgs(workload));
    ConfigSpace space;
    LATHE_TRY(space.addSplit("tile_co", {conv.outChannels, 3}));
    LATHE_TRY(space.addSplit("tile_oh", {conv.outHeight(), 3}));
    LATHE_TRY(space.addSplit("tile_ow", {conv.outWidth(), 3}));
    // Of n, co, oh, ow, ci, kh, kw, vh, vw, vc: as they are, or vc before vh.
    ReorderRule order{10, ReorderPolicy::Candidates};
    order.candidates = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {0, 1, 2, 3, 4, 5, 6, 9, 7, 8}};
    LATHE_TRY(space.addReorder("reorder_0", order));
    LATHE_TRY(space.addAnnotate("ann_reduce", {2, "try_unroll"})); // kh, kw
    LATHE_TRY(space.addAnnotate("ann_spatial", {3, "try_unroll_vec"})); // vh, vw, vc
    limitThreads(space, facts, {{"tile_co", 1}, {"tile_oh", 1}, {"tile_ow", 1}});
    limitMarks(space, "ann_reduce",
               [kernel = std::vector{conv.kernelHeight, conv.kernelWidth}](const Config&) { return kernel; });
    limitMarks(space, "ann_spatial", innerSizes({"tile_oh", "tile_ow", "tile_co"}));
    return space;
}

std::int64_t winogradTileMali(const ConvArgs& conv)
{
    return conv.height % 4 == 0 ? 4 : 2;
}

Result<ConfigSpace> winogradMaliSpace(const Workload& workload, const TemplateFacts& facts)
{
    LATHE_TRY_ASSIGN(const ConvArgs conv, convArgs(workload));
    if (conv.kernelHeight != 3 || conv.kernelWidth != 3)
        return notFor(workload, "the kernel", "3 x 3");
    LATHE_TRY(checkUnitSteps(workload, conv));
    std::vector<JsonValue> blocks;
    for (const std::int64_t block : {1, 2, 4, 8, 16})
        if (conv.outChannels % block == 0)
            blocks.push_back({block});
    ConfigSpace space;
    LATHE_TRY(space.addOption("tile_bna", blocks));
    LATHE_TRY(space.addOption("tile_bnb", {1, 2, 4, 8, 16}));
    SplitRule split{conv.inChannels, 2, SplitPolicy::Factors, 128};
    LATHE_TRY(space.addSplit("tile_t1", split));
    split.extent = conv.outChannels;
    LATHE_TRY(space.addSplit("tile_t2", split));
    LATHE_TRY(space.addSplit("c_unroll", {conv.inChannels, 2, SplitPolicy::Factors, 8}));
    LATHE_TRY(space.addOption("yt", {1, 2, 4, 8, 16, 32}));
    limitThreads(space, facts, {{"tile_t1", 1}});
    limitThreads(space, facts, {{"tile_t2", 1}});
    return space;
}

Result<Config> winogradMaliFallback(const Workload& workload, const TemplateFacts& /*facts*/, const ConfigSpace& space)
{
    LATHE_TRY_ASSIGN(const ConvArgs conv, convArgs(workload));
    Config config = plainFallback(space);
    std::int64_t block = 4;
    while (conv.outChannels % block != 0)
        block /= 2;
    config.set("tile_bna", OptionEntity{{block}});
    config.set("tile_bnb", OptionEntity{{std::int64_t{4}}});
    config.set("yt", OptionEntity{{std::int64_t{8}}});
    LATHE_TRY(setLimited(config, "tile_t1", conv.inChannels, 128));
    LATHE_TRY(setLimited(config, "tile_t2", conv.outChannels, 128));
    LATHE_TRY(setLimited(config, "c_unroll", conv.inChannels, 8));
    return config;
}

Result<ConfigSpace> depthwiseMaliSpace(const Workload& workload, const TemplateFacts& facts)
{
    LATHE_TRY_ASSIGN(const ConvArgs conv, convArgs(workload));
    ConfigSpace space;
    LATHE_TRY(space.addSplit("tile_c", {conv.outChannels, 3}));
    LATHE_TRY(space.addSplit("tile_y", {conv.outHeight(), 3}));
    LATHE_TRY(space.addSplit("tile_x", {conv.outWidth(), 3}));
    LATHE_TRY(space.addAnnotate("ann_spatial", {3, "try_unroll_vec"})); // the inner parts of c, y, x
    limitThreads(space, facts, {{"tile_c", 1}, {"tile_y", 1}, {"tile_x", 1}});
    limitMarks(space, "ann_spatial", innerSizes({"tile_c", "tile_y", "tile_x"}));
    return space;
}

Result<ConfigSpace> denseMaliSpace(const Workload& workload, const TemplateFacts& facts)
{
    LATHE_TRY_ASSIGN(const DenseArgs dense, denseArgs(workload));
    ConfigSpace space;
    LATHE_TRY(space.addSplit("tile_y", {dense.m, 3}));
    LATHE_TRY(space.addSplit("tile_x", {dense.n, 3}));
    LATHE_TRY(space.addSplit("c_unroll", {dense.k, 2, SplitPolicy::Factors, 64}));
    limitThreads(space, facts, {{"tile_y", 1}, {"tile_x", 1}});
    return space;
}

} // namespace

std::vector<Template> maliTemplates()
{
    constexpr std::string_view kFamily = "mali";
    return {{.name = "conv2d_nchw_spatial_pack.mali",
             .family = kFamily,
             .pattern = Pattern::Conv2d,
             .space = spatialPackSpace,
             .steps = convStepsMali},
            {.name = "conv2d_nchw_winograd.mali",
             .family = kFamily,
             .pattern = Pattern::Conv2d,
             .priority = 5,
             .space = winogradMaliSpace,
             .fallback = winogradMaliFallback,
             .steps = winogradStepsMali,
             .winogradTile = winogradTileMali},
            {.name = "depthwise_conv2d_nchw.mali",
             .family = kFamily,
             .pattern = Pattern::DepthwiseConv2d,
             .space = depthwiseMaliSpace,
             .steps = depthwiseStepsMali},
            {.name = "dense.mali",
             .family = kFamily,
             .pattern = Pattern::Dense,
             .space = denseMaliSpace,
             .steps = denseStepsMali}};
}

} // namespace lathe::templates
