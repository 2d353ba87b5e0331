#pragma once

#include "core/backend/codegen.h"

#include <filesystem>
#include <memory>
#include <string>

namespace lathe::backend {

/// Loads PLUGINDIR/<kind>_codegen.so (once), compares build ids, makes a generator. Errors: NotFound (no such plugin),
/// Incompatible (another build, not a codegen half), and those of the plugin for its target.
Result<std::unique_ptr<Codegen>> createCodegen(const std::filesystem::path& pluginDir, const Target& target);

/// Whether that file is there, whatever it is.
bool hasCodegen(const std::filesystem::path& pluginDir, const Target& target);

} // namespace lathe::backend
