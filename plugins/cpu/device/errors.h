#pragma once

#include "core/runtime/device_abi.h"

#include <string_view>

namespace lathe::cpu {

/// Fills `error`, if there is one, and returns what an entry point of the table returns for a failure.
int fail(LatheDeviceError* error, LatheErrc code, std::string_view text);

} // namespace lathe::cpu
