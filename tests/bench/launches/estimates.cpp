// How well the search's estimate orders candidates for GPUs, by trials that were measured on one (tests/data/launches).
//
// Usage: launch_estimates FILE... [--rows]
//
// Prints for each task how the estimate's order agrees with the measured one (Spearman's rank correlation), how often a
// trial took longer than estimated, and what the trial that the estimate likes best took beside the fastest. --rows
// prints what is known of each candidate instead, for fitting.

#include "tests/bench/launches/trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

using namespace lathe;

namespace {

struct Trial
{
    std::string sketch;
    search::LaunchFacts facts; ///< of the part that takes longest
    double estimated = 0, measured = 0; ///< seconds
};

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
        name, trials.size(), bench::rankCorrelation(estimated, measured),
        100 * late / static_cast<double>(trials.size()), measured[liked] / std::ranges::min(measured));
}

Result<> run(const std::string& file, bool rows)
{
    LATHE_TRY_ASSIGN(const std::vector<bench::TrialTask> tasks, bench::readTrials(file));
    for (const bench::TrialTask& task : tasks) {
        std::vector<Trial> trials;
        for (const bench::LaunchTrial& measured : task.trials) {
            Trial one = {measured.sketch->name(), {}, 0, measured.seconds};
            for (std::size_t part = 0; part < measured.sketch->partCount(); ++part) {
                const auto [first, count] = measured.sketch->genesOf(part);
                LATHE_TRY_ASSIGN(const search::LaunchFacts facts,
                                 measured.sketch->nest(part).facts(std::span(measured.genome).subspan(first, count)));
                one.estimated += facts.seconds;
                if (part == 0 || facts.flops > one.facts.flops)
                    one.facts = facts;
            }
            trials.push_back(std::move(one));
        }
        if (!rows)
            printTask(task.task.name, trials);
        for (std::size_t i = 0; rows && i < trials.size(); ++i)
            printRow(task.task.name, trials[i]);
    }
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
