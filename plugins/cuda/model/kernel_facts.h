#pragma once

#include "plugins/cuda/model/gpu_facts.h"
#include "plugins/cuda/model/sass_loops.h"
#include "plugins/cuda/model/sass_walk.h"

#include <cstdint>
#include <optional>

namespace lathe::cuda {

/// What one launch of a kernel asks of a GPU: all that the analytic model needs. Plain figures, so that they can be
/// stored and be made in other ways than from machine code.
struct KernelFacts
{
    std::int64_t blocks = 1;
    std::int64_t threads = 1; ///< of a block
    std::int32_t registers = 0; ///< of a thread
    std::int64_t sharedBytes = 0; ///< of a block, without what the driver keeps for itself
    bool hasBarriers = false; ///< warps of a block wait for each other again and again

    // Of one warp, over its life.
    double issueCycles = 0; ///< of its scheduler (WarpCycles::issue)
    double aloneCycles = 0; ///< with all latencies, if it were the only one (WarpCycles::alone)
    double floats = 0; ///< instructions on the lanes for float32
    double integers = 0; ///< on those for integers
    double doubles = 0, halves = 0, specials = 0; ///< likewise
    double accessCycles = 0; ///< of the SM's way to shared memory and the level-1 cache

    double fillBytes = 0; ///< of a block: what goes between the level-1 and the level-2 cache
    double memoryBytes = 0; ///< of the launch: what goes between the level-2 cache and memory

    double flop = 0; ///< of the launch, for figures of speed alone
};

struct KernelFactsOptions
{
    /// Bytes of all tensors together, if known. A launch whose data fit into the level-2 cache fetches them once.
    std::optional<double> footprintBytes;
    std::int64_t mostWarps = 4096; ///< that are followed to find out what the blocks of a wave share
};

/// What the model makes of machine code, with what it could not find out.
struct KernelReading
{
    KernelFacts facts;
    SassCounts whole, hot; ///< of a thread; of one pass through the hot loop
    std::size_t unknownAccesses = 0; ///< instructions whose addresses do not follow: taken to be dense
    bool allTripsKnown = true;
    std::size_t localAccesses = 0; ///< instructions that spill registers, or reach for arrays of a thread
};

/// Reads a kernel's machine code for one launch on one GPU: counts weighted by trips, cycles of issue and of waiting,
/// banks that collide, sectors that blocks ask for and share (sass_walk.h). `extents`: as SassProfile::create().
/// Takes some hundred milliseconds, nearly all of them for what the blocks of a wave share (`mostWarps`). Errors: those
/// of SassProfile::create(), SassWalk::create(), warpCyclesOf(); IllegalSchedule if not one block fits on an SM.
Result<KernelReading> readKernel(const SassModule& module, const SassKernel& kernel, const SassLaunch& launch,
                                 const GpuFacts& gpu, const KernelFactsOptions& options = {},
                                 std::span<const std::uint64_t> extents = {});

} // namespace lathe::cuda
