#pragma once

#include "core/support/result.h"

#include <filesystem>

namespace lathe::backend {

/// Loads a shared object of C++ halves and finds its entry function. The loader counts references and gives the same
/// library again; it is never unloaded, for compilers keep global state and values point into it. Errors: Incompatible
/// (it does not load, is none, or others could have changed it: checkTrusted()).
Result<void*> openPlugin(const std::filesystem::path& path, const char* entry);

/// Incompatible unless a half was built like this program.
Result<> checkBuildId(const std::filesystem::path& path, const char* buildId);

} // namespace lathe::backend
