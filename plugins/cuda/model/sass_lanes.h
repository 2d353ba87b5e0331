#pragma once

#include "plugins/cuda/model/access_pattern.h"
#include "plugins/cuda/model/sass.h"
#include "plugins/cuda/model/sass_lane_step.h"

#include <array>
#include <cstdint>
#include <map>
#include <vector>

namespace lathe::cuda {

using Lanes = std::array<std::uint32_t, kWarpLanes>;
using ConstantBank = std::map<std::uint32_t, std::uint32_t>; ///< words of constant bank 0 by their offset in bytes

struct WarpPlace
{
    std::array<Lanes, 3> thread{};
    std::array<std::uint32_t, 3> block{};
    std::uint32_t lanes = 0; ///< that exist
};

/// Which lanes an instruction runs in.
struct GuardState
{
    bool isKnown = true;
    bool isAlways = true; ///< no predicate in front
    bool isOperand = false; ///< the condition of a branch is an operand
    std::uint32_t lanes = 0;
};

/// The registers of a warp, each known for all lanes or not at all.
class LaneMachine
{
public:
    LaneMachine(const ConstantBank& constants, const WarpPlace& place);

    std::uint32_t lanes() const { return m_lanes; }
    /// These lanes end; whether any are left.
    bool leave(std::uint32_t lanes);
    GuardState guard(const SassInstruction& instruction) const;
    void execute(const SassInstruction& instruction, const LaneStep& step, const GuardState& guard);
    /// Those in which a copy to shared memory reads what it copies, by the predicate behind its operands: others write
    /// zeros. All where that is not known.
    std::uint32_t copiedLanes(const SassInstruction& copy) const;
    /// Byte addresses of an operand of memory; false: unknown.
    bool addresses(const SassOperand& operand, std::array<std::uint64_t, kWarpLanes>& at) const;

private:
    struct Word
    {
        Lanes lanes{};
        bool isKnown = false;
    };
    struct Flag
    {
        std::uint32_t lanes = 0;
        bool isKnown = false;
    };

    bool read(const SassOperand& operand, Lanes& value, bool isHigh = false) const;
    bool flag(const SassOperand& operand, std::uint32_t& lanes) const;
    void write(const SassOperand& result, const Lanes* value, const GuardState& guard, std::int32_t further = 0);
    void writeFlag(const SassOperand& result, const std::uint32_t* lanes, const GuardState& guard);
    bool compute(const SassInstruction& instruction, const LaneStep& step, const GuardState& guard);
    void forget(const SassInstruction& instruction, const LaneStep& step, const GuardState& guard);

    const ConstantBank& m_constants;
    const WarpPlace m_place;
    std::uint32_t m_lanes;
    std::vector<Word> m_registers, m_uniform;
    std::array<Flag, 8> m_predicates{}, m_uniformPredicates{};
};

} // namespace lathe::cuda
