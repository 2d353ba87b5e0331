#include "tests/cuda_driver/ptx/lanes.h"
#include "tests/cuda_driver/ptx/small_float.h"

namespace lathe::ptx {

namespace {

enum class Relation : uint8_t
{
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    EqualUnordered, // these hold if one is not a number
    NotEqualUnordered,
    LessUnordered,
    LessEqualUnordered,
    GreaterUnordered,
    GreaterEqualUnordered,
    Numbers,
    NotANumber,
};

struct RelationRow
{
    std::string_view name;
    Relation relation;
};

constexpr std::array<RelationRow, 18> kRelations = {{
    {"eq", Relation::Equal},
    {"ne", Relation::NotEqual},
    {"lt", Relation::Less},
    {"le", Relation::LessEqual},
    {"gt", Relation::Greater},
    {"ge", Relation::GreaterEqual},
    {"lo", Relation::Less},
    {"ls", Relation::LessEqual},
    {"hi", Relation::Greater},
    {"hs", Relation::GreaterEqual},
    {"equ", Relation::EqualUnordered},
    {"neu", Relation::NotEqualUnordered},
    {"ltu", Relation::LessUnordered},
    {"leu", Relation::LessEqualUnordered},
    {"gtu", Relation::GreaterUnordered},
    {"geu", Relation::GreaterEqualUnordered},
    {"num", Relation::Numbers},
    {"nan", Relation::NotANumber},
}};

// What is combined with another predicate.
enum : uint8_t
{
    kPlain,
    kAnd,
    kOr,
    kXor
};

LATHE_PTX_INLINE float flushed(float value)
{
    return std::fabs(value) < std::numeric_limits<float>::min() ? std::copysign(0.0F, value) : value;
}

/// Lanes for which f(a, b) holds; computed for all 32, since registers of the others are there as well.
template<typename S, typename Read, typename F>
LATHE_PTX_INLINE LaneMask lanesWhere(const S* a, const S* b, Read&& read, F&& f)
{
    LaneMask result = 0;
    for (unsigned lane = 0; lane < kLanes; ++lane)
        result |= static_cast<LaneMask>(f(read(a[lane]), read(b[lane]))) << lane;
    return result;
}

/// The lanes for which the relation of the instruction holds.
template<typename S, typename Read>
LATHE_PTX_INLINE LaneMask compared(const Warp& warp, const Instruction& i, Read&& read)
{
    const S* const a = warp.row<S>(i.a);
    const S* const b = warp.row<S>(i.b);
    const auto unordered = [](auto x, auto y) LATHE_PTX_LAMBDA { return x != x || y != y; };
#define LATHE_PTX_WHERE(condition)                                                                                     \
    lanesWhere(a, b, read, [=]([[maybe_unused]] auto x, [[maybe_unused]] auto y) LATHE_PTX_LAMBDA { return condition; })
    switch (static_cast<Relation>(i.elements)) {
    case Relation::Equal: return LATHE_PTX_WHERE(x == y);
    case Relation::NotEqual: return LATHE_PTX_WHERE(!unordered(x, y) && x != y);
    case Relation::Less: return LATHE_PTX_WHERE(x < y);
    case Relation::LessEqual: return LATHE_PTX_WHERE(x <= y);
    case Relation::Greater: return LATHE_PTX_WHERE(x > y);
    case Relation::GreaterEqual: return LATHE_PTX_WHERE(x >= y);
    case Relation::EqualUnordered: return LATHE_PTX_WHERE(unordered(x, y) || x == y);
    case Relation::NotEqualUnordered: return LATHE_PTX_WHERE(unordered(x, y) || x != y);
    case Relation::LessUnordered: return LATHE_PTX_WHERE(unordered(x, y) || x < y);
    case Relation::LessEqualUnordered: return LATHE_PTX_WHERE(unordered(x, y) || x <= y);
    case Relation::GreaterUnordered: return LATHE_PTX_WHERE(unordered(x, y) || x > y);
    case Relation::GreaterEqualUnordered: return LATHE_PTX_WHERE(unordered(x, y) || x >= y);
    case Relation::Numbers: return LATHE_PTX_WHERE(!unordered(x, y));
    case Relation::NotANumber: return LATHE_PTX_WHERE(unordered(x, y));
    }
#undef LATHE_PTX_WHERE
    return 0;
}

/// Compares values of type T.
template<typename T>
struct Plain
{
    LATHE_PTX_INLINE static LaneMask evaluate(const Warp& warp, const Instruction& i)
    {
        if constexpr (std::is_same_v<T, float>) {
            if (i.flush)
                return compared<uint32_t>(warp, i,
                                          [](uint32_t slot) LATHE_PTX_LAMBDA { return flushed(valueOf<float>(slot)); });
        }
        return compared<SlotOf<T>>(warp, i, [](SlotOf<T> slot) LATHE_PTX_LAMBDA { return valueOf<T>(slot); });
    }
};

struct Small
{
    LATHE_PTX_INLINE static LaneMask evaluate(const Warp& warp, const Instruction& i)
    {
        const SmallFormat format = formatOf(i.from);
        return compared<uint32_t>(warp, i,
                                  [format](uint32_t slot) LATHE_PTX_LAMBDA { return decode(slot & 0xffff, format); });
    }
};

LaneMask combined(const Warp& warp, const Instruction& i, LaneMask result)
{
    if (i.mode == kPlain)
        return result;
    const LaneMask with = warp.mask(i.c) ^ (i.negatedC ? kAllLanes : 0);
    return i.mode == kAnd ? result & with : i.mode == kOr ? result | with : result ^ with;
}

template<typename Values>
struct SetPredicate
{
    LATHE_PTX_INLINE static void run(Warp& warp, const Instruction& i, LaneMask lanes)
    {
        const LaneMask plain = Values::evaluate(warp, i);
        const LaneMask first = combined(warp, i, plain);
        const LaneMask second = i.d2 != kNoRow ? combined(warp, i, ~plain) : 0;
        LaneMask& d = warp.mask(i.d);
        d = (d & ~lanes) | (first & lanes);
        if (i.d2 != kNoRow) {
            LaneMask& other = warp.mask(i.d2);
            other = (other & ~lanes) | (second & lanes);
        }
    }
};

/// set: all bits, or 1.0 where the result is a float (imm).
template<typename Values>
struct SetValue
{
    LATHE_PTX_INLINE static void run(Warp& warp, const Instruction& i, LaneMask lanes)
    {
        const LaneMask result = combined(warp, i, Values::evaluate(warp, i));
        const auto one = static_cast<uint32_t>(i.imm);
        assignLanes(warp, lanes, warp.row<uint32_t>(i.d),
                    [=](unsigned lane) LATHE_PTX_LAMBDA { return (result >> lane & 1) != 0 ? one : 0; });
    }
};

template<bool Set, typename Values>
Handler handlerOfValues()
{
    return handlerFor<std::conditional_t<Set, SetValue<Values>, SetPredicate<Values>>>();
}

/// Pairs of halves: p is of the lower, q of the upper.
template<bool Set>
void comparePairs(Warp& warp, const Instruction& i, LaneMask lanes)
{
    const SmallFormat format = formatOf(i.from);
    LaneMask parts[2];
    for (unsigned part = 0; part < 2; ++part)
        parts[part] = compared<uint32_t>(
            warp, i, [&](uint32_t slot) LATHE_PTX_LAMBDA { return decode(slot >> 16 * part & 0xffff, format); });
    const LaneMask low = combined(warp, i, parts[0]), high = combined(warp, i, parts[1]);
    if constexpr (Set) {
        forEachLane(lanes, [&](unsigned lane) {
            const auto one = static_cast<uint32_t>(i.imm) & 0xffff;
            warp.row<uint32_t>(i.d)[lane] = ((low >> lane & 1) != 0 ? one : 0)
                                            | ((high >> lane & 1) != 0 ? one << 16 : 0);
        });
    } else {
        LaneMask& d = warp.mask(i.d);
        d = (d & ~lanes) | (low & lanes);
        if (i.d2 != kNoRow) {
            LaneMask& other = warp.mask(i.d2);
            other = (other & ~lanes) | (high & lanes);
        }
    }
}

template<bool Set>
Handler handlerOf(Type type)
{
    switch (type) {
    case Type::S16: return handlerOfValues<Set, Plain<int16_t>>();
    case Type::U16:
    case Type::B16: return handlerOfValues<Set, Plain<uint16_t>>();
    case Type::S32: return handlerOfValues<Set, Plain<int32_t>>();
    case Type::U32:
    case Type::B32: return handlerOfValues<Set, Plain<uint32_t>>();
    case Type::S64: return handlerOfValues<Set, Plain<int64_t>>();
    case Type::U64:
    case Type::B64: return handlerOfValues<Set, Plain<uint64_t>>();
    case Type::F32: return handlerOfValues<Set, Plain<float>>();
    case Type::F64: return handlerOfValues<Set, Plain<double>>();
    case Type::F16:
    case Type::Bf16: return handlerOfValues<Set, Small>();
    case Type::F16x2:
    case Type::Bf16x2: return comparePairs<Set>;
    default: return nullptr;
    }
}

int64_t trueOf(Type type)
{
    switch (type) {
    case Type::F32: return 0x3f800000;
    case Type::F16:
    case Type::F16x2: return 0x3c00;
    case Type::Bf16:
    case Type::Bf16x2: return 0x3f80;
    default: return 0xffffffff;
    }
}

void decodeSet(Decoding& decoding, bool value)
{
    Instruction& made = decoding.made();
    bool found = false;
    for (const RelationRow& row : kRelations)
        if (!found && decoding.take(row.name)) {
            made.elements = static_cast<uint8_t>(row.relation);
            found = true;
        }
    made.mode = decoding.take("and") ? kAnd : decoding.take("or") ? kOr : decoding.take("xor") ? kXor : kPlain;
    made.flush = decoding.take("ftz");
    const Type result = value ? decoding.takeType() : Type::Pred;
    const Type type = decoding.takeType();
    const Handler handler = value ? handlerOf<true>(type) : handlerOf<false>(type);
    if (!found || !handler)
        decoding.refuseInstruction();
    decoding.finish(made.mode == kPlain ? 3 : 4);
    made.from = type;
    const Operand& target = decoding.operand(0);
    if (value) {
        made.d = decoding.destination(target, result);
        made.imm = trueOf(result);
        if (sizeOf(result) == 8)
            decoding.refuseInstruction();
    } else {
        Operand first = target;
        first.second = nullptr;
        made.d = decoding.predicateDestination(first);
        if (target.second)
            made.d2 = decoding.predicateDestination(*target.second);
    }
    made.a = decoding.source(1, type);
    made.b = decoding.source(2, type);
    if (made.mode != kPlain)
        made.c = decoding.predicate(decoding.operand(3), made.negatedC);
    decoding.emit(handler);
}

template<typename S>
struct Select
{
    LATHE_PTX_INLINE static void run(Warp& warp, const Instruction& i, LaneMask lanes)
    {
        const S* const a = warp.row<S>(i.a);
        const S* const b = warp.row<S>(i.b);
        const LaneMask which = warp.mask(i.c) ^ (i.negatedC ? kAllLanes : 0);
        assignLanes(warp, lanes, warp.row<S>(i.d),
                    [=](unsigned lane) LATHE_PTX_LAMBDA { return (which >> lane & 1) != 0 ? a[lane] : b[lane]; });
    }
};
template<typename S>
inline const Handler select = handlerFor<Select<S>>();

/// slct: a where c is not negative.
template<typename S, typename C>
void selectBySign(Warp& warp, const Instruction& i, LaneMask lanes)
{
    forEachLane(lanes, [&](unsigned lane) {
        const C c = valueOf<C>(warp.row<uint32_t>(i.c)[lane]);
        warp.row<S>(i.d)[lane] = c >= 0 ? warp.row<S>(i.a)[lane] : warp.row<S>(i.b)[lane];
    });
}

} // namespace

bool decodeCompare(Decoding& decoding)
{
    const std::string_view name = decoding.name();
    Instruction& made = decoding.made();
    if (name == "setp" || name == "set") {
        decodeSet(decoding, name == "set");
    } else if (name == "selp") {
        const Type type = decoding.takeType();
        decoding.finish(4);
        operandsOf(decoding, type, type, 2);
        made.c = decoding.predicate(decoding.operand(3), made.negatedC);
        decoding.emit(sizeOf(type) == 8 ? select<uint64_t> : select<uint32_t>);
    } else if (name == "slct") {
        decoding.take("ftz");
        const Type type = decoding.takeType(), by = decoding.takeType();
        decoding.finish(4);
        operandsOf(decoding, type, type, 2);
        made.c = decoding.source(3, by);
        const bool wide = sizeOf(type) == 8;
        if (by != Type::S32 && by != Type::F32)
            decoding.refuseInstruction();
        decoding.emit(by == Type::S32 ? (wide ? selectBySign<uint64_t, int32_t> : selectBySign<uint32_t, int32_t>)
                                      : (wide ? selectBySign<uint64_t, float> : selectBySign<uint32_t, float>));
    } else {
        return false;
    }
    return true;
}

} // namespace lathe::ptx
