#pragma once

#include "core/runtime/device_abi.h"
#include "plugins/opencl/device/driver.h"

#include <string_view>

namespace lathe::opencl {

/// Fills `error`, if there is one, and gives 1.
int fail(LatheDeviceError* error, LatheErrc code, std::string_view text);
/// What the driver refused: `doing` completes "OpenCL refuses ...".
int refused(LatheDeviceError* error, cl_int code, std::string_view doing);

} // namespace lathe::opencl
