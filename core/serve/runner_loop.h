#pragma once

#include <filesystem>

namespace lathe::serve {

struct RunnerOptions
{
    std::filesystem::path pluginDir;
    int input = 0;
    int output = 1;
};

/// Serves requests until the other side closes the stream. Returns the process's exit status.
int runRunner(const RunnerOptions& options);

} // namespace lathe::serve
