// How well the search's estimate orders candidates for GPUs, by trials that were measured on one (tests/data/launches).
//
// Usage: launch_estimates FILE... [--rows]
//
// A file's first line is an object: "network", "target", "hardware", "tasks" (keys). Each further line is a trial: the
// number of its task, sketch, genome, nanoseconds. Prints for each task how the estimate's order agrees with the
// measured one (Spearman's rank correlation), how often a trial took longer than estimated, and what the trial that the
// estimate likes best took beside the fastest. --rows prints what is known of each candidate instead, for fitting.

#include "core/search/lathe/launch_sketches.h"
#include "core/session/exports/kernel_choices.h"
#include "core/session/loaded_model.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <numeric>

using namespace lathe;

namespace {

struct Trial
{
    std::string sketch;
    search::LaunchFacts facts; ///< of the part that takes longest
    double estimated = 0, measured = 0; ///< seconds
};

std::vector<double> ranks(const std::vector<double>& values)
{
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&values](std::size_t i) { return values[i]; });
    std::vector<double> rank(values.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        rank[order[i]] = static_cast<double>(i);
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

void printRow(const std::string& task, const Trial& t)
{
    const search::LaunchFacts& f = t.facts;
    fmt::print("{}|{}|{:.2f}|{:.2f}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}\n", task,
               t.sketch, t.measured * 1e6, t.estimated * 1e6, f.blocks, f.threads, f.virtualThreads, f.sums, f.lanes,
               f.registers, f.sharedBytes, f.steps, f.unrolled, f.chunks, f.slices, f.waste, f.bytes, f.arithmetic,
               f.accesses, f.sharedAccesses, f.segments, f.conflicts, f.waits, f.barriers, f.resident, f.waves,
               f.computeSeconds * 1e6, f.memorySeconds * 1e6);
}

void printTask(const std::string& name, const std::vector<Trial>& trials)
{
    std::vector<double> estimated, measured;
    double late = 0;
    for (const Trial& t : trials) {
        estimated.push_back(t.estimated);
        measured.push_back(t.measured);
        late += t.measured > t.estimated ? 1 : 0;
    }
    const auto liked = static_cast<std::size_t>(std::ranges::min_element(estimated) - estimated.begin());
    fmt::print(
        "{:45} {:4} trials, rank correlation {:5.2f}, longer than estimated {:3.0f} %, the liked one {:5.2f} times the "
        "fastest\n",
        name, trials.size(), correlation(ranks(estimated), ranks(measured)),
        100 * late / static_cast<double>(trials.size()), measured[liked] / std::ranges::min(measured));
}

Result<> run(const std::string& file, bool rows)
{
    std::ifstream in(file);
    std::string line;
    std::getline(in, line);
    const auto head = nlohmann::json::parse(line);
    session::ModelSpec spec;
    spec.source = head.at("network");
    LATHE_TRY_ASSIGN(auto loaded, session::loadModel(spec, head.at("target").get<std::string>()));
    session::LoadedModel model = *loaded;
    Hardware figures;
    for (const auto& [name, value] : head.at("hardware").items())
        figures.limits[name] = {value.get<std::int64_t>(), "device"};
    model.hardware.takeDeviceFigures(figures);

    std::vector<std::optional<search::SearchTask>> tasks(head.at("tasks").size());
    std::vector<std::map<std::string, std::shared_ptr<const search::LaunchSketch>>> sketches(tasks.size());
    for (const graph::Task& task : model.partition.tasks) {
        const search::SearchTask searched = session::searchTask(task, model, false);
        for (std::size_t i = 0; i < tasks.size(); ++i)
            if (head["tasks"][i] == searched.key)
                tasks[i] = searched;
    }
    std::vector<std::vector<Trial>> trials(tasks.size());
    std::size_t unknown = 0;
    while (std::getline(in, line)) {
        const auto trial = nlohmann::json::parse(line);
        const std::size_t task = trial.at(0);
        if (tasks[task] && sketches[task].empty()) {
            LATHE_TRY_ASSIGN(const auto all, search::latheLaunchSketches(*tasks[task]));
            for (const auto& sketch : all)
                sketches[task][sketch->name()] = std::dynamic_pointer_cast<const search::LaunchSketch>(sketch);
        }
        const auto sketch = sketches[task].find(trial.at(1));
        const search::Genome genome = trial.at(2);
        if (sketch == sketches[task].end() || !sketch->second->analyse(genome)) {
            ++unknown; // the rules have changed since
            continue;
        }
        Trial one = {trial.at(1), {}, 0, 1e-9 * trial.at(3).get<double>()};
        for (std::size_t part = 0; part < sketch->second->partCount(); ++part) {
            const auto [first, count] = sketch->second->genesOf(part);
            LATHE_TRY_ASSIGN(const search::LaunchFacts facts,
                             sketch->second->nest(part).facts(std::span(genome).subspan(first, count)));
            one.estimated += facts.seconds;
            if (part == 0 || facts.flops > one.facts.flops)
                one.facts = facts;
        }
        trials[task].push_back(std::move(one));
    }
    for (std::size_t task = 0; task < tasks.size(); ++task)
        if (!rows && trials[task].size() > 1)
            printTask(tasks[task]->name, trials[task]);
        else
            for (const Trial& one : trials[task])
                printRow(tasks[task]->name, one);
    if (unknown > 0)
        fmt::print(stderr, "{} trials are of rules that are no more\n", unknown);
    return {};
}

} // namespace

int main(int argc, char** argv)
{
    bool rows = false;
    std::vector<std::string> files;
    for (int i = 1; i < argc; ++i)
        if (std::string_view(argv[i]) == "--rows")
            rows = true;
        else
            files.emplace_back(argv[i]);
    for (const std::string& file : files)
        if (const auto done = run(file, rows); !done) {
            fmt::print(stderr, "{}: {}\n", file, done.error().message);
            return 1;
        }
    return files.empty() ? 2 : 0;
}
