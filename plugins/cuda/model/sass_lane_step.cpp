#include "plugins/cuda/model/sass_lane_step.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace lathe::cuda {
namespace {

LaneOperation operationOf(const SassInstruction& instruction)
{
    std::string_view base = instruction.base();
    constexpr std::string_view kUniform[] = {"UMOV",   "UIADD3", "UIADD",  "UIMAD", "ULEA", "USHF",  "ULOP3",
                                             "UISETP", "USEL",   "UIMNMX", "UPRMT", "ULDC", "UVIADD"};
    if (std::find(std::begin(kUniform), std::end(kUniform), base) != std::end(kUniform))
        base.remove_prefix(1);
    if (base == "MOV" || (base == "IMAD" && instruction.has("MOV")))
        return LaneOperation::Copy;
    if (base == "CS2R")
        return LaneOperation::Zero;
    if (base == "S2R" || base == "S2UR")
        return LaneOperation::Special;
    if (base == "HFMA2")
        return LaneOperation::HalfConstant;
    if (base == "IADD3" || base == "IADD" || base == "VIADD")
        return instruction.has("64") ? LaneOperation::Sum64 : LaneOperation::Sum;
    if (base == "IMAD")
        return instruction.has("WIDE") ? LaneOperation::WideProduct
               : instruction.has("HI") ? LaneOperation::HighProduct
                                       : LaneOperation::Product;
    if (base == "LEA")
        return instruction.has("HI") ? LaneOperation::ShiftedSumHigh : LaneOperation::ShiftedSum;
    if (base == "SHF")
        return LaneOperation::Shift;
    if (base == "LOP3")
        return LaneOperation::Logic;
    if (base == "ISETP")
        return LaneOperation::Compare;
    if (base == "SEL")
        return LaneOperation::Select;
    if (base == "IMNMX" || base == "VIMNMX")
        return LaneOperation::Minimum;
    if (base == "PRMT")
        return LaneOperation::Permute;
    if (base == "LDC" || base == "LDCU")
        return LaneOperation::LoadConstant;
    if (base == "R2UR")
        return LaneOperation::FirstLane;
    if (base == "P2R")
        return LaneOperation::Predicates;
    if (base == "R2P")
        return LaneOperation::SetPredicates;
    if (base == "PLOP3" || base == "UPLOP3")
        return LaneOperation::PredicateLogic;
    if (base == "IDP" && instruction.has("2A") && instruction.has("U16") && instruction.has("U8"))
        return LaneOperation::ByteProduct;
    return LaneOperation::Nothing;
}

} // namespace

LaneStep laneStepOf(const SassInstruction& instruction)
{
    LaneStep step;
    step.operation = operationOf(instruction);
    const std::pair<std::string_view, LaneStep::Modifier> names[] = {
        {"X", LaneStep::X},       {"U32", LaneStep::U32},     {"HI", LaneStep::Hi},     {"L", LaneStep::Left},
        {"64", LaneStep::Bits64}, {"128", LaneStep::Bits128}, {"32", LaneStep::Bits32}, {"S32", LaneStep::S32},
        {"S64", LaneStep::S64},   {"U64", LaneStep::U64},     {"OR", LaneStep::Or},     {"XOR", LaneStep::Xor},
        {"EX", LaneStep::Ex},     {"LT", LaneStep::Lt},       {"LE", LaneStep::Le},     {"GT", LaneStep::Gt},
        {"GE", LaneStep::Ge},     {"NE", LaneStep::Ne},       {"SX32", LaneStep::Sx32}};
    for (const auto& [name, modifier] : names)
        if (instruction.has(name))
            step.modifiers |= modifier;
    // What writes predicates alone.
    constexpr std::string_view kOfFlags[] = {"ISETP", "UISETP", "FSETP", "DSETP", "HSETP2",
                                             "PLOP3", "UPLOP3", "FCHK",  "R2P"};
    if (const auto* const found = std::find(std::begin(kOfFlags), std::end(kOfFlags), instruction.base());
        found != std::end(kOfFlags)) {
        step.results = 0;
        step.flags = *found == "FCHK" ? 1 : 2;
        return step;
    }
    switch (instruction.kind) {
    case SassClass::SharedStore:
    case SassClass::GlobalStore:
    case SassClass::LocalStore:
    case SassClass::AsyncCopy:
    case SassClass::Barrier: step.results = 0; break;
    case SassClass::Matrix: step.results = 4; break;
    default:
        step.results = std::max(instruction.bytes / 4, 1);
        if (step.has(LaneStep::Bits128))
            step.results = 4;
        else if (step.has(LaneStep::Bits64) || instruction.has("WIDE") || instruction.kind == SassClass::Double
                 || instruction.base() == "CS2R")
            step.results = std::max(step.results, 2);
    }
    return step;
}

} // namespace lathe::cuda
