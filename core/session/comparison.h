#pragma once

#include "core/session/views.h"
#include "core/support/result.h"

#include <filesystem>

namespace lathe::session {

/// Where a project stands: its latest model and target, the best valid records under the latest conditions.
struct Standing
{
    struct Task
    {
        std::string key, name;
        std::int32_t weight = 1;
        double bestMs = kUnknown;
        std::string alternative, trial;
        std::int64_t trials = 0, errors = 0;
    };
    std::filesystem::path project;
    std::string model, modelHash, target, device, deviceName;
    std::int64_t coldBytes = 0;
    std::vector<Task> tasks; ///< in the network's order
    double estimatedMs = kUnknown; ///< NaN while some task has no valid record
    double measuredMs = kUnknown, untunedMs = kUnknown; ///< whole network, measured last
    double activeSeconds = 0; ///< of all runs
    std::int64_t trials = 0, errors = 0;
};

/// Errors: NotFound (no model in it), and the store's.
Result<Standing> standing(const std::filesystem::path& project);

struct TaskChange
{
    std::string name;
    std::int32_t weight = 1;
    double beforeMs = kUnknown, afterMs = kUnknown; ///< NaN: no valid record, or not a task there
    double ratio() const { return afterMs / beforeMs; }
};

struct Comparison
{
    std::vector<TaskChange> tasks; ///< most harm first, then most gain
    double beforeMs = 0, afterMs = 0; ///< weighted sum over the tasks that both have valid records for
    std::vector<std::string> unlike; ///< conditions that differ, a sentence each: then the figures may not compare
    std::vector<std::string> lost; ///< tasks that had a valid record and have none now
};

Comparison compare(const Standing& before, const Standing& after);

} // namespace lathe::session
