#include "core/session/run/finals.h"

#include "core/record/record_json.h"
#include "core/support/json_fields.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <tuple>

namespace lathe::session {

namespace {

constexpr std::size_t kMostOfTask = 8, kSure = 2, kMostFastest = 6;
constexpr double kOtherWithin = 1.25, kFastestWithin = 1.5;

} // namespace

bool isRunoff(const Record& record)
{
    if (record.result.conditions.find("\"runoff\"") == std::string::npos)
        return false;
    return flagIn(nlohmann::json::parse(record.result.conditions, nullptr, false), "runoff");
}

std::string originOf(const Record& record)
{
    return record.repeats.empty() ? record.trial : record.repeats;
}

std::string programOf(const Candidate& candidate)
{
    std::string text = candidate.alternative + '\n' + candidate.steps;
    for (const EdgeState& edge : candidate.edges)
        text += '\n' + toJson(edge).dump();
    return text;
}

double robustMean(std::vector<double> values)
{
    if (values.empty())
        return std::numeric_limits<double>::quiet_NaN();
    std::sort(values.begin(), values.end());
    const auto left = static_cast<std::ptrdiff_t>((values.size() + 1) / 4);
    return std::accumulate(values.begin() + left, values.end() - left, 0.0)
           / static_cast<double>(values.size() - 2 * static_cast<std::size_t>(left));
}

std::vector<double> standings(std::span<const std::vector<double>> costs)
{
    if (costs.empty())
        return {};
    const std::size_t finalists = costs.front().size();
    std::vector<std::vector<double>> ratios(finalists);
    std::vector<double> levels;
    for (const std::vector<double>& pass : costs) {
        double logs = 0;
        for (const double cost : pass)
            logs += std::log(cost);
        levels.push_back(std::exp(logs / static_cast<double>(finalists)));
        for (std::size_t i = 0; i < finalists; ++i)
            ratios[i].push_back(pass[i] / levels.back());
    }
    const double level = robustMean(levels);
    std::vector<double> all;
    for (std::vector<double>& ratio : ratios)
        all.push_back(robustMean(std::move(ratio)) * level);
    return all;
}

std::vector<double> quickest(std::span<const std::vector<double>> costs)
{
    std::vector<double> all;
    for (std::size_t i = 0; !costs.empty() && i < costs.front().size(); ++i) {
        std::vector<double> ofOne;
        for (const std::vector<double>& pass : costs)
            ofOne.push_back(pass[i]);
        std::sort(ofOne.begin(), ofOne.end());
        const auto third = static_cast<std::ptrdiff_t>(std::max<std::size_t>(1, ofOne.size() / 3));
        all.push_back(std::accumulate(ofOne.begin(), ofOne.begin() + third, 0.0) / static_cast<double>(third));
    }
    return all;
}

LevelledCost smoothedCost(double cost, std::int64_t moments, double standing, bool stoodBefore)
{
    constexpr double kSlowMoment = 1.25, kSlowBefore = 1.5, kLucky = 2;
    constexpr std::int64_t kMostMoments = 7; // that count as much as a new one each: what changes for good is seen
    if (standing * kSlowBefore < cost)
        return {standing, 1};
    if (moments < 1)
        return {std::min(standing, kLucky * cost), 1};
    if (!stoodBefore)
        return {standing > kSlowMoment * cost ? cost : standing, 1};
    const auto before = static_cast<double>(std::min(moments, kMostMoments));
    return {std::exp((before * std::log(cost) + std::log(std::min(standing, kSlowMoment * cost))) / (before + 1)),
            moments + 1};
}

double finalsReserve(double seconds, bool runoffs)
{
    return (runoffs ? 0.5 : 1) * std::min(std::clamp(0.08 * seconds, 3.0, 45.0), 0.2 * seconds);
}

Result<std::vector<Record>> contenders(const store::Project& project, std::string_view task, std::string_view target,
                                       const store::Conditions& conditions)
{
    std::vector<Record> fastest, others;
    std::set<std::string> programs;
    std::set<std::pair<std::string, std::string>> kinds;
    double best = 0;
    LATHE_TRY(project.forEachContender(task, target, conditions, [&](const Record& record) {
        const double ns = record.result.meanNs();
        if (best == 0)
            best = ns;
        const bool spare = fastest.size() < kSure || (fastest.size() < kMostFastest && ns <= kFastestWithin * best);
        if (!spare && ns > kOtherWithin * best)
            return false;
        if (!programs.insert(programOf(record.candidate)).second)
            return true;
        const bool newKind = kinds.insert({record.candidate.alternative, record.candidate.sketch}).second;
        if (fastest.size() >= kSure && newKind && ns <= kOtherWithin * best)
            others.push_back(record);
        else if (spare)
            fastest.push_back(record);
        return fastest.size() + others.size() < 2 * kMostOfTask;
    }));
    std::vector<Record> all;
    const auto sure = fastest.begin() + static_cast<std::ptrdiff_t>(std::min(kSure, fastest.size()));
    std::move(fastest.begin(), sure, std::back_inserter(all));
    std::move(others.begin(), others.end(), std::back_inserter(all));
    std::move(sure, fastest.end(), std::back_inserter(all));
    all.resize(std::min(all.size(), kMostOfTask));
    if (all.size() < 2 || std::none_of(all.begin(), all.end(), [](const Record& record) {
            return finalsOf(record).empty() || isRunoff(record);
        }))
        all.clear();
    return all;
}

std::vector<std::size_t> finalistCounts(std::span<const FinalsTask> tasks, std::size_t most)
{
    std::vector<std::size_t> counts(tasks.size(), 0);
    std::size_t sum = 0;
    while (true) {
        std::size_t next = tasks.size();
        double promise = 0;
        for (std::size_t i = 0; i < tasks.size(); ++i) {
            if (tasks[i].contenders < 2 || counts[i] >= tasks[i].contenders || sum + (counts[i] == 0 ? 2 : 1) > most)
                continue;
            // Each further finalist of a task promises less; the first two come together.
            const double here = tasks[i].weight / static_cast<double>(std::max<std::size_t>(1, counts[i] * counts[i]));
            if (next == tasks.size() || here > promise) {
                next = i;
                promise = here;
            }
        }
        if (next == tasks.size())
            return counts;
        const std::size_t more = counts[next] == 0 ? 2 : 1;
        counts[next] += more;
        sum += more;
    }
}

} // namespace lathe::session
