#pragma once

#include "plugins/cuda/model/sass.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace lathe::cuda {

enum class TripSource : std::uint8_t
{
    Code, ///< start, step and bound of the counter are constants of the machine code
    Caller, ///< the next of the extents that the caller gave
    Unknown ///< counted once
};

/// Instructions between the target of a backward branch and the branch. Branches to the same target make one loop.
struct SassLoop
{
    std::size_t first = 0, last = 0; ///< indices of instructions; both belong to it
    std::int32_t parent = -1; ///< the smallest loop around it; -1: none
    std::int32_t depth = 0; ///< loops around it
    std::uint64_t trips = 1; ///< each time that it is reached
    TripSource source = TripSource::Unknown;
};

/// Executions of one thread: by class, and of the instructions that move memory by their width.
struct SassCounts
{
    std::array<double, kSassClasses> by{};
    double total = 0;
    std::array<double, 3> sharedLoads{}, sharedStores{}, globalLoads{}, globalStores{}; ///< of 4 bytes or less, 8, 16

    double of(SassClass kind) const { return by[static_cast<std::size_t>(kind)]; }
    /// Of all instructions; 0 if there are none.
    double share(SassClass kind) const { return total > 0 ? of(kind) / total : 0; }
    void add(const SassInstruction& instruction, double times);
};

/// The loops of a kernel and how often its instructions run. Both sides of a branch that is no loop count as run, and
/// what stands behind the last EXIT (the assembler's padding) does not.
class SassProfile
{
public:
    /// Finds the loops of a kernel. A loop's trips follow from the code where one counter with a constant start and a
    /// constant step is compared with a constant; the loops for which they do not take `extents` in the order in which
    /// their first instructions stand. Extents that are left over are no error, for compilers unroll loops whole.
    /// Errors: Unsupported for two loops of which neither holds the other. A pure function.
    static Result<SassProfile> create(const SassKernel& kernel, std::span<const std::uint64_t> extents = {});

    const std::vector<SassLoop>& loops() const { return m_loops; } ///< outer ones first, then by position
    /// Executions of instruction `i` by one thread.
    double weight(std::size_t i) const { return m_weights[i]; }
    /// The innermost loop around an instruction; -1: none.
    std::int32_t loopOf(std::size_t i) const { return m_loopOf[i]; }
    /// Of the innermost loops the one in which most instructions are executed; -1: there is no loop.
    std::int32_t hotLoop() const { return m_hot; }
    bool allTripsKnown() const;

    /// All that a thread executes.
    const SassCounts& whole() const { return m_whole; }
    /// One pass through the hot loop, without what loops inside it do (it has none); of a kernel without a loop: all.
    const SassCounts& hot() const { return m_hotCounts; }

private:
    std::vector<SassLoop> m_loops;
    std::vector<double> m_weights;
    std::vector<std::int32_t> m_loopOf;
    std::int32_t m_hot = -1;
    SassCounts m_whole, m_hotCounts;
};

/// Instructions up to the last EXIT that is not behind a loop onto itself: what can run.
std::size_t sassCodeEnd(const SassKernel& kernel);

/// The integer that two constants in decimal notation stand for, of which HFMA2 makes a register. Nothing: one of them
/// is no number, and its bits are not told.
std::optional<std::uint32_t> halfPairBits(const SassOperand& high, const SassOperand& low);

} // namespace lathe::cuda
