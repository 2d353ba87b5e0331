#pragma once

#include "core/schedule/bound_inference.h"
#include "core/schedule/state.h"

#include <optional>
#include <string>
#include <vector>

namespace lathe::schedule {

/// What default schedules of all kinds of devices have in common: what a DAG looks like, which stages become one, and
/// steps that name iterators instead of counting them. `m_state` is the schedule so far.
class ScheduleMaker
{
protected:
    /// `dag` must outlive this. Cache steps may change m_state.dag(); what is asked here is of the DAG as it was given.
    explicit ScheduleMaker(const compute::DagPtr& dag)
        : m_state(State::initial(dag))
        , m_dag(*dag)
    {
    }

    bool isReduction(std::int32_t id) const { return !m_dag.ops[id].reduceAxes.empty(); }
    bool isIndexReduction(std::int32_t id) const;
    bool isOutput(std::int32_t id) const;
    bool isConstantMatrixUser(std::int32_t id) const; ///< winograd's transforms
    std::vector<std::int32_t> readersOf(std::int32_t id) const;
    /// Element operations, each step of a sum counted.
    std::int64_t workOf(std::int32_t id) const;
    bool directlyReads(std::int32_t id, std::int32_t source) const;

    /// Inlines what is cheap enough to be computed again by each reader.
    void inlineProducers();
    /// The reduction that `id` reads point by point and nobody else reads; -1 if none. m_bounds must be known.
    std::int32_t fusibleReduction(std::int32_t id) const;

    static bool loadsUnder(const ir::Expr& e);
    /// Whether what the stage loads depends on a condition along `dim`.
    bool conditionsUse(std::int32_t id, std::int32_t dim) const;
    /// Vectors need an element type of full width, and conditions by lane that bounds can decide.
    bool vectorizable(std::int32_t id, std::int32_t dim) const;

    const std::vector<Iterator>& iters(std::int32_t id) const { return m_state.stages()[id].iters; }
    std::int32_t place(std::int32_t id, const std::string& name) const; ///< of the iterator of that name; -1
    Result<> split(std::int32_t id, const std::string& name, std::vector<std::optional<std::int64_t>> lengths);
    Result<> reorder(std::int32_t id, const std::vector<std::string>& names);
    Result<> annotate(std::int32_t id, const std::string& name, Annotation annotation);

    State m_state;
    const compute::Dag& m_dag;
    ProgramBounds m_bounds; ///< of the state once producers were inlined
};

} // namespace lathe::schedule
