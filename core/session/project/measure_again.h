#pragma once

#include "core/session/events.h"
#include "core/session/loaded_model.h"
#include "core/store/project.h"

#include <memory>
#include <span>
#include <stop_token>
#include <vector>

namespace lathe::session {

/// ProjectPart::measureAgain(): `writer` is used on this thread alone, `tasks` have their best latencies. What it
/// returns is to be told. The verdict belongs to the latest run of the model for its target.
/// Errors: NotFound (there is no run), Unsupported (networks for the target do not run here), those of an export,
/// Cancelled, StoreFailed.
Result<std::vector<Event>> measureNetworkAgain(std::shared_ptr<const LoadedModel> model, store::Project& writer,
                                               std::int64_t modelRow, std::span<const TaskView> tasks,
                                               const DeviceLimits& limits, std::stop_token stop);

} // namespace lathe::session
