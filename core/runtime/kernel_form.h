#pragma once

#include <cstdint>

namespace lathe {

/// What one kernel of a target is made of. The search, the lowering and the default schedules choose by this, never by
/// a kind's name; artifacts and model descriptions say it of each kernel.
enum class KernelForm : std::uint8_t
{
    Phases, ///< a list of phases that threads of a processor share (kernel_abi.h)
    Launches ///< a list of grids of blocks of threads
};

/// Bounds that no device exceeds: what a descriptor or a model description says beyond them is damage. A device has
/// limits of its own, which its back end checks.
inline constexpr std::uint32_t kMostBlocks = 0x7fffffff; ///< of a launch, along one axis
inline constexpr std::uint32_t kMostThreads = 1u << 16; ///< of a block, along all axes
inline constexpr std::uint64_t kMostSharedBytes = std::uint64_t{1} << 30; ///< of a block
inline constexpr std::uint32_t kMostLaunches = 4096; ///< of a kernel; also of buffers that one launch takes

} // namespace lathe
