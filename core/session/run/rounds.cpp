#include "core/session/run/rounds.h"

#include "core/session/condition_texts.h"
#include "core/session/project/stored_events.h"
#include "core/session/project/stored_time.h"
#include "core/session/run/clock_times.h"
#include "core/session/run/finals.h"
#include "core/session/run/measure_plan.h"
#include "core/session/run/run_estimate.h"
#include "core/session/run/trial_writer.h"
#include "core/support/hash.h"
#include "core/support/json_fields.h"
#include "core/support/message.h"
#include "core/support/stop_after.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace lathe::session {

using nlohmann::json;

namespace {

constexpr double kLoserFactor = 1.5, kContenderFactor = 1.08; ///< of what stands best, as of RunPlan
constexpr double kTellSeconds = 1; ///< between two words on how far reading has come
constexpr double kModelSecondsPerTrial = 0.01; ///< simulators: so that a run does not depend on this machine's speed

constexpr std::string_view kAskedEvent = "asked"; ///< as a round begins

json askedJson(const Asked& asked)
{
    return {{"first", asked.first}, {"count", asked.count}};
}

Asked askedIn(const json& object)
{
    return {static_cast<std::int32_t>(wholeIn(object, "first")), static_cast<std::int32_t>(wholeIn(object, "count"))};
}

Error otherTasks()
{
    return makeError(Errc::Incompatible, say(Msg::RunOfOtherTasks));
}

/// Costs of other devices and of other caches do not compare with those that are to come.
Result<> comparable(const std::vector<Record>& records, const store::Conditions& here)
{
    for (const Record& record : records) {
        if (!record.result.ok())
            continue;
        const store::Conditions there = store::conditionsOf(record);
        if (there.deviceKey != here.deviceKey)
            return makeError(Errc::Incompatible, say(Msg::RunOfOtherDevice, deviceNameOf(there.fingerprint)));
        if (there.coldBytes != here.coldBytes)
            return makeError(Errc::Incompatible, say(Msg::RunOfOtherCaches));
    }
    return {};
}

} // namespace

std::optional<Asked> askedOf(std::string_view durations)
{
    const json asked = partIn(json::parse(durations, nullptr, false), "asked");
    return asked.is_object() && !asked.empty() ? std::optional(askedIn(asked)) : std::nullopt;
}

Result<Rounds::Stored> Rounds::read(std::int64_t run) const
{
    const store::Project& project = *m_parts.journal.project();
    Stored stored;
    LATHE_TRY_ASSIGN(stored.records, project.sessionRecords(run));
    LATHE_TRY(comparable(stored.records, m_parts.conditions()));
    // Finals were held between two rounds: trials of later ones were measured against what they said.
    std::erase_if(stored.records, [&stored](const Record& record) {
        if (finalsOf(record).empty())
            return false;
        stored.finals[wholeIn(json::parse(record.result.conditions, nullptr, false), "finals_round")].push_back(record);
        return true;
    });
    LATHE_TRY_ASSIGN(stored.rounds, project.rounds(run));
    for (std::size_t i = 0; i < stored.rounds.size(); ++i)
        if (!m_parts.tasks.find(stored.rounds[i].task) || stored.rounds[i].index != static_cast<std::int32_t>(i))
            return otherTasks();
    return stored;
}

Result<> Rounds::canGoOn(std::int64_t run) const
{
    LATHE_TRY(read(run));
    return {};
}

