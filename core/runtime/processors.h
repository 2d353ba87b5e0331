#pragma once

#include <cstdint>

namespace lathe::runtime {

/// What control groups allow of this process: processors' worth of time, in thousandths (1500: one and a half), of the
/// tightest group from its own to the root, in versions 1 and 2 (cpu.cfs_quota_us by cpu.cfs_period_us; cpu.max).
/// UINT32_MAX: as much as there is. `root` stands before proc/self and the groups' folders; tests give another.
std::uint32_t processorQuota(const char* root = "");

/// Processors of this process's mask, at least 1.
std::uint32_t maskedProcessors();

/// How many threads of this process can run at once: as many as its mask has processors, and not more than its quota,
/// rounded up. At least 1.
std::uint32_t processorCount(const char* root = "");

} // namespace lathe::runtime
