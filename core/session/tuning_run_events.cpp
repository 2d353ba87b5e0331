// What a tuning run tells: trials, estimates, reasons and times as events.

#include "core/session/stored_time.h"
#include "core/session/tuning_run.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace lathe::session {

void TuningRun::emit(std::vector<Event> events)
{
    m_setup.control->emit(events);
}

void TuningRun::emitOne(decltype(Event::what) what)
{
    emit({Event{atSeconds(), std::move(what)}});
}

LogEvent logged(const Message& message)
{
    return {textOf(message), about(message)};
}

ErrorEvent told(Errc code, const Message& message)
{
    return {code, textOf(message), about(message)};
}

namespace {

nlohmann::json withAbout(nlohmann::json event, const About& about)
{
    if (about)
        event["about"] = nlohmann::json::parse(toJsonText(about));
    return event;
}

/// Kind and content of an event as the store keeps it; replay.cpp reads them back.
std::pair<const char*, nlohmann::json> keptForm(const decltype(Event::what)& what)
{
    if (const auto* error = std::get_if<ErrorEvent>(&what))
        return {"error", withAbout({{"code", toString(error->code)}, {"text", error->text}}, error->about)};
    if (const auto* log = std::get_if<LogEvent>(&what))
        return {"log", withAbout({{"text", log->text}}, log->about)};
    const auto& [task, budget] = std::get<BudgetEvent>(what);
    return {"budget", {{"task", task}, {"pinned", budget.pinned}, {"muted", budget.muted}, {"boost", budget.boost}, {"trial_cap", budget.trialCap}}};
}

} // namespace

