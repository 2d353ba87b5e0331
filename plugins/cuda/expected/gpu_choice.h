#pragma once

#include "core/target/target.h"
#include "plugins/cuda/model/gpu_facts.h"

namespace lathe::cuda {

/// The word -gpu=... of a target "expected"; the RTX A6000, on which the model was checked, where it names none.
inline const GpuFacts& gpuOf(const Target& target)
{
    const GpuFacts* const named = findGpu(target.attribute("gpu").value_or(""));
    return named != nullptr ? *named : knownGpus().front();
}

} // namespace lathe::cuda
