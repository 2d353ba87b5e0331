#pragma once

#include "core/ir/loop_nest.h"
#include "core/target/target.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace lathe::schedule {

/// What one multiprocessor of an NVIDIA GPU has room for (more registers than leave as many blocks there are not taken
/// without need), and in what the architectures differ beside that.
struct NvidiaRoom
{
    std::int64_t threads = 2048, blocks = 32; ///< resident at a time
    std::int64_t sharedBytes = 164 << 10;
    bool hasAsyncCopies = false; ///< to shared memory, past the registers; else they are loads and stores
    bool hasDescriptors = false; ///< of memory, which accesses name beside their address

    /// Of an NVIDIA GPU, by the limits of its hardware: those of its driver, else those of its compute capability.
    /// Nothing: the limits are of another device, or do not tell what it is.
    static std::optional<NvidiaRoom> of(const Hardware& hardware);
};

/// Of 32 bits, of a thread.
struct NvidiaRegisters
{
    std::int32_t taken = 0; ///< by the compiler, 255 at most and no more than a block can have
    std::int32_t needed = 0; ///< at least; where that is more than is taken, some are spilled
};

/// How many registers NVIDIA's compiler takes for each thread of a launch whose text printCuda() writes: an estimate,
/// by which values live how long (live_values.h). What loads may come early for is taken as long as a multiprocessor
/// holds as many blocks; beyond that, what is needed and a quarter more, up to the next count at which it holds fewer.
/// Where the launch is to leave room for a number of blocks, that is the count, unless more is needed: then the text is
/// compiled without it (plugins/cuda/codegen/nvrtc.h).
///
/// Its few constants were set by what NVRTC 13.5 makes of random candidates of resnet-18's and mobilenet's tasks, seeds
/// 11 and 12 of tests/bench/cuda_kernels; how near it is to those of seeds that nothing was set by, its README.md
/// tells. Worst are launches of the templates that leave their sums in local memory, straight code of a thousand
/// statements, and loops of which the compiler loads all ahead although fewer blocks fit then.
///
/// A launch takes a third of a millisecond on average, large ones up to twenty.
NvidiaRegisters estimateNvidiaRegisters(const ir::LoopNest& nest, const ir::Launch& launch, const NvidiaRoom& room);

/// Registers of a thread with which a multiprocessor holds as many blocks as without any, and the steps above: with one
/// register more than a step it holds less. Ascending, the last one is the most that a thread of such a block can have.
/// Registers are given out by 8 to each thread of a warp, a quarter of 65,536 to the warps of each of four schedulers.
/// @param sharedBytes  of a block, as far as the compiler knows of them
std::vector<std::int32_t> nvidiaRegisterSteps(const NvidiaRoom& room, std::int64_t threads, std::int64_t sharedBytes);

} // namespace lathe::schedule
