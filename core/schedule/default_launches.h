#pragma once

#include "core/schedule/state.h"

#include <cstdint>
#include <vector>

namespace lathe::schedule {

struct LaunchScheduleOptions
{
    std::int64_t mostThreads = 256; ///< of a block: what the device can start
    /// Of a launch, which the device needs to be busy: tiles of threads are not so large that there are fewer.
    std::int64_t wantedThreads = 16384;
    std::int32_t vectorLanes = 4; ///< float32 that a thread loads at once; 1: none
    /// Of a processor, whose compiler makes vectors of so many neighbouring threads: those of a block then differ along
    /// one dimension alone, in which what they read lies together or is the same. 0: no processor.
    std::int64_t simdWidth = 0;
    std::vector<bool> constantInputs; ///< as LowerOptions: these are packed ahead of time
};

/// A sane schedule without tuning, for any DAG on a GPU (KernelForm::Launches): each stage that is not inlined or fused
/// with its reader is one launch of blocks of 64 to 256 threads, where neighbouring threads access neighbouring
/// elements. A sum of few long rows is divided among the threads of a block; other sums are kept in a small tile of
/// registers for each thread. Shared memory holds no more than what threads hand over at the end of a divided sum, and
/// a thread has no scratch but its tile. On GPUs long sums are better served by core/search/lathe/launch_guess.h.
/// Errors: IllegalSchedule or Unsupported, what kept it from applying or from being lowered.
Result<State> planDefaultLaunches(const compute::DagPtr& dag, const LaunchScheduleOptions& options);

} // namespace lathe::schedule
