#pragma once

#include "core/session/loaded_model.h"
#include "core/session/log_import.h"
#include "core/store/project.h"
#include "core/templates/log_line.h"
#include "core/templates/task_template.h"

#include <filesystem>
#include <stop_token>

namespace lathe::session {

/// TuningSession's exportTemplateLog(): lines of version 0.2 (autotvm.md 9). Records that templates made for the
/// model's target, failures too; of imported ones their own lines, bit for bit. Others are counted by why they are left
/// out.
/// Errors: StoreFailed, BadFile, Cancelled.
Result<LogExport> writeTemplateLog(const LoadedModel& model, const store::Project& project,
                                   const std::filesystem::path& file, std::stop_token stop);

/// One of our records as a line of that log: `config` is of `made`, which made its candidate.
templates::TemplateTrial templateTrialOf(const Record& record, const templates::TaskTemplate& made,
                                         templates::Config config, const Target& target);

} // namespace lathe::session