/// Tells stored rounds again; `own`: they count as this run's. Returns how many of the records that were: what is left
/// is of a round that was cut short.
Result<std::size_t> Rounds::retell(const Stored& stored, bool own, std::stop_token stop)
{
    const auto takeFinals = [&](std::int32_t rounds) {
        if (const auto held = stored.finals.find(rounds); held != stored.finals.end())
            m_parts.tasks.takeFinals(held->second);
    };
    std::size_t at = 0;
    auto lastTold = std::chrono::steady_clock::now();
    for (const store::RoundRow& round : stored.rounds) {
        if (secondsSince(lastTold) > kTellSeconds) { // it takes a while: people see how far it is
            lastTold = std::chrono::steady_clock::now();
            const Message message = say(Msg::RereadingRounds, round.index + 1, stored.rounds.size());
            m_parts.journal.tellNow(StateEvent{RunState::Starting, textOf(message), about(message)});
        }
        takeFinals(round.index);
        std::vector<Record> told;
        for (; at < stored.records.size() && stored.records[at].round == round.index; ++at)
            told.push_back(stored.records[at]);
        const std::int32_t task = m_parts.tasks.find(round.task).value_or(-1);
        std::vector<Event> events; // were told when they happened
        for (const Record& record : told)
            if (own)
                count(record, events);
            else if (record.result.ok() && !m_parts.runoffs && record.result.meanNs() < m_parts.tasks[task].bestNs())
                m_parts.tasks[task].takeBest(record.result.meanNs());
        const json durations = json::parse(round.durations, nullptr, false);
        if (const auto asked = askedOf(round.durations); own && asked && asked->count > 0)
            LATHE_TRY(proposeAgain(task, round.index, asked->count,
                                   static_cast<std::int32_t>(wholeIn(durations, "ahead")), stop));
        const double elapsed = numberIn(durations, "elapsed_s", 0);
        if (own)
            m_rejected += rejectedIn(durations);
        LATHE_TRY(tell(task, told, elapsed, Runoffs::restore(m_parts.tasks[task], round.durations, told), stop));
        if (stop.stop_requested())
            return makeError(Errc::Cancelled, say(Msg::Stopped));
        if (own)
            m_parts.clock.noteGain(round.atSeconds, m_parts.scheduler.estimatedLatency());
    }
    takeFinals(static_cast<std::int32_t>(stored.rounds.size()));
    return at;
}

/// What a stored round asked its policy for, where proposals depend on those before them: its own candidates, unless
/// the round before it had asked for them, and those of the next one.
Result<> Rounds::proposeAgain(std::int32_t task, std::int32_t index, std::int32_t count, std::int32_t ahead,
                              std::stop_token stop)
{
    search::Policy& policy = *m_parts.tasks[task].policy;
    if (!policy.remembersProposals())
        return {};
    const auto round = static_cast<std::uint64_t>(index);
    Round again;
    again.task = task;
    if (!takeNext(again))
        LATHE_TRY(policy.propose(round, count, m_parts.executor, stop));
    if (ahead == 0)
        return {};
    LATHE_TRY_ASSIGN(std::vector<Candidate> candidates, policy.propose(round + 1, ahead, m_parts.executor, stop));
    m_next = Next{task, ahead, {std::move(candidates), 0}, {}};
    return {};
}

Result<> Rounds::restore(std::stop_token stop)
{
    LATHE_TRY_ASSIGN(const Stored stored, read(m_parts.journal.session()));
    LATHE_TRY_ASSIGN(const std::size_t at, retell(stored, true, stop));
    m_index = static_cast<std::int32_t>(stored.rounds.size());
    m_partial.assign(stored.records.begin() + static_cast<std::ptrdiff_t>(at), stored.records.end());
    LATHE_TRY(readAsked());
    if (!m_partial.empty() && !m_parts.tasks.find(m_partial.front().candidate.task))
        return otherTasks();
    return {};
}

Result<std::size_t> Rounds::inherit(std::int64_t run, std::stop_token stop)
{
    LATHE_TRY_ASSIGN(const Stored stored, read(run));
    return retell(stored, false, stop);
}

/// What the round that was cut short had asked for, as it was stored last: in a life before, it may have begun without
/// a trial.
Result<> Rounds::readAsked()
{
    return m_parts.journal.project()->forEachEvent(
        m_parts.journal.session(), [this](std::string_view kind, double, std::string_view content) {
            const json event = kind == kAskedEvent ? json::parse(content, nullptr, false) : json();
            if (event.is_object() && wholeIn(event, "round") == m_index)
                m_partialAsked = askedIn(event);
        });
}

std::int32_t Rounds::cutShort() const
{
    return m_partial.empty() ? -1 : m_parts.tasks.find(m_partial.front().candidate.task).value_or(-1);
}

Result<> Rounds::hold(std::int32_t task, std::stop_token stop)
{
    Round round = begin(task);
    LATHE_TRY(propose(round, stop));
    LATHE_TRY(goOnWithStored(round));
    LATHE_TRY(request(round));
    LATHE_TRY(measure(round, stop));
    if (round.records.empty() && !round.candidates.empty()) {
        // The budget ended before its first trial. Neither told nor stored, since a round without trials says that the
        // space is exhausted; its time is told at the end.
        m_parts.journal.tellNow(
            RoundDoneEvent{m_index, task, 0, {}, estimateAt(m_parts.clock.atSeconds(), m_parts).ms});
        return {};
    }
    LATHE_TRY(judge(round, stop));
    LATHE_TRY(keep(round));
    ++m_index;
    return {};
}

