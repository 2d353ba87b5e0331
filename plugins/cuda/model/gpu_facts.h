#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace lathe::cuda {

/// What is publicly known of one GPU, in NVIDIA's words: an SM is what Lathe's hardware limits call a core. No figure
/// is fitted to the times that the model is checked against. gpu_facts.cpp names the source of each.
struct GpuFacts
{
    std::string_view name;
    std::string_view key; ///< short, for targets: "a6000"
    std::int32_t capability = 0; ///< 86 for sm_86
    std::int32_t sms = 0;
    double boostHz = 0; ///< what short launches run at
    double baseHz = 0; ///< what the board holds at its power limit

    // Of an SM. Four schedulers share its lanes evenly; each issues one instruction of one warp a cycle.
    std::int32_t schedulers = 4;
    double floatLanes = 0; ///< results of float32 a cycle
    double integerLanes = 64; ///< likewise of 32-bit integers
    bool integersShareLanes = false; ///< half of the lanes for float32 are those for integers
    double doubleLanes = 2;
    double halfLanes = 128; ///< of packed float16: instructions' lanes, two results each
    double specialLanes = 16; ///< reciprocals, roots, conversions
    /// Threads whose access to shared memory or the level-1 cache is taken each cycle: an access of a warp takes
    /// 32 / accessLanes cycles at least.
    double accessLanes = 16;
    double passBytes = 128; ///< that all banks give or take in one cycle
    double fillBytes = 64; ///< from the level-2 cache, a cycle

    // Resident at a time, and how they are allotted (occupancy.h).
    std::int32_t maxThreads = 0, maxBlocks = 0;
    std::int32_t registers = 65536;
    std::int64_t sharedBytes = 0; ///< for all blocks together
    std::int64_t maxBlockSharedBytes = 0; ///< with the attribute that asks for it
    std::int64_t arrayBytes = 0; ///< shared memory and the level-1 cache together

    // Of the whole GPU.
    std::int64_t cacheBytes = 0; ///< of level 2
    double cacheBytesPerCycle = 0;
    double memoryBytesPerSecond = 0;

    // Cycles from issue until a dependent instruction may issue, no other access on its way.
    double sharedLatency = 0, firstLatency = 0, secondLatency = 0, memoryLatency = 0;

    double launchGapSeconds = 0; ///< between the ends and starts of kernels in a graph
    double launchSeconds = 0; ///< likewise in a stream

    double peakFlops() const { return 2 * floatLanes * sms * boostHz; }
};

/// RTX A6000, A100 (SXM, 40 GB), H100 (SXM5, 80 GB), H200 (SXM), RTX 4090.
std::span<const GpuFacts> knownGpus();
/// By its name or its key; null: not known.
const GpuFacts* findGpu(std::string_view name);

} // namespace lathe::cuda
