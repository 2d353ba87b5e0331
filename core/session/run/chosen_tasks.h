#pragma once

#include "core/graph/task.h"
#include "core/session/options/options.h"
#include "core/support/result.h"

#include <vector>

namespace lathe::session {

/// Which tasks a run tunes, one entry per task: those of TuneOptions::operators and ::tasks, all where neither says
/// anything. An operator may be written as the reference does, "nn.conv2d", and means its kinds too: depthwise ones and
/// those in groups.
/// Errors: InvalidArgument for a task that there is not, NotFound for operators that no task has; both say which there
/// are.
Result<std::vector<bool>> chosenTasks(const TuneOptions& options, const graph::Partition& partition);

} // namespace lathe::session
