#pragma once

#include "core/session/run/run_parts.h"
#include "core/support/message.h"

namespace lathe::session {

// What a run reports about how far it has come.

/// The estimate for the network at a time of the run, from the best program of each task: a band while some tasks have
/// none, and where the run is likely to end.
EstimateEvent estimateAt(double atSeconds, const RunParts& parts);

/// Why the scheduler goes on with a task: its terms, with "next_best" and "next_best_task" where another task competes,
/// and the reason in a word (RoundEvent).
struct Decision
{
    search::Terms terms;
    std::string reason;
};
Decision explainDecision(const search::TaskScheduler& scheduler, std::int32_t task);

/// Why no task can go on.
Message whyNothingIsLeft(const search::TaskScheduler& scheduler);

} // namespace lathe::session
