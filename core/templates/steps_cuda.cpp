// The schedules of the reference's templates for GPUs (autotvm.md 3.2), winograd apart. Splits in four are [blocks,
// virtual threads, threads, inner].

#include "core/templates/launch_emitter.h"

#include <algorithm>

namespace lathe::templates {
namespace {

using schedule::Annotation;
using schedule::ComputeAtStep;
using schedule::Step;
using search::LoopPart;
using search::StageLoops;
using search::StepEmitter;

using Steps = std::vector<Step>;

/// Of channels, rows and columns. Errors: InvalidArgument, with the knob.
Result<std::vector<AxisShare>> imageShares(const MatchedNest& nest, const ConvArgs& conv, const Config& config)
{
    LATHE_TRY_ASSIGN(const auto f, splitSizes(config, "tile_f", 4, conv.outChannels));
    LATHE_TRY_ASSIGN(const auto y, splitSizes(config, "tile_y", 4, conv.outHeight()));
    LATHE_TRY_ASSIGN(const auto x, splitSizes(config, "tile_x", 4, conv.outWidth()));
    return inAxisOrder({shareOfFour(nest.spatial[1], conv.outChannels, f),
                        shareOfFour(nest.spatial[2], conv.outHeight(), y),
                        shareOfFour(nest.spatial[3], conv.outWidth(), x)});
}

} // namespace

Result<std::int64_t> autoUnrollSteps(const Config& config)
{
    LATHE_TRY_ASSIGN(const std::int64_t steps, optionOf(config, "auto_unroll_max_step"));
    LATHE_TRY_ASSIGN(const std::int64_t isExplicit, optionOf(config, "unroll_explicit"));
    return isExplicit != 0 ? std::clamp<std::int64_t>(steps, 0, kMostAutoUnrolled) : 0;
}

Result<Steps> convStepsCuda(const Scheduled& scheduled, const Config& config)
{
    const MatchedNest& nest = scheduled.nest;
    LATHE_TRY_ASSIGN(const ConvArgs conv, convOf(nest));
    LATHE_TRY_ASSIGN(const auto rc, splitSizes(config, "tile_rc", 2, conv.inChannels));
    LATHE_TRY_ASSIGN(const auto ry, splitSizes(config, "tile_ry", 2, conv.kernelHeight));
    LATHE_TRY_ASSIGN(const auto rx, splitSizes(config, "tile_rx", 2, conv.kernelWidth));
    LATHE_TRY_ASSIGN(const std::int64_t unrolled, autoUnrollSteps(config));
    LATHE_TRY_ASSIGN(const std::vector<AxisShare> shares, imageShares(nest, conv, config));

    StepEmitter emitter(scheduled.dag.ops.size());
    std::int32_t sums = sumStage(emitter, nest.anchor, nest.owner);
    const auto staged = stageOperands(emitter, scheduled.dag, operandsOf(scheduled.dag, nest.anchor), Staging::Shared,
                                      sums);
    const std::int32_t owner = emitter.stageOf(nest.owner);
    emitShares(emitter, owner, 4, shares);
    const std::int64_t unrolledOfEach = unrolled / virtualThreadsOf(shares);
    emitUnrolling(emitter, owner, unrolledOfEach);
    emitter.add(ComputeAtStep{sums, owner, kThreadLoop});

    StageLoops loops(emitter, sums, nest.loops);
    loops.split(nest.reduce[0], conv.inChannels, {rc[1]});
    loops.split(nest.reduce[1], conv.kernelHeight, {ry[1]});
    loops.split(nest.reduce[2], conv.kernelWidth, {rx[1]});
    std::vector<LoopPart> order;
    for (const std::int32_t part : {0, 1})
        for (const std::int32_t r : nest.reduce)
            order.push_back({r, part});
    for (std::int32_t a = 0; a < 4; ++a)
        order.push_back({a, 0});
    loops.reorder(std::move(order));
    emitUnrolling(emitter, sums, unrolledOfEach);
    for (const StagedOperand& operand : staged)
        emitFetch(emitter, operand, sums, loops.position({nest.reduce[2], 0}), threadsOf(shares), unrolled);
    inlineWithBorder(emitter, nest);
    return emitter.take();
}

Result<Steps> depthwiseStepsCuda(const Scheduled& scheduled, const Config& config)
{
    const MatchedNest& nest = scheduled.nest;
    LATHE_TRY_ASSIGN(const ConvArgs conv, depthwiseOf(nest));
    LATHE_TRY_ASSIGN(const std::int64_t unrolled, autoUnrollSteps(config));
    LATHE_TRY_ASSIGN(const std::vector<AxisShare> shares, imageShares(nest, conv, config));

    // Operands come to the block once, and from there to the registers of the threads that use them.
    StepEmitter emitter(scheduled.dag.ops.size());
    std::int32_t sums = sumStage(emitter, nest.anchor, nest.owner);
    const auto staged = stageOperands(emitter, scheduled.dag, operandsOf(scheduled.dag, nest.anchor),
                                      Staging::SharedAndLocal, sums);
    const std::int32_t owner = emitter.stageOf(nest.owner);
    emitShares(emitter, owner, 4, shares);
    const std::int64_t unrolledOfEach = unrolled / virtualThreadsOf(shares);
    emitUnrolling(emitter, owner, unrolledOfEach);
    emitter.add(ComputeAtStep{sums, owner, kThreadLoop});
    StageLoops loops(emitter, sums, nest.loops);
    std::vector<LoopPart> order;
    for (const std::int32_t r : nest.reduce)
        if (r >= 0)
            order.push_back({r, 0});
    for (std::int32_t a = 0; a < 4; ++a)
        order.push_back({a, 0});
    loops.reorder(std::move(order));
    emitUnrolling(emitter, sums, unrolledOfEach);
    for (const StagedOperand& operand : staged) {
        emitter.add(ComputeAtStep{operand.local, owner, kThreadLoop});
        emitUnrolling(emitter, operand.local, unrolledOfEach);
        emitFetch(emitter, operand, owner, kBlockLoop, threadsOf(shares), unrolled);
    }
    inlineWithBorder(emitter, nest);
    return emitter.take();
}

Result<Steps> denseSmallBatchSteps(const Scheduled& scheduled, const Config& config)
{
    const MatchedNest& nest = scheduled.nest;
    LATHE_TRY_ASSIGN(const DenseArgs dense, denseOf(nest));
    LATHE_TRY_ASSIGN(const auto k, splitSizes(config, "tile_k", 2, dense.k));

    // A block for each element of the result: its threads add up parts of the sum, then each other's.
    StepEmitter emitter(scheduled.dag.ops.size());
    const std::int32_t sums = emitter.stageOf(nest.anchor), owner = emitter.stageOf(nest.owner);
    emitter.add(schedule::FuseStep{owner, {0, 1}});
    emitter.add(schedule::AnnotateStep{owner, 0, Annotation::BlockX});
    std::int32_t depth = 1;
    if (owner != sums) {
        emitter.add(ComputeAtStep{sums, owner, 0});
        depth = 2;
    }
    emitter.add(schedule::SplitStep{sums, depth, dense.k, {k[1]}, true});
    emitter.add(schedule::AnnotateStep{sums, depth + 1, Annotation::ThreadX});
    inlineWithBorder(emitter, nest);
    return emitter.take();
}

Result<Steps> denseLargeBatchSteps(const Scheduled& scheduled, const Config& config)
{
    const MatchedNest& nest = scheduled.nest;
    LATHE_TRY_ASSIGN(const DenseArgs dense, denseOf(nest));
    LATHE_TRY_ASSIGN(const auto x, splitSizes(config, "tile_x", 4, dense.m));
    LATHE_TRY_ASSIGN(const auto y, splitSizes(config, "tile_y", 4, dense.n));
    LATHE_TRY_ASSIGN(const auto k, splitSizes(config, "tile_k", 3, dense.k));
    const std::int32_t m = 0, n = 1, depth = 2;
    const std::vector<AxisShare> shares = {shareOfFour(m, dense.m, x), shareOfFour(n, dense.n, y)};

    StepEmitter emitter(scheduled.dag.ops.size());
    std::int32_t sums = sumStage(emitter, nest.anchor, nest.owner);
    const auto staged = stageOperands(emitter, scheduled.dag, operandsOf(scheduled.dag, nest.anchor),
                                      Staging::SharedAndLocal, sums);
    const std::int32_t owner = emitter.stageOf(nest.owner);
    emitShares(emitter, owner, 2, shares);
    emitter.add(ComputeAtStep{sums, owner, kThreadLoop});
    StageLoops loops(emitter, sums, nest.loops);
    loops.split(depth, dense.k, {k[1], k[2]});
    loops.reorder({{depth, 0}, {depth, 1}, {m, 0}, {n, 0}, {depth, 2}});
    // The middle steps are written out as far as that makes no kernel that is too long.
    const std::int64_t written = cappedProduct({virtualThreadsOf(shares), x[3], y[3], k[1], k[2]});
    if (k[1] > 1 && written <= kMostAutoUnrolled)
        loops.annotate({depth, 1}, Annotation::Unroll);
    for (const StagedOperand& operand : staged) {
        emitter.add(ComputeAtStep{operand.local, sums, loops.position({depth, 1})});
        emitFetch(emitter, operand, sums, loops.position({depth, 0}), threadsOf(shares), 0);
    }
    inlineWithBorder(emitter, nest);
    return emitter.take();
}

} // namespace lathe::templates
