#include "app/cli/command.h"
#include "core/support/message.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace lathe::cli {

namespace {

/// What control flow the task is in, behind its name.
std::string_view markOf(const session::TaskView& task)
{
    return task.inBranch && task.inLoop ? " (in a branch, in a loop)"
           : task.inBranch              ? " (in a branch)"
           : task.inLoop                ? " (in a loop)"
                                        : "";
}

void printTable(const session::TuningSession& session, const std::string& dag)
{
    double flop = 0;
    int weight = 0;
    printInputSizes(session);
    const auto tasks = session.tasks();
    print("{:>4}  {:>6}  {:>9}  {}\n", "ID", "Weight", "MFLOP", "Task");
    for (const auto& task : tasks) {
        print("{:>4}  {:>6}  {:>9.2f}  {}{}\n", task.id, task.weight, task.flop / 1e6, task.name, markOf(task));
        flop += task.flop * task.weight;
        weight += task.weight;
        if (dag.empty())
            continue;
        const bool isSimple = dag == "simple";
        const auto workload = task.workloads.find(isSimple ? "nested" : dag);
        if (workload != task.workloads.end())
            print("\nWorkload key: {}\n{}\n", workload->second.key,
                  isSimple ? workload->second.hashed : workload->second.dag);
    }
    print("{} of weight {}, {:.3f} GFLOP", counted(tasks.size(), "task|tasks"), weight, flop / 1e9);
    if (const auto untuned = session.untuned(); !untuned.empty()) {
        print("; {} not tuned:\n", counted(untuned.size(), "function|functions"));
        for (const auto& function : untuned)
            print("      {}: {}\n", function.name, function.reason);
    } else {
        print("\n");
    }
}

/// What the reference's template tuner would make tasks of.
void printTemplates(const session::TuningSession& session)
{
    const auto templates = session.templates();
    for (std::size_t i = 0; i < templates.size(); ++i) {
        const session::TemplateView& view = templates[i];
        print("{:>3}/{}  {}, {}{}\n", i + 1, templates.size(), view.name,
              counted(view.size, "configuration|configurations"), view.hasSteps ? "" : ", not turned into code yet");
        print("        {}\n        tasks {}; {}{:.1f} % of the configurations are invalid\n", view.workload,
              fmt::format("{}", fmt::join(view.tasks, ", ")), view.invalidIsExact ? "" : "about ",
              100 * view.invalidShare);
        for (const session::KnobView& knob : view.knobs) {
            constexpr std::size_t kShown = 6;
            std::string choices;
            for (std::size_t c = 0; c < std::min(kShown, knob.choices.size()); ++c)
                choices += (c == 0 ? "" : "; ") + knob.choices[c];
            print("        {}: {}{}, {}: {}{}\n", knob.name, knob.kind,
                  knob.extent > 0 ? fmt::format(" of {}", knob.extent) : std::string(),
                  counted(knob.choiceCount, "choice|choices"), choices, knob.choiceCount > kShown ? "; ..." : "");
        }
    }
    if (templates.empty())
        print("no template computes a task of this network\n");
}

nlohmann::json templatesJson(const session::TuningSession& session)
{
    using nlohmann::json;
    json all = json::array();
    for (const session::TemplateView& view : session.templates()) {
        json knobs = json::array();
        for (const session::KnobView& knob : view.knobs)
            knobs.push_back({{"name", knob.name},
                             {"kind", knob.kind},
                             {"extent", knob.extent},
                             {"choices", knob.choiceCount},
                             {"first", knob.choices}});
        all.push_back({{"name", view.name},
                       {"workload", json::parse(view.workload, nullptr, false)},
                       {"tasks", view.tasks},
                       {"has_steps", view.hasSteps},
                       {"size", view.size},
                       {"invalid_share", view.invalidShare},
                       {"invalid_exact", view.invalidIsExact},
                       {"knobs", knobs}});
    }
    return all;
}

void printJson(const session::TuningSession& session)
{
    using nlohmann::json;
    json tasks = json::array();
    for (const auto& task : session.tasks()) {
        json workloads = json::object();
        for (const auto& [era, workload] : task.workloads)
            workloads[era] = {{"key", workload.key}, {"dag", workload.dag}, {"hashed", workload.hashed}};
        json inputs = json::array();
        for (const auto& input : task.inputs)
            inputs.push_back({{"name", input.name}, {"dtype", input.dtype}, {"shape", input.shape}});
        json outputs = json::array();
        for (const auto& output : task.outputs)
            outputs.push_back({{"name", output.name}, {"dtype", output.dtype}, {"shape", output.shape}});
        std::vector<std::string> nodes;
        for (const int node : task.nodes)
            nodes.push_back(session.graph()->nodes[static_cast<std::size_t>(node)].name);
        tasks.push_back({{"id", task.id},
                         {"name", task.name},
                         {"description", task.description},
                         {"weight", task.weight},
                         {"in_branch", task.inBranch},
                         {"in_loop", task.inLoop},
                         {"flop", task.flop},
                         {"key", task.key},
                         {"workloads", workloads},
                         {"alternatives", task.alternatives},
                         {"nodes", nodes},
                         {"inputs", inputs},
                         {"outputs", outputs}});
    }
    json untuned = json::array();
    for (const auto& function : session.untuned())
        untuned.push_back({{"name", function.name}, {"reason", function.reason}});
    const json out = {{"model", session.options().model.source}, {"target", session.options().target},
                      {"input_sizes", inputSizes(session)},      {"tasks", tasks},
                      {"templates", templatesJson(session)},     {"untuned", untuned}};
    print("{}\n", out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

} // namespace

void addTasks(CLI::App& app, Action& run)
{
    struct TasksArguments
    {
        ModelArguments model;
        std::string dag;
        bool templates = false, json = false;
    };
    auto arguments = std::make_shared<TasksArguments>();
    CLI::App* command = app.add_subcommand("tasks", "List the network's tasks with their weights");
    arguments->model.addTo(*command, true);
    command
        ->add_option(
            "--print-dag", arguments->dag,
            "Print each task's compute DAG and workload key: flat, nested or hash; simple prints the text that "
            "the nested key is the hash of")
        ->expected(0, 1)
        ->default_str("nested")
        ->check(CLI::IsMember({"flat", "nested", "hash", "simple"}));
    command->add_flag("--templates", arguments->templates,
                      "Print what templates compute of the network, in the order in which policy template tunes it, "
                      "with sizes and knobs of the configuration spaces");
    command->add_flag("--json", arguments->json, "Print one JSON object");
    command->callback([arguments, command, &run] {
        if (command->count("--print-dag") > 0 && arguments->dag.empty())
            arguments->dag = "nested";
        run = [arguments]() -> Result<> {
            LATHE_TRY_ASSIGN(session::OpenOptions options, arguments->model.openOptions());
            options.readOnly = true; // the project says what was used last: sizes of inputs, target
            LATHE_TRY_ASSIGN(const auto session, session::TuningSession::open(options));
            printNotices(session->notices());
            if (arguments->json)
                printJson(*session);
            else if (arguments->templates)
                printTemplates(*session);
            else
                printTable(*session, arguments->dag);
            return {};
        };
    });
}

} // namespace lathe::cli
