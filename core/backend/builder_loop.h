#pragma once

#include <filesystem>

namespace lathe::backend {

struct BuilderOptions
{
    std::filesystem::path pluginDir;
    int input = 0;
    int output = 1;
    std::filesystem::path faultScript; ///< planted in every kernel built; empty: none
};

/// Serves build and link jobs until the other side closes the stream. Returns the process's exit status.
int runBuilder(const BuilderOptions& options);

} // namespace lathe::backend
