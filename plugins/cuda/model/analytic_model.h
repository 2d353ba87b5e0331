#pragma once

#include "plugins/cuda/model/gpu_facts.h"
#include "plugins/cuda/model/kernel_facts.h"
#include "plugins/cuda/model/occupancy.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace lathe::cuda {

/// What a launch waits for most.
enum class Bound : std::uint8_t
{
    Issue, ///< schedulers, with what operands in one bank cost
    FloatLanes,
    IntegerLanes,
    OtherLanes, ///< float64, float16, special functions
    Access, ///< the way to shared memory and the level-1 cache
    Fill, ///< bytes from the level-2 cache into an SM
    Cache, ///< bytes from the level-2 cache altogether
    Memory,
    Latency ///< warps are too few to hide waits
};
std::string_view toString(Bound bound);

enum class GpuClock : std::uint8_t
{
    Boost, ///< short launches, with pauses
    Sustained ///< launches of milliseconds one after another: the base clock, which the board holds at its power limit
};

struct LaunchTime
{
    double seconds = 0; ///< from start to end, without the gap to the next launch
    Bound bound = Bound::Latency;
    Occupancy occupancy;
    double waves = 0; ///< blocks by those that are resident at a time
    double smSeconds = 0, cacheSeconds = 0, memorySeconds = 0; ///< of the busiest SM; of the level-2 cache; of memory
    double floatShare = 0; ///< of the seconds in which lanes for float32 are busy, mean of all SMs
};

/// How long a launch takes: the largest of three times, since all three go on together (the roofline, Williams et al.,
/// CACM 52(4), 2009, with a roof for each resource).
///
/// 1. The busiest SM has ceil(blocks / SMs) blocks, of which R are resident at a time (occupancy.h). Rounds of R blocks
/// take
///    T(R) cycles, what is left over T(rest):
///       T(g) = max(D(g), Z + D(1)),  D(g) = the largest over the resources of what g blocks take of it.
///    These are the asymptotic bounds of a closed system with g customers (Lazowska et al., Quantitative System
///    Performance, 1984, chapter 5): with many blocks the busiest resource decides, with few the time that one of
///    them takes for itself. Z is what a block waits: the cycles of one warp alone less those in which it issues.
///    Blocks without barriers are as many customers as they have warps: there the second term is the cycles of one warp
///    alone. Resources of an SM, of g blocks of w warps, n = ceil(g w / 4) warps to a scheduler:
///       issue            n * issueCycles
///       float32          n * 32 * floats / (lanes / 4); integers, float64, float16, special likewise
///       float32+integers n * 32 * (floats + integers) / (lanes / 4), where integers share lanes
///       access           g w * accessCycles
///       fill             g * fillBytes / fill bytes a cycle
/// 2. The level-2 cache: blocks * fillBytes / bytes a cycle.
/// 3. Memory: memoryBytes / bytes a second.
///
/// The quantisation into waves is thus in the first one. A pure function. Errors: IllegalSchedule if not one block
/// fits.
Result<LaunchTime> launchTimeOf(const KernelFacts& facts, const GpuFacts& gpu, GpuClock clock);

/// Launches one after another, with the gaps of a graph or of a stream between them, in seconds.
Result<double> sequenceSecondsOf(std::span<const KernelFacts> launches, const GpuFacts& gpu, GpuClock clock,
                                 bool isGraph);

} // namespace lathe::cuda
