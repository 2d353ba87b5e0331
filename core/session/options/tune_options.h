#pragma once

#include "core/session/options/options.h"
#include "core/support/result.h"

namespace lathe::session {

/// Refuses options that no run can follow, whoever gave them: the command line, the window, a project. InvalidArgument
/// names the first that is off, as the command line calls it; Unsupported: a policy that this version does not have.
Result<> check(const TuneOptions& options);

/// Trials that the budget gives; infinite without a limit.
double expectedTrials(const TuneOptions& options);

/// How long one repeat is timed at least.
double minRepeatMs(const TuneOptions& options);

} // namespace lathe::session
