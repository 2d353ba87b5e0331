#include "app/cli/command.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <cmath>

namespace lathe::cli {

namespace {

struct Arguments
{
    ModelArguments model;
    session::CompileOptions compile;
    std::string output;
    bool noVerify = false, noBench = false, json = false;
};

std::string ms(double value)
{
    return std::isfinite(value) ? fmt::format("{:.3f} ms", value) : std::string("-");
}

void printReport(const session::CompileReport& report)
{
    std::size_t records = 0;
    for (const auto& subgraph : report.subgraphs)
        records += subgraph.record.empty() ? 0 : 1;
    print("{:<64} {:<10} {:>12} {:>12}\n", "function", "record", "estimated", "measured");
    for (const auto& s : report.subgraphs)
        print("{:<64} {:<10} {:>12} {:>12}{}\n", s.name.substr(0, 64), s.record.empty() ? "default" : s.record.substr(0, 8), ms(s.estimatedMs),
                   ms(s.measuredMs), s.reason.empty() ? "" : "  " + s.reason);
    print("{} functions, {} with a record\n", report.subgraphs.size(), records);
    print("library      {}\nheader       {}\ndescription  {}\n", report.library.string(), report.header.string(), report.description.string());
    if (std::isfinite(report.maxRelError))
        print("verified     max relative error {:.2e}\n", report.maxRelError);
    else
        print("not verified\n");
    if (std::isfinite(report.latencyMs.median))
        print("sum of tasks {}, with untuned functions and dispatch {}, measured {} (median, {} threads)\n", ms(report.estimatedTasksMs),
                   ms(report.estimatedTotalMs), ms(report.latencyMs.median), report.threads);
}

void put(nlohmann::json& out, const char* key, double value)
{
    out[key] = std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
}

void printJson(const session::CompileReport& report)
{
    nlohmann::json subgraphs = nlohmann::json::array();
    for (const auto& s : report.subgraphs) {
        nlohmann::json row = {{"name", s.name}};
        if (s.record.empty())
            row["reason"] = s.reason;
        else
            row["record"] = s.record;
        put(row, "estimated_ms", s.estimatedMs);
        put(row, "measured_ms", s.measuredMs);
        subgraphs.push_back(row);
    }
    nlohmann::json out = {{"library", report.library.string()}, {"header", report.header.string()}, {"description", report.description.string()},
                          {"subgraphs", subgraphs}, {"threads", report.threads}};
    put(out, "max_rel_error", report.maxRelError);
    put(out, "latency_ms", report.latencyMs.median);
    out["estimated_ms"] = nlohmann::json::object();
    put(out["estimated_ms"], "tasks", report.estimatedTasksMs);
    put(out["estimated_ms"], "with_overheads", report.estimatedTotalMs);
    print("{}\n", out.dump(2));
}

} // namespace

void addCompile(CLI::App& app, Action& run)
{
    auto a = std::make_shared<Arguments>();
    CLI::App* command = app.add_subcommand("compile", "Writes a deploy library with the best records");
    a->model.addTo(*command, false);
    command->add_option("-o,--output", a->output, "FILE.so")->required();
    command->add_option("--name", a->compile.name, "Names the exported symbols lathe_NAME_*");
    command->add_flag("--allow-default", a->compile.allowDefault, "Default schedules for tasks without a record");
    command->add_flag("--strict", a->compile.strict, kStrictHelp);
    command->add_flag("--no-verify", a->noVerify, "Leave out the comparison with the reference executor");
    command->add_flag("--no-bench", a->noBench, "Leave out the benchmark");
    command->add_option("--threads", a->compile.threads, "Of the benchmark; 0: the target's")->capture_default_str();
    command->add_flag("--json", a->json, "One JSON object");
    command->callback([a, &run] {
        run = [a]() -> Result<> {
            a->compile.output = std::filesystem::absolute(a->output);
            a->compile.verify = !a->noVerify;
            a->compile.benchmark = !a->noBench;
            LATHE_TRY_ASSIGN(session::OpenOptions options, a->model.openOptions());
            options.readOnly = true;
            LATHE_TRY_ASSIGN(const auto session, session::TuningSession::open(options));
            printNotices(session->notices());
            const bool terminal = !a->json && ::isatty(STDERR_FILENO) == 1;
            const auto progress = [terminal](std::string_view step, double fraction) {
                if (terminal)
                    fmt::print(stderr, "\r\033[K{}", fraction < 1 ? fmt::format("{} ...", step) : std::string());
            };
            LATHE_TRY_ASSIGN(const auto report, session->compile(a->compile, progress, {}));
            if (a->json)
                printJson(report);
            else
                printReport(report);
            return {};
        };
    });
}

} // namespace lathe::cli