Result<> TuningRun::emitKept(decltype(Event::what) what)
{
    const double at = atSeconds();
    const auto [kind, content] = keptForm(what);
    emit({Event{at, std::move(what)}});
    if (m_setup.project == nullptr || m_session == 0)
        return {};
    return m_setup.project->addEvent(m_session, at, kind, content.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

search::Terms TuningRun::explain(std::int32_t task, std::string& reason) const
{
    const std::vector<search::Terms> all = m_scheduler->terms();
    search::Terms terms = all[static_cast<std::size_t>(task)];
    const search::TaskProgress& progress = m_scheduler->progress(task);
    reason = progress.rounds == 0 ? "first" : progress.dead ? "revived" : progress.pinned ? "pinned" : "promise";
    // The reference's gradient is the less the better, a gain the more.
    const char* decisive = terms.contains("gain_per_second") ? "gain_per_second" : terms.contains("gradient") ? "gradient" : nullptr;
    if (decisive == nullptr || progress.rounds == 0)
        return terms;
    const double sign = terms.contains("gain_per_second") ? 1 : -1;
    std::int32_t next = -1;
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(all.size()); ++i) {
        const search::TaskProgress& other = m_scheduler->progress(i);
        if (i == task || other.muted || other.dead != progress.dead || other.pinned != progress.pinned)
            continue;
        if (next < 0 || sign * all[static_cast<std::size_t>(i)].at(decisive) > sign * all[static_cast<std::size_t>(next)].at(decisive))
            next = i;
    }
    if (next >= 0) {
        terms["next_best"] = all[static_cast<std::size_t>(next)].at(decisive);
        terms["next_best_task"] = next;
    }
    return terms;
}

TimeSpent TuningRun::timeSoFar()
{
    TimeSpent time;
    time.activities = m_time.sums();
    if (!m_measurer)
        return time;
    measure::MeasureTimes measured = m_measurerTimes;
    measured += m_measurer->times();
    const double all = time.seconds();
    WorkerSeconds builders{all * static_cast<double>(m_measurer->builders()), 0}, runners{all * static_cast<double>(m_measurer->devices().size()), 0};
    for (const auto& [name, spent] : measured.workers) {
        time.workers[name] = {spent.seconds, spent.processorSeconds};
        (isBuilderPiece(name) ? builders : runners).seconds -= spent.seconds;
    }
    builders.seconds = std::max(0.0, builders.seconds);
    runners.seconds = std::max(0.0, runners.seconds);
    time.workers["builder idle"] = builders;
    time.workers["runner idle"] = runners;
    return time;
}

TimeSpent TuningRun::timeSinceLast()
{
    TimeSpent spent = timeSoFar().since(m_accounted);
    m_accounted += spent;
    return spent;
}

/// Why no task can go on.
Message TuningRun::whatIsLeft() const
{
    bool exhausted = true;
    for (std::size_t i = 0; i < m_tasks.size(); ++i)
        exhausted = exhausted && m_scheduler->progress(static_cast<std::int32_t>(i)).exhausted;
    return exhausted ? say(Msg::SpaceExhausted) : say(Msg::NothingLeft);
}

void TuningRun::emitRecord(const Record& record, std::vector<Event>& events)
{
    const auto found = m_taskOfKey.find(record.candidate.task);
    if (found == m_taskOfKey.end())
        return;
    const std::int32_t task = found->second;
    TrialView view;
    view.id = record.trial;
    view.round = record.round;
    view.index = record.index;
    view.task = task;
    view.candidate = record.candidate.hash().hex();
    view.sketch = record.candidate.sketch;
    view.stage = toString(record.result.stage);
    view.code = toString(record.result.code);
    view.text = record.result.text;
    view.about = record.result.about;
    ++m_trials;
    const double at = atSeconds();
    m_told.emplace_back(at, record.index);
    if (!record.result.ok()) {
        ++m_errors[view.code];
        events.push_back({at, TrialEvent{std::move(view)}});
        return;
    }
    const double ns = record.result.meanNs();
    view.costMs = ns * 1e-6;
    events.push_back({at, TrialEvent{std::move(view)}});
    Task& t = m_tasks[static_cast<std::size_t>(task)];
    if (!m_runoffs && ns < t.bestNs) { // else the round's runoff says so
        t.bestNs = ns;
        events.push_back({at, BestEvent{task, ns * 1e-6, record.candidate.alternative}});
    }
}

std::vector<ForecastTask> TuningRun::forecastTasks() const
{
    double seconds = 0, trials = 0;
    std::vector<ForecastTask> tasks;
    for (std::size_t i = 0; i < m_tasks.size(); ++i) {
        const search::TaskProgress& progress = m_scheduler->progress(static_cast<std::int32_t>(i));
        const auto first = std::find_if(progress.history.begin(), progress.history.end(), [](double best) { return best < 1e10; });
        const double firstMs = first == progress.history.end() ? kUnknown : *first * 1e3;
        tasks.push_back({m_scheduler->tasks()[i].weight, firstMs, m_tasks[i].bestNs * 1e-6, 0, progress.rounds > 1});
        if (progress.rounds > 1) {
            seconds += progress.elapsedSeconds;
            trials += static_cast<double>(progress.trials);
        }
    }
    for (ForecastTask& task : tasks)
        task.secondsPerRound = trials > 0 ? seconds / trials * m_options.trialsPerRound : 0;
    return tasks;
}

EstimateEvent TuningRun::estimate(double at) const
{
    EstimateEvent event;
    const double estimate = estimatedSeconds();
    if (std::isfinite(estimate)) {
        event.ms = estimate * 1e3;
    } else {
        // Tasks without a valid program are guessed from the speeds of the others: none faster than the fastest, none slower
        // than half the slowest.
        double known = 0, missing = 0, fastest = 0, slowest = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < m_tasks.size(); ++i) {
            const search::ScheduledTask& task = m_scheduler->tasks()[i];
            const search::TaskProgress& progress = m_scheduler->progress(static_cast<std::int32_t>(i));
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
    if (m_options.seconds > 0)
        event.etaSeconds = std::max(0.0, m_options.seconds - at);
    if (m_options.trials > 0 && m_trials > 0) {
        const double byTrials = at / static_cast<double>(m_trials) * static_cast<double>(m_options.trials - m_trials);
        event.etaSeconds = std::isfinite(event.etaSeconds) ? std::min(event.etaSeconds, byTrials) : byTrials;
    }
    if (std::isfinite(event.ms)) {
        const Forecast likely = forecast(forecastTasks(), at, at + event.etaSeconds);
        event.forecastMs = likely.ms;
        event.forecastLow = likely.low;
        event.forecastHigh = likely.high;
    }
    return event;
}

void TuningRun::emitDone(std::string_view ending, const About& about)
{
    DoneEvent done;
    done.trials = m_trials;
    done.rest = timeSinceLast();
    done.time = m_past;
    done.time += m_accounted;
    done.seconds = atSeconds();
    if (m_scheduler) {
        const double estimate = estimatedSeconds();
        if (std::isfinite(estimate))
            done.estimatedMs = estimate * 1e3;
    }
    done.measuredMs = m_measuredMs;
    done.errors = m_errors;
    if (m_setup.project != nullptr && m_session != 0 && !m_setup.project->readOnly()) {
        const auto known = [](double value) { return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(); };
        nlohmann::json rest = nlohmann::json::object();
        putTimeSpent(rest, done.rest);
        const nlohmann::json kept = withAbout({{"trials", done.trials}, {"estimated_ms", known(done.estimatedMs)}, {"measured_ms", known(done.measuredMs)},
                                     {"errors", done.errors}, {"time_s", done.time.activities}, {"rest", rest}, {"state", toString(m_setup.control->state())}, {"text", ending}}, about);
        // A failing disk has ended the run already, or shows when the next one starts.
        (void)m_setup.project->addEvent(m_session, done.seconds, "done", kept.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    }
    emit({Event{done.seconds, std::move(done)}});
}

} // namespace lathe::session
