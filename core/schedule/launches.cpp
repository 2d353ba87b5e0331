#include "core/schedule/launches.h"

#include "core/ir/substitute.h"
#include "core/schedule/warp_shuffles.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace lathe::schedule {

namespace {

using ir::Expr;
using ir::LoopKind;
using ir::Scope;
using ir::Stmt;
using ir::StmtKind;

bool isBlockAxis(LoopKind kind)
{
    return kind >= LoopKind::BlockX && kind <= LoopKind::BlockZ;
}
bool isThreadAxis(LoopKind kind)
{
    return kind >= LoopKind::ThreadX && kind <= LoopKind::ThreadZ;
}

bool bindsThreads(const Iterator& iterator)
{
    return iterator.annotation == Annotation::ThreadX || iterator.annotation == Annotation::ThreadY
           || iterator.annotation == Annotation::ThreadZ;
}
bool bindsBlocks(const Iterator& iterator)
{
    return iterator.annotation == Annotation::BlockX || iterator.annotation == Annotation::BlockY
           || iterator.annotation == Annotation::BlockZ;
}

/// Whether the stage is computed inside of a loop over threads, of any stage around it.
bool isInsideThreads(const Lowering& lowering, std::int32_t id)
{
    while (lowering.stage(id).location == Location::At) {
        const std::int32_t at = lowering.stage(id).attachIter;
        id = lowering.stage(id).attachStage;
        const std::vector<Iterator>& iters = lowering.stage(id).iters;
        if (std::any_of(iters.begin(), iters.begin() + at + 1, &bindsThreads))
            return true;
    }
    return false;
}

/// Iterators of which two, or two iterations of one, come to the same element: those of parts that overlap (OV), and
/// what was made of them.
std::vector<std::int32_t> overlappingIters(const Stage& stage, const StageBounds& bounds)
{
    std::vector<std::int32_t> found;
    for (const IterRelation& relation : stage.relations) {
        const auto isFound = [&found](std::int32_t id) { return std::ranges::find(found, id) != found.end(); };
        const bool overlaps = relation.overlaps
                              && bounds.extents[relation.parents[0]] % bounds.extents[relation.children[1]] != 0;
        if (overlaps || std::ranges::any_of(relation.parents, isFound))
            found.insert(found.end(), relation.children.begin(), relation.children.end());
    }
    return found;
}

class AxisBinder
{
public:
    AxisBinder(Lowering& lowering, ir::Launch& launch)
        : m_lowering(lowering)
        , m_launch(launch)
    {
        for (std::size_t id = 0; id < lowering.program.stages.size(); ++id)
            for (const Expr& leaf : lowering.program.stages[id].leaves)
                m_stageOf[leaf.get()] = static_cast<std::int32_t>(id);
        for (std::size_t id = 0; id < lowering.buffers.size(); ++id)
            for (const std::int32_t buffer : lowering.buffers[id])
                m_ownerOf[buffer] = static_cast<std::int32_t>(id);
    }

    Result<Stmt> run(const Stmt& loops)
    {
        measure(loops);
        constexpr const char* kBlock[] = {"blockIdx.x", "blockIdx.y", "blockIdx.z"};
        constexpr const char* kThread[] = {"threadIdx.x", "threadIdx.y", "threadIdx.z"};
        for (std::size_t d = 0; d < 3; ++d) {
            m_launch.blockIndex[d] = ir::var(kBlock[d]);
            m_launch.threadIndex[d] = ir::var(kThread[d]);
            m_lowering.program.ranges.setExtent(m_launch.blockIndex[d], m_launch.grid[d]);
            m_lowering.program.ranges.setExtent(m_launch.threadIndex[d], m_launch.block[d]);
        }
        Stmt body = rewrite(loops);
        if (!m_problem.empty())
            return makeError(Errc::IllegalSchedule, m_problem);
        return body;
    }

private:
    struct Binding
    {
        std::size_t axis; ///< 0 to 2 of blocks, 3 to 5 of threads
        std::int64_t extent;
        std::int32_t stage;
    };

