#pragma once

#include <cstdint>

namespace lathe::runtime {

/// A fixed chain of dependent operations, some 90 us on a processor of 3 GHz: its time follows the clock rate and
/// whoever else takes the core, never what is measured beside it.
inline void controlKernel()
{
    std::uint64_t x = 88172645463325252ULL;
    for (int i = 0; i < 60'000; ++i) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    asm volatile("" : : "r"(x));
}

} // namespace lathe::runtime
