// The finals of a tuning run: finals.h says what for and how they are judged.

#include "core/session/clock_times.h"
#include "core/session/finals.h"
#include "core/session/finals_group.h"
#include "core/session/measure_plan.h"
#include "core/session/stored_time.h"
#include "core/session/tuning_run.h"
#include "core/support/hash.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace lathe::session {

using nlohmann::json;

namespace {

constexpr std::int32_t kLeastPasses = 3, kPlannedPasses = 5, kMostPasses = 15;
constexpr std::size_t kAtOnce = 16; ///< finalists that are built together
constexpr double kBuildShare = 0.45; ///< of the time: the first pass, which builds, takes no more
constexpr double kOverheadSeconds = 0.002; ///< of a measurement, besides what it says of itself

} // namespace

/// Those that `seconds` are likely to do for, by what a trial of the search took; tasks that weigh most first.
Result<std::vector<TuningRun::FinalsGroup>> TuningRun::finalists(double seconds)
{
    std::vector<FinalsGroup> groups;
    std::vector<FinalsTask> tasks;
    for (std::size_t i = 0; i < m_tasks.size(); ++i) {
        const Task& task = m_tasks[i];
        LATHE_TRY_ASSIGN(std::vector<Record> records, contenders(*m_setup.project, task.search.key, m_setup.model->target.text(), conditions()));
        std::erase_if(records, [&task](const Record& record) { return !task.offers(record); });
        if (records.size() < 2)
            continue;
        FinalsGroup group;
        group.task = static_cast<std::int32_t>(i);
        group.weight = m_scheduler->tasks()[i].weight * records.front().result.meanNs();
        for (Record& record : records)
            group.finalists.push_back({std::move(record), measure::makeBuiltKernel(), {}, {}});
        groups.push_back(std::move(group));
    }
    std::stable_sort(groups.begin(), groups.end(), [](const FinalsGroup& a, const FinalsGroup& b) { return a.weight > b.weight; });
    std::size_t most = 4 * m_tasks.size();
    if (std::isfinite(seconds)) {
        double measuring = 0;
        for (const auto& [name, spent] : m_time.sums())
            if (name == "build" || name == "measure" || name == "store")
                measuring += spent;
        const double trial = m_freshTrials > 0 ? measuring / static_cast<double>(m_freshTrials) : 0.05;
        most = static_cast<std::size_t>(std::clamp(seconds / (std::max(trial, 1e-3) * (1 + kPlannedPasses)), 2.0, 10'000.0));
    }
    for (const FinalsGroup& group : groups)
        tasks.push_back({group.finalists.size(), group.weight});
    const std::vector<std::size_t> counts = finalistCounts(tasks, most);
    for (std::size_t i = 0; i < groups.size(); ++i)
        groups[i].finalists.resize(counts[i]);
    std::erase_if(groups, [](const FinalsGroup& group) { return group.finalists.empty(); });
    return groups;
}

/// One pass over groups [first, last), forwards or backwards: finalists of one task stay next to each other.
Result<> TuningRun::finalsPass(std::span<FinalsGroup> groups, bool backwards, Look look, std::stop_token stop)
{
    struct Place
    {
        FinalsGroup* group;
        FinalsGroup::Finalist* finalist;
    };
    std::vector<Place> places;
    for (FinalsGroup& group : groups) {
        group.passSeconds = 0;
        for (FinalsGroup::Finalist& finalist : group.finalists)
            if (finalist.result.ok())
                places.push_back({&group, &finalist});
    }
    if (backwards)
        std::reverse(places.begin(), places.end());
    std::vector<measure::MeasureRequest> requests;
    for (const Place& place : places) {
        measure::MeasureRequest request;
        request.trial = place.finalist->repeated.trial;
        request.candidate = place.finalist->repeated.candidate;
        LATHE_TRY_ASSIGN(request.task, taskData(m_tasks[static_cast<std::size_t>(place.group->task)], request.candidate.alternative));
        request.plan = planOf(m_options, m_coldBytes);
        request.plan.repeat = 1;
        if (look == Look::Glance) { // all are slower than the best could be: a glance is what they get
            request.bestNs = 1;
            request.plan.contenderFactor = kGlanceOnly;
        }
        request.built = place.finalist->built;
        requests.push_back(std::move(request));
    }
    return m_measurer->measure(requests, [&](std::size_t i, TrialResult result) {
        auto& [group, finalist] = places[i];
        for (const char* part : {"upload", "measure", "check"})
            group->passSeconds += result.durationsMs[part] * 1e-3 / static_cast<double>(std::max<std::size_t>(1, m_measurer->devices().size()));
        group->passSeconds += kOverheadSeconds;
        std::map<std::string, double> durations = std::move(finalist->result.durationsMs);
        for (const auto& [name, ms] : result.durationsMs)
            durations[name] += ms;
        if (result.ok() && std::isfinite(result.meanNs()) && result.meanNs() > 0)
            finalist->costsNs.push_back(result.meanNs());
        else if (result.ok())
            result = {TrialStage::Run, Errc::Internal, "a run took no time that could be measured", {}, false, {}, "{}"};
        if (finalist->costsNs.size() <= 1 || !result.ok())
            finalist->result = std::move(result);
        finalist->result.durationsMs = std::move(durations);
    }, stop);
}

/// What is stored of a task's finals.
std::vector<Record> TuningRun::finalRecords(FinalsGroup& group, const std::string& id, bool runoff) const
{
    std::vector<std::vector<double>> passes;
    for (const FinalsGroup::Finalist& finalist : group.finalists) {
        if (!finalist.result.ok())
            continue;
        passes.resize(finalist.costsNs.size());
        for (std::size_t p = 0; p < passes.size(); ++p)
            passes[p].push_back(finalist.costsNs[p]);
    }
    std::vector<double> costs = m_runoffs ? quickest(passes) : standings(passes);
    const std::int64_t moments = toLevelOfRun(group, costs);
    std::vector<Record> records;
    std::size_t place = 0;
    for (FinalsGroup::Finalist& finalist : group.finalists) {
        Record& record = records.emplace_back();
        record.trial = contentHash(fmt::format("{} {}", id, finalist.repeated.trial)).hex();
        record.session = m_session;
        record.round = kFinalsRound;
        record.candidate = std::move(finalist.repeated.candidate);
        record.target = m_setup.model->target.text();
        record.device = m_device;
        record.timeMs = unixMs();
        record.repeats = originOf(finalist.repeated);
        record.result = std::move(finalist.result);
        if (record.result.ok())
            record.result.costsNs = {costs[place++]};
        json conditions = json::parse(record.result.conditions, nullptr, false);
        if (!conditions.is_object())
            conditions = json::object();
        conditions["finals"] = id;
        conditions["finals_round"] = runoff ? m_round + 1 : m_round; // a runoff is held before its round is over
        if (runoff)
            conditions["runoff"] = true;
        conditions["passes_ns"] = finalist.costsNs;
        if (m_runoffs)
            conditions["moments"] = moments;
        record.result.conditions = conditions.dump();
    }
    return records;
}

/// Changes all costs of a task by one factor, so that the winner's is as finals.h says. The number of moments that it stands for.
std::int64_t TuningRun::toLevelOfRun(const FinalsGroup& group, std::vector<double>& costs) const
{
    const Task& task = m_tasks[static_cast<std::size_t>(group.task)];
    if (!m_runoffs || task.ahead.empty() || costs.empty())
        return 1;
    const auto stands = std::min_element(costs.begin(), costs.end()) - costs.begin();
    std::vector<const FinalsGroup::Finalist*> valid;
    for (const FinalsGroup::Finalist& finalist : group.finalists)
        if (finalist.result.ok())
            valid.push_back(&finalist);
    const std::string stood = originOf(task.ahead.front().record);
    if (std::none_of(valid.begin(), valid.end(), [&stood](const auto* one) { return originOf(one->repeated) == stood; }))
        return 1; // it did not take part: nothing is known beside it
    const bool again = originOf(valid[static_cast<std::size_t>(stands)]->repeated) == stood;
    const LevelledCost levelled = levelledCost(task.bestNs, task.moments, costs[static_cast<std::size_t>(stands)], again);
    const double factor = levelled.ns / costs[static_cast<std::size_t>(stands)];
    for (double& cost : costs)
        cost *= factor;
    return levelled.moments;
}

std::string TuningRun::finalsId() const
{
    // Of this moment: a round that was cut short behind its runoff holds another one.
    return contentHash(fmt::format("{} finals {} {} {}", m_nonce, m_round, unixMs(), atSeconds())).hex();
}

/// From now on trials compete with these.
void TuningRun::takeFinals(std::span<const Record> records)
{
    std::map<std::int32_t, std::vector<Record>> ofTasks;
    for (const Record& record : records)
        if (const auto task = m_taskOfKey.find(record.candidate.task); task != m_taskOfKey.end() && record.result.ok())
            ofTasks[task->second].push_back(record);
    for (auto& [task, ofTask] : ofTasks) {
        const std::string latest = finalsOf(ofTask.back());
        std::erase_if(ofTask, [&latest](const Record& record) { return finalsOf(record) != latest; });
        std::vector<Ahead> ahead;
        for (Record& record : ofTask)
            ahead.push_back({std::move(record), measure::makeBuiltKernel()});
        takeAhead(m_tasks[static_cast<std::size_t>(task)], std::move(ahead));
    }
}

Result<> TuningRun::holdFinals(std::stop_token stop)
{
    if (m_setup.project == nullptr)
        return {};
    const auto activity = m_time.in("finals");
    const double begun = atSeconds();
    const bool timed = !modelTime() || m_options.seconds > 0;
    double allowed = std::numeric_limits<double>::infinity();
    if (m_options.seconds > 0)
        allowed = std::min(finalsReserve(m_options.seconds, m_runoffs), m_options.seconds - networkReserve() - begun);
    else if (timed)
        allowed = std::clamp(0.08 * begun, 3.0, 45.0);
    if (allowed <= 0)
        return {};
    LATHE_TRY_ASSIGN(std::vector<FinalsGroup> groups, finalists(allowed));
    if (groups.empty())
        return {};
    setState(RunState::Running, "finals");
    const auto used = [&] { return atSeconds() - begun; };
    std::int32_t passes = 0;
    // The first pass builds, a few tasks at a time; tasks for which no time would be left are not begun.
    for (std::size_t first = 0; first < groups.size();) {
        if (timed && first > 0 && used() > kBuildShare * allowed) {
            groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(first), groups.end());
            break;
        }
        std::size_t last = first, count = 0;
        while (last < groups.size() && (last == first || count + groups[last].finalists.size() <= kAtOnce))
            count += groups[last++].finalists.size();
        LATHE_TRY(finalsPass(std::span(groups).subspan(first, last - first), false, Look::Whole, stop));
        first = last;
    }
    for (passes = 1; passes < kMostPasses; ++passes) {
        pauseIfAsked(stop);
        double pass = 0;
        for (const FinalsGroup& group : groups)
            pass += 1.1 * group.passSeconds;
        const std::int32_t needed = kLeastPasses - passes;
        if (!timed && needed <= 0)
            break;
        if (timed && needed <= 0 && pass > allowed - used())
            break;
        while (timed && needed > 0 && !groups.empty() && needed * pass > allowed - used()) {
            pass -= 1.1 * groups.back().passSeconds;
            groups.pop_back();
        }
        if (groups.empty())
            return {}; // so little time that nothing could be told
        LATHE_TRY(finalsPass(groups, passes % 2 == 1, Look::Whole, stop));
    }

    FinalsEvent finals;
    finals.passes = passes;
    const std::string id = finalsId();
    std::vector<double> before;
    for (const Task& task : m_tasks)
        before.push_back(task.bestNs);
    std::vector<Record> records;
    std::vector<Event> events;
    json best = json::array();
    for (FinalsGroup& group : groups) {
        const std::string stood = originOf(group.finalists.front().repeated);
        before[static_cast<std::size_t>(group.task)] = group.finalists.front().repeated.result.meanNs();
        std::vector<Record> ofTask = finalRecords(group, id, false);
        ++finals.tasks;
        finals.finalists += static_cast<std::int32_t>(ofTask.size());
        const auto stands = std::min_element(ofTask.begin(), ofTask.end(), [](const Record& a, const Record& b) {
            return std::pair(!a.result.ok(), a.result.meanNs()) < std::pair(!b.result.ok(), b.result.meanNs());
        });
        if (stands->result.ok()) {
            finals.changed += stands->repeats != stood;
            const double ms = stands->result.meanNs() * 1e-6;
            events.push_back({0, BestEvent{group.task, ms, stands->candidate.alternative, true}});
            best.push_back({group.task, ms, stands->candidate.alternative});
        }
        std::move(ofTask.begin(), ofTask.end(), std::back_inserter(records));
    }
    for (std::size_t i = 0; i < records.size(); ++i)
        records[i].index = static_cast<std::int32_t>(i);
    LATHE_TRY(m_setup.project->addRecords(records)); // one transaction: all or nothing
    takeFinals(records);
    double sum = 0;
    for (std::size_t i = 0; i < m_tasks.size(); ++i)
        sum += m_scheduler->tasks()[i].weight * before[i] * 1e-6;
    finals.beforeMs = std::isfinite(sum) ? sum : kUnknown;
    const double at = atSeconds();
    EstimateEvent after = estimate(at);
    after.forecastMs = after.forecastLow = after.forecastHigh = kUnknown; // this is where the run ends
    finals.afterMs = after.ms;
    finals.seconds = at - begun;
    finals.time = timeSinceLast();
    events.push_back({0, finals});
    events.push_back({0, after});
    for (Event& event : events)
        event.atSeconds = at;
    emit(std::move(events));
    const auto known = [](double value) { return std::isfinite(value) ? json(value) : json(); };
    json kept = {{"tasks", finals.tasks}, {"finalists", finals.finalists}, {"passes", finals.passes}, {"changed", finals.changed},
                       {"before_ms", known(finals.beforeMs)}, {"ms", known(after.ms)}, {"low_ms", known(after.low)}, {"high_ms", known(after.high)},
                       {"eta_s", known(after.etaSeconds)}, {"seconds", finals.seconds}, {"best", best}};
    putTimeSpent(kept, finals.time);
    return m_setup.project->addEvent(m_session, at, "finals", kept.dump());
}

} // namespace lathe::session
