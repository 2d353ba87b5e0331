#pragma once

#include <cstdint>

namespace lathe::sim {

/// What a script can make go wrong. All are real: a process dies by a signal, sleeps, or leaves other values behind.
/// The numbers stand in artifacts (Kernel::fault), which both halves read.
enum class Fault : std::uint32_t
{
    None,
    BuildFailed,
    BuildCrash,
    BuildHang,
    Crash,
    Hang,
    Wrong,
    OutOfBounds,
    Slow, ///< or, with a factor below one, fast
    Lucky, ///< slow by its factor, below one say, but only the first time that it is measured
    Lost ///< the device is gone when its job has ended, for as long as the process lives
};

} // namespace lathe::sim
