#pragma once

#include "core/schedule/bound_inference.h"
#include "core/schedule/default_schedule.h"

#include <span>

namespace lathe::schedule {

/// How a reduction is tiled in registers.
struct ReductionPlan
{
    std::int32_t vectorDim = -1; ///< -1: no vectors
    std::int64_t lanes = 1;
    std::int64_t vectors = 1; ///< of the vector dimension, side by side in a tile
    std::int32_t pixelDim = -1; ///< -1: none
    std::int64_t pixels = 1;
    bool partition = false; ///< conditions (padding) depend on the pixel dimension
    std::vector<std::int32_t> reduceOrder; ///< reduce axes, outermost first
    std::int64_t reduceBlock = 0; ///< the innermost reduce axis is read in blocks of so many (channel blocks); 0: not
    bool unrollLast = false; ///< the innermost reduce axis is unrolled whole
    std::int32_t packedInput = -1; ///< constant operation whose layout follows the loops
    std::int64_t packedBytes = 0;
    std::int64_t otherBytes = 0; ///< of what is read besides
};

/// Plans stage `id` of a state in which only inlining and layouts were decided; `bounds` is of that state. `storedBy`:
/// the stage that stores the result, `id` itself or the consumer that it is fused with.
ReductionPlan planReduction(const State& state, const ProgramBounds& bounds, std::int32_t id, std::int32_t storedBy,
                            const DefaultScheduleOptions& options);

/// The largest of lanes, lanes/2, lanes/4 that divides the extent; `lanes` if none does and the extent is large;
/// else 1.
std::int64_t pickLanes(std::int64_t extent, std::int64_t lanes);

/// Elements of a vector for a stage that computes `result` by these bodies: as many as a vector holds of the widest
/// type among what is computed and read. Small floats are computed with as float32.
std::int64_t lanesFor(std::span<const ir::Expr> bodies, DType result, const DefaultScheduleOptions& options);

/// The dimension along which neighbours lie next to each other in memory: the last one, or as the stage's layout says;
/// -1 if none.
std::int32_t contiguousDim(const State& state, std::int32_t id);

} // namespace lathe::schedule
