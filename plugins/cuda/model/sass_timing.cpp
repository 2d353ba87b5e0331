#include "plugins/cuda/model/sass_timing.h"

#include "core/support/message.h"

#include <algorithm>
#include <array>

namespace lathe::cuda {
namespace {

constexpr std::size_t kBanks = 2, kPlaces = 3;
constexpr double kAddressCycles = 4, kQueued = 5;
/// Of instructions of variable latency that are no accesses: reciprocals, conversions, special registers (Abdelkhalik
/// et al., arXiv 2208.11174, table V: 18 to 40 cycles).
constexpr double kSpecialLatency = 24;

/// What is read of registers in which cycle.
class ReadPorts
{
public:
    /// The first cycle from `at` on in which an instruction with these operands can go on to read them.
    std::int64_t place(std::int64_t at, const SassInstruction& instruction)
    {
        std::array<std::int32_t, kBanks> reads{};
        std::size_t slot = 0;
        std::array<std::array<std::int32_t, kPlaces>, kBanks> after = m_kept;
        for (std::size_t i = 1; i < instruction.operands.size() && slot < kPlaces; ++i) {
            const SassOperand& operand = instruction.operands[i];
            if (operand.kind == SassOperandKind::Predicate || operand.kind == SassOperandKind::UniformPredicate)
                continue;
            const std::size_t place = slot++;
            if (operand.kind != SassOperandKind::Register || operand.index == kZeroRegister)
                continue;
            const auto bank = static_cast<std::size_t>(operand.index) % kBanks;
            if (m_kept[bank][place] != operand.index)
                ++reads[bank];
            after[bank][place] = operand.isReused ? operand.index : kNone;
        }
        m_kept = after;
        while (!fits(at, reads))
            ++at;
        for (std::size_t bank = 0; bank < kBanks; ++bank)
            for (std::int64_t cycle = at; reads[bank] > 0 && cycle < at + kWindow; ++cycle)
                if (m_taken[bank] < cycle) {
                    // Reads go in order, so that the last taken cycle tells all.
                    m_taken[bank] = cycle;
                    --reads[bank];
                }
        return at;
    }

private:
    static constexpr std::int32_t kNone = -1;
    static constexpr std::int64_t kWindow = 3;

    bool fits(std::int64_t at, const std::array<std::int32_t, kBanks>& reads) const
    {
        for (std::size_t bank = 0; bank < kBanks; ++bank)
            if (std::max(m_taken[bank] + 1, at) + reads[bank] > at + kWindow)
                return false;
        return true;
    }

    std::array<std::int64_t, kBanks> m_taken = {-1, -1}; ///< last cycle in which the bank is read
    std::array<std::array<std::int32_t, kPlaces>, kBanks> m_kept = {{{kNone, kNone, kNone}, {kNone, kNone, kNone}}};
};

bool isFixed(SassClass kind)
{
    switch (kind) {
    case SassClass::Ffma:
    case SassClass::Float:
    case SassClass::Half:
    case SassClass::Integer:
    case SassClass::IntegerMultiply:
    case SassClass::Move: return true;
    default: return false;
    }
}

bool isAccess(const SassInstruction& instruction)
{
    return instruction.bytes > 0 && instruction.kind != SassClass::ConstantLoad;
}

/// Goes through the instructions `rounds` times; the cycle at the end of each round.
std::vector<double> run(std::span<const SassInstruction> all, std::span<const std::size_t> indices, int rounds,
                        bool waits, const AccessTimings& timings)
{
    ReadPorts ports;
    std::array<double, 6> readyAt{};
    std::array<double, static_cast<std::size_t>(kQueued)> queue{}; // when the last accesses leave the address unit
    std::size_t queued = 0;
    double unitFree = 0, wayFree = 0;
    std::int64_t at = 0;
    std::vector<double> ends;
    for (int round = 0; round < rounds; ++round) {
        for (const std::size_t i : indices) {
            const SassInstruction& instruction = all[i];
            const SassControl& control = *instruction.control;
            if (waits)
                for (std::size_t counter = 0; counter < readyAt.size(); ++counter)
                    if ((control.waits >> counter & 1U) != 0)
                        at = std::max(at, static_cast<std::int64_t>(readyAt[counter] + 0.999));
            double done = static_cast<double>(at) + kSpecialLatency, read = done;
            if (isAccess(instruction)) {
                if (waits) {
                    at = std::max(at, static_cast<std::int64_t>(queue[queued % queue.size()] + 0.999));
                    const AccessTiming timing = timings(i);
                    const double start = std::max(static_cast<double>(at), unitFree);
                    unitFree = start + kAddressCycles;
                    queue[queued++ % queue.size()] = unitFree;
                    const double served = std::max(start, wayFree);
                    wayFree = served + timing.cycles;
                    done = served + timing.cycles + timing.latency;
                    read = start + kAddressCycles;
                }
            } else if (isFixed(instruction.kind)) {
                at = ports.place(at, instruction);
            }
            if (control.writeCounter >= 0)
                readyAt[static_cast<std::size_t>(control.writeCounter)] = std::max(
                    readyAt[static_cast<std::size_t>(control.writeCounter)], done);
            if (control.readCounter >= 0)
                readyAt[static_cast<std::size_t>(control.readCounter)] = std::max(
                    readyAt[static_cast<std::size_t>(control.readCounter)], read);
            at += waits ? std::max(control.stall, 1) : 1;
        }
        ends.push_back(static_cast<double>(at));
    }
    return ends;
}

} // namespace

Result<WarpCycles> warpCyclesOf(std::span<const SassInstruction> instructions, std::span<const std::size_t> indices,
                                bool repeats, const AccessTimings& timings)
{
    for (const std::size_t i : indices)
        if (!instructions[i].control)
            return makeError(Errc::Unsupported, say(Msg::CudaModelNoEncodings));
    const int rounds = repeats ? 4 : 1;
    const auto issue = run(instructions, indices, rounds, false, timings);
    const auto alone = run(instructions, indices, rounds, true, timings);
    const auto last = [repeats](const std::vector<double>& ends) {
        return repeats ? ends[ends.size() - 1] - ends[ends.size() - 2] : ends.back();
    };
    return WarpCycles{last(issue), last(alone)};
}

} // namespace lathe::cuda
