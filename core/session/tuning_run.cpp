#include "core/session/tuning_run.h"

#include "core/record/json_fields.h"
#include "core/session/clock_times.h"
#include "core/session/finals.h"
#include "core/session/kernel_choices.h"
#include "core/session/measure_plan.h"
#include "core/session/options_json.h"
#include "core/session/roofline.h"
#include "core/session/stored_time.h"
#include "core/session/tune_options.h"
#include "core/support/hash.h"
#include "core/support/message.h"
#include "core/support/stop_after.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <random>

namespace lathe::session {

using nlohmann::json;
using std::chrono::steady_clock;

namespace {

constexpr std::int32_t kLeastTrialsPerRound = 8;

/// Rounds of 64, as the reference; where the budget in time is small, so few trials that each task gets some four rounds.
std::int32_t roundSize(const TuneOptions& options, std::size_t tasks)
{
    if (options.trialsPerRound > 0)
        return options.trialsPerRound;
    return static_cast<std::int32_t>(std::clamp(expectedTrials(options) / (4.0 * static_cast<double>(tasks)), static_cast<double>(kLeastTrialsPerRound), 64.0));
}

} // namespace

TuningRun::TuningRun(RunSetup setup) : m_setup(std::move(setup)), m_options(m_setup.options) { }

bool TuningRun::modelTime() const
{
    return m_setup.model->target.kind() == "sim";
}

double TuningRun::atSeconds() const
{
    return m_resumedSeconds + m_time.seconds();
}

double TuningRun::searchSeconds() const
{
    if (m_options.seconds <= 0)
        return std::numeric_limits<double>::infinity();
    return m_options.seconds - (m_setup.project == nullptr ? 0 : finalsReserve(m_options.seconds, m_runoffs)) - networkReserve();
}

double TuningRun::estimatedSeconds() const
{
    double sum = 0;
    for (std::size_t i = 0; i < m_tasks.size(); ++i)
        sum += m_scheduler->tasks()[i].weight * (m_tasks[i].bestNs * 1e-9);
    return sum;
}

bool TuningRun::budgetLeft() const
{
    if (atSeconds() >= searchSeconds())
        return false;
    if (m_options.trials > 0 && m_trials >= m_options.trials)
        return false;
    // As the reference's: since the objective's best, and only once every task has a valid result.
    return m_options.earlyStop <= 0 || !std::isfinite(m_bestObjective) || m_trials - m_trialsAtBest < m_options.earlyStop;
}

/// Why the budget "until the last hour gained under 0.1 %" is used up; nothing: it is not.
std::optional<Message> TuningRun::gainedTooLittle() const
{
    if (m_options.minGainPercent <= 0 || m_estimates.empty())
        return {};
    const double now = m_estimates.back().second, since = atSeconds() - m_options.gainWindowSeconds;
    if (m_estimates.front().first > since)
        return {}; // the network has not been known for that long
    double before = m_estimates.front().second;
    for (const auto& [at, ms] : m_estimates)
        if (at <= since)
            before = ms;
    const double gain = 100 * (before - now) / before;
    if (gain >= m_options.minGainPercent)
        return {};
    return say(Msg::GainTooSmall, m_options.gainWindowSeconds / 60, std::max(gain, 0.0), m_options.minGainPercent);
}

store::Conditions TuningRun::conditions() const
{
    return {m_device, m_coldBytes};
}

void TuningRun::setState(RunState state, std::string text, About about)
{
    m_setup.control->setState(state);
    emitOne(StateEvent{state, std::move(text), std::move(about)});
    if (m_setup.project != nullptr && m_session != 0 && !m_setup.project->readOnly())
        (void)m_setup.project->updateSession(m_session, toString(state), atSeconds()); // a failing disk shows at the next trial
}

Result<> TuningRun::prepare()
{
    const LoadedModel& model = *m_setup.model;
    if (model.partition.tasks.empty())
        return makeError(Errc::Unsupported, say(Msg::NothingToTune));
    m_options.trialsPerRound = roundSize(m_options, model.partition.tasks.size());

    LATHE_TRY(startMeasurer());
    m_coldBytes = coldBytesOf(m_options, model);
    m_runoffs = m_options.runoff == "on" || (m_options.runoff == "auto" && !modelTime());

    search::PolicyOptions policyOptions;
    policyOptions.seed = m_options.seed;
    policyOptions.trialsPerRound = m_options.trialsPerRound;
    LATHE_TRY_ASSIGN(m_model, search::makeSharedModel(m_options.policy, model.partition.tasks.size(), policyOptions));
    std::vector<search::ScheduledTask> scheduled;
    for (const graph::Task& task : model.partition.tasks) {
        Task t;
        t.search = searchTask(task, model, m_options.strict);
        LATHE_TRY_ASSIGN(t.policy, search::makePolicy(m_options.policy, t.search, m_model, policyOptions));
        m_taskOfKey[task.key] = static_cast<std::int32_t>(m_tasks.size());
        scheduled.push_back({task.name, static_cast<double>(task.weight), task.flop, {}, 0});
        m_tasks.push_back(std::move(t));
    }
    search::SchedulerOptions schedulerOptions;
    schedulerOptions.trialsPerRound = m_options.trialsPerRound;
    schedulerOptions.seed = m_options.seed;
    LATHE_TRY_ASSIGN(m_scheduler, search::TaskScheduler::create(m_options.scheduler, scheduled, schedulerOptions));
    for (std::size_t i = 0; i < m_tasks.size() && m_options.trialsPerTask > 0; ++i)
        m_scheduler->setTrialCap(static_cast<std::int32_t>(i), m_options.trialsPerTask);
    const std::vector<TaskBudget> budgets = m_setup.steering->budgets();
    for (std::size_t i = 0; i < budgets.size(); ++i)
        if (budgets[i] != TaskBudget())
            m_setup.steering->setBudget(static_cast<std::int32_t>(i), budgets[i]); // for followSteering() to meet
    return {};
}

Result<> TuningRun::startMeasurer()
{
    if (m_measurer)
        m_measurerTimes += m_measurer->times();
    LATHE_TRY_ASSIGN(m_measurer, measure::Measurer::create(measurerOptions(m_options, *m_setup.model)));
    m_device = m_measurer->devices().empty() ? std::string("{}") : m_measurer->devices().front();
    return {};
}

/// Takes over what was asked for since the last round.
Result<> TuningRun::followSteering()
{
    for (const auto& [task, budget] : m_setup.steering->takeChanges()) {
        m_scheduler->setPinned(task, budget.pinned);
        m_scheduler->setMuted(task, budget.muted);
        m_scheduler->setBoost(task, budget.boost);
        m_scheduler->setTrialCap(task, budget.trialCap > 0 ? budget.trialCap : m_options.trialsPerTask);
        if (m_setup.project != nullptr)
            LATHE_TRY(m_setup.project->setBudget({m_setup.modelRow, m_tasks[static_cast<std::size_t>(task)].search.key, budget.pinned, budget.muted, budget.boost, budget.trialCap}));
        LATHE_TRY(emitKept(BudgetEvent{task, budget}));
    }
    if (const auto timeout = m_setup.steering->runTimeout(); timeout && *timeout != m_options.timeoutSeconds) {
        m_options.timeoutSeconds = *timeout;
        LATHE_TRY(startMeasurer());
        if (m_setup.project != nullptr) {
            LATHE_TRY(m_setup.project->setSessionOptions(m_session, storedOptions()));
        }
        LATHE_TRY(emitKept(logged(say(Msg::CandidateMayRun, *timeout))));
    }
    return {};
}

Result<> TuningRun::restore(std::stop_token stop)
{
    store::Project& project = *m_setup.project;
    LATHE_TRY_ASSIGN(std::vector<Record> records, project.sessionRecords(m_session));
    // Finals were held between two rounds: trials of later ones were measured against what they said.
    std::map<std::int64_t, std::vector<Record>> finals;
    std::erase_if(records, [&finals](const Record& record) {
        if (finalsOf(record).empty())
            return false;
        finals[wholeIn(json::parse(record.result.conditions, nullptr, false), "finals_round")].push_back(record);
        return true;
    });
    LATHE_TRY_ASSIGN(const std::vector<store::RoundRow> rounds, project.rounds(m_session));
    LATHE_TRY_ASSIGN(m_past, storedTime(project, m_session));
    std::size_t at = 0;
    for (const store::RoundRow& round : rounds) {
        if (const auto held = finals.find(m_round); held != finals.end())
            takeFinals(held->second);
        std::vector<Record> told;
        for (; at < records.size() && records[at].round == round.index; ++at)
            told.push_back(records[at]);
        const auto task = m_taskOfKey.find(round.task);
        if (task == m_taskOfKey.end() || round.index != m_round)
            return makeError(Errc::Incompatible, say(Msg::RunOfOtherTasks));
        std::vector<Event> events;
        for (const Record& record : told)
            emitRecord(record, events);
        const json durations = json::parse(round.durations, nullptr, false);
        const double elapsed = numberIn(durations, "elapsed_s", 0);
        LATHE_TRY(tellRound(task->second, told, elapsed, restoreRunoff(m_tasks[static_cast<std::size_t>(task->second)], round.durations, told), stop));
        if (stop.stop_requested())
            return makeError(Errc::Cancelled, say(Msg::Stopped));
        if (const double objective = m_scheduler->estimatedLatency(); std::isfinite(objective))
            m_estimates.emplace_back(round.atSeconds, objective * 1e3);
        ++m_round;
    }
    if (const auto held = finals.find(m_round); held != finals.end())
        takeFinals(held->second);
    m_partial.assign(records.begin() + static_cast<std::ptrdiff_t>(at), records.end());
    return {};
}

/// What was learned, for views and later runs.
Result<> TuningRun::keepModel()
{
    if (m_setup.project == nullptr || m_session == 0 || !m_model || !m_model->ready())
        return {};
    LATHE_TRY_ASSIGN(const auto bytes, m_model->model().save());
    return m_setup.project->putSnapshot(m_session, "cost model", m_round, bytes);
}

/// What the device can do at most goes into the project, for views to hold tasks against.
Result<> TuningRun::keepLimits()
{
    if (m_setup.project == nullptr)
        return {};
    const auto activity = m_time.in("limits");
    auto limits = m_measurer->limits(0);
    if (!limits)
        return emitKept(told(limits.error().code, say(Msg::MeasuringLimits, limits.error())));
    DeviceLimits known = limitsFromJson(*limits);
    if (!known.known())
        return {};
    const double at = atSeconds();
    emit({Event{at, LimitsEvent{std::move(known)}}});
    return m_setup.project->addEvent(m_session, at, "limits", *limits);
}

void TuningRun::pauseIfAsked(std::stop_token stop)
{
    if (!m_setup.control->pauseRequested())
        return;
    setState(RunState::Paused);
    {
        const auto pause = m_time.in({});
        m_setup.control->waitWhilePaused(stop);
    }
    if (!stop.stop_requested())
        setState(RunState::Running);
}

/// A new run, or the latest one continued: true.
Result<bool> TuningRun::open(std::stop_token stop)
{
    const auto activity = m_time.in("start");
    store::Project* project = m_setup.project;
    std::optional<store::SessionRow> resumed;
    if (m_options.resume) {
        if (project == nullptr)
            return makeError(Errc::InvalidArgument, say(Msg::NoProjectToResume));
        LATHE_TRY_ASSIGN(const auto sessions, project->sessions());
        for (const store::SessionRow& row : sessions)
            if (row.model == m_setup.modelRow && row.target == m_setup.model->target.text())
                resumed = row;
        if (!resumed)
            return makeError(Errc::NotFound, say(Msg::NoRunToResume, project->file().string()));
        // The run goes on with its own options; only the budget and how much is shown may be given anew.
        LATHE_TRY_ASSIGN(TuneOptions stored, tuneOptionsFromJson(resumed->options));
        if (m_options.seconds > 0 || m_options.trials > 0 || m_options.minGainPercent > 0) {
            stored.seconds = m_options.seconds;
            stored.trials = m_options.trials;
            stored.minGainPercent = m_options.minGainPercent;
            stored.gainWindowSeconds = m_options.gainWindowSeconds;
        }
        stored.verbose = m_options.verbose;
        m_options = stored;
        LATHE_TRY(check(m_options));
    }
    LATHE_TRY(prepare());
    if (project != nullptr && resumed) {
        m_session = resumed->id;
        m_resumedSeconds = resumed->activeSeconds;
        m_nonce = textIn(json::parse(resumed->options, nullptr, false), "nonce");
        LATHE_TRY(takeHeadStartAgain(*resumed, stop));
        LATHE_TRY(restore(stop));
    } else {
        LATHE_TRY(takeHeadStart(stop));
        std::random_device device;
        m_nonce = contentHash(fmt::format("{} {} {}", device(), device(), unixMs())).hex();
        if (project != nullptr) {
            LATHE_TRY_ASSIGN(m_session, project->addSession({0, m_setup.modelRow, m_setup.model->target.text(), storedOptions(), unixMs(), 0, "running"}));
            LATHE_TRY(keepHeadStart());
        }
    }
    return resumed.has_value();
}

Result<> TuningRun::run(std::stop_token stop)
{
    m_time = TimeAccount();
    setState(RunState::Starting);
    std::optional<Message> ending;
    const auto body = [&]() -> Result<> {
        LATHE_TRY_ASSIGN(const bool resumed, open(stop));
        setState(RunState::Running);
        if (m_headStart.note)
            LATHE_TRY(emitKept(logged(*m_headStart.note)));
        LATHE_TRY(keepLimits());
        if (!resumed)
            LATHE_TRY(measureWhole(true, stop));
        while (!stop.stop_requested() && budgetLeft()) {
            ending = gainedTooLittle();
            if (ending)
                break;
            if (m_setup.control->pauseRequested()) {
                pauseIfAsked(stop);
                continue;
            }
            LATHE_TRY(followSteering());
            // A round that was cut short goes on with its task, whatever was asked for since.
            const std::int32_t task = m_partial.empty() ? m_scheduler->next() : m_taskOfKey.at(m_partial.front().candidate.task);
            if (task < 0) {
                ending = whatIsLeft();
                break;
            }
            auto round = oneRound(task, stop);
            if (!round && round.error().code == Errc::Cancelled)
                break;
            LATHE_TRY(std::move(round));
            // The whole network about once a minute, more rarely where that takes long, and only if the estimate has moved.
            if (budgetLeft() && atSeconds() - m_networkAt > std::max(60.0, 20 * m_networkSeconds) && m_scheduler->estimatedLatency() < 0.97 * m_networkEstimate)
                LATHE_TRY(measureWhole(false, stop));
        }
        if (!stop.stop_requested())
            LATHE_TRY(holdFinals(stop));
        if (!stop.stop_requested())
            LATHE_TRY(measureWhole(false, stop));
        return {};
    };
    auto result = body();
    if (!result && result.error().code == Errc::Cancelled && stop.stop_requested())
        result = {};
    if (auto kept = keepModel(); result)
        result = std::move(kept);
    if (!result)
        setState(RunState::Failed, result.error().message, result.error().about);
    else
        setState(stop.stop_requested() ? RunState::Stopped : RunState::Finished, ending ? textOf(*ending) : std::string(), ending ? about(*ending) : About());
    if (result)
        emitDone(ending ? textOf(*ending) : std::string(), ending ? about(*ending) : About());
    else
        emitDone(result.error().message, result.error().about);
    return result;
}

Result<measure::TaskDataPtr> TuningRun::taskData(Task& task, const std::string& alternative)
{
    if (const auto known = task.data.find(alternative); known != task.data.end())
        return known->second;
    for (const search::SearchAlternative& a : task.search.alternatives) {
        if (a.name != alternative)
            continue;
        const auto activity = m_time.in("reference");
        LATHE_TRY_ASSIGN(auto data, checkedData(a));
        return task.data[alternative] = std::move(data);
    }
    return makeError(Errc::Internal, say(Msg::NoAlternativeOf, task.search.name, alternative));
}

Result<> TuningRun::oneRound(std::int32_t taskIndex, std::stop_token stop)
{
    Task& task = m_tasks[static_cast<std::size_t>(taskIndex)];
    const auto roundStart = steady_clock::now();
    std::string reason;
    const search::Terms terms = explain(taskIndex, reason);
    if (!m_partial.empty())
        reason = "continued";
    std::int32_t count = m_options.trialsPerRound;
    if (m_options.trials > 0)
        count = static_cast<std::int32_t>(std::min<std::int64_t>(count, m_options.trials - m_trials));
    if (const search::TaskProgress& progress = m_scheduler->progress(taskIndex); progress.trialCap > 0)
        count = static_cast<std::int32_t>(std::min<std::int64_t>(count, progress.trialCap - progress.trials));
    // Where trials are slow, fewer of them: a round takes a quarter of the task's even share of the budget at most. Durations are
    // stored, so that a run that goes on counts alike.
    if (const search::TaskProgress& progress = m_scheduler->progress(taskIndex); m_options.seconds > 0 && progress.trials > 0 && progress.elapsedSeconds > 0) {
        const double fits = m_options.seconds / (4.0 * static_cast<double>(m_tasks.size())) * static_cast<double>(progress.trials) / progress.elapsedSeconds;
        count = static_cast<std::int32_t>(std::min<double>(count, std::max(fits, static_cast<double>(kLeastTrialsPerRound))));
    }
    count = std::max(1, count);
    std::vector<Candidate> candidates;
    {
        const auto activity = m_time.in("propose");
        const double predicted = m_model->predictSeconds();
        // A task's first round is the default schedule of its first algorithm, alone but for what a head start brings: the whole network has an estimate
        // after seconds, and the scheduler knows from the start where its time goes. (An export without records takes search::defaultCandidate.)
        if (m_options.policy == "sketch" && m_scheduler->progress(taskIndex).rounds == 0)
            if (auto untuned = untunedCandidate(task.search)) {
                candidates.push_back(*std::move(untuned));
                LATHE_TRY(addHeirs(task, count, candidates));
            }
        if (candidates.empty()) {
            LATHE_TRY_ASSIGN(candidates, task.policy->propose(static_cast<std::uint64_t>(m_round), count, *m_setup.executor, stop));
        }
        m_time.move("propose", "score", m_model->predictSeconds() - predicted);
    }

    // A round that was cut short goes on with its candidates. Where another version or another budget would choose others, what it
    // has is all of it.
    const bool goesOn = std::all_of(m_partial.begin(), m_partial.end(), [&candidates](const Record& r) {
        const auto i = static_cast<std::size_t>(r.index);
        return i < candidates.size() && candidates[i].hash() == r.candidate.hash();
    });
    if (!goesOn) {
        candidates.clear();
        for (const Record& record : m_partial)
            candidates.push_back(record.candidate);
    }

    m_told.clear();
    // What a trial sees is fixed when its round begins, whatever part of the round is already stored.
    const double bestNs = task.bestNs;
    const std::int64_t firstOrdinal = m_trials;
    // Trials of this round that an earlier life of the run has stored are taken from there.
    std::vector<Record> records(candidates.size());
    std::vector<measure::MeasureRequest> requests;
    std::vector<std::size_t> places;
    std::vector<Event> known;
    std::vector<Ahead> runners(m_runoffs ? candidates.size() : 0);
    for (Ahead& runner : runners)
        runner.built = measure::makeBuiltKernel();
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        Record& record = records[i];
        record.trial = contentHash(fmt::format("{} {} {}", m_nonce, m_round, i)).hex();
        record.session = m_session;
        record.round = m_round;
        record.index = static_cast<std::int32_t>(i);
        record.candidate = candidates[i];
        record.target = m_setup.model->target.text();
        record.device = m_device;
        const auto stored = std::find_if(m_partial.begin(), m_partial.end(), [&](const Record& r) { return r.trial == record.trial; });
        if (stored != m_partial.end()) {
            record = *stored;
            emitRecord(record, known);
            continue;
        }
        measure::MeasureRequest request;
        request.trial = record.trial;
        request.candidate = record.candidate;
        LATHE_TRY_ASSIGN(request.task, taskData(task, record.candidate.alternative));
        request.plan = planOf(m_options, m_coldBytes);
        request.plan.loserFactor = 1.5;
        request.plan.contenderFactor = m_runoffs ? kGlanceOnly : 1.08; // the runoff looks again
        request.bestNs = bestNs;
        if (m_runoffs)
            request.built = runners[i].built;
        request.ordinal = firstOrdinal + static_cast<std::int64_t>(i);
        requests.push_back(std::move(request));
        places.push_back(i);
    }
    m_freshTrials += static_cast<std::int64_t>(requests.size());
    m_partial.clear();
    const double begun = atSeconds();
    emit({Event{begun, RoundEvent{m_round, taskIndex, static_cast<std::int32_t>(candidates.size()), terms, reason}}});

