#pragma once

#include "core/session/loaded_model.h"
#include "core/session/log_import.h"
#include "core/session/log_preview.h"
#include "core/session/progress.h"
#include "core/store/project.h"

#include <stop_token>

namespace lathe::session {

/// TuningSession::importLogs(): `writer` is used on this thread alone.
Result<LogImport> importTuningLogs(const LoadedModel& model, store::Project& writer,
                                   std::span<const std::filesystem::path> files, const Progress& progress,
                                   std::stop_token stop);

/// TuningSession::previewLogs(): nothing is written.
Result<LogPreview> previewTuningLogs(const LoadedModel& model, const store::Project& project,
                                     std::span<const std::filesystem::path> files, const Progress& progress,
                                     std::stop_token stop);

} // namespace lathe::session
