#include "app/cli/command.h"
#include "app/cli/option_arguments.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cmath>

namespace lathe::cli {

namespace {

struct GraphTuneArguments
{
    ModelArguments model;
    std::vector<std::string> logs;
    std::string tuner = "auto", output;
    std::int32_t mostCandidates = 20;
    std::int64_t conversionRuns = 100;
    bool json = false;
};

/// A row as the reference's graph tuner writes it: "2026-11-28 15:04:05,678 INFO Start forward pass..."
void info(std::string_view text)
{
    const auto now = std::chrono::system_clock::now();
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
    print("{},{:03} INFO {}\n",
          fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::localtime(std::chrono::system_clock::to_time_t(now))), ms, text);
}

/// The console rows of the reference (autotvm.md 10). Which algorithm it is may be known only when it is done.
void tell(session::PlanStep step, const std::string& tuner)
{
    const bool dynamic = tuner == "dp";
    switch (step) {
    case session::PlanStep::Timing: info("Start to benchmark layout transformation..."); return;
    case session::PlanStep::Timed: info("Benchmarking layout transformation successful."); return;
    case session::PlanStep::Solving:
        info(dynamic           ? "Start to run dynamic programming algorithm..."
             : tuner == "pbqp" ? "Start to run PBQP algorithm..."
                               : "Start to choose layouts...");
        if (dynamic)
            info("Start forward pass...");
        return;
    case session::PlanStep::Solved:
        if (dynamic)
            for (const char* row : {"Finished forward pass.", "Start backward pass...", "Finished backward pass...",
                                    "Finished DPExecutor run."})
                info(row);
        return;
    }
}

std::string_view algorithmOf(const session::LayoutsView& view)
{
    return view.solver == "pbqp" ? "PBQP" : "dynamic programming";
}

nlohmann::json toJson(const session::LayoutsView& view)
{
    nlohmann::json nodes = nlohmann::json::array(), edges = nlohmann::json::array();
    for (const session::LayoutFunction& function : view.functions)
        nodes.push_back({{"task", function.task},
                         {"name", function.name},
                         {"input", function.input},
                         {"output", function.output},
                         {"ms", function.kernelMs},
                         {"record", function.trial}});
    for (const session::LayoutTensor& tensor : view.tensors)
        edges.push_back({{"from", tensor.from},
                         {"to", tensor.to},
                         {"tensor", tensor.name},
                         {"shape", tensor.shape},
                         {"written", tensor.written},
                         {"read", tensor.read},
                         {"ms", tensor.conversionMs}});
    return {{"nodes", nodes},
            {"edges", edges},
            {"ms", view.totalMs},
            {"kernels_ms", view.kernelsMs},
            {"fastest_ms", view.fastestMs},
            {"fastest_kernels_ms", view.fastestKernelsMs},
            {"default_ms", std::isfinite(view.defaultMs) ? nlohmann::json(view.defaultMs) : nlohmann::json()},
            {"defaults_missing", view.defaultsMissing},
            {"solver", view.solver},
            {"optimal", view.optimal},
            {"guessed", view.guessed}};
}

/// The network's default schedules, the fastest kernel of each function, and what the graph tuner chose, side by side.
void printFigures(const session::LayoutsView& view)
{
    print("\n{:<14} {:>10} {:>14} {:>10}\n", "", "kernels ms", "conversions ms", "sum ms");
    const auto row = [](std::string_view name, double kernels, double total) {
        print("{:<14} {:>10} {:>14} {:>10}\n", name, latency(kernels), latency(total - kernels), latency(total));
    };
    if (view.defaultsMissing == 0)
        row("default", view.defaultMs, view.defaultMs);
    else
        print("{:<14} the default schedules of {} were not measured\n", "default",
              counted(view.defaultsMissing, "function|functions"));
    row("kernel-tuned", view.fastestKernelsMs, view.fastestMs);
    row("graph-tuned", view.kernelsMs, view.totalMs);
    print("graph-tuned by {}: {}\n", algorithmOf(view), view.optimal ? "the best choice" : "a faster choice may exist");
}

void printLayouts(const session::LayoutsView& view)
{
    print("{:<12} {:<12} {:>10}  function\n", "read", "written", "ms");
    for (const session::LayoutFunction& function : view.functions)
        print("{:<12} {:<12} {:>10}  {}\n", function.input, function.output,
              function.task < 0 ? "" : latency(function.kernelMs), function.name);
    for (const session::LayoutTensor& tensor : view.tensors)
        if (tensor.written != tensor.read)
            print("converted from {} to {}: {}, {} ms\n", tensor.written, tensor.read, tensor.name,
                  latency(tensor.conversionMs));
    printFigures(view);
    if (view.guessed > 0)
        print("{} not timed here: the device of the records is another one\n",
              counted(view.guessed, "conversion was|conversions were"));
}

Result<> graphTune(GraphTuneArguments& a)
{
    LATHE_TRY_ASSIGN(session::OpenOptions open, a.model.openOptions());
    open.readOnly = false; // what conversions take is kept
    LATHE_TRY_ASSIGN(const auto session, session::TuningSession::open(open));
    printNotices(session->notices());
    session::LayoutRequest request;
    request.options.graphTuner = a.tuner;
    request.options.mostCandidates = a.mostCandidates;
    request.options.conversionRuns = a.conversionRuns;
    request.options.logs = a.logs;
    if (!a.json)
        request.told = [&a](session::PlanStep step) { tell(step, a.tuner); };
    LATHE_TRY_ASSIGN(const auto layouts, session->layouts()->chooseLayouts(request, {}));
    if (!layouts)
        return makeError(
            Errc::NotFound,
            "no record has a layout of its own: tune with --policy template on a network in NCHW first, or "
            "name a log with --log");
    std::int64_t left = 0;
    if (!a.output.empty()) {
        LATHE_TRY_ASSIGN(left, layouts->writeLog(a.output));
    }
    const session::LayoutsView& view = layouts->view();
    if (a.json) {
        nlohmann::json out = toJson(view);
        if (!a.output.empty())
            out["not_in_log"] = left;
        print("{}\n", out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
        return {};
    }
    if (view.solver == "pbqp")
        info(view.optimal ? "Got optimal solution." : "Got sub-optimal solution.");
    if (!a.output.empty()) {
        info(fmt::format("Writing optimal schedules to {} successfully.", a.output));
        if (left > 0)
            print("{} not in the log, since no template made the kernels that they take\n",
                  counted(left, "function is|functions are"));
    }
    printLayouts(view);
    return {};
}

} // namespace

void addGraphTune(CLI::App& app, Action& run)
{
    auto arguments = std::make_shared<GraphTuneArguments>();
    CLI::App* command = app.add_subcommand("graph-tune",
                                           "Choose the layouts of the whole network, as compile does, and show them");
    arguments->model.addTo(*command, true);
    command->add_option("--log", arguments->logs, "Log of the template tuner for tasks without a record")
        ->allow_extra_args(false);
    command->add_option("--graph-tuner", arguments->tuner, "How: auto, dp or pbqp, as of compile")
        ->check(CLI::IsMember({"auto", "dp", "pbqp"}))
        ->capture_default_str();
    command->add_option("--max-sch-num", arguments->mostCandidates, "Number of layouts of each task to choose among")
        ->check(CLI::Range(1, 1000).description(""))
        ->capture_default_str();
    command->add_option("--min-exec-num", arguments->conversionRuns, "Number of runs in which a conversion is timed")
        ->check(CLI::Range(1, 1'000'000).description(""))
        ->capture_default_str();
    command->add_option("-o,--output", arguments->output, "Write the records that are taken to this log");
    command->add_flag("--json", arguments->json, "Print one JSON object");
    command->callback([arguments, &run] { run = [arguments] { return graphTune(*arguments); }; });
}

} // namespace lathe::cli
