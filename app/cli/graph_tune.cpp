#include "app/cli/command.h"
#include "app/cli/option_arguments.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>

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

/// The console rows of the reference (autotvm.md 10).
void tell(session::PlanStep step, bool pbqp)
{
    switch (step) {
    case session::PlanStep::Timing: info("Start to benchmark layout transformation..."); return;
    case session::PlanStep::Timed: info("Benchmarking layout transformation successful."); return;
    case session::PlanStep::Solving:
        info(pbqp ? "Start to run PBQP algorithm..." : "Start to run dynamic programming algorithm...");
        if (!pbqp)
            info("Start forward pass...");
        return;
    case session::PlanStep::Solved:
        if (!pbqp) {
            info("Finished forward pass.");
            info("Start backward pass...");
            info("Finished backward pass...");
            info("Finished DPExecutor run.");
        }
        return;
    }
}

nlohmann::json toJson(const session::PlanView& plan)
{
    nlohmann::json nodes = nlohmann::json::array(), edges = nlohmann::json::array();
    for (const session::PlanNodeView& node : plan.nodes)
        nodes.push_back({{"task", node.task},
                         {"name", node.name},
                         {"input", node.input},
                         {"output", node.output},
                         {"ms", node.ms},
                         {"record", node.trial}});
    for (const session::PlanEdgeView& edge : plan.edges)
        edges.push_back({{"from", edge.from},
                         {"to", edge.to},
                         {"tensor", edge.tensor},
                         {"shape", edge.shape},
                         {"written", edge.written},
                         {"read", edge.read},
                         {"ms", edge.ms}});
    return {{"nodes", nodes},
            {"edges", edges},
            {"ms", plan.ms},
            {"kernels_ms", plan.kernelsMs},
            {"fastest_ms", plan.fastestMs},
            {"fastest_kernels_ms", plan.fastestKernelsMs},
            {"solver", plan.solver},
            {"optimal", plan.optimal}};
}

void printPlan(const session::PlanView& plan)
{
    print("{:<12} {:<12} {:>10}  function\n", "read", "written", "ms");
    for (const session::PlanNodeView& node : plan.nodes)
        print("{:<12} {:<12} {:>10}  {}\n", node.input, node.output, node.task < 0 ? "" : latency(node.ms), node.name);
    for (const session::PlanEdgeView& edge : plan.edges)
        if (edge.written != edge.read)
            print("converted from {} to {}: {}, {} ms\n", edge.written, edge.read, edge.tensor, latency(edge.ms));
    print("kernels {} ms, conversions {} ms, together {} ms ({}{})\n", latency(plan.kernelsMs),
          latency(plan.ms - plan.kernelsMs), latency(plan.ms), plan.solver,
          plan.optimal ? ", the best choice" : ", a good choice");
    print("with the fastest kernel of each function: kernels {} ms, conversions {} ms, together {} ms\n",
          latency(plan.fastestKernelsMs), latency(plan.fastestMs - plan.fastestKernelsMs), latency(plan.fastestMs));
}

Result<> graphTune(GraphTuneArguments& a)
{
    LATHE_TRY_ASSIGN(session::OpenOptions open, a.model.openOptions());
    open.readOnly = false; // what conversions take is kept
    LATHE_TRY_ASSIGN(const auto session, session::TuningSession::open(open));
    printNotices(session->notices());
    session::CompileOptions options;
    options.graphTuner = a.tuner;
    options.mostCandidates = a.mostCandidates;
    options.conversionRuns = a.conversionRuns;
    options.logs = a.logs;
    const bool pbqp = a.tuner == "pbqp";
    std::int64_t left = 0;
    LATHE_TRY_ASSIGN(const auto plan, session->exports()->plan(options, a.output,
                                                               [&](session::PlanStep step) {
                                                                   if (!a.json)
                                                                       tell(step, pbqp);
                                                               },
                                                               &left, {}));
    if (!plan)
        return makeError(
            Errc::NotFound,
            "no record has a layout of its own: tune with --policy template on a network in NCHW first, or "
            "name a log with --log");
    if (a.json) {
        print("{}\n", toJson(*plan).dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
        return {};
    }
    if (pbqp)
        info(plan->optimal ? "Got optimal solution." : "Got sub-optimal solution.");
    if (!a.output.empty()) {
        info(fmt::format("Writing optimal schedules to {} successfully.", a.output));
        if (left > 0)
            print("{} not in the log, since no template made the kernels that they take\n",
                  counted(left, "function is|functions are"));
    }
    printPlan(*plan);
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
