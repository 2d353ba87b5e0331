#pragma once

#include "core/compute/dag.h"

#include <array>
#include <cstdint>
#include <vector>

namespace lathe::compute {

/// Points that one instruction works on at once.
inline constexpr std::size_t kLanes = 64;

/// A register: one value per lane, double or 64-bit integer by the instruction that reads it.
union alignas(64) LaneBlock
{
    std::array<double, kLanes> f;
    std::array<std::int64_t, kLanes> i;
};

enum class OpCode : std::uint8_t
{
    AddF,
    SubF,
    MulF,
    DivF,
    MinF,
    MaxF,
    EqF,
    NeF,
    LtF,
    LeF,
    GtF,
    GeF,
    AddI,
    SubI,
    MulI,
    FloorDivI,
    FloorModI,
    MinI,
    MaxI,
    EqI,
    NeI,
    LtI,
    LeI,
    GtI,
    GeI,
    And,
    AndNot, ///< a && !b: the guard of an else side
    Or,
    Not,
    Select, ///< a ? b : c, bits copied
    IntToFloat,
    FloatToInt, ///< truncates, saturates to `type`
    RoundFloat, ///< to the precision of `type`
    WrapInt, ///< to the range of `type`
    AbsI,
    PowerI,
    Call1,
    Call2,
    Call3,
    CallBits, ///< wrapped to `type`
    Load
};

struct Instruction
{
    OpCode code = OpCode::AddF;
    DType type = DType::F64; ///< of the result of rounding and wrapping, else of the first operand
    std::int32_t target = -1;
    std::int32_t a = -1, b = -1, c = -1; ///< registers; Load: a = guard or -1, b = position in Program::loads
    union
    {
        double (*call1)(double);
        double (*call2)(double, double);
        double (*call3)(double, double, double);
        std::int64_t (*callBits)(std::int64_t, std::int64_t);
    };
};

struct LoadSite
{
    std::int32_t source = -1;
    std::vector<std::int32_t> indices; ///< registers
};

struct ConstantRegister
{
    std::int32_t target = -1;
    bool isFloat = false;
    double f = 0;
    std::int64_t i = 0;
};

/// The body of one operation. Registers 0.. hold the spatial axes, then the reduce axes, then constants and values.
struct Program
{
    /// code[0] depends on no reduce axis, code[k] on reduce axis k-1 and ones outside of it: each runs where its loop
    /// is.
    std::vector<std::vector<Instruction>> code;
    std::vector<LoadSite> loads;
    std::vector<ConstantRegister> constants;
    std::int32_t registers = 0;
    std::int32_t value = -1; ///< register of the body, or of the source of the reduction
    bool valueIsFloat = true;
    DType valueType = DType::F64;
    bool resultIsFloat = true;
    bool isReduce = false;
    ir::Combiner combiner = ir::Combiner::Sum;
    double identityF = 0;
    std::int64_t identityI = 0;
};

/// Errors: Unsupported naming an intrinsic, a type of argument, or several bodies.
Result<Program> compileProgram(const Op& op);

} // namespace lathe::compute