    // On disk first, then acknowledged; in small batches, since each transaction waits for the disk.
    std::vector<Record> pending;
    Result<> stored;
    auto lastFlush = steady_clock::now();
    const auto flush = [&] {
        if (pending.empty() || !stored)
            return;
        const auto activity = m_time.in("store");
        if (m_setup.project != nullptr)
            stored = m_setup.project->addRecords(pending);
        std::vector<Event> events;
        if (stored)
            for (const Record& record : pending)
                emitRecord(record, events);
        emit(std::move(events));
        pending.clear();
        lastFlush = steady_clock::now();
    };
    {
        const StopAfter end(stop, searchSeconds() - atSeconds());
        const double building = m_measurer->times().buildSeconds, measuring = m_measurer->times().measureSeconds;
        std::size_t given = 0;
        auto measured = m_measurer->measure(requests, [&](std::size_t i, TrialResult result) {
            given = i + 1;
            Record& record = records[places[i]];
            record.result = std::move(result);
            record.timeMs = unixMs();
            pending.push_back(record);
            if (pending.size() >= 16 || secondsSince(lastFlush) > 0.1)
                flush();
        }, end.token());
        m_time.move("other", "build", m_measurer->times().buildSeconds - building);
        m_time.move("other", "measure", m_measurer->times().measureSeconds - measuring);
        flush();
        LATHE_TRY(std::move(stored));
        const bool timeIsUp = !measured && measured.error().code == Errc::Cancelled && !stop.stop_requested();
        if (!timeIsUp)
            LATHE_TRY(std::move(measured));
        for (std::size_t i = 0; i < runners.size(); ++i)
            runners[i].record = records[i];
        // The budget ends in the middle of a round: that is then all of it.
        for (std::size_t i = places.size(); timeIsUp && i > given; --i) {
            records.erase(records.begin() + static_cast<std::ptrdiff_t>(places[i - 1]));
            if (m_runoffs)
                runners.erase(runners.begin() + static_cast<std::ptrdiff_t>(places[i - 1]));
        }
        if (timeIsUp && records.empty()) { // not begun: neither told nor stored, since a round without trials says that the space is exhausted
            emitOne(RoundDoneEvent{m_round, taskIndex, 0, {}, estimate(atSeconds()).ms}); // its time is told at the end
            return {};
        }
    }
    double elapsed = secondsSince(roundStart);
    if (modelTime())
        elapsed = 0.01 * static_cast<double>(std::max<std::size_t>(records.size(), 1));
    RoundBest best;
    if (m_runoffs) {
        LATHE_TRY_ASSIGN(best, holdRunoff(taskIndex, runners, elapsed, stop));
        if (!modelTime())
            elapsed = secondsSince(roundStart);
        if (std::isfinite(best.ms))
            emitOne(BestEvent{taskIndex, best.ms, best.alternative, best.final});
    }
    LATHE_TRY(tellRound(taskIndex, records, elapsed, m_runoffs ? std::optional(best.toldSeconds) : std::nullopt, stop));
    const TimeSpent time = timeSinceLast();
    const double at = atSeconds();
    const EstimateEvent after = estimate(at);
    if (m_setup.project != nullptr) {
        const auto activity = m_time.in("store");
        json durations = {{"elapsed_s", elapsed}, {"began_s", begun}};
        putTimeSpent(durations, time);
        durations["told"] = m_told;
        if (m_runoffs) {
            json& kept = durations["best"] = json::object();
            if (std::isfinite(best.ms))
                kept = {{"ms", best.ms}, {"alternative", best.alternative}, {"final", best.final}};
            if (std::isfinite(best.toldSeconds))
                kept["told_s"] = best.toldSeconds;
        }
        const std::pair<const char*, double> figures[] = {{"eta_s", after.etaSeconds}, {"low_ms", after.low}, {"high_ms", after.high}, {"forecast_ms", after.forecastMs},
                                                          {"forecast_low_ms", after.forecastLow}, {"forecast_high_ms", after.forecastHigh}};
        for (const auto& [name, value] : figures)
            if (std::isfinite(value))
                durations[name] = value;
        json why = terms;
        why["reason"] = reason;
        LATHE_TRY(m_setup.project->addRound({m_session, m_round, task.search.key, static_cast<std::int32_t>(records.size()), why.dump(), durations.dump(),
                                             at, after.ms}));
        LATHE_TRY(m_setup.project->updateSession(m_session, "running", at));
    }
    emit({Event{at, RoundDoneEvent{m_round, taskIndex, static_cast<std::int32_t>(records.size()), time, after.ms}}, Event{at, after}});
    if (const double objective = m_scheduler->estimatedLatency(); std::isfinite(objective))
        m_estimates.emplace_back(at, objective * 1e3); // whether the search gains, finals do not say
    ++m_round;
    return {};
}

Result<> TuningRun::tellRound(std::int32_t taskIndex, const std::vector<Record>& records, double elapsedSeconds, std::optional<double> bestSeconds, std::stop_token stop)
{
    Task& task = m_tasks[static_cast<std::size_t>(taskIndex)];
    std::vector<search::Measured> results;
    search::RoundOutcome outcome;
    outcome.trials = static_cast<std::int64_t>(records.size());
    outcome.elapsedSeconds = elapsedSeconds;
    outcome.exhausted = records.empty();
    for (const Record& record : records) {
        results.push_back({record.candidate, record.result});
        if (record.result.ok())
            outcome.bestSeconds = std::min(outcome.bestSeconds, record.result.meanNs() * 1e-9);
    }
    outcome.bestSeconds = bestSeconds.value_or(outcome.bestSeconds);
    {
        const auto activity = m_time.in("train");
        LATHE_TRY(task.policy->tell(results, stop));
    }
    m_scheduler->tell(taskIndex, outcome);
    if (const double objective = m_scheduler->estimatedLatency(); objective < m_bestObjective) {
        m_bestObjective = objective;
        m_trialsAtBest = m_trials;
    }
    return {};
}

} // namespace lathe::session
