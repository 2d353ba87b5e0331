#include "core/target/nvidia_core.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace lathe {
namespace {

struct Core
{
    std::int64_t capability; ///< from which on this holds
    std::int64_t lanes, threads, blocks, sharedKiB;
    double memoryBytesPerCycle;
};

constexpr Core kCores[] = {
    {50, 128, 2048, 32, 64, 7.0},   {52, 128, 2048, 32, 96, 7.0},   {60, 64, 2048, 32, 64, 9.8},
    {61, 128, 2048, 32, 96, 9.0},   {70, 64, 2048, 32, 96, 7.4},    {75, 64, 1024, 16, 64, 5.9},
    {80, 64, 2048, 32, 164, 10.2},  {86, 128, 1536, 16, 100, 5.1},  {87, 128, 1536, 16, 164, 5.1},
    {89, 128, 1536, 24, 100, 3.1},  {90, 128, 2048, 32, 228, 12.8}, {100, 128, 2048, 32, 228, 27.0},
    {120, 128, 1536, 24, 100, 4.4},
};
constexpr std::int64_t kRegisters = 65536, kMostRegisters = 255; ///< of a core and of a thread, since 5.0
constexpr double kCacheBeforeMemory = 3;

} // namespace

Hardware nvidiaCores(std::int64_t capability, std::int64_t cores)
{
    Hardware hardware;
    const auto after = std::upper_bound(std::begin(kCores), std::end(kCores), capability,
                                        [](std::int64_t c, const Core& core) { return c < core.capability; });
    if (after == std::begin(kCores))
        return hardware;
    const Core& core = *std::prev(after);
    const std::string origin = fmt::format("compute capability {}.{}", capability / 10, capability % 10);
    const auto put = [&](const char* name, std::int64_t value) { hardware.limits[name] = {value, origin}; };
    const double memory = core.memoryBytesPerCycle * static_cast<double>(cores);
    put("lanes_per_core", core.lanes);
    put("threads_per_core", core.threads);
    put("blocks_per_core", core.blocks);
    put("registers_per_core", kRegisters);
    put("registers_per_thread", kMostRegisters);
    put("shared_memory_per_core", core.sharedKiB * 1024);
    put("memory_bytes_per_cycle", static_cast<std::int64_t>(memory));
    put("cache_bytes_per_cycle", static_cast<std::int64_t>(memory * kCacheBeforeMemory));
    return hardware;
}

} // namespace lathe
