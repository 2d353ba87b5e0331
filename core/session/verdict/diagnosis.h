#pragma once

#include "core/deploy/estimate_parts.h"
#include "core/measure/machine_state.h"
#include "core/session/verdict/gain.h"
#include "core/session/views.h"
#include "core/support/message.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::session {

/// Functions that take less than kSmallFunctionMs each, in one run of the network.
struct SmallFunctions
{
    std::int64_t count = 0;
    double ms = kUnknown; ///< all together
};
inline constexpr double kSmallFunctionMs = 0.02;

/// What is known of a task when a run is judged.
struct TaskFacts
{
    std::int32_t task = -1;
    std::string name;
    double ms = kUnknown; ///< weight x best
    std::int64_t rounds = 0; ///< of search that it had, the first one included
    double leastMs = kUnknown; ///< weight x what the device's limits allow
    bool memoryBound = false; ///< by those limits
};

/// What came of the candidates that a run's policy proposed.
struct Proposed
{
    std::int64_t trials = 0; ///< that were built and measured, failed ones included
    std::int64_t rejected = 0; ///< that exceed the device's limits: they were not built
};

/// What the rules judge; what is unknown finds nothing.
struct RunFacts
{
    Gain gain;
    measure::MachineState machine; ///< while the gain was measured
    double measuredMs = kUnknown; ///< whole network
    deploy::EstimateParts parts; ///< measured beside it
    SmallFunctions small;
    bool startsKernels = false; ///< functions are kernels that are started on a device, not phases of threads
    std::vector<TaskFacts> tasks;
    Proposed proposed;
    std::int64_t threads = 0; ///< of the target; 0: unknown
    std::int64_t processors = 0; ///< that this process may use; 0: the target is of another machine
};

/// How far a network's time may be from the sum of its parts before that is said, 0..1.
inline constexpr double kSumApart = 0.05;

enum class Gravity : std::uint8_t
{
    Doubt, ///< the figures may not be believed
    Hint ///< they may, and there is something to win
};

/// One thing that a rule found.
struct Finding
{
    std::string rule; ///< Rule::id
    Gravity gravity = Gravity::Hint;
    Message title; ///< a few words
    Message evidence; ///< a sentence with the figures
    Message cure; ///< what to do about it
    std::int32_t task = -1; ///< that it is about; -1: the network
};

/// One row of the table.
struct Rule
{
    std::string_view id; ///< stored; never renamed
    Gravity gravity = Gravity::Hint;
    double threshold = 0; ///< in the unit that diagnosis.cpp says beside it
    Msg title = Msg::Plain, cure = Msg::Plain; ///< patterns without arguments
    struct Found
    {
        Message evidence;
        std::int32_t task = -1;
    };
    std::optional<Found> (*look)(const RunFacts& facts, double threshold) = nullptr;
};
std::span<const Rule> rules();

/// Gravest first, else in the order of the table.
std::vector<Finding> diagnose(const RunFacts& facts);

/// `tasks` with their best latencies, `rounds` of each.
std::vector<TaskFacts> taskFacts(std::span<const TaskView> tasks, std::span<const std::int64_t> rounds,
                                 const DeviceLimits& limits);

/// "1.42 times as fast as untuned ...", "not proven ...": a sentence for people.
Message sayGain(const Gain& gain);
/// Whether the figures can be believed: no finding says otherwise.
bool believable(const Gain& gain, std::span<const Finding> findings);

/// [{"rule", "gravity", "evidence", "cure", "task"}]: texts in English beside what they are about.
nlohmann::json toJson(std::span<const Finding> findings);
/// Those of rules that this version has; others are left out.
std::vector<Finding> findingsIn(const nlohmann::json& list);

} // namespace lathe::session
