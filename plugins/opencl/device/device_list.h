#pragma once

#include "plugins/opencl/device/driver.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lathe::opencl {

/// A device of any platform, with what its driver says of it.
struct DeviceFacts
{
    cl_platform_id platform = nullptr;
    cl_device_id id = nullptr;
    std::string key; ///< "cl0", "cl1" ...: its place among all devices of this machine, platform by platform
    std::string name, platformName, version, driver; ///< in the driver's words
    bool isProcessor = false; ///< its kernels run on the cores of this machine
    bool hasCompiler = false;
    bool sharesMemory = false; ///< with the host, so that buffers need no copies
    std::uint64_t units = 0; ///< that run work-groups
    std::uint64_t clockMhz = 0; ///< 0: not known
    std::uint64_t memoryBytes = 0;
    std::uint64_t largestBuffer = 0; ///< bytes
    std::uint64_t localBytes = 0; ///< of a work-group
    std::uint64_t cacheLineBytes = 0;
    std::uint64_t subgroup = 0; ///< threads that run in step; 0: the driver does not say
    std::size_t mostThreads = 0; ///< of a work-group
    std::array<std::size_t, 3> mostAlong = {}; ///< each axis of one

    /// Binaries made for one device run on those of equal identity alone.
    std::string identity() const;
};

/// All devices of all platforms. Empty: `problem` is a sentence that names what to install.
std::vector<DeviceFacts> listDevices(const Driver& driver, std::string& problem);

/// What LatheDeviceApi::enumerate gives.
std::string devicesText();

} // namespace lathe::opencl
