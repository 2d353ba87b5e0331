#pragma once

#include "core/backend/c_source.h"
#include "core/schedule/lower.h"

#include <string>
#include <vector>

namespace lathe::cuda::kernels {

/// A schedule as launches, and as CUDA C++.
struct PrintedKernel
{
    schedule::LoweredKernel lowered;
    backend::KernelSource source;
};

/// Errors: those of lower() and of the printer.
Result<PrintedKernel> printed(const schedule::State& state, const std::vector<bool>& constantInputs,
                              const std::string& name = "kernel");

} // namespace lathe::cuda::kernels
