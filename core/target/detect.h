#pragma once

#include "core/target/target.h"

#include <filesystem>

namespace lathe {

/// What the kernel tells of this machine's CPU below `root` (proc/cpuinfo, sys/devices/system/cpu): vector width and
/// registers, caches, line size, physical cores, clock. A figure that it does not tell comes from a cautious preset,
/// and its origin says so. Hybrid machines are described by CPU 0.
Hardware detectHardware(const std::filesystem::path& root = "/");

/// Threads of this process that can run at once, by its affinity mask and the quotas of its control groups: at least 1.
unsigned availableThreads(const std::filesystem::path& root = "/");

} // namespace lathe