    std::int64_t& sizeOf(std::size_t axis) { return axis < 3 ? m_launch.grid[axis] : m_launch.block[axis - 3]; }
    const Expr& indexOf(std::size_t axis) const
    {
        return axis < 3 ? m_launch.blockIndex[axis] : m_launch.threadIndex[axis - 3];
    }
    static std::size_t axisOf(LoopKind kind)
    {
        return static_cast<std::size_t>(kind) - static_cast<std::size_t>(LoopKind::BlockX);
    }

    /// An axis is as long as the longest loop that is bound to it.
    void measure(const Stmt& s)
    {
        if (!s)
            return;
        if (s->kind == StmtKind::For && (isBlockAxis(s->loop) || isThreadAxis(s->loop)))
            sizeOf(axisOf(s->loop)) = std::max(sizeOf(axisOf(s->loop)), s->extent->intValue);
        for (const Stmt& inner : s->body)
            measure(inner);
    }

    Stmt rewrite(const Stmt& s)
    {
        if (!s)
            return s;
        if (s->kind == StmtKind::Store || s->kind == StmtKind::Shuffle)
            return store(s);
        if (s->kind == StmtKind::For && (isBlockAxis(s->loop) || isThreadAxis(s->loop))) {
            const std::size_t axis = axisOf(s->loop);
            const auto same = [axis](const Binding& b) { return b.axis == axis; };
            if (axis < 3 && std::ranges::any_of(m_bound, same))
                m_problem = fmt::format("{} is bound by two loops, one inside the other", indexOf(axis)->name);
            const auto stage = m_stageOf.find(s->variable.get()); // none: a step of a sum across threads
            m_bound.push_back({axis, s->extent->intValue, stage != m_stageOf.end() ? stage->second : -1});
            Stmt body = rewrite(ir::substitute(s->body[0], {{s->variable.get(), indexOf(axis)}}));
            m_bound.pop_back();
            return body;
        }
        auto copy = std::make_shared<ir::StmtNode>(*s);
        for (Stmt& inner : copy->body)
            inner = rewrite(inner);
        return copy;
    }

    /// Only threads that the stage has iterations for store. The loops around a shared stage divide the work of the
    /// stages that they belong to, not its own, which all threads of the block do together.
    Stmt store(const Stmt& s)
    {
        const bool isOwn = m_lowering.nest.buffers[static_cast<std::size_t>(s->buffer)].scope == Scope::Part;
        const auto owner = m_ownerOf.find(s->buffer);
        Expr condition;
        std::array<std::int64_t, 3> coming = m_launch.block; // threads that come to it
        const auto demand = [&condition](const Expr& c) { condition = condition ? condition && c : c; };
        for (std::size_t axis = 0; axis < 6; ++axis) {
            if (sizeOf(axis) == 1)
                continue;
            std::optional<std::int64_t> extent;
            for (const Binding& b : m_bound)
                if (b.axis == axis && (isOwn || owner == m_ownerOf.end() || axis < 3 || b.stage == owner->second))
                    extent = b.extent; // the innermost one counts
            if (!extent && !isOwn)
                demand(ir::eq(indexOf(axis), ir::intImm(0)));
            else if (extent && *extent < sizeOf(axis))
                demand(indexOf(axis) < ir::intImm(*extent));
            if (axis >= 3)
                coming[axis - 3] = std::min(extent.value_or(sizeOf(axis)), sizeOf(axis));
        }
        if (s->kind == StmtKind::Shuffle)
            checkLanes(*s, coming);
        return condition ? ir::makeIf(condition, s) : s;
    }

    void checkLanes(const ir::StmtNode& shuffle, const std::array<std::int64_t, 3>& coming)
    {
        const std::string why = whyNoWholeWarps(m_launch.block, coming, shuffle);
        if (!why.empty() && m_problem.empty())
            m_problem = fmt::format("'{}' {}", m_lowering.nest.buffers[static_cast<std::size_t>(shuffle.buffer)].name,
                                    why);
    }

