#pragma once

#include "tests/cuda_driver/ptx/program.h"

#include <bit>

namespace lathe::ptx {

constexpr uint32_t kNan32 = 0x7fffffff; // what a device gives for any float32 that is not a number

template<typename T>
inline T canonical(T value)
{
    if constexpr (sizeof(T) == 4) { // of bits: a comparison of floats would keep compilers from making vectors
        const auto bits = std::bit_cast<uint32_t>(value);
        return std::bit_cast<T>((bits & 0x7fffffff) > 0x7f800000 ? kNan32 : bits);
    } else {
        return value;
    }
}

/// fma, the instruction that most of the time goes into; in a file of its own, see there.
Handler fusedOf(bool wide);

} // namespace lathe::ptx
