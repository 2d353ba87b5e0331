#include "plugins/cuda/model/occupancy.h"

#include <algorithm>

namespace lathe::cuda {
namespace {

constexpr std::int64_t kWarp = 32, kRegisterUnit = 256, kSharedUnit = 128, kDriverShared = 1024, kMostRegisters = 255;

std::int64_t roundedUp(std::int64_t value, std::int64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

} // namespace

Occupancy occupancyOf(const GpuFacts& gpu, std::int64_t threads, std::int32_t registers, std::int64_t sharedBytes)
{
    if (threads < 1 || threads > 1024 || registers < 0 || registers > kMostRegisters || sharedBytes < 0
        || sharedBytes > gpu.maxBlockSharedBytes)
        return {};
    const std::int64_t warps = (threads + kWarp - 1) / kWarp;
    const std::int64_t byThreads = gpu.maxThreads / (warps * kWarp);
    const std::int64_t ofWarp = roundedUp(std::max(registers, 1) * kWarp, kRegisterUnit);
    // The check before a launch takes a block to be spread over all partitions.
    if (ofWarp * roundedUp(warps, gpu.schedulers) > gpu.registers)
        return {};
    const std::int64_t byRegisters = gpu.registers / gpu.schedulers / ofWarp * gpu.schedulers / warps;
    const std::int64_t byShared = gpu.sharedBytes / roundedUp(sharedBytes + kDriverShared, kSharedUnit);
    const std::pair<std::int64_t, OccupancyLimit> limits[] = {{byThreads, OccupancyLimit::Threads},
                                                              {gpu.maxBlocks, OccupancyLimit::Blocks},
                                                              {byRegisters, OccupancyLimit::Registers},
                                                              {byShared, OccupancyLimit::SharedMemory}};
    const auto& least = *std::min_element(std::begin(limits), std::end(limits),
                                          [](const auto& a, const auto& b) { return a.first < b.first; });
    if (least.first < 1)
        return {};
    return {static_cast<std::int32_t>(least.first), static_cast<std::int32_t>(least.first * warps), least.second};
}

} // namespace lathe::cuda