Rounds::Round Rounds::begin(std::int32_t task) const
{
    Round round;
    round.task = task;
    round.start = std::chrono::steady_clock::now();
    round.machine = m_machine.read();
    Decision decision = explainDecision(m_parts.scheduler, task);
    round.terms = std::move(decision.terms);
    round.reason = m_partial.empty() ? std::move(decision.reason) : "continued";
    return round;
}

Result<> Rounds::propose(Round& round, std::stop_token stop)
{
    const RunTask& task = m_parts.tasks[round.task];
    const search::TaskProgress& progress = m_parts.scheduler.progress(round.task);
    const bool again = !m_partial.empty() && m_partialAsked.has_value();
    const std::int32_t count = again && m_partialAsked->count > 0
                                   ? m_partialAsked->count
                                   : m_parts.clock.roundTrials(progress, m_parts.tasks.size());
    const auto activity = m_parts.clock.account().in("propose");
    const double predicted = m_parts.costModel.predictSeconds();
    // A task's first round is short where the policy knows one: the whole network has an estimate after seconds, and
    // the scheduler knows from the start where its time goes. (An export without records takes session/untuned.h's
    // defaultCandidate.)
    if (progress.rounds == 0) {
        round.asked.first = again && m_partialAsked->first > 0
                                ? m_partialAsked->first
                                : m_parts.clock.firstRoundTrials(count, m_parts.tasks.size());
        LATHE_TRY_ASSIGN(round.candidates, task.policy->firstRound(round.asked.first));
    }
    if (round.candidates.empty()) {
        if (!takeNext(round)) {
            round.asked.count = count;
            const std::int64_t before = rejectedBy(*task.policy);
            LATHE_TRY_ASSIGN(round.candidates,
                             task.policy->propose(static_cast<std::uint64_t>(m_index), count, m_parts.executor, stop));
            round.rejected = rejectedBy(*task.policy) - before;
        }
        if (round.rejected > 0 && m_partial.empty()) // of one that goes on it was said when it began
            LATHE_TRY(m_parts.journal.keep(logged(say(Msg::CandidatesRejected, m_index, round.rejected))));
        if (const auto why = task.policy->whyNothing(); why && round.candidates.empty() && m_partial.empty())
            LATHE_TRY(m_parts.journal.keep(logged(*why)));
    }
    m_parts.clock.account().move("propose", "score", m_parts.costModel.predictSeconds() - predicted);
    return {};
}

/// What was proposed for it while the round before it was measured, if that was for its task; else it is given back.
bool Rounds::takeNext(Round& round)
{
    std::optional<Next> next = std::exchange(m_next, std::nullopt);
    if (!next)
        return false;
    if (next->task != round.task) {
        m_parts.tasks[next->task].policy->takeBackProposals();
        return false;
    }
    round.asked.count = next->count;
    round.candidates = std::move(next->answer.candidates);
    round.rejected = next->answer.rejected;
    round.built = std::move(next->built);
    return true;
}

/// How many candidates are asked for while this round is measured, for the one after it; 0: none, as that may be
/// another task's, or as builders would disturb the devices.
std::int32_t Rounds::wantedAhead(const Round& round) const
{
    const bool can = m_parts.devices.buildsMeanwhile() && m_parts.scheduler.staysWithTask()
                     && m_parts.tasks[round.task].policy->proposesAhead();
    if (!can || round.asked.count == 0 || round.requests.empty())
        return 0;
    search::TaskProgress after = m_parts.scheduler.progress(round.task);
    after.trials += static_cast<std::int64_t>(round.records.size());
    const std::int64_t left = m_parts.options.trials > 0 ? m_parts.options.trials - m_parts.clock.trials()
                                                               - static_cast<std::int64_t>(round.requests.size())
                                                         : std::numeric_limits<std::int64_t>::max();
    if (left <= 0 || (after.trialCap > 0 && after.trials >= after.trialCap))
        return 0;
    return static_cast<std::int32_t>(
        std::min<std::int64_t>(left, m_parts.clock.roundTrials(after, m_parts.tasks.size())));
}

