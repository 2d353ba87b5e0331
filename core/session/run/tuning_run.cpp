#include "core/session/run/tuning_run.h"

#include "core/backend/codegen.h"
#include "core/policy/policy_table.h"
#include "core/session/condition_texts.h"
#include "core/session/device_clock.h"
#include "core/session/head_start.h"
#include "core/session/options/options_json.h"
#include "core/session/options/tune_options.h"
#include "core/session/project/stored_events.h"
#include "core/session/project/stored_time.h"
#include "core/session/roofline.h"
#include "core/session/run/chosen_tasks.h"
#include "core/session/run/clock_times.h"
#include "core/session/run/finals.h"
#include "core/session/run/measure_plan.h"
#include "core/session/run/run_estimate.h"
#include "core/session/untuned.h"
#include "core/session/verdict/judge.h"
#include "core/support/hash.h"
#include "core/support/json_fields.h"
#include "core/support/message.h"
#include "core/support/stop_after.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <random>

namespace lathe::session {

using nlohmann::json;

namespace {

constexpr const char* kInherits = "inherits"; ///< of a run's options: the earlier runs that it began with

std::string newNonce()
{
    std::random_device device;
    return contentHash(fmt::format("{} {} {}", device(), device(), unixMs())).hex();
}

} // namespace

TuningRun::TuningRun(RunSetup setup)
    : m_setup(std::move(setup))
    , m_options(m_setup.options)
    , m_clock(m_options)
    , m_journal(m_setup.project, *m_setup.control, m_clock)
    , m_time(m_clock, m_devices)
{
}

Result<> TuningRun::prepare(std::stop_token stop)
{
    const std::size_t tasks = m_setup.model->partition.tasks.size();
    if (tasks == 0)
        return makeError(Errc::Unsupported, say(Msg::NothingToTune));
    LATHE_TRY(openDevices(std::move(stop)));
    m_options.trialsPerRound = roundSize(m_options, tasks, m_devices.builders());
    m_clock.setLeastOfRound(leastRound(m_devices.builders()));
    if (m_setup.deviceOpened) { // equal devices tell the same: any of them
        LATHE_TRY_ASSIGN(m_setup.model, m_setup.deviceOpened(m_devices.opened().back().fingerprint));
    }
    const LoadedModel& model = *m_setup.model;

    search::PolicyOptions policyOptions;
    policyOptions.seed = m_options.seed;
    policyOptions.trialsPerRound = m_options.trialsPerRound;
    policyOptions.untuned = untunedCandidate;
    policyOptions.exported = exportedCandidate;
    policyOptions.tuner = m_options.tuner;
    policyOptions.tunerSettings = m_options.tunerSettings;
    LATHE_TRY_ASSIGN(m_chosen, chosenTasks(m_options, model.partition));
    LATHE_TRY_ASSIGN(m_costModel, policy::makeSharedModel(m_options.policy, tasks, policyOptions));
    std::vector<search::ScheduledTask> scheduled;
    for (const graph::Task& task : model.partition.tasks) {
        search::SearchTask searched = searchTask(task, model, m_options.strict);
        LATHE_TRY_ASSIGN(auto policy, policy::makePolicy(m_options.policy, searched, m_costModel, policyOptions));
        scheduled.push_back({task.name, static_cast<double>(task.weight), task.flop, {}, 0});
        m_tasks.add(RunTask(std::move(searched), std::move(policy), static_cast<double>(task.weight)));
    }
    search::SchedulerOptions schedulerOptions;
    schedulerOptions.trialsPerRound = m_options.trialsPerRound;
    schedulerOptions.seed = m_options.seed;
    schedulerOptions.earlyStopPerTask = m_options.earlyStopPerTask;
    const std::vector<std::int32_t> order = templateOrder(model);
    for (std::size_t i = 0; i < order.size(); ++i)
        scheduled[static_cast<std::size_t>(order[i])].place = static_cast<std::int32_t>(i);
    LATHE_TRY_ASSIGN(m_scheduler, search::TaskScheduler::create(schedulerOf(m_options), scheduled, schedulerOptions));
    for (std::size_t i = 0; i < m_tasks.size(); ++i)
        m_scheduler->setTrialCap(static_cast<std::int32_t>(i), trialCapOf(static_cast<std::int32_t>(i)));
    const std::vector<TaskBudget> budgets = m_setup.steering->budgets();
    for (std::size_t i = 0; i < budgets.size(); ++i)
        if (budgets[i] != TaskBudget())
            m_setup.steering->setBudget(static_cast<std::int32_t>(i), budgets[i]); // for followSteering() to meet

    m_parts.emplace(RunParts{model,
                             m_options,
                             *m_setup.executor,
                             m_clock,
                             m_journal,
                             m_tasks,
                             m_devices,
                             m_time,
                             *m_scheduler,
                             *m_costModel,
                             {}});
    const std::string& fingerprint = m_devices.opened().front().fingerprint;
    const CostClock clock = clockOf(model.target.traits(), fingerprint);
    m_parts->coldBytes = coldBytesOf(m_options, model, clock);
    m_parts->modelTime = clock == CostClock::Model;
    m_parts->runoffs = m_options.runoff == "on" || (m_options.runoff == "auto" && !m_parts->modelTime);
    if (m_setup.project != nullptr)
        m_clock.reserveForFinals(finalsReserve(m_options.seconds, m_parts->runoffs));
    NetworkMeasure measureNetwork = m_setup.measureNetwork;
    if (m_parts->modelTime && model.target.traits().clock != CostClock::Model) {
        // Its library would be timed by the clock of the processor that stands in for the device.
        measureNetwork = {};
        LATHE_TRY(m_journal.keep(logged(say(Msg::TimesOfModel, deviceNameOf(fingerprint)))));
    }
    if (measureNetwork && !m_options.broker.empty()) {
        measureNetwork = [this, here = std::move(measureNetwork)](NetworkRequest request,
                                                                  std::stop_token over) -> Result<NetworkFigures> {
            LATHE_TRY_ASSIGN(request.lent, m_devices.lend(over));
            auto figures = here(request, std::move(over));
            m_devices.giveBack();
            return figures;
        };
    }
    m_network.emplace(*m_parts, std::move(measureNetwork));
    m_rounds.emplace(*m_parts);
    m_finals.emplace(*m_parts, [this](std::stop_token over) { m_journal.pauseIfAsked(std::move(over)); });
    return {};
}

/// Tasks that are not tuned are measured once, as the network has them without tuning, so that it has an estimate.
std::int64_t TuningRun::trialCapOf(std::int32_t task) const
{
    return m_chosen[static_cast<std::size_t>(task)] ? m_options.trialsPerTask : 1;
}

Result<> TuningRun::openDevices(std::stop_token stop)
{
    LATHE_TRY_ASSIGN(measure::MeasurerOptions options, measurerOptions(m_options, *m_setup.model));
    options.onNotice = [this](const Message& notice) {
        (void)m_journal.keep(logged(notice)); // a failing disk shows at the next trial
    };
    LATHE_TRY(m_devices.open(std::move(options), std::move(stop)));
    const Target& target = m_setup.model->target;
    if (const std::string& other = target.traits().standsFor; !other.empty())
        return m_journal.keep(logged(say(Msg::OnlyExpects, target.text(), other)));
    return {};
}

/// Takes over what was asked for since the last round.
Result<> TuningRun::followSteering()
{
    for (const auto& [task, budget] : m_setup.steering->takeChanges()) {
        m_scheduler->setPinned(task, budget.pinned);
        m_scheduler->setMuted(task, budget.muted);
        m_scheduler->setBoost(task, budget.boost);
        m_scheduler->setTrialCap(task, budget.trialCap > 0 ? budget.trialCap : trialCapOf(task));
        if (m_setup.project != nullptr)
            LATHE_TRY(m_setup.project->setBudget({m_setup.modelRow, m_tasks[task].search.key, budget.pinned,
                                                  budget.muted, budget.boost, budget.trialCap}));
        LATHE_TRY(m_journal.keep(BudgetEvent{task, budget}));
    }
    if (const auto budget = m_setup.steering->takeRunBudget()) {
        m_options.seconds = budget->seconds;
        m_options.trials = budget->trials;
        if (m_setup.project != nullptr)
            m_clock.reserveForFinals(finalsReserve(m_options.seconds, m_parts->runoffs));
        LATHE_TRY(m_journal.setOptions(storedOptions()));
        LATHE_TRY(m_journal.keep(logged(say(Msg::BudgetChanged, budget->seconds, budget->trials))));
    }
    if (const auto timeout = m_setup.steering->runTimeout(); timeout && *timeout != m_options.timeoutSeconds) {
        m_options.timeoutSeconds = *timeout;
        m_devices.setRunTimeout(*timeout);
        LATHE_TRY(m_journal.setOptions(storedOptions()));
        LATHE_TRY(m_journal.keep(logged(say(Msg::CandidateMayRun, *timeout))));
    }
    return {};
}

/// What was learned, for people who look into the project.
Result<> TuningRun::keepModel()
{
    if (m_journal.session() == 0 || !m_costModel || !m_costModel->ready())
        return {};
    LATHE_TRY_ASSIGN(const auto bytes, m_costModel->model().save());
    return m_journal.putSnapshot("cost model", m_rounds->held(), bytes);
}

/// What the devices can do at most goes into the project, for views to hold tasks against.
Result<> TuningRun::keepLimits()
{
    if (m_setup.project == nullptr)
        return {};
    const auto activity = m_clock.account().in("limits");
    auto limits = m_devices.limits();
    if (!limits)
        return m_journal.keep(told(limits.error().code, say(Msg::MeasuringLimits, limits.error())));
    DeviceLimits known = limitsFromJson(*limits);
    if (!known.known())
        return {};
    m_limits = known;
    const double at = m_clock.atSeconds();
    m_journal.tell({Event{at, LimitsEvent{std::move(known)}}});
    return m_journal.addEvent(at, "limits", *limits);
}

/// What came of it all, and whether it may be believed.
Result<> TuningRun::judge()
{
    std::vector<TaskView> tasks = viewTasks(*m_setup.model);
    std::vector<std::int64_t> rounds;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        const auto task = static_cast<std::int32_t>(i);
        if (const double ns = m_tasks[task].bestNs(); std::isfinite(ns))
            tasks[i].bestMs = ns * 1e-6;
        rounds.push_back(m_scheduler->progress(task).rounds);
    }
    const VerdictEvent verdict = judged(*m_setup.model, m_network->measured(), m_network->gain(), m_network->machine(),
                                        taskFacts(tasks, rounds, m_limits), {m_clock.trials(), m_rounds->rejected()});
    const double at = m_clock.atSeconds();
    m_journal.tell({Event{at, verdict}});
    return m_journal.addEvent(at, "verdict", toJson(verdict).dump(-1, ' ', false, json::error_handler_t::replace));
}

