// What NVIDIA's compiler makes of Lathe's kernels, without a GPU: whether they compile, what they take, how much of the
// machine code is arithmetic. Needs NVRTC (LATHE_NVRTC) and, for what is of the machine code, nvdisasm
// (LATHE_NVDISASM).
//
//   cuda_kernels random [--networks A,B] [--layout NHWC] [--count 200] [--seed 1] [--arch 75,80,90,120] [--table FILE]
//       random candidates of Lathe's own search, of the reference's rules and of the templates, in turns
//   cuda_kernels best [--networks ...] [--task WORD] [--large] [--count 20] [--pool 40] [--draws 2000] [--keep FOLDER]
//       of each task the candidates that the analytic model of an A100 likes best, of those that the search's estimate
//       does; --large: of those with block tiles of 64 x 64 and more
//   cuda_kernels sweep [--networks ...] [--arch 80]
//       what tasks and functions run untuned
//
// --keep writes sources and machine code.

#include "core/frontend/zoo.h"
#include "core/support/files.h"
#include "plugins/cuda/device/architecture.h"
#include "plugins/cuda/model/analytic_model.h"
#include "tests/plugins/cuda/kernels/compiled.h"
#include "tests/plugins/cuda/kernels/network_tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

using namespace lathe;
using namespace lathe::cuda;
using namespace lathe::cuda::kernels;

namespace {

struct Options
{
    std::string mode, layout = "NHWC", task, table, keep;
    std::vector<std::string> networks = {"resnet-18", "mobilenet"};
    std::vector<int> capabilities;
    std::size_t count = 0, pool = 40, draws = 2000;
    std::uint64_t seed = 1;
    bool onlyLarge = false;
};

std::vector<std::string> parts(const std::string& text)
{
    std::vector<std::string> all;
    std::istringstream in(text);
    for (std::string one; std::getline(in, one, ',');)
        all.push_back(one);
    return all;
}

std::string targetFor(int capability)
{
    return "cuda -arch=" + architectureName(capability);
}

double milliseconds(std::chrono::steady_clock::time_point since)
{
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - since).count();
}

/// The tasks of all networks, each once.
Result<std::vector<search::SearchTask>> tasksOfAll(const Options& options, int capability, bool withUntuned,
                                                   const std::string& limitsOf = {})
{
    std::vector<search::SearchTask> all;
    std::set<std::string> keys;
    for (const std::string& network : options.networks) {
        LATHE_TRY_ASSIGN(NetworkTasks tasks, tasksOf(network, options.layout, targetFor(capability), limitsOf));
        if (withUntuned)
            std::ranges::move(tasks.untuned, std::back_inserter(tasks.tasks));
        for (search::SearchTask& task : tasks.tasks)
            if (task.name.find(options.task) != std::string::npos && keys.insert(task.key).second)
                all.push_back(std::move(task));
    }
    return all;
}

struct Sums
{
    int launches = 0, failures = 0, threads = 0, shared = 0, near = 0, low = 0, high = 0, spills = 0;
    double seconds = 0;

    void add(const CompiledLaunch& launch)
    {
        ++launches;
        threads += launch.areThreadsExact() ? 1 : 0;
        shared += launch.isSharedExact() ? 1 : 0;
        const double off = launch.registersOff();
        near += off >= -0.25 && off <= 0.25 ? 1 : 0;
        low += off < -0.25 ? 1 : 0;
        high += off > 0.25 ? 1 : 0;
        spills += launch.spilledBytes > 0 ? 1 : 0;
        seconds += launch.seconds;
    }
    void print(const std::string& what) const
    {
        fmt::print(
            "{:7} {:5} launches, {} failures; threads exact {}, shared bytes exact {}, registers within 25 %: {} "
            "({:.1f} %; {} too low, {} too high), with spills {}; {:.1f} s\n",
            what, launches, failures, threads, shared, near, 100.0 * near / std::max(launches, 1), low, high, spills,
            seconds);
    }
};

