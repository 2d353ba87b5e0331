#include "tests/bench/launches/trials.h"

#include "core/schedule/step.h"
#include "core/session/exports/kernel_choices.h"
#include "core/session/loaded_model.h"
#include "core/session/options/options_json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>

namespace lathe::bench {
namespace {

std::vector<double> ranks(const std::vector<double>& values)
{
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&values](std::size_t i) { return values[i]; });
    std::vector<double> rank(values.size());
    for (std::size_t i = 0, end = 0; i < order.size(); i = end) {
        while (end < order.size() && values[order[end]] == values[order[i]])
            ++end;
        for (std::size_t equal = i; equal < end; ++equal)
            rank[order[equal]] = static_cast<double>(i + end - 1) / 2;
    }
    return rank;
}

double correlation(const std::vector<double>& a, const std::vector<double>& b)
{
    const auto mean = [](const std::vector<double>& v) {
        return std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
    };
    const double ma = mean(a), mb = mean(b);
    double ab = 0, aa = 0, bb = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        ab += (a[i] - ma) * (b[i] - mb);
        aa += (a[i] - ma) * (a[i] - ma);
        bb += (b[i] - mb) * (b[i] - mb);
    }
    return ab / std::sqrt(aa * bb);
}

} // namespace

double rankCorrelation(const std::vector<double>& a, const std::vector<double>& b)
{
    return correlation(ranks(a), ranks(b));
}

Result<std::vector<TrialTask>> readTrials(const std::string& file)
{
    std::ifstream in(file);
    if (!in)
        return makeError(Errc::NotFound, "the file cannot be read");
    std::string line;
    std::getline(in, line);
    const auto head = nlohmann::json::parse(line, nullptr, false);
    const auto has = [&head](const char* name) { return head.is_object() && head.contains(name); };
    if (!has("network") || !has("target") || !has("hardware") || !has("tasks"))
        return makeError(Errc::BadFile, "line 1 does not tell network, target, hardware and tasks");
    session::ModelSpec spec;
    spec.source = head.at("network");
    LATHE_TRY_ASSIGN(auto loaded, session::loadModel(spec, head.at("target").get<std::string>()));
    session::LoadedModel model = *loaded;
    Hardware figures;
    for (const auto& [name, value] : head.at("hardware").items())
        figures.limits[name] = {value.get<std::int64_t>(), "device"};
    model.hardware.takeDeviceFigures(figures);

    std::map<std::size_t, TrialTask> tasks; // by number in the file
    for (const graph::Task& task : model.partition.tasks) {
        const search::SearchTask searched = session::searchTask(task, model, false);
        for (std::size_t i = 0; i < head["tasks"].size(); ++i)
            if (head["tasks"][i] == searched.key)
                tasks[i] = {searched, {}};
    }
    std::map<std::size_t, std::map<std::string, std::shared_ptr<const search::LaunchSketch>>> sketches;
    for (const auto& [i, task] : tasks) {
        LATHE_TRY_ASSIGN(const auto all, search::latheLaunchSketches(task.task));
        for (const auto& sketch : all)
            sketches[i][sketch->name()] = std::dynamic_pointer_cast<const search::LaunchSketch>(sketch);
    }
    std::size_t unknown = 0, number = 1;
    while (std::getline(in, line)) {
        ++number;
        const auto trial = nlohmann::json::parse(line, nullptr, false);
        if (!trial.is_array() || trial.size() != 4 || !trial[0].is_number_unsigned() || !trial[1].is_string()
            || !trial[2].is_array() || !trial[3].is_number())
            return makeError(Errc::BadFile, fmt::format("line {} is no trial", number));
        const std::size_t i = trial.at(0);
        const search::Genome genome = trial.at(2);
        const auto sketch = sketches[i].find(trial.at(1));
        if (sketch == sketches[i].end() || !sketch->second->analyse(genome))
            ++unknown;
        else
            tasks[i].trials.push_back({sketch->second, genome, 1e-9 * trial.at(3).get<double>()});
    }
    if (unknown > 0)
        fmt::print(stderr, "{} trials are of rules that are no more\n", unknown);
    std::vector<TrialTask> all;
    for (auto& [i, task] : tasks)
        if (task.trials.size() > 1)
            all.push_back(std::move(task));
    return all;
}

namespace {

std::size_t alternativeOf(const search::SearchTask& task, std::string_view name)
{
    const auto found = std::ranges::find(task.alternatives, name, &search::SearchAlternative::name);
    return static_cast<std::size_t>(found - task.alternatives.begin());
}

Result<std::vector<MeasuredTask>> measuredOf(std::vector<TrialTask> trials)
{
    std::vector<MeasuredTask> all;
    for (TrialTask& task : trials) {
        MeasuredTask made{std::move(task.task), {}};
        for (const LaunchTrial& trial : task.trials) {
            LATHE_TRY_ASSIGN(const auto analysis, trial.sketch->analyse(trial.genome));
            LATHE_TRY_ASSIGN(auto steps, trial.sketch->instantiate(trial.genome));
            made.kernels.push_back({alternativeOf(made.task, trial.sketch->alternative()), std::move(steps),
                                    trial.sketch->name(), analysis.seconds, trial.seconds});
        }
        all.push_back(std::move(made));
    }
    return all;
}

Result<std::vector<MeasuredTask>> readRecords(const std::string& file)
{
    LATHE_TRY_ASSIGN(const store::Project project, store::Project::open(file, store::Project::Access::Read));
    LATHE_TRY_ASSIGN(const std::vector<std::string> targets, project.targets());
    const auto target = std::ranges::find_if(
        targets, [](const std::string& text) { return text == "cuda" || text.starts_with("cuda "); });
    if (target == targets.end())
        return makeError(Errc::NotFound, "no record is of a target of the kind cuda");
    LATHE_TRY_ASSIGN(const std::vector<store::ModelRow> models, project.models());
    if (models.empty())
        return makeError(Errc::NotFound, "the project has no model");
    LATHE_TRY_ASSIGN(const session::ModelSpec spec, session::modelSpecFromJson(models.back().options));
    LATHE_TRY_ASSIGN(const auto model, session::loadModelOf(file, spec, *target));
    LATHE_TRY_ASSIGN(const std::vector<store::Conditions> conditions, project.conditions(*target));
    std::vector<MeasuredTask> all;
    for (const graph::Task& task : model->partition.tasks) {
        MeasuredTask made{session::searchTask(task, *model, false), {}};
        store::RecordFilter filter;
        filter.task = task.key;
        filter.ok = true;
        LATHE_TRY(project.forEachRecord(filter, [&](const Record& record) {
            if (record.target != *target || !(store::conditionsOf(record) == conditions.front())
                || session::usableAlternative(task, record, false) == nullptr)
                return;
            if (auto steps = schedule::stepsFromJson(nlohmann::json::parse(record.candidate.steps, nullptr, false)))
                made.kernels.push_back({alternativeOf(made.task, record.candidate.alternative), *std::move(steps),
                                        record.candidate.sketch, 1e-9 * record.candidate.predictedNs,
                                        1e-9 * record.result.meanNs()});
        }));
        if (made.kernels.size() > 1)
            all.push_back(std::move(made));
    }
    return all;
}

} // namespace

Result<std::vector<MeasuredTask>> readMeasured(const std::string& file)
{
    if (std::filesystem::path(file).extension() == ".lathe")
        return readRecords(file);
    LATHE_TRY_ASSIGN(std::vector<TrialTask> trials, readTrials(file));
    return measuredOf(std::move(trials));
}

} // namespace lathe::bench
