#pragma once

#include "core/schedule/state.h"

namespace lathe::schedule {

/// Applies steps to a State's stages; one function a step. On error the state may be half changed: State::apply works
/// on a copy.
class StateEdit
{
public:
    explicit StateEdit(State& state)
        : m_state(state)
        , m_stages(state.m_stages)
        , m_steps(state.m_steps)
    {
    }

    Result<> operator()(const AnnotateStep& step);
    Result<> operator()(const FuseStep& step);
    Result<> operator()(const PragmaStep& step);
    Result<> operator()(const ReorderStep& step);
    Result<> operator()(const SplitStep& step);
    Result<> operator()(const FollowSplitStep& step);
    Result<> operator()(const FollowFusedSplitStep& step);
    Result<> operator()(const StorageAlignStep& step);
    Result<> operator()(const ComputeAtStep& step);
    Result<> operator()(const ComputeInlineStep& step);
    Result<> operator()(const ComputeRootStep& step);
    Result<> operator()(const CacheReadStep& step);
    Result<> operator()(const CacheWriteStep& step);
    Result<> operator()(const RfactorStep& step);
    Result<> operator()(const LayoutStep& step);
    Result<> operator()(const PartitionStep& step);
    Result<> operator()(const PrefetchStep& step);
    Result<> operator()(const OverlapStep& step);
    Result<> operator()(const PadStrideStep& step);
    Result<> operator()(const FoldStep& step);
    Result<> operator()(const StagesStep& step);
    Result<> operator()(const LeastBlocksStep& step);
    Result<> operator()(const ShuffleStep& step);

    /// A stage with the operation's own iterators.
    static Stage freshStage(const compute::Dag& dag, std::int32_t op);

private:
    Result<> checkStage(std::int32_t stage) const;
    Result<> checkComputed(std::int32_t stage) const; ///< and not inlined
    Result<> checkIter(std::int32_t stage, std::int32_t iter) const;
    Result<> split(std::int32_t stage, std::int32_t iter, std::vector<std::optional<std::int64_t>> lengths,
                   bool innerToOuter);
    Result<std::vector<std::optional<std::int64_t>>> lengthsOf(std::int32_t step) const;
    const std::string& name(std::int32_t stage) const { return m_state.m_dag->ops[stage].name; }
    bool attachedAnywhere(std::int32_t stage) const;
    /// Replaces the DAG after an operation was inserted at `position`: stages from there move up by one.
    void insertStage(compute::DagPtr dag, std::int32_t position);

    State& m_state;
    std::vector<Stage>& m_stages;
    const std::vector<Step>& m_steps;
};

} // namespace lathe::schedule
