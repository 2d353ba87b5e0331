#include "core/session/roofline.h"

#include "app/cli/command.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace lathe::cli {

namespace {

nlohmann::json number(double value)
{
    return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json();
}

void printJson(const std::vector<session::TaskView>& tasks, const std::vector<session::RooflineRow>& rows,
               const session::DeviceLimits& limits)
{
    nlohmann::json levels = nlohmann::json::array(), table = nlohmann::json::array();
    for (const auto& level : limits.levels)
        levels.push_back({{"name", level.name}, {"bytes", level.bytes}, {"gbytes_per_s", level.gbytesPerS}});
    for (const session::RooflineRow& row : rows) {
        const session::TaskView& task = tasks[static_cast<std::size_t>(row.task)];
        table.push_back({{"id", row.task},
                         {"name", task.name},
                         {"weight", task.weight},
                         {"cost_ms", number(task.bestMs)},
                         {"gflops", number(row.gflops)},
                         {"gbytes_per_s", number(row.gbytesPerS)},
                         {"bytes", row.bytes},
                         {"level", row.level},
                         {"compute_ms", number(row.computeMs)},
                         {"memory_ms", number(row.memoryMs)},
                         {"of_limit", number(row.shareOfLimit)},
                         {"effective", row.effective},
                         {"bound", row.memoryBound() ? "memory" : "compute"}});
    }
    print("{}\n", nlohmann::json({{"gflops", limits.gflops}, {"levels", levels}, {"tasks", table}})
                      .dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

Result<> showRoofline(const ModelArguments& model, bool asJson)
{
    LATHE_TRY_ASSIGN(session::OpenOptions options, model.openOptions());
    options.readOnly = true;
    LATHE_TRY_ASSIGN(const auto session, session::TuningSession::open(options));
    printNotices(session->notices());
    LATHE_TRY_ASSIGN(const session::DeviceLimits limits, session::measureLimits(session->options().target));
    const std::vector<session::TaskView> tasks = session->tasks();
    std::vector<session::RooflineRow> rows = session::roofline(tasks, limits);
    const auto total = [&tasks](const session::RooflineRow& row) {
        const session::TaskView& task = tasks[static_cast<std::size_t>(row.task)];
        return std::isfinite(task.bestMs) ? task.bestMs * task.weight : -1.0;
    };
    std::stable_sort(rows.begin(), rows.end(), [&](const auto& a, const auto& b) { return total(a) > total(b); });
    if (asJson) {
        printJson(tasks, rows, limits);
        return {};
    }
    print("device: {:.0f} GFLOP/s", limits.gflops);
    for (const auto& level : limits.levels)
        print(", {} {:.0f} GB/s", level.name, level.gbytesPerS);
    print("\n{:>3} {:>9} {:>9} {:>8} {:>8} {:>7} {:>9} {:>8}  {}\n", "x", "ms", "GFLOP/s", "of peak", "GB/s", "from",
          "bound by", "of limit", "task");
    double least = 0, all = 0;
    for (const session::RooflineRow& row : rows) {
        const session::TaskView& task = tasks[static_cast<std::size_t>(row.task)];
        const char* const bound = row.memoryBound() ? "memory" : "compute";
        if (!std::isfinite(task.bestMs)) {
            print("{:>3} {:>9} {:>9} {:>8} {:>8} {:>7} {:>9} {:>8}  {}\n", task.weight, "-", "-", "-", "-", row.level,
                  bound, "-", task.name);
            continue;
        }
        print("{:>3} {:>9.4f} {:>9.1f} {:>6.1f} % {:>8.1f} {:>7} {:>9} {:>6.1f} %  {}{}\n", task.weight, task.bestMs,
              row.gflops, 100 * row.gflops / limits.gflops, row.gbytesPerS, row.level, bound, 100 * row.shareOfLimit,
              task.name, row.effective ? " (" + task.bestAlternative + ": effective figures)" : "");
        least += row.lowerBoundMs * task.weight;
        all += task.bestMs * task.weight;
    }
    if (all > 0)
        print("all tuned tasks: {} ms, {:.1f} % of the limit ({} ms); effective figures count the "
              "operations of the direct algorithm; winograd needs fewer\n",
              latency(all), 100 * least / all, latency(least));
    return {};
}

} // namespace

void addRoofline(CLI::App& app, Action& run)
{
    auto model = std::make_shared<ModelArguments>();
    auto json = std::make_shared<bool>(false);
    CLI::App* command = app.add_subcommand(
        "roofline", "Show every task beside what this device can do: operations and bytes per second, measured now");
    model->addTo(*command, true);
    command->add_flag("--json", *json, "Print one JSON object");
    command->callback([model, json, &run] { run = [model, json] { return showRoofline(*model, *json); }; });
}

} // namespace lathe::cli
