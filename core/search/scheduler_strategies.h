#pragma once

#include "core/search/task_scheduler.h"

namespace lathe::search {

std::unique_ptr<TaskScheduler> makeReferenceStrategy(std::vector<ScheduledTask> tasks, const SchedulerOptions& options);
std::unique_ptr<TaskScheduler> makeGainStrategy(std::vector<ScheduledTask> tasks, const SchedulerOptions& options);
std::unique_ptr<TaskScheduler> makeRoundRobinStrategy(std::vector<ScheduledTask> tasks,
                                                      const SchedulerOptions& options);
std::unique_ptr<TaskScheduler> makeSequentialStrategy(std::vector<ScheduledTask> tasks,
                                                      const SchedulerOptions& options);

} // namespace lathe::search
