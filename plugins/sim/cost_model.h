#pragma once

#include "core/ir/loop_nest.h"
#include "core/support/result.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::sim {

/// The processor that the simulator pretends to be (launch_cost.h has the GPU). JSON (-cost=FILE) may set each field by
/// its name.
struct CpuMachine
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

    static Result<CpuMachine> fromJson(std::string_view text);
};

/// Time of one run in nanoseconds: a formula over the loops with the cliffs that real machines have (cache capacities,
/// vector width and tails, registers, parallel width, code size), times a factor that follows from the nest's text and
/// the seed. The same nest always gives the same time, whatever its name.
double modelTimeNs(const ir::LoopNest& nest, const CpuMachine& machine);

/// Expression and statement executions of one run, of phases or of all threads of launches: what interpreting it costs.
double interpretationSteps(const ir::LoopNest& nest);

// What both formulas are made of.

struct Access
{
    std::int32_t buffer;
    std::vector<ir::Expr> indices;
    bool store;
};

/// Numeric value of an index expression with given values of variables; others are zero.
double valueAt(const ir::Expr& e, const std::map<const ir::Node*, double>& at);
/// Adds the loads of an expression, and how many operations it takes beside those of indices. What `isCounted` says of
/// is left out, with all that is in it.
void collect(const ir::Expr& e, std::vector<Access>& accesses, double& operations,
             const std::function<bool(const ir::Expr&)>& isCounted = {});
/// What no formula explains: a factor in [1 - amount, 1 + amount].
double rugged(const ir::LoopNest& nest, std::uint64_t seed, double amount);
/// Sets numbers by the names that a cost file gives them. Errors: BadFile.
Result<> setFields(std::string_view json, const std::map<std::string, double*>& fields);

} // namespace lathe::sim
