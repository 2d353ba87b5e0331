#pragma once

#include "core/schedule/state.h"

#include <vector>

namespace lathe::schedule {

struct DefaultScheduleOptions
{
    std::int32_t vectorLanes = 16; ///< float32 lanes of one vector: 16 with AVX-512, 8 with AVX2, 4 with NEON
    std::int32_t vectorRegisters = 32;
    std::int32_t threads = 1;
    std::vector<bool> constantInputs; ///< as LowerOptions: these are packed ahead of time
    std::vector<LayoutStep> layouts; ///< how inputs and outputs lie in memory (edge states), where not plain
};

/// A good schedule without tuning, for any DAG on a CPU: cheap producers inlined; reductions with reuse in register
/// tiles picked by the rules of cpu-kernels.md 4 and 11, their weights packed, borders specialised, epilogues fused;
/// the rest vectorized and parallel. What it cannot improve stays plain loops. Errors: those of lowering plain loops.
Result<State> defaultSchedule(const compute::DagPtr& dag, const DefaultScheduleOptions& options);
/// The same without the last resort of plain loops. Errors: IllegalSchedule or Unsupported, what kept it from applying.
Result<State> planDefaultSchedule(const compute::DagPtr& dag, const DefaultScheduleOptions& options);

} // namespace lathe::schedule
