#pragma once

#include "core/schedule/step.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace lathe::search {

/// Collects steps and keeps track of which stage each operation of the base DAG is, while cache stages are added.
class StepEmitter
{
public:
    explicit StepEmitter(std::size_t operations);

    std::int32_t stageOf(std::int32_t op) const { return m_stageOf[static_cast<std::size_t>(op)]; }
    void add(schedule::Step step) { m_steps.push_back(std::move(step)); }
    void inlineOp(std::int32_t op) { add(schedule::ComputeInlineStep{stageOf(op)}); }
    /// Adds a cache write; returns the stage that computes (the operation's own stage is the copy from now on).
    std::int32_t cacheWrite(std::int32_t op, const char* scope);
    /// The same of a stage that is no operation's own: one of partial results.
    std::int32_t cacheWriteStage(std::int32_t stage, const char* scope);
    /// Adds a copy of the operation's tensor that `reader`, a stage, reads in its place; returns the copy's stage.
    /// Readers are then one stage on.
    std::int32_t cacheRead(std::int32_t op, const char* scope, std::int32_t reader);
    /// Factors a reduction at loop `iter` of its stage; returns the stage of partial results, which the operation's own
    /// reads.
    std::int32_t rfactor(std::int32_t op, std::int32_t iter, std::int32_t factorIter);
    std::vector<schedule::Step> take() { return std::move(m_steps); }

private:
    std::int32_t insertBefore(std::int32_t op);
    void insertAt(std::int32_t stage);

    std::vector<std::int32_t> m_stageOf;
    std::vector<schedule::Step> m_steps;
};

/// One loop of a stage: an axis of the operation (reduce axes count on from the spatial ones) and, once split, its
/// part.
struct LoopPart
{
    std::int32_t axis = 0;
    std::int32_t part = 0;
    friend bool operator==(const LoopPart&, const LoopPart&) = default;
};

/// The loops of one stage while steps transform them.
class StageLoops
{
public:
    StageLoops(StepEmitter& emitter, std::int32_t stage, std::int32_t axes);

    std::int32_t stage() const { return m_stage; }
    /// Parts 0 .. lengths.size(); lengths are the inner parts.
    void split(std::int32_t axis, std::int64_t extent, const std::vector<std::int64_t>& lengths);
    /// The same, but where the lengths do not divide the axis the last outermost part overlaps the one before (OV).
    void cover(std::int32_t axis, std::int64_t extent, const std::vector<std::int64_t>& lengths);
    void reorder(std::vector<LoopPart> order); ///< all loops, outermost first
    std::int32_t position(LoopPart loop) const;
    void annotate(LoopPart loop, schedule::Annotation annotation);
    void annotateOutermost(schedule::Annotation annotation);
    /// Fuses the outermost `count` loops; what they were is found at position 0.
    void fuseOuter(std::int32_t count);

private:
    StepEmitter& m_emitter;
    std::int32_t m_stage;
    std::int32_t m_fused = 0; ///< loops that are one by now
    std::vector<LoopPart> m_loops;
};

} // namespace lathe::search
