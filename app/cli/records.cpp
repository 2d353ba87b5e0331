#include "app/cli/command.h"
#include "core/store/transfer.h"
#include "core/target/target.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <ctime>
#include <set>
#include <tuple>

namespace lathe::cli {

namespace {

using store::Project;

struct Arguments
{
    std::vector<std::string> projects;
    std::string task, output, format = "reference", target;
    std::int64_t limit = -1;
    bool failed = false, json = false;
};

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

nlohmann::json rowJson(const Record& record, const std::string& name)
{
    nlohmann::json row = {{"trial", record.trial}, {"task", name.empty() ? record.candidate.task : name}, {"key", record.candidate.task},
                          {"alternative", record.candidate.alternative}, {"sketch", record.candidate.sketch}, {"candidate", record.candidate.hash().hex()}, {"status", toString(record.result.code)},
                          {"stage", toString(record.result.stage)}, {"round", record.round}, {"index", record.index}, {"verified", record.result.verified}, {"target", record.target},
                          {"device", nlohmann::json::parse(record.device, nullptr, false)}, {"time", timeText(record.timeMs)}};
    if (row["device"].is_discarded())
        row["device"] = nullptr;
    if (record.result.ok())
        row["cost_ms"] = record.result.meanNs() * 1e-6;
    else
        row["text"] = record.result.text;
    return row;
}

void printRow(const Record& record, const std::string& name)
{
    const std::string outcome = record.result.ok() ? fmt::format("{:.5f} ms", record.result.meanNs() * 1e-6)
                                                   : fmt::format("{} {}: {}", toString(record.result.stage), toString(record.result.code), record.result.text);
    print("{}  {}  {:<44} {:<11} {}\n", timeText(record.timeMs), record.trial.substr(0, 8), name.empty() ? record.candidate.task : name,
               record.candidate.alternative, outcome);
}

Result<> list(const Arguments& a)
{
    LATHE_TRY_ASSIGN(const Project project, Project::open(a.projects[0], Project::Access::Read));
    LATHE_TRY_ASSIGN(auto names, taskNames(project));
    store::RecordFilter filter;
    filter.limit = a.limit;
    for (const auto& [key, name] : names)
        if (key == a.task || name == a.task)
            filter.task = key;
    if (!a.task.empty() && filter.task.empty())
        return makeError(Errc::NotFound, fmt::format("{} has no task '{}': lathe-cli records best lists them", a.projects[0], a.task));
    if (a.failed)
        filter.ok = false;
    nlohmann::json rows = nlohmann::json::array();
    LATHE_TRY(project.forEachRecord(filter, [&](const Record& record) {
        const std::string& name = names[record.candidate.task];
        if (a.json)
            rows.push_back(rowJson(record, name));
        else
            printRow(record, name);
    }));
    if (a.json)
        print("{}\n", rows.dump(1, ' ', false, nlohmann::json::error_handler_t::replace));
    return {};
}

Result<> best(const Arguments& a)
{
    LATHE_TRY_ASSIGN(const Project project, Project::open(a.projects[0], Project::Access::Read));
    LATHE_TRY_ASSIGN(auto names, taskNames(project));
    LATHE_TRY_ASSIGN(const auto rows, project.best());
    nlohmann::json out = nlohmann::json::array();
    // One row for each target, device and cache condition: across them, costs do not compare.
    std::set<std::tuple<std::string, std::string, std::string, std::int64_t>> shown;
    std::set<std::string> found;
    for (const auto& row : rows) { // by task, then cost
        found.insert(row.task);
        if (!shown.insert({row.task, row.record.target, row.conditions.device, row.conditions.coldBytes}).second)
            continue;
        if (a.json)
            out.push_back(rowJson(row.record, names[row.task]));
        else
            printRow(row.record, names[row.task]);
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

void report(const store::TransferCount& count)
{
    print("{} records written\n", count.written);
    for (const auto& [reason, n] : count.skipped)
        print("{} skipped: {}\n", n, reason);
}

/// merge: all records of several projects; distill: the best ones of one.
Result<> combine(const Arguments& a, bool bestOnly)
{
    for (const std::string& name : a.projects)
        if (std::filesystem::exists(a.output) && std::filesystem::exists(name) && std::filesystem::equivalent(a.output, name))
            return makeError(Errc::InvalidArgument, fmt::format("{} is both read and written: name another output", name));
    std::vector<Project> sources;
    for (const std::string& name : a.projects) {
        LATHE_TRY_ASSIGN(Project source, Project::open(name, Project::Access::Read));
        sources.push_back(std::move(source));
    }
    LATHE_TRY_ASSIGN(Project to, Project::open(a.output, Project::Access::Write));
    if (to.readOnly())
        return makeError(Errc::StoreFailed, to.readOnlyReason());
    store::TransferCount total;
    for (const Project& source : sources) {
        LATHE_TRY_ASSIGN(const auto count, store::copyRecords(source, to, bestOnly));
        total.written += count.written;
        for (const auto& [reason, n] : count.skipped)
            total.skipped[reason] += n;
    }
    report(total);
    return {};
}

Result<> exportRecords(const Arguments& a)
{
    LATHE_TRY_ASSIGN(const Project project, Project::open(a.projects[0], Project::Access::Read));
    if (a.format == "lathe") {
        LATHE_TRY_ASSIGN(const auto count, store::exportJsonLines(project, a.output));
        report(count);
        return {};
    }
    std::string wanted = a.target;
    if (wanted.empty()) {
        LATHE_TRY_ASSIGN(const auto targets, project.targets());
        if (targets.empty())
            return makeError(Errc::NotFound, fmt::format("{} holds no valid record", a.projects[0]));
        if (targets.size() > 1)
            return makeError(Errc::InvalidArgument, fmt::format("{} holds records for {} targets ({}): choose one with --target", a.projects[0], targets.size(),
                                                                fmt::join(targets, "; ")));
        wanted = targets.front();
    }
    LATHE_TRY_ASSIGN(const Target target, Target::parse(wanted));
    const auto describe = [&target](std::string_view device) {
        Hardware hardware = defaultHardware(target);
        // What the target leaves open is as the device was, wherever this program runs.
        const auto json = nlohmann::json::parse(device, nullptr, false);
        for (const char* name : {"num_cores", "vector_unit_bytes", "cache_line_bytes"}) {
            if (target.kind() != "cpu" || target.attribute(std::string_view(name) == "num_cores" ? "threads" : "mcpu") || !json.is_object())
                continue;
            const nlohmann::json::json_pointer place(fmt::format("/hardware/{}/value", name));
            if (json.contains(place) && json[place].is_number_integer())
                hardware.limits[name] = {json[place].get<std::int64_t>(), "device"};
        }
        // The reference calls its CPU target llvm.
        return std::pair(target.kind() == "cpu" ? std::string("llvm -keys=cpu") : target.text(), hardware.referenceEight());
    };
    LATHE_TRY_ASSIGN(const auto count, store::exportReferenceLog(project, a.output, target.text(), describe));
    report(count);
    return {};
}

} // namespace

void addRecords(CLI::App& app, Action& run)
{
    auto arguments = std::make_shared<Arguments>();
    CLI::App* records = app.add_subcommand("records", "The history in a project");
    records->require_subcommand(1);
    const auto sub = [&](const char* name, const char* text, bool several, auto body) {
        CLI::App* command = records->add_subcommand(name, text);
        command->add_option("PROJECT", arguments->projects, "P.lathe")->required()->expected(1, several ? 100 : 1);
        command->callback([arguments, body, &run] { run = [arguments, body] { return body(*arguments); }; });
        return command;
    };
    CLI::App* listing = sub("list", "Trials in the order of time", false, list);
    listing->add_option("--task", arguments->task, "Only this task (its name or key)");
    listing->add_option("--limit", arguments->limit, "At most so many");
    listing->add_flag("--failed", arguments->failed, "Only failed trials");
    listing->add_flag("--json", arguments->json, "One JSON array");
    sub("best", "The best valid trial of each task", false, best)->add_flag("--json", arguments->json, "One JSON array");
    sub("merge", "All records of several projects in one", true, [](const Arguments& a) { return combine(a, false); })
        ->add_option("-o,--output", arguments->output, "P.lathe")
        ->required();
    sub("distill", "The best records alone", false, [](const Arguments& a) { return combine(a, true); })
        ->add_option("-o,--output", arguments->output, "P.lathe")
        ->required();
    CLI::App* exporting = sub("export", "Records as lines of JSON", false, exportRecords);
    exporting->add_option("-o,--output", arguments->output, "File")->required();
    exporting->add_option("--format", arguments->format, "reference: the auto-scheduler's log; lathe: everything")
        ->check(CLI::IsMember({"reference", "lathe"}))
        ->capture_default_str();
    exporting->add_option("--target", arguments->target, "Whose records go into the reference's log; needed where a project has several");
}

} // namespace lathe::cli
