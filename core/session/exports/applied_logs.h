#pragma once

#include "core/record/record.h"
#include "core/session/loaded_model.h"
#include "core/support/result.h"

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace lathe::session {

/// What logs of the reference's template tuner say of a network's tasks, to be compiled without measuring anything
/// again (autotvm.md 11, ApplyHistoryBest).
struct AppliedLogs
{
    struct OfTask
    {
        /// By mean cost, the fastest first. The trial's id is FILE:LINE; the record's target is the log's.
        std::vector<Record> records;
        /// Empty: they were measured for this very target. Else they are for another one of its family, and this says
        /// which, and in which words it differs.
        std::string differs;
    };
    std::map<std::string, OfTask> tasks; ///< by Task::key
    std::int64_t lines = 0, applied = 0;
    std::map<std::string, std::int64_t> skipped; ///< by reason
};

/// Reads them whole. Of each task lines for the model's target are taken, where there is none those for its family.
/// Errors: NotFound, BadFile (a disk that fails).
Result<AppliedLogs> applyLogs(const LoadedModel& model, std::span<const std::filesystem::path> files);

/// "-mcpu=core-avx2 there, -mcpu=znver4 here": the words that say what code is made for, where the reference's target
/// has others than ours; empty: it has the same. Nothing: it is of another family.
std::optional<std::string> differenceOfTargets(std::string_view reference, const Target& target);

} // namespace lathe::session
