#pragma once

/// This is also in the libraries that Lathe exports: nothing of the C++ library is linked.

#include "core/runtime/image.h"
#include "plugins/cuda/device/driver_functions.h"

#include <cstdint>

namespace lathe::cuda {

/// What a device starts at most.
struct LaunchLimits
{
    std::uint64_t mostThreads = 0, mostBlock[3] = {}, mostGrid[3] = {};
    std::uint64_t sharedBytes = 0; ///< of a block, if its function asks for it
};

/// An attribute of a device; 0: the driver does not tell.
std::uint64_t attributeOf(const Driver& driver, DeviceNumber device, int attribute);

LaunchLimits readLaunchLimits(const Driver& driver, DeviceNumber device);

/// Whether a device with these limits can start a launch; else a sentence. What is asked for in vain is told before the
/// driver sees it, whose words name no limit.
bool canStart(const LaunchLimits& limits, const char* kernel, const std::uint64_t (&grid)[3],
              const std::uint64_t (&block)[3], std::uint64_t sharedBytes, runtime::ErrorText& why);

} // namespace lathe::cuda
