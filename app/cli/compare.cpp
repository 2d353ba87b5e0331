#include "app/cli/command.h"
#include "core/session/project/program_reader.h"
#include "core/session/report/comparison.h"
#include "core/session/report/text_diff.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace lathe::cli {

namespace {

using session::Standing;

struct CompareArguments
{
    std::vector<std::string> words;
    std::string task, program = "nest";
    bool runs = false, devices = false, json = false;
};

std::string change(double ratio)
{
    const session::Grade grade = session::gradeOf(ratio);
    if (grade == session::Grade::Unknown)
        return "-";
    const std::string percent = fmt::format("{:.1f}", std::abs(100 * (ratio - 1)));
    if (percent == "0.0")
        return "same";
    return fmt::format("{} % {}{}", percent, ratio > 1 ? "slower" : "faster",
                       grade == session::Grade::Same ? " (within noise)" : "");
}

nlohmann::json number(double value)
{
    return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
}

/// A task in all standings: those of the first, then those that only later ones have.
struct Row
{
    std::string key, name;
    std::int32_t weight = 1;
    std::vector<double> ms;
};

std::vector<Row> rowsOf(const std::vector<Standing>& standings)
{
    std::vector<Row> rows;
    for (std::size_t i = 0; i < standings.size(); ++i)
        for (const Standing::Task& task : standings[i].tasks) {
            auto row = std::find_if(rows.begin(), rows.end(), [&task](const Row& r) { return r.key == task.key; });
            if (row == rows.end())
                row = rows.insert(rows.end(), {task.key, task.name, task.weight,
                                               std::vector<double>(standings.size(), session::kUnknown)});
            row->ms[i] = task.bestMs;
        }
    return rows;
}

Result<std::vector<Standing>> read(const CompareArguments& a)
{
    std::vector<session::Baseline> baselines;
    for (const std::string& text : a.words) {
        LATHE_TRY_ASSIGN(session::Baseline baseline, session::parseBaseline(text));
        if (a.devices && baseline.device.empty()) {
            LATHE_TRY_ASSIGN(const auto devices, session::listDevices(baseline.project));
            for (const session::DeviceChoice& device : devices) {
                if (baseline.run > 0 && std::ranges::find(device.runs, baseline.run) == device.runs.end())
                    continue;
                baselines.push_back(baseline);
                baselines.back().device = calledOf(device, devices);
            }
            continue;
        }
        if (!a.runs || baseline.run > 0) {
            baselines.push_back(std::move(baseline));
            continue;
        }
        LATHE_TRY_ASSIGN(const auto runs, session::listRuns(baseline.project));
        for (const session::RunChoice& run : runs)
            if (baseline.model == 0 || run.model == baseline.model) {
                baselines.push_back(baseline);
                baselines.back().run = run.run;
            }
    }
    if (baselines.size() < 2)
        return makeError(Errc::InvalidArgument,
                         "there is one thing only: name two projects, or one with several runs and --runs, or with "
                         "several devices and --devices");
    std::vector<Standing> standings;
    for (const session::Baseline& baseline : baselines) {
        LATHE_TRY_ASSIGN(Standing standing, session::standing(baseline));
        standings.push_back(std::move(standing));
    }
    return standings;
}

void printJson(const std::vector<Standing>& standings)
{
    nlohmann::json out;
    out["compared"] = nlohmann::json::array();
    for (const Standing& s : standings)
        out["compared"].push_back({{"name", toString(s.what)},
                                   {"model", s.model},
                                   {"target", s.target},
                                   {"device", s.deviceName},
                                   {"estimated_ms", number(s.estimatedMs())},
                                   {"tasks_ms", number(s.tasksMs)},
                                   {"measured_ms", number(s.network.ms)},
                                   {"untuned_ms", number(s.network.untunedMs)},
                                   {"trials", s.trials},
                                   {"failed", s.errors},
                                   {"seconds", s.activeSeconds}});
    out["conditions"] = nlohmann::json::array();
    for (const session::ConditionRow& row : session::conditionTable(standings))
        out["conditions"].push_back(
            {{"name", row.name}, {"values", row.values}, {"differs", row.differs}, {"serious", row.serious}});
    // With two, their tasks by harm, as the gate sees them; else in the network's order.
    out["tasks"] = nlohmann::json::array();
    std::map<std::string, nlohmann::json> byKey;
    for (const Row& row : rowsOf(standings)) {
        nlohmann::json object = {{"name", row.name}, {"key", row.key}, {"weight", row.weight}};
        for (std::size_t i = 0; i < row.ms.size(); ++i) {
            object["ms"].push_back(number(row.ms[i]));
            if (i > 0)
                object["grades"].push_back(toString(session::gradeOf(row.ms[i] / row.ms[0])));
        }
        byKey[row.key] = object;
        if (standings.size() > 2)
            out["tasks"].push_back(object);
    }
    if (standings.size() == 2) {
        const session::Comparison c = session::compare(standings[0], standings[1]);
        out["before"] = toString(standings[0].what);
        out["after"] = toString(standings[1].what);
        out["before_ms"] = c.beforeMs;
        out["after_ms"] = c.afterMs;
        out["unlike"] = c.unlike;
        out["lost"] = c.lost;
        for (const session::TaskChange& task : c.tasks) {
            nlohmann::json object = byKey[task.key];
            if (std::isfinite(task.beforeMs))
                object["before_ms"] = task.beforeMs;
            if (std::isfinite(task.afterMs))
                object["after_ms"] = task.afterMs;
            out["tasks"].push_back(object);
        }
    }
    print("{}\n", out.dump(1, ' ', false, nlohmann::json::error_handler_t::replace));
}

void printTables(const std::vector<Standing>& standings)
{
    for (std::size_t i = 0; i < standings.size(); ++i)
        print("[{}] {}: {} for {}\n", static_cast<char>('A' + i % 26), toString(standings[i].what), standings[i].model,
              standings[i].target);
    const auto line = [&](const std::string& name, const std::string& weight, const std::vector<double>& values) {
        std::string text = fmt::format("{:<44} {:>6} {:>11}", name.substr(0, 44), weight, latency(values[0]));
        for (std::size_t i = 1; i < values.size(); ++i)
            text += fmt::format(" {:>11} {:<26}", latency(values[i]), change(values[i] / values[0]));
        while (text.ends_with(' '))
            text.pop_back();
        print("{}\n", text);
    };
    std::string head = fmt::format("{:<44} {:>6} {:>11}", "task", "weight", "A ms");
    for (std::size_t i = 1; i < standings.size(); ++i)
        head += fmt::format(" {:>8} ms {:<26}", static_cast<char>('A' + i % 26), "change from A");
    print("\n{}\n", head);
    if (standings.size() == 2) { // by harm
        for (const session::TaskChange& task : session::compare(standings[0], standings[1]).tasks)
            line(task.name, std::to_string(task.weight), {task.beforeMs, task.afterMs});
    } else {
        for (const Row& row : rowsOf(standings))
            line(row.name, std::to_string(row.weight), row.ms);
    }
    const auto whole = [&](const char* name, const auto& figure) {
        std::vector<double> values;
        values.reserve(standings.size());
        for (const Standing& s : standings)
            values.push_back(figure(s));
        line(name, "", values);
    };
    whole("sum of all tasks", [](const Standing& s) { return s.tasksMs; });
    whole("network, estimated", [](const Standing& s) { return s.estimatedMs(); });
    whole("network, measured", [](const Standing& s) { return s.network.ms; });
    whole("network, untuned", [](const Standing& s) { return s.network.untunedMs; });
    bool said = false;
    for (const session::ConditionRow& row : session::conditionTable(standings)) {
        if (!row.differs)
            continue;
        if (!said)
            print("\nconditions that differ (! latencies may not be comparable)\n");
        said = true;
        print("{} {:<30}", row.serious ? '!' : ' ', row.name);
        for (std::size_t i = 0; i < row.values.size(); ++i)
            print("  {}: {}", static_cast<char>('A' + i % 26), row.values[i].empty() ? "-" : row.values[i]);
        print("\n");
    }
}

/// The program of one task in the first against each other.
Result<> printPrograms(const CompareArguments& a, const std::vector<Standing>& standings)
{
    const std::vector<Row> rows = rowsOf(standings);
    const auto row = std::find_if(rows.begin(), rows.end(),
                                  [&a](const Row& r) { return r.name == a.task || r.key == a.task; });
    if (row == rows.end())
        return makeError(Errc::NotFound,
                         fmt::format("there is no task named '{}': the first column of the table names them", a.task));
    session::ProgramReader reader;
    LATHE_TRY_ASSIGN(const std::string first, reader.text(standings[0], row->key, a.program));
    for (std::size_t i = 1; i < standings.size(); ++i) {
        LATHE_TRY_ASSIGN(const std::string other, reader.text(standings[i], row->key, a.program));
        print("--- {}\n+++ {}\n{}", toString(standings[0].what), toString(standings[i].what),
              session::unifiedDiff(session::diffLines(first, other)));
    }
    return {};
}

Result<> compare(const CompareArguments& a)
{
    LATHE_TRY_ASSIGN(const auto standings, read(a));
    if (!a.task.empty())
        return printPrograms(a, standings);
    a.json ? printJson(standings) : printTables(standings);
    return {};
}

} // namespace

void addCompare(CLI::App& app, Action& run)
{
    auto a = std::make_shared<CompareArguments>();
    CLI::App* command = app.add_subcommand("compare",
                                           "Show what changed between projects, runs or dates, task by task");
    command
        ->add_option("WHAT", a->words,
                     "P.lathe, with any of ,run=N ,model=N ,device=KEY ,until=2026-01-31[T18:00] behind it; the others "
                     "are compared with the first")
        ->required();
    command->add_flag("--runs", a->runs, "Compare every run of each project, not the project as a whole");
    CLI::Option* const runs = command->get_option("--runs");
    command
        ->add_flag("--devices", a->devices,
                   "Compare the devices that each project was measured on, by their keys at a broker")
        ->excludes(runs);
    command->add_option("--task", a->task, "Show how the program of this task differs (a name from the table)");
    command
        ->add_option("--program", a->program,
                     "Form in which programs are shown: steps, loops, nest, or a listing of the target's back end "
                     "(cpu: ir, assembly, "
                     "mca; opencl: source)")
        ->capture_default_str();
    command->add_flag("--json", a->json, "Print one JSON object");
    command->callback([a, &run] { run = [a] { return compare(*a); }; });
}

} // namespace lathe::cli
