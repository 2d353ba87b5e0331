#include "core/ir/substitute.h"
#include "core/schedule/dag_rewrite.h"
#include "core/schedule/iteration.h"
#include "core/schedule/state_edit.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>

namespace lathe::schedule {

namespace {

template<typename... Args>
Error illegalStage(fmt::format_string<Args...> text, Args&&... args)
{
    return makeError(Errc::IllegalSchedule, fmt::format(text, std::forward<Args>(args)...));
}

constexpr std::size_t kMaxStages = 256; ///< more is a damaged record

} // namespace

void StateEdit::insertStage(compute::DagPtr dag, std::int32_t position)
{
    m_state.m_dag = std::move(dag);
    m_stages.insert(m_stages.begin() + position, freshStage(*m_state.m_dag, position));
    for (std::size_t i = 0; i < m_stages.size(); ++i) {
        Stage& stage = m_stages[i];
        stage.op = static_cast<std::int32_t>(i);
        if (static_cast<std::int32_t>(i) == position)
            continue;
        if (stage.attachStage >= position)
            stage.attachStage += 1;
        for (Stage::Prefetch& prefetch : stage.prefetches)
            prefetch.source += prefetch.source >= position ? 1 : 0;
    }
}

Result<> StateEdit::operator()(const CacheReadStep& step)
{
    LATHE_TRY(checkStage(step.stage));
    if (m_stages[step.stage].location == Location::Inlined)
        return illegalStage("'{}' is inlined", name(step.stage));
    if (m_stages.size() >= kMaxStages || step.readers.empty() || step.scope.empty())
        return illegalStage("a cache of '{}' needs a scope and readers", name(step.stage));
    for (const std::int32_t reader : step.readers)
        LATHE_TRY(checkStage(reader));
    LATHE_TRY_ASSIGN(compute::DagPtr dag, cacheRead(m_state.m_dag, step.stage, step.scope, step.readers));
    insertStage(std::move(dag), step.stage + 1);
    m_stages[step.stage + 1].scope = step.scope;
    return {};
}

Result<> StateEdit::operator()(const CacheWriteStep& step)
{
    LATHE_TRY(checkComputed(step.stage));
    if (m_stages.size() >= kMaxStages || step.scope.empty())
        return illegalStage("a cache of '{}' needs a scope", name(step.stage));
    if (attachedAnywhere(step.stage))
        return illegalStage("a stage is attached to '{}' before its cache was made", name(step.stage));
    LATHE_TRY_ASSIGN(compute::DagPtr dag, cacheWrite(m_state.m_dag, step.stage, step.scope));
    insertStage(std::move(dag), step.stage);
    m_stages[step.stage].scope = step.scope;
    // The copy starts anew; how its tensor lies in memory was said of the tensor and stays.
    Stage& old = m_stages[step.stage + 1];
    Stage copy = freshStage(*m_state.m_dag, step.stage + 1);
    copy.layout = std::move(old.layout);
    copy.strideParts = std::move(old.strideParts);
    old = std::move(copy);
    return {};
}

Result<> StateEdit::operator()(const RfactorStep& step)
{
    LATHE_TRY(checkIter(step.stage, step.iter));
    if (attachedAnywhere(step.stage) || m_stages.size() >= kMaxStages)
        return illegalStage("a stage is attached to '{}' before it was factored", name(step.stage));
    // An open split before an rfactor counts as 1 until a genome fills it: a sketch only needs the stages that come of
    // it.
    Stage factored = m_stages[step.stage];
    for (IterRelation& relation : factored.relations)
        for (auto& length : relation.lengths)
            length = length.value_or(1);
    LATHE_TRY_ASSIGN(compute::DagPtr dag, rfactor(m_state.m_dag, factored, step.iter, step.factorIter));
    insertStage(std::move(dag), step.stage);
    m_stages[step.stage + 1] = freshStage(*m_state.m_dag, step.stage + 1);
    return {};
}

Result<> StateEdit::operator()(const LayoutStep& step)
{
    LATHE_TRY(checkStage(step.stage));
    const std::vector<std::int64_t>& shape = m_state.m_dag->ops[step.stage].shape;
    if (step.axes.empty() || step.axes.size() > 24)
        return illegalStage("a layout of '{}' has 1 to 24 axes", name(step.stage));
    std::int64_t elements = 1;
    for (const LayoutStep::Axis& axis : step.axes)
        elements = axis.div > kMaxExtent ? kMaxExtent + 1
                                         : cappedProduct(elements, std::max<std::int64_t>(axis.extent, 1));
    if (elements > kMaxExtent)
        return illegalStage("the layout of '{}' has more than 2^40 elements", name(step.stage));
    // Each dimension must be covered: sorted by div, every axis begins where the one inside it ends.
    for (std::size_t d = 0; d < shape.size(); ++d) {
        std::vector<LayoutStep::Axis> axes;
        std::copy_if(step.axes.begin(), step.axes.end(), std::back_inserter(axes),
                     [d](const LayoutStep::Axis& a) { return a.dim == static_cast<std::int32_t>(d); });
        std::sort(axes.begin(), axes.end(),
                  [](const auto& a, const auto& b) { return a.div != b.div ? a.div < b.div : a.extent < b.extent; });
        std::int64_t reach = 1;
        for (const LayoutStep::Axis& axis : axes) {
            if (axis.extent == 1)
                continue;
            if (axis.div != reach)
                return illegalStage("the layout of '{}' leaves a hole or overlaps in dimension {}", name(step.stage),
                                    d);
            reach = cappedProduct(reach, axis.extent);
        }
        if (reach < shape[d])
            return illegalStage("the layout of '{}' covers {} of {} in dimension {}", name(step.stage), reach, shape[d],
                                d);
    }
    for (const LayoutStep::Axis& axis : step.axes)
        if (axis.dim < 0 || axis.dim >= static_cast<std::int32_t>(shape.size()) || axis.div < 1 || axis.extent < 1)
            return illegalStage("the layout of '{}' has an axis of dimension {}", name(step.stage), axis.dim);
    m_stages[step.stage].layout = step.axes;
    return {};
}

Result<> StateEdit::operator()(const PartitionStep& step)
{
    LATHE_TRY(checkIter(step.stage, step.iter));
    m_stages[step.stage].iters[step.iter].partition = true;
    return {};
}

Result<> StateEdit::operator()(const ShuffleStep& step)
{
    LATHE_TRY(checkIter(step.stage, step.iter));
    Iterator& iter = m_stages[step.stage].iters[step.iter];
    if (iter.kind != IterKind::Reduction)
        return illegalStage("{} of '{}' is not summed over: its threads have no parts to exchange", iter.name,
                            name(step.stage));
    if (step.warp < 2 || !std::has_single_bit(static_cast<std::uint32_t>(step.warp)))
        return illegalStage("{} of '{}' exchanges parts in warps of {} lanes, which is no power of two", iter.name,
                            name(step.stage), step.warp);
    iter.warp = step.warp;
    return {};
}

Result<> StateEdit::operator()(const PrefetchStep& step)
{
    LATHE_TRY(checkIter(step.stage, step.iter));
    LATHE_TRY(checkStage(step.source));
    // Directly, or through stages that are inlined (a padding, say).
    const std::function<bool(std::int32_t)> reads = [&](std::int32_t stage) {
        bool found = false;
        for (const ir::Expr& body : m_state.m_dag->ops[stage].bodies)
            ir::visit(body, [&](const ir::Expr& e) {
                if (e->kind == ir::ExprKind::Load)
                    found = found || e->source == step.source
                            || (m_stages[e->source].location == Location::Inlined && reads(e->source));
            });
        return found;
    };
    if (!reads(step.stage))
        return illegalStage("'{}' does not read '{}', so there is nothing to prefetch", name(step.stage),
                            name(step.source));
    Stage& stage = m_stages[step.stage];
    stage.prefetches.push_back({stage.iters[step.iter].id, step.source, step.distanceBytes});
    return {};
}

Result<> StateEdit::operator()(const PadStrideStep& step)
{
    LATHE_TRY(checkStage(step.stage));
    const std::size_t rank = m_stages[step.stage].layout.empty() ? m_state.m_dag->ops[step.stage].shape.size()
                                                                 : m_stages[step.stage].layout.size();
    if (step.dim < 0 || step.dim >= static_cast<std::int32_t>(rank) || step.elements < 0)
        return illegalStage("'{}' has no dimension {} to pad", name(step.stage), step.dim);
    m_stages[step.stage].strideParts.emplace_back(step.dim, step.elements);
    return {};
}

Result<> StateEdit::operator()(const StagesStep& step)
{
    LATHE_TRY(checkComputed(step.stage));
    const compute::Op& op = m_state.m_dag->ops[step.stage];
    if (m_stages[step.stage].scope != "shared" || op.bodies.size() != 1 || op.bodies[0]->kind != ir::ExprKind::Load)
        return illegalStage("'{}' is no copy in shared memory, which alone is filled ahead", op.name);
    if (step.count < 2 || step.count > StagesStep::kMost)
        return illegalStage("'{}' has 2 to {} slices where it is filled ahead, not {}", op.name, StagesStep::kMost,
                            step.count);
    m_stages[step.stage].slices = step.count;
    return {};
}

Result<> StateEdit::operator()(const LeastBlocksStep& step)
{
    LATHE_TRY(checkComputed(step.stage));
    if (m_stages[step.stage].location != Location::Root)
        return illegalStage("'{}' has no launch of its own, of which blocks could be counted", name(step.stage));
    if (step.count < 1 || step.count > LeastBlocksStep::kMost)
        return illegalStage("'{}' has room for 1 to {} blocks, not {}", name(step.stage), LeastBlocksStep::kMost,
                            step.count);
    m_stages[step.stage].leastBlocks = step.count;
    return {};
}

Result<> StateEdit::operator()(const FoldStep& step)
{
    LATHE_TRY(checkComputed(step.stage));
    if (m_stages[step.stage].location != Location::At)
        return illegalStage("'{}' is folded but not attached to a consumer's loop", name(step.stage));
    if (step.dim < 0 || step.dim >= static_cast<std::int32_t>(m_state.m_dag->ops[step.stage].shape.size())
        || step.rows < 1)
        return illegalStage("'{}' has no dimension {} to fold", name(step.stage), step.dim);
    m_stages[step.stage].foldDim = step.dim;
    m_stages[step.stage].foldRows = step.rows;
    return {};
}

} // namespace lathe::schedule
