#include "app/cli/interrupt.h"
#include "app/cli/records.h"
#include "core/store/log_line.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace lathe::cli {

namespace {

struct RecordsMeasureArguments
{
    std::string project, target;
    std::vector<std::string> trials;
    bool best = false, imported = false, json = false;
    std::int64_t limit = 1000;
    session::RemeasureOptions options;
    TrialFilterArguments filter;
};

nlohmann::json toJson(const session::RemeasuredTrial& trial)
{
    nlohmann::json row = {{"repeats", trial.repeats}, {"status", trial.code}};
    if (!trial.trial.empty())
        row["trial"] = trial.trial;
    if (!trial.stage.empty())
        row["stage"] = trial.stage;
    if (std::isfinite(trial.beforeMs))
        row["before_ms"] = trial.beforeMs;
    if (std::isfinite(trial.costMs))
        row["cost_ms"] = trial.costMs;
    if (!trial.text.empty())
        row["text"] = trial.text;
    return row;
}

std::string cost(double ms)
{
    return std::isfinite(ms) ? fmt::format("{:.5f} ms", ms) : std::string("failed");
}

Result<> measure(const RecordsMeasureArguments& a, session::TuningSession& session,
                 const std::vector<std::string>& trials)
{
    const StopOnInterrupt interrupt; // what was measured is kept
    LATHE_TRY_ASSIGN(const auto done, session.project()->remeasure(trials, a.options, {}, interrupt.token()));
    nlohmann::json rows = nlohmann::json::array();
    const std::vector<session::TaskView> tasks = session.tasks();
    std::size_t failed = 0;
    for (const session::RemeasuredTrial& trial : done) {
        failed += trial.code != "Ok" ? 1 : 0;
        if (a.json) {
            rows.push_back(toJson(trial));
            continue;
        }
        const std::string task = trial.task >= 0 ? tasks[static_cast<std::size_t>(trial.task)].name : std::string("-");
        const std::string after = trial.code == "Ok"
                                      ? cost(trial.costMs)
                                      : fmt::format("{}: {}", trial.code, trial.text.substr(0, trial.text.find('\n')));
        print("{}  {:<44} {:>13} -> {}{}\n", trial.repeats.substr(0, 8), task, cost(trial.beforeMs), after,
              trial.trial.empty() ? std::string() : "  (trial " + trial.trial.substr(0, 8) + ")");
    }
    if (a.json)
        print("{}\n", rows.dump(1, ' ', false, nlohmann::json::error_handler_t::replace));
    else
        print("{} of {} measured again, {} failed\n", done.size(), trials.size(), failed);
    return {};
}

Result<std::unique_ptr<session::TuningSession>> open(const RecordsMeasureArguments& a)
{
    session::OpenOptions open;
    open.project = a.project;
    open.target = a.target;
    return session::TuningSession::open(std::move(open));
}

Result<> remeasure(const RecordsMeasureArguments& a)
{
    if (a.trials.empty() && !a.best && !a.imported)
        return makeError(Errc::InvalidArgument,
                         "say which trials: the first digits of their ids, --best, or --imported");
    std::vector<std::string> trials;
    LATHE_TRY_ASSIGN(const auto session, open(a));
    {
        LATHE_TRY_ASSIGN(const auto project, store::Project::open(a.project, store::Project::Access::Read));
        for (const std::string& prefix : a.trials) {
            LATHE_TRY_ASSIGN(trials.emplace_back(), wholeTrial(project, prefix));
        }
        if (a.best) {
            LATHE_TRY_ASSIGN(const auto rows, project.best({{}, session->options().target, {}}));
            std::string task; // by task, then cost
            for (const store::BestRow& row : rows)
                if (std::exchange(task, row.task) != row.task
                    && std::find(trials.begin(), trials.end(), row.record.trial) == trials.end())
                    trials.push_back(row.record.trial);
        }
        if (a.imported) {
            LATHE_TRY_ASSIGN(const auto rows, project.best());
            std::string task;
            const std::size_t before = trials.size();
            for (const store::BestRow& row : rows)
                if (store::isImported(row.record) && std::exchange(task, row.task) != row.task
                    && std::find(trials.begin(), trials.end(), row.record.trial) == trials.end())
                    trials.push_back(row.record.trial);
            if (trials.size() == before && !a.best && a.trials.empty())
                return makeError(Errc::NotFound, fmt::format("{} has no valid record of an imported log", a.project));
        }
    }
    return measure(a, *session, trials);
}

Result<> retry(const RecordsMeasureArguments& a)
{
    LATHE_TRY_ASSIGN(const auto session, open(a));
    std::vector<std::string> trials;
    {
        LATHE_TRY_ASSIGN(const auto project, store::Project::open(a.project, store::Project::Access::Read));
        for (const std::string& prefix : a.trials) {
            LATHE_TRY_ASSIGN(trials.emplace_back(), wholeTrial(project, prefix));
            LATHE_TRY_ASSIGN(const Record record, project.record(trials.back()));
            if (record.result.ok())
                return makeError(
                    Errc::InvalidArgument,
                    fmt::format("trial {} did not fail: lathe-cli records remeasure measures it again", prefix));
        }
    }
    if (a.trials.empty()) {
        LATHE_TRY_ASSIGN(session::TrialQuery query, a.filter.query(*session));
        if (query.code.empty())
            query.code = "failed";
        if (query.code == "Ok")
            return makeError(Errc::InvalidArgument,
                             "only failed trials are tried again: lathe-cli records remeasure measures valid ones");
        query.descending = query.order != session::TrialQuery::Order::Time || a.filter.descending;
        LATHE_TRY_ASSIGN(const auto history, session->history());
        LATHE_TRY_ASSIGN(auto rows, history->find(query, {}));
        if (rows.empty())
            return makeError(Errc::NotFound, "no failed trial matches these options");
        rows.resize(std::min(rows.size(), static_cast<std::size_t>(a.limit)));
        LATHE_TRY_ASSIGN(const auto views, history->rows(rows));
        for (const session::TrialRow& row : views)
            trials.push_back(row.trial);
    }
    return measure(a, *session, trials);
}

} // namespace

