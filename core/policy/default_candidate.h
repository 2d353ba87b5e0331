#pragma once

#include "core/record/record.h"
#include "core/search/search_task.h"
#include "core/support/result.h"

namespace lathe::policy {

/// A complete candidate without measuring, for any task on any target: the first guess that a policy with rules for the
/// target has, else plain loops, which are not fast, but right. Errors: those of a policy that has rules and fails.
Result<Candidate> defaultCandidate(const search::SearchTask& task);

/// The first alternative as plain loops.
Candidate plainLoops(const search::SearchTask& task);

} // namespace lathe::policy
