#pragma once

#include "core/record/record.h"
#include "core/search/search_task.h"
#include "core/support/result.h"

#include <optional>

namespace lathe::session {

// What runs where nothing was tuned. The target's back end says it; where that leaves it open, the form of its kernels
// does.

/// The default schedule of the task's first alternative, quickly made; none where it does not apply.
std::optional<Candidate> untunedCandidate(const search::SearchTask& task);

/// What is compiled for a task without a record: the back end's own default schedule, or plain loops where it has none
/// for this task; of a back end without default schedules, where kernels are launches, what the search's estimate likes
/// best (core/search/lathe/launch_guess.h) or, where it has nothing for the task, the launches of
/// core/schedule/default_launches.h, else the first guess of a policy with rules for the target, else plain loops.
/// Errors: those of the back end (but Unsupported and IllegalSchedule) and of such a policy.
Result<Candidate> defaultCandidate(const search::SearchTask& task);

/// The same for the first round of a policy; nothing for an error.
std::optional<Candidate> exportedCandidate(const search::SearchTask& task);

} // namespace lathe::session