std::string TuningRun::storedOptions() const
{
    json options = toJson(m_options);
    options["nonce"] = m_parts->nonce;
    options["build"] = backend::buildId(); // latencies of another generator are told apart
    if (!m_headStart.hash().empty())
        options[kHeadStartHash] = m_headStart.hash();
    if (!m_inherited.empty())
        options[kInherits] = m_inherited;
    return options.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// The latest run of this model and target; nothing: there is none.
Result<std::optional<store::SessionRow>> TuningRun::latestRun() const
{
    std::optional<store::SessionRow> latest;
    if (m_setup.project == nullptr)
        return latest;
    LATHE_TRY_ASSIGN(const auto sessions, m_setup.project->sessions());
    for (const store::SessionRow& row : sessions)
        if (row.model == m_setup.modelRow && row.target == m_setup.model->target.text())
            latest = row;
    return latest;
}

/// The run to go on with; the options are then its own, but for the budget, devices of the same class and how much is
/// shown. Nothing: a new one begins.
Result<std::optional<store::SessionRow>> TuningRun::earlierRun()
{
    const bool resumes = m_options.resume;
    if (m_options.startOver)
        return std::optional<store::SessionRow>();
    LATHE_TRY_ASSIGN(const std::optional<store::SessionRow> latest, latestRun());
    if (!latest && !resumes)
        return latest;
    if (m_setup.project == nullptr)
        return makeError(Errc::InvalidArgument, say(Msg::NoProjectToResume));
    if (!latest)
        return makeError(Errc::NotFound, say(Msg::NoRunToResume, m_setup.project->file().string()));
    LATHE_TRY_ASSIGN(TuneOptions stored, tuneOptionsFromJson(latest->options));
    if (!resumes) {
        if (std::vector<std::string> others = differences(m_options, stored); !others.empty()) {
            m_notes.push_back(say(Msg::NewRunOfOptions, std::move(others)));
            return std::optional<store::SessionRow>();
        }
        m_onTop = m_options;
    }
    if (!resumes || m_options.seconds > 0 || m_options.trials > 0 || m_options.minGainPercent > 0) {
        stored.seconds = m_options.seconds;
        stored.trials = m_options.trials;
        stored.minGainPercent = m_options.minGainPercent;
        stored.gainWindowSeconds = m_options.gainWindowSeconds;
    }
    if (!resumes && stored.seconds > 0)
        stored.seconds += latest->activeSeconds;
    if (!m_options.devices.empty()) // of which broker, or of none, belongs to it
        takeDevices(stored, m_options);
    if (!m_options.broker.empty())
        stored.broker = m_options.broker;
    if (!m_options.credentials.empty())
        stored.credentials = m_options.credentials;
    if (m_options.priority != 0)
        stored.priority = m_options.priority;
    if (m_options.reserveSeconds > 0)
        stored.reserveSeconds = m_options.reserveSeconds;
    stored.verbose = m_options.verbose;
    m_options = stored;
    LATHE_TRY(check(m_options));
    return latest;
}

/// Gives the run that goes on its head start again. Where it cannot go on here, and nobody asked for that one, a new
/// one begins.
Result<> TuningRun::letGoWhereUnfit(std::optional<store::SessionRow>& earlier, std::stop_token stop)
{
    if (!earlier)
        return {};
    Result<> fits = m_onTop ? m_rounds->canGoOn(earlier->id) : Result<>();
    if (fits)
        fits = m_headStart.takeAgain(*m_parts, *earlier, stop);
    if (fits || !m_onTop || fits.error().code != Errc::Incompatible)
        return fits;
    m_notes.push_back(say(Msg::NewRunOfConditions, fits.error()));
    earlier.reset();
    m_options.seconds = m_onTop->seconds;
    m_options.headStart = m_onTop->headStart;
    if (m_setup.project != nullptr)
        m_clock.reserveForFinals(finalsReserve(m_options.seconds, m_parts->runoffs));
    return {};
}

/// What a new run begins with: of the project's earlier runs those that compare.
Result<> TuningRun::inheritEarlier(std::stop_token stop)
{
    if (m_options.startOver || m_setup.project == nullptr)
        return {};
    LATHE_TRY_ASSIGN(const auto sessions, m_setup.project->sessions());
    std::size_t trials = 0;
    for (const store::SessionRow& row : sessions) {
        if (row.model != m_setup.modelRow || row.target != m_setup.model->target.text() || !m_rounds->canGoOn(row.id))
            continue;
        LATHE_TRY_ASSIGN(const std::size_t told, m_rounds->inherit(row.id, stop));
        trials += told;
        m_inherited.push_back(row.id);
    }
    if (trials > 0)
        m_notes.push_back(say(Msg::BeginsWithTrials, trials));
    return {};
}

/// A run that began with what others had measured begins so again.
Result<> TuningRun::inheritAgain(const json& options, std::stop_token stop)
{
    if (!options.is_object() || !options.contains(kInherits) || !options[kInherits].is_array())
        return {};
    for (const json& run : options[kInherits])
        if (run.is_number_integer())
            LATHE_TRY(m_rounds->inherit(run.get<std::int64_t>(), stop));
    return {};
}

/// A new run, or the latest one continued: true.
Result<bool> TuningRun::open(std::stop_token stop)
{
    const auto activity = m_clock.account().in("start");
    LATHE_TRY_ASSIGN(std::optional<store::SessionRow> earlier, earlierRun());
    LATHE_TRY(prepare(stop));
    {
        // What reading and learning anew takes is not the run's: it had that time before.
        const auto uncharged = m_clock.account().in({});
        LATHE_TRY(letGoWhereUnfit(earlier, stop));
    }
    if (earlier) {
        const auto uncharged = m_clock.account().in({});
        m_journal.goOn(earlier->id);
        m_clock.continueFrom(earlier->activeSeconds);
        json kept = json::parse(earlier->options, nullptr, false);
        m_parts->nonce = textIn(kept, "nonce");
        LATHE_TRY_ASSIGN(TimeSpent past, storedTime(*m_setup.project, earlier->id));
        m_time.continueFrom(std::move(past));
        LATHE_TRY(inheritAgain(kept, stop));
        LATHE_TRY(m_rounds->restore(stop));
        LATHE_TRY(m_network->restore());
        const std::int64_t had = m_clock.trials() + m_rounds->cutShortTrials();
        if (m_onTop && m_onTop->trials > 0)
            m_options.trials = m_onTop->trials + had;
        if (m_onTop)
            m_notes.push_back(say(Msg::RunGoesOnFrom, m_rounds->held(), had));
        if (kept.is_object()) { // a budget that was given anew is what a next life has left of
            kept.update(toJson(m_options));
            LATHE_TRY(m_journal.setOptions(kept.dump(-1, ' ', false, json::error_handler_t::replace)));
        }
        return true;
    }
    LATHE_TRY(m_headStart.take(*m_parts, m_options, stop));
    {
        const auto uncharged = m_clock.account().in({});
        LATHE_TRY(inheritEarlier(stop));
    }
    m_parts->nonce = newNonce();
    LATHE_TRY(
        m_journal.begin({0, m_setup.modelRow, m_setup.model->target.text(), storedOptions(), unixMs(), 0, "running"}));
    m_journal.tellNow(RunBegunEvent{m_journal.session()});
    LATHE_TRY(m_headStart.keep(m_journal));
    return false;
}

/// Rounds, until the budget is used or nothing is left.
Result<> TuningRun::loop(std::stop_token stop)
{
    while (!stop.stop_requested() && m_clock.left()) {
        if (auto ending = m_clock.gainedTooLittle()) {
            m_ending = std::move(ending);
            return {};
        }
        if (m_setup.control->pauseRequested()) {
            m_journal.pauseIfAsked(stop);
            LATHE_TRY(followSteering()); // the budget may have been changed meanwhile
            continue;
        }
        LATHE_TRY(followSteering());
        for (std::int32_t i = 0; i < static_cast<std::int32_t>(m_tasks.size()); ++i)
            m_scheduler->setWaiting(i, m_tasks[i].policy->waitsForOthers());
        const std::int32_t cut = m_rounds->cutShort(), task = cut >= 0 ? cut : m_scheduler->next();
        if (task < 0) {
            m_ending = whyNothingIsLeft(*m_scheduler);
            return {};
        }
        auto round = m_rounds->hold(task, stop);
        if (!round && round.error().code == Errc::Cancelled)
            return {};
        LATHE_TRY(std::move(round));
        if (m_clock.left())
            LATHE_TRY(m_network->measureIfDue(stop));
    }
    return {};
}

Result<> TuningRun::run(std::stop_token stop)
{
    m_clock.begin();
    m_journal.setState(RunState::Starting);
    const auto body = [&]() -> Result<> {
        LATHE_TRY_ASSIGN(const bool goesOn, open(stop));
        m_journal.setState(RunState::Running);
        for (const Message& note : m_notes)
            LATHE_TRY(m_journal.keep(logged(note)));
        if (m_headStart.note())
            LATHE_TRY(m_journal.keep(logged(*m_headStart.note())));
        LATHE_TRY(keepLimits());
        if (!goesOn)
            LATHE_TRY(m_network->measure(NetworkBuild::Untuned, stop));
        else if (!m_clock.left())
            m_ending = say(Msg::BudgetUsedBefore);
        LATHE_TRY(loop(stop));
        if (!stop.stop_requested())
            LATHE_TRY(m_finals->hold(m_rounds->held(), stop));
        if (!stop.stop_requested())
            LATHE_TRY(m_network->measure(NetworkBuild::Both, stop));
        return judge();
    };
    auto result = body();
    if (!result && result.error().code == Errc::Cancelled && stop.stop_requested())
        result = {};
    if (auto kept = keepModel(); result)
        result = std::move(kept);
    if (!result)
        m_ending = messageOf(result.error());
    const RunState state = !result ? RunState::Failed : stop.stop_requested() ? RunState::Stopped : RunState::Finished;
    m_journal.setState(state, m_ending ? textOf(*m_ending) : std::string(), m_ending ? about(*m_ending) : About());
    tellDone();
    return result;
}

void TuningRun::tellDone()
{
    DoneEvent done;
    done.trials = m_clock.trials();
    done.rest = m_time.sinceLast();
    done.time = m_time.total();
    done.seconds = m_clock.atSeconds();
    if (m_parts) {
        done.estimatedMs = estimateAt(done.seconds, *m_parts).ms;
        done.measuredMs = m_network->measured().ms;
        done.errors = m_rounds->errors();
        done.rejected = m_rounds->rejected();
    }
    if (m_setup.project != nullptr && m_journal.session() != 0 && !m_setup.project->readOnly()) {
        const auto known = [](double value) { return std::isfinite(value) ? json(value) : json(); };
        json rest = json::object();
        putTimeSpent(rest, done.rest);
        json kept = {{"trials", done.trials},
                     {"estimated_ms", known(done.estimatedMs)},
                     {"measured_ms", known(done.measuredMs)},
                     {"errors", done.errors},
                     {"rejected", done.rejected},
                     {"time_s", done.time.activities},
                     {"rest", rest},
                     {"state", toString(m_journal.state())},
                     {"text", m_ending ? textOf(*m_ending) : std::string()}};
        kept = withAbout(std::move(kept), m_ending ? about(*m_ending) : About());
        // A failing disk has ended the run already, or shows when the next one starts.
        (void)m_journal.addEvent(done.seconds, "done", kept.dump(-1, ' ', false, json::error_handler_t::replace));
    }
    m_journal.tell({Event{done.seconds, std::move(done)}});
}

} // namespace lathe::session
