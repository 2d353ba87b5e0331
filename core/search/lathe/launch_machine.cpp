#include "core/search/lathe/launch_machine.h"

#include "core/target/presets.h"

#include <algorithm>

namespace lathe::search {

LaunchMachine::LaunchMachine(const Hardware& hardware, std::string_view family)
{
    const auto limit = [&hardware](const char* name, std::int64_t fallback) {
        const std::int64_t known = hardware.get(name);
        return known > 0 ? known : fallback;
    };
    maxThreads = limit("max_threads_per_block", maxThreads);
    sharedBytes = hardware.get("max_shared_memory_per_block", sharedBytes);
    maxVirtual = limit("max_vthread_extent", maxVirtual);
    vectorBytes = limit("vector_unit_bytes", vectorBytes);
    asyncCopies = hardware.get("async_copies") > 0;
    joinsLoads = countsBlocks = hardware.get("compute_capability") > 0; // by CUDA (core/backend/source_cuda.cpp)
    if (!hasMemoryOfBlocks(family)) {
        hasSharedMemory = false;
        registers = 64;
        warp = 16;
        cores = 12;
        lanes = 16;
        coreThreads = 768;
        coreRegisters = 24576;
        cyclesPerSecond = 0.8e9;
        memoryBytesPerCycle = 30;
        cacheBytesPerCycle = 400;
        latency = 250;
        launchSeconds = 3e-5;
    }
    // Presets say 1 where it is not known.
    if (const std::int64_t told = hardware.get("warp_size"); told > 1)
        warp = told;
    shuffles = std::max<std::int64_t>(0, hardware.get("shuffle_width"));
    if (const std::int64_t width = hardware.get("simd_width"); width > 0) {
        isProcessor = true;
        warp = width;
        // What LaunchFacts::registers has beside sums and operands is in registers for integers here. 16 vector
        // registers, 32 where vectors are of 64 bytes; operands that a step reads once need none.
        registers = 20 + (width >= 16 ? 40 : 20);
        mostWritten = 192; // such drivers' compilers need a millisecond for each
        lanes = 2 * static_cast<double>(width);
        coreBlocks = 1;
        coreThreads = 1;
        coreRegisters = 1e9;
        cyclesPerSecond = 3e9;
        latency = 8;
        launchSeconds = 1e-5;
    }
    cores = static_cast<double>(limit("num_cores", static_cast<std::int64_t>(cores)));
    if (const std::int64_t told = hardware.get("clock_mhz"); told > 0)
        cyclesPerSecond = static_cast<double>(told) * 1e6;
    // What is known of one core of this GPU.
    const auto figure = [&hardware](const char* name, double& value) {
        if (const std::int64_t told = hardware.get(name); told > 0)
            value = static_cast<double>(told);
    };
    figure("lanes_per_core", lanes);
    figure("threads_per_core", coreThreads);
    figure("blocks_per_core", coreBlocks);
    figure("registers_per_core", coreRegisters);
    figure("shared_memory_per_core", coreShared);
    figure("memory_bytes_per_cycle", memoryBytesPerCycle);
    figure("cache_bytes_per_cycle", cacheBytesPerCycle);
    registers = limit("registers_per_thread", registers);
    if (isProcessor) {
        memoryBytesPerCycle = 5 * cores;
        cacheBytesPerCycle = 48 * cores;
    }
    coreThreads = std::max(coreThreads, static_cast<double>(maxThreads));
    coreShared = std::max(coreShared, static_cast<double>(sharedBytes));
}

} // namespace lathe::search
