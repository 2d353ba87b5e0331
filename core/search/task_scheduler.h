#pragma once

#include "core/support/result.h"

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace lathe::search {

/// What the scheduler knows of a task from the start.
struct ScheduledTask
{
    std::string name;
    double weight = 1;
    double flop = 0;
    std::string similarityTag; ///< tasks of one tag are alike; empty: like no other
    double floorSeconds = 0; ///< lower bound by peak compute and bandwidth; 0: unknown
    std::int32_t place = 0; ///< in the order of the strategy "sequential"; of equal ones the first comes first
};

/// What a round brought.
struct RoundOutcome
{
    std::int64_t trials = 0;
    double bestSeconds = std::numeric_limits<double>::infinity(); ///< best valid of this round
    double elapsedSeconds = 0; ///< of the round: search, build and measure
    bool exhausted = false; ///< the policy had no candidate
};

/// Where a task stands.
struct TaskProgress
{
    double bestSeconds = 1e10; ///< the reference's "not yet"
    std::int64_t trials = 0; ///< true count
    std::int64_t rounds = 0;
    std::int64_t bestRound = 0; ///< rounds at the latest improvement
    double elapsedSeconds = 0;
    std::vector<double> history; ///< best cost after each round
    bool dead = false; ///< exhausted or without gain for too long
    bool exhausted = false; ///< its search space is used up: no strategy comes back to it
    bool pinned = false, muted = false;
    bool waiting = false; ///< its policy has nothing to propose before other tasks have results
    double boost = 1; ///< factor on what it promises
    std::int64_t trialCap = 0; ///< 0: none
    bool measured() const { return bestSeconds < 1e10; }
};

/// Terms of the decision for one task, for display; the names depend on the strategy.
using Terms = std::map<std::string, double>;

struct SchedulerOptions
{
    std::int32_t trialsPerRound = 64;
    double alpha = 0.2;
    double beta = 2.0;
    std::int32_t window = 3;
    std::int64_t earlyStopPerTask = 0; ///< trials without gain after which a task is dead; 0: never
    std::uint64_t seed = 1;
};

/// Gives each round to one task. Strategies: "gradient" (Lathe's: expected gain per second), "reference" (the
/// reference's gradient, auto-scheduler.md 8), "round-robin", "sequential" (one task after another, each until it is
/// exhausted, has its cap or stops early: autotvm.md 7).
class TaskScheduler
{
public:
    /// Errors: InvalidArgument (no tasks, a weight that is not positive, an unknown strategy).
    static Result<std::unique_ptr<TaskScheduler>> create(std::string_view strategy, std::vector<ScheduledTask> tasks,
                                                         const SchedulerOptions& options);
    virtual ~TaskScheduler() = default;

    /// Task of the next round; -1: nothing left to tune. Deterministic in what it was told. Does not change state.
    std::int32_t next() const;
    void tell(std::int32_t task, const RoundOutcome& outcome);
    /// Whether a task that has the present round has the next one, too, whatever comes of it, as long as it goes on.
    virtual bool staysWithTask() const { return false; }
    /// Figures of an earlier run.
    void restore(std::int32_t task, std::int64_t trials, double bestSeconds);

    const std::vector<ScheduledTask>& tasks() const { return m_tasks; }
    const TaskProgress& progress(std::int32_t task) const { return m_progress[static_cast<std::size_t>(task)]; }
    /// Terms of every task as the next decision sees them.
    std::vector<Terms> terms() const;

    void setPinned(std::int32_t task, bool pinned); ///< pinned tasks go first while any is alive
    void setMuted(std::int32_t task, bool muted); ///< gets no rounds
    void setWaiting(std::int32_t task, bool waiting); ///< gets no rounds after its first one
    void setBoost(std::int32_t task, double factor); ///< positive
    void setTrialCap(std::int32_t task, std::int64_t trials);

    /// Sum of weight x best seconds; +inf until every task has a valid result.
    double estimatedLatency() const;
    std::int64_t totalTrials() const;
    std::int64_t totalRounds() const { return m_rounds; }

protected:
    TaskScheduler(std::vector<ScheduledTask> tasks, const SchedulerOptions& options);
    /// Among these (never empty, each has had its warm-up round): the one to go on with.
    virtual std::int32_t choose(const std::vector<std::int32_t>& alive) const = 0;
    virtual Terms termsOf(std::int32_t task) const = 0;
    virtual void afterRound(std::int32_t task, const RoundOutcome& outcome);
    bool canRun(std::int32_t task) const;

    std::vector<ScheduledTask> m_tasks;
    std::vector<TaskProgress> m_progress;
    SchedulerOptions m_options;
    std::int64_t m_rounds = 0;
    bool m_revivesDead = false; ///< the strategy comes back to tasks without gain when none is left
};

} // namespace lathe::search
