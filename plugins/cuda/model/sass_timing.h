#pragma once

#include "plugins/cuda/model/sass.h"

#include <cstdint>
#include <functional>
#include <span>

namespace lathe::cuda {

/// What one access to memory takes of a warp that has the processor to itself.
struct AccessTiming
{
    double cycles = 0; ///< that the access keeps the way to memory busy
    double latency = 0; ///< until its result may be used
};
/// Of instruction `i` of the kernel. Asked for instructions that access memory alone.
using AccessTimings = std::function<AccessTiming(std::size_t i)>;

struct WarpCycles
{
    /// Of its scheduler: what a stream of such warps takes, each cycle of which one of them is ready. An instruction
    /// takes one, and more where its operands' registers are in one bank.
    double issue = 0;
    double alone = 0; ///< from the first instruction to the last, if the warp is the only one
};

/// Cycles that a warp needs for one steady pass through instructions that follow each other, as a loop's body does
/// (`repeats`), or for going through them once.
///
/// Two models, both of Huerta et al., "Analyzing Modern NVIDIA GPU cores" (arXiv 2503.20481):
/// - Registers (5.3): two banks with one read a cycle each; an instruction of fixed latency reads its operands within
///   three cycles, and waits in front of that until the banks have room. What an instruction marked as reused stays for
///   the next one of the warp that has the same register in the same operand's place.
/// - Dependences (4): stall cycles after an instruction; six counters that rise with loads and stores and fall when
///   these have read or written, on which later instructions wait. Loads queue for the address unit, one each 4
///   cycles, five at most (5.4).
///
/// Errors: Unsupported if an instruction has no control (the text was made without -hex). A pure function.
Result<WarpCycles> warpCyclesOf(std::span<const SassInstruction> instructions, std::span<const std::size_t> indices,
                                bool repeats, const AccessTimings& timings);

} // namespace lathe::cuda
