#pragma once

#include "core/ir/loop_nest.h"
#include "core/runtime/kernel_form.h"
#include "core/schedule/state.h"
#include "core/target/target.h"

namespace lathe::schedule {

/// Whether a device can run what a state was lowered to, exactly: threads of a block and its shared memory, arrays of a
/// thread, blocks along each axis, the width of vectors, virtual threads. A limit that the hardware does not name, or
/// that is 0, counts as none (the reference's rules, auto-scheduler.md 5.1; names as in Hardware). Blocks along an axis
/// ("max_blocks_x", "max_blocks_y", "max_blocks_z"): kMostBlocks where the hardware names none. A tensor or scratch must
/// fit into what the device gives at once ("max_buffer_bytes"). Registers are no limit: what does not fit is spilled.
/// Errors: IllegalSchedule, with the first limit that is exceeded, by its name.
Result<> checkLimits(const State& state, const ir::LoopNest& nest, const Hardware& hardware);

/// Whether a device can run a state, told before anything is built: it is lowered, and its launches are checked. A
/// kernel of phases has no such limits. `constantInputs`: as LowerOptions.
/// Errors: those of lower() for launches, and of checkLimits().
Result<> checkRunnable(const State& state, KernelForm form, const std::vector<bool>& constantInputs,
                       const Hardware& hardware);

} // namespace lathe::schedule
