#pragma once

#include "core/ir/loop_nest.h"
#include "core/support/result.h"

#include <cstdint>
#include <string_view>

namespace lathe::sim {

/// The machine that the simulator pretends to be. JSON (-cost=FILE) may set each field by its name.
struct Machine
{
    double ghz = 3;
    double cores = 8;
    double lanes = 16; ///< of 4 bytes
    double vectorRegisters = 32;
    double l1Bytes = 32768, l2Bytes = 1 << 20, l3Bytes = 16 << 20;
    double l2BytesPerCycle = 24, l3BytesPerCycle = 10, memoryBytesPerCycle = 4;
    double dispatchNs = 2000;
    double ruggedness = 0.1; ///< how far the time of one nest may lie from the formula, either way
    std::uint64_t seed = 0;

    static Result<Machine> fromJson(std::string_view text);
};

/// Time of one run in nanoseconds: a formula over the loops with the cliffs that real machines have (cache capacities,
/// vector width and tails, registers, parallel width, code size), times a factor that follows from the nest's text and
/// the seed. The same nest always gives the same time, whatever its name.
double modelTimeNs(const ir::LoopNest& nest, const Machine& machine);

/// Expression and statement executions of one run: what interpreting it costs.
double interpretationSteps(const ir::LoopNest& nest);

} // namespace lathe::sim
