#include "app/cli/library_source.h"
#include "core/deploy/estimate_parts.h"
#include "core/deploy/library_client.h"
#include "core/deploy/npy.h"
#include "core/deploy/test_inputs.h"
#include "core/runtime/clock.h"
#include "core/session/back_ends.h"
#include "core/session/device_clock.h"
#include "core/support/json_fields.h"
#include "core/support/message.h"
#include "core/target/target.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace lathe::cli {

namespace {

struct BenchArguments
{
    ModelArguments model;
    wire::LibraryPlan plan;
    std::vector<std::string> inputs;
    PlaceArguments place;
    unsigned threads = 0;
    bool json = false;
};

runtime::Statistics inMs(runtime::Statistics ns)
{
    for (double* const figure : {&ns.median, &ns.mean, &ns.std, &ns.min, &ns.max, &ns.p95})
        *figure *= 1e-6;
    return ns;
}

Result<> bench(const BenchArguments& a)
{
    LATHE_TRY_ASSIGN(const LibrarySource source, findLibrary(a.model, a.place, true, a.threads));
    deploy::LibraryClient::Options options;
    options.threads = a.threads;
    LATHE_TRY_ASSIGN(const auto library, openLibrary(source, options));
    // What the description beside the library says of its parts.
    const nlohmann::json description = libraryDescription(source.file);
    LATHE_TRY_ASSIGN(const auto given, deploy::readInputs(library->inputs(), a.inputs));
    std::vector<graph::TensorType> types;
    for (const deploy::PortInfo& port : library->inputs())
        types.push_back(port.type);
    LATHE_TRY_ASSIGN(
        wire::LibraryTimes times,
        library->time(a.plan, deploy::runInputs(types, inputRangesIn(description, library->inputs()), given)));
    const runtime::Statistics f = inMs(runtime::summarize(times.runsNs.data(), times.runsNs.size()));
    const std::string& device = library->device();
    const auto target = session::parseTarget(library->variant());
    const bool isModel = !device.empty() && target && session::givesTimesOfModel(target->kind(), device);
    const nlohmann::json estimated = partIn(partIn(description, "benchmark"), "estimated_ms");
    const double error = numberIn(partIn(description, "verification"), "max_rel_error");
    if (a.json) {
        nlohmann::json rows = nlohmann::json::array();
        for (const wire::FunctionTime& row : times.functions)
            rows.push_back({{"name", row.name}, {"kind", row.kind}, {"ms", row.ms}, {"min_ms", row.minMs}});
        nlohmann::json out = {
            {"latency_ms", {{"median", f.median}, {"mean", f.mean}, {"std", f.std}, {"min", f.min}, {"p95", f.p95}}},
            {"threads", times.threads},
            {"variant", library->variant()},
            {"device", device.empty() ? std::string(kDefaultTarget) : device},
            {"functions", rows}};
        if (isModel)
            out["device_clock"] = "model";
        if (std::isfinite(times.callMs)) {
            out["call_ms"] = times.callMs;
            out["sum_ms"] = times.sumMs();
        }
        if (!estimated.empty())
            out["estimated_ms"] = estimated;
        if (std::isfinite(error)) // of the export's verification
            out["max_rel_error"] = error;
        print("{}\n", out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
        return {};
    }
    const double sum = times.sumMs();
    print("{:<64} {:<10} {:>10} {:>7}\n", "function", "kind", "ms", "share");
    for (const wire::FunctionTime& row : times.functions)
        print("{:<64} {:<10} {:>10.4f} {:>5.1f} %\n", row.name.substr(0, 64), row.kind, row.ms, 100 * row.ms / sum);
    print("sum of the functions, each timed after the one before it, and of one call ({} ms): {} ms\n",
          latency(times.callMs), latency(sum));
    if (const double tasks = numberIn(estimated, "tasks"); std::isfinite(tasks))
        print("at export: estimated {}\n", toText(deploy::estimatePartsIn(estimated)));
    printVariant(*library);
    if (isModel)
        print(
            "{} computes its times by a model; what follows was measured by this machine's clock and says nothing of a "
            "device\n",
            device);
    print("measured{}: median {} ms, mean {} ± {:.2g}, min {}, p95 {} ({}, {})\n",
          device.empty() ? device : " on " + device, latency(f.median), latency(f.mean), f.std, latency(f.min),
          latency(f.p95), counted(times.threads, "thread|threads"), counted(times.runsNs.size(), "run|runs"));
    return {};
}

} // namespace

void addBench(CLI::App& app, Action& run)
{
    auto a = std::make_shared<BenchArguments>();
    CLI::App* command = app.add_subcommand("bench", "Time a library or a model");
    a->model.addTo(*command, true);
    command->add_option("--number", a->plan.number, "Number of runs per repeat")
        ->check(CLI::Range(1U, 1000000U))
        ->capture_default_str();
    command
        ->add_option("--repeat", a->plan.repeat,
                     "Number of repeats, each of which gives one time (default: as many as take 0.4 s, 30 to 200)")
        ->check(CLI::Range(1U, 100000U));
    command
        ->add_option("--max-seconds", a->plan.maxSeconds,
                     "Maximum duration in seconds: if all repeats would take longer, fewer are made, at least three; "
                     "0: no limit")
        ->check(CLI::Range(0.0, 86400.0))
        ->capture_default_str();
    command
        ->add_option("--min-repeat-ms", a->plan.minRepeatMs,
                     "Minimum duration of one repeat in ms; runs are added to reach it")
        ->check(CLI::Range(0.0, 600000.0))
        ->capture_default_str();
    addInputOption(*command, a->inputs, "other inputs get generated values");
    addPlaceOptions(*command, a->place);
    command->add_option("--threads", a->threads, "Number of threads; 0: all processors")->capture_default_str();
    command->add_flag("--json", a->json, "Print one JSON object");
    command->callback([a, &run] { run = [a] { return bench(*a); }; });
}

} // namespace lathe::cli
