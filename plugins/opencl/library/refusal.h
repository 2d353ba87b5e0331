#pragma once

#include "core/runtime/image.h"
#include "core/runtime/status.h"
#include "plugins/opencl/device/driver.h"

namespace lathe::opencl {

/// What the driver refused: the words complete "OpenCL refuses ...", and the error's name follows.
runtime::Status refused(runtime::ErrorText& error, cl_int code, const char* doing, ...)
    __attribute__((format(printf, 3, 4)));
/// What became of commands that the driver had accepted: the words complete "OpenCL failed at ...".
runtime::Status failedAt(runtime::ErrorText& error, cl_int code, const char* doing, ...)
    __attribute__((format(printf, 3, 4)));
runtime::Status noHostMemory(runtime::ErrorText& error);

} // namespace lathe::opencl
