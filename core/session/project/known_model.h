#pragma once

#include "core/session/loaded_model.h"
#include "core/store/project.h"

#include <cstdint>
#include <filesystem>
#include <string>

namespace lathe::session {

/// Makes the project know the model, its tasks, and that it is the one used last; a file that was moved is found at its
/// new place from then on. A project that cannot be written stays as it is. Gives the model's row there, 0 for none.
/// Errors: the store's.
Result<std::int64_t> enterModel(const LoadedModel& model, store::Project& project);

/// The target that a project was used with last; empty for a file that does not exist, or a project without any.
/// Errors: the store's.
Result<std::string> latestTarget(const std::filesystem::path& file);

} // namespace lathe::session
