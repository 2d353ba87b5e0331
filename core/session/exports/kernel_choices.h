#pragma once

#include "core/deploy/plan.h"
#include "core/search/search_task.h"
#include "core/session/exports/applied_logs.h"
#include "core/session/exports/coverage.h"
#include "core/session/loaded_model.h"
#include "core/session/plan/layout_choice.h"
#include "core/store/project.h"

#include <memory>
#include <stop_token>

namespace lathe::session {

/// What each subgraph of the partition runs: the best record of its task, else a schedule made without measuring.
struct KernelChoices
{
    std::vector<deploy::KernelChoice> choices; ///< one per subgraph; empty for a noop
    std::vector<SubgraphReport> reports; ///< one per subgraph that is no noop
    double estimatedTasksMs = 0; ///< weighted sum over the tasks; NaN if one has no record
    std::vector<std::string> fallbacks; ///< names of tasks without a valid record
    std::optional<Message> plan; ///< what the choice of layouts came to; nothing: there was nothing to choose
};

/// Costs compare under equal conditions alone: each task takes its record from the first of these that has a valid one.
struct RecordChoice
{
    std::optional<store::Conditions> only; ///< nothing: all that the project has for the target, the latest first
    bool strict = false; ///< no record that computes in another order than the network says
    LayoutChoice layouts = {}; ///< where records differ in layouts, which of them are taken
    std::shared_ptr<const AppliedLogs> logs = {}; ///< for tasks without a record; null: there are none
};

/// The task's alternative that a record was made for; null: this version has none of that name, `strict` does not let it
/// compute in another order than the network says, or the record's steps do not fit the DAG that this version makes.
const graph::Alternative* usableAlternative(const graph::Task& task, const Record& record, bool strict);

/// The chosen record of each task that has one, by task key. Errors: StoreFailed, BadFile.
Result<std::map<std::string, store::BestRow>> chooseRecords(const LoadedModel& model, const store::Project& project,
                                                            const RecordChoice& choice);

/// project null: default schedules throughout. Where records have layouts of their own, it may measure what changing
/// layouts takes (plan/network_plan.h). Errors: as chooseRecords(), and those of planNetwork().
Result<KernelChoices> chooseKernels(const LoadedModel& model, const store::Project* project, const RecordChoice& choice,
                                    std::stop_token stop = {});

/// What an export with these would do, for people. Errors: StoreFailed, BadFile, Unsupported.
Result<Coverage> coverageOf(const LoadedModel& model, const store::Project* project, const RecordChoice& choice);

/// Why an export without default schedules refuses; empty: it does not.
std::optional<Message> refusalOf(const KernelChoices& choices, const LoadedModel& model);

/// A task (or an untuned function, as one alternative) as the search sees it.
search::SearchTask searchTask(const graph::Task& task, const LoadedModel& model, bool strict);

} // namespace lathe::session
