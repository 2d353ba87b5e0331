#include "app/cli/records.h"
#include "app/cli/skipped_output.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace lathe::cli {

namespace {

struct RecordsImportArguments
{
    std::string project, target;
    std::vector<std::string> files;
    bool json = false;
};

nlohmann::json toJson(const session::LogImport& done)
{
    return {{"lines", done.lines},     {"taken", done.taken}, {"known", done.known},
            {"foreign", done.foreign}, {"tasks", done.tasks}, {"skipped", skippedJson(done.skipped)}};
}

Result<> import(const RecordsImportArguments& a)
{
    // Opening for writing would make one.
    if (std::error_code ignored; !std::filesystem::exists(a.project, ignored))
        return makeError(
            Errc::NotFound,
            fmt::format("there is no project {}: lathe-cli tune MODEL --project {} makes one", a.project, a.project));
    session::OpenOptions open;
    open.project = a.project;
    open.target = a.target;
    LATHE_TRY_ASSIGN(const auto session, session::TuningSession::open(std::move(open)));
    const std::vector<std::filesystem::path> files(a.files.begin(), a.files.end());
    LATHE_TRY_ASSIGN(const session::LogImport done, session->project()->importLogs(files, {}, {}));
    if (a.json) {
        print("{}\n", toJson(done).dump(1, ' ', false, nlohmann::json::error_handler_t::replace));
    } else {
        print("lines: {} read, {} imported as records of {} tasks, {} already present, {} skipped\n", done.lines,
              done.taken, done.tasks, done.known, done.skippedLines());
        printSkipped(done.skipped);
        if (done.foreign > 0)
            print("{} were measured elsewhere: no export uses them before lathe-cli records remeasure {} --imported "
                  "measured them here\n",
                  done.foreign, a.project);
    }
    if (done.taken + done.known == 0)
        return makeError(Errc::BadFile,
                         done.lines == 0 ? "there is no line of a log to read" : "no line could be taken");
    return {};
}

} // namespace

void addRecordImport(CLI::App& records, Action& run)
{
    auto arguments = std::make_shared<RecordsImportArguments>();
    CLI::App* command = records.add_subcommand("import", "Import records from tuning logs: those of `records export "
                                                         "--format lathe`, and those of the reference compiler's "
                                                         "auto-scheduler and template tuner");
    command->add_option("PROJECT", arguments->project, "Project file, P.lathe")->required();
    command->add_option("FILE", arguments->files, "Logs with one record per line")->required()->expected(1, 1000);
    command->add_option("--target", arguments->target,
                        "The target whose tasks the records are for (default: the project's latest)");
    command->add_flag("--json", arguments->json, "Print one JSON object");
    command->callback([arguments, &run] { run = [arguments] { return import(*arguments); }; });
}

} // namespace lathe::cli
