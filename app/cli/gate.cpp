#include "app/cli/command.h"
#include "core/session/report/comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdlib>

namespace lathe::cli {

namespace {

using session::Comparison;
using session::Standing;

struct GateArguments
{
    std::string project, against, limit = "3%";
    bool json = false;
};

/// "3%", "0.5 %", or the fraction 0.03, in percent.
Result<double> parsePercent(const std::string& text)
{
    const Error bad = makeError(Errc::InvalidArgument, fmt::format("'{}' is not a slowdown: write 3% or 0.03", text));
    std::string number = text;
    const bool percent = number.ends_with('%');
    if (percent)
        number.pop_back();
    while (number.ends_with(' '))
        number.pop_back();
    char* end = nullptr;
    const double value = std::strtod(number.c_str(), &end);
    if (number.empty() || *end != '\0' || !(value >= 0) || !std::isfinite(value))
        return bad;
    if (!percent && value >= 1) // three percent, or three times as slow?
        return bad;
    return percent ? value : 100 * value;
}

/// What the gate found.
struct Verdict
{
    const char* word = "passed"; ///< passed, slower, lost, incomparable
    std::string sentence; ///< empty: passed
};

Verdict judge(const GateArguments& a, double limit, const Comparison& c)
{
    if (!(c.beforeMs > 0))
        return {"incomparable", fmt::format("{} and {} have no task in common that both have valid records for: tune "
                                            "both for the same network and target",
                                            a.against, a.project)};
    // A figure from elsewhere would pass or fail for no reason of this build's.
    if (!c.unlike.empty())
        return {"incomparable", fmt::format("the projects cannot be compared: {}", fmt::join(c.unlike, "; "))};
    if (!c.lost.empty())
        return {"lost",
                fmt::format(
                    "{} of {} tasks had a valid record and have none now ({}): tune them, or look at their failures",
                    c.lost.size(), c.tasks.size(), fmt::join(c.lost, "; "))};
    const double change = 100 * (c.afterMs / c.beforeMs - 1);
    if (change > limit)
        return {"slower", fmt::format("the network got {:.1f} % slower ({:.4f} ms before, {:.4f} ms now), {:g} % are "
                                      "allowed; most of it in {}",
                                      change, c.beforeMs, c.afterMs, limit, c.tasks.front().name)};
    return {};
}

std::string gateChange(double ratio)
{
    return std::isfinite(ratio) ? fmt::format("{:+.1f} %", 100 * (ratio - 1)) : std::string("-");
}

void printTable(const Standing& before, const Standing& after, const Comparison& c)
{
    cli::print("{:<44} {:>6} {:>11} {:>11} {:>8}\n", "task", "weight", "before ms", "now ms", "change");
    const auto line = [](const std::string& name, const std::string& weight, double a, double b) {
        cli::print("{:<44} {:>6} {:>11} {:>11} {:>8}\n", name, weight, latency(a), latency(b), gateChange(b / a));
    };
    for (const auto& task : c.tasks)
        line(task.name, std::to_string(task.weight), task.beforeMs, task.afterMs);
    line("weighted sum of common tasks", "", c.beforeMs, c.afterMs);
    if (std::isfinite(before.network.ms) && std::isfinite(after.network.ms))
        line("network, measured", "", before.network.ms, after.network.ms);
    for (const session::ConditionRow& row : session::conditionTable(std::vector<Standing>{before, after}))
        if (row.differs)
            cli::print("{}: {} differs: {} before, {} now\n", row.serious ? "warning" : "note", row.name,
                       row.values[0].empty() ? "-" : row.values[0], row.values[1].empty() ? "-" : row.values[1]);
}

Result<> gate(const GateArguments& a)
{
    LATHE_TRY_ASSIGN(const double limit, parsePercent(a.limit));
    LATHE_TRY_ASSIGN(const session::Baseline from, session::parseBaseline(a.against));
    LATHE_TRY_ASSIGN(const session::Baseline to, session::parseBaseline(a.project));
    LATHE_TRY_ASSIGN(const Standing before, session::standing(from));
    LATHE_TRY_ASSIGN(const Standing after, session::standing(to));
    const Comparison c = session::compare(before, after);
    const Verdict verdict = judge(a, limit, c);
    if (a.json) {
        nlohmann::json out = {
            {"before", a.against},      {"after", a.project},      {"before_ms", c.beforeMs}, {"after_ms", c.afterMs},
            {"allowed_percent", limit}, {"verdict", verdict.word}, {"unlike", c.unlike},      {"lost", c.lost}};
        if (!verdict.sentence.empty())
            out["text"] = verdict.sentence;
        if (c.beforeMs > 0)
            out["change_percent"] = 100 * (c.afterMs / c.beforeMs - 1);
        cli::print("{}\n", out.dump(1, ' ', false, nlohmann::json::error_handler_t::replace));
    } else {
        printTable(before, after, c);
    }
    if (!verdict.sentence.empty())
        return makeError(Errc::Incompatible, verdict.sentence);
    if (!a.json)
        cli::print("passed: the sum changed by {}; at most +{:g} % is allowed\n", gateChange(c.afterMs / c.beforeMs),
                   limit);
    return {};
}

} // namespace

void addGate(CLI::App& app, Action& run)
{
    auto arguments = std::make_shared<GateArguments>();
    CLI::App* gating = app.add_subcommand("gate", "Fail if a network became slower than in another project");
    gating->add_option("PROJECT", arguments->project, "Project file, P.lathe")->required();
    gating
        ->add_option("--against", arguments->against,
                     "The project to compare with; ,run=N and ,until=DATE as for compare")
        ->required();
    gating
        ->add_option("--max-regression", arguments->limit,
                     "Largest slowdown of the tasks' weighted sum that passes: 3% or 0.03")
        ->capture_default_str();
    gating->add_flag("--json", arguments->json, "Print one JSON object");
    gating->callback([arguments, &run] { run = [arguments] { return gate(*arguments); }; });
}

} // namespace lathe::cli
