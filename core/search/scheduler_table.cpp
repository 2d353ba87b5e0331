#include "core/search/task_scheduler.h"

#include <fmt/format.h>

#include <cmath>

namespace lathe::search {

std::string printSchedulerTable(const TaskScheduler& scheduler, double usedSeconds, std::int32_t next,
                                bool withDescription)
{
    const std::string rule(withDescription ? 113 : 49, '-');
    const std::string title = std::string(70, '-') + '\n' + std::string(30, '-') + "  [ Task Scheduler ]\n"
                              + std::string(70, '-');
    std::string text = title + '\n';
    if (withDescription)
        text += fmt::format("|  ID  | {:^61} | Latency (ms) | Speed (GFLOPS) | Trials |\n", "Task Description");
    else
        text += "|  ID  | Latency (ms) | Speed (GFLOPS) | Trials |\n";
    text += rule + '\n';
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(scheduler.tasks().size()); ++i) {
        const ScheduledTask& task = scheduler.tasks()[static_cast<std::size_t>(i)];
        const TaskProgress& p = scheduler.progress(i);
        const std::string latency = p.measured() ? fmt::format("{:.3f}", p.bestSeconds * 1e3) : "-";
        const std::string speed = p.measured() ? fmt::format("{:.2f}", task.flop / p.bestSeconds / 1e9) : "-";
        if (withDescription)
            text += fmt::format("| {:>4} | {:>61} | {:>12} | {:>14} | {:>6} |\n", i, task.name, latency, speed,
                                p.trials);
        else
            text += fmt::format("| {:>4} | {:>12} | {:>14} | {:>6} |\n", i, latency, speed, p.trials);
    }
    text += rule + '\n';
    const double estimate = scheduler.estimatedLatency();
    const std::string shown = std::isfinite(estimate) ? fmt::format("{:.3f}", estimate * 1e3) : "-";
    text += fmt::format("Estimated total latency: {} ms\tTrials: {}\tUsed time : {:.0f} s\tNext ID: {}\n", shown,
                        scheduler.totalTrials(), usedSeconds, next);
    return text;
}

} // namespace lathe::search