    Lowering& m_lowering;
    ir::Launch& m_launch;
    std::unordered_map<const ir::Node*, std::int32_t> m_stageOf; ///< of a loop variable
    std::unordered_map<std::int32_t, std::int32_t> m_ownerOf; ///< of a buffer
    std::vector<Binding> m_bound; ///< outermost first
    std::string m_problem;
};

} // namespace

Result<> assignThreadScopes(Lowering& lowering)
{
    for (std::size_t i = 0; i < lowering.program.stages.size(); ++i) {
        const auto id = static_cast<std::int32_t>(i);
        const Stage& stage = lowering.stage(id);
        if (!lowering.program.stages[i].active)
            continue;
        const auto extent = [&](const Iterator& iterator) { return lowering.program.stages[i].extents[iterator.id]; };
        const std::vector<std::int32_t> overlapping = overlappingIters(stage, lowering.program.stages[i]);
        for (const Iterator& iterator : stage.iters) {
            if (iterator.annotation == Annotation::Parallel)
                return refuseStage(lowering, id, "has a loop for the cores of a processor");
            if ((bindsBlocks(iterator) || bindsThreads(iterator)) && extent(iterator) > 1
                && std::ranges::find(overlapping, iterator.id) != overlapping.end())
                return refuseStage(lowering, id, "has overlapping parts: two threads would store one element");
            if (iterator.kind != IterKind::Reduction || extent(iterator) == 1)
                continue;
            if (bindsBlocks(iterator) || iterator.annotation == Annotation::VThread)
                return refuseStage(lowering, id, "reduces across blocks or virtual threads");
            if (bindsThreads(iterator) && isInsideThreads(lowering, id))
                return refuseStage(lowering, id, "reduces across threads inside of one");
        }
        if (stage.location == Location::Root)
            continue;
        const bool shared = stage.scope == "shared" || (stage.scope.empty() && !isInsideThreads(lowering, id));
        for (const std::int32_t buffer : lowering.buffers[i])
            if (shared && lowering.nest.buffers[buffer].scope == Scope::Part)
                lowering.nest.buffers[buffer].scope = Scope::Shared;
        if (!shared && std::ranges::any_of(stage.iters, &bindsThreads))
            return refuseStage(lowering, id, "belongs to one thread, but divides its work among threads");
        if (std::ranges::any_of(stage.iters, &bindsBlocks))
            return refuseStage(lowering, id, "is computed inside of another stage, but binds blocks");
    }
    return {};
}

bool fillsWholeTile(const Lowering& lowering, std::int32_t stage)
{
    const Stage& filled = lowering.stage(stage);
    const StageBounds& bounds = lowering.program.stages[static_cast<std::size_t>(stage)];
    if (lowering.form != KernelForm::Launches || !bounds.active || filled.location != Location::At
        || bounds.shapeGuards.empty() || bounds.bodies[0]->kind == ir::ExprKind::Reduce)
        return false;
    for (const std::int32_t buffer : lowering.buffers[static_cast<std::size_t>(stage)])
        if (lowering.nest.buffers[static_cast<std::size_t>(buffer)].scope != Scope::Shared)
            return false;
    const auto isLane = [&](const ir::Node* v) {
        for (std::size_t i = 0; i < filled.iters.size(); ++i)
            if (bounds.leaves[i].get() == v)
                return filled.iters[i].annotation == Annotation::Vectorize;
        return false;
    };
    return std::ranges::none_of(bounds.shapeGuards, [&](const Expr& guard) { return ir::usesAny(guard, isLane); });
}

Result<ir::Launch> bindAxes(Lowering& lowering, std::int32_t stage, const ir::Stmt& loops)
{
    ir::Launch launch;
    launch.name = lowering.op(stage).name;
    launch.leastBlocks = lowering.stage(stage).leastBlocks;
    LATHE_TRY_ASSIGN(launch.body, AxisBinder(lowering, launch).run(loops));
    return launch;
}

} // namespace lathe::schedule
