#pragma once

#include "core/schedule/lowering.h"

#include <vector>

namespace lathe::schedule {

/// A tile that a stage has for itself may hold what nobody reads beyond the edge of its tensor, if all that is loaded
/// for it exists: then its sums need no condition, only the store of its reader does. Takes out of `guards`, the
/// conditions of an iteration, those that are not needed so, and returns `value`, the term of the reduction.
///
/// In launches a condition that differs between the sums of one thread goes to the loads that need it instead, which
/// give 0 where it does not hold: what stands around sums would be a branch for each of them, past which no load is
/// moved. Of a tile of 4 columns in a tensor of 5, `if (j0 * 4 + j1 < 5) c[j1] += a[k] * b[k, j0 * 4 + j1]` becomes
/// `c[j1] += a[k] * (j0 * 4 + j1 < 5 ? b[k, j0 * 4 + j1] : 0)`. Nobody reads the sum past the edge, so that 0 is as
/// good as any number there, whatever the combiner. Conditions of a thread as a whole stay around its sums.
ir::Expr withoutEdges(const Lowering& lowering, std::int32_t stage, ir::Expr value, std::vector<ir::Expr>& guards);

} // namespace lathe::schedule
