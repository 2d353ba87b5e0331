#pragma once

#include "core/session/loaded_model.h"
#include "core/session/options/options.h"
#include "core/session/progress.h"
#include "core/store/project.h"

#include <stop_token>

namespace lathe::session {

/// TuningSession::remeasure(): `writer` is used on this thread alone.
Result<std::vector<RemeasuredTrial>> remeasureTrials(const LoadedModel& model, store::Project& writer,
                                                     const RemeasureOptions& options,
                                                     std::span<const std::string> trials, const Progress& progress,
                                                     std::stop_token stop);

} // namespace lathe::session
