#pragma once

#include "core/session/loaded_model.h"
#include "core/session/views.h"
#include "core/store/project.h"

namespace lathe::session {

/// The steps and loops of a task's best record. Errors: NotFound (it has none), StoreFailed, BadFile.
Result<ScheduleView> bestScheduleOf(const LoadedModel& model, const store::Project& project, const graph::Task& task);

} // namespace lathe::session
