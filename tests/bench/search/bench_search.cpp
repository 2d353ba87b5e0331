// How many trials the guided search needs to reach what random sampling reaches, on the simulated device's cost and on
// recorded trials; and the recorder of the latter.
//
// Usage: bench_search [--seeds N] [--trials N] [--per-round N] [--only NAME] [--tables FOLDER]
//        bench_search speed [--only NAME]
//        bench_search launches [--seeds N] [--trials N] [--per-round N] [--only NAME] [--target TEXT]
//        bench_search record CASE FILE [--trials N] [--target TEXT]

#include "core/measure/measurer.h"
#include "core/measure/task_data.h"
#include "core/policy/policy_table.h"
#include "core/session/untuned.h"
#include "tests/support/search/cases.h"
#include "tests/support/search/recorded_table.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>

using namespace lathe;
using namespace lathe::test;

namespace {

struct Options
{
    int seeds = 10;
    std::int32_t trials = 0;
    std::int32_t perRound = 64;
    std::string only, target = "cpu -threads=1", tables = LATHE_TEST_DATA "/search";
};

/// Random proposals, built and run on this machine.
Result<> record(const std::string& name, const std::string& file, const Options& options)
{
    const auto trials = static_cast<std::size_t>(options.trials > 0 ? options.trials : 2000);
    LATHE_TRY_ASSIGN(const search::SearchTask task, searchCase(name, options.target));
    measure::MeasurerOptions measureOptions;
    measureOptions.target = task.target.text();
    LATHE_TRY_ASSIGN(const auto measurer, measure::Measurer::create(measureOptions));
    std::map<std::string, measure::TaskDataPtr> data;
    for (const search::SearchAlternative& a : task.alternatives) {
        measure::CheckOptions check;
        check.pointsPerOutput = a.name.starts_with("winograd") ? 8 : 32;
        LATHE_TRY_ASSIGN(data[a.name], measure::makeTaskData(a.dag, a.constantInputs, 1, check));
    }
    search::PolicyOptions policyOptions;
    LATHE_TRY_ASSIGN(auto model, policy::makeSharedModel("random", 1, policyOptions));
    LATHE_TRY_ASSIGN(const auto policy, policy::makePolicy("random", task, std::move(model), policyOptions));
    SerialExecutor executor;
    std::vector<search::Measured> all;
    for (std::uint64_t round = 0; all.size() < trials; ++round) {
        LATHE_TRY_ASSIGN(const auto candidates,
                         policy->propose(round,
                                         static_cast<std::int32_t>(std::min<std::size_t>(64, trials - all.size())),
                                         executor));
        std::vector<measure::MeasureRequest> requests;
        std::vector<search::Measured> results;
        for (const Candidate& candidate : candidates) {
            measure::MeasureRequest request;
            request.trial = contentHash(fmt::format("{} {} {}", name, round, requests.size())).hex();
            request.candidate = candidate;
            request.task = data.at(candidate.alternative);
            request.plan.number = 1;
            request.plan.repeat = 3;
            request.plan.minRepeatMs = 8;
            requests.push_back(std::move(request));
            results.push_back({candidate, {}});
        }
        // Twice, some seconds apart: what else this machine does then spoils one of them at most.
        for (int pass = 0; pass < 2; ++pass)
            LATHE_TRY(measurer->measure(requests, [&](std::size_t i, TrialResult result) {
                TrialResult& known = results[i].result;
                if (known.ok() && result.ok())
                    known.costsNs.insert(known.costsNs.end(), result.costsNs.begin(), result.costsNs.end());
                else if (known.ok())
                    known = std::move(result);
            }));
        LATHE_TRY(policy->tell(results));
        for (search::Measured& m : results) {
            m.candidate.steps.clear();
            all.push_back(std::move(m));
        }
        fmt::print("{} trials\n", all.size());
        std::fflush(stdout);
        if (candidates.empty())
            break;
    }
    return writeTable(file, task, measurer->devices().empty() ? "" : measurer->devices().front().fingerprint, all);
}

double mean(const std::vector<double>& values)
{
    double sum = 0;
    for (const double v : values)
        sum += v;
    return sum / static_cast<double>(values.size());
}

/// One line of the table: random for `trials` sets the goal of each seed.
Result<> compare(const std::string& name, const search::SearchTask& task, CostSource& costs, const Options& options,
                 bool evolves)
{
    const std::int32_t trials = options.trials > 0 ? options.trials : 1000;
    std::vector<double> guided, evolved, random;
    std::string seeds;
    for (int seed = 1; seed <= options.seeds; ++seed) {
        RaceOptions race{"random", static_cast<std::uint64_t>(seed), trials, options.perRound, false, 0};
        LATHE_TRY_ASSIGN(const auto blind, test::race(task, costs, race));
        const double goal = blind.back();
        random.push_back(goal);
        race.goal = goal;
        race.policy = "sketch";
        LATHE_TRY_ASSIGN(const auto found, test::race(task, costs, race));
        guided.push_back(static_cast<double>(trialsTo(found, goal)));
        seeds += fmt::format(" {:.0f}", guided.back());
        if (evolves) {
            race.policy = "evolution";
            LATHE_TRY_ASSIGN(const auto bred, test::race(task, costs, race));
            evolved.push_back(static_cast<double>(trialsTo(bred, goal)));
        }
    }
    fmt::print("{:<24} {:>10.4f} {:>7.0f} {:>6.2f} {:>9} {}\n", name, mean(random) * 1e-6, mean(guided),
               mean(guided) / trials, evolves ? fmt::format("{:.0f}", mean(evolved)) : "-", seeds);
    std::fflush(stdout);
    return {};
}

Result<> compareAll(const Options& options)
{
    fmt::print("{:<24} {:>10} {:>7} {:>6} {:>9}  trials of each seed\n", "task", "random ms", "guided", "ratio",
               "evolution");
    for (const std::string& name : searchCaseNames()) {
        if (!options.only.empty() && options.only != "sim:" + name)
            continue;
        LATHE_TRY_ASSIGN(const search::SearchTask task, searchCase(name, "sim -like=cpu -threads=8"));
        SimulatedCost costs(task, sim::CpuMachine());
        LATHE_TRY(compare("sim:" + name, task, costs, options, true));
    }
    std::vector<std::filesystem::path> files;
    if (std::filesystem::is_directory(options.tables))
        for (const auto& entry : std::filesystem::directory_iterator(options.tables))
            if (entry.path().extension() == ".trials")
                files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const std::filesystem::path& file : files) {
        const std::string name = "table:" + file.stem().string();
        if (!options.only.empty() && options.only != name)
            continue;
        LATHE_TRY_ASSIGN(const auto table, RecordedTable::load(file));
        LATHE_TRY(compare(name, table->task(), *table, options, false));
    }
    return {};
}

