#pragma once

#include "core/ir/loop_nest.h"

namespace lathe::schedule {

/// Gives Scope::Register to small scratch of one part whose every index is constant once unrolled and vectorized loops
/// are emitted: accumulator tiles. Straight serial loops that only copy or initialise such a tile are unrolled for its
/// sake.
void promoteRegisters(ir::LoopNest& nest);

} // namespace lathe::schedule
