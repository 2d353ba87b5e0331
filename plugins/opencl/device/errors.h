#pragma once

#include "core/runtime/device_error.h"
#include "plugins/opencl/device/driver.h"

#include <string>
#include <string_view>

namespace lathe::opencl {

inline std::string errorText(cl_int code)
{
    return errorName(code).text;
}

/// Fails with what the driver refused: `doing` completes "OpenCL refuses ...". UNSUPPORTED: more is asked for than the
/// device has; DEVICE_LOST: it is not available.
int refused(LatheDeviceError* error, cl_int code, std::string_view doing);
/// Fails with what became of commands that the driver had accepted, as an event or a call that waits for them tells:
/// `doing` completes "OpenCL failed at ...". Memory or resources that are missing then are DEVICE_LOST.
int failedAt(LatheDeviceError* error, cl_int code, std::string_view doing);

} // namespace lathe::opencl