/// How many candidates a second one core draws or breeds, describes by features and scores: in a first round, where the
/// estimate leads, and in later ones, where the model does.
Result<> speed(const Options& options)
{
    fmt::print("{:<24} {:>12} {:>12} {:>12} {:>12}\n", "task", "first round", "a second", "later rounds", "a second");
    for (const std::string& name : searchCaseNames()) {
        if (!options.only.empty() && options.only != name)
            continue;
        LATHE_TRY_ASSIGN(const search::SearchTask task, searchCase(name, "sim -like=cpu -threads=8"));
        SimulatedCost costs(task, sim::CpuMachine());
        search::PolicyOptions policyOptions;
        LATHE_TRY_ASSIGN(auto model, policy::makeSharedModel("sketch", 1, policyOptions));
        LATHE_TRY_ASSIGN(const auto policy, policy::makePolicy("sketch", task, std::move(model), policyOptions));
        SerialExecutor executor;
        double considered[2] = {0, 0}, seconds[2] = {0, 0};
        for (std::uint64_t round = 0; round < 8; ++round) {
            const auto start = std::chrono::steady_clock::now();
            LATHE_TRY_ASSIGN(const auto candidates, policy->propose(round, options.perRound, executor));
            const std::size_t later = round == 0 ? 0 : 1;
            if (round != 1) { // the first one with a model
                seconds[later] += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
                considered[later] += policy->statistics().at("considered");
            }
            std::vector<search::Measured> results;
            for (const Candidate& candidate : candidates) {
                TrialResult result;
                result.costsNs = {costs.nanoseconds(candidate)};
                results.push_back({candidate, std::move(result)});
            }
            LATHE_TRY(policy->tell(results));
        }
        fmt::print("{:<24} {:>12.0f} {:>12.0f} {:>12.0f} {:>12.0f}\n", name, considered[0], considered[0] / seconds[0],
                   considered[1], considered[1] / seconds[1]);
        std::fflush(stdout);
    }
    return {};
}

