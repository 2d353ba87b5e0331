#pragma once

#include <nlohmann/json_fwd.hpp>

#include <limits>
#include <string>

namespace lathe::deploy {

/// What one run of a network should take, ms, in parts that are measured one by one and add up. No time of the whole
/// network is in them, and nothing is fitted.
struct EstimateParts
{
    static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

    double tasksMs = kUnknown; ///< functions with a record: each program alone, as its trials or finals measured it
    /// How much more, or less, the same functions take when each runs right after the one before it
    /// (LoadedLibrary::timeChain).
    double chainMs = kUnknown;
    /// Functions without a record, layout transforms and copies, each run right after the one before it.
    double untunedMs = kUnknown;
    double callMs = kUnknown; ///< waking the threads at a run's start and joining them at its end

    double totalMs() const { return tasksMs + chainMs + untunedMs + callMs; } ///< NaN while a part is unknown
};

/// Members "tasks", "chain", "untuned", "call", "with_overheads" (the total); null where unknown.
nlohmann::ordered_json toJson(const EstimateParts& parts);
/// "1.100 ms: tasks 1.000, chain +0.080, untuned functions 0.019, call 0.001"; "unknown".
std::string toText(const EstimateParts& parts);
/// What is absent, or of another kind, is unknown.
EstimateParts estimatePartsIn(const nlohmann::json& object);

} // namespace lathe::deploy
