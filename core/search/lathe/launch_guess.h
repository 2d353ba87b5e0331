#pragma once

#include "core/schedule/step.h"
#include "core/search/search_task.h"
#include "core/search/sketch.h"
#include "core/support/result.h"

namespace lathe::search {

struct LaunchGuess
{
    std::string sketch;
    Genome genome;
    std::vector<schedule::Step> steps;
    double seconds = 0; ///< estimated
};

/// The schedule of the task's first alternative that the estimate for GPUs likes best of some thousands, drawn and then
/// improved step by step. A pure function of the alternative's DAG, its constant inputs and the hardware: it has no
/// seed of a run, no time limit, and the task's name and key do not matter. It can be lowered, keeps the device's
/// limits exactly, and its launches find registers enough to start. Takes some ten milliseconds. Errors: Unsupported,
/// where the default launches of core/schedule are to be taken: the rules have no sketch for the alternative, nothing
/// drawn is legal, all sums are short, or the device is a processor.
Result<LaunchGuess> guessLaunches(const SearchTask& task);

} // namespace lathe::search
