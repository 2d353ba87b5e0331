#include "core/search/task_scheduler.h"

#include "core/search/scheduler_strategies.h"
#include "core/support/check.h"

#include <algorithm>
#include <cmath>

namespace lathe::search {

TaskScheduler::TaskScheduler(std::vector<ScheduledTask> tasks, const SchedulerOptions& options)
    : m_tasks(std::move(tasks))
    , m_progress(m_tasks.size())
    , m_options(options)
{
}

Result<std::unique_ptr<TaskScheduler>> TaskScheduler::create(std::string_view strategy,
                                                             std::vector<ScheduledTask> tasks,
                                                             const SchedulerOptions& options)
{
    if (tasks.empty())
        return makeError(Errc::InvalidArgument, "there is no task to schedule");
    for (const ScheduledTask& task : tasks)
        if (!(task.weight > 0) || !std::isfinite(task.weight))
            return makeError(Errc::InvalidArgument, "task " + task.name + " has weight " + std::to_string(task.weight)
                                                        + ", which is not positive");
    if (options.trialsPerRound < 1)
        return makeError(Errc::InvalidArgument, "a round needs at least one trial");
    if (strategy == "gradient")
        return makeGainStrategy(std::move(tasks), options);
    if (strategy == "reference")
        return makeReferenceStrategy(std::move(tasks), options);
    if (strategy == "round-robin")
        return makeRoundRobinStrategy(std::move(tasks), options);
    if (strategy == "sequential")
        return makeSequentialStrategy(std::move(tasks), options);
    return makeError(Errc::InvalidArgument, "task scheduler '" + std::string(strategy)
                                                + "' is not one of gradient, reference, round-robin, sequential");
}

bool TaskScheduler::canRun(std::int32_t task) const
{
    const TaskProgress& p = progress(task);
    return !p.muted && !p.exhausted && (!p.waiting || p.rounds == 0) && (p.trialCap == 0 || p.trials < p.trialCap);
}

std::int32_t TaskScheduler::next() const
{
    std::vector<std::int32_t> alive, pinned, stopped;
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(m_tasks.size()); ++i) {
        const TaskProgress& p = progress(i);
        if (!canRun(i))
            continue;
        if (p.dead) {
            stopped.push_back(i);
            continue;
        }
        if (p.rounds == 0)
            return i; // warm-up, in order
        (p.pinned ? pinned : alive).push_back(i);
    }
    if (!pinned.empty())
        return choose(pinned);
    if (!alive.empty())
        return choose(alive);
    if (m_revivesDead && !stopped.empty())
        return choose(stopped);
    return -1;
}

void TaskScheduler::tell(std::int32_t task, const RoundOutcome& outcome)
{
    LATHE_CHECK(task >= 0 && task < static_cast<std::int32_t>(m_tasks.size())) << task;
    TaskProgress& p = m_progress[static_cast<std::size_t>(task)];
    ++m_rounds;
    ++p.rounds;
    p.trials += outcome.trials;
    p.elapsedSeconds += outcome.elapsedSeconds;
    if (outcome.bestSeconds < p.bestSeconds) {
        p.bestSeconds = outcome.bestSeconds;
        p.bestRound = p.rounds;
        p.dead = false;
    }
    p.history.push_back(p.bestSeconds);
    const std::int64_t stale = (p.rounds - p.bestRound) * m_options.trialsPerRound;
    p.exhausted = p.exhausted || outcome.exhausted;
    if (p.exhausted || (m_options.earlyStopPerTask > 0 && stale > m_options.earlyStopPerTask))
        p.dead = true;
    afterRound(task, outcome);
}

void TaskScheduler::restore(std::int32_t task, std::int64_t trials, double bestSeconds)
{
    TaskProgress& p = m_progress[static_cast<std::size_t>(task)];
    p.trials = trials;
    p.rounds = static_cast<std::int64_t>(std::llround(static_cast<double>(trials) / m_options.trialsPerRound));
    if (bestSeconds < p.bestSeconds)
        p.bestSeconds = bestSeconds;
    p.bestRound = p.rounds;
    p.history.assign(static_cast<std::size_t>(p.rounds), p.bestSeconds);
    m_rounds += p.rounds;
}

std::vector<Terms> TaskScheduler::terms() const
{
    std::vector<Terms> all;
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(m_tasks.size()); ++i)
        all.push_back(termsOf(i));
    return all;
}

void TaskScheduler::afterRound(std::int32_t, const RoundOutcome&) {}

void TaskScheduler::setPinned(std::int32_t task, bool pinned)
{
    m_progress[static_cast<std::size_t>(task)].pinned = pinned;
}
void TaskScheduler::setMuted(std::int32_t task, bool muted)
{
    m_progress[static_cast<std::size_t>(task)].muted = muted;
}

void TaskScheduler::setWaiting(std::int32_t task, bool waiting)
{
    m_progress[static_cast<std::size_t>(task)].waiting = waiting;
}
void TaskScheduler::setBoost(std::int32_t task, double factor)
{
    LATHE_CHECK(factor > 0) << factor;
    m_progress[static_cast<std::size_t>(task)].boost = factor;
}
void TaskScheduler::setTrialCap(std::int32_t task, std::int64_t trials)
{
    m_progress[static_cast<std::size_t>(task)].trialCap = trials;
}

double TaskScheduler::estimatedLatency() const
{
    double sum = 0;
    for (std::size_t i = 0; i < m_tasks.size(); ++i) {
        if (!m_progress[i].measured())
            return std::numeric_limits<double>::infinity();
        sum += m_tasks[i].weight * m_progress[i].bestSeconds;
    }
    return sum;
}

std::int64_t TaskScheduler::totalTrials() const
{
    std::int64_t sum = 0;
    for (const TaskProgress& p : m_progress)
        sum += p.trials;
    return sum;
}

} // namespace lathe::search
