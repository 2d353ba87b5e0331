#pragma once

#include "core/support/result.h"

#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
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

/// Lines that were passed over, for one reason.
struct PassedOver
{
    std::int64_t count = 0;
    std::string file; ///< of the first of them
    std::int64_t line = 0;
};

struct LogSummary
{
    std::int64_t lines = 0; ///< without comments and empty ones
    std::vector<WorkloadOfLog> workloads; ///< in the order in which they come first
    std::map<std::string, PassedOver> skipped; ///< by reason
};

/// What the logs hold; nothing is changed. Errors: NotFound, BadFile (a disk that fails), Cancelled.
Result<LogSummary> summarizeLogs(std::span<const std::filesystem::path> files, std::stop_token stop = {});

/// What one of the following wrote.
struct LogsWritten
{
    std::int64_t read = 0, written = 0, duplicates = 0, failed = 0; ///< lines
    std::vector<std::filesystem::path> files; ///< that were written
    std::map<std::string, PassedOver> skipped;
};

/// The fastest line of each workload, for each key of its target ("cpu") and for each model ("-model=" of it, but
/// "unknown"), by the mean of its costs; each line once. Errors: those above, StoreFailed.
Result<LogsWritten> pickBest(std::span<const std::filesystem::path> files, const std::filesystem::path& output);
/// A file for each workload, "NNNN-TEMPLATE.log" in the folder, which must be there; each measurement once.
Result<LogsWritten> splitByWorkload(std::span<const std::filesystem::path> files, const std::filesystem::path& folder);
/// All measurements, each once, failures too.
Result<LogsWritten> mergeLogs(std::span<const std::filesystem::path> files, const std::filesystem::path& output);

/// The keys under which a target of the reference is looked for: those of "-keys=", else what its kind has: "llvm" is
/// cpu.
std::vector<std::string> targetKeys(std::string_view target);
/// "-model=" of a target; empty: there is none, or it is "unknown".
std::string targetModel(std::string_view target);

} // namespace lathe::store
