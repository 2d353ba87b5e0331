#pragma once

#include "core/ir/bounds.h"
#include "core/schedule/iteration.h"
#include "core/schedule/state.h"

#include <vector>

namespace lathe::schedule {

/// What one stage computes, over which loops.
struct StageBounds
{
    bool active = false; ///< computed somewhere: neither placeholder nor inlined, nor attached and read by nothing
    std::vector<ir::Expr> leaves; ///< a fresh variable per iterator, outermost first
    std::vector<std::int64_t> extents; ///< by Iterator::id
    /// The box that is produced each time the stage runs: mins[d] (over the loops around the stage) and region[d]
    /// elements.
    std::vector<ir::Expr> mins;
    std::vector<std::int64_t> region;
    std::vector<ir::Expr> local; ///< axis values relative to mins, over `leaves`; spatial then reduce
    std::vector<ir::Expr> axes; ///< mins + local: what the operation's axis variables stand for
    std::vector<ir::Expr> splitGuards; ///< an iteration is real: splits that do not divide overshoot the box
    std::vector<ir::Expr> shapeGuards; ///< the box of an attached stage may reach over the edge of the tensor
    std::vector<ir::Expr> bodies; ///< producers inlined, axes replaced; a Reduce keeps its combiner and identity
};

struct ProgramBounds
{
    std::vector<StageBounds> stages;
    ir::Ranges ranges; ///< of all leaves
};

/// Whether a tile in memory that threads share keeps `read` elements of a dimension of `extent`: somewhat more than
/// there are, which are zeros, so that threads at the edge do as all others (Lowering's fillsWholeTile()).
inline bool isPastEdge(std::int64_t read, std::int64_t extent)
{
    return read > extent && (read - extent) * 4 <= extent;
}

/// Loops and regions of all stages of a concrete state: consumers first, each attached stage gets the bounding box of
/// what is read of it inside its attach point (auto-scheduler.md 3.1). Errors: IllegalSchedule, naming the stage.
Result<ProgramBounds> inferProgramBounds(const State& state);

} // namespace lathe::schedule
