#pragma once

#include "core/support/result.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::cuda {

/// What an instruction of the machine is for, as far as times go.
enum class SassClass : std::uint8_t
{
    Ffma, ///< product and sum of float32
    Float, ///< other arithmetic of float32
    Double,
    Half, ///< packed arithmetic of float16, unless it only makes a constant
    Matrix, ///< tensor cores
    Integer, ///< sums, shifts, logic, comparisons: addresses and counters
    IntegerMultiply, ///< products, wide ones too
    Move, ///< copies, constants, selections
    Special, ///< reciprocals, roots, exponentials, conversions
    Uniform, ///< of a warp, on its own scalar unit
    SharedLoad,
    SharedStore,
    GlobalLoad,
    GlobalStore,
    AsyncCopy, ///< from global to shared memory
    LocalLoad, ///< spilled registers, arrays of a thread
    LocalStore,
    ConstantLoad,
    Atomic,
    Shuffle,
    Barrier,
    Branch,
    Other
};
inline constexpr std::size_t kSassClasses = static_cast<std::size_t>(SassClass::Other) + 1;
std::string_view toString(SassClass kind);

enum class SassOperandKind : std::uint8_t
{
    Register, ///< index; kZeroRegister reads as 0
    UniformRegister,
    Predicate, ///< index; kTruePredicate is always true
    UniformPredicate,
    Immediate, ///< value: an integer, or the bits of a float32
    Constant, ///< c[bank][offset + register]: index, value, base
    Memory, ///< [base + uniform + value]
    Special, ///< SR_TID.X ...: text
    Label, ///< of a branch: value is the address
    Other
};

inline constexpr std::int32_t kZeroRegister = 255;
inline constexpr std::int32_t kTruePredicate = 7;

struct SassOperand
{
    SassOperandKind kind = SassOperandKind::Other;
    std::int32_t index = 0;
    std::int64_t value = 0;
    std::int32_t base = kZeroRegister; ///< register of an address
    std::int32_t uniform = -1; ///< uniform register of an address; -1: none
    std::int32_t scale = 1; ///< of the base: 1, 4, 8, 16
    bool isWide = false; ///< of an address: the base is a pair of registers
    bool isNegated = false; ///< -R1, or !P0
    bool isInverted = false; ///< ~R1
    bool isReused = false; ///< its value stays in the operand cache
    bool isPart = false; ///< a byte or a half of the register alone: R1.B1, R1.H0_H0
    bool isFloat = false; ///< an immediate that was written as a decimal number
    double number = 0; ///< what was written there
    std::string text; ///< of kinds Special and Other
};

/// What the encoding says beside the operation, for processors since Volta.
///
/// Source: Jia et al., "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking" (arXiv 1804.06826), section
/// 2.1; Huerta et al., "Analyzing Modern NVIDIA GPU cores" (arXiv 2503.20481), section 4.
struct SassControl
{
    std::int32_t stall = 0; ///< cycles before the warp's next instruction
    std::int32_t writeCounter = -1; ///< dependence counter that falls when the result is written; -1: none
    std::int32_t readCounter = -1; ///< when the operands are read
    std::uint32_t waits = 0; ///< a bit for each dependence counter that must be zero
};

struct SassInstruction
{
    std::uint32_t address = 0;
    std::string opcode; ///< with its modifiers: "LDG.E.128.CONSTANT"
    SassClass kind = SassClass::Other;
    std::int32_t bytes = 0; ///< that each thread moves, of accesses to memory
    std::int32_t guard = kTruePredicate; ///< predicate
    bool isGuardNegated = false;
    bool isGuardUniform = false;
    std::vector<SassOperand> operands; ///< results first, as they are written
    std::optional<SassControl> control; ///< nothing: the text has no encodings

    std::string_view base() const; ///< "LDG" of "LDG.E.128"
    bool has(std::string_view modifier) const; ///< "128"
    std::optional<std::uint32_t> target() const; ///< address that a branch goes to
};

struct SassKernel
{
    std::string name;
    std::int32_t registers = 0; ///< of a thread; 0: the text does not say
    std::int64_t sharedBytes = 0; ///< of a block, static, what the driver keeps for itself on sm_90 and later included
    std::int64_t frameBytes = 0; ///< of a thread, in local memory
    std::vector<SassInstruction> instructions; ///< in order of addresses
};

struct SassModule
{
    std::int32_t capability = 0; ///< 86 for sm_86
    std::vector<SassKernel> kernels;

    const SassKernel* find(std::string_view name) const;
};

/// Reads what `nvdisasm -hex FILE.cubin` prints. Without -hex instructions have no control; with -c (code alone) shared
/// memory, frames and, from sm_100 on, registers are missing. Errors: BadFile for what is none such text, or is too
/// large (64 MiB, a million instructions). A pure function.
Result<SassModule> readSass(std::string_view text);

} // namespace lathe::cuda
