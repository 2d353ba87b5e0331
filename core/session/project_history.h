#pragma once

#include "core/session/history.h"
#include "core/session/loaded_model.h"

namespace lathe::session {

/// `modelRow`: id of the model in the project.
Result<std::unique_ptr<History>> openHistory(const std::filesystem::path& project, std::int64_t modelRow, std::shared_ptr<const LoadedModel> model);

} // namespace lathe::session
