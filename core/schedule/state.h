#pragma once

#include "core/compute/dag.h"
#include "core/schedule/step.h"

#include <map>

namespace lathe::schedule {

enum class IterKind : std::uint8_t
{
    Spatial = 0,
    Reduction = 1,
    Mixed = 2,
    Special = 3
};

struct Iterator
{
    std::string name; ///< "i", split "i.0", fused "i.0@j.0@"
    std::int64_t extent = -1; ///< range [0, extent); -1: unknown until bounds are inferred
    IterKind kind = IterKind::Spatial;
    Annotation annotation = Annotation::None;
};

enum class Location : std::uint8_t
{
    Root = 0,
    Inlined = 1,
    At = 2
};

struct Stage
{
    std::int32_t op = 0; ///< position in State::dag()->ops (equal to the stage's own position)
    std::vector<Iterator> iters; ///< outermost first
    Location location = Location::Root;
    std::int32_t attachStage = -1, attachIter = -1; ///< Location::At
    std::int32_t autoUnrollMaxStep = 0;
};

/// The loop structure that a schedule yields: stages with iterators, attach relations, and the steps that made it.
/// A value type; stage i is operation i of dag(), which differs from the base DAG after cache and rfactor steps.
class State
{
public:
    static State initial(compute::DagPtr dag);
    /// Errors: IllegalSchedule naming the step's position and what is wrong with it.
    static Result<State> replay(compute::DagPtr dag, const std::vector<Step>& steps);

    /// Appends and applies. On error the state is unchanged. Open split lengths are allowed (concrete() turns false).
    Result<> apply(Step step);

    const compute::DagPtr& baseDag() const { return m_base; }
    const compute::DagPtr& dag() const { return m_dag; }
    const std::vector<Stage>& stages() const { return m_stages; }
    const std::vector<Step>& steps() const { return m_steps; }
    bool concrete() const;

    /// Fills the unknown extents (auto-scheduler.md 3.1, bound inference). Errors: IllegalSchedule.
    Result<> inferBounds();

    /// The reference's state text: loops with ranges, annotations, attached stages inside.
    std::string print() const;

private:
    compute::DagPtr m_base, m_dag;
    std::vector<Stage> m_stages;
    std::vector<Step> m_steps;
};

} // namespace lathe::schedule