/// Its answer becomes the next round. Returns what is to be built for it. Errors: those of the policy, and of the data
/// that its task's trials need.
Result<std::vector<measure::MeasureRequest>> Rounds::takeAhead(const Round& round, Lookahead& lookahead)
{
    LATHE_TRY_ASSIGN(Lookahead::Answer answer, lookahead.take());
    std::vector<measure::MeasureRequest> requests;
    if (answer.candidates.empty())
        return requests;
    m_next = Next{round.task, lookahead.count(), std::move(answer), {}};
    const std::int64_t first = m_parts.clock.trials() + static_cast<std::int64_t>(round.records.size());
    for (std::size_t i = 0; i < m_next->answer.candidates.size(); ++i) {
        LATHE_TRY_ASSIGN(measure::MeasureRequest request,
                         requestOf(recordOf(m_index + 1, i, m_next->answer.candidates[i]), round.task,
                                   first + static_cast<std::int64_t>(i)));
        request.built = measure::makeBuiltKernel();
        m_next->built.push_back(request.built);
        requests.push_back(std::move(request));
    }
    return requests;
}

/// A round that was cut short goes on with its candidates. Where another version chooses others, what it has is all of
/// it, and the run says so.
Result<> Rounds::goOnWithStored(Round& round) const
{
    const bool goesOn = std::all_of(m_partial.begin(), m_partial.end(), [&round](const Record& r) {
        const auto i = static_cast<std::size_t>(r.index);
        return i < round.candidates.size() && round.candidates[i].hash() == r.candidate.hash();
    });
    if (goesOn)
        return {};
    round.candidates.clear();
    round.built.clear();
    for (const Record& record : m_partial)
        round.candidates.push_back(record.candidate);
    return m_parts.journal.keep(logged(say(Msg::RoundNotRepeated, m_index, m_partial.size())));
}

Record Rounds::recordOf(std::int32_t round, std::size_t place, const Candidate& candidate) const
{
    Record record;
    record.trial = contentHash(fmt::format("{} {} {}", m_parts.nonce, round, place)).hex();
    record.session = m_parts.journal.session();
    record.round = round;
    record.index = static_cast<std::int32_t>(place);
    record.candidate = candidate;
    record.target = m_parts.model.target.text();
    return record;
}

Result<measure::MeasureRequest> Rounds::requestOf(const Record& record, std::int32_t task, std::int64_t ordinal)
{
    measure::MeasureRequest request;
    request.trial = record.trial;
    request.candidate = record.candidate;
    LATHE_TRY_ASSIGN(request.task, m_parts.tasks[task].data(record.candidate.alternative, m_parts.clock.account()));
    request.plan = planOf(m_parts.options, m_parts.coldBytes);
    request.plan.loserFactor = kLoserFactor;
    request.plan.contenderFactor = m_parts.runoffs ? kGlanceOnly : kContenderFactor; // the runoff looks again
    // What a trial sees is fixed when its round begins, whatever part of the round is already stored.
    request.bestNs = m_parts.tasks[task].bestNs();
    request.ordinal = ordinal;
    return request;
}

/// Says what is to be measured, and announces the round. Trials that an earlier life of the run has stored are taken
/// from there.
Result<> Rounds::request(Round& round)
{
    RunTask& task = m_parts.tasks[round.task];
    m_told.clear();
    const std::int64_t firstOrdinal = m_parts.clock.trials();
    round.records.resize(round.candidates.size());
    round.runners.resize(m_parts.runoffs ? round.candidates.size() : 0);
    for (std::size_t i = 0; i < round.runners.size(); ++i)
        round.runners[i].built = round.built.empty() ? measure::makeBuiltKernel() : round.built[i];
    std::vector<const Record*> earlier; // records that are stored
    for (std::size_t i = 0; i < round.candidates.size(); ++i) {
        Record& record = round.records[i];
        record = recordOf(m_index, i, round.candidates[i]);
        const auto stored = std::find_if(m_partial.begin(), m_partial.end(),
                                         [&record](const Record& r) { return r.trial == record.trial; });
        if (stored != m_partial.end()) {
            record = *stored;
            earlier.push_back(&record);
            continue;
        }
        LATHE_TRY_ASSIGN(measure::MeasureRequest request,
                         requestOf(record, round.task, firstOrdinal + static_cast<std::int64_t>(i)));
        if (m_parts.runoffs)
            request.built = round.runners[i].built;
        else if (!round.built.empty())
            request.built = round.built[i];
        round.requests.push_back(std::move(request));
        round.places.push_back(i);
    }
    std::vector<Event> known; // were told when they happened
    for (const Record* record : earlier) // only now: the others are cut short by what was best before the round
        count(*record, known);
    m_parts.clock.countMeasured(round.requests.size());
    m_partial.clear();
    m_partialAsked.reset();
    round.began = m_parts.clock.atSeconds();
    const auto trials = static_cast<std::int32_t>(round.candidates.size());
    RoundEvent begins{m_index, round.task, trials, round.terms, round.reason};
    if (m_parts.journal.project() != nullptr) {
        json asked = toJson(begins, task.search.key);
        asked.update(askedJson(round.asked));
        LATHE_TRY(m_parts.journal.addEvent(round.began, kAskedEvent, asked.dump()));
    }
    m_parts.journal.tell({Event{round.began, std::move(begins)}});
    return {};
}

