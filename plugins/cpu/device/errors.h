#pragma once

#include "core/runtime/device_abi.h"

#include <cstdint>
#include <string_view>

namespace lathe::cpu {

/// The values of lathe::Errc that this device uses; device halves include core/runtime alone.
enum class DeviceErrc : std::uint32_t
{
    InvalidArgument = 1,
    Unsupported = 3,
    BadFile = 4,
    WrongAnswer = 9,
    DeviceLost = 10,
    Internal = 15
};

/// Fills `error`, if there is one, and returns what an entry point of the table returns for a failure.
int fail(LatheDeviceError* error, DeviceErrc code, std::string_view text);

} // namespace lathe::cpu
