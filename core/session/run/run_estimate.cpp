#include "core/session/run/run_estimate.h"

#include "core/session/run/forecast.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lathe::session {

namespace {

std::vector<ForecastTask> forecastTasks(const RunParts& parts)
{
    double seconds = 0, trials = 0;
    std::vector<ForecastTask> tasks;
    for (std::size_t i = 0; i < parts.tasks.size(); ++i) {
        const auto task = static_cast<std::int32_t>(i);
        const search::TaskProgress& progress = parts.scheduler.progress(task);
        const auto first = std::find_if(progress.history.begin(), progress.history.end(),
                                        [](double best) { return best < 1e10; });
        const double firstMs = first == progress.history.end() ? kUnknown : *first * 1e3;
        tasks.push_back({parts.tasks[task].weight, firstMs, parts.tasks[task].bestNs() * 1e-6, 0, progress.rounds > 1});
        if (progress.rounds > 1) {
            seconds += progress.elapsedSeconds;
            trials += static_cast<double>(progress.trials);
        }
    }
    for (ForecastTask& task : tasks)
        task.secondsPerRound = trials > 0 ? seconds / trials * parts.options.trialsPerRound : 0;
    return tasks;
}

/// Tasks without a valid program are guessed from the speeds of the others: none faster than the fastest, none slower
/// than half the slowest.
void guessBand(const search::TaskScheduler& scheduler, EstimateEvent& event)
{
    double known = 0, missing = 0, fastest = 0, slowest = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < scheduler.tasks().size(); ++i) {
        const search::ScheduledTask& task = scheduler.tasks()[i];
        const search::TaskProgress& progress = scheduler.progress(static_cast<std::int32_t>(i));
        if (!progress.measured()) {
            missing += task.weight * task.flop;
            continue;
        }
        known += task.weight * progress.bestSeconds;
        fastest = std::max(fastest, task.flop / progress.bestSeconds);
        slowest = std::min(slowest, task.flop / progress.bestSeconds);
    }
    if (fastest > 0 && slowest > 0) {
        event.low = (known + missing / fastest) * 1e3;
        event.high = (known + missing / (slowest / 2)) * 1e3;
    }
}

} // namespace

EstimateEvent estimateAt(double at, const RunParts& parts)
{
    EstimateEvent event;
    if (const double estimate = parts.tasks.estimatedSeconds(); std::isfinite(estimate))
        event.tasksMs = estimate * 1e3;
    else
        guessBand(parts.scheduler, event);
    event.ms = event.tasksMs + parts.besideTasksMs;
    event.low += parts.besideTasksMs;
    event.high += parts.besideTasksMs;
    if (parts.options.seconds > 0)
        event.etaSeconds = std::max(0.0, parts.options.seconds - at);
    if (const std::int64_t trials = parts.clock.trials(); parts.options.trials > 0 && trials > 0) {
        const double byTrials = at / static_cast<double>(trials) * static_cast<double>(parts.options.trials - trials);
        event.etaSeconds = std::isfinite(event.etaSeconds) ? std::min(event.etaSeconds, byTrials) : byTrials;
    }
    if (std::isfinite(event.ms)) {
        const Forecast likely = forecast(forecastTasks(parts), at, at + event.etaSeconds);
        // What the network has beside its tasks stays as it was measured last: nobody tunes it.
        event.forecastMs = likely.ms + parts.besideTasksMs;
        event.forecastLow = likely.low + parts.besideTasksMs;
        event.forecastHigh = likely.high + parts.besideTasksMs;
    }
    return event;
}

Decision explainDecision(const search::TaskScheduler& scheduler, std::int32_t task)
{
    const std::vector<search::Terms> all = scheduler.terms();
    const auto termsOf = [&all](std::int32_t i) -> const search::Terms& { return all[static_cast<std::size_t>(i)]; };
    const search::TaskProgress& progress = scheduler.progress(task);
    Decision decision{termsOf(task), progress.rounds == 0 ? "first"
                                     : progress.dead      ? "revived"
                                     : progress.pinned    ? "pinned"
                                                          : "promise"};
    // The reference's gradient is the less the better, a gain the more.
    const bool gains = decision.terms.contains("gain_per_second");
    const char* decisive = gains ? "gain_per_second" : decision.terms.contains("gradient") ? "gradient" : nullptr;
    if (decisive == nullptr || progress.rounds == 0)
        return decision;
    const double sign = gains ? 1 : -1;
    std::int32_t next = -1;
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(all.size()); ++i) {
        const search::TaskProgress& other = scheduler.progress(i);
        if (i == task || other.muted || other.dead != progress.dead || other.pinned != progress.pinned)
            continue;
        if (next < 0 || sign * termsOf(i).at(decisive) > sign * termsOf(next).at(decisive))
            next = i;
    }
    if (next >= 0) {
        decision.terms["next_best"] = termsOf(next).at(decisive);
        decision.terms["next_best_task"] = next;
    }
    return decision;
}

Message whyNothingIsLeft(const search::TaskScheduler& scheduler)
{
    bool exhausted = true;
    for (std::size_t i = 0; i < scheduler.tasks().size(); ++i)
        exhausted = exhausted && scheduler.progress(static_cast<std::int32_t>(i)).exhausted;
    return exhausted ? say(Msg::SpaceExhausted) : say(Msg::NothingLeft);
}

} // namespace lathe::session
