#pragma once

#include "plugins/cuda/device/opened_device.h"

#include <cstdint>
#include <span>

struct LatheModule
{
    lathe::cuda::Module module;
};

namespace lathe::cuda {

/// LatheDeviceApi::run, once the device was entered.
///
/// If all is timed and no cache is to be cold, the launches are timed in stretches with whatever lies between two of
/// them, as a network has it, too; else each call by itself. Where launches are short, as their last times say, the
/// passes of a stretch are recorded once and started as one graph, since the host would need longer for each than the
/// device (kShortNanoseconds). A driver whose times are a model's runs one pass, and its time counts for all.
int run(OpenedDevice& device, std::span<const LatheLaunch> launches, std::uint32_t iterations, std::uint64_t coldBytes,
        LatheTiming* timing, LatheDeviceError* error);

/// A host needs 2 to 5 us to start a kernel, and a graph's kernels follow each other in 1 to 2; from here on the
/// difference is below the noise.
inline constexpr double kShortNanoseconds = 50'000;

} // namespace lathe::cuda