void addRecordMeasurements(CLI::App& records, Action& run)
{
    auto arguments = std::make_shared<RecordsMeasureArguments>();
    const auto sub = [&](const char* name, const char* text, auto body) {
        CLI::App* command = records.add_subcommand(name, text);
        command->add_option("PROJECT", arguments->project, "Project file, P.lathe")->required();
        command->add_option("TRIAL", arguments->trials, "Trials, by the first digits of their ids");
        command->add_option("--target", arguments->target,
                            "Measure the trials of this target (default: the project's latest)");
        command->add_option("--repeat", arguments->options.repeat, "Minimum number of cost measurements per candidate")
            ->check(CLI::Range(1, 1000))
            ->capture_default_str();
        command
            ->add_option("--timeout", arguments->options.timeoutSeconds,
                         "Time limit of one candidate in seconds (default: 10)")
            ->check(CLI::Range(0.001, 86400.0));
        command->add_flag("--json", arguments->json, "Print one JSON array");
        command->callback([arguments, body, &run] { run = [arguments, body] { return body(*arguments); }; });
        return command;
    };
    CLI::App* measuring = sub("remeasure",
                              "Build and measure the candidates of trials again; each result is a new trial that "
                              "refers to the one it repeats",
                              remeasure);
    measuring->add_flag("--best", arguments->best, "Measure the best valid trial of each task");
    measuring->add_flag("--imported", arguments->imported,
                        "Measure the best imported trial of each task (records import)");
    CLI::App* again = sub("retry", "Try failed trials again: the named ones, or all that the options select", retry);
    again->add_option("--limit", arguments->limit, "Maximum number of trials")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40))
        ->capture_default_str();
    arguments->filter.addTo(*again);
}

} // namespace lathe::cli
