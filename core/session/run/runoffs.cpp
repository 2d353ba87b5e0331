#include "core/session/run/runoffs.h"

#include "core/session/run/clock_times.h"
#include "core/session/run/finals.h"
#include "core/support/json_fields.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace lathe::session {

using nlohmann::json;

namespace {

constexpr std::size_t kFullRound = 24, kMostNewcomers = 2; ///< one of a smaller round
constexpr std::int32_t kLeastRunoffPasses = 3, kMostRunoffPasses = 6;
constexpr double kRunoffShare = 0.06; ///< of what the round took, once kLeastRunoffPasses are over

} // namespace

/// What the project's other runs left, measured as this one measures: it would be past once this run holds a runoff
/// without it.
Result<std::vector<Ahead>> Runoffs::fromEarlierRuns(const RunTask& task) const
{
    std::vector<Ahead> ahead;
    const store::Project* const project = m_parts.journal.project();
    if (project == nullptr)
        return ahead;
    const auto take = [&](const Record& record) {
        if (record.session != m_parts.journal.session() && task.offers(record))
            ahead.push_back({record, measure::makeBuiltKernel()});
        return ahead.empty();
    };
    LATHE_TRY(project->forEachContender(task.search.key, m_parts.model.target.text(), m_parts.conditions(), take));
    return ahead;
}

/// What stands and the fastest newcomers of the round, each program once. However much slower than the first the second
/// seems: the first may have been lucky.
std::vector<Ahead> Runoffs::competitors(const RunTask& task, std::span<const Ahead> round)
{
    std::vector<Ahead> competing(task.ahead().begin(), task.ahead().end());
    std::set<std::string> programs;
    for (const Ahead& one : competing)
        programs.insert(programOf(one.record.candidate));
    std::vector<const Ahead*> fastest;
    for (const Ahead& one : round)
        if (one.record.result.ok() && one.record.result.meanNs() > 0)
            fastest.push_back(&one);
    std::stable_sort(fastest.begin(), fastest.end(), [](const Ahead* a, const Ahead* b) {
        return a->record.result.meanNs() < b->record.result.meanNs();
    });
    const std::size_t most = competing.size() + (round.size() < kFullRound && !competing.empty() ? 1 : kMostNewcomers);
    for (std::size_t i = 0; i < fastest.size() && competing.size() < most; ++i)
        if (programs.insert(programOf(fastest[i]->record.candidate)).second)
            competing.push_back(*fastest[i]);
    return competing;
}

Result<RoundBest> Runoffs::hold(std::int32_t taskIndex, std::span<const Ahead> round, double roundSeconds,
                                std::int32_t index, std::stop_token stop)
{
    RunTask& task = m_parts.tasks[taskIndex];
    const auto activity = m_parts.clock.account().in("finals");
    const bool first = task.ahead().empty();
    if (first) {
        LATHE_TRY_ASSIGN(std::vector<Ahead> earlier, fromEarlierRuns(task));
        task.begin(std::move(earlier));
    }
    std::vector<Ahead> competing = competitors(task, round);
    const bool valid = std::any_of(round.begin(), round.end(), [](const Ahead& one) { return one.record.result.ok(); });
    RoundBest best;
    if (first && competing.size() == 1) { // nothing to compete with
        task.takeAhead(std::move(competing));
        best.toldSeconds = task.bestNs() * 1e-9;
    } else if (valid) { // even if it is alone: the round's trials may be the same program in a luckier moment
        LATHE_TRY_ASSIGN(const std::vector<Record> records, measure(taskIndex, competing, roundSeconds, index, stop));
        takeWinner(task, m_parts.scheduler.progress(taskIndex).bestSeconds, records, competing, best);
    }
    if (!task.ahead().empty()) {
        best.ms = task.bestNs() * 1e-6;
        best.alternative = task.ahead().front().record.candidate.alternative;
    }
    return best;
}

void Runoffs::takeWinner(RunTask& task, double toldBefore, std::span<const Record> records,
                         std::span<const Ahead> competing, RoundBest& best) const
{
    std::vector<Ahead> ahead;
    for (std::size_t i = 0; i < records.size(); ++i)
        if (records[i].result.ok())
            ahead.push_back({records[i], competing[i].built});
    if (ahead.empty())
        return;
    task.takeAhead(std::move(ahead));
    best.final = true;
    // What was won beside what stood, whatever the minute was like.
    const Record &stood = records.front(), &stands = task.ahead().front().record;
    if (!stood.result.ok() || toldBefore >= 1e10)
        best.toldSeconds = task.bestNs() * 1e-9;
    else if (originOf(stands) != originOf(stood))
        best.toldSeconds = toldBefore * task.bestNs() / stood.result.meanNs();
}

/// One record for each of them, kept in the project. None: the device failed, which says nothing of the programs.
Result<std::vector<Record>> Runoffs::measure(std::int32_t task, std::span<const Ahead> competing, double roundSeconds,
                                             std::int32_t index, std::stop_token stop)
{
    FinalsGroup group;
    group.task = task;
    for (const Ahead& one : competing)
        group.finalists.push_back({one.record, one.built, {}, {}});
    const auto begun = std::chrono::steady_clock::now();
    for (std::int32_t pass = 0; pass < kMostRunoffPasses; ++pass) {
        if (pass >= kLeastRunoffPasses
            && (m_parts.modelTime || secondsSince(begun) + group.passSeconds > kRunoffShare * roundSeconds))
            break;
        LATHE_TRY(m_heats.pass({&group, 1}, pass % 2 == 1, Heats::Look::Glance, stop));
    }
    for (const FinalsGroup::Finalist& finalist : group.finalists)
        if (finalist.result.code == Errc::DeviceLost || finalist.result.code == Errc::RunTimeout)
            return std::vector<Record>();
    std::vector<Record> records = m_heats.recordsOf(group, m_heats.newId(index), index + 1,
                                                    true); // held before its round is over
    for (std::size_t i = 0; i < records.size(); ++i)
        records[i].index = static_cast<std::int32_t>(i);
    LATHE_TRY(m_parts.journal.addRecords(records));
    return records;
}

std::optional<double> Runoffs::restore(RunTask& task, const std::string& durations, std::span<const Record> told)
{
    const json kept = json::parse(durations, nullptr, false);
    if (!kept.is_object() || !kept.contains("best"))
        return std::nullopt;
    const json best = partIn(kept, "best");
    if (const double ms = numberIn(best, "ms"); ms > 0 && !flagIn(best, "final") && task.ahead().empty()) {
        std::vector<Ahead> ahead;
        for (const Record& record : told)
            if (record.result.ok())
                ahead.push_back({record, measure::makeBuiltKernel()});
        if (!ahead.empty())
            task.takeAhead(std::move(ahead));
    }
    const double seconds = numberIn(best, "told_s");
    return seconds > 0 ? seconds : std::numeric_limits<double>::infinity();
}

} // namespace lathe::session
