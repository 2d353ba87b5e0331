#include "app/cli/command.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <optional>

namespace lathe::cli {

namespace {

struct BudgetArguments
{
    std::string project, task;
    std::optional<std::string> pin, mute;
    std::optional<double> boost;
    std::optional<std::int64_t> cap;
    bool json = false;
};

Result<std::int32_t> findTask(const std::vector<session::TaskView>& tasks, const BudgetArguments& arguments)
{
    std::int32_t found = -1;
    for (const session::TaskView& task : tasks) {
        if (task.key == arguments.task || std::to_string(task.id) == arguments.task)
            return task.id;
        if (task.name == arguments.task) {
            if (found >= 0)
                return makeError(Errc::InvalidArgument, fmt::format("{} has several tasks '{}': give its number",
                                                                    arguments.project, arguments.task));
            found = task.id;
        }
    }
    if (found < 0)
        return makeError(Errc::NotFound, fmt::format("{} has no task '{}': lathe-cli budget {} lists them",
                                                     arguments.project, arguments.task, arguments.project));
    return found;
}

Result<> budget(const BudgetArguments& arguments)
{
    const bool changes = arguments.pin || arguments.mute || arguments.boost || arguments.cap;
    if (changes && arguments.task.empty())
        return makeError(Errc::InvalidArgument, "say of which task: its number, name or key");
    std::error_code ignored;
    if (!std::filesystem::exists(arguments.project, ignored))
        return makeError(Errc::NotFound, fmt::format("there is no project {}", arguments.project));
    session::OpenOptions open;
    open.project = arguments.project;
    open.readOnly = !changes;
    LATHE_TRY_ASSIGN(const auto session, session::TuningSession::open(open));
    const std::vector<session::TaskView> tasks = session->tasks();
    std::int32_t only = -1;
    if (!arguments.task.empty()) {
        LATHE_TRY_ASSIGN(only, findTask(tasks, arguments));
    }
    if (changes) {
        session::TaskBudget wanted = session->project()->budgets()[static_cast<std::size_t>(only)];
        if (arguments.pin)
            wanted.pinned = *arguments.pin == "on";
        if (arguments.mute)
            wanted.muted = *arguments.mute == "on";
        if (wanted.pinned && wanted.muted) // who is first cannot be left out: the latest wish counts
            (arguments.pin && *arguments.pin == "on" && !(arguments.mute && *arguments.mute == "on")
                 ? wanted.muted
                 : wanted.pinned) = false;
        wanted.boost = arguments.boost.value_or(wanted.boost);
        wanted.trialCap = arguments.cap.value_or(wanted.trialCap);
        LATHE_TRY(session->project()->setBudget(only, wanted));
    }
    const std::vector<session::TaskBudget> budgets = session->project()->budgets();
    nlohmann::json rows = nlohmann::json::array();
    if (!arguments.json)
        print("{:>4} {:>6} {:>5} {:>6} {:>8} {:>8}  {}\n", "ID", "pinned", "muted", "boost", "cap", "trials", "task");
    for (const session::TaskView& task : tasks) {
        if (only >= 0 && task.id != only)
            continue;
        const session::TaskBudget& b = budgets[static_cast<std::size_t>(task.id)];
        if (arguments.json)
            rows.push_back({{"id", task.id},
                            {"task", task.name},
                            {"key", task.key},
                            {"pinned", b.pinned},
                            {"muted", b.muted},
                            {"boost", b.boost},
                            {"trial_cap", b.trialCap},
                            {"trials", task.trials}});
        else
            print("{:>4} {:>6} {:>5} {:>6} {:>8} {:>8}  {}\n", task.id, b.pinned ? "yes" : "-", b.muted ? "yes" : "-",
                  fmt::format("x{:g}", b.boost), b.trialCap > 0 ? std::to_string(b.trialCap) : "-", task.trials,
                  task.name);
    }
    if (arguments.json)
        print("{}\n", rows.dump(1, ' ', false, nlohmann::json::error_handler_t::replace));
    return {};
}

} // namespace

void addBudget(CLI::App& app, Action& run)
{
    auto arguments = std::make_shared<BudgetArguments>();
    CLI::App* command = app.add_subcommand("budget", "List the budgets of all tasks, or change the budget of one task");
    command->add_option("PROJECT", arguments->project, "Project file, P.lathe")->required();
    command->add_option("TASK", arguments->task, "Number, name or key of a task");
    command->add_option("--pin", arguments->pin, "Whether the task gets its trials first")
        ->check(CLI::IsMember({"on", "off"}));
    command->add_option("--mute", arguments->mute, "Whether the task gets no trials")
        ->check(CLI::IsMember({"on", "off"}));
    command->add_option("--boost", arguments->boost, "Factor for the task's expected gain; 1 changes nothing");
    command->add_option("--cap", arguments->cap, "Maximum number of trials per run; 0: no limit");
    command->add_flag("--json", arguments->json, "Print one JSON array");
    command->callback([arguments, &run] { run = [arguments] { return budget(*arguments); }; });
}

} // namespace lathe::cli
