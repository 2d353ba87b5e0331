#pragma once

#include "plugins/opencl/device/device_facts.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lathe::opencl {

/// A working set that was read over and over, and how fast.
struct ReadSpeed
{
    std::uint64_t bytes = 0;
    double gbytesPerS = 0;
};

/// What a device can do at most, by kernels that do nothing else: products and sums in registers, and reads of a part
/// of memory that doubles. Takes some tenths of a second. JSON as device_abi.h has it (limits); {} where something
/// failed.
std::string measureLimits(const Driver& driver, cl_context context, cl_command_queue queue, const DeviceFacts& facts,
                          bool hasEvents);

/// Of measured speeds, by ascending size: the caches, if smaller sets are read markedly faster than the largest, up to
/// the largest set that is closer to the fastest than to the slowest; and memory. JSON.
std::string limitsText(double gflops, const std::vector<ReadSpeed>& speeds);

} // namespace lathe::opencl
