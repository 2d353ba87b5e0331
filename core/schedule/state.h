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
    bool partition = false; ///< PT
    std::int32_t warp = 0; ///< SH; 0: none
    std::int32_t id = -1; ///< in the stage's derivation: root axes first, then what relations made
};

/// One split (one parent, several children) or fuse (several parents, one child) of a stage's iterators, by
/// Iterator::id.
struct IterRelation
{
    std::vector<std::int32_t> parents;
    std::vector<std::int32_t> children;
    /// Split: lengths of all children but the one that takes the rest (the first if innerToOuter, else the last).
    std::vector<std::optional<std::int64_t>> lengths;
    bool innerToOuter = true;
    bool overlaps = false; ///< the last part ends with the extent instead of running past it (OV)
    bool isSplit() const { return parents.size() == 1 && !lengths.empty(); }
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

    /// How the iterators came from the operation's axes (spatial, then reduce: ids 0, 1, ...), in order of application.
    std::vector<IterRelation> relations;
    std::int32_t nextIterId = 0;
    std::string scope; ///< of cache stages: "local", "shared"; empty: decided by where the stage is computed
    std::vector<LayoutStep::Axis> layout; ///< LY; empty: plain
    struct Prefetch
    {
        std::int32_t iterId, source;
        std::int64_t distanceBytes;
    };
    std::vector<Prefetch> prefetches; ///< PF
    std::vector<std::pair<std::int32_t, std::int64_t>> strideParts; ///< PS: (dimension, elements)
    struct Alignment
    {
        std::int32_t dim, factor, offset;
    };
    std::vector<Alignment> alignments; ///< SA: the stride of `dim` is a multiple of factor, plus offset
    std::int32_t foldDim = -1; ///< FD
    std::int64_t foldRows = 0;
    std::int32_t slices = 1; ///< SG
    std::int32_t leastBlocks = 0; ///< LB; 0: as many as the compiler chooses
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
    friend class StateEdit;

    compute::DagPtr m_base, m_dag;
    std::vector<Stage> m_stages;
    std::vector<Step> m_steps;
};

} // namespace lathe::schedule
