#include "plugins/cuda/model/sass_lanes.h"

#include "plugins/cuda/model/sass_loops.h"

#include <algorithm>
#include <span>

namespace lathe::cuda {
namespace {

bool isPredicate(const SassOperand& operand)
{
    return operand.kind == SassOperandKind::Predicate || operand.kind == SassOperandKind::UniformPredicate;
}

/// Results stand first: a register, and predicates around it (carries out, or what a comparison sets).
struct Parts
{
    const SassOperand* result = nullptr;
    std::span<const SassOperand> flagsOut; ///< predicates behind the result
    std::span<const SassOperand> sources; ///< up to the first predicate behind them
    std::span<const SassOperand> flagsIn;
};

Parts partsOf(const SassInstruction& instruction)
{
    Parts parts;
    const std::span<const SassOperand> all = instruction.operands;
    std::size_t i = 0;
    if (!all.empty() && isPredicate(all[0]))
        i = 1; // LOP3.LUT P0, RZ, ...: its predicate is forgotten elsewhere
    if (i >= all.size())
        return parts;
    parts.result = &all[i++];
    const std::size_t flags = i;
    while (i < all.size() && isPredicate(all[i]))
        ++i;
    parts.flagsOut = all.subspan(flags, i - flags);
    const std::size_t sources = i;
    while (i < all.size() && !isPredicate(all[i]))
        ++i;
    parts.sources = all.subspan(sources, i - sources);
    parts.flagsIn = all.subspan(i);
    return parts;
}

std::uint32_t shifted(const LaneStep& step, std::uint32_t low, std::uint32_t by, std::uint32_t high)
{
    const std::uint64_t both = std::uint64_t{high} << 32 | low;
    const bool is64 = step.has(LaneStep::U64) || step.has(LaneStep::S64);
    by = std::min(by, is64 ? 63U : 32U);
    if (step.has(LaneStep::Left)) {
        const std::uint64_t moved = is64 ? both << by : std::uint64_t{step.has(LaneStep::Hi) ? high : low} << by;
        return static_cast<std::uint32_t>(is64 && step.has(LaneStep::Hi) ? moved >> 32 : moved);
    }
    if (is64)
        return static_cast<std::uint32_t>(
            (step.has(LaneStep::S64) ? static_cast<std::uint64_t>(static_cast<std::int64_t>(both) >> by) : both >> by)
            >> (step.has(LaneStep::Hi) ? 32 : 0));
    const std::uint32_t value = step.has(LaneStep::Hi) ? high : low;
    if (step.has(LaneStep::S32))
        return static_cast<std::uint32_t>(std::int64_t{static_cast<std::int32_t>(value)} >> by);
    return static_cast<std::uint32_t>(std::uint64_t{value} >> by);
}

std::uint32_t logic(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t table)
{
    std::uint32_t result = 0;
    for (std::uint32_t row = 0; row < 8; ++row)
        if ((table >> row & 1U) != 0)
            result |= ((row & 4U) != 0 ? a : ~a) & ((row & 2U) != 0 ? b : ~b) & ((row & 1U) != 0 ? c : ~c);
    return result;
}

std::uint32_t permuted(std::uint32_t a, std::uint32_t selector, std::uint32_t b)
{
    const std::uint64_t both = std::uint64_t{b} << 32 | a;
    std::uint32_t result = 0;
    for (std::uint32_t byte = 0; byte < 4; ++byte) {
        const std::uint32_t choice = selector >> (4 * byte) & 0xfU;
        auto value = static_cast<std::uint32_t>(both >> (8 * (choice & 7U)) & 0xffU);
        if ((choice & 8U) != 0)
            value = (value & 0x80U) != 0 ? 0xffU : 0;
        result |= value << (8 * byte);
    }
    return result;
}

bool holds(const LaneStep& step, std::uint32_t a, std::uint32_t b)
{
    const bool isUnsigned = step.has(LaneStep::U32);
    const auto x = isUnsigned ? std::int64_t{a} : std::int64_t{static_cast<std::int32_t>(a)};
    const auto y = isUnsigned ? std::int64_t{b} : std::int64_t{static_cast<std::int32_t>(b)};
    if (step.has(LaneStep::Lt))
        return x < y;
    if (step.has(LaneStep::Le))
        return x <= y;
    if (step.has(LaneStep::Gt))
        return x > y;
    if (step.has(LaneStep::Ge))
        return x >= y;
    if (step.has(LaneStep::Ne))
        return x != y;
    return x == y;
}

} // namespace

LaneMachine::LaneMachine(const ConstantBank& constants, const WarpPlace& place)
    : m_constants(constants)
    , m_place(place)
    , m_lanes(place.lanes)
    , m_registers(256)
    , m_uniform(256)
{
    m_registers[kZeroRegister].isKnown = true;
    m_uniform[kZeroRegister].isKnown = true;
    m_predicates[kTruePredicate] = m_uniformPredicates[kTruePredicate] = {~0U, true};
}

bool LaneMachine::leave(std::uint32_t lanes)
{
    m_lanes &= ~lanes;
    return m_lanes != 0;
}

GuardState LaneMachine::guard(const SassInstruction& instruction) const
{
    GuardState state;
    state.lanes = m_lanes;
    const auto apply = [&state](const Flag& flag, bool isNegated) {
        state.isKnown = state.isKnown && flag.isKnown;
        state.lanes &= isNegated ? ~flag.lanes : flag.lanes;
    };
    if (instruction.guard != kTruePredicate || instruction.isGuardNegated) {
        state.isAlways = false;
        apply((instruction.isGuardUniform ? m_uniformPredicates
                                          : m_predicates)[static_cast<std::size_t>(instruction.guard)],
              instruction.isGuardNegated);
    }
    if (instruction.kind == SassClass::Branch && !instruction.operands.empty()
        && isPredicate(instruction.operands.front())) {
        state.isOperand = true;
        const SassOperand& operand = instruction.operands.front();
        const bool isUniform = operand.kind == SassOperandKind::UniformPredicate;
        apply((isUniform ? m_uniformPredicates : m_predicates)[static_cast<std::size_t>(operand.index)],
              operand.isNegated);
    }
    return state;
}

bool LaneMachine::read(const SassOperand& operand, Lanes& value, bool isHigh) const
{
    if (operand.isPart)
        return false;
    switch (operand.kind) {
    case SassOperandKind::Register:
    case SassOperandKind::UniformRegister: {
        const auto& file = operand.kind == SassOperandKind::Register ? m_registers : m_uniform;
        const std::int32_t index = operand.index == kZeroRegister ? operand.index : operand.index + (isHigh ? 1 : 0);
        const Word& word = file[static_cast<std::size_t>(std::min(index, kZeroRegister))];
        if (!word.isKnown)
            return false;
        value = word.lanes;
        break;
    }
    case SassOperandKind::Immediate:
        value.fill(isHigh ? static_cast<std::uint32_t>(static_cast<std::uint64_t>(operand.value) >> 32)
                          : static_cast<std::uint32_t>(operand.value));
        break;
    case SassOperandKind::Constant: {
        if (operand.index != 0 || operand.base != kZeroRegister || operand.uniform >= 0)
            return false;
        const auto found = m_constants.find(static_cast<std::uint32_t>(operand.value) + (isHigh ? 4 : 0));
        if (found == m_constants.end())
            return false;
        value.fill(found->second);
        break;
    }
    default: return false;
    }
    if (operand.isNegated)
        for (std::uint32_t& lane : value)
            lane = 0 - lane;
    if (operand.isInverted)
        for (std::uint32_t& lane : value)
            lane = ~lane;
    return true;
}

bool LaneMachine::flag(const SassOperand& operand, std::uint32_t& lanes) const
{
    if (!isPredicate(operand))
        return false;
    const auto& file = operand.kind == SassOperandKind::UniformPredicate ? m_uniformPredicates : m_predicates;
    const Flag& found = file[static_cast<std::size_t>(operand.index)];
    lanes = operand.isNegated ? ~found.lanes : found.lanes;
    return found.isKnown;
}

std::uint32_t LaneMachine::copiedLanes(const SassInstruction& copy) const
{
    std::uint32_t lanes = 0;
    return !copy.operands.empty() && flag(copy.operands.back(), lanes) ? lanes : m_lanes;
}

void LaneMachine::write(const SassOperand& result, const Lanes* value, const GuardState& guard, std::int32_t further)
{
    if (result.kind != SassOperandKind::Register && result.kind != SassOperandKind::UniformRegister)
        return;
    const std::int32_t index = result.index + further;
    if (result.index == kZeroRegister || index >= kZeroRegister)
        return;
    Word& word = (result.kind == SassOperandKind::Register ? m_registers : m_uniform)[static_cast<std::size_t>(index)];
    if (value == nullptr || !guard.isKnown || result.isPart) {
        word.isKnown = false;
        return;
    }
    const bool isAll = (m_lanes & ~guard.lanes) == 0;
    if (!isAll && !word.isKnown)
        return; // lanes that keep what is unknown
    for (std::size_t lane = 0; lane < kWarpLanes; ++lane)
        if (isAll || (guard.lanes >> lane & 1U) != 0)
            word.lanes[lane] = (*value)[lane];
    word.isKnown = true;
}

void LaneMachine::writeFlag(const SassOperand& result, const std::uint32_t* lanes, const GuardState& guard)
{
    if (!isPredicate(result) || result.index == kTruePredicate)
        return;
    Flag& written = (result.kind == SassOperandKind::UniformPredicate
                         ? m_uniformPredicates
                         : m_predicates)[static_cast<std::size_t>(result.index)];
    if (lanes == nullptr || !guard.isKnown) {
        written.isKnown = false;
        return;
    }
    const bool isAll = (m_lanes & ~guard.lanes) == 0;
    if (!isAll && !written.isKnown)
        return;
    written.lanes = isAll ? *lanes : (written.lanes & ~guard.lanes) | (*lanes & guard.lanes);
    written.isKnown = true;
}

void LaneMachine::forget(const SassInstruction& instruction, const LaneStep& step, const GuardState& guard)
{
    const std::span<const SassOperand> operands = instruction.operands;
    if (step.operation == LaneOperation::SetPredicates)
        for (std::size_t p = 0; p < kTruePredicate; ++p)
            m_predicates[p].isKnown = false;
    if (step.results == 0) {
        for (const SassOperand& flag : operands.first(std::min(operands.size(), static_cast<std::size_t>(step.flags))))
            writeFlag(flag, nullptr, guard);
        return;
    }
    std::size_t i = 0;
    const auto flags = [&] {
        for (; i < operands.size() && isPredicate(operands[i]); ++i)
            writeFlag(operands[i], nullptr, guard);
    };
    flags();
    if (i == operands.size())
        return;
    for (std::int32_t further = 0; further < step.results; ++further)
        write(operands[i], nullptr, guard, further);
    ++i;
    flags(); // carries
}

void LaneMachine::execute(const SassInstruction& instruction, const LaneStep& step, const GuardState& guard)
{
    if (step.operation == LaneOperation::Nothing || !compute(instruction, step, guard))
        forget(instruction, step, guard);
}

bool LaneMachine::compute(const SassInstruction& instruction, const LaneStep& step, const GuardState& guard)
{
    const LaneOperation operation = step.operation;
    const Parts parts = partsOf(instruction);
    if (parts.result == nullptr
        || (isPredicate(instruction.operands.front()) && operation != LaneOperation::Compare
            && operation != LaneOperation::Logic && operation != LaneOperation::PredicateLogic))
        return false;
    Lanes a{}, b{}, c{}, high{}, out{};
    const auto& sources = parts.sources;
    const auto each = [&out](auto&& of) {
        for (std::size_t lane = 0; lane < kWarpLanes; ++lane)
            out[lane] = of(lane);
    };
    switch (operation) {
    case LaneOperation::Nothing: return false;
    case LaneOperation::Copy:
        if (sources.empty() || !read(sources[sources.size() > 2 ? 2 : 0], out))
            return false;
        if (step.has(LaneStep::Bits64)) {
            if (!read(sources[0], high, true))
                return false;
            write(*parts.result, &high, guard, 1);
        }
        break;
    case LaneOperation::Zero:
        if (sources.size() != 1 || sources[0].text != "SRZ")
            return false;
        if (!step.has(LaneStep::Bits32))
            write(*parts.result, &out, guard, 1);
        break;
    case LaneOperation::Special: {
        if (sources.size() != 1)
            return false;
        const std::string& name = sources[0].text;
        const std::size_t axis = name.ends_with(".X") ? 0 : name.ends_with(".Y") ? 1 : 2;
        if (name.starts_with("SR_TID."))
            out = m_place.thread[axis];
        else if (name.starts_with("SR_CTAID."))
            out.fill(m_place.block[axis]);
        else if (name == "SR_LANEID")
            each([](std::size_t lane) { return static_cast<std::uint32_t>(lane); });
        else if (name != "SR_CgaCtaId")
            return false;
        break;
    }
    case LaneOperation::HalfConstant: {
        if (sources.size() != 4 || sources[0].index != kZeroRegister || sources[1].index != kZeroRegister
            || sources[2].kind != SassOperandKind::Immediate || sources[3].kind != SassOperandKind::Immediate)
            return false;
        const auto bits = halfPairBits(sources[2], sources[3]);
        if (!bits)
            return false;
        out.fill(*bits);
        break;
    }
    case LaneOperation::Sum: {
        std::array<std::uint64_t, kWarpLanes> sum{};
        for (const SassOperand& source : sources) {
            if (!read(source, a))
                return false;
            // What is subtracted is added inverted, and one more: of nothing that is a carry.
            for (std::size_t lane = 0; lane < kWarpLanes; ++lane)
                sum[lane] += source.isNegated && a[lane] == 0 ? std::uint64_t{1} << 32 : std::uint64_t{a[lane]};
        }
        if (step.has(LaneStep::X))
            for (const SassOperand& carry : parts.flagsIn) {
                std::uint32_t lanes = 0;
                if (!flag(carry, lanes))
                    return false;
                for (std::size_t lane = 0; lane < kWarpLanes; ++lane)
                    sum[lane] += lanes >> lane & 1U;
            }
        // Three words may come to two carries, which the upper half adds both.
        for (std::size_t carry = 0; carry < parts.flagsOut.size(); ++carry) {
            std::uint32_t carries = 0;
            for (std::size_t lane = 0; lane < kWarpLanes; ++lane)
                carries |= (sum[lane] >> 32 > carry ? 1U : 0U) << lane;
            writeFlag(parts.flagsOut[carry], &carries, guard);
        }
        each([&sum](std::size_t lane) { return static_cast<std::uint32_t>(sum[lane]); });
        break;
    }
    case LaneOperation::Sum64: {
        std::array<std::uint64_t, kWarpLanes> sum{};
        for (const SassOperand& source : sources) {
            if (source.isNegated || source.isInverted || !read(source, a) || !read(source, high, true))
                return false;
            for (std::size_t lane = 0; lane < kWarpLanes; ++lane)
                sum[lane] += std::uint64_t{high[lane]} << 32 | a[lane];
        }
        each([&sum](std::size_t lane) { return static_cast<std::uint32_t>(sum[lane] >> 32); });
        write(*parts.result, &out, guard, 1);
        each([&sum](std::size_t lane) { return static_cast<std::uint32_t>(sum[lane]); });
        break;
    }
    case LaneOperation::Product:
        if (step.has(LaneStep::X) || sources.size() != 3 || !read(sources[0], a) || !read(sources[1], b)
            || !read(sources[2], c))
            return false;
        each([&](std::size_t lane) { return a[lane] * b[lane] + c[lane]; });
        break;
    case LaneOperation::HighProduct:
    case LaneOperation::WideProduct: {
        const bool isWide = operation == LaneOperation::WideProduct;
        if (step.has(LaneStep::X) || sources.size() != 3 || !read(sources[0], a) || !read(sources[1], b)
            || !read(sources[2], c) || (isWide && !read(sources[2], high, true)))
            return false;
        const bool isUnsigned = step.has(LaneStep::U32);
        std::array<std::uint64_t, kWarpLanes> all{};
        for (std::size_t lane = 0; lane < kWarpLanes; ++lane) {
            const std::uint64_t product = isUnsigned ? std::uint64_t{a[lane]} * b[lane]
                                                     : static_cast<std::uint64_t>(
                                                         std::int64_t{static_cast<std::int32_t>(a[lane])}
                                                         * std::int64_t{static_cast<std::int32_t>(b[lane])});
            all[lane] = isWide ? product + (std::uint64_t{high[lane]} << 32 | c[lane]) : (product >> 32) + c[lane];
        }
        if (isWide) {
            each([&all](std::size_t lane) { return static_cast<std::uint32_t>(all[lane] >> 32); });
            write(*parts.result, &out, guard, 1);
        }
        each([&all](std::size_t lane) { return static_cast<std::uint32_t>(all[lane]); });
        break;
    }
    case LaneOperation::ShiftedSum:
    case LaneOperation::ShiftedSumHigh: {
        const bool isHigh = operation == LaneOperation::ShiftedSumHigh, isSigned = isHigh && step.has(LaneStep::Sx32);
        if (sources.size() != (isHigh && !isSigned ? 4U : 3U) || !read(sources[0], a) || !read(sources[1], b)
            || (isHigh && !isSigned && !read(sources[2], c)) || sources.back().kind != SassOperandKind::Immediate)
            return false;
        for (std::size_t lane = 0; lane < kWarpLanes && isSigned; ++lane)
            c[lane] = a[lane] >> 31 != 0 ? ~0U : 0;
        const auto by = static_cast<std::uint32_t>(sources.back().value) & 31U;
        std::uint32_t carryIn = 0, carries = 0;
        if (step.has(LaneStep::X) && (parts.flagsIn.empty() || !flag(parts.flagsIn[0], carryIn)))
            return false;
        for (std::size_t lane = 0; lane < kWarpLanes; ++lane) {
            const std::uint64_t moved = (std::uint64_t{c[lane]} << 32 | a[lane]) << by;
            const std::uint64_t sum = std::uint64_t{static_cast<std::uint32_t>(isHigh ? moved >> 32 : moved)} + b[lane]
                                      + (step.has(LaneStep::X) ? carryIn >> lane & 1U : 0U);
            out[lane] = static_cast<std::uint32_t>(sum);
            carries |= (sum >> 32 != 0 ? 1U : 0U) << lane;
        }
        if (!parts.flagsOut.empty())
            writeFlag(parts.flagsOut[0], &carries, guard);
        break;
    }
    case LaneOperation::Shift:
        if (sources.size() != 3 || !read(sources[0], a) || !read(sources[1], b) || !read(sources[2], c))
            return false;
        each([&](std::size_t lane) { return shifted(step, a[lane], b[lane], c[lane]); });
        break;
    case LaneOperation::Logic:
        if (sources.size() < 4 || sources[3].kind != SassOperandKind::Immediate || !read(sources[0], a)
            || !read(sources[1], b) || !read(sources[2], c))
            return false;
        each([&](std::size_t lane) {
            return logic(a[lane], b[lane], c[lane], static_cast<std::uint32_t>(sources[3].value));
        });
        if (isPredicate(instruction.operands.front())) {
            std::uint32_t set = 0;
            for (std::size_t lane = 0; lane < kWarpLanes; ++lane)
                set |= (out[lane] != 0 ? 1U : 0U) << lane;
            writeFlag(instruction.operands.front(), &set, guard);
        }
        break;
    case LaneOperation::Compare: {
        const auto& operands = instruction.operands;
        std::uint32_t other = 0;
        if (operands.size() != 5 || step.has(LaneStep::Ex) || !read(operands[2], a) || !read(operands[3], b)
            || !flag(operands[4], other))
            return false;
        std::uint32_t set = 0;
        for (std::size_t lane = 0; lane < kWarpLanes; ++lane)
            set |= (holds(step, a[lane], b[lane]) ? 1U : 0U) << lane;
        const auto joined = [&](std::uint32_t x) {
            return step.has(LaneStep::Or) ? x | other : step.has(LaneStep::Xor) ? x ^ other : x & other;
        };
        const std::uint32_t first = joined(set), second = joined(~set);
        writeFlag(operands[0], &first, guard);
        writeFlag(operands[1], &second, guard);
        return true;
    }
    case LaneOperation::Select:
    case LaneOperation::Minimum: {
        std::uint32_t chosen = 0;
        if (sources.size() != 2 || parts.flagsIn.size() != 1 || !read(sources[0], a) || !read(sources[1], b)
            || !flag(parts.flagsIn[0], chosen))
            return false;
        const bool isSelect = operation == LaneOperation::Select;
        each([&](std::size_t lane) {
            const bool isFirst = (chosen >> lane & 1U) != 0;
            if (isSelect)
                return isFirst ? a[lane] : b[lane];
            const bool isLess = step.has(LaneStep::U32)
                                    ? a[lane] < b[lane]
                                    : static_cast<std::int32_t>(a[lane]) < static_cast<std::int32_t>(b[lane]);
            return isLess == isFirst ? a[lane] : b[lane];
        });
        break;
    }
    case LaneOperation::Permute:
        if (sources.size() != 3 || !read(sources[0], a) || !read(sources[1], b) || !read(sources[2], c))
            return false;
        each([&](std::size_t lane) { return permuted(a[lane], b[lane], c[lane]); });
        break;
    case LaneOperation::LoadConstant: {
        if (sources.size() != 1 || sources[0].kind != SassOperandKind::Constant || !read(sources[0], out))
            return false;
        SassOperand source = sources[0];
        const std::int32_t words = step.has(LaneStep::Bits128) ? 4 : step.has(LaneStep::Bits64) ? 2 : 1;
        for (std::int32_t further = 1; further < words; ++further) {
            source.value += 4;
            const bool isKnown = read(source, a);
            write(*parts.result, isKnown ? &a : nullptr, guard, further);
        }
        break;
    }
    case LaneOperation::FirstLane:
        if (sources.empty() || !read(sources[0], a))
            return false;
        out.fill(a[0]);
        break;
    case LaneOperation::PredicateLogic: {
        const auto& operands = instruction.operands;
        std::array<std::uint32_t, 3> in{};
        if (operands.size() != 7 || !flag(operands[2], in[0]) || !flag(operands[3], in[1]) || !flag(operands[4], in[2]))
            return false;
        for (const std::size_t i : {0U, 1U}) {
            const std::uint32_t set = logic(in[0], in[1], in[2], static_cast<std::uint32_t>(operands[5 + i].value));
            writeFlag(operands[i], &set, guard);
        }
        return true;
    }
    case LaneOperation::ByteProduct:
        if (sources.size() != 3 || !read(sources[0], a) || !read(sources[1], b) || !read(sources[2], c))
            return false;
        each([&](std::size_t lane) {
            const std::uint32_t bytes = step.has(LaneStep::Hi) ? b[lane] >> 16 : b[lane];
            return (a[lane] & 0xffffU) * (bytes & 0xffU) + (a[lane] >> 16) * (bytes >> 8 & 0xffU) + c[lane];
        });
        break;
    case LaneOperation::SetPredicates: {
        const auto& operands = instruction.operands;
        if (operands.size() != 3 || operands[0].text != "PR" || !read(operands[1], a)
            || operands[2].kind != SassOperandKind::Immediate)
            return false;
        for (std::int32_t p = 0; p < kTruePredicate; ++p) {
            std::uint32_t set = 0;
            for (std::size_t lane = 0; lane < kWarpLanes; ++lane)
                set |= (a[lane] >> p & 1U) << lane;
            SassOperand predicate;
            predicate.kind = SassOperandKind::Predicate;
            predicate.index = p;
            if ((operands[2].value >> p & 1) != 0)
                writeFlag(predicate, &set, guard);
        }
        return true;
    }
    case LaneOperation::Predicates: {
        if (sources.size() != 3 || sources[0].text != "PR" || !read(sources[1], a)
            || sources[2].kind != SassOperandKind::Immediate)
            return false;
        const auto mask = static_cast<std::uint32_t>(sources[2].value);
        for (std::size_t p = 0; p < m_predicates.size(); ++p)
            if ((mask >> p & 1U) != 0 && !m_predicates[p].isKnown)
                return false;
        each([&](std::size_t lane) {
            std::uint32_t bits = 0;
            for (std::size_t p = 0; p < m_predicates.size(); ++p)
                bits |= (m_predicates[p].lanes >> lane & 1U) << p;
            return (bits & mask) | (a[lane] & ~mask);
        });
        break;
    }
    }
    write(*parts.result, &out, guard);
    return true;
}

bool LaneMachine::addresses(const SassOperand& operand, std::array<std::uint64_t, kWarpLanes>& at) const
{
    at.fill(static_cast<std::uint64_t>(operand.value));
    const auto add = [&at](const std::vector<Word>& file, std::int32_t index, bool isWide, std::int32_t scale) {
        const Word& low = file[static_cast<std::size_t>(index)];
        const Word& high = file[static_cast<std::size_t>(index == kZeroRegister ? index : index + 1)];
        if (!low.isKnown || (isWide && !high.isKnown))
            return false;
        for (std::size_t lane = 0; lane < kWarpLanes; ++lane)
            at[lane] += (isWide ? std::uint64_t{high.lanes[lane]} << 32 | low.lanes[lane]
                                : std::uint64_t{low.lanes[lane]})
                        * static_cast<std::uint64_t>(scale);
        return true;
    };
    if (!add(m_registers, operand.base, operand.isWide, operand.scale))
        return false;
    return operand.uniform < 0 || add(m_uniform, operand.uniform, operand.isWide, 1);
}

} // namespace lathe::cuda
