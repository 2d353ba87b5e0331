#pragma once

#include "core/ir/bounds.h"
#include "core/ir/loop_nest.h"

#include <unordered_set>

namespace lathe::schedule {

/// Divides the loops whose variable is in `partitioned` (PT steps): each run of iterations in which the conditions
/// inside have the same outcome becomes a loop without them (the steady state; the sides of a concatenation).
/// Those at the edges are emitted one by one, and there the small serial loops on which a condition of an unrolled
/// pixel depends are unrolled, so that each condition is constant when the loop is emitted. A loop that is divided
/// among parts keeps its shape: the steady state and the rest are the branches of a condition.
ir::Stmt partitionLoops(const ir::Stmt& s, const std::unordered_set<const ir::Node*>& partitioned, ir::Ranges& ranges);

} // namespace lathe::schedule