Result<> Rounds::measure(Round& round, std::stop_token stop)
{
    BudgetClock& clock = m_parts.clock;
    const StopAfter end(stop, clock.searchSeconds() - clock.atSeconds());
    const measure::MeasureTimes before = m_parts.devices.times();
    std::size_t given = 0;
    std::optional<Lookahead> lookahead;
    if (const std::int32_t wanted = wantedAhead(round); wanted > 0)
        lookahead.emplace(*m_parts.tasks[round.task].policy, static_cast<std::uint64_t>(m_index) + 1, wanted,
                          m_parts.executor);
    Result<> proposed;
    const auto ahead = [&]() -> std::vector<measure::MeasureRequest> {
        if (!lookahead || m_next || !proposed || !lookahead->hasAnswer())
            return {};
        auto requests = takeAhead(round, *lookahead);
        if (requests)
            return *std::move(requests);
        proposed = requests.error();
        return {};
    };
    TrialWriter writer(m_parts, [this](const Record& record, std::vector<Event>& events) { count(record, events); });
    auto measured = m_parts.devices.measure(
        round.requests,
        [&](std::size_t i, TrialResult result) {
            given = i + 1;
            Record& record = round.records[round.places[i]];
            record.result = std::move(result);
            record.timeMs = unixMs();
            writer.add(record);
        },
        end.token(), lookahead ? measure::Measurer::AheadCallback(ahead) : nullptr);
    if (lookahead && !m_next && proposed) { // the policy is told what came of this round when it has answered
        if (stop.stop_requested())
            lookahead->stop();
        if (auto requests = takeAhead(round, *lookahead); !requests)
            proposed = requests.error();
    }
    round.ahead = lookahead && m_next ? m_next->count : 0;
    const measure::MeasureTimes after = m_parts.devices.times();
    clock.account().move("other", "build", after.buildSeconds - before.buildSeconds);
    clock.account().move("other", "measure", after.measureSeconds - before.measureSeconds);
    LATHE_TRY(writer.finish());
    const bool timeIsUp = !measured && measured.error().code == Errc::Cancelled && !stop.stop_requested();
    if (!timeIsUp)
        LATHE_TRY(std::move(measured));
    if (!proposed && proposed.error().code != Errc::Cancelled)
        return proposed;
    for (std::size_t i = 0; i < round.runners.size(); ++i)
        round.runners[i].record = round.records[i];
    if (timeIsUp)
        cut(round, given);
    return {};
}

/// The budget ended in the middle of a round, after so many results: that is then all of it.
void Rounds::cut(Round& round, std::size_t given) const
{
    for (std::size_t i = round.places.size(); i > given; --i) {
        const auto place = static_cast<std::ptrdiff_t>(round.places[i - 1]);
        round.records.erase(round.records.begin() + place);
        if (m_parts.runoffs)
            round.runners.erase(round.runners.begin() + place);
    }
}

/// Who is best, and what policy and scheduler are told.
Result<> Rounds::judge(Round& round, std::stop_token stop)
{
    const auto trials = static_cast<double>(std::max<std::size_t>(round.records.size(), 1));
    round.elapsed = m_parts.modelTime ? kModelSecondsPerTrial * trials : secondsSince(round.start);
    if (m_parts.runoffs) {
        LATHE_TRY_ASSIGN(round.best, m_runoffs.hold(round.task, round.runners, round.elapsed, m_index, stop));
        if (!m_parts.modelTime)
            round.elapsed = secondsSince(round.start);
        if (std::isfinite(round.best.ms))
            m_parts.journal.tellNow(BestEvent{round.task, round.best.ms, round.best.alternative, round.best.final});
    }
    return tell(round.task, round.records, round.elapsed,
                m_parts.runoffs ? std::optional(round.best.toldSeconds) : std::nullopt, stop);
}

