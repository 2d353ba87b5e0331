#pragma once

#include "core/ir/loop_nest.h"
#include "core/support/result.h"

#include <cstdint>
#include <string_view>

namespace lathe::sim {

/// The GPU that the simulator pretends to be. JSON (-cost=FILE) may set each field by its name.
struct GpuMachine
{
    double ghz = 1.5;
    double cores = 40; ///< multiprocessors
    double warp = 32; ///< threads that take each step together
    double lanes = 64; ///< of 4 bytes, of one core
    double coreThreads = 1024; ///< resident in one core at most
    double coreBlocks = 16; ///< likewise
    double coreRegisters = 65536; ///< of 4 bytes
    double coreSharedBytes = 65536; ///< 0: shared memory is ordinary memory behind the caches
    double banks = 32; ///< of shared memory, 4 bytes wide
    double segmentBytes = 32; ///< what one access to memory moves at least
    double cacheBytesPerCycle = 800; ///< of all cores together
    double memoryBytesPerCycle = 260; ///< likewise
    double latencyCycles = 400; ///< of memory
    double vectorBytes = 16; ///< the widest access of a thread
    double scalarPenalty = 1; ///< of arithmetic that is not in vectors
    double launchNs = 4000; ///< between one launch and the next
    double ruggedness = 0.1; ///< how far the time of one nest may lie from the formula, either way
    std::uint64_t seed = 0;

    /// "cuda", "mali"; any other name: an OpenCL device of a desktop.
    static GpuMachine like(std::string_view name);
    /// Sets what the text names. Errors: BadFile.
    Result<> take(std::string_view json);
};

/// Time of one run of a nest of launches in nanoseconds: a formula over its statements with the cliffs that real GPUs
/// have (accesses of a warp that lie apart, conflicts of banks, blocks that do not fill the cores, registers and shared
/// memory that keep blocks out, a last wave that is half empty, gaps between launches), times a factor that follows
/// from the nest's text and the seed. The same nest always gives the same time, whatever its name.
double launchTimeNs(const ir::LoopNest& nest, const GpuMachine& machine);

} // namespace lathe::sim
