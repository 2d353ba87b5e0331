#include "core/search/lathe/step_emitter.h"

#include "core/support/check.h"
#include "core/support/element_count.h"

#include <algorithm>
#include <numeric>

namespace lathe::search {

using namespace schedule;

StepEmitter::StepEmitter(std::size_t operations)
    : m_stageOf(operations)
{
    std::iota(m_stageOf.begin(), m_stageOf.end(), 0);
}

std::int32_t StepEmitter::cacheWrite(std::int32_t op, const char* scope)
{
    add(CacheWriteStep{stageOf(op), scope});
    return insertBefore(op);
}

std::int32_t StepEmitter::rfactor(std::int32_t op, std::int32_t iter, std::int32_t factorIter)
{
    add(RfactorStep{stageOf(op), iter, factorIter});
    return insertBefore(op);
}

std::int32_t StepEmitter::cacheWriteStage(std::int32_t stage, const char* scope)
{
    add(CacheWriteStep{stage, scope});
    insertAt(stage);
    return stage;
}

std::int32_t StepEmitter::cacheRead(std::int32_t op, const char* scope, std::int32_t reader)
{
    const std::int32_t copy = stageOf(op) + 1;
    add(CacheReadStep{stageOf(op), scope, {reader}});
    insertAt(copy);
    return copy;
}

/// A stage came where the operation's was; that and all behind it moved on by one.
std::int32_t StepEmitter::insertBefore(std::int32_t op)
{
    const std::int32_t stage = stageOf(op);
    insertAt(stage);
    return stage;
}

void StepEmitter::insertAt(std::int32_t stage)
{
    for (std::int32_t& s : m_stageOf)
        if (s >= stage)
            ++s;
}

StageLoops::StageLoops(StepEmitter& emitter, std::int32_t stage, std::int32_t axes)
    : m_emitter(emitter)
    , m_stage(stage)
{
    for (std::int32_t a = 0; a < axes; ++a)
        m_loops.push_back({a, 0});
}

std::int32_t StageLoops::position(LoopPart loop) const
{
    const auto found = std::find(m_loops.begin(), m_loops.end(), loop);
    LATHE_CHECK(found != m_loops.end()) << "axis " << loop.axis << " part " << loop.part;
    const auto index = static_cast<std::int32_t>(found - m_loops.begin());
    return index < m_fused ? 0 : index - std::max(0, m_fused - 1);
}

void StageLoops::split(std::int32_t axis, std::int64_t extent, const std::vector<std::int64_t>& lengths)
{
    SplitStep step{m_stage, position({axis, 0}), extent, {}, true};
    for (const std::int64_t length : lengths)
        step.lengths.emplace_back(length);
    m_emitter.add(std::move(step));
    const auto at = std::find(m_loops.begin(), m_loops.end(), LoopPart{axis, 0}) + 1;
    std::vector<LoopPart> parts;
    for (std::size_t i = 1; i <= lengths.size(); ++i)
        parts.push_back({axis, static_cast<std::int32_t>(i)});
    m_loops.insert(at, parts.begin(), parts.end());
}

void StageLoops::cover(std::int32_t axis, std::int64_t extent, const std::vector<std::int64_t>& lengths)
{
    const std::int64_t block = elementCount(lengths);
    if (extent % block == 0) {
        split(axis, extent, lengths);
        return;
    }
    m_emitter.add(OverlapStep{m_stage, position({axis, 0}), block});
    auto at = std::find(m_loops.begin(), m_loops.end(), LoopPart{axis, 0}) + 1;
    at = m_loops.insert(at, {axis, 1});
    if (lengths.size() == 1)
        return;
    SplitStep inner{m_stage, position({axis, 1}), block, {}, true};
    for (std::size_t i = 1; i < lengths.size(); ++i) {
        inner.lengths.emplace_back(lengths[i]);
        at = m_loops.insert(at + 1, {axis, static_cast<std::int32_t>(i) + 1});
    }
    m_emitter.add(std::move(inner));
}

void StageLoops::reorder(std::vector<LoopPart> order)
{
    LATHE_CHECK(order.size() == m_loops.size() && m_fused == 0) << order.size() << " of " << m_loops.size();
    if (order == m_loops)
        return;
    ReorderStep step{m_stage, {}};
    for (const LoopPart& loop : order)
        step.order.push_back(position(loop));
    m_emitter.add(std::move(step));
    m_loops = std::move(order);
}

void StageLoops::annotate(LoopPart loop, Annotation annotation)
{
    m_emitter.add(AnnotateStep{m_stage, position(loop), annotation});
}

void StageLoops::annotateOutermost(Annotation annotation)
{
    m_emitter.add(AnnotateStep{m_stage, 0, annotation});
}

void StageLoops::fuseOuter(std::int32_t count)
{
    if (count < 2)
        return;
    FuseStep step{m_stage, {}};
    for (std::int32_t i = 0; i < count; ++i)
        step.iters.push_back(i);
    m_emitter.add(std::move(step));
    m_fused = count;
}

} // namespace lathe::search
