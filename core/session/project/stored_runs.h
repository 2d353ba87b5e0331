#pragma once

#include "core/session/history.h"
#include "core/store/project.h"

#include <filesystem>
#include <utility>
#include <vector>

namespace lathe::session {

/// A run as any project holds it, whatever its network and target: for lists of runs, and for curves beside those of
/// another. Nothing of its network is read.
struct StoredRun
{
    RunView run;
    std::string model; ///< its name in the project
    /// (at seconds, ms) of the network, after each round and finals; a value holds until the next.
    std::vector<std::pair<double, double>> estimate;
    std::vector<std::pair<double, double>> trials; ///< (at seconds, trials of the run so far)
};

/// All runs of a project, oldest first, without their curves. Blocks. Errors: BadFile, StoreFailed.
Result<std::vector<StoredRun>> storedRuns(const std::filesystem::path& project);

/// One of them with its curves; 0: the latest. Blocks. Errors: NotFound, BadFile, StoreFailed.
Result<StoredRun> storedRun(const std::filesystem::path& project, std::int64_t run);

/// What a project tells of a run up to a time, in seconds of the run.
Result<RunView> runView(const store::Project& project, const store::SessionRow& row, double untilSeconds);

} // namespace lathe::session
