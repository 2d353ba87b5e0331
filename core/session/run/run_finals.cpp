#include "core/session/run/run_finals.h"

#include "core/session/project/stored_time.h"
#include "core/session/run/finals.h"
#include "core/session/run/run_estimate.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace lathe::session {

using nlohmann::json;

namespace {

constexpr std::int32_t kLeastPasses = 3, kPlannedPasses = 5, kMostPasses = 15;
constexpr std::size_t kAtOnce = 16; ///< finalists that are built together
constexpr double kBuildShare = 0.45; ///< of the time: the first pass, which builds, takes no more

} // namespace

/// Those that `seconds` are likely to do for, by what a trial of the search took; tasks that weigh most first.
Result<std::vector<FinalsGroup>> RunFinals::finalists(double seconds)
{
    std::vector<FinalsGroup> groups;
    for (std::size_t i = 0; i < m_parts.tasks.size(); ++i) {
        const RunTask& task = m_parts.tasks[static_cast<std::int32_t>(i)];
        LATHE_TRY_ASSIGN(std::vector<Record> records, contenders(*m_parts.journal.project(), task.search.key,
                                                                 m_parts.model.target.text(), m_parts.conditions()));
        std::erase_if(records, [&task](const Record& record) { return !task.offers(record); });
        if (records.size() < 2)
            continue;
        FinalsGroup group;
        group.task = static_cast<std::int32_t>(i);
        group.weight = task.weight * records.front().result.meanNs();
        for (Record& record : records)
            group.finalists.push_back({std::move(record), measure::makeBuiltKernel(), {}, {}});
        groups.push_back(std::move(group));
    }
    std::stable_sort(groups.begin(), groups.end(),
                     [](const FinalsGroup& a, const FinalsGroup& b) { return a.weight > b.weight; });
    std::size_t most = 4 * m_parts.tasks.size();
    if (std::isfinite(seconds)) {
        const double trial = std::max(m_parts.clock.secondsPerTrial(), 1e-3);
        most = static_cast<std::size_t>(std::clamp(seconds / (trial * (1 + kPlannedPasses)), 2.0, 10'000.0));
    }
    std::vector<FinalsTask> tasks;
    for (const FinalsGroup& group : groups)
        tasks.push_back({group.finalists.size(), group.weight});
    const std::vector<std::size_t> counts = finalistCounts(tasks, most);
    for (std::size_t i = 0; i < groups.size(); ++i)
        groups[i].finalists.resize(counts[i]);
    std::erase_if(groups, [](const FinalsGroup& group) { return group.finalists.empty(); });
    return groups;
}

RunFinals::Allowed RunFinals::allowed() const
{
    const double budget = m_parts.options.seconds;
    Allowed allowed{!m_parts.modelTime || budget > 0, m_parts.clock.atSeconds(),
                    std::numeric_limits<double>::infinity()};
    if (budget > 0)
        allowed.seconds = std::min(finalsReserve(budget, m_parts.runoffs),
                                   budget - m_parts.clock.networkReserve() - allowed.begun);
    else if (allowed.timed)
        allowed.seconds = std::clamp(0.08 * allowed.begun, 3.0, 45.0);
    return allowed;
}

Result<> RunFinals::hold(std::int32_t rounds, std::stop_token stop)
{
    if (m_parts.journal.project() == nullptr)
        return {};
    const auto activity = m_parts.clock.account().in("finals");
    const Allowed allowed = this->allowed();
    if (allowed.seconds <= 0)
        return {};
    LATHE_TRY_ASSIGN(std::vector<FinalsGroup> groups, finalists(allowed.seconds));
    if (groups.empty())
        return {};
    m_parts.journal.setState(RunState::Running, "finals");
    LATHE_TRY(firstPass(groups, allowed, stop));
    LATHE_TRY_ASSIGN(const std::int32_t passes, morePasses(groups, allowed, stop));
    if (groups.empty())
        return {}; // so little time that nothing could be told
    return judge(groups, passes, allowed.begun, rounds);
}

/// It builds, a few tasks at a time; tasks for which no time would be left are not begun.
Result<> RunFinals::firstPass(std::vector<FinalsGroup>& groups, const Allowed& allowed, std::stop_token stop)
{
    for (std::size_t first = 0; first < groups.size();) {
        if (allowed.timed && first > 0 && m_parts.clock.atSeconds() - allowed.begun > kBuildShare * allowed.seconds) {
            groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(first), groups.end());
            break;
        }
        std::size_t last = first, count = 0;
        while (last < groups.size() && (last == first || count + groups[last].finalists.size() <= kAtOnce))
            count += groups[last++].finalists.size();
        LATHE_TRY(m_heats.pass(std::span(groups).subspan(first, last - first), false, Heats::Look::Whole, stop));
        first = last;
    }
    return {};
}

/// As many as there is time for; where it does not do for the least number, tasks that weigh little are left out. How
/// many passes there were, with the first.
Result<std::int32_t> RunFinals::morePasses(std::vector<FinalsGroup>& groups, const Allowed& allowed,
                                           std::stop_token stop)
{
    const auto left = [&] { return allowed.seconds - (m_parts.clock.atSeconds() - allowed.begun); };
    std::int32_t passes = 1;
    for (; passes < kMostPasses; ++passes) {
        m_pauseIfAsked(stop);
        double pass = 0;
        for (const FinalsGroup& group : groups)
            pass += 1.1 * group.passSeconds;
        const std::int32_t needed = kLeastPasses - passes;
        if (!allowed.timed && needed <= 0)
            break;
        if (allowed.timed && needed <= 0 && pass > left())
            break;
        while (allowed.timed && needed > 0 && !groups.empty() && needed * pass > left()) {
            pass -= 1.1 * groups.back().passSeconds;
            groups.pop_back();
        }
        if (groups.empty())
            break;
        LATHE_TRY(m_heats.pass(groups, passes % 2 == 1, Heats::Look::Whole, stop));
    }
    return passes;
}

/// Stores what was found and tells of it.
Result<> RunFinals::judge(std::vector<FinalsGroup>& groups, std::int32_t passes, double begun, std::int32_t rounds)
{
    FinalsEvent finals;
    finals.passes = passes;
    const std::string id = m_heats.newId(rounds);
    std::vector<double> before;
    for (const RunTask& task : m_parts.tasks)
        before.push_back(task.bestNs());
    std::vector<Record> records;
    std::vector<Event> events;
    json best = json::array();
    for (FinalsGroup& group : groups) {
        const std::string stood = originOf(group.finalists.front().repeated);
        before[static_cast<std::size_t>(group.task)] = group.finalists.front().repeated.result.meanNs();
        std::vector<Record> ofTask = m_heats.recordsOf(group, id, rounds, false);
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
    LATHE_TRY(m_parts.journal.addRecords(records));
    m_parts.tasks.takeFinals(records);
    double sum = 0;
    for (std::size_t i = 0; i < before.size(); ++i)
        sum += m_parts.tasks[static_cast<std::int32_t>(i)].weight * before[i] * 1e-6;
    finals.beforeMs = std::isfinite(sum) ? sum + m_parts.besideTasksMs : kUnknown;
    const double at = m_parts.clock.atSeconds();
    EstimateEvent after = estimateAt(at, m_parts);
    after.forecastMs = after.forecastLow = after.forecastHigh = kUnknown; // this is where the run ends
    finals.afterMs = after.ms;
    finals.seconds = at - begun;
    finals.time = m_parts.time.sinceLast();
    events.push_back({0, finals});
    events.push_back({0, after});
    for (Event& event : events)
        event.atSeconds = at;
    m_parts.journal.tell(std::move(events));
    const auto known = [](double value) { return std::isfinite(value) ? json(value) : json(); };
    json kept = {{"tasks", finals.tasks},
                 {"finalists", finals.finalists},
                 {"passes", finals.passes},
                 {"changed", finals.changed},
                 {"before_ms", known(finals.beforeMs)},
                 {"ms", known(after.ms)},
                 {"tasks_ms", known(after.tasksMs)},
                 {"low_ms", known(after.low)},
                 {"high_ms", known(after.high)},
                 {"eta_s", known(after.etaSeconds)},
                 {"seconds", finals.seconds},
                 {"best", best}};
    putTimeSpent(kept, finals.time);
    return m_parts.journal.addEvent(at, "finals", kept.dump());
}

} // namespace lathe::session
