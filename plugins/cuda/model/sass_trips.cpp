#include "plugins/cuda/model/sass_trips.h"

#include <bit>
#include <cmath>

namespace lathe::cuda {
namespace {

constexpr int kMostSteps = 16; ///< instructions through which a value is followed
constexpr std::uint64_t kMostTrips = std::uint64_t{1} << 40;

/// A register of one of both files.
struct Place
{
    std::int32_t index = kZeroRegister;
    bool isUniform = false;

    bool operator==(const Place&) const = default;
};

std::optional<Place> placeOf(const SassOperand& operand)
{
    if (operand.isNegated || operand.isInverted)
        return std::nullopt;
    if (operand.kind == SassOperandKind::Register)
        return Place{operand.index, false};
    if (operand.kind == SassOperandKind::UniformRegister)
        return Place{operand.index, true};
    return std::nullopt;
}

bool isZero(const SassOperand& operand)
{
    return (operand.kind == SassOperandKind::Register || operand.kind == SassOperandKind::UniformRegister)
           && operand.index == kZeroRegister;
}

/// A value at some place: what `from` held at the loop's beginning (nothing: no register) and a sum.
struct Value
{
    std::optional<Place> from;
    std::int64_t sum = 0;
};

/// Registers that an instruction writes, without those of wide results that do not matter for counters.
bool writes(const SassInstruction& instruction, const Place& place)
{
    if (instruction.operands.empty() || instruction.kind == SassClass::SharedStore
        || instruction.kind == SassClass::GlobalStore || instruction.kind == SassClass::LocalStore)
        return false;
    std::int32_t width = std::max(instruction.bytes / 4, 1);
    const std::string_view base = instruction.base();
    if (instruction.has("WIDE") || instruction.has("64") || (base == "CS2R" && !instruction.has("32")))
        width = std::max(width, 2);
    const SassOperand& result = instruction.operands.front();
    const auto written = placeOf(result);
    return written && written->isUniform == place.isUniform && place.index != kZeroRegister
           && place.index >= written->index && place.index < written->index + width;
}

bool isGuarded(const SassInstruction& instruction)
{
    return instruction.guard != kTruePredicate || instruction.isGuardNegated;
}

/// What the instruction puts into `place`, of registers before it.
std::optional<Value> written(const SassInstruction& instruction, const Place& place)
{
    if (isGuarded(instruction))
        return std::nullopt;
    const std::string_view base = instruction.base();
    const auto& operands = instruction.operands;
    if (base == "CS2R")
        return operands.size() == 2 && operands[1].text == "SRZ" ? std::optional(Value{}) : std::nullopt;
    if (placeOf(operands.front()) != place || instruction.has("X") || instruction.has("WIDE") || instruction.has("64"))
        return std::nullopt;
    if (base == "HFMA2" && operands.size() == 5 && isZero(operands[1]) && isZero(operands[2])
        && operands[3].kind == SassOperandKind::Immediate && operands[4].kind == SassOperandKind::Immediate) {
        const auto bits = halfPairBits(operands[3], operands[4]);
        return bits ? std::optional(Value{{}, static_cast<std::int32_t>(*bits)}) : std::nullopt;
    }
    const bool isMove = base == "MOV" || base == "UMOV" || (base == "IMAD" && instruction.has("MOV"));
    const bool isSum = base == "IADD3" || base == "UIADD3" || base == "IADD" || base == "VIADD" || base == "UIADD"
                       || (base == "IMAD" && instruction.has("IADD"));
    if (!isMove && !isSum)
        return std::nullopt;
    Value value;
    const auto isOne = [](const SassOperand& operand) {
        return operand.kind == SassOperandKind::Immediate && !operand.isFloat && operand.value == 1;
    };
    for (std::size_t i = 1; i < operands.size(); ++i) {
        const SassOperand& operand = operands[i];
        if (isZero(operand) || operand.kind == SassOperandKind::Predicate
            || operand.kind == SassOperandKind::UniformPredicate)
            continue;
        if (base == "IMAD" && instruction.has("IADD") && i == 2 && isOne(operand))
            continue; // a product by one
        if (operand.kind == SassOperandKind::Immediate && !operand.isFloat) {
            value.sum += static_cast<std::int32_t>(operand.value);
            continue;
        }
        const auto from = placeOf(operand);
        if (!from || value.from)
            return std::nullopt;
        value.from = from;
    }
    return value;
}

/// The value of a register in front of instruction `at`, of registers in front of instruction `begin`.
std::optional<Value> resolved(const SassKernel& kernel, std::size_t begin, std::size_t at, Place place, int steps = 0)
{
    if (place.index == kZeroRegister)
        return Value{};
    if (steps > kMostSteps)
        return std::nullopt;
    for (std::size_t i = at; i-- > begin;) {
        if (!writes(kernel.instructions[i], place))
            continue;
        auto value = written(kernel.instructions[i], place);
        if (!value || !value->from)
            return value;
        auto before = resolved(kernel, begin, i, *value->from, steps + 1);
        if (before)
            before->sum += value->sum;
        return before;
    }
    return Value{place, 0};
}

struct Comparison
{
    std::size_t at = 0;
    bool isNegated = false;
};

bool isConditional(const SassInstruction& branch)
{
    return isGuarded(branch)
           || (!branch.operands.empty() && branch.operands.front().kind == SassOperandKind::UniformPredicate);
}

/// The branch that ends the loop: the one back, or, where that is always taken, the one way out of the loop.
std::optional<Comparison> testOf(const SassKernel& kernel, const SassLoop& loop)
{
    if (isConditional(kernel.instructions[loop.last]))
        return Comparison{loop.last, false};
    std::optional<Comparison> exit;
    for (std::size_t i = loop.first; i < loop.last; ++i) {
        const SassInstruction& branch = kernel.instructions[i];
        // The assembler also writes the way out as a call that never returns.
        if (!isConditional(branch) || (branch.base() != "BRA" && branch.base() != "CALL"))
            continue;
        for (const SassOperand& operand : branch.operands)
            if (operand.kind == SassOperandKind::Label
                && (operand.value < kernel.instructions[loop.first].address
                    || operand.value > kernel.instructions[loop.last].address)) {
                if (exit)
                    return std::nullopt;
                exit = Comparison{i, true};
            }
    }
    return exit;
}

/// The instruction of the loop that sets the predicate in front of `at`.
std::optional<Comparison> comparisonOf(const SassKernel& kernel, const SassLoop& loop, std::size_t at,
                                       std::int32_t predicate, bool isUniform)
{
    const SassOperandKind kind = isUniform ? SassOperandKind::UniformPredicate : SassOperandKind::Predicate;
    for (std::size_t i = at; i-- > loop.first;) {
        const SassInstruction& instruction = kernel.instructions[i];
        const auto& operands = instruction.operands;
        bool sets = false;
        for (std::size_t o = 0; o < std::min<std::size_t>(operands.size(), 2); ++o)
            sets = sets || (operands[o].kind == kind && operands[o].index == predicate);
        if (!sets)
            continue;
        const std::string_view base = instruction.base();
        if (isGuarded(instruction) || operands.front().kind != kind || operands.front().index != predicate)
            return std::nullopt;
        if (base == "ISETP" || base == "UISETP")
            return Comparison{i, false};
        // A predicate of the uniform unit is handed over: PLOP3.LUT P0, PT, PT, PT, UP0, 0x80, 0x0.
        if (base == "PLOP3" && operands.size() == 7 && operands[4].kind == SassOperandKind::UniformPredicate
            && operands[5].kind == SassOperandKind::Immediate && operands[5].value == 0x80) {
            auto inner = comparisonOf(kernel, loop, i, operands[4].index, true);
            if (inner && operands[4].isNegated)
                inner->isNegated = !inner->isNegated;
            return inner;
        }
        return std::nullopt;
    }
    return std::nullopt;
}

enum class Relation : std::uint8_t
{
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    NotEqual,
    Equal
};

std::optional<Relation> relationOf(const SassInstruction& comparison, bool isNegated)
{
    const struct
    {
        std::string_view name;
        Relation relation, opposite;
    } names[] = {{"LT", Relation::Less, Relation::GreaterEqual}, {"LE", Relation::LessEqual, Relation::Greater},
                 {"GT", Relation::Greater, Relation::LessEqual}, {"GE", Relation::GreaterEqual, Relation::Less},
                 {"NE", Relation::NotEqual, Relation::Equal},    {"EQ", Relation::Equal, Relation::NotEqual}};
    for (const auto& [name, relation, opposite] : names)
        if (comparison.has(name))
            return isNegated ? opposite : relation;
    return std::nullopt;
}

bool holds(Relation relation, std::int64_t value, std::int64_t bound)
{
    switch (relation) {
    case Relation::Less: return value < bound;
    case Relation::LessEqual: return value <= bound;
    case Relation::Greater: return value > bound;
    case Relation::GreaterEqual: return value >= bound;
    case Relation::NotEqual: return value != bound;
    case Relation::Equal: return value == bound;
    }
    return false;
}

/// Passes of a loop that runs once and then as long as the value holds the relation: value, value + step ... are what
/// is compared at the ends of its passes.
std::optional<std::uint64_t> passes(Relation relation, std::int64_t value, std::int64_t step, std::int64_t bound)
{
    std::int64_t distance = bound - value;
    switch (relation) {
    case Relation::Greater:
    case Relation::GreaterEqual:
        distance = -distance;
        step = -step;
        [[fallthrough]];
    case Relation::Less:
    case Relation::LessEqual:
        if (relation == Relation::LessEqual || relation == Relation::GreaterEqual)
            ++distance;
        if (distance <= 0)
            return 1;
        if (step <= 0)
            return std::nullopt;
        return 1 + static_cast<std::uint64_t>((distance + step - 1) / step);
    case Relation::NotEqual:
        if (distance == 0)
            return 1;
        if (step == 0 || distance % step != 0 || distance / step < 0)
            return std::nullopt;
        return 1 + static_cast<std::uint64_t>(distance / step);
    case Relation::Equal: return distance == 0 ? step == 0 ? std::nullopt : std::optional<std::uint64_t>(2) : 1;
    }
    return std::nullopt;
}

} // namespace

std::optional<std::uint64_t> tripsOf(const SassKernel& kernel, const SassLoop& loop)
{
    const auto test = testOf(kernel, loop);
    if (!test)
        return std::nullopt;
    const SassInstruction& branch = kernel.instructions[test->at];
    std::int32_t predicate = branch.guard;
    bool isNegated = branch.isGuardNegated != test->isNegated, isUniform = branch.isGuardUniform;
    // "BRA.U !UP0, target": the condition is an operand.
    if (!branch.operands.empty() && branch.operands.front().kind == SassOperandKind::UniformPredicate) {
        if (isGuarded(branch))
            return std::nullopt;
        predicate = branch.operands.front().index;
        isNegated = branch.operands.front().isNegated != test->isNegated;
        isUniform = true;
    }
    if (predicate == kTruePredicate)
        return std::nullopt;
    const auto found = comparisonOf(kernel, loop, test->at, predicate, isUniform);
    if (!found)
        return std::nullopt;
    const SassInstruction& comparison = kernel.instructions[found->at];
    const auto& operands = comparison.operands;
    // ISETP.GE.U32.AND P0, PT, R3, 0x1000, PT: the last input is another condition.
    if (operands.size() < 5 || comparison.has("EX") || operands[4].index != kTruePredicate || operands[4].isNegated)
        return std::nullopt;
    const auto relation = relationOf(comparison, isNegated != found->isNegated);
    std::optional<std::int64_t> bound;
    if (operands[3].kind == SassOperandKind::Immediate && !operands[3].isFloat)
        bound = operands[3].value;
    else if (isZero(operands[3]))
        bound = 0;
    const auto counter = placeOf(operands[2]);
    if (!relation || !bound || !counter)
        return std::nullopt;
    const auto compared = resolved(kernel, loop.first, found->at, *counter);
    if (!compared || !compared->from)
        return std::nullopt;
    // What one pass adds to the register that goes around.
    const auto after = resolved(kernel, loop.first, loop.last, *compared->from);
    const auto start = resolved(kernel, 0, loop.first, *compared->from);
    if (!after || (after->from && after->from != compared->from) || !start || start->from)
        return std::nullopt;
    const auto as = [&comparison](std::int64_t value) {
        return comparison.has("U32") ? static_cast<std::int64_t>(static_cast<std::uint32_t>(value))
                                     : static_cast<std::int64_t>(static_cast<std::int32_t>(value));
    };
    if (!after->from) { // a loop of two passes: in the second one the counter is what it must be
        if (!holds(*relation, as(start->sum + compared->sum), as(*bound)))
            return 1;
        if (holds(*relation, as(after->sum + compared->sum), as(*bound)))
            return std::nullopt;
        return 2;
    }
    const auto trips = passes(*relation, as(start->sum + compared->sum), after->sum, as(*bound));
    return trips && *trips <= kMostTrips ? trips : std::nullopt;
}

namespace {

std::uint32_t halfBits(double value)
{
    const std::uint32_t sign = std::signbit(value) ? 0x8000U : 0;
    value = std::fabs(value);
    if (!(value > 0))
        return sign;
    if (std::isinf(value))
        return sign | 0x7c00U;
    int exponent = 0;
    std::frexp(value, &exponent); // value = m * 2^exponent, m in [0.5, 1)
    if (exponent > 16)
        return sign | 0x7c00U;
    if (exponent < -13) // below 2^-14: multiples of 2^-24
        return sign | static_cast<std::uint32_t>(std::lround(std::ldexp(value, 24)));
    const auto fraction = static_cast<std::uint32_t>(std::lround(std::ldexp(value, 11 - exponent))) - 1024U;
    return sign | ((static_cast<std::uint32_t>(exponent + 14) << 10) + fraction);
}

} // namespace

std::optional<std::uint32_t> halfPairBits(const SassOperand& high, const SassOperand& low)
{
    std::uint32_t bits = 0;
    for (const SassOperand* const operand : {&high, &low}) {
        const double number = operand->isFloat ? operand->number : static_cast<double>(operand->value);
        if (std::isnan(number))
            return std::nullopt;
        bits = bits << 16 | halfBits(number);
    }
    return bits;
}

} // namespace lathe::cuda
