// The runoffs of a tuning run: finals.h says what for.

#include "core/support/json_fields.h"
#include "core/session/clock_times.h"
#include "core/session/finals.h"
#include "core/session/finals_group.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace lathe::session {

using nlohmann::json;

namespace {

constexpr std::size_t kKept = 2; ///< of a task, between its rounds
constexpr double kKeptWithin = 1.05; ///< of the best
constexpr std::size_t kFullRound = 24, kMostNewcomers = 2; ///< one of a smaller round
constexpr std::int32_t kLeastPasses = 3, kMostPasses = 6;
constexpr double kShare = 0.06; ///< of what the round took, once kLeastPasses are over

} // namespace

void TuningRun::takeAhead(Task& task, std::vector<Ahead> ahead)
{
    std::stable_sort(ahead.begin(), ahead.end(), [](const Ahead& a, const Ahead& b) { return a.record.result.meanNs() < b.record.result.meanNs(); });
    const double best = ahead.front().record.result.meanNs();
    std::erase_if(ahead, [best](const Ahead& one) { return one.record.result.meanNs() > kKeptWithin * best; });
    ahead.resize(std::min(ahead.size(), kKept));
    task.bestNs = best;
    task.moments = wholeIn(json::parse(ahead.front().record.result.conditions, nullptr, false), "moments");
    task.ahead = std::move(ahead);
}

/// What the project's other runs left, measured as this one measures: it would be past once this run holds a runoff without it.
Result<std::vector<TuningRun::Ahead>> TuningRun::fromEarlierRuns(const Task& task) const
{
    std::vector<Ahead> ahead;
    if (m_setup.project == nullptr)
        return ahead;
    LATHE_TRY(m_setup.project->forEachContender(task.search.key, m_setup.model->target.text(), conditions(), [&](const Record& record) {
        if (record.session != m_session && task.offers(record))
            ahead.push_back({record, measure::makeBuiltKernel()});
        return ahead.empty();
    }));
    return ahead;
}

/// What stands and the fastest newcomers of the round, each program once. However much slower than the first the second seems: the
/// first may have been lucky.
std::vector<TuningRun::Ahead> TuningRun::competitors(const Task& task, std::span<const Ahead> round)
{
    std::vector<Ahead> competing = task.ahead;
    std::set<std::string> programs;
    for (const Ahead& one : competing)
        programs.insert(programOf(one.record.candidate));
    std::vector<const Ahead*> fastest;
    for (const Ahead& one : round)
        if (one.record.result.ok() && one.record.result.meanNs() > 0)
            fastest.push_back(&one);
    std::stable_sort(fastest.begin(), fastest.end(), [](const Ahead* a, const Ahead* b) { return a->record.result.meanNs() < b->record.result.meanNs(); });
    const std::size_t most = competing.size() + (round.size() < kFullRound && !competing.empty() ? 1 : kMostNewcomers);
    for (std::size_t i = 0; i < fastest.size() && competing.size() < most; ++i)
        if (programs.insert(programOf(fastest[i]->record.candidate)).second)
            competing.push_back(*fastest[i]);
    return competing;
}

Result<TuningRun::RoundBest> TuningRun::holdRunoff(std::int32_t taskIndex, std::span<const Ahead> round, double roundSeconds, std::stop_token stop)
{
    Task& task = m_tasks[static_cast<std::size_t>(taskIndex)];
    const auto activity = m_time.in("finals");
    const bool first = task.ahead.empty();
    if (first) {
        LATHE_TRY_ASSIGN(task.ahead, fromEarlierRuns(task));
    }
    std::vector<Ahead> competing = competitors(task, round);
    const bool valid = std::any_of(round.begin(), round.end(), [](const Ahead& one) { return one.record.result.ok(); });
    RoundBest best;
    if (first && competing.size() == 1) { // nothing to compete with
        takeAhead(task, std::move(competing));
        best.toldSeconds = task.bestNs * 1e-9;
    } else if (valid) { // even if it is alone: the round's trials may be the same program in a luckier moment
        LATHE_TRY_ASSIGN(const std::vector<Record> records, runoffOf(taskIndex, competing, roundSeconds, stop));
        std::vector<Ahead> ahead;
        for (std::size_t i = 0; i < records.size(); ++i)
            if (records[i].result.ok())
                ahead.push_back({records[i], competing[i].built});
        if (!ahead.empty()) {
            takeAhead(task, std::move(ahead));
            best.final = true;
            // What was won beside what stood, whatever the minute was like.
            const Record &stood = records.front(), &stands = task.ahead.front().record;
            const double toldBefore = m_scheduler->progress(taskIndex).bestSeconds;
            if (!stood.result.ok() || toldBefore >= 1e10)
                best.toldSeconds = task.bestNs * 1e-9;
            else if (originOf(stands) != originOf(stood))
                best.toldSeconds = toldBefore * task.bestNs / stood.result.meanNs();
        }
    }
    if (!task.ahead.empty()) {
        best.ms = task.bestNs * 1e-6;
        best.alternative = task.ahead.front().record.candidate.alternative;
    }
    return best;
}

/// One record for each of them, kept in the project. None: the device failed, which says nothing of the programs.
Result<std::vector<Record>> TuningRun::runoffOf(std::int32_t taskIndex, std::span<const Ahead> competing, double roundSeconds, std::stop_token stop)
{
    FinalsGroup group;
    group.task = taskIndex;
    for (const Ahead& one : competing)
        group.finalists.push_back({one.record, one.built, {}, {}});
    const auto begun = std::chrono::steady_clock::now();
    for (std::int32_t pass = 0; pass < kMostPasses; ++pass) {
        if (pass >= kLeastPasses && (modelTime() || secondsSince(begun) + group.passSeconds > kShare * roundSeconds))
            break;
        LATHE_TRY(finalsPass({&group, 1}, pass % 2 == 1, Look::Glance, stop));
    }
    for (const FinalsGroup::Finalist& finalist : group.finalists)
        if (finalist.result.code == Errc::DeviceLost || finalist.result.code == Errc::RunTimeout)
            return std::vector<Record>();
    std::vector<Record> records = finalRecords(group, finalsId(), true);
    for (std::size_t i = 0; i < records.size(); ++i)
        records[i].index = static_cast<std::int32_t>(i);
    if (m_setup.project != nullptr)
        LATHE_TRY(m_setup.project->addRecords(records)); // one transaction: all or nothing
    return records;
}

/// Of a stored round, whose trials were told: who stands best since. What the scheduler was told then; nothing: no runoffs were held.
std::optional<double> TuningRun::restoreRunoff(Task& task, const std::string& durations, std::span<const Record> told)
{
    const json kept = json::parse(durations, nullptr, false);
    if (!kept.is_object() || !kept.contains("best"))
        return std::nullopt;
    const json best = partIn(kept, "best");
    if (const double ms = numberIn(best, "ms"); ms > 0 && !flagIn(best, "final") && task.ahead.empty()) {
        std::vector<Ahead> ahead;
        for (const Record& record : told)
            if (record.result.ok())
                ahead.push_back({record, measure::makeBuiltKernel()});
        if (!ahead.empty())
            takeAhead(task, std::move(ahead));
    }
    const double seconds = numberIn(best, "told_s");
    return seconds > 0 ? seconds : std::numeric_limits<double>::infinity();
}

} // namespace lathe::session
