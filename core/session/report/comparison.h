#pragma once

#include "core/deploy/estimate_parts.h"
#include "core/session/baseline.h"
#include "core/session/verdict/network_latency.h"
#include "core/session/views.h"
#include "core/support/result.h"

#include <filesystem>
#include <span>

namespace lathe::session {

/// Where a project (a run of it, or how it was at a time) stands: its model and target, the best valid records under
/// the latest conditions.
struct Standing
{
    struct Task
    {
        std::string key, name;
        std::int32_t weight = 1;
        double bestMs = kUnknown;
        std::string alternative, trial;
        std::int64_t trials = 0, errors = 0;
        bool verified = false; ///< the record's outputs were compared with the reference
    };
    std::filesystem::path project;
    std::string model, modelHash, target;
    std::string deviceKey, device, deviceName; ///< of the device: its class, its fingerprint, its name in there
    std::int64_t coldBytes = 0;
    std::vector<Task> tasks; ///< in the network's order
    double tasksMs = kUnknown; ///< the sum of the tasks; NaN while some task has no valid record
    double besideTasksMs = 0; ///< what the network has beside its tasks, as measured last; 0: unknown
    NetworkLatency network;
    deploy::EstimateParts parts; ///< estimated beside network.aloneMs
    VerdictEvent verdict; ///< the latest; unknown where nothing was judged
    double activeSeconds = 0; ///< of all runs
    std::int64_t trials = 0, errors = 0;
    Baseline what;
    std::int64_t modelRow = 0;
    double estimatedMs() const { return tasksMs + besideTasksMs; } ///< of the network
    std::string modelOptions; ///< JSON of the ModelSpec
    /// What the figures depend on beside the above: (name, value), settings of the latest run among them.
    std::vector<std::pair<std::string, std::string>> conditions;
};

/// Errors: NotFound (no such model or run in it), and the store's.
Result<Standing> standing(const Baseline& baseline);
Result<Standing> standing(const std::filesystem::path& project);

/// How much a latency changed, in words that a reader can act on.
enum class Grade : std::uint8_t
{
    Unknown,
    MuchFaster, ///< by more than a fifth
    Faster,
    Same, ///< within two percent
    Slower,
    MuchSlower
};
Grade gradeOf(double ratio); ///< after / before
std::string_view toString(Grade grade); ///< "much faster" ...

struct TaskChange
{
    std::string name;
    std::int32_t weight = 1;
    double beforeMs = kUnknown, afterMs = kUnknown; ///< NaN: no valid record, or not a task there
    std::string key;
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

/// A condition in several standings.
struct ConditionRow
{
    std::string name;
    std::vector<std::string> values; ///< one per standing; empty: not known
    bool differs = false;
    bool serious = false; ///< where it differs, latencies may not compare
};
std::vector<ConditionRow> conditionTable(std::span<const Standing> standings);

} // namespace lathe::session