/// Lathe's search for GPUs beside the reference's rules, in as many trials, on the simulated device's cost; and the
/// schedule that a task has without any search.
Result<> launches(const Options& options)
{
    const std::string target = options.target.starts_with("cpu") ? "sim -like=cuda" : options.target;
    const std::int32_t trials = options.trials > 0 ? options.trials : 256;
    fmt::print("{:<20} {:>12} {:>12} {:>12} {:>8}  {}\n", "task", "untuned us", "reference us", "sketch us", "ratio",
               "of each seed");
    std::vector<std::string> names = launchCaseNames();
    names.insert(names.end(), searchCaseNames().begin(), searchCaseNames().end());
    for (const std::string& name : names) {
        if (!options.only.empty() && options.only != name)
            continue;
        LATHE_TRY_ASSIGN(const search::SearchTask task, searchCase(name, target));
        SimulatedCost costs(task, sim::GpuMachine::like(task.target.attribute("like").value_or("cuda")));
        LATHE_TRY_ASSIGN(const Candidate untuned, session::defaultCandidate(task));
        std::vector<double> reference, sketch;
        std::string seeds;
        for (int seed = 1; seed <= options.seeds; ++seed) {
            RaceOptions race{"reference", static_cast<std::uint64_t>(seed), trials, options.perRound, false, 0};
            LATHE_TRY_ASSIGN(const auto theirs, test::race(task, costs, race));
            race.policy = "sketch";
            LATHE_TRY_ASSIGN(const auto ours, test::race(task, costs, race));
            reference.push_back(theirs.empty() ? 0 : theirs.back());
            sketch.push_back(ours.back());
            seeds += fmt::format(" {:.2f}", sketch.back() / reference.back());
        }
        fmt::print("{:<20} {:>12.1f} {:>12.1f} {:>12.1f} {:>8.2f} {}\n", name, costs.nanoseconds(untuned) * 1e-3,
                   mean(reference) * 1e-3, mean(sketch) * 1e-3, mean(sketch) / mean(reference), seeds);
        std::fflush(stdout);
    }
    return {};
}

} // namespace

int main(int argc, char** argv)
{
    Options options;
    std::vector<std::string> words;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        const std::string value = i + 1 < argc ? argv[i + 1] : "";
        if (!word.starts_with("--")) {
            words.push_back(word);
            continue;
        }
        ++i;
        if (word == "--seeds")
            options.seeds = std::max(1, std::atoi(value.c_str()));
        else if (word == "--trials")
            options.trials = std::max(1, std::atoi(value.c_str()));
        else if (word == "--per-round")
            options.perRound = std::max(1, std::atoi(value.c_str()));
        else if (word == "--only")
            options.only = value;
        else if (word == "--tables")
            options.tables = value;
        else if (word == "--target")
            options.target = value;
        else
            return fmt::print(stderr, "{} is no option of bench_search\n", word), 2;
    }
    const bool records = words.size() == 3 && words[0] == "record";
    const bool speeds = words.size() == 1 && words[0] == "speed";
    const bool launched = words.size() == 1 && words[0] == "launches";
    if (!words.empty() && !records && !speeds && !launched)
        return fmt::print(stderr,
                          "usage: bench_search [options] | bench_search speed|launches [options] | bench_search record "
                          "CASE FILE [options]\n"),
               2;
    const Result<> done = records    ? record(words[1], words[2], options)
                          : speeds   ? speed(options)
                          : launched ? launches(options)
                                     : compareAll(options);
    if (!done)
        return fmt::print(stderr, "{}\n", done.error().message), 1;
    return 0;
}
