#pragma once

#include "core/target/target.h"

#include <array>
#include <cstdint>

namespace lathe::search {

constexpr double kMaxBody =
    1300; ///< multiply-adds emitted for one kernel; more compiles too long and leaves the code cache
constexpr double kFmaLatency = 4; ///< cycles

/// What the analytical estimate knows of a CPU.
struct Machine
{
    std::int64_t threads = 1;
    std::int64_t vectorBytes = 16;
    std::int64_t registers = 16;
    std::int64_t lineBytes = 64;
    double fmaPerCycle = 2;
    double cyclesPerSecond = 2.5e9;
    /// L1, L2, last level (per thread), memory behind them: bytes held and bytes per cycle and core delivered.
    std::array<double, 3> cacheBytes{};
    std::array<double, 4> bytesPerCycle{};

    explicit Machine(const Hardware& hardware);
};

} // namespace lathe::search
