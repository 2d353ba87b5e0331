// What building the trials of a tuned project costs in processor time: as a builder does, in artifacts of 16.
// Usage: bench_build FILE.lathe [--trials N] [--rounds N] [--task KEY] [--best] [--programs FILE]
// N trials spread evenly over all of the project's or of the tasks whose key begins so, or with --best the fastest of
// each task.
// --programs writes a line per program (trial, hash of its machine code, spills, bytes), to compare generators by:
// equal lines are equal code.

#include "core/schedule/lower.h"
#include "core/schedule/state.h"
#include "core/session/exports/kernel_choices.h"
#include "core/session/loaded_model.h"
#include "core/store/project.h"
#include "core/support/hash.h"
#include "core/support/processor_time.h"
#include "plugins/cpu/codegen/cpu_codegen.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

using namespace lathe;

namespace {

constexpr std::size_t kGroup = 16;

struct Options
{
    std::filesystem::path file, programs;
    std::string task;
    std::size_t trials = 256;
    int rounds = 3;
    bool best = false;
};

struct Trial
{
    std::string id;
    compute::DagPtr dag;
    std::vector<schedule::Step> steps;
    std::vector<bool> constantInputs;
};

Result<std::vector<Trial>> trialsOf(const Options& options, std::string& target)
{
    LATHE_TRY_ASSIGN(const store::Project project, store::Project::open(options.file, store::Project::Access::Read));
    LATHE_TRY_ASSIGN(const auto models, project.models());
    LATHE_TRY_ASSIGN(const auto targets, project.targets());
    if (models.empty() || targets.empty())
        return makeError(Errc::NotFound, "the project holds no tuned network");
    target = targets.front();
    session::ModelSpec spec;
    spec.source = models.back().source;
    LATHE_TRY_ASSIGN(const auto model, session::loadModelOf(options.file, spec, target));
    std::map<std::string, search::SearchTask> tasks;
    for (const graph::Task& task : model->partition.tasks)
        tasks.emplace(task.key, session::searchTask(task, *model, false));
    std::vector<Candidate> candidates;
    std::vector<std::string> ids;
    if (options.best) {
        LATHE_TRY_ASSIGN(const auto rows, project.best());
        for (const store::BestRow& row : rows) {
            LATHE_TRY_ASSIGN(Record record, project.record(row.record.trial));
            candidates.push_back(std::move(record.candidate));
            ids.push_back(record.trial);
        }
    } else {
        LATHE_TRY(project.forEachRecord({}, [&](const Record& record) {
            if (record.repeats.empty() && record.candidate.task.starts_with(options.task)) {
                candidates.push_back(record.candidate);
                ids.push_back(record.trial);
            }
        }));
    }
    const std::size_t wanted = options.best ? candidates.size() : std::min(options.trials, candidates.size());
    std::vector<Trial> trials;
    for (std::size_t i = 0; i < wanted; ++i) {
        // Neighbours stay neighbours: runs of sixteen, since a round's candidates share code.
        const std::size_t groups = (wanted + kGroup - 1) / kGroup,
                          stride = candidates.size() / std::max<std::size_t>(1, groups);
        const std::size_t at = options.best ? i : std::min(i / kGroup * stride + i % kGroup, candidates.size() - 1);
        const Candidate& candidate = candidates[at];
        const auto task = tasks.find(candidate.task);
        if (task == tasks.end())
            continue;
        for (const search::SearchAlternative& alternative : task->second.alternatives) {
            if (alternative.name != candidate.alternative)
                continue;
            const auto json = nlohmann::json::parse(candidate.steps, nullptr, false);
            LATHE_TRY_ASSIGN(auto steps, schedule::stepsFromJson(json));
            trials.push_back({ids[at], alternative.dag, std::move(steps), alternative.constantInputs});
        }
    }
    return trials;
}

Result<schedule::LoweredKernel> lowered(const Trial& trial, std::size_t place)
{
    LATHE_TRY_ASSIGN(schedule::State state, schedule::State::replay(trial.dag, trial.steps));
    schedule::LowerOptions options;
    options.name = fmt::format("k{}", place);
    options.constantInputs = trial.constantInputs;
    return schedule::lower(std::move(state), options);
}

/// Each program by itself: its code does not depend on what else is in an artifact.
Result<> writePrograms(const std::vector<Trial>& trials, const std::string& target, const std::filesystem::path& file)
{
    LATHE_TRY_ASSIGN(const Target parsed, Target::parse(target));
    std::ofstream out(file);
    for (const Trial& trial : trials) {
        LATHE_TRY_ASSIGN(const schedule::LoweredKernel kernel, lowered(trial, 0));
        LATHE_TRY_ASSIGN(const auto generator, cpu::CpuCodegen::create(parsed));
        const auto text = generator->listing(kernel, "assembly");
        const auto artifact = generator->build({&kernel, 1});
        if (!text || !artifact) {
            out << trial.id << " " << (text ? artifact.error() : text.error()).message << "\n";
            continue;
        }
        out << trial.id << " " << contentHash(text->text).hex() << " " << artifact->kernels[0].info.vectorSpills << " "
            << artifact->kernels[0].info.codeBytes << "\n";
    }
    return {};
}

Result<> bench(const Options& options)
{
    std::string target;
    LATHE_TRY_ASSIGN(const std::vector<Trial> trials, trialsOf(options, target));
    if (trials.empty())
        return makeError(Errc::NotFound, "none of the project's trials belongs to its network");
    fmt::print("{} trials, {}\n", trials.size(), target);
    if (!options.programs.empty())
        return writePrograms(trials, target, options.programs);
    LATHE_TRY_ASSIGN(const Target parsed, Target::parse(target));
    for (int round = 0; round < options.rounds; ++round) {
        LATHE_TRY_ASSIGN(const auto generator, cpu::CpuCodegen::create(parsed)); // with an empty cache
        double lower = 0, build = 0, link = 0;
        std::size_t failed = 0, bytes = 0;
        for (std::size_t first = 0; first < trials.size(); first += kGroup) {
            std::vector<schedule::LoweredKernel> kernels;
            const double start = processorSeconds();
            for (std::size_t i = first; i < std::min(first + kGroup, trials.size()); ++i) {
                auto kernel = lowered(trials[i], i);
                if (kernel)
                    kernels.push_back(*std::move(kernel));
                else
                    ++failed;
            }
            const double built = processorSeconds();
            lower += built - start;
            const auto artifact = generator->build(kernels);
            build += processorSeconds() - built;
            if (!artifact) {
                failed += kernels.size();
                continue;
            }
            link += artifact->linkProcessorSeconds;
            bytes += artifact->bytes.size();
        }
        const double per = 1e3 / static_cast<double>(trials.size());
        fmt::print(
            "per trial: lower {:.2f} ms, generate {:.2f} ms, link {:.2f} ms, all {:.2f} ms; {} failed; {} bytes\n",
            per * lower, per * (build - link), per * link, per * (lower + build), failed, bytes / trials.size());
        std::fflush(stdout);
    }
    return {};
}

} // namespace

int main(int argc, char** argv)
{
    Options options;
    for (int i = 1; i < argc; ++i) {
        const auto value = [&] { return i + 1 < argc ? argv[++i] : ""; };
        if (std::strcmp(argv[i], "--trials") == 0)
            options.trials = static_cast<std::size_t>(std::max(1L, std::atol(value())));
        else if (std::strcmp(argv[i], "--rounds") == 0)
            options.rounds = std::atoi(value());
        else if (std::strcmp(argv[i], "--programs") == 0)
            options.programs = value();
        else if (std::strcmp(argv[i], "--task") == 0)
            options.task = value();
        else if (std::strcmp(argv[i], "--best") == 0)
            options.best = true;
        else
            options.file = argv[i];
    }
    if (options.file.empty()) {
        fmt::print(stderr,
                   "bench_build FILE.lathe [--trials N] [--rounds N] [--task KEY] [--best] [--programs FILE]\n");
        return 2;
    }
    if (const auto done = bench(options); !done) {
        fmt::print(stderr, "bench_build: {}\n", done.error().message);
        return 1;
    }
    return 0;
}
