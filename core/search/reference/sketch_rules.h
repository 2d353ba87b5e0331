#pragma once

#include "core/compute/analysis.h"
#include "core/schedule/state.h"
#include "core/search/search_task.h"

#include <memory>
#include <set>

namespace lathe::search {

/// The reference compiler's sketch generation (auto-scheduler.md 4), for its families cpu, gpu and mali.
struct SketchRuleContext
{
    bool gpu = false; ///< gpu rule list
    bool gpuTests = false; ///< "is GPU" inside the rules: gpu and mali
    std::string structure; ///< SSRSRS or SSSRRSRS
    std::int64_t cores = -1, maxThreads = 0, warpSize = 0, maxVThread = 0;

    static SketchRuleContext of(const Target& target, const Hardware& hardware);
};

/// Looks through inlined stages of a state; keeps the analysis of its current DAG.
class StateView
{
public:
    explicit StateView(const schedule::State& state);

    const schedule::State& state() const { return m_state; }
    const compute::Analysis& analysis() const { return *m_analysis; }
    const schedule::Stage& stage(std::int32_t i) const { return m_state.stages()[static_cast<std::size_t>(i)]; }
    const compute::Op& op(std::int32_t i) const { return m_state.dag()->ops[static_cast<std::size_t>(i)]; }
    bool isPlaceholder(std::int32_t i) const { return op(i).kind == compute::OpKind::Placeholder; }
    bool isInlined(std::int32_t i) const { return stage(i).location == schedule::Location::Inlined; }
    bool isOutput(std::int32_t i) const { return analysis().op(i).isOutput; }
    bool hasReduceIter(std::int32_t i) const;
    bool needsTiling(std::int32_t i) const { return analysis().op(i).needsMultiLevelTiling; }
    bool constIndexed(std::int32_t i) const;
    std::set<std::int32_t> consumers(std::int32_t i) const;
    std::set<std::int32_t> producers(std::int32_t i) const;
    /// The one consumer that it matches element by element, or -1.
    std::int32_t elementwiseConsumer(std::int32_t i) const;
    bool hasCrossThreadReduction(std::int32_t i) const;
    bool isTiled(std::int32_t i) const; ///< more parts than axes
    std::int64_t spaceSize(std::int32_t i) const;
    std::int64_t reduceSize(std::int32_t i) const;

private:
    const schedule::State& m_state;
    std::shared_ptr<const compute::Analysis> m_analysis;
};

/// All sketches of a DAG, with open split lengths. Errors: IllegalSchedule or Internal if a rule's step does not apply.
Result<std::vector<schedule::State>> generateReferenceSketches(const compute::DagPtr& dag, const Target& target,
                                                               const Hardware& hardware);

} // namespace lathe::search
