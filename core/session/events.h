#pragma once

#include "core/deploy/estimate_parts.h"
#include "core/measure/machine_state.h"
#include "core/session/time_spent.h"
#include "core/session/verdict/diagnosis.h"
#include "core/session/verdict/gain.h"
#include "core/session/views.h"
#include "core/support/result.h"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace lathe::session {

/// What happens in a run, as values. `atSeconds` is the run's active time (pauses left out, continued over
/// resumptions).

struct TrialEvent
{
    TrialView trial;
};

struct RoundEvent
{
    std::int32_t index = 0;
    std::int32_t task = -1;
    std::int32_t trials = 0;
    /// Of the scheduler's decision: the strategy's own, and "next_best" and "next_best_task", the decisive term of the
    /// task that would have come next, where there is one.
    std::map<std::string, double> terms;
    std::string
        reason; ///< "first", "pinned", "promise" (by its terms), "revived" (all others have stopped), "continued"
};

struct RoundDoneEvent
{
    std::int32_t index = 0;
    std::int32_t task = -1;
    std::int32_t trials = 0;
    TimeSpent time; ///< since the previous round or finals ended, so with what was done in between
    double estimateMs = kUnknown; ///< EstimateEvent::ms
    /// Candidates that exceeded the device's limits: they went to no builder, and are no trials.
    std::int64_t rejected = 0;
};

/// Budgets, as a person changed them, have reached the run.
struct BudgetEvent
{
    std::int32_t task = -1;
    TaskBudget budget;
};

struct BestEvent
{
    std::int32_t task = -1;
    double costMs = kUnknown;
    std::string alternative;
    bool final = false; ///< decided by finals: replaces the best before it, even if this one costs more
};

/// Finals have been held (finals.h).
struct FinalsEvent
{
    std::int32_t tasks = 0, finalists = 0, passes = 0;
    std::int32_t changed = 0; ///< number of tasks whose best trial is another one than before
    double beforeMs = kUnknown, afterMs = kUnknown; ///< estimate of the network
    double seconds = 0;
    TimeSpent time; ///< since the round before
};

struct EstimateEvent
{
    /// Of the network: the tasks' sum, and what a run of the network has beside it (functions that are no task, the
    /// chain, the call) as it was measured last. NaN while some task has no valid program.
    double ms = kUnknown;
    double low = kUnknown, high = kUnknown; ///< band, while `ms` is NaN and some task has a valid program
    double etaSeconds = kUnknown;
    /// Where a run with a budget is likely to end, and a band for four of five (forecast.h); NaN without a budget, and
    /// while some task has no valid program.
    double forecastMs = kUnknown, forecastLow = kUnknown, forecastHigh = kUnknown;
    double tasksMs = kUnknown; ///< sum of weight x best alone; NaN as `ms`, and in projects of older versions
};

struct MeasuredEvent
{
    double ms = kUnknown; ///< whole network
    double maxRelError = kUnknown;
    bool untuned = false; ///< the baseline with default schedules
    deploy::EstimateParts estimated; ///< of the same build, measured in the same minute
    measure::MachineState machine = {}; ///< meanwhile
    /// Functions that are no task, and the call: known of an untuned network, too.
    double besideTasksMs = kUnknown;
    SmallFunctions small = {};
    /// What a run of the network has beside its tasks' sum, ms; not a number where that was not measured.
    double beside() const { return untuned ? besideTasksMs : estimated.totalMs() - estimated.tasksMs; }
};

/// Whether the tuned network is faster than the untuned one, and what speaks against believing it. Told once, before
/// a run ends, and whenever both are measured again.
struct VerdictEvent
{
    Gain gain; ///< unknown where the run was stopped before, or nothing can be measured
    measure::MachineState machine; ///< while the pairs were timed
    std::vector<Finding> findings; ///< gravest first
    bool isKnown() const { return gain.verdict() != Verdict::Unknown || !findings.empty(); }
};

/// What the run's device can do at most.
struct LimitsEvent
{
    DeviceLimits limits;
};

struct ErrorEvent
{
    Errc code = Errc::Internal;
    std::string text;
    About about = {}; ///< the text
};

struct LogEvent
{
    std::string text;
    About about = {}; ///< the text
};

enum class RunState : std::uint8_t
{
    Idle,
    Starting,
    Running,
    Pausing,
    Paused,
    Stopping,
    Stopped, ///< by the user; can be resumed
    Finished, ///< budget used or search space exhausted
    Failed
};
std::string_view toString(RunState state);
/// Whether a run goes on: neither none, nor one that has ended, in whatever way.
bool isActive(RunState state);

struct StateEvent
{
    RunState state = RunState::Idle;
    std::string text; ///< Failed: one sentence; Finished: why, unless the budget was used; Running: "finals" while they
                      ///< are held
    About about = {}; ///< the text
};

struct DoneEvent
{
    std::int64_t trials = 0;
    double seconds = 0;
    double estimatedMs = kUnknown; ///< EstimateEvent::ms
    double measuredMs = kUnknown;
    std::map<std::string, std::int64_t> errors; ///< count by code
    TimeSpent time; ///< of the whole run, as far as its project tells
    TimeSpent rest; ///< of that, what came after the last round and the last finals
    std::int64_t rejected = 0; ///< RoundDoneEvent::rejected of all rounds
};

LogEvent logged(const Message& message);
ErrorEvent told(Errc code, const Message& message);

/// The program that writes to a project.
struct ProjectWriter
{
    std::string program; ///< its file name; empty: it did not say
    std::int64_t pid = 0;
    std::string host;
    friend bool operator==(const ProjectWriter&, const ProjectWriter&) = default;
};
Message sayWriter(const ProjectWriter& writer);

/// A new run begins: what comes next is of it. A run that goes on, and a replay, do not say so.
struct RunBegunEvent
{
    std::int64_t run = 0; ///< RunView::id; 0: no project keeps it
};

// What only sessions tell that follow a project which another program writes to (follow_part.h).

/// Who writes has changed.
struct WriterEvent
{
    std::optional<ProjectWriter> writer; ///< nothing: it has ended, and nobody has come after it
};

/// The tasks' figures as the project has them now.
struct TasksEvent
{
    std::vector<TaskView> tasks;
};

/// A replay goes back to its beginning: all that came before it is forgotten.
struct RewindEvent
{
};

struct Event
{
    double atSeconds = 0;
    std::variant<TrialEvent, RoundEvent, BestEvent, EstimateEvent, MeasuredEvent, ErrorEvent, LogEvent, StateEvent,
                 DoneEvent, RoundDoneEvent, BudgetEvent, LimitsEvent, RewindEvent, FinalsEvent, VerdictEvent,
                 WriterEvent, TasksEvent, RunBegunEvent>
        what;
};

/// Watches a session. Called on the session's threads, in order, never concurrently; must return quickly.
class SessionObserver
{
public:
    virtual ~SessionObserver() = default;
    virtual void onEvents(std::span<const Event> events) = 0;
};

} // namespace lathe::session
