#pragma once

#include "core/runtime/read_speeds.h"
#include "plugins/opencl/device/device_facts.h"

#include <string>
#include <vector>

namespace lathe::opencl {

/// What a device can do at most, by kernels that do nothing else: products and sums in registers, and reads of a part
/// of memory that doubles. Takes some tenths of a second. JSON as device_abi.h has it (limits); {} where something
/// failed.
std::string measureLimits(const Driver& driver, cl_context context, cl_command_queue queue, const DeviceFacts& facts,
                          bool hasEvents);

/// core/runtime/read_speeds.h.
std::string limitsText(double gflops, const std::vector<ReadSpeed>& speeds);

} // namespace lathe::opencl
