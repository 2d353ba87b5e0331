#pragma once

#include "core/session/loaded_model.h"
#include "core/session/options/options.h"
#include "core/session/plan/plan_view.h"
#include "core/store/project.h"

#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>

namespace lathe::session {

/// ExportPart::plan(); project null: of logs alone.
Result<std::optional<PlanView>> planOf(const LoadedModel& model, const store::Project* project,
                                       const CompileOptions& options, const std::filesystem::path& log,
                                       const std::function<void(PlanStep)>& told, std::int64_t* left,
                                       std::stop_token stop);

} // namespace lathe::session
