#pragma once

#include "plugins/cuda/device/driver.h"
#include "plugins/cuda/device/launch_limits.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lathe::cuda {

/// A device that the driver shows this process, CUDA_VISIBLE_DEVICES seen to: a GPU, or a MIG instance of one.
struct DeviceFacts : LaunchLimits
{
    DeviceNumber device = 0;
    std::string key; ///< "cuda0", "cuda1" ...: its place among them
    std::string name; ///< in the driver's words
    std::string uuid; ///< "GPU-..." as tools of the driver write it; empty: the driver does not tell
    int capability = 0; ///< 10 times the major number and the minor one
    std::uint64_t memoryBytes = 0;
    std::uint64_t processors = 0;
    std::uint64_t clockKhz = 0, memoryClockKhz = 0, memoryBusBits = 0; ///< 0: not told
    std::uint64_t cacheBytes = 0; ///< between memory and all processors (L2)
    std::uint64_t warp = 0;
    std::uint64_t threadsOfProcessor = 0, blocksOfProcessor = 0, registersOfProcessor = 0, sharedOfProcessor = 0;
    bool hasRunLimit = false; ///< the driver stops kernels that take seconds: it serves a screen, too
};

/// Empty: `problem` is a sentence.
std::vector<DeviceFacts> listDevices(const Driver& driver, std::string& problem);

/// What LatheDeviceApi::enumerate gives.
std::string devicesText();

/// canStart(): empty, or its sentence.
std::string whyNotStarted(const DeviceFacts& device, const std::string& kernel, const std::uint64_t (&grid)[3],
                          const std::uint64_t (&block)[3], std::uint64_t sharedBytes);

} // namespace lathe::cuda
