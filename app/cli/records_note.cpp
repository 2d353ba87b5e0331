#include "app/cli/records.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace lathe::cli {

namespace {

using store::Project;

struct RecordsNoteArguments
{
    std::string project;
    std::optional<std::string> subject, text;
    bool clear = false, json = false;
};

Result<> showAll(const RecordsNoteArguments& a)
{
    LATHE_TRY_ASSIGN(const Project project, Project::open(a.project, Project::Access::Read));
    LATHE_TRY_ASSIGN(const auto notes, project.notes());
    nlohmann::json all = nlohmann::json::object();
    for (const auto& [subject, text] : notes) {
        const std::string name = subject.starts_with("trial:") ? subject.substr(6) : subject;
        if (a.json)
            all[name] = text;
        else
            print("{:<32}  {}\n", name, text);
    }
    if (a.json)
        print("{}\n", all.dump(1, ' ', false, nlohmann::json::error_handler_t::replace));
    return {};
}

Result<> note(const RecordsNoteArguments& a)
{
    if (!a.subject)
        return showAll(a);
    if (a.text && a.clear)
        return makeError(Errc::InvalidArgument, "give a text, or --clear, not both");
    const bool write = a.text || a.clear;
    LATHE_TRY_ASSIGN(Project project, Project::open(a.project, write ? Project::Access::Write : Project::Access::Read));
    if (write && project.readOnly())
        return project.readOnlyError();
    std::string subject(store::kProjectNote);
    if (*a.subject != subject) {
        LATHE_TRY_ASSIGN(const std::string trial, wholeTrial(project, *a.subject));
        subject = store::noteOf(trial);
    }
    if (write)
        return project.setNote(subject, a.text.value_or(std::string()));
    LATHE_TRY_ASSIGN(const std::string text, project.note(subject));
    if (!text.empty())
        print("{}\n", text);
    return {};
}

} // namespace

void addRecordNotes(CLI::App& records, Action& run)
{
    auto arguments = std::make_shared<RecordsNoteArguments>();
    CLI::App* command = records.add_subcommand("note", "Read or write the note on a trial, or on the project");
    command->add_option("PROJECT", arguments->project, "Project file, P.lathe")->required();
    command->add_option("SUBJECT", arguments->subject,
                        "A trial (the first digits of its id), or 'project'; without one all notes are shown");
    command->add_option("TEXT", arguments->text, "The text of the note; without it, the note is shown");
    command->add_flag("--clear", arguments->clear, "Delete the note");
    command->add_flag("--json", arguments->json, "Print all notes as one JSON object");
    command->callback([arguments, &run] { run = [arguments] { return note(*arguments); }; });
}

} // namespace lathe::cli
