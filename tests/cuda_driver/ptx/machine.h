#pragma once

#include "tests/cuda_driver/ptx/device_memory.h"
#include "tests/cuda_driver/ptx/findings.h"
#include "tests/cuda_driver/ptx/program.h"

#include <optional>
#include <span>

namespace lathe::ptx {

struct Size3
{
    uint32_t x = 1, y = 1, z = 1;
    uint64_t count() const { return uint64_t(x) * y * z; }
};

/// When the data of cp.async arrive. A device may do either, and anything between.
enum class AsyncArrival : uint8_t
{
    AtIssue,
    AtWait,
};

/// What is counted of a launch.
struct Counters
{
    uint64_t warpInstructions = 0;
    uint64_t threadInstructions = 0;
    uint64_t flops = 0; // of floating-point numbers: fma 2, add, mul, min and the like 1
    uint64_t sharedRequests = 0; // instructions of a warp
    uint64_t sharedWavefronts = 0; // that these need with 32 banks of 4 bytes
    uint64_t sharedIdeal = 0; // that they would need without a bank conflict
    uint64_t globalRequests = 0;
    uint64_t globalSectors = 0; // of 32 bytes
    uint64_t globalIdeal = 0; // sectors that the bytes asked for would fill
    uint64_t globalReadBytes = 0, globalWrittenBytes = 0;
    uint64_t atomics = 0; // of threads
    uint64_t barriers = 0; // of warps
    uint64_t divergentBranches = 0; // of warps

    uint64_t bankConflicts() const { return sharedWavefronts - sharedIdeal; }
};

struct LaunchRequest
{
    std::shared_ptr<const Program> program;
    const Kernel* kernel = nullptr;
    std::span<const uint64_t> globals; // addresses of Program::globals
    Size3 grid, block;
    uint32_t dynamicShared = 0; // bytes
    std::span<const uint8_t> parameters; // Kernel::parameterBytes of them
    AsyncArrival arrival = AsyncArrival::AtIssue;
    bool checked = true; // races and uninitialized reads; bounds always are
    bool quick = true; // whether it may be run the quick way (quick.h): the same but for the time that it takes
    uint32_t multiprocessors = 1;
    uint64_t mostWarpInstructions = uint64_t(1) << 40; // then Timeout
};

struct LaunchReport
{
    Counters counters;
    Findings findings;
    struct Ended
    {
        FaultKind kind;
        unsigned line;
        std::string text; // one sentence
    };
    std::optional<Ended> fault;
    bool wasQuick = false;
    std::vector<uint64_t> read, written; // the allocations of global memory that it did so to
    bool isRepeatable = true; // nothing but these and the request decides what it does
};

/// Runs a grid, one block after the other, each warp in lockstep with masks. Deterministic.
/// Threads: one launch at a time per DeviceMemory.
LaunchReport runLaunch(const LaunchRequest& request, DeviceMemory& memory);

} // namespace lathe::ptx
