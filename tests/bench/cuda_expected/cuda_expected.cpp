// What networks of the zoo should take on NVIDIA GPUs at batch 1, end to end: every function, those that nobody tunes
// too, and the gap in front of each launch of a graph. Expected by the analytic model (plugins/cuda/model): nothing is
// run, so no figure is measured. Needs NVRTC and nvdisasm, no GPU.
//
// Usage: cuda_expected GPU NETWORK [PROJECT.lathe] [--rows] [--keep FOLDER]
//
// PROJECT is one of `lathe-cli tune zoo:NETWORK --target "expected -gpu=GPU" ...`: its best records are taken. Without
// it default schedules are. Prints a row of Markdown: network, GPU, functions tuned, launches, their sum, gaps, both
// together, in ms, and what binds for which part of the sum. --rows: each function. --keep: their sources, with the
// figures that the model goes by.

#include "core/deploy/plan.h"
#include "core/schedule/step.h"
#include "core/session/exports/kernel_choices.h"
#include "core/session/loaded_model.h"
#include "core/support/files.h"
#include "plugins/cuda/expected/expectation.h"
#include "tests/plugins/cuda/gpu_named.h"
#include "tests/plugins/cuda/kernels/printed.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>

using namespace lathe;
using namespace lathe::cuda;

namespace {

/// Kernels whose machine code is made in one call.
constexpr std::size_t kTogether = 8;

struct Kernel
{
    kernels::PrintedKernel printed;
    std::vector<Expectation> launches;
};

Result<Kernel> kernelOf(const deploy::KernelSource& source)
{
    const nlohmann::json json = source.steps.empty() ? nlohmann::json::array()
                                                     : nlohmann::json::parse(source.steps, nullptr, false);
    LATHE_TRY_ASSIGN(const auto steps, schedule::stepsFromJson(json));
    LATHE_TRY_ASSIGN(const auto state, schedule::State::replay(source.dag, steps));
    Kernel kernel;
    LATHE_TRY_ASSIGN(kernel.printed, kernels::printed(state, source.constantInputs, source.name));
    return kernel;
}

/// The launches of so many kernels, with what is expected of each.
Result<> expect(std::span<Kernel> kernels, Expectations& expectations)
{
    std::vector<LaunchQuestion> questions;
    for (const Kernel& kernel : kernels)
        std::ranges::copy(questionsOf(kernel.printed.lowered.nest, kernel.printed.source),
                          std::back_inserter(questions));
    const auto answers = expectations.ask(questions);
    std::size_t next = 0;
    for (Kernel& kernel : kernels)
        for (std::size_t i = 0; i < kernel.printed.source.launches.size(); ++i) {
            const Result<Expectation>& answer = answers[next++];
            if (!answer)
                return makeError(answer.error().code, kernel.printed.lowered.nest.name + ": " + answer.error().message);
            kernel.launches.push_back(*answer);
        }
    return {};
}

Result<> run(const std::string& key, const std::string& network, const std::string& file, bool rows,
             const std::string& keep)
{
    LATHE_TRY_ASSIGN(const GpuFacts* const gpu, gpuNamed(key));
    session::ModelSpec spec;
    spec.source = "zoo:" + network;
    LATHE_TRY_ASSIGN(const auto model, session::loadModel(spec, "expected -gpu=" + std::string(gpu->key)));
    std::optional<store::Project> project;
    if (!file.empty()) {
        LATHE_TRY_ASSIGN(project, store::Project::open(file, store::Project::Access::Read));
    }
    session::RecordChoice choice;
    choice.layouts.measures = false;
    LATHE_TRY_ASSIGN(const session::KernelChoices chosen,
                     session::chooseKernels(*model, project ? &*project : nullptr, choice));
    LATHE_TRY_ASSIGN(const deploy::KernelSet set, collectKernels(model->graph, model->partition, chosen.choices));
    std::vector<Kernel> kernels;
    for (const deploy::KernelSource& source : set.sources) {
        LATHE_TRY_ASSIGN(Kernel kernel, kernelOf(source));
        kernels.push_back(std::move(kernel));
    }
    Expectations expectations(*gpu);
    for (std::size_t i = 0; i < kernels.size(); i += kTogether)
        LATHE_TRY(expect(std::span(kernels).subspan(i, std::min(kTogether, kernels.size() - i)), expectations));

    double ms = 0, gaps = 0;
    std::int64_t launches = 0, functions = 0, tuned = 0;
    std::size_t guessed = 0;
    std::map<std::string_view, double> boundMs;
    for (std::size_t i = 0; i < set.ofSubgraph.size(); ++i) {
        if (set.ofSubgraph[i] < 0)
            continue;
        const Kernel& kernel = kernels[static_cast<std::size_t>(set.ofSubgraph[i])];
        const auto runs = static_cast<double>(model->partition.subgraphs[i].runs);
        functions += 1;
        tuned += chosen.choices[i].record.empty() ? 0 : 1;
        double own = 0;
        for (const Expectation& launch : kernel.launches) {
            own += launch.time.seconds * 1e3;
            boundMs[toString(launch.time.bound)] += runs * launch.time.seconds * 1e3;
            gaps += runs * gpu->launchGapSeconds * 1e3;
            launches += static_cast<std::int64_t>(runs);
            guessed += launch.guessedLoops > 0 ? 1 : 0;
        }
        ms += runs * own;
        if (!keep.empty())
            LATHE_TRY(writeFileAtomically(fmt::format("{}/{}.cu", keep, model->partition.subgraphs[i].name),
                                          kernel.printed.source.text() + "\n/*\n"
                                              + toText(kernel.printed.source, kernel.launches, *gpu) + "*/\n"));
        if (rows)
            fmt::print("{:60} {:8.4f} ms{}\n", model->partition.subgraphs[i].name, own,
                       chosen.choices[i].record.empty() ? "  untuned" : "");
    }
    std::string bounds;
    std::vector<std::pair<double, std::string_view>> ranked;
    for (const auto& [bound, of] : boundMs)
        ranked.emplace_back(of, bound);
    std::ranges::sort(ranked, std::greater());
    for (std::size_t i = 0; i < std::min<std::size_t>(ranked.size(), 3); ++i)
        bounds += fmt::format("{}{} {:.0f} %", i == 0 ? "" : ", ", ranked[i].second, 100 * ranked[i].first / ms);
    fmt::print("| {} | {} | {} of {} | {} | {:.3f} | {:.3f} | {:.3f} | {} |\n", network, gpu->name, tuned, functions,
               launches, ms, gaps, ms + gaps, bounds);
    if (guessed > 0)
        fmt::print(stderr,
                   "{} launches have loops whose passes the code does not tell: taken to be as many as may be\n",
                   guessed);
    return {};
}

} // namespace

int main(int argc, char** argv)
{
    std::vector<std::string> words;
    bool rows = false;
    std::string keep;
    for (int i = 1; i < argc; ++i)
        if (std::string_view(argv[i]) == "--rows")
            rows = true;
        else if (std::string_view(argv[i]) == "--keep" && i + 1 < argc)
            keep = argv[++i];
        else
            words.emplace_back(argv[i]);
    if (words.size() < 2 || words.size() > 3) {
        fmt::print(stderr, "Usage: cuda_expected GPU NETWORK [PROJECT.lathe] [--rows] [--keep FOLDER]\n");
        return 2;
    }
    if (const auto done = run(words[0], words[1], words.size() > 2 ? words[2] : "", rows, keep); !done) {
        fmt::print(stderr, "{}: {}\n", words[1], done.error().message);
        return 1;
    }
    return 0;
}
