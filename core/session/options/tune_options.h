#pragma once

#include "core/session/options/options.h"
#include "core/support/result.h"

#include <string>
#include <vector>

namespace lathe::session {

/// Refuses options that no run can follow, whoever gave them: the command line, the window, a project. InvalidArgument
/// names the first that is off, as the command line calls it; Unsupported: a policy that this version does not have.
Result<> check(const TuneOptions& options);

/// What keeps a stored run from being tuned on as `asked`, as flags; empty: nothing does. Neither the budget counts
/// here, nor devices, nor what is asked for as usual and was worked out when the run began.
std::vector<std::string> differences(const TuneOptions& asked, const TuneOptions& stored);

/// Where `other` measures, and as whom.
void takeDevices(TuneOptions& options, const TuneOptions& other);

/// Trials that the budget gives; infinite without a limit.
double expectedTrials(const TuneOptions& options);

/// How long one repeat is timed at least.
double minRepeatMs(const TuneOptions& options);
/// Which task gets the next round, by its name.
std::string schedulerOf(const TuneOptions& options);

/// The options with those of their preset in the place of what is at its default: how the reference's tutorials tune
/// (autotvm.md 13).
TuneOptions withPreset(TuneOptions options);
/// The names of presets: "nvidia", "x86", "mali", "vta".
std::vector<std::string> presetNames();

} // namespace lathe::session
