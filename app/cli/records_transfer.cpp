#include "app/cli/records.h"
#include "app/cli/skipped_output.h"
#include "core/session/back_ends.h"
#include "core/store/log_line.h"
#include "core/store/transfer.h"
#include "core/support/message.h"
#include "core/target/presets.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace lathe::cli {

namespace {

using store::Project;

struct RecordsTransferArguments
{
    std::vector<std::string> projects;
    std::string output, format = "reference", target;
    TrialFilterArguments filter;
};

void report(const store::TransferCount& count)
{
    print("{} written\n", counted(count.written, "record|records"));
    for (const auto& [reason, n] : count.skipped)
        print("{} skipped: {}\n", n, reason);
}

/// merge: all records of several projects; distill: the best ones of one.
Result<> combine(const RecordsTransferArguments& a, bool bestOnly)
{
    for (const std::string& name : a.projects)
        if (std::filesystem::exists(a.output) && std::filesystem::exists(name)
            && std::filesystem::equivalent(a.output, name))
            return makeError(Errc::InvalidArgument,
                             fmt::format("{} is both read and written: name another output", name));
    std::vector<Project> sources;
    for (const std::string& name : a.projects) {
        LATHE_TRY_ASSIGN(Project source, Project::open(name, Project::Access::Read));
        sources.push_back(std::move(source));
    }
    LATHE_TRY_ASSIGN(Project to, Project::open(a.output, Project::Access::Write));
    if (to.readOnly())
        return to.readOnlyError();
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

/// The list of the window's Records page.
Result<> exportList(const RecordsTransferArguments& a)
{
    session::OpenOptions open;
    open.project = a.projects[0];
    open.target = a.target;
    open.readOnly = true;
    LATHE_TRY_ASSIGN(const auto session, session::TuningSession::open(open));
    LATHE_TRY_ASSIGN(const session::TrialQuery query, a.filter.query(*session));
    LATHE_TRY_ASSIGN(const auto history, session->history());
    LATHE_TRY_ASSIGN(const auto rows, history->find(query, {}));
    LATHE_TRY(history->write(rows, a.output,
                             a.format == "csv" ? session::TrialFile::Csv : session::TrialFile::JsonLines, {}));
    print("{} written\n", counted(rows.size(), "record|records"));
    return {};
}

/// The template tuner's log needs the network: its lines name operators with shapes, not keys.
Result<> exportTemplates(const RecordsTransferArguments& a)
{
    session::OpenOptions open;
    open.project = a.projects[0];
    open.target = a.target;
    open.readOnly = true;
    LATHE_TRY_ASSIGN(const auto session, session::TuningSession::open(open));
    LATHE_TRY_ASSIGN(const session::LogExport done, session->project()->exportTemplateLog(a.output, {}));
    print("{} written\n", counted(done.written, "line|lines"));
    printSkipped(done.skipped);
    return {};
}

Result<> exportRecords(const RecordsTransferArguments& a)
{
    if (a.format == "template")
        return exportTemplates(a);
    if (a.format == "csv" || a.format == "jsonl")
        return exportList(a);
    LATHE_TRY_ASSIGN(const Project project, Project::open(a.projects[0], Project::Access::Read));
    if (a.format == "lathe") {
        LATHE_TRY_ASSIGN(const auto count, store::exportJsonLines(project, a.output));
        report(count);
        return {};
    }
    std::string wanted = a.target;
    if (wanted.empty()) {
        LATHE_TRY_ASSIGN(auto targets, project.targets());
        const auto imported = std::erase_if(
            targets, [](const std::string& target) { return target.starts_with(store::kImportedTarget); });
        if (targets.empty() && imported > 0) // the imported lines alone
            targets.emplace_back(kDefaultTarget);
        if (targets.empty())
            return makeError(Errc::NotFound, fmt::format("{} holds no valid record", a.projects[0]));
        if (targets.size() > 1)
            return makeError(Errc::InvalidArgument,
                             fmt::format("{} holds records for {} targets ({}): choose one with --target",
                                         a.projects[0], targets.size(), fmt::join(targets, "; ")));
        wanted = targets.front();
    }
    LATHE_TRY_ASSIGN(const Target target, session::parseTarget(wanted));
    const auto describe = [&target](std::string_view device) {
        Hardware hardware = defaultHardware(target);
        // What the target leaves open is as the device was, wherever this program runs.
        const auto json = nlohmann::json::parse(device, nullptr, false);
        for (const char* name : {"num_cores", "vector_unit_bytes", "cache_line_bytes"}) {
            if (!target.traits().sharesCores
                || target.attribute(std::string_view(name) == "num_cores" ? "threads" : "mcpu") || !json.is_object())
                continue;
            const nlohmann::json::json_pointer place(fmt::format("/hardware/{}/value", name));
            if (json.contains(place) && json[place].is_number_integer())
                hardware.limits[name] = {json[place].get<std::int64_t>(), "device"};
        }
        return std::pair(referenceTargetText(target), hardware.referenceEight());
    };
    LATHE_TRY_ASSIGN(const auto count, store::exportReferenceLog(project, a.output, target.text(), describe));
    report(count);
    return {};
}

} // namespace

void addRecordTransfers(CLI::App& records, Action& run)
{
    auto arguments = std::make_shared<RecordsTransferArguments>();
    const auto sub = [&](const char* name, const char* text, bool several, auto body) {
        CLI::App* command = records.add_subcommand(name, text);
        command->add_option("PROJECT", arguments->projects, "Project file, P.lathe")
            ->required()
            ->expected(1, several ? 100 : 1);
        command->callback([arguments, body, &run] { run = [arguments, body] { return body(*arguments); }; });
        return command;
    };
    sub("merge", "Copy all records of several projects into one project", true,
        [](const RecordsTransferArguments& a) { return combine(a, false); })
        ->add_option("-o,--output", arguments->output, "Project file to write, P.lathe")
        ->required();
    sub("distill", "Copy only the best records into another project", false,
        [](const RecordsTransferArguments& a) { return combine(a, true); })
        ->add_option("-o,--output", arguments->output, "Project file to write, P.lathe")
        ->required();
    CLI::App* exporting = sub("export", "Write records as lines of JSON or as CSV", false, exportRecords);
    exporting->add_option("-o,--output", arguments->output, "File to write")->required();
    exporting
        ->add_option("--format", arguments->format,
                     "reference: the auto-scheduler's log; template: the template tuner's; lathe: everything; csv, "
                     "jsonl: the trials that the options below select")
        ->check(CLI::IsMember({"reference", "template", "lathe", "csv", "jsonl"}))
        ->capture_default_str();
    exporting->add_option("--target", arguments->target,
                          "Target whose records go into the auto-scheduler's log; required if a project has several");
    arguments->filter.addTo(*exporting);
}

} // namespace lathe::cli
