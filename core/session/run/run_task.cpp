#include "core/session/run/run_task.h"

#include "core/measure/measurer.h"
#include "core/session/run/finals.h"
#include "core/session/run/measure_plan.h"
#include "core/support/json_fields.h"
#include "core/support/message.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace lathe::session {

namespace {

constexpr std::size_t kKept = 2; ///< of a task, between its rounds
constexpr double kKeptWithin = 1.05; ///< of the best

} // namespace

Result<measure::TaskDataPtr> RunTask::data(const std::string& alternative, TimeAccount& time)
{
    if (const auto known = m_data.find(alternative); known != m_data.end())
        return known->second;
    for (const search::SearchAlternative& a : search.alternatives) {
        if (a.name != alternative)
            continue;
        const auto activity = time.in("reference");
        LATHE_TRY_ASSIGN(auto data, checkedData(a, search.target));
        return m_data[alternative] = std::move(data);
    }
    return makeError(Errc::Internal, say(Msg::NoAlternativeOf, search.name, alternative));
}

bool RunTask::offers(const Record& known) const
{
    return std::any_of(search.alternatives.begin(), search.alternatives.end(),
                       [&known](const search::SearchAlternative& a) { return a.name == known.candidate.alternative; });
}

void RunTask::takeAhead(std::vector<Ahead> ahead)
{
    std::stable_sort(ahead.begin(), ahead.end(), [](const Ahead& a, const Ahead& b) {
        return a.record.result.meanNs() < b.record.result.meanNs();
    });
    const double best = ahead.front().record.result.meanNs();
    std::erase_if(ahead, [best](const Ahead& one) { return one.record.result.meanNs() > kKeptWithin * best; });
    ahead.resize(std::min(ahead.size(), kKept));
    m_bestNs = best;
    m_moments = wholeIn(nlohmann::json::parse(ahead.front().record.result.conditions, nullptr, false), "moments");
    m_ahead = std::move(ahead);
}

void RunTasks::add(RunTask task)
{
    m_ofKey[task.search.key] = static_cast<std::int32_t>(m_tasks.size());
    m_tasks.push_back(std::move(task));
}

std::optional<std::int32_t> RunTasks::find(const std::string& key) const
{
    const auto found = m_ofKey.find(key);
    return found == m_ofKey.end() ? std::nullopt : std::optional(found->second);
}

double RunTasks::estimatedSeconds() const
{
    double sum = 0;
    for (const RunTask& task : m_tasks)
        sum += task.weight * (task.bestNs() * 1e-9);
    return sum;
}

void RunTasks::takeFinals(std::span<const Record> records)
{
    std::map<std::int32_t, std::vector<Record>> ofTasks;
    for (const Record& record : records)
        if (const auto task = find(record.candidate.task); task && record.result.ok())
            ofTasks[*task].push_back(record);
    for (auto& [task, ofTask] : ofTasks) {
        const std::string latest = finalsOf(ofTask.back());
        std::erase_if(ofTask, [&latest](const Record& record) { return finalsOf(record) != latest; });
        std::vector<Ahead> ahead;
        for (Record& record : ofTask)
            ahead.push_back({std::move(record), measure::makeBuiltKernel()});
        (*this)[task].takeAhead(std::move(ahead));
    }
}

} // namespace lathe::session
