// What Lathe's search would measure first for each task of a network on a device that is not here, as OpenCL C: what
// tests/bench/opencl offline compiles.
//
// Usage: network_texts FOLDER NETWORK TARGET [DRAWS]
//
// Of DRAWS random candidates (2,000) of each sketch of a task it takes the one that the estimate likes best. Writes
// FOLDER/N.cl and FOLDER/tasks.csv: file, task, sketch, kernel, blocks, threads, shared bytes, registers (an estimate),
// divided by "|".

#include "core/backend/c_source.h"
#include "core/schedule/launch_limits.h"
#include "core/schedule/launch_resources.h"
#include "core/schedule/lower.h"
#include "core/search/lathe/launch_sketches.h"
#include "core/session/exports/kernel_choices.h"
#include "core/session/loaded_model.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

using namespace lathe;

namespace {

struct Best
{
    std::string sketch;
    double seconds = 0;
    schedule::LoweredKernel kernel;
};

/// Where the estimate is better than that of `best`, and the device can run it.
void consider(const search::SearchAlternative& alternative, const search::SearchTask& task,
              const search::PartedSketch& sketch, const search::Genome& genome, std::optional<Best>& best)
{
    const auto known = sketch.analyse(genome);
    if (!known || (best && known->seconds >= best->seconds))
        return;
    const auto steps = sketch.instantiate(genome);
    if (!steps)
        return;
    const auto state = schedule::State::replay(alternative.dag, *steps);
    if (!state)
        return;
    schedule::LowerOptions options;
    options.form = KernelForm::Launches;
    options.constantInputs = alternative.constantInputs;
    auto kernel = schedule::lower(*state, options);
    if (kernel && schedule::checkLimits(*state, kernel->nest, task.hardware))
        best = Best{sketch.name(), known->seconds, *std::move(kernel)};
}

Result<Best> bestOf(const search::SearchTask& task, int draws)
{
    std::optional<Best> best;
    for (const search::SearchAlternative& alternative : task.alternatives) {
        search::SearchTask one = task;
        one.alternatives = {alternative};
        const auto sketches = search::latheLaunchSketches(one);
        if (!sketches)
            continue;
        for (const auto& sketch : *sketches)
            for (int i = 0; i < draws; ++i) {
                Random random(1, contentHash(sketch->name()).low, static_cast<std::uint64_t>(i));
                search::Genome genome(sketch->parameters().size());
                bool isDrawn = true;
                for (std::size_t part = 0; part < sketch->partCount() && isDrawn; ++part) {
                    const auto [first, count] = sketch->genesOf(part);
                    isDrawn = sketch->draw(part, random, std::span(genome).subspan(first, count));
                }
                if (isDrawn)
                    consider(alternative, task, *sketch, genome, best);
            }
    }
    if (!best)
        return makeError(Errc::Unsupported, "no candidate of " + task.name);
    return *std::move(best);
}

Result<> run(const std::filesystem::path& folder, const std::string& network, const std::string& target, int draws)
{
    session::ModelSpec spec;
    spec.source = "zoo:" + network;
    LATHE_TRY_ASSIGN(const auto model, session::loadModel(spec, target));
    std::filesystem::create_directories(folder);
    std::ofstream table(folder / "tasks.csv");
    table << "file|task|sketch|kernel|blocks|threads|shared|registers\n";
    int number = 0;
    for (const graph::Task& task : model->partition.tasks) {
        const search::SearchTask searched = session::searchTask(task, *model, false);
        LATHE_TRY_ASSIGN(const Best best, bestOf(searched, draws));
        LATHE_TRY_ASSIGN(const backend::KernelSource source, backend::printOpenCl(best.kernel.nest));
        const std::string file = fmt::format("{}.cl", number++);
        std::ofstream(folder / file) << source.text();
        const auto resources = schedule::resourcesOf(best.kernel.nest, searched.hardware);
        for (std::size_t i = 0; i < resources.size(); ++i) {
            const auto& grid = resources[i].grid;
            table << fmt::format("{}|{}|{}|{}|{}|{}|{}|{}\n", file, searched.name, best.sketch,
                                 source.launches[i].symbol, grid[0] * grid[1] * grid[2], resources[i].threads,
                                 resources[i].sharedBytes, resources[i].registers);
        }
    }
    return {};
}

} // namespace

int main(int argc, char** argv)
{
    if (argc < 4) {
        std::fprintf(stderr, "Usage: network_texts FOLDER NETWORK TARGET [DRAWS]\n");
        return 1;
    }
    const auto done = run(argv[1], argv[2], argv[3], argc > 4 ? std::atoi(argv[4]) : 2000);
    if (!done)
        std::fprintf(stderr, "%s\n", done.error().message.c_str());
    return done ? 0 : 1;
}
