// What tasks of whole networks cost untuned on a simulated GPU: with the plain default launches, and with what they get
// (core/session/untuned.h). The simulated device's formula is none that the choice goes by.
//
// Usage: untuned_launches TARGET MODEL... [--rows] [--figures FILE.trials]
//
// --figures takes the hardware of a file of trials (tests/data/launches) instead of the target's own limits.

#include "core/session/untuned.h"

#include "core/policy/default_candidate.h"
#include "core/schedule/default_launches.h"
#include "core/search/lathe/launch_guess.h"
#include "core/search/lathe/launch_sketches.h"
#include "core/session/exports/kernel_choices.h"
#include "core/session/loaded_model.h"
#include "tests/support/search/race.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>

using namespace lathe;

namespace {

struct Sum
{
    double logs = 0, worst = 0, before = 0, after = 0, seconds = 0;
    int count = 0;
    std::string worstName;
};

Candidate plainLaunches(const search::SearchTask& task)
{
    schedule::LaunchScheduleOptions options;
    if (const std::int64_t most = task.hardware.get("max_threads_per_block"); most > 0)
        options.mostThreads = std::min(options.mostThreads, most);
    options.vectorLanes = static_cast<std::int32_t>(
        std::max<std::int64_t>(task.hardware.get("vector_unit_bytes", 16) / 4, 1));
    options.constantInputs = task.alternatives.front().constantInputs;
    Candidate candidate = policy::plainLoops(task);
    if (const auto state = schedule::planDefaultLaunches(task.alternatives.front().dag, options))
        candidate.steps = schedule::toJson(state->steps()).dump();
    return candidate;
}

/// The sketch and its choices, for people.
std::string guessed(const search::SearchTask& task)
{
    const auto guess = search::guessLaunches(task);
    if (!guess)
        return "plain";
    std::string text = guess->sketch.substr(guess->sketch.rfind(':') + 1);
    const auto sketches = search::latheLaunchSketches(task);
    for (const auto& sketch : *sketches)
        for (std::size_t p = 0; sketch->name() == guess->sketch && p < guess->genome.size(); ++p)
            text += fmt::format(", {} {}", sketch->parameters()[p].name, sketch->describe(p, guess->genome[p]));
    return fmt::format("{:.2f} us: {}", guess->seconds * 1e6, text);
}

Result<> run(const std::string& target, const std::string& network, const std::string& figures, bool rows)
{
    session::ModelSpec spec;
    spec.source = network;
    LATHE_TRY_ASSIGN(auto loaded, session::loadModel(spec, target));
    session::LoadedModel model = *loaded;
    sim::GpuMachine machine = sim::GpuMachine::like(model.target.attribute("like").value_or("opencl"));
    if (!figures.empty()) {
        std::ifstream in(figures);
        std::string line;
        std::getline(in, line);
        const auto head = nlohmann::json::parse(line).at("hardware");
        Hardware hardware;
        for (const auto& [name, value] : head.items())
            hardware.limits[name] = {value.get<std::int64_t>(), "device"};
        model.hardware.takeDeviceFigures(hardware);
        machine.ghz = head.at("clock_mhz").get<double>() * 1e-3;
        machine.cores = head.at("num_cores");
        machine.lanes = head.at("lanes_per_core");
        machine.coreThreads = head.at("threads_per_core");
        machine.coreBlocks = head.at("blocks_per_core");
        machine.coreSharedBytes = head.at("shared_memory_per_core");
        machine.cacheBytesPerCycle = head.at("cache_bytes_per_cycle");
        machine.memoryBytesPerCycle = head.at("memory_bytes_per_cycle");
    }
    Sum sum;
    for (const graph::Task& task : model.partition.tasks) {
        const search::SearchTask searched = session::searchTask(task, model, false);
        test::SimulatedCost costs(searched, machine);
        const double before = costs.nanoseconds(plainLaunches(searched)) * 1e-3;
        const auto start = std::chrono::steady_clock::now();
        LATHE_TRY_ASSIGN(const Candidate candidate, session::defaultCandidate(searched));
        sum.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        const double after = costs.nanoseconds(candidate) * 1e-3, ratio = after / before;
        if (rows)
            fmt::print("{:60} {:10.2f} {:10.2f} {:6.2f} {}\n", task.name, before, after, ratio, guessed(searched));
        sum.logs += std::log(ratio);
        sum.before += before * task.weight;
        sum.after += after * task.weight;
        ++sum.count;
        if (ratio > sum.worst) {
            sum.worst = ratio;
            sum.worstName = task.name;
        }
    }
    fmt::print(
        "{:20} {:3} tasks: {:9.1f} us before, {:9.1f} us after, geometric mean {:.2f}, worst {:.2f} ({}), {:.1f} "
        "ms a task\n",
        network, sum.count, sum.before, sum.after, std::exp(sum.logs / sum.count), sum.worst, sum.worstName,
        1e3 * sum.seconds / sum.count);
    std::fflush(stdout);
    return {};
}

} // namespace

int main(int argc, char** argv)
{
    bool rows = false;
    std::string figures;
    std::vector<std::string> words;
    for (int i = 1; i < argc; ++i)
        if (std::string_view(argv[i]) == "--rows")
            rows = true;
        else if (std::string_view(argv[i]) == "--figures" && i + 1 < argc)
            figures = argv[++i];
        else
            words.emplace_back(argv[i]);
    for (std::size_t i = 1; i < words.size(); ++i)
        if (const auto done = run(words[0], words[i], figures, rows); !done) {
            fmt::print(stderr, "{}: {}\n", words[i], done.error().message);
            return 1;
        }
    return words.size() < 2 ? 2 : 0;
}
