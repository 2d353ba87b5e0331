#pragma once

#include "core/schedule/lowering.h"
#include "core/schedule/staged_copies.h"

namespace lathe::schedule {

// The back half of lower() for devices whose kernels are launches. A stage at root becomes one launch: its loops that
// are bound to blockIdx and threadIdx become the launch's axes, each bound once however many stages name it.

/// Says of each buffer whose it is: Shared where threads of a block hand it over (a "shared" cache stage, or a stage
/// that is computed outside of all thread loops), else Part, one thread's own (Local or Register once lowered). Errors:
/// IllegalSchedule (a stage of one thread's own that divides its work among threads, a loop for parts of a processor,
/// parts that overlap where threads or blocks divide them), Unsupported (a reduction across threads).
Result<> assignThreadScopes(Lowering& lowering);

/// Loops of a stage at root, as emitStage gives them, to a launch without barriers. Threads that a stage does not name
/// leave its stores to the first one along that axis.
/// Errors: IllegalSchedule (a block axis that is bound twice).
Result<ir::Launch> bindAxes(Lowering& lowering, std::int32_t stage, const ir::Stmt& loops);

/// Virtual threads to work of their thread: what depends on one is done for each in turn, innermost; what does not,
/// such as filling a shared tile, once. Buffers of the thread that differ between them get a dimension more.
ir::Stmt spreadVirtualThreads(ir::LoopNest& nest, const ir::Stmt& s);

/// Barriers where one thread may come to what another has stored or still reads in a Shared buffer, as few as there are
/// places where all threads of the block come, beside those that stand there. Errors: IllegalSchedule, if there is
/// none. `staged`: loops whose own barriers keep their buffers inside of them.
Result<> placeBarriers(const ir::LoopNest& nest, ir::Launch& launch, const std::vector<StagedLoop>& staged = {});

} // namespace lathe::schedule
