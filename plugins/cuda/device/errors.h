#pragma once

#include "core/runtime/device_error.h"
#include "plugins/cuda/device/driver.h"

#include <string>
#include <string_view>

namespace lathe::cuda {

/// What the driver's code means for a trial: UNSUPPORTED more is asked for than the device has, WORKER_CRASHED the
/// kernel did what it must not, RUN_TIMEOUT it was stopped, DEVICE_LOST the device is not to be trusted.
LatheErrc kindOf(int code);

/// Whether nothing can be done in this process behind that error: all calls return it, until the process ends.
bool isLasting(int code);

/// `doing` completes "CUDA refuses ..." (the call itself failed), "CUDA failed at ..." (what was accepted before did).
int refused(LatheDeviceError* error, const Driver& driver, int code, std::string_view doing);
int failedAt(LatheDeviceError* error, const Driver& driver, int code, std::string_view doing);

} // namespace lathe::cuda
