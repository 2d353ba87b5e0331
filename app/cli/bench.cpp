#include "app/cli/library_source.h"
#include "core/record/json_fields.h"
#include "core/runtime/clock.h"
#include "core/runtime/pool.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lathe::cli {

namespace {

struct BenchArguments
{
    ModelArguments model;
    runtime::RepeatPlan plan{1, 0, 0, 0, 1}; ///< repeat 0: kLeastRepeats, or as many as take kSeconds
    unsigned threads = 0;
    double maxSeconds = 0;
    bool json = false;
};

runtime::Statistics inMs(runtime::Statistics ns)
{
    for (double* const figure : {&ns.median, &ns.mean, &ns.std, &ns.min, &ns.max, &ns.p95})
        *figure *= 1e-6;
    return ns;
}

/// Fork and join of nothing by the runtime's own pool: what each run of a library adds.
double dispatchMs(unsigned threads)
{
    runtime::PoolOptions options;
    options.threads = threads;
    runtime::Pool* pool = runtime::Pool::create(options);
    if (pool == nullptr)
        return std::nan("");
    double ns[11] = {};
    const runtime::RepeatPlan plan{200, std::size(ns), 0, 0, 1};
    runtime::timeRepeats(plan, [](void* p) -> std::int32_t {
        static_cast<runtime::Pool*>(p)->run([](void*, std::uint32_t, std::uint32_t) { }, nullptr);
        return 0;
    }, pool, ns);
    runtime::Pool::destroy(pool);
    return runtime::summarize(ns, std::size(ns)).median * 1e-6;
}

constexpr std::uint32_t kTurns = 10;
constexpr double kSeconds = 0.4; ///< of the network's runs, where that is more than kLeastRepeats
constexpr double kLeastRepeats = 30, kMostRepeats = 200;

struct Runs
{
    int first = 4; ///< untold
    std::uint32_t repeats = 0;
    int sweeps = 0;
};

/// Of a library that takes so long: what is wanted, or less where it would take longer than allowed.
Runs runsWithin(const BenchArguments& a, double seconds)
{
    Runs runs;
    runs.repeats = a.plan.repeat > 0 ? a.plan.repeat : static_cast<std::uint32_t>(std::clamp(kSeconds / seconds, kLeastRepeats, kMostRepeats));
    runs.sweeps = static_cast<int>(std::clamp<double>(runs.repeats, kLeastRepeats, kMostRepeats) / 2);
    const double sweep = 2 * seconds; // each instruction runs twice
    const double wanted = (runs.first + 2) * seconds + runs.sweeps * sweep + runs.repeats * std::max(a.plan.number * seconds, a.plan.minRepeatMs * 1e-3);
    if (a.maxSeconds <= 0 || wanted <= a.maxSeconds)
        return runs;
    const double share = a.maxSeconds / wanted;
    const auto some = [&](double count, double least) { return std::max(std::min(count, least), std::floor(share * count)); };
    return {static_cast<int>(some(runs.first, 0)), static_cast<std::uint32_t>(some(runs.repeats, 3)), static_cast<int>(some(runs.sweeps, 3))};
}

struct Figures
{
    std::vector<double> runsNs; ///< of the whole network
    std::vector<deploy::ChainRow> functions;
    std::vector<double> functionsMs; ///< one per function
    double callMs = 0;