Result<> runRandom(const Options& options)
{
    constexpr int kFirst = 80;
    LATHE_TRY_ASSIGN(const std::vector<search::SearchTask> tasks, tasksOfAll(options, kFirst, false));
    Random random(options.seed);
    std::vector<DrawnKernel> drawn;
    for (std::size_t i = 0; drawn.size() < options.count; ++i)
        if (auto one = draw(tasks[random.below(tasks.size())], static_cast<Origin>(i % 3), random))
            drawn.push_back(*std::move(one));
    std::ofstream table(options.table);
    table << "architecture,task,sketch,launch,threads,shared,estimated,registers,spilled,local,seconds\n";
    for (const int capability : options.capabilities) {
        LATHE_TRY_ASSIGN(const Nvrtc* const compiler, Nvrtc::find(capability));
        Sums sums, distinct;
        std::set<std::string> seen;
        for (std::size_t i = 0; i < drawn.size(); ++i) {
            const DrawnKernel& kernel = drawn[i];
            const auto launches = compile(kernel, *compiler, capability);
            if (!launches) {
                ++sums.failures;
                fmt::print("{} {} {}: {}\n", architectureName(capability), kernel.task, kernel.sketch,
                           launches.error().message);
                continue;
            }
            for (const CompiledLaunch& launch : *launches) {
                sums.add(launch);
                if (seen.insert(launch.symbol).second)
                    distinct.add(launch);
                table << fmt::format("{},{},{},{},{},{},{},{},{},{},{:.3f}\n", capability, kernel.task, kernel.sketch,
                                     launch.symbol, launch.made.threads, launch.made.sharedBytes,
                                     launch.expected.registers, launch.made.registers, launch.spilledBytes,
                                     launch.made.localBytes, launch.seconds);
                if (!options.keep.empty())
                    LATHE_TRY(writeFileAtomically(fmt::format("{}/{}.cu", options.keep, launch.symbol), launch.source));
            }
        }
        sums.print(architectureName(capability));
        distinct.print("differ");
    }
    return {};
}

struct Ranked
{
    DrawnKernel kernel;
    std::vector<CompiledLaunch> launches;
    std::vector<ReadLaunch> read;
    double seconds = 0;

    /// The launch with the tile of sums: that in which most products are.
    std::size_t main() const
    {
        const auto products = [](const ReadLaunch& r) { return r.profile.whole().of(SassClass::Ffma); };
        return static_cast<std::size_t>(std::ranges::max_element(read, {}, products) - read.begin());
    }
};

Result<Ranked> rank(DrawnKernel kernel, const Nvrtc& compiler, const std::filesystem::path& nvdisasm,
                    const GpuFacts& gpu)
{
    Ranked made;
    LATHE_TRY_ASSIGN(made.launches, compile(kernel, compiler, gpu.capability));
    std::vector<KernelFacts> facts;
    for (const CompiledLaunch& launch : made.launches) {
        LATHE_TRY_ASSIGN(ReadLaunch one, read(launch, nvdisasm, gpu));
        facts.push_back(one.reading.facts);
        made.read.push_back(std::move(one));
    }
    LATHE_TRY_ASSIGN(made.seconds, sequenceSecondsOf(facts, gpu, GpuClock::Boost, true));
    made.kernel = std::move(kernel);
    return made;
}

Result<> runBest(const Options& options)
{
    const GpuFacts& gpu = *findGpu("A100");
    LATHE_TRY_ASSIGN(const Nvrtc* const compiler, Nvrtc::find(gpu.capability));
    LATHE_TRY_ASSIGN(const std::filesystem::path nvdisasm, findDisassembler());
    LATHE_TRY_ASSIGN(const std::vector<search::SearchTask> tasks,
                     tasksOfAll(options, gpu.capability, false, "expected -gpu=a100"));
    int kernels = 0, spilling = 0, large = 0, dense = 0;
    std::vector<double> shares;
    for (const search::SearchTask& task : tasks) {
        auto liked = likedBest(task, options.pool, options.draws, options.seed, options.onlyLarge);
        if (!liked)
            continue;
        std::vector<Ranked> ranked;
        for (DrawnKernel& one : *liked) {
            auto made = rank(std::move(one), *compiler, nvdisasm, gpu);
            if (made)
                ranked.push_back(*std::move(made));
            else
                fmt::print("    {}\n", made.error().message);
        }
        std::ranges::stable_sort(ranked, {}, &Ranked::seconds);
        ranked.resize(std::min(ranked.size(), options.count));
        fmt::print("{}\n", task.name);
        for (const Ranked& one : ranked) {
            std::int64_t spilled = 0;
            for (const CompiledLaunch& launch : one.launches)
                spilled += launch.spilledBytes;
            const CompiledLaunch& launch = one.launches[one.main()];
            const ReadLaunch& read = one.read[one.main()];
            const BlockTile& tile = one.kernel.tile;
            ++kernels;
            spilling += spilled > 0 ? 1 : 0;
            if (tile.isLarge()) {
                ++large;
                dense += read.hotShare() >= 0.85 ? 1 : 0;
                shares.push_back(read.hotShare());
            }
            fmt::print("  {:7.1f} us (estimate {:7.1f}) {:3} blocks of {:4}, tile {:3} x {:3} by {:3}, registers {:3} "
                       "(estimate {:3}), spilled {:3}, products {:4.1f} % of {:4.0f}, whole {:4.1f} % {} {}\n",
                       one.seconds * 1e6, one.kernel.estimated * 1e6, launch.expected.grid[0], launch.expected.threads,
                       tile.rows, tile.columns, tile.ofThread, launch.made.registers, launch.expected.registers,
                       spilled, 100 * read.hotShare(), read.profile.hot().total, 100 * read.wholeShare(), launch.symbol,
                       one.kernel.sketch);
            if (!options.keep.empty()) {
                LATHE_TRY(writeFileAtomically(fmt::format("{}/{}.cu", options.keep, launch.symbol), launch.source));
                LATHE_TRY(writeFileAtomically(fmt::format("{}/{}.sass", options.keep, launch.symbol), read.text));
            }
        }
    }
    std::ranges::sort(shares);
    fmt::print(
        "{} kernels, {} with spills; {} with tiles of 64 x 64 and more, of which {} have 85 % of products and more "
        "in the hot loop",
        kernels, spilling, large, dense);
    if (!shares.empty())
        fmt::print(" (least {:.1f} %, median {:.1f} %)", 100 * shares.front(), 100 * shares[shares.size() / 2]);
    fmt::print("\n");
    return {};
}

