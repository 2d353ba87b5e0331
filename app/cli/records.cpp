#include "app/cli/records.h"

#include "core/store/log_line.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <ctime>
#include <set>
#include <tuple>

namespace lathe::cli {

using store::Project;

std::string timeText(std::int64_t ms)
{
    const std::time_t seconds = ms / 1000;
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts);
    return text;
}

Result<std::map<std::string, std::string>> taskNames(const Project& project)
{
    std::map<std::string, std::string> names;
    LATHE_TRY_ASSIGN(const auto models, project.models());
    for (const auto& model : models) {
        LATHE_TRY_ASSIGN(const auto tasks, project.tasks(model.id));
        for (const auto& task : tasks)
            names[task.key] = task.name;
    }
    return names;
}

Result<std::string> wholeTrial(const Project& project, const std::string& prefix)
{
    LATHE_TRY_ASSIGN(const auto found, project.trialsWithPrefix(prefix, 2));
    if (found.empty())
        return makeError(Errc::NotFound, fmt::format("{} has no trial '{}': lathe-cli records list shows them",
                                                     project.file().string(), prefix));
    if (found.size() > 1 && found.front() != prefix)
        return makeError(Errc::InvalidArgument,
                         fmt::format("several trials begin with '{}': {}, {}, ...; give more of its digits", prefix,
                                     found[0], found[1]));
    return found.front();
}

namespace {

struct RecordsArguments
{
    std::string project, task;
    std::int64_t limit = -1;
    bool failed = false, json = false;
};

using Notes = std::map<std::string, std::string>;

nlohmann::json rowJson(const Record& record, const std::string& name, const Notes& notes)
{
    nlohmann::json row = {{"trial", record.trial},
                          {"task", name.empty() ? record.candidate.task : name},
                          {"key", record.candidate.task},
                          {"alternative", record.candidate.alternative},
                          {"sketch", record.candidate.sketch},
                          {"candidate", record.candidate.hash().hex()},
                          {"status", toString(record.result.code)},
                          {"stage", toString(record.result.stage)},
                          {"round", record.round},
                          {"index", record.index},
                          {"verified", record.result.verified},
                          {"target", record.target},
                          {"device", nlohmann::json::parse(record.result.device.fingerprint, nullptr, false)},
                          {"device_key", record.result.device.key},
                          {"time", timeText(record.timeMs)}};
    if (row["device"].is_discarded())
        row["device"] = nullptr;
    if (record.result.ok())
        row["cost_ms"] = record.result.meanNs() * 1e-6;
    else
        row["text"] = record.result.text;
    if (!record.repeats.empty())
        row["repeats"] = record.repeats;
    if (const auto note = notes.find(store::noteOf(record.trial)); note != notes.end())
        row["note"] = note->second;
    return row;
}

void printRow(const Record& record, const std::string& name, const Notes& notes)
{
    const std::string outcome = record.result.ok() ? fmt::format("{:.5f} ms", record.result.meanNs() * 1e-6)
                                                   : fmt::format("{} {}: {}", toString(record.result.stage),
                                                                 toString(record.result.code), record.result.text);
    const std::string again = record.repeats.empty() ? std::string()
                                                     : fmt::format("  (repeats {})", record.repeats.substr(0, 8));
    const std::string origin = store::isImported(record) ? fmt::format("  ({})", store::quoted(record.target, 60))
                                                         : std::string();
    const auto note = notes.find(store::noteOf(record.trial));
    print("{}  {}  {:<44} {:<11} {}{}{}{}\n", timeText(record.timeMs), record.trial.substr(0, 8),
          name.empty() ? record.candidate.task : name, record.candidate.alternative, outcome, again, origin,
          note == notes.end() ? std::string() : "  # " + note->second);
}

Result<> list(const RecordsArguments& a)
{
    LATHE_TRY_ASSIGN(const Project project, Project::open(a.project, Project::Access::Read));
    LATHE_TRY_ASSIGN(auto names, taskNames(project));
    LATHE_TRY_ASSIGN(const Notes notes, project.notes());
    store::RecordFilter filter;
    filter.limit = a.limit;
    for (const auto& [key, name] : names)
        if (key == a.task || name == a.task)
            filter.task = key;
    if (!a.task.empty() && filter.task.empty())
        return makeError(Errc::NotFound,
                         fmt::format("{} has no task '{}': lathe-cli records best lists them", a.project, a.task));
    if (a.failed)
        filter.ok = false;
    nlohmann::json rows = nlohmann::json::array();
    LATHE_TRY(project.forEachRecord(filter, [&](const Record& record) {
        const std::string& name = names[record.candidate.task];
        if (a.json)
            rows.push_back(rowJson(record, name, notes));
        else
            printRow(record, name, notes);
    }));
    if (a.json)
        print("{}\n", rows.dump(1, ' ', false, nlohmann::json::error_handler_t::replace));
    return {};
}

Result<> best(const RecordsArguments& a)
{
    LATHE_TRY_ASSIGN(const Project project, Project::open(a.project, Project::Access::Read));
    LATHE_TRY_ASSIGN(auto names, taskNames(project));
    LATHE_TRY_ASSIGN(const Notes notes, project.notes());
    LATHE_TRY_ASSIGN(const auto rows, project.best());
    nlohmann::json out = nlohmann::json::array();
    // One row for each target, device and cache condition: across them, costs do not compare.
    std::set<std::tuple<std::string, std::string, std::string, std::int64_t>> shown;
    std::set<std::string> found;
    for (const auto& row : rows) { // by task, then cost
        found.insert(row.task);
        if (!shown.insert({row.task, row.record.target, row.conditions.deviceKey, row.conditions.coldBytes}).second)
            continue;
        if (a.json)
            out.push_back(rowJson(row.record, names[row.task], notes));
        else
            printRow(row.record, names[row.task], notes);
    }
    for (const std::string& task : found)
        names.erase(task);
    if (a.json)
        print("{}\n", out.dump(1, ' ', false, nlohmann::json::error_handler_t::replace));
    else
        for (const auto& [key, name] : names)
            print("{:>29}  {:<44} no valid record\n", "-", name);
    return {};
}

} // namespace

void addRecordLists(CLI::App& records, Action& run)
{
    auto arguments = std::make_shared<RecordsArguments>();
    const auto sub = [&](const char* name, const char* text, auto body) {
        CLI::App* command = records.add_subcommand(name, text);
        command->add_option("PROJECT", arguments->project, "Project file, P.lathe")->required();
        command->callback([arguments, body, &run] { run = [arguments, body] { return body(*arguments); }; });
        return command;
    };
    CLI::App* listing = sub("list", "List trials in chronological order", list);
    listing->add_option("--task", arguments->task, "Only this task (its name or key)");
    listing->add_option("--limit", arguments->limit, "Maximum number of trials");
    listing->add_flag("--failed", arguments->failed, "Only failed trials");
    listing->add_flag("--json", arguments->json, "Print one JSON array");
    sub("best", "List the best valid trial of each task", best)
        ->add_flag("--json", arguments->json, "Print one JSON array");
}

void addRecords(CLI::App& app, Action& run)
{
    CLI::App* records = app.add_subcommand("records",
                                           "List, export, import, annotate and remeasure the records of a project");
    records->require_subcommand(1);
    addRecordLists(*records, run);
    addRecordTransfers(*records, run);
    addRecordImport(*records, run);
    addRecordMeasurements(*records, run);
    addRecordNotes(*records, run);
}

} // namespace lathe::cli
