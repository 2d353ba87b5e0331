#pragma once

#include "core/store/skipped_lines.h"
#include "core/support/result.h"
#include "core/templates/log_line.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace lathe::store {

// Logs of the reference's template tuner as files, without a network to apply them to (autotvm.md 9).

/// What a log has of one workload on one target.
struct WorkloadOfLog
{
    std::string target, name, workload; ///< as the lines have them; the template's name; workloadKey()
    std::string plainWorkload; ///< the key with plain layouts, as tasks have it (templates::unpacked())
    std::int64_t trials = 0, failed = 0;
    double bestSeconds = std::numeric_limits<double>::infinity(); ///< mean of the best one's costs
    std::string bestConfig; ///< for people
    bool known = false; ///< there is a template of this name here
};

struct TrialLine
{
    std::string_view text;
    std::string_view file; ///< its name, without the folder
    std::int64_t number = 0; ///< from 1
};
/// The trials of the logs in their order. Lines that are none are counted in `skipped`, comments and empty lines
/// nowhere. Where `visit` gives an error the walk ends with it.
/// Returns the number of lines. Errors: NotFound, before any is visited; BadFile (a disk that fails).
Result<std::int64_t> forEachTrial(
    std::span<const std::filesystem::path> files, SkippedCounts& skipped,
    const std::function<Result<>(const templates::TemplateTrial&, const TrialLine&)>& visit);

struct LogSummary
{
    std::int64_t lines = 0; ///< without comments and empty ones
    std::vector<WorkloadOfLog> workloads; ///< in the order in which they come first
    std::vector<SkippedLines> skipped; ///< most frequent first
};

/// What the logs hold; nothing is changed. Errors: NotFound, BadFile (a disk that fails), Cancelled.
Result<LogSummary> summarizeLogs(std::span<const std::filesystem::path> files, std::stop_token stop = {});

/// What one of the following wrote.
struct LogsWritten
{
    std::int64_t read = 0, written = 0, duplicates = 0, failed = 0; ///< lines
    std::vector<std::filesystem::path> files; ///< that were written
    std::vector<SkippedLines> skipped;
};

/// The fastest line of each workload, for each key of its target ("cpu") and for each model ("-model=" of it, but
/// "unknown"), by the mean of its costs; each line once. Errors: those above, StoreFailed.
Result<LogsWritten> pickBest(std::span<const std::filesystem::path> files, const std::filesystem::path& output);
/// A file for each workload, "NNNN-TEMPLATE.log" in the folder, which must be there; each measurement once.
Result<LogsWritten> splitByWorkload(std::span<const std::filesystem::path> files, const std::filesystem::path& folder);
/// All measurements, each once, failures too.
Result<LogsWritten> mergeLogs(std::span<const std::filesystem::path> files, const std::filesystem::path& output);

} // namespace lathe::store
