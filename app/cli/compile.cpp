#include "app/cli/command.h"
#include "app/cli/skipped_output.h"
#include "core/support/message.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <cmath>

namespace lathe::cli {

namespace {

struct CompileArguments
{
    ModelArguments model;
    OptionArguments<session::CompileOptions> options;
    bool dryRun = false, json = false;
    bool several = false; ///< targets
};

std::string msWithUnit(double value)
{
    return std::isfinite(value) ? latency(value) + " ms" : std::string("-");
}

std::string percent(double share)
{
    return std::isfinite(share) ? fmt::format("{:.1f} %", 100 * share) : std::string("-");
}

void printFunctions(const std::vector<session::SubgraphReport>& subgraphs)
{
    print("{:<52} {:<10} {:<9} {:<18} {:>6} {:>6} {:>11} {:>11}\n", "function", "runs", "record", "algorithm", "share",
          "flop", "estimated", "measured");
    for (const auto& s : subgraphs)
        print("{:<52} {:<10} {:<9} {:<18} {:>6} {:>6} {:>11} {:>11}{}\n", s.name.substr(0, 52), toString(s.cover),
              s.record.empty() ? std::string("-") : s.record.substr(0, 8), s.alternative.substr(0, 18),
              percent(s.share), percent(s.flopShare), msWithUnit(s.estimatedMs), msWithUnit(s.measuredMs),
              s.reason.empty() ? "" : "  " + s.reason);
}

/// Nothing where neither logs nor packages had anything to give.
void printGiven(const session::GivenRecords& given)
{
    if (given.lines == 0 && given.fitting == 0)
        return;
    print("logs and packages: {}\n", counted(given.fitting, "record fits|records fit"));
    printSkipped(given.skipped);
}

void printReport(const session::TuningSession& session, const session::CompileReport& report)
{
    std::size_t records = 0;
    for (const auto& subgraph : report.subgraphs)
        records += subgraph.record.empty() ? 0 : 1;
    printFunctions(report.subgraphs);
    print("{}, {} with a record\n", counted(report.subgraphs.size(), "function|functions"), records);
    printInputSizes(session);
    print("library      {}\nheader       {}\ndescription  {}\n", report.library.string(), report.header.string(),
          report.description.string());
    for (const session::VariantReport& variant : report.variants)
        print("variant      {}{}: kernels {:.2f} MB, weights {:.2f} MB\n", variant.target,
              variant.target == report.variant && report.variants.size() > 1 ? " (runs here)" : "",
              static_cast<double>(variant.codeBytes) * 1e-6, static_cast<double>(variant.weightsBytes) * 1e-6);
    if (!report.runner.empty())
        print("device       {}\n", report.runner);
    print("size         {:.2f} MB, of which {:.2f} MB are weights\n", static_cast<double>(report.libraryBytes) * 1e-6,
          static_cast<double>(report.weightsBytes) * 1e-6);
    if (std::isfinite(report.maxRelError))
        print("verified     max relative error {:.2e}\n", report.maxRelError);
    else
        print("not verified{}{}\n", report.notVerified.empty() ? "" : ": ", report.notVerified);
    printGiven(report.given);
    if (!report.plan.empty())
        print("{}\n", report.plan);
    if (!report.conditions.empty())
        print("             {}\n", report.conditions);
    if (std::isfinite(report.latencyMs.median))
        print("estimated {}; measured {} (median, {})\n", toText(report.estimated), msWithUnit(report.latencyMs.median),
              counted(report.threads, "thread|threads"));
    else if (!report.notTimed.empty())
        print("not measured: {}\n", report.notTimed);
}

void putNumber(nlohmann::json& out, const char* key, double value)
{
    out[key] = std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
}

void putGiven(nlohmann::json& out, const session::GivenRecords& given)
{
    if (given.lines > 0 || given.fitting > 0)
        out["given_records"] = {
            {"lines", given.lines}, {"fitting", given.fitting}, {"skipped", skippedJson(given.skipped)}};
}

nlohmann::json functions(const std::vector<session::SubgraphReport>& subgraphs)
{
    nlohmann::json rows = nlohmann::json::array();
    for (const auto& s : subgraphs) {
        nlohmann::json row = {{"name", s.name}, {"cover", toString(s.cover)}, {"alternative", s.alternative}};
        if (!s.record.empty())
            row["record"] = s.record;
        if (!s.reason.empty())
            row["reason"] = s.reason;
        putNumber(row, "estimated_ms", s.estimatedMs);
        putNumber(row, "measured_ms", s.measuredMs);
        putNumber(row, "share", s.share);
        putNumber(row, "flop_share", s.flopShare);
        rows.push_back(row);
    }
    return rows;
}

/// What an export would do for one target; its refusal goes to `refusal`.
Result<nlohmann::json> dryRun(const session::TuningSession& session, const CompileArguments& a,
                              std::optional<Error>& refusal)
{
    LATHE_TRY_ASSIGN(const session::Coverage coverage, session.exports()->coverage(a.options.values));
    const std::string refused = !coverage.unsupported.empty()   ? coverage.unsupported
                                : a.options.values.allowDefault ? std::string()
                                                                : coverage.refusal;
    if (!refused.empty() && !refusal)
        refusal = makeError(coverage.unsupported.empty() ? Errc::Incompatible : Errc::Unsupported, refused);
    nlohmann::json out = {{"target", session.options().target},
                          {"input_sizes", inputSizes(session)},
                          {"subgraphs", functions(coverage.subgraphs)},
                          {"tasks", coverage.tasks},
                          {"records", coverage.records},
                          {"near", coverage.near},
                          {"defaults", coverage.defaults},
                          {"refused", refused.empty() ? nlohmann::json(nullptr) : nlohmann::json(refused)}};
    putNumber(out, "estimated_ms", coverage.estimatedTasksMs);
    putGiven(out, coverage.given);
    if (!a.json) {
        if (a.several)
            print("{}\n", session.options().target);
        printInputSizes(session);
        printFunctions(coverage.subgraphs);
        print("{}: {} with a record, {} with a near match, {} on default schedules; sum of tasks {}\n",
              counted(coverage.tasks, "task|tasks"), coverage.records, coverage.near, coverage.defaults,
              msWithUnit(coverage.estimatedTasksMs));
        printGiven(coverage.given);
    }
    return out;
}

/// The same for each target.
Result<> dryRuns(const session::TuningSession& session, CompileArguments& a)
{
    a.several = !session.options().variants.empty();
    std::optional<Error> refusal;
    LATHE_TRY_ASSIGN(nlohmann::json out, dryRun(session, a, refusal));
    if (a.several)
        out["variants"] = nlohmann::json::array({out});
    for (const std::string& target : session.options().variants) {
        session::OpenOptions further = session.options();
        further.target = target;
        further.variants.clear();
        LATHE_TRY_ASSIGN(const auto other, session::TuningSession::open(further));
        LATHE_TRY_ASSIGN(nlohmann::json row, dryRun(*other, a, refusal));
        out["variants"].push_back(std::move(row));
    }
    if (a.json)
        print("{}\n", out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
    if (refusal)
        return *std::move(refusal);
    return {};
}

nlohmann::json variants(const session::CompileReport& report)
{
    nlohmann::json rows = nlohmann::json::array();
    for (const session::VariantReport& variant : report.variants) {
        nlohmann::json row = {{"target", variant.target},
                              {"features", variant.features},
                              {"runs_here", variant.runsHere},
                              {"code_bytes", variant.codeBytes},
                              {"weights_bytes", variant.weightsBytes},
                              {"subgraphs", functions(variant.subgraphs)}};
        putNumber(row, "max_rel_error", variant.maxRelError);
        if (!variant.notVerified.empty())
            row["not_verified"] = variant.notVerified;
        rows.push_back(std::move(row));
    }
    return rows;
}

void printJson(const session::TuningSession& session, const session::CompileReport& report)
{
    nlohmann::json out = {{"library", report.library.string()},
                          {"input_sizes", inputSizes(session)},
                          {"header", report.header.string()},
                          {"description", report.description.string()},
                          {"subgraphs", functions(report.subgraphs)},
                          {"variant", report.variant},
                          {"variants", variants(report)},
                          {"library_bytes", report.libraryBytes},
                          {"weights_bytes", report.weightsBytes},
                          {"threads", report.threads}};
    if (!report.runner.empty())
        out["runner"] = report.runner;
    putNumber(out, "max_rel_error", report.maxRelError);
    if (!report.notVerified.empty())
        out["not_verified"] = report.notVerified;
    if (!report.illConditioned.empty())
        out["ill_conditioned"] = report.illConditioned;
    putNumber(out, "latency_ms", report.latencyMs.median);
    if (!report.notTimed.empty())
        out["not_timed"] = report.notTimed;
    out["estimated_ms"] = toJson(report.estimated);
    putGiven(out, report.given);
    if (!report.plan.empty())
        out["plan"] = report.plan;
    print("{}\n", out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

} // namespace

void addCompile(CLI::App& app, Action& run)
{
    auto a = std::make_shared<CompileArguments>();
    CLI::App* command = app.add_subcommand("compile", "Export a deploy library with the best records");
    a->model.addTo(*command, false);
    a->options.addTo(*command);
    command->add_flag("--dry-run", a->dryRun, "Print what each function would run; write nothing");
    command->add_flag("--json", a->json, "Print one JSON object");
    command->callback([a, &run] {
        run = [a]() -> Result<> {
            LATHE_TRY(a->options.problem);
            session::CompileOptions compile = a->options.values;
            if (compile.output.empty() && !a->dryRun)
                return makeError(Errc::InvalidArgument, "say where to: -o FILE.so");
            compile.output = std::filesystem::absolute(compile.output.empty() ? "model.so" : compile.output);
            LATHE_TRY_ASSIGN(session::OpenOptions options, a->model.openOptions(true));
            options.readOnly = true;
            LATHE_TRY_ASSIGN(const auto session, session::TuningSession::open(options));
            printNotices(session->notices());
            if (a->dryRun)
                return dryRuns(*session, *a);
            const bool terminal = !a->json && ::isatty(STDERR_FILENO) == 1;
            const auto progress = [terminal](std::string_view step, double fraction) {
                if (terminal)
                    fmt::print(stderr, "\r\033[K{}", fraction < 1 ? fmt::format("{} ...", step) : std::string());
            };
            LATHE_TRY_ASSIGN(const auto report, session->exports()->compile(compile, progress, {}));
            if (a->json)
                printJson(*session, report);
            else
                printReport(*session, report);
            return {};
        };
    });
}

} // namespace lathe::cli
