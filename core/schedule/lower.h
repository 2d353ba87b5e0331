#pragma once

#include "core/ir/loop_nest.h"
#include "core/runtime/kernel_form.h"
#include "core/schedule/state.h"
#include "core/wire/artifact.h"

namespace lathe::schedule {

/// What a State computes, as loops, with its parameters.
struct LoweredKernel
{
    ir::LoopNest nest;
    std::vector<ArgSpec> parameters; ///< order of nest.parameters: DAG inputs (Dag::inputs order), then outputs
    std::int64_t teamScratchBytes = 0;
    std::int64_t partScratchBytes = 0;
};

struct LowerOptions
{
    /// Phases: the outermost loop of a stage at root is divided among parts. Launches: loops are bound to blockIdx and
    /// threadIdx.
    KernelForm form = KernelForm::Phases;
    std::string name = "kernel";
    /// Which DAG inputs are constants (weights), by position in Dag::inputs; only these may have a LayoutStep that
    /// packs ahead of time. Empty: none.
    std::vector<bool> constantInputs;
};

/// State -> loop nest, through the passes of lower.cpp: inline, bounds, stage nests with their inits, attach, layouts,
/// guards and partition, simplify, phases or launches, buffers and scopes. Errors: IllegalSchedule or Unsupported, with
/// the stage.
Result<LoweredKernel> lower(State state, const LowerOptions& options);

} // namespace lathe::schedule
