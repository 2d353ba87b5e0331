#include "app/cli/command.h"
#include "app/cli/skipped_output.h"
#include "core/store/log_line.h"
#include "core/store/template_logs.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace lathe::cli {

namespace {

struct LogsArguments
{
    std::vector<std::string> files;
    std::string output;
    bool json = false;
};

std::vector<std::filesystem::path> filesOf(const LogsArguments& a)
{
    return {a.files.begin(), a.files.end()};
}

Result<> showLogs(const LogsArguments& a)
{
    LATHE_TRY_ASSIGN(const store::LogSummary summary, store::summarizeLogs(filesOf(a)));
    if (a.json) {
        nlohmann::json workloads = nlohmann::json::array();
        for (const store::WorkloadOfLog& w : summary.workloads)
            workloads.push_back(
                {{"target", w.target},
                 {"template", w.name},
                 {"workload", nlohmann::json::parse(w.workload, nullptr, false)},
                 {"trials", w.trials},
                 {"failed", w.failed},
                 {"best_ms", std::isfinite(w.bestSeconds) ? nlohmann::json(w.bestSeconds * 1e3) : nlohmann::json()},
                 {"config", w.bestConfig},
                 {"known", w.known}});
        const nlohmann::json out = {
            {"lines", summary.lines}, {"workloads", std::move(workloads)}, {"skipped", skippedJson(summary.skipped)}};
        print("{}\n", out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
        return {};
    }
    for (const store::WorkloadOfLog& w : summary.workloads)
        print("{}\n    {}\n    {}, {} failed; best {} with {}{}\n", w.workload, store::quoted(w.target),
              counted(w.trials, "trial|trials"), w.failed,
              std::isfinite(w.bestSeconds) ? fmt::format("{:.4g} ms", w.bestSeconds * 1e3) : std::string("none"),
              w.bestConfig.empty() ? "none" : w.bestConfig, w.known ? "" : "; there is no such template here");
    print("{}, {}\n", counted(summary.lines, "line|lines"), counted(summary.workloads.size(), "workload|workloads"));
    printSkipped(summary.skipped);
    return {};
}

Result<> report(const LogsArguments& a, const Result<store::LogsWritten>& result)
{
    LATHE_TRY_ASSIGN(const store::LogsWritten done, result);
    if (a.json) {
        std::vector<std::string> files;
        files.reserve(done.files.size());
        for (const std::filesystem::path& file : done.files)
            files.push_back(file.string());
        const nlohmann::json out = {
            {"lines", done.read},    {"written", done.written}, {"duplicates", done.duplicates},
            {"failed", done.failed}, {"files", files},          {"skipped", skippedJson(done.skipped)}};
        print("{}\n", out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
        return {};
    }
    print("{} read, {} written to {}, {}, {}\n", counted(done.read, "line|lines"), done.written,
          done.files.size() == 1 ? done.files.front().string() : counted(done.files.size(), "file|files"),
          counted(done.duplicates, "duplicate|duplicates"), counted(done.failed, "failure|failures"));
    printSkipped(done.skipped);
    return {};
}

} // namespace

void addLogs(CLI::App& app, Action& run)
{
    auto arguments = std::make_shared<LogsArguments>();
    CLI::App* logs = app.add_subcommand("logs", "Logs of the reference compiler's template tuner, as files");
    logs->require_subcommand(1);
    const auto sub = [&](const char* name, const char* text, const char* output, auto body) {
        CLI::App* command = logs->add_subcommand(name, text);
        command->add_option("FILE", arguments->files, "Logs with one record per line")->required()->expected(1, 1000);
        if (output != nullptr)
            command->add_option("-o,--output", arguments->output, output)->required();
        command->add_flag("--json", arguments->json, "Print one JSON object");
        command->callback([arguments, body, &run] { run = [arguments, body] { return body(*arguments); }; });
    };
    sub("show", "List the workloads with their trials and best configurations", nullptr, showLogs);
    sub("pick", "Keep the fastest line of each workload for each kind and model of target", "File to write",
        [](const LogsArguments& a) { return report(a, store::pickBest(filesOf(a), a.output)); });
    sub("split", "Write a file for each workload, each measurement once", "Folder to write to",
        [](const LogsArguments& a) { return report(a, store::splitByWorkload(filesOf(a), a.output)); });
    sub("merge", "Write all measurements to one file, each once", "File to write",
        [](const LogsArguments& a) { return report(a, store::mergeLogs(filesOf(a), a.output)); });
}

} // namespace lathe::cli
