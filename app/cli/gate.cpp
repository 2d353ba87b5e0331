#include "app/cli/command.h"
#include "core/session/comparison.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdlib>

namespace lathe::cli {

namespace {

using session::Comparison;
using session::Standing;

struct Arguments
{
    std::string project, against, limit = "3%";
    bool json = false;
};

/// "3%", "3", "0.5 %" in percent.
Result<double> parsePercent(const std::string& text)
{
    std::string number = text;
    while (!number.empty() && (number.back() == '%' || number.back() == ' '))
        number.pop_back();
    char* end = nullptr;
    const double value = std::strtod(number.c_str(), &end);
    if (number.empty() || *end != '\0' || !(value >= 0) || !std::isfinite(value))
        return makeError(Errc::InvalidArgument, fmt::format("'{}' is no percentage: write 3% or 0.5%", text));
    return value;
}

std::string ms(double value)
{
    return std::isfinite(value) ? fmt::format("{:.4f}", value) : std::string("-");
}

void print(const Standing& before, const Standing& after, const Comparison& c, bool asJson)
{
    if (asJson) {
        nlohmann::json out = {{"before", before.project.string()}, {"after", after.project.string()}, {"before_ms", c.beforeMs}, {"after_ms", c.afterMs}, {"unlike", c.unlike}, {"lost", c.lost}};
        out["tasks"] = nlohmann::json::array();
        for (const auto& task : c.tasks) {
            nlohmann::json row = {{"name", task.name}, {"weight", task.weight}};
            if (std::isfinite(task.beforeMs))
                row["before_ms"] = task.beforeMs;
            if (std::isfinite(task.afterMs))
                row["after_ms"] = task.afterMs;
            out["tasks"].push_back(row);
        }
        cli::print("{}\n", out.dump(1));
        return;
    }
    cli::print("{:<44} {:>6} {:>11} {:>11} {:>8}\n", "task", "weight", "before ms", "now ms", "change");
    for (const auto& task : c.tasks)
        cli::print("{:<44} {:>6} {:>11} {:>11} {:>8}\n", task.name, task.weight, ms(task.beforeMs), ms(task.afterMs),
                   std::isfinite(task.ratio()) ? fmt::format("{:+.1f}%", 100 * (task.ratio() - 1)) : std::string("-"));
    cli::print("{:<44} {:>6} {:>11} {:>11} {:>8}\n", "all tasks, weighted", "", ms(c.beforeMs), ms(c.afterMs), c.beforeMs > 0 ? fmt::format("{:+.1f}%", 100 * (c.afterMs / c.beforeMs - 1)) : "-");
    if (std::isfinite(before.measuredMs) && std::isfinite(after.measuredMs))
        cli::print("{:<44} {:>6} {:>11} {:>11} {:>8}\n", "whole network, measured", "", ms(before.measuredMs), ms(after.measuredMs),
                   fmt::format("{:+.1f}%", 100 * (after.measuredMs / before.measuredMs - 1)));
    for (const std::string& sentence : c.unlike)
        cli::print("note: {}\n", sentence);
}

Result<> compareProjects(const Arguments& a)
{
    LATHE_TRY_ASSIGN(const Standing before, session::standing(a.against));
    LATHE_TRY_ASSIGN(const Standing after, session::standing(a.project));
    print(before, after, session::compare(before, after), a.json);
    return {};
}

Result<> gate(const Arguments& a)
{
    LATHE_TRY_ASSIGN(const double limit, parsePercent(a.limit));
    LATHE_TRY_ASSIGN(const Standing before, session::standing(a.against));
    LATHE_TRY_ASSIGN(const Standing after, session::standing(a.project));
    const Comparison c = session::compare(before, after);
    print(before, after, c, a.json);
    if (!(c.beforeMs > 0))
        return makeError(Errc::Incompatible, fmt::format("{} and {} have no task in common that both have valid records for: tune both for the same network and target", a.against, a.project));
    // A figure from elsewhere would pass or fail for no reason of this build's.
    if (!c.unlike.empty())
        return makeError(Errc::Incompatible, fmt::format("the projects do not compare: {}", c.unlike.front()));
    if (!c.lost.empty())
        return makeError(Errc::Incompatible, fmt::format("{} had a valid record and has none now: tune it, or look at its failures", c.lost.front()));
    const double change = 100 * (c.afterMs / c.beforeMs - 1);
    if (change > limit)
        return makeError(Errc::Incompatible, fmt::format("the network got {:.1f}% slower ({:.4f} ms before, {:.4f} ms now), {:g}% are allowed; most of it in {}", change, c.beforeMs, c.afterMs, limit,
                                                         c.tasks.front().name));
    return {};
}

} // namespace

void addGate(CLI::App& app, Action& run)
{
    auto arguments = std::make_shared<Arguments>();
    CLI::App* comparing = app.add_subcommand("compare", "What changed between two projects, task by task");
    comparing->add_option("BEFORE", arguments->against, "P.lathe")->required();
    comparing->add_option("AFTER", arguments->project, "P.lathe")->required();
    comparing->add_flag("--json", arguments->json, "One JSON object");
    comparing->callback([arguments, &run] { run = [arguments] { return compareProjects(*arguments); }; });
    CLI::App* gating = app.add_subcommand("gate", "Fails when a network got slower than in another project");
    gating->add_option("PROJECT", arguments->project, "P.lathe")->required();
    gating->add_option("--against", arguments->against, "The project to hold it against")->required();
    gating->add_option("--max-regression", arguments->limit, "Allowed slowdown of the weighted sum")->capture_default_str();
    gating->add_flag("--json", arguments->json, "One JSON object");
    gating->callback([arguments, &run] { run = [arguments] { return gate(*arguments); }; });
}

} // namespace lathe::cli