    /// What the functions and the call add up to.
    double sumMs() const { return std::accumulate(functionsMs.begin(), functionsMs.end(), callMs); }
};

/// Each function's mean over the middle half of the sweeps, by what a sweep's figures add up to. The sum of these is a middling sweep,
/// as the network's median is a middling run: medians of the single functions would leave out the moments in which another guest
/// of the machine strikes one or the other, while every run has some of them.
std::vector<double> middling(const std::vector<deploy::ChainRow>& functions)
{
    const std::size_t sweeps = functions.empty() ? 0 : functions.front().ms.size();
    std::vector<std::pair<double, std::size_t>> sums;
    for (std::size_t s = 0; s < sweeps; ++s) {
        double sum = 0;
        for (const deploy::ChainRow& row : functions)
            sum += row.ms[s];
        sums.emplace_back(sum, s);
    }
    std::sort(sums.begin(), sums.end());
    const std::size_t first = sweeps / 4, last = sweeps - first;
    std::vector<double> means(functions.size());
    for (std::size_t f = 0; f < functions.size(); ++f)
        for (std::size_t k = first; k < last; ++k)
            means[f] += functions[f].ms[sums[k].second] / static_cast<double>(last - first);
    return means;
}

/// The whole network and its functions in turns, so that a bad moment of the machine strikes both.
Result<Figures> measure(deploy::LoadedLibrary& library, const Runs& runs, runtime::RepeatPlan plan)
{
    Figures figures;
    const auto turns = std::max<std::uint32_t>(1, std::min<std::uint32_t>(kTurns, std::min(runs.repeats, static_cast<std::uint32_t>(runs.sweeps))));
    for (std::uint32_t turn = 0; turn < turns; ++turn) {
        const auto part = [&](std::uint32_t all) { return all * (turn + 1) / turns - all * turn / turns; };
        plan.repeat = part(runs.repeats);
        LATHE_TRY_ASSIGN(const std::vector<double> times, library.time(plan));
        figures.runsNs.insert(figures.runsNs.end(), times.begin(), times.end());
        LATHE_TRY(library.timeChain(static_cast<int>(part(static_cast<std::uint32_t>(runs.sweeps))), figures.functions));
    }
    figures.functionsMs = middling(figures.functions);
    figures.callMs = dispatchMs(library.threads());
    return figures;
}

Result<> bench(const BenchArguments& a)
{
    LATHE_TRY_ASSIGN(const LibrarySource source, findLibrary(a.model, true, a.threads));
    deploy::LoadedLibrary::Options options;
    options.threads = a.threads;
    LATHE_TRY_ASSIGN(const auto library, deploy::LoadedLibrary::open(source.file, options));
    LATHE_TRY(library->fillInputs(1));
    const std::uint64_t begun = runtime::nowNanoseconds();
    LATHE_TRY(library->run());
    const Runs runs = runsWithin(a, static_cast<double>(runtime::nowNanoseconds() - begun) * 1e-9);
    for (int i = 0; i < runs.first; ++i) // clocks, caches and page tables settle
        LATHE_TRY(library->run());
    LATHE_TRY_ASSIGN(Figures figures, measure(*library, runs, a.plan));
    const runtime::Statistics f = inMs(runtime::summarize(figures.runsNs.data(), figures.runsNs.size()));
    // What the description beside the library says of its parts.
    const nlohmann::json description = libraryDescription(source.file);
    const nlohmann::json estimated = partIn(partIn(description, "benchmark"), "estimated_ms");
    const double error = numberIn(partIn(description, "verification"), "max_rel_error");
    if (a.json) {
        nlohmann::json rows = nlohmann::json::array();
        for (std::size_t i = 0; i < figures.functions.size(); ++i) {
            const deploy::ChainRow& row = figures.functions[i];
            rows.push_back({{"name", row.name}, {"kind", row.kind}, {"ms", figures.functionsMs[i]}, {"min_ms", *std::min_element(row.ms.begin(), row.ms.end())}});
        }
        nlohmann::json out = {{"latency_ms", {{"median", f.median}, {"mean", f.mean}, {"std", f.std}, {"min", f.min}, {"p95", f.p95}}},
                              {"threads", library->threads()}, {"device", "cpu"}, {"functions", rows}};
        if (std::isfinite(figures.callMs)) {
            out["call_ms"] = figures.callMs;
            out["sum_ms"] = figures.sumMs();
        }
        if (!estimated.empty())
            out["estimated_ms"] = estimated;
        if (std::isfinite(error)) // of the export's verification
            out["max_rel_error"] = error;
        print("{}\n", out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
        return {};
    }
    const double sum = figures.sumMs();
    print("{:<64} {:<10} {:>10} {:>7}\n", "function", "kind", "ms", "share");
    for (std::size_t i = 0; i < figures.functions.size(); ++i)
        print("{:<64} {:<10} {:>10.4f} {:>6.1f}%\n", figures.functions[i].name.substr(0, 64), figures.functions[i].kind, figures.functionsMs[i], 100 * figures.functionsMs[i] / sum);
    print("functions, each timed behind the one before it, and one call ({:.4f} ms): {:.3f} ms\n", figures.callMs, sum);
    if (const double tasks = numberIn(estimated, "tasks"); std::isfinite(tasks))
        print("when it was exported: estimated {}\n", toText(deploy::estimatePartsIn(estimated)));
    print("measured: median {:.3f} ms, mean {:.3f} ± {:.3f}, min {:.3f}, p95 {:.3f} ({} threads, {} runs)\n", f.median, f.mean, f.std, f.min, f.p95,
               library->threads(), figures.runsNs.size());
    return {};
}

} // namespace

void addBench(CLI::App& app, Action& run)
{
    auto a = std::make_shared<BenchArguments>();
    CLI::App* command = app.add_subcommand("bench", "Time a library or a model");
    a->model.addTo(*command, true);
    command->add_option("--number", a->plan.number, "Runs per repeat")->check(CLI::Range(1U, 1000000U))->capture_default_str();
    command->add_option("--repeat", a->plan.repeat, "Times that are taken, from which the figures come (default: as many as take 0.4 s, 30 to 200)")->check(CLI::Range(1U, 100000U));
    command->add_option("--max-seconds", a->maxSeconds, "Longest time in seconds: fewer times are taken, at least three, where all would need longer; 0: no limit")->check(CLI::Range(0.0, 86400.0))->capture_default_str();
    command->add_option("--min-repeat-ms", a->plan.minRepeatMs, "Shortest time of one repeat in ms; more runs are added to reach it")->check(CLI::Range(0.0, 600000.0))->capture_default_str();
    command->add_option("--threads", a->threads, "Threads to use; 0: all processors")->capture_default_str();
    command->add_flag("--json", a->json, "Print one JSON object");
    command->callback([a, &run] { run = [a] { return bench(*a); }; });
}

} // namespace lathe::cli
