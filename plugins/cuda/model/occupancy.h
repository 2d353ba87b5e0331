#pragma once

#include "plugins/cuda/model/gpu_facts.h"

#include <cstdint>

namespace lathe::cuda {

enum class OccupancyLimit : std::uint8_t
{
    Threads,
    Blocks,
    Registers,
    SharedMemory,
    Impossible ///< not one block fits
};

struct Occupancy
{
    std::int32_t blocks = 0; ///< resident on an SM at a time
    std::int32_t warps = 0; ///< of all of them
    OccupancyLimit limit = OccupancyLimit::Impossible; ///< the first of those that allow least
};

/// How many blocks an SM holds at a time, exactly as drivers allot for compute capabilities 8.0 to 9.0: registers in
/// units of 256 a warp, each of the four partitions having a quarter of them and taking whole warps; shared memory in
/// units of 128 bytes, 1 KiB of each block for the driver; threads in whole warps.
///
/// `registers` and `threads` are what a thread and a block have, `sharedBytes` what a block declares, without the
/// driver's share.
///
/// Sources: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability" and "Compute Capability 8.x"
/// (1 KiB of each block); the rules of NVIDIA's occupancy calculator as its own header states them.
Occupancy occupancyOf(const GpuFacts& gpu, std::int64_t threads, std::int32_t registers, std::int64_t sharedBytes);

} // namespace lathe::cuda
