#include "plugins/cuda/device/launch_limits.h"

namespace lathe::cuda {

std::uint64_t attributeOf(const Driver& driver, DeviceNumber device, int attribute)
{
    int value = 0;
    return driver.deviceGetAttribute(&value, attribute, device) == kSuccess && value > 0
               ? static_cast<std::uint64_t>(value)
               : 0;
}

LaunchLimits readLaunchLimits(const Driver& driver, DeviceNumber device)
{
    LaunchLimits limits;
    limits.mostThreads = attributeOf(driver, device, kMostThreadsOfBlock);
    for (int d = 0; d < 3; ++d) {
        limits.mostBlock[d] = attributeOf(driver, device, kMostBlockX + d);
        limits.mostGrid[d] = attributeOf(driver, device, kMostGridX + d);
    }
    const std::uint64_t usual = attributeOf(driver, device, kSharedOfBlock);
    const std::uint64_t asked = attributeOf(driver, device, kSharedOfBlockAtMost);
    limits.sharedBytes = asked > usual ? asked : usual;
    return limits;
}

bool canStart(const LaunchLimits& limits, const char* kernel, const std::uint64_t (&grid)[3],
              const std::uint64_t (&block)[3], std::uint64_t sharedBytes, runtime::ErrorText& why)
{
    const auto tooMany = [&](const char* what, char axis, std::uint64_t asked, std::uint64_t most) {
        why.set("kernel %.200s has %llu %s along %c; this device starts at most %llu", kernel,
                static_cast<unsigned long long>(asked), what, axis, static_cast<unsigned long long>(most));
        return false;
    };
    std::uint64_t threads = 1;
    for (std::size_t d = 0; d < 3; ++d) {
        if (__builtin_mul_overflow(threads, block[d], &threads))
            threads = UINT64_MAX;
        if (block[d] > limits.mostBlock[d])
            return tooMany("threads of a block", "xyz"[d], block[d], limits.mostBlock[d]);
        if (grid[d] > limits.mostGrid[d])
            return tooMany("blocks", "xyz"[d], grid[d], limits.mostGrid[d]);
    }
    if (threads > limits.mostThreads) {
        why.set("a block of kernel %.200s has %llu threads; this device starts at most %llu", kernel,
                static_cast<unsigned long long>(threads), static_cast<unsigned long long>(limits.mostThreads));
        return false;
    }
    if (sharedBytes > limits.sharedBytes) {
        why.set("a block of kernel %.200s needs %llu bytes of shared memory; this device has %llu", kernel,
                static_cast<unsigned long long>(sharedBytes), static_cast<unsigned long long>(limits.sharedBytes));
        return false;
    }
    return true;
}

} // namespace lathe::cuda
