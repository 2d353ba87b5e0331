#pragma once

#include "core/support/result.h"
#include "plugins/cuda/model/gpu_facts.h"

#include <string>

namespace lathe::cuda {

/// By its name or its key, as a person types it. InvalidArgument: the model does not know it.
inline Result<const GpuFacts*> gpuNamed(std::string_view name)
{
    if (const GpuFacts* const found = findGpu(name); found != nullptr)
        return found;
    std::string known;
    for (const GpuFacts& gpu : knownGpus())
        known += (known.empty() ? "" : ", ") + std::string(gpu.key);
    return makeError(Errc::InvalidArgument,
                     "the model does not know the GPU '" + std::string(name) + "'; it knows " + known);
}

} // namespace lathe::cuda
