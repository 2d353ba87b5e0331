#pragma once

#include "core/ir/bounds.h"
#include "core/ir/expr.h"
#include "core/ir/loop_nest.h"
#include "core/schedule/state.h"

#include <vector>

namespace lathe::schedule {

/// Iterations of a loop or elements of a tensor: no more are scheduled, so that products of them fit their type.
inline constexpr std::int64_t kMaxExtent = std::int64_t{1} << 40;

/// a * b, at most kMaxExtent + 1: above the limit is above the limit. Neither is negative.
inline std::int64_t cappedProduct(std::int64_t a, std::int64_t b)
{
    return a != 0 && b > kMaxExtent / a ? kMaxExtent + 1 : a * b;
}

/// Extents of a stage's iterators by id, from those of its root axes through splits and fuses. An inner part is never
/// longer than what it splits. -1: unknown, because an axis is or a length is open.
std::vector<std::int64_t> propagateExtents(const Stage& stage, const std::vector<std::int64_t>& axisExtents);

/// The iterator values of a stage as expressions over its leaf iterators (Stage::iters).
struct IterValues
{
    std::vector<ir::Expr> values; ///< by id
    /// What must hold for an iteration to be real: splits that do not divide overshoot.
    std::vector<ir::Expr> guards;
};
/// @param extents from propagateExtents, all known. @param leaves one variable per iterator of the stage.
IterValues valuesOverLeaves(const Stage& stage, const std::vector<std::int64_t>& extents,
                            const std::vector<ir::Expr>& leaves, const ir::Ranges& ranges);

/// What a loop of that annotation is in a loop nest.
ir::LoopKind loopKind(Annotation annotation);

/// Copies extents by id into the stage's iterators.
void assignExtents(Stage& stage, const std::vector<std::int64_t>& extents);

/// Extents of the operation's axes, spatial then reduce.
std::vector<std::int64_t> axisExtents(const compute::Op& op);

} // namespace lathe::schedule
