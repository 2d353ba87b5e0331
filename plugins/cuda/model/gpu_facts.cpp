#include "plugins/cuda/model/gpu_facts.h"

#include <algorithm>

namespace lathe::cuda {
namespace {

// Sources:
//
// [G] CUDA C++ Programming Guide, tables "Technical Specifications per Compute Capability" (resident threads and
//     blocks, registers, shared memory) and "Throughput of Native Arithmetic Instructions" (lanes: results a cycle and
//     multiprocessor), and section "Compute Capability 8.x" (sizes of the unified array).
// [W102] NVIDIA Ampere GA102 GPU Architecture, whitepaper v2: the SM's four partitions of 16 lanes for float32 and 16
//     for float32 or integers; 16 load/store units; 128 KiB of level-1 cache and shared memory, 128 bytes a cycle;
//     512 KiB of level-2 cache at each of 12 memory controllers; appendix on RTX A6000 (84 SMs, 768 GB/s).
// [W100] NVIDIA A100 Tensor Core GPU Architecture, whitepaper: 108 SMs of 64 lanes, 32 load/store units each, 1410 MHz,
//     40 MiB of level-2 cache, 5120 bytes read from it a cycle, 1555 GB/s, 192 KiB array.
// [W90] NVIDIA H100 Tensor Core GPU Architecture, whitepaper: SXM5 with 132 SMs of 128 lanes, 66.9 TFLOP/s of
//     float32 (that is 1980 MHz), 50 MiB, 3352 GB/s, 256 KiB array.
// [W89] NVIDIA Ada GPU Architecture, whitepaper, appendix A: RTX 4090 with 128 SMs, 2520 MHz boost, 2235 MHz base, 72
// MiB
//     of level-2 cache, 1008 GB/s, 128 KiB array.
// [D] Data sheets: RTX A6000 1410 MHz base, 1800 MHz boost; A100 SXM 1095 MHz base; H100 SXM 1590 MHz base; H200 SXM
//     4.8 TB/s and the H100's 67 TFLOP/s of float32 (its base clock is not given and taken to be the same).
// [H] Huerta et al., "Analyzing Modern NVIDIA GPU cores" (arXiv 2503.20481), measured on an RTX A6000, sections 5.3
//     and 5.4: one access to the shared structures every 2 cycles (table 1); loads from shared memory 24 cycles and
//     from the level-1 cache 32 cycles, 2 and 6 more for 128 bits (table 2).
// [L] Luo et al., "Benchmarking and Dissecting the Nvidia Hopper GPU Architecture" (IPDPS 2024, arXiv 2402.13499),
//     tables IV and V: latencies of RTX 4090, A100, H800 (shared 30.1, 29.0, 29.0; level 1 43.4, 37.9, 40.7; level 2
//     273.0, 261.5, 263.0; memory 541.5, 466.3, 478.8 cycles) and what the level-2 cache gives (1708, 2008, 3942 bytes
//     a cycle for loads of 128 bits). An H100 is taken to be as an H800 there.
// [Y] github.com/YKTian-x2b/AmpereArchViaMicroBenchMark, RTX 3060 (sm_86): level 2 219 to 222 cycles, memory 475 to 530
//     cycles with the translation at hand, 1276 GB/s from a level-2 cache of 3 MiB at 1777 MHz: 718 bytes a cycle.
//     GA102 has twice the controllers and twice the cache, so twice of that.
// [B] A. Gray, "Getting Started with CUDA Graphs" (NVIDIA technical blog, 2019): kernels of 2.9 us take 3.8 us each in
//     a stream and 3.4 us in a graph (V100).
constexpr double kGraphGap = 0.5e-6, kStreamGap = 0.9e-6; // [B]
constexpr std::int64_t kKiB = 1024, kMiB = 1024 * 1024;

constexpr GpuFacts kH100 = {.name = "H100",
                            .key = "h100",
                            .capability = 90,
                            .sms = 132, // [W90]
                            .boostHz = 1.980e9, // [W90]: 66.9 TFLOP/s
                            .baseHz = 1.590e9, // [D]
                            .floatLanes = 128, // [G] [W90]
                            .integerLanes = 64, // [G]
                            .doubleLanes = 64, // [G]
                            .halfLanes = 128, // [G]: 256 results
                            .specialLanes = 16, // [G]
                            .accessLanes = 32, // [W90]
                            .maxThreads = 2048, // [G]
                            .maxBlocks = 32, // [G]
                            .sharedBytes = 228 * kKiB, // [G]
                            .maxBlockSharedBytes = 227 * kKiB, // [G]
                            .arrayBytes = 256 * kKiB, // [W90]
                            .cacheBytes = 50 * kMiB, // [W90]
                            .cacheBytesPerCycle = 3942, // [L]
                            .memoryBytesPerSecond = 3352e9, // [W90]
                            .sharedLatency = 29.0, // [L]
                            .firstLatency = 40.7, // [L]
                            .secondLatency = 263.0, // [L]
                            .memoryLatency = 478.8, // [L]
                            .launchGapSeconds = kGraphGap,
                            .launchSeconds = kStreamGap};

/// The H100's chip with other memory [D].
constexpr GpuFacts h200()
{
    GpuFacts facts = kH100;
    facts.name = "H200";
    facts.key = "h200";
    facts.memoryBytesPerSecond = 4.8e12;
    return facts;
}

constexpr GpuFacts kGpus[] = {
    {.name = "RTX A6000",
     .key = "a6000",
     .capability = 86,
     .sms = 84, // [W102]
     .boostHz = 1.800e9, // [D]
     .baseHz = 1.410e9, // [D]
     .floatLanes = 128, // [G] [W102]
     .integerLanes = 64, // [G]
     .integersShareLanes = true, // [W102]
     .doubleLanes = 2, // [G]
     .halfLanes = 64, // [G]: 128 results
     .specialLanes = 16, // [G]
     .accessLanes = 16, // [W102] [H]
     .maxThreads = 1536, // [G]
     .maxBlocks = 16, // [G]
     .sharedBytes = 100 * kKiB, // [G]
     .maxBlockSharedBytes = 99 * kKiB, // [G]
     .arrayBytes = 128 * kKiB, // [G] [W102]
     .cacheBytes = 6 * kMiB, // [W102]
     .cacheBytesPerCycle = 1436, // [Y]
     .memoryBytesPerSecond = 768e9, // [W102]
     .sharedLatency = 24, // [H]
     .firstLatency = 32, // [H]
     .secondLatency = 220, // [Y]
     .memoryLatency = 520, // [Y]
     .launchGapSeconds = kGraphGap,
     .launchSeconds = kStreamGap},
    {.name = "A100",
     .key = "a100",
     .capability = 80,
     .sms = 108, // [W100]
     .boostHz = 1.410e9, // [W100]
     .baseHz = 1.095e9, // [D]
     .floatLanes = 64, // [G] [W100]
     .integerLanes = 64, // [G]
     .doubleLanes = 32, // [G]
     .halfLanes = 128, // [G]: 256 results
     .specialLanes = 16, // [G]
     .accessLanes = 32, // [W100]
     .maxThreads = 2048, // [G]
     .maxBlocks = 32, // [G]
     .sharedBytes = 164 * kKiB, // [G]
     .maxBlockSharedBytes = 163 * kKiB, // [G]
     .arrayBytes = 192 * kKiB, // [G] [W100]
     .cacheBytes = 40 * kMiB, // [W100]
     .cacheBytesPerCycle = 2008, // [L]; the whitepaper's 5120 is reached by no load measured there
     .memoryBytesPerSecond = 1555e9, // [W100]
     .sharedLatency = 29.0, // [L]
     .firstLatency = 37.9, // [L]
     .secondLatency = 261.5, // [L]
     .memoryLatency = 466.3, // [L]
     .launchGapSeconds = kGraphGap,
     .launchSeconds = kStreamGap},
    kH100,
    h200(),
    {.name = "RTX 4090",
     .key = "rtx4090",
     .capability = 89,
     .sms = 128, // [W89]
     .boostHz = 2.520e9, // [W89]
     .baseHz = 2.235e9, // [W89]
     .floatLanes = 128, // [G] [W89]
     .integerLanes = 64, // [G]
     .integersShareLanes = true, // [W89]
     .doubleLanes = 2, // [G]
     .halfLanes = 64, // [G]: 128 results
     .specialLanes = 16, // [G]
     .accessLanes = 16, // [W89]
     .maxThreads = 1536, // [G]
     .maxBlocks = 24, // [G]
     .sharedBytes = 100 * kKiB, // [G]
     .maxBlockSharedBytes = 99 * kKiB, // [G]
     .arrayBytes = 128 * kKiB, // [G] [W89]
     .cacheBytes = 72 * kMiB, // [W89]
     .cacheBytesPerCycle = 1708, // [L]
     .memoryBytesPerSecond = 1008e9, // [W89]
     .sharedLatency = 30.1, // [L]
     .firstLatency = 43.4, // [L]
     .secondLatency = 273.0, // [L]
     .memoryLatency = 541.5, // [L]
     .launchGapSeconds = kGraphGap,
     .launchSeconds = kStreamGap},
};

} // namespace

std::span<const GpuFacts> knownGpus()
{
    return kGpus;
}

const GpuFacts* findGpu(std::string_view name)
{
    const auto* const found = std::find_if(std::begin(kGpus), std::end(kGpus),
                                           [name](const GpuFacts& g) { return g.name == name || g.key == name; });
    return found == std::end(kGpus) ? nullptr : found;
}

} // namespace lathe::cuda
