#pragma once

#include <cstdint>

namespace lathe::sim {

/// What a script can make go wrong. All are real: a process dies by a signal, sleeps, or leaves other values behind.
/// Faults of the build are those of the builder's process; those of the device's build happen in the runner, as if the
/// device had a compiler of its own.
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
    Lost, ///< the device is gone when its job has ended, for as long as the process lives
    DeviceBuildSlow, ///< it takes seconds
    DeviceBuildFailed,
    DeviceBuildCrash,
    DeviceBuildHang
};

} // namespace lathe::sim
