#include "app/cli/library_source.h"
#include "core/record/json_fields.h"
#include "core/runtime/clock.h"
#include "core/runtime/pool.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace lathe::cli {

namespace {

struct Arguments
{
    ModelArguments model;
    runtime::RepeatPlan plan{1, 30, 0, 0, 1};
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

/// Fork and join of an empty kernel by the runtime's own pool: what each kernel call adds.
double dispatchMs(unsigned threads)
{
    runtime::PoolOptions options;
    options.threads = threads;
    runtime::Pool* pool = runtime::Pool::create(options);
    if (pool == nullptr)
        return std::nan("");
    double ns = 0;
    const runtime::RepeatPlan plan{2000, 1, 0, 0, 1};
    runtime::timeRepeats(plan, [](void* p) -> std::int32_t {
        static_cast<runtime::Pool*>(p)->run([](void*, std::uint32_t, std::uint32_t) { }, nullptr);
        return 0;
    }, pool, &ns);
    runtime::Pool::destroy(pool);
    return ns * 1e-6;
}

struct Runs
{
    int first = 4;
    std::uint32_t repeats = 0;
    int profiled = 10;
};

/// Of a library that takes so long: what is wanted, or less where it would take longer than allowed.
Runs runsWithin(const Arguments& a, double seconds)
{
    Runs runs;
    runs.repeats = a.plan.repeat;
    const double wanted = (runs.first + runs.profiled + 2) * seconds + a.plan.repeat * std::max(a.plan.number * seconds, a.plan.minRepeatMs * 1e-3);
    if (a.maxSeconds <= 0 || wanted <= a.maxSeconds)
        return runs;
    const double share = a.maxSeconds / wanted;
    const auto some = [&](double count, double least) { return std::max(std::min(count, least), std::floor(share * count)); };
    return {static_cast<int>(some(runs.first, 0)), static_cast<std::uint32_t>(some(runs.repeats, 3)), static_cast<int>(some(runs.profiled, 1))};
}

Result<> bench(const Arguments& a)
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
    runtime::RepeatPlan plan = a.plan;
    plan.repeat = runs.repeats;
    LATHE_TRY_ASSIGN(std::vector<double> times, library->time(plan));
    LATHE_TRY_ASSIGN(const auto profile, library->profile(runs.profiled));
    const runtime::Statistics f = inMs(runtime::summarize(times.data(), times.size()));
    const double dispatch = dispatchMs(library->threads());
    // What the description beside the library says of its parts.
    const nlohmann::json description = libraryDescription(source.file);
    const nlohmann::json estimated = partIn(partIn(description, "benchmark"), "estimated_ms");
    const double error = numberIn(partIn(description, "verification"), "max_rel_error");
    if (a.json) {
        nlohmann::json rows = nlohmann::json::array();
        for (const auto& row : profile)
            rows.push_back({{"name", row.name}, {"kind", row.kind}, {"mean_ms", row.meanMs}, {"min_ms", row.minMs}});
        nlohmann::json out = {{"latency_ms", {{"median", f.median}, {"mean", f.mean}, {"std", f.std}, {"min", f.min}, {"p95", f.p95}}},
                              {"threads", library->threads()}, {"device", "cpu"}, {"profile", rows}};
        if (std::isfinite(dispatch))
            out["dispatch_ms"] = dispatch;
        if (!estimated.empty())
            out["estimated_ms"] = estimated;
        if (std::isfinite(error)) // of the export's verification
            out["max_rel_error"] = error;
        print("{}\n", out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
        return {};
    }
    double sum = 0;
    for (const auto& row : profile)
        sum += row.meanMs;
    print("{:<64} {:<10} {:>10} {:>7}\n", "function", "kind", "mean ms", "share");
    for (const auto& row : profile)
        print("{:<64} {:<10} {:>10.4f} {:>6.1f}%\n", row.name.substr(0, 64), row.kind, row.meanMs, 100 * row.meanMs / sum);
    if (const double tasks = numberIn(estimated, "tasks"); std::isfinite(tasks))
        print("estimated: sum of tasks {:.3f} ms, with untuned functions and dispatch {:.3f} ms\n", tasks, numberIn(estimated, "with_overheads"));
    print("measured: median {:.3f} ms, mean {:.3f} ± {:.3f}, min {:.3f}, p95 {:.3f} ({} threads, {} runs)\n", f.median, f.mean, f.std, f.min, f.p95,
               library->threads(), times.size());
    return {};
}

} // namespace

void addBench(CLI::App& app, Action& run)
{
    auto a = std::make_shared<Arguments>();
    CLI::App* command = app.add_subcommand("bench", "Times a library or a model");
    a->model.addTo(*command, true);
    command->add_option("--number", a->plan.number, "Runs per repeat")->check(CLI::Range(1U, 1000000U))->capture_default_str();
    command->add_option("--repeat", a->plan.repeat, "Times taken; the figures are over these")->check(CLI::Range(1U, 100000U))->capture_default_str();
    command->add_option("--max-seconds", a->maxSeconds, "Fewer repeats, three at least, where all would take longer; 0: no limit")->check(CLI::Range(0.0, 86400.0))->capture_default_str();
    command->add_option("--min-repeat-ms", a->plan.minRepeatMs, "Time of one repeat at least; more runs are added to reach it")->check(CLI::Range(0.0, 600000.0))->capture_default_str();
    command->add_option("--threads", a->threads, "0: all processors")->capture_default_str();
    command->add_flag("--json", a->json, "One JSON object");
    command->callback([a, &run] { run = [a] { return bench(*a); }; });
}

} // namespace lathe::cli
