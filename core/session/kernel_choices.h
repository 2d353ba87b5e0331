#pragma once

#include "core/deploy/plan.h"
#include "core/search/search_task.h"
#include "core/session/loaded_model.h"
#include "core/session/session.h"
#include "core/store/project.h"

namespace lathe::session {

/// What each subgraph of the partition runs: the best record of its task, else a schedule made without measuring.
struct KernelChoices
{
    std::vector<deploy::KernelChoice> choices; ///< one per subgraph; empty for a noop
    std::vector<SubgraphReport> reports; ///< one per subgraph that is no noop
    double estimatedTasksMs = 0; ///< weighted sum over the tasks; NaN if one has no record
    std::vector<std::string> fallbacks; ///< names of tasks without a valid record
};

/// project null: default schedules throughout.
Result<KernelChoices> chooseKernels(const LoadedModel& model, const store::Project* project, bool strict);

/// A task (or an untuned function, as one alternative) as the search sees it.
search::SearchTask searchTask(const graph::Task& task, const LoadedModel& model, bool strict);

} // namespace lathe::session
