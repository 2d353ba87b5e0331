#pragma once

#include <cstdint>

namespace lathe::runtime {

/// Outcomes; equal to the constants of the C interface (resources/deploy/model.h.in).
enum class Status : std::int32_t
{
    Ok = 0,
    InvalidArgument = 1,
    Damaged = 2,
    NoMemory = 3,
    KernelFailed = 4,
    Busy = 5
};

} // namespace lathe::runtime
