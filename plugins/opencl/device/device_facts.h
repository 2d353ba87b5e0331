#pragma once

/// This is also in the libraries that Lathe exports: nothing of the C++ library is linked.

#include "core/runtime/image.h"
#include "plugins/opencl/device/driver.h"

#include <cstddef>
#include <cstdint>

namespace lathe::opencl {

/// A device of any platform, with what its driver says of it. Longer texts are cut.
struct DeviceFacts
{
    cl_platform_id platform = nullptr;
    cl_device_id id = nullptr;
    /// "cl0", "cl1" ...: its place among all devices of this machine: platform by platform, processors last. The first
    /// is what is used where nobody says which.
    char key[24] = "";
    char name[256] = "", platformName[256] = "", version[256] = "", driver[256] = ""; ///< in the driver's words
    /// Of all four: binaries made for one device run on those of equal identity alone.
    char identity[1056] = "";
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
    std::uint64_t shuffleWidth = 0; ///< of subgroups.h, for schedules: threads that exchange registers; 0: none do
    /// NVIDIA's compute capability, 10 times the major number and the minor one; 0: another maker's, or not told.
    std::uint64_t capability = 0;
    std::uint64_t simdWidth = 0; ///< of a processor: threads that one of its vectors has room for, of 4 bytes each
    std::size_t mostThreads = 0; ///< of a work-group
    std::size_t mostAlong[3] = {}; ///< each axis of one
};

/// Without a key.
DeviceFacts readFacts(const Driver& driver, cl_platform_id platform, cl_device_id id);

/// All devices of all platforms, for freeArray(); null if there are none.
DeviceFacts* readDevices(const Driver& driver, std::size_t& count);
/// For whoever has none.
inline constexpr const char* kNoDevices =
    "no OpenCL device was found: install the OpenCL driver of its maker, or pocl-opencl-icd for the processor";

/// Whether the device can start work-groups of a kernel; else a sentence. Drivers accept more than the device can run,
/// and some end the process instead of refusing: so this comes before anything is built.
bool canStart(const DeviceFacts& device, const char* kernel, const std::size_t (&block)[3], std::uint64_t localBytes,
              runtime::ErrorText& problem);

} // namespace lathe::opencl
