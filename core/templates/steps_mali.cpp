// The schedules of the reference's templates for Arm's Mali (autotvm.md 3.3), winograd apart. Splits in three are
// [blocks, threads, inner]. These GPUs keep the memory of a block where all memory is: each thread reads for itself,
// and keeps what it reads again in registers.

#include "core/support/message.h"
#include "core/templates/launch_emitter.h"

#include <algorithm>
#include <array>

namespace lathe::templates {
namespace {

using schedule::AnnotateStep;
using schedule::Annotation;
using schedule::ComputeAtStep;
using schedule::Step;
using search::LoopPart;
using search::StageLoops;
using search::StepEmitter;

using Steps = std::vector<Step>;

/// Errors: InvalidArgument, with the knob.
Result<std::vector<Mark>> marksOf(const Config& config, const std::string& knob, std::size_t count)
{
    const Entity* entity = config.find(knob);
    const auto* annotate = entity != nullptr ? std::get_if<AnnotateEntity>(entity) : nullptr;
    if (annotate == nullptr || annotate->marks.size() != count)
        return makeError(Errc::InvalidArgument, say(Msg::TemplateKnobUnset, knob));
    return annotate->marks;
}

/// What a thread has of one axis of the image, and how its loop is marked.
struct MarkedShare
{
    AxisShare share;
    Mark mark = Mark::None;

    bool isUnrolled() const { return mark == Mark::Unroll || mark == Mark::Vec; }
};

/// Loops of a convolution's image that both kinds have: channels, rows and columns, marked.
class ImageTile
{
public:
    /// By the knobs that split channels, rows and columns in three, and the marks of their inner parts; the axis of the
    /// mark "vec" is taken by vectors that a thread moves at once. Errors: InvalidArgument, with the knob.
    static Result<ImageTile> of(const Scheduled& scheduled, const Config& config,
                                const std::array<const char*, 3>& knobs, const std::array<Mark, 3>& marks)
    {
        const ConvArgs& conv = *scheduled.nest.conv();
        const std::array<std::int64_t, 3> extents = {conv.outChannels, conv.outHeight(), conv.outWidth()};
        ImageTile tile;
        for (std::size_t i = 0; i < 3; ++i) {
            LATHE_TRY_ASSIGN(const auto sizes, splitSizes(config, knobs[i], 3, extents[i]));
            AxisShare share = shareOfThree(scheduled.nest.spatial[i + 1], extents[i], sizes);
            if (marks[i] == Mark::Vec)
                share.lanes = scheduled.lanesOf(share.inner);
            tile.m_axes[i] = {share, marks[i]};
        }
        return tile;
    }

    const MarkedShare& operator[](std::size_t i) const { return m_axes[i]; }

    /// The stage that stores.
    void emitStore(StepEmitter& emitter, std::int32_t stage) const
    {
        const std::vector<AxisShare> shares = inAxisOrder({m_axes[0].share, m_axes[1].share, m_axes[2].share});
        emitShares(emitter, stage, 4, shares);
        for (std::size_t i = 0; i < shares.size(); ++i)
            for (const MarkedShare& marked : m_axes)
                if (marked.share.axis == shares[i].axis && marked.isUnrolled())
                    emitter.add(AnnotateStep{stage, kInnerLoops + static_cast<std::int32_t>(i), Annotation::Unroll});
    }

    /// Splits what becomes a vector in the stage that sums. Returns the loops of a thread's tile, by axis.
    void splitLanes(StageLoops& sums) const
    {
        for (const MarkedShare& marked : m_axes)
            if (marked.share.lanes > 1)
                sums.split(marked.share.axis, 0, {marked.share.lanes});
    }

    /// Appends vectors to an order of loops: they are innermost whatever the order is.
    void appendLanes(std::vector<LoopPart>& order) const
    {
        for (const MarkedShare& marked : m_axes)
            if (marked.share.lanes > 1)
                order.push_back({marked.share.axis, 1});
    }

