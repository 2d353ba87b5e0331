#pragma once

#include "plugins/cuda/model/sass.h"

#include <cstdint>

namespace lathe::cuda {

/// What an instruction does to integers. The uniform unit's instructions have the same names with a U in front.
enum class LaneOperation : std::uint8_t
{
    Nothing, ///< its results are unknown afterwards
    Copy,
    Zero, ///< CS2R of SRZ
    Special, ///< a special register
    HalfConstant,
    Sum,
    Sum64,
    Product,
    WideProduct,
    HighProduct,
    ShiftedSum, ///< LEA
    ShiftedSumHigh, ///< LEA.HI
    Shift,
    Logic,
    Compare,
    Select,
    Minimum,
    Permute,
    LoadConstant,
    FirstLane, ///< R2UR
    Predicates, ///< P2R
    SetPredicates, ///< R2P
    PredicateLogic, ///< PLOP3
    ByteProduct ///< IDP.2A of halves and bytes without signs
};

/// An operation with what its modifiers say, found out once: warps come by it thousands of times.
struct LaneStep
{
    enum Modifier : std::uint32_t
    {
        X = 1, ///< adds a carry
        U32 = 2,
        Hi = 4,
        Left = 8,
        Bits64 = 16,
        Bits128 = 32,
        Bits32 = 64,
        S32 = 128,
        S64 = 256,
        U64 = 512,
        Or = 1024,
        Xor = 2048,
        Ex = 4096,
        Lt = 8192,
        Le = 16384,
        Gt = 32768,
        Ge = 65536,
        Ne = 131072,
        Sx32 = 262144 ///< the upper half is the lower one's sign
    };

    LaneOperation operation = LaneOperation::Nothing;
    std::uint32_t modifiers = 0;
    std::int32_t results = 1; ///< registers that it writes; 0: none
    std::int32_t flags = 0; ///< predicates that it writes in front of all else, where it writes no register

    bool has(Modifier modifier) const { return (modifiers & modifier) != 0; }
};
LaneStep laneStepOf(const SassInstruction& instruction);

} // namespace lathe::cuda
