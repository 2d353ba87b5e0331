#pragma once

#include "tests/cuda_driver/driver/cuda_api.h"

#include <optional>
#include <string>
#include <vector>

namespace lathe::cuda_driver {

/// A device that is pretended. What the environment does not say is as of a small GPU of that compute capability.
struct Device
{
    int ordinal = 0; // as the caller counts
    int physical = 0; // before CUDA_VISIBLE_DEVICES
    unsigned capability = 80; // 10 * major + minor
    uint64_t memoryBytes = 0;
    unsigned multiprocessors = 0;
    double clockHz = 0;
    double bandwidth = 0; // bytes per second
    unsigned lanes = 64; // float32 additions of a multiprocessor in a clock
    unsigned threadsPerMultiprocessor = 2048, blocksPerMultiprocessor = 32;
    unsigned sharedPerMultiprocessor = 0, sharedPerBlockOptin = 0;
    unsigned l2Bytes = 0;
    bool lost = false;

    std::string name() const;
    Uuid uuid() const;
    std::string pciBusId() const;
    std::optional<int> attribute(int which) const;
};

constexpr unsigned kRegistersPerMultiprocessor = 65536;
constexpr unsigned kDefaultShared = 48 << 10;
constexpr unsigned kMaxThreads = 1024;

/// What the environment says; README.md lists the names.
struct Settings
{
    int version = 13050; // of cuDriverGetVersion
    std::string logFile;
    bool strict = false, counters = false, checked = true, reuse = true;
    enum class Copies
    {
        Eager,
        Lazy,
        Both
    } copies = Copies::Eager;
    uint64_t hangAt = 0, lostAt = 0, eccAt = 0; // launches of this process, from 1
    uint64_t mostWarpInstructions = 0;
    std::vector<Device> devices; // those that CUDA_VISIBLE_DEVICES shows
};

/// Reads the environment, once for a process.
Settings readSettings();

} // namespace lathe::cuda_driver