    void annotate(StageLoops& sums) const
    {
        for (const MarkedShare& marked : m_axes) {
            if (marked.isUnrolled())
                sums.annotate({marked.share.axis, 0}, Annotation::Unroll);
            if (marked.share.lanes > 1)
                sums.annotate({marked.share.axis, 1}, Annotation::Vectorize);
        }
    }

private:
    std::array<MarkedShare, 3> m_axes;
};

/// The patch of the image that a thread's tile reads, padding and all, where it reads elements of it more than once.
std::vector<StagedOperand> stagePatch(StepEmitter& emitter, const Scheduled& scheduled, std::int32_t& sums)
{
    const ConvArgs& conv = *scheduled.nest.conv();
    if (conv.kernelHeight * conv.kernelWidth == 1)
        return {};
    return stageOperands(emitter, scheduled.dag, {scheduled.nest.padded.op}, Staging::Local, sums);
}

} // namespace

Result<Steps> convStepsMali(const Scheduled& scheduled, const Config& config)
{
    const MatchedNest& nest = scheduled.nest;
    LATHE_TRY_ASSIGN(const ConvArgs conv, convOf(nest));
    LATHE_TRY_ASSIGN(const auto reduceMarks, marksOf(config, "ann_reduce", 2)); // rows and columns of the kernel
    LATHE_TRY_ASSIGN(const auto marks, marksOf(config, "ann_spatial", 3)); // vh, vw, vc
    const auto* const order = std::get_if<ReorderEntity>(config.find("reorder_0"));
    constexpr std::size_t kOuter = 4, kReduce = 3, kLoops = 10; // n co oh ow, ci kh kw, vh vw vc
    if (order == nullptr || order->order.size() != kLoops)
        return makeError(Errc::InvalidArgument, say(Msg::TemplateKnobUnset, "reorder_0"));

    LATHE_TRY_ASSIGN(const ImageTile tile, ImageTile::of(scheduled, config, {"tile_co", "tile_oh", "tile_ow"},
                                                         {marks[2], marks[0], marks[1]}));
    StepEmitter emitter(scheduled.dag.ops.size());
    std::int32_t sums = sumStage(emitter, nest.anchor, nest.owner);
    const auto patch = stagePatch(emitter, scheduled, sums);
    const std::int32_t owner = emitter.stageOf(nest.owner);
    tile.emitStore(emitter, owner);
    emitter.add(ComputeAtStep{sums, owner, kThreadLoop});

    StageLoops loops(emitter, sums, nest.loops);
    tile.splitLanes(loops);
    const std::array<LoopPart, 6> inner = {{{nest.reduce[0], 0},
                                            {nest.reduce[1], 0},
                                            {nest.reduce[2], 0},
                                            {nest.spatial[2], 0},
                                            {nest.spatial[3], 0},
                                            {nest.spatial[1], 0}}};
    std::vector<LoopPart> parts;
    for (const auto place : order->order)
        if (const auto at = static_cast<std::size_t>(place); at >= kOuter && at < kOuter + inner.size())
            parts.push_back(inner[at - kOuter]);
    parts.insert(parts.begin() + kReduce, {nest.spatial[0], 0});
    tile.appendLanes(parts);
    loops.reorder(std::move(parts));
    tile.annotate(loops);
    for (std::size_t i = 0; i < 2; ++i)
        if (reduceMarks[i] == Mark::Unroll)
            loops.annotate({nest.reduce[i + 1], 0}, Annotation::Unroll);
    for (const StagedOperand& operand : patch)
        emitter.add(ComputeAtStep{operand.local, sums, loops.position({nest.reduce[0], 0})});
    if (const std::int64_t block = tile[0].share.inner; conv.outChannels % block == 0)
        packKernel(emitter, nest, 1, block);
    inlineWithBorder(emitter, nest);
    return emitter.take();
}

Result<Steps> depthwiseStepsMali(const Scheduled& scheduled, const Config& config)
{
    const MatchedNest& nest = scheduled.nest;
    LATHE_TRY_ASSIGN(const ConvArgs conv, depthwiseOf(nest));
    LATHE_TRY_ASSIGN(const auto marks, marksOf(config, "ann_spatial", 3)); // the inner parts of c, y, x

    LATHE_TRY_ASSIGN(const ImageTile tile,
                     ImageTile::of(scheduled, config, {"tile_c", "tile_y", "tile_x"}, {marks[0], marks[1], marks[2]}));
    StepEmitter emitter(scheduled.dag.ops.size());
    std::int32_t sums = sumStage(emitter, nest.anchor, nest.owner);
    const auto patch = stagePatch(emitter, scheduled, sums);
    const std::int32_t owner = emitter.stageOf(nest.owner);
    tile.emitStore(emitter, owner);
    emitter.add(ComputeAtStep{sums, owner, kThreadLoop});
    StageLoops loops(emitter, sums, nest.loops);
    tile.splitLanes(loops);
    std::vector<LoopPart> order = {{nest.reduce[1], 0},  {nest.reduce[2], 0},  {nest.spatial[0], 0},
                                   {nest.spatial[1], 0}, {nest.spatial[2], 0}, {nest.spatial[3], 0}};
    tile.appendLanes(order);
    loops.reorder(std::move(order));
    tile.annotate(loops);
    // The kernel is always written out, as far as the code stays short.
    const std::array<std::pair<LoopPart, std::int64_t>, 2> kernel = {
        {{{nest.reduce[1], 0}, conv.kernelHeight}, {{nest.reduce[2], 0}, conv.kernelWidth}}};
    unrollWithin(loops, kernel, cappedProduct({tile[0].share.inner, tile[1].share.inner, tile[2].share.inner}),
                 kMostUnrolled);
    for (const StagedOperand& operand : patch)
        emitter.add(ComputeAtStep{operand.local, owner, kThreadLoop});
    inlineWithBorder(emitter, nest);
    return emitter.take();
}

Result<Steps> denseStepsMali(const Scheduled& scheduled, const Config& config)
{
    const MatchedNest& nest = scheduled.nest;
    LATHE_TRY_ASSIGN(const DenseArgs dense, denseOf(nest));
    LATHE_TRY_ASSIGN(const auto y, splitSizes(config, "tile_y", 3, dense.m));
    LATHE_TRY_ASSIGN(const auto x, splitSizes(config, "tile_x", 3, dense.n));
    LATHE_TRY_ASSIGN(const auto c, splitSizes(config, "c_unroll", 2, dense.k));
    constexpr std::int64_t kMaxUnroll = 32;
    const bool unrolls = y[2] < kMaxUnroll;
    const bool isVector = x[2] >= 2 && x[2] <= 16 && (x[2] & (x[2] - 1)) == 0;
    const std::int64_t lanes = isVector ? scheduled.lanesOf(x[2]) : 1;
    const std::int32_t m = 0, n = 1, depth = 2;
    AxisShare columns = shareOfThree(n, dense.n, x);
    columns.lanes = lanes;

    StepEmitter emitter(scheduled.dag.ops.size());
    const std::int32_t sums = sumStage(emitter, nest.anchor, nest.owner), owner = emitter.stageOf(nest.owner);
    emitShares(emitter, owner, 2, {shareOfThree(m, dense.m, y), columns});
    emitter.add(ComputeAtStep{sums, owner, kThreadLoop});
    StageLoops loops(emitter, sums, nest.loops);
    loops.split(depth, dense.k, {c[1]});
    loops.split(n, 0, {lanes});
    loops.reorder({{depth, 0}, {depth, 1}, {m, 0}, {n, 0}, {n, 1}});
    if (unrolls) {
        emitter.add(AnnotateStep{owner, kInnerLoops, Annotation::Unroll});
        loops.annotate({m, 0}, Annotation::Unroll);
    }
    if (isVector)
        loops.annotate({n, 0}, Annotation::Unroll);
    if (lanes > 1)
        loops.annotate({n, 1}, Annotation::Vectorize);
    if (cappedProduct({c[1], y[2], x[2]}) <= kMostUnrolled)
        loops.annotate({depth, 1}, Annotation::Unroll);
    if (lanes > 1 && dense.n % lanes == 0)
        packRows(emitter, nest, dense, lanes);
    inlineWithBorder(emitter, nest);
    return emitter.take();
}

} // namespace lathe::templates
