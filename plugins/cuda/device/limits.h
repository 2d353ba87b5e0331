#pragma once

#include "plugins/cuda/device/opened_device.h"

#include <string>

namespace lathe::cuda {

/// What a device can do at most, by kernels that do nothing else: products and sums in registers, and reads of a part
/// of memory that doubles. They are PTX that the driver compiles. Takes some tenths of a second; the device was
/// entered. JSON as device_abi.h has it (limits); {} where something failed, and on the processor, whose limits those
/// of the target cpu tell.
std::string measureLimits(OpenedDevice& device);

/// The text of both kernels, "arithmetic" and "reads".
std::string limitsPtx();

} // namespace lathe::cuda
