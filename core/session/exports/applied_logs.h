#pragma once

#include "core/record/record.h"
#include "core/session/exports/coverage.h"
#include "core/session/loaded_model.h"
#include "core/session/options/options.h"
#include "core/support/result.h"

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace lathe::session {

/// What logs of the reference's template tuner, and packages, say of a network's tasks, to be compiled without measuring
/// anything again (autotvm.md 11, ApplyHistoryBest).
struct AppliedLogs
{
    struct Applied
    {
        Record record; ///< The trial's id is FILE:LINE, of a package FILE:TRIAL; the target is the file's.
        /// Null: it was measured for this very target, on a device of this machine's class. Else what differs.
        About differs;
    };
    /// By Task::key. What differs in nothing comes first, then the fastest by mean cost.
    std::map<std::string, std::vector<Applied>> tasks;
    GivenRecords given;
};

/// Reads them whole. Of each task lines for the model's target are taken, where there is none those for its family.
/// Errors: NotFound, BadFile (a disk that fails).
Result<AppliedLogs> applyLogs(const LoadedModel& model, std::span<const std::filesystem::path> files);

/// What the logs and packages of the options say of the network's tasks; of each task what logs have comes before what
/// packages have. Blocks, since it may ask this machine for its devices. Errors: those of reading them; Incompatible, a
/// package that was named is for another target.
Result<AppliedLogs> recordsOfFiles(const LoadedModel& model, const CompileOptions& options);

/// "-mcpu=core-avx2 there, -mcpu=znver4 here": the words that say what code is made for, where the reference's target
/// has others than ours; empty: it has the same. Nothing: it is of another family.
std::optional<std::string> differenceOfTargets(std::string_view reference, const Target& target);

} // namespace lathe::session
