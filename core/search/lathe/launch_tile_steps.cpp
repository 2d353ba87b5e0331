#include "core/ir/bounds.h"
#include "core/search/lathe/launch_tile_part.h"
#include "core/support/element_count.h"

#include <algorithm>
#include <numeric>

namespace lathe::search {

using namespace schedule;

namespace {

constexpr std::int32_t kThreads = 2; ///< position of the loop over threads in an owner's tile
constexpr std::int64_t kMostRounds = 16; ///< of a fetch that are written out
constexpr std::int64_t kAddingThreads = 64; ///< of a block of the launch that adds pieces of sums

void fuse(StepEmitter& emitter, std::int32_t stage, std::int32_t first, std::int32_t count)
{
    if (count < 2)
        return;
    FuseStep step{stage, {}};
    for (std::int32_t i = 0; i < count; ++i)
        step.iters.push_back(first + i);
    emitter.add(std::move(step));
}

} // namespace

/// Loops of the stage that stores what threads have: blocks, virtual threads, threads, then what a thread has. Axes of
/// the operation begin at `first` of the stage's; those before are of blocks. The positions are then 0 to 2, 3 ...
void LaunchTilePart::emitOwnerTile(const Choice& c, std::int32_t stage, std::size_t first, StepEmitter& emitter) const
{
    const auto axes = static_cast<std::int32_t>(first + m_rank);
    StageLoops loops(emitter, stage, axes);
    std::vector<LoopPart> order;
    for (std::int32_t a = 0; a < axes; ++a)
        order.push_back({a, 0});
    for (const std::size_t a : m_tiled) {
        std::vector<std::int64_t> lengths = {c.virtuals[a], c.threads[a], c.sums[a]};
        if (a == m_vector)
            lengths.push_back(c.lanes);
        loops.split(static_cast<std::int32_t>(first + a), m_op.shape[a], lengths);
    }
    for (const std::int32_t part : {1, 2, 3})
        for (const std::size_t a : m_tiled)
            order.push_back({static_cast<std::int32_t>(first + a), part});
    order.push_back({static_cast<std::int32_t>(first + m_vector), 4});
    loops.reorder(order);
    const auto tiled = static_cast<std::int32_t>(m_tiled.size());
    fuse(emitter, stage, 0, axes);
    fuse(emitter, stage, 1, tiled);
    fuse(emitter, stage, 2, tiled);
    emitter.add(AnnotateStep{stage, 0, Annotation::BlockX});
    if (elementCount(c.virtuals) > 1)
        emitter.add(AnnotateStep{stage, 1, Annotation::VThread});
    emitter.add(AnnotateStep{stage, kThreads, Annotation::ThreadX});
    for (std::int32_t i = 0; i < tiled; ++i)
        emitter.add(AnnotateStep{stage, kThreads + 1 + i, Annotation::Unroll});
    if (c.lanes > 1)
        emitter.add(AnnotateStep{stage, kThreads + 1 + tiled, Annotation::Vectorize});
    if (c.room > 0)
        emitter.add(LeastBlocksStep{stage, static_cast<std::int32_t>(c.room)});
}

/// Divides the reduce axes, of which the first is the loop `first`. Steps whose elements are loaded at once stand
/// inside of the sums: a text of CUDA loads them as vectors there, and compilers that join loads by themselves do so
/// only if few others are between (NVIDIA's: some sixty).
LaunchTilePart::StepLoops LaunchTilePart::splitSteps(const Choice& c, std::int32_t first, StageLoops& loops) const
{
    const std::vector<std::int64_t> together = stepsTogether(c);
    const std::vector<std::size_t> unrolled = unrolledAxes(c);
    StepLoops parts;
    for (std::size_t r = 0; r < m_reduces; ++r) {
        const std::int32_t axis = first + static_cast<std::int32_t>(r);
        const std::int64_t steps = c.steps[r], own = together[r];
        const bool isDivided = own > 1 && own < steps;
        if (isDivided)
            loops.split(axis, length(c, r), {steps / own, own});
        else
            loops.split(axis, length(c, r), {steps});
        parts.outer.push_back({axis, 0});
        (own > 1 && !isDivided ? parts.innermost : parts.inner).push_back({axis, 1});
        if (isDivided)
            parts.innermost.push_back({axis, 2});
        if (steps == 1 || std::ranges::count(unrolled, r) == 0)
            continue;
        parts.written.push_back({axis, 1});
        if (isDivided)
            parts.written.push_back({axis, 2});
    }
    return parts;
}

/// Loops of the sums of a thread, for a stage that is computed there: outer steps, inner steps, sums, lanes.
void LaunchTilePart::emitSums(const Choice& c, std::int32_t stage, std::size_t first, StepEmitter& emitter) const
{
    const auto axes = static_cast<std::int32_t>(first + m_rank), reduces = static_cast<std::int32_t>(m_reduces);
    StageLoops loops(emitter, stage, axes + reduces);
    const auto vector = static_cast<std::int32_t>(first + m_vector);
    loops.split(vector, 0, {c.lanes});
    const StepLoops steps = splitSteps(c, axes, loops);
    std::vector<LoopPart> order = steps.outer;
    order.insert(order.end(), steps.inner.begin(), steps.inner.end());
    for (std::int32_t a = 0; a < axes; ++a)
        order.push_back({a, 0});
    order.insert(order.end(), steps.innermost.begin(), steps.innermost.end());
    order.push_back({vector, 1});
    loops.reorder(order);
    for (const LoopPart& loop : steps.written)
        loops.annotate(loop, Annotation::Unroll);
    for (std::int32_t a = 0; a < axes; ++a)
        loops.annotate({a, 0}, Annotation::Unroll);
    if (c.lanes > 1)
        loops.annotate({vector, 1}, Annotation::Vectorize);
    if (c.stages > 1) // tiles of steps to come go on over the ends of all axes but the outermost
        loops.fuseOuter(reduces);
}

/// A tile that the threads of a block fetch together: in the order of the memory that it comes from.
void LaunchTilePart::emitShared(const Choice& c, std::size_t operand, std::int32_t stage, std::int32_t reader,
                                std::int32_t at, StepEmitter& emitter) const
{
    const std::vector<std::int32_t> order = c.turn != 0 ? packedOrder(operand) : memoryOrder(c, operand);
    const auto rank = static_cast<std::int32_t>(order.size());
    if (order != naturalOrder(operand)) {
        LayoutStep layout{stage, {}};
        for (const std::int32_t d : order)
            layout.axes.push_back({d, 1, m_operands[operand].shape[static_cast<std::size_t>(d)]});
        emitter.add(std::move(layout));
    }
    if (c.padding > 0 && rank > 1)
        emitter.add(PadStrideStep{stage, rank - 2, c.padding});
    emitter.add(ComputeAtStep{stage, reader, at});
    if (const std::vector<std::int32_t> walk = memoryOrder(c, operand); walk != naturalOrder(operand))
        emitter.add(ReorderStep{stage, walk});
    fuse(emitter, stage, 0, rank);
    emitter.add(SplitStep{stage, 0, 0, {threads(c), c.fetch}, true});
    emitter.add(AnnotateStep{stage, 1, Annotation::ThreadX});
    const Box b = box(c, operand);
    const std::int64_t rounds = ir::ceilDivide(elementCount(b.shape), threads(c) * c.fetch);
    if (rounds <= kMostRounds)
        emitter.add(AnnotateStep{stage, 0, Annotation::Unroll});
    if (c.fetch > 1)
        emitter.add(AnnotateStep{stage, 2, Annotation::Vectorize});
    if (c.stages > 1)
        emitter.add(StagesStep{stage, static_cast<std::int32_t>(c.stages)});
}

void LaunchTilePart::emitPacking(StepEmitter& emitter) const
{
    const Operand& weight = m_operands[static_cast<std::size_t>(m_weight)];
    LayoutStep layout{emitter.stageOf(weight.producer), {}};
    for (const std::int32_t d : packedOrder(static_cast<std::size_t>(m_weight)))
        layout.axes.push_back({d, 1, weight.shape[static_cast<std::size_t>(d)]});
    emitter.add(std::move(layout));
}

/// The reduction in pieces: the stage of pieces, [slice, axes]; the operation's own stage adds them.
std::int32_t LaunchTilePart::emitPieces(const Choice& c, StepEmitter& emitter) const
{
    const auto at = static_cast<std::int32_t>(m_rank + m_long);
    emitter.add(SplitStep{emitter.stageOf(m_anchor), at, m_op.reduceExtents[m_long], {length(c, m_long)}, true});
    return emitter.rfactor(m_anchor, at, 0);
}

/// Stages of the operands that go through shared memory to `sums`, which get later numbers.
std::vector<LaunchTilePart::StagedTile> LaunchTilePart::stage(const Choice& c, std::int32_t& sums,
                                                              StepEmitter& emitter) const
{
    // Later tensors first, so that those still to come keep their numbers.
    std::vector<std::size_t> staged;
    for (std::size_t i = 0; i < m_operands.size(); ++i)
        if (isStaged(c, i))
            staged.push_back(i);
    std::sort(staged.begin(), staged.end(),
              [this](std::size_t a, std::size_t b) { return m_operands[a].producer > m_operands[b].producer; });
    std::vector<StagedTile> tiles;
    for (const std::size_t i : staged) {
        for (StagedTile& other : tiles)
            ++other.stage;
        tiles.push_back({i, emitter.cacheRead(m_operands[i].producer, "shared", sums)});
        ++sums;
    }
    return tiles;
}

void LaunchTilePart::emitWhole(const Choice& c, StepEmitter& emitter) const
{
    std::int32_t sums = m_owner == m_anchor ? emitter.cacheWrite(m_anchor, "local") : emitter.stageOf(m_anchor);
    const std::vector<StagedTile> tiles = stage(c, sums, emitter);
    const std::int32_t owner = emitter.stageOf(m_owner);
    emitOwnerTile(c, owner, 0, emitter);
    emitter.add(ComputeAtStep{sums, owner, kThreads});
    emitSums(c, sums, 0, emitter);
    for (const StagedTile& tile : tiles)
        emitShared(c, tile.operand, tile.stage, sums, outerSteps(c) - 1, emitter);
}

void LaunchTilePart::emitSplit(const Choice& c, StepEmitter& emitter) const
{
    // What adds the pieces, with the epilogue.
    emitPieces(c, emitter);
    const std::int32_t sum = emitter.stageOf(m_anchor), owner = emitter.stageOf(m_owner);
    if (m_owner == m_anchor) {
        emitLaunchMap(emitter, sum, m_op.shape, 1, 1, kAddingThreads, 1);
    } else {
        emitLaunchMap(emitter, owner, m_op.shape, 1, 1, kAddingThreads);
        emitter.add(ComputeAtStep{sum, owner, kMapThreads});
    }
    // The pieces.
    std::int32_t sums = emitter.cacheWriteStage(sum - 1, "local");
    const std::vector<StagedTile> tiles = stage(c, sums, emitter);
    emitOwnerTile(c, sums + 1, 1, emitter);
    emitter.add(ComputeAtStep{sums, sums + 1, kThreads});
    emitSums(c, sums, 1, emitter);
    for (const StagedTile& tile : tiles)
        emitShared(c, tile.operand, tile.stage, sums, outerSteps(c) - 1, emitter);
}

void LaunchTilePart::emitSlices(const Choice& c, StepEmitter& emitter) const
{
    emitPieces(c, emitter);
    const std::int32_t sum = m_owner == m_anchor ? emitter.cacheWrite(m_anchor, "local") : emitter.stageOf(m_anchor);
    const std::int32_t owner = emitter.stageOf(m_owner), pieces = sum - 1;
    const auto rank = static_cast<std::int32_t>(m_rank), vector = static_cast<std::int32_t>(m_vector);
    emitOwnerTile(c, owner, 0, emitter);

    // Threads of the tile add the pieces of their sums.
    emitter.add(ComputeAtStep{sum, owner, kThreads});
    StageLoops adding(emitter, sum, rank + 1);
    adding.split(vector, 0, {c.lanes});
    std::vector<LoopPart> order = {{rank, 0}};
    for (std::int32_t a = 0; a < rank; ++a)
        order.push_back({a, 0});
    order.push_back({vector, 1});
    adding.reorder(order);
    for (std::int32_t a = 0; a < rank; ++a)
        adding.annotate({a, 0}, Annotation::Unroll);
    if (c.lanes > 1)
        adding.annotate({vector, 1}, Annotation::Vectorize);

    // All threads sum up pieces.
    emitter.add(ComputeAtStep{pieces, owner, 0});
    const auto reduces = static_cast<std::int32_t>(m_reduces);
    StageLoops loops(emitter, pieces, 1 + rank + reduces);
    for (const std::size_t a : m_tiled) {
        std::vector<std::int64_t> lengths = {c.sums[a]};
        if (a == m_vector)
            lengths.push_back(c.lanes);
        loops.split(static_cast<std::int32_t>(1 + a), 0, lengths);
    }
    const StepLoops steps = splitSteps(c, 1 + rank, loops);
    order.clear();
    for (std::int32_t a = 0; a <= rank; ++a)
        order.push_back({a, 0});
    order.insert(order.end(), steps.outer.begin(), steps.outer.end());
    order.insert(order.end(), steps.inner.begin(), steps.inner.end());
    for (const std::size_t a : m_tiled)
        order.push_back({static_cast<std::int32_t>(1 + a), 1});
    order.insert(order.end(), steps.innermost.begin(), steps.innermost.end());
    order.push_back({1 + vector, 2});
    loops.reorder(order);
    for (const LoopPart& loop : steps.written)
        loops.annotate(loop, Annotation::Unroll);
    for (const std::size_t a : m_tiled)
        loops.annotate({static_cast<std::int32_t>(1 + a), 1}, Annotation::Unroll);
    if (c.lanes > 1)
        loops.annotate({1 + vector, 2}, Annotation::Vectorize);
    loops.fuseOuter(1 + rank);
    loops.annotateOutermost(Annotation::ThreadX);
}

void LaunchTilePart::emit(std::span<const std::int32_t> genes, StepEmitter& emitter) const
{
    if (m_tiled.empty())
        return; // one sum, of one thread
    const Choice c = decode(genes);
    switch (m_form) {
    case LaunchForm::Split:
    case LaunchForm::SplitShared: emitSplit(c, emitter); break;
    case LaunchForm::Slices: emitSlices(c, emitter); break;
    default: emitWhole(c, emitter);
    }
    if (c.pack != 0)
        emitPacking(emitter);
}

} // namespace lathe::search
