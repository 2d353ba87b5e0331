#pragma once

#include "core/backend/build_job.h"

#include <filesystem>

namespace lathe::backend {

struct BuilderOptions
{
    std::filesystem::path pluginDir;
    int input = 0;
    int output = 1;
    AfterLowering
        afterLowering; ///< empty in what is installed; tests have a builder of their own that plants faults here
};

/// Serves build and link jobs until the other side closes the stream. Returns the process's exit status.
int runBuilder(const BuilderOptions& options);

} // namespace lathe::backend
