#pragma once

#include "core/runtime/device_driver.h"

/// What libraries with kernels for NVIDIA GPUs are linked with.
extern "C" const lathe::runtime::DeviceDriver lathe_driver_cuda;
