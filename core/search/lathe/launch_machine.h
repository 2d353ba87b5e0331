#pragma once

#include "core/target/target.h"

#include <cstdint>
#include <string_view>

namespace lathe::search {

/// What the analytical estimate knows of a GPU: limits that a device tells or a preset has, and figures of a middling
/// device of its family for all that it does not tell. The estimate only ranks; what is measured decides.
struct LaunchMachine
{
    // Limits, which a candidate must obey.
    std::int64_t maxThreads = 256; ///< of a block
    std::int64_t sharedBytes = 32768; ///< of a block
    std::int64_t maxVirtual = 1; ///< virtual threads
    std::int64_t vectorBytes = 16; ///< that a thread moves at once
    std::int64_t registers = 128; ///< of a thread, of 4 bytes: more are spilled
    /// Shared memory is nearer than what lies behind it. On Mali it is the same memory.
    bool hasSharedMemory = true;
    bool asyncCopies = false; ///< to it, which threads need not wait for
    bool joinsLoads = false; ///< a text loads at once from memory what steps that are written out read side by side
    bool countsBlocks = false; ///< the compiler is told for how many blocks a core is to have room

    /// The threads of a block are loops on a processor's cores, whose driver puts `warp` of them in a vector.
    bool isProcessor = false;
    double mostWritten = 512; ///< statements that are written out

    std::int64_t warp = 32; ///< threads that take each step together
    std::int64_t shuffles = 0; ///< threads of a warp that exchange registers; 0: none do
    double cores = 32;
    double lanes = 64; ///< of 4 bytes, of one core
    double coreThreads = 1024; ///< resident in one core
    double coreBlocks = 16; ///< likewise
    double coreRegisters = 65536;
    double coreShared = 65536; ///< bytes
    double cyclesPerSecond = 1.4e9;
    double memoryBytesPerCycle = 200; ///< of all cores together
    double cacheBytesPerCycle = 700; ///< likewise, from the last cache
    double latency = 400; ///< cycles until memory answers
    double launchSeconds = 5e-6; ///< between one launch and the next

    /// @param family as Target::family()
    LaunchMachine(const Hardware& hardware, std::string_view family);
};

} // namespace lathe::search
