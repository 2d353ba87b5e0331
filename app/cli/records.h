#pragma once

#include "app/cli/command.h"
#include "core/store/project.h"

namespace lathe::cli {

// The subcommands of `records`, in files by subject. Each registers what it has.

void addRecordLists(CLI::App& records, Action& run); ///< list, best
void addRecordTransfers(CLI::App& records, Action& run); ///< merge, distill, export
void addRecordImport(CLI::App& records, Action& run); ///< import
void addRecordMeasurements(CLI::App& records, Action& run); ///< remeasure, retry
void addRecordNotes(CLI::App& records, Action& run); ///< note

/// Which trials: the options that the window's filter has, too.
struct TrialFilterArguments
{
    std::string task, state, stage, cause, text, order;
    std::string target;
    std::int64_t run = 0;
    double minMs = session::kUnknown, maxMs = session::kUnknown;
    bool noted = false, descending = false;

    void addTo(CLI::App& command);
    Result<session::TrialQuery> query(const session::TuningSession& session) const;
};

/// The trial whose id begins so. Errors: NotFound, InvalidArgument where several do.
Result<std::string> wholeTrial(const store::Project& project, const std::string& prefix);
/// Names of all tasks of a project by their keys.
Result<std::map<std::string, std::string>> taskNames(const store::Project& project);
/// "2026-01-31 12:00:00", in UTC.
std::string timeText(std::int64_t ms);

} // namespace lathe::cli