Result<> runSweep(const Options& options)
{
    for (const int capability : options.capabilities) {
        LATHE_TRY_ASSIGN(const Nvrtc* const compiler, Nvrtc::find(capability));
        const auto start = std::chrono::steady_clock::now();
        Sums sums;
        std::set<std::string> seen; // symbols
        for (const std::string& network : options.networks) {
            auto tasks = tasksOf(network, options.layout, targetFor(capability));
            if (!tasks) {
                fmt::print("{}: {}\n", network, tasks.error().message);
                continue;
            }
            std::ranges::move(tasks->untuned, std::back_inserter(tasks->tasks));
            const int before = sums.launches;
            for (const search::SearchTask& task : tasks->tasks) {
                const auto kernel = untuned(task);
                const auto launches = kernel ? compile(*kernel, *compiler, capability, &seen)
                                             : Result<std::vector<CompiledLaunch>>(kernel.error());
                if (!launches) {
                    ++sums.failures;
                    fmt::print("{} {}: {}\n", network, task.name, launches.error().message);
                    continue;
                }
                for (const CompiledLaunch& launch : *launches) {
                    sums.add(launch);
                    if (launch.spilledBytes > 0 || !launch.isSharedExact() || !launch.areThreadsExact())
                        fmt::print("{} {} {}: spilled {}, shared bytes {} of {}, threads {} of {}\n", network,
                                   task.name, launch.symbol, launch.spilledBytes, launch.made.sharedBytes,
                                   launch.expected.sharedBytes, launch.made.threads, launch.expected.threads);
                }
            }
            fmt::print("{}: {} tasks and functions, {} further texts\n", network, tasks->tasks.size(),
                       sums.launches - before);
        }
        sums.print(architectureName(capability));
        fmt::print("        {:.0f} s in all\n", milliseconds(start) / 1000);
    }
    return {};
}

bool readOptions(int argc, char** argv, Options& options)
{
    if (argc < 2)
        return false;
    options.mode = argv[1];
    for (int i = 2; i < argc; ++i) {
        const std::string word = argv[i];
        if (word == "--large") {
            options.onlyLarge = true;
            continue;
        }
        if (++i == argc)
            return false;
        const std::string value = argv[i];
        if (word == "--networks")
            options.networks = parts(value);
        else if (word == "--layout")
            options.layout = value;
        else if (word == "--task")
            options.task = value;
        else if (word == "--table")
            options.table = value;
        else if (word == "--keep")
            options.keep = value;
        else if (word == "--count")
            options.count = std::stoul(value);
        else if (word == "--pool")
            options.pool = std::stoul(value);
        else if (word == "--draws")
            options.draws = std::stoul(value);
        else if (word == "--seed")
            options.seed = std::stoul(value);
        else if (word == "--arch")
            for (const std::string& one : parts(value))
                options.capabilities.push_back(std::stoi(one));
        else
            return false;
    }
    if (options.networks == std::vector<std::string>{"all"}) {
        options.networks.clear();
        for (const frontend::ZooEntry& entry : frontend::zooList())
            options.networks.push_back(entry.name);
    }
    if (options.capabilities.empty())
        options.capabilities = options.mode == "sweep" ? std::vector<int>{80} : std::vector<int>{75, 80, 90, 120};
    if (options.count == 0)
        options.count = options.mode == "best" ? 20 : 200;
    return true;
}

} // namespace

int main(int argc, char** argv)
{
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    Options options;
    Result<> done;
    if (!readOptions(argc, argv, options)) {
        std::fputs("Usage: cuda_kernels random|best|sweep [options]; see the head of cuda_kernels.cpp\n", stderr);
        return 2;
    }
    if (options.mode == "random")
        done = runRandom(options);
    else if (options.mode == "best")
        done = runBest(options);
    else
        done = runSweep(options);
    if (!done)
        std::fprintf(stderr, "%s\n", done.error().message.c_str());
    return done ? 0 : 1;
}