/// `bestSeconds` is what the scheduler is told; nothing: the least cost of the records.
Result<> Rounds::tell(std::int32_t task, std::span<const Record> records, double elapsedSeconds,
                      std::optional<double> bestSeconds, std::stop_token stop)
{
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
        const auto activity = m_parts.clock.account().in("train");
        LATHE_TRY(m_parts.tasks[task].policy->tell(results, stop));
    }
    m_parts.scheduler.tell(task, outcome);
    m_parts.clock.noteObjective(m_parts.scheduler.estimatedLatency());
    return {};
}

Result<> Rounds::keep(const Round& round)
{
    const TimeSpent time = m_parts.time.sinceLast();
    const double at = m_parts.clock.atSeconds();
    const EstimateEvent after = estimateAt(at, m_parts);
    const auto trials = static_cast<std::int32_t>(round.records.size());
    if (m_parts.journal.project() != nullptr) {
        const auto activity = m_parts.clock.account().in("store");
        json durations = {{"elapsed_s", round.elapsed}, {"began_s", round.began}, {"asked", askedJson(round.asked)}};
        putTimeSpent(durations, time);
        durations["told"] = m_told;
        if (round.rejected > 0)
            durations["rejected"] = round.rejected;
        if (round.ahead > 0)
            durations["ahead"] = round.ahead;
        if (!m_parts.modelTime) // a simulator's figures do not depend on the machine
            durations["machine"] = measure::toJson(measure::machineBetween(round.machine, m_machine.read()));
        if (m_parts.runoffs) {
            json& kept = durations["best"] = json::object();
            if (std::isfinite(round.best.ms))
                kept = {{"ms", round.best.ms}, {"alternative", round.best.alternative}, {"final", round.best.final}};
            if (std::isfinite(round.best.toldSeconds))
                kept["told_s"] = round.best.toldSeconds;
        }
        const std::pair<const char*, double> figures[] = {{"eta_s", after.etaSeconds},
                                                          {"tasks_ms", after.tasksMs},
                                                          {"low_ms", after.low},
                                                          {"high_ms", after.high},
                                                          {"forecast_ms", after.forecastMs},
                                                          {"forecast_low_ms", after.forecastLow},
                                                          {"forecast_high_ms", after.forecastHigh}};
        for (const auto& [name, value] : figures)
            if (std::isfinite(value))
                durations[name] = value;
        json why = round.terms;
        why["reason"] = round.reason;
        LATHE_TRY(m_parts.journal.addRound(
            {0, m_index, m_parts.tasks[round.task].search.key, trials, why.dump(), durations.dump(), at, after.ms}));
    }
    m_rejected += round.rejected;
    m_parts.journal.tell(
        {Event{at, RoundDoneEvent{m_index, round.task, trials, time, after.ms, round.rejected}}, Event{at, after}});
    m_parts.clock.noteGain(at, m_parts.scheduler.estimatedLatency()); // whether the search gains, finals do not say
    return {};
}

/// A trial that was told, now or in an earlier life.
void Rounds::count(const Record& record, std::vector<Event>& events)
{
    const auto task = m_parts.tasks.find(record.candidate.task);
    if (!task)
        return;
    TrialView view;
    view.id = record.trial;
    view.round = record.round;
    view.index = record.index;
    view.task = *task;
    view.candidate = record.candidate.hash().hex();
    view.sketch = record.candidate.sketch;
    view.stage = toString(record.result.stage);
    view.code = toString(record.result.code);
    view.text = record.result.text;
    view.about = record.result.about;
    m_parts.clock.countTrial();
    const double at = m_parts.clock.atSeconds();
    m_told.emplace_back(at, record.index);
    if (!record.result.ok()) {
        ++m_errors[view.code];
        events.push_back({at, TrialEvent{std::move(view)}});
        return;
    }
    const double ns = record.result.meanNs();
    view.costMs = ns * 1e-6;
    events.push_back({at, TrialEvent{std::move(view)}});
    if (!m_parts.runoffs && ns < m_parts.tasks[*task].bestNs()) { // else the round's runoff says so
        m_parts.tasks[*task].takeBest(ns);
        events.push_back({at, BestEvent{*task, ns * 1e-6, record.candidate.alternative}});
    }
}

} // namespace lathe::session
