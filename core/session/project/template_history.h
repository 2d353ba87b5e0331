#pragma once

#include "core/session/loaded_model.h"
#include "core/session/template_trials.h"
#include "core/store/record_reader.h"

#include <span>
#include <stop_token>

namespace lathe::session {

/// The trials of a task among `rows` that templates made, with what each knob had. Those of templates that the task
/// does not have, or whose values are damaged, are left out. Errors: Cancelled, StoreFailed.
Result<TemplateHistory> readTemplateTrials(const LoadedModel& model, std::int32_t task,
                                           const store::RecordReader& reader, std::span<const std::int64_t> rows,
                                           std::stop_token stop);

/// The fastest records of a template and of all else, where an export would look for the task's record first. Empty
/// ones where there is none. Errors: StoreFailed.
Result<std::pair<BestWay, BestWay>> bestWays(const LoadedModel& model, std::int32_t task, const store::Project& project,
                                             std::stop_token stop);

} // namespace lathe::session
