#pragma once

#include "core/session/loaded_model.h"
#include "core/session/session.h"
#include "core/store/project.h"

namespace lathe::session {

/// TuningSession::importLogs(): `writer` is used on this thread alone.
Result<LogImport> importTuningLogs(const LoadedModel& model, store::Project& writer, std::span<const std::filesystem::path> files, const TuningSession::Progress& progress,
                                   std::stop_token stop);

} // namespace lathe::session
