#include "app/cli/records.h"

#include <fmt/format.h>

namespace lathe::cli {

namespace {

const std::map<std::string, session::TrialQuery::Order> kOrders = {
    {"time", session::TrialQuery::Order::Time},
    {"task", session::TrialQuery::Order::Task},
    {"algorithm", session::TrialQuery::Order::Alternative},
    {"sketch", session::TrialQuery::Order::Sketch},
    {"latency", session::TrialQuery::Order::Latency},
    {"predicted", session::TrialQuery::Order::Predicted},
    {"state", session::TrialQuery::Order::State},
    {"round", session::TrialQuery::Order::Round},
    {"verified", session::TrialQuery::Order::Verified},
    {"trial", session::TrialQuery::Order::Trial},
    {"text", session::TrialQuery::Order::Text},
    {"note", session::TrialQuery::Order::Note},
    {"repeats", session::TrialQuery::Order::Repeats},
};

} // namespace

void TrialFilterArguments::addTo(CLI::App& command)
{
    command.add_option("--task", task, "Only this task (its name or key)");
    command.add_option("--run", run, "Only trials of this run, by its number")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40));
    command.add_option("--measured-for", target, "Only trials that were measured for this target");
    command.add_option("--state", state, "Only trials in this state: Ok, failed, or an error code such as RunTimeout")
        ->check([](const std::string& word) {
            return word == "failed" || errcFromString(word)
                       ? std::string()
                       : fmt::format("'{}' is not a state: use Ok, failed, RunTimeout, WrongAnswer, ...", word);
        });
    command.add_option("--stage", stage, "Only trials that failed at this stage")
        ->check(CLI::IsMember({"lower", "build", "load", "run", "verify", "transport"}));
    command.add_option("--cause", cause, "Only failures of this cause, as the window shows it");
    command.add_option(
        "--text", text,
        "Only trials with this text in the algorithm, sketch, note or failure, or at the start of the id");
    command.add_option("--min-ms", minMs, "Only trials with at least this latency in ms");
    command.add_option("--max-ms", maxMs, "Only trials with at most this latency in ms");
    command.add_flag("--noted", noted, "Only trials with a note");
    command.add_option("--order", order, "Column to sort by (default: time)")->check(CLI::IsMember(kOrders));
    command.add_flag("--descending", descending, "Sort in descending order");
}

Result<session::TrialQuery> TrialFilterArguments::query(const session::TuningSession& session) const
{
    session::TrialQuery query;
    if (!task.empty()) {
        for (const session::TaskView& view : session.tasks())
            if (view.name == task || view.key == task)
                query.task = view.id;
        if (query.task < 0)
            return makeError(Errc::NotFound,
                             fmt::format("the network has no task '{}': lathe-cli tasks lists them", task));
    }
    query.run = run;
    query.target = target;
    query.code = state;
    query.stage = stage;
    query.cause = cause;
    query.text = text;
    query.minMs = minMs;
    query.maxMs = maxMs;
    query.noted = noted;
    query.descending = descending;
    if (!order.empty())
        query.order = kOrders.at(order);
    return query;
}

} // namespace lathe::cli
