#pragma once

#include "core/schedule/lowering.h"

namespace lathe::schedule {

/// Appends the prefetches that PF steps ask for at loop `iter` of the stage: one per cache line of what the loops
/// inside read of the source, moved ahead by the step's distance.
void emitPrefetches(const Lowering& lowering, std::int32_t stage, std::size_t iter, std::vector<ir::Stmt>& into);

} // namespace lathe::schedule
