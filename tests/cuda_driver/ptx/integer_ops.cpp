#include "tests/cuda_driver/ptx/lanes.h"

namespace lathe::ptx {

namespace {

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

template<typename T>
using Twice =
    std::conditional_t<sizeof(T) == 8, std::conditional_t<std::is_signed_v<T>, Int128, UInt128>,
                       std::conditional_t<sizeof(T) == 4, std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>,
                                          std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>>>;
template<typename T>
using Unsigned = std::make_unsigned_t<T>;

// Numbers wrap around, so that sums and products are taken of unsigned ones; those of 16 bits would be of int else.
template<typename T>
T add(T a, T b)
{
    return static_cast<T>(static_cast<Unsigned<T>>(a) + static_cast<Unsigned<T>>(b));
}
template<typename T>
T sub(T a, T b)
{
    return static_cast<T>(static_cast<Unsigned<T>>(a) - static_cast<Unsigned<T>>(b));
}
template<typename T>
T mulLow(T a, T b)
{
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
template<typename T>
T mulHigh(T a, T b)
{
    return static_cast<T>((static_cast<Twice<T>>(a) * static_cast<Twice<T>>(b)) >> (8 * sizeof(T)));
}
template<typename T>
auto mulWide(T a, T b)
{
    return static_cast<Twice<T>>(a) * static_cast<Twice<T>>(b);
}
template<typename T>
T mul24(T a, T b)
{
    if constexpr (std::is_signed_v<T>)
        return mulLow<T>(static_cast<T>(static_cast<uint32_t>(a) << 8) >> 8,
                         static_cast<T>(static_cast<uint32_t>(b) << 8) >> 8);
    else
        return mulLow<T>(a & 0xffffff, b & 0xffffff);
}
template<typename T>
T madLow(T a, T b, T c)
{
    return add<T>(mulLow<T>(a, b), c);
}
template<typename T>
T mad24(T a, T b, T c)
{
    return add<T>(mul24<T>(a, b), c);
}
template<typename T>
T madHigh(T a, T b, T c)
{
    return add<T>(mulHigh<T>(a, b), c);
}
template<typename T>
Twice<T> madWide(T a, T b, Twice<T> c)
{
    return add<Twice<T>>(mulWide<T>(a, b), c);
}
/// Divisions by zero give all bits one, remainders the dividend, as devices do; the text of PTX leaves both open.
template<typename T>
T quotient(T a, T b)
{
    if (b == 0)
        return static_cast<T>(-1);
    if (std::is_signed_v<T> && b == static_cast<T>(-1))
        return sub<T>(0, a);
    return static_cast<T>(a / b);
}
template<typename T>
T remainder(T a, T b)
{
    if (b == 0)
        return a;
    if (std::is_signed_v<T> && b == static_cast<T>(-1))
        return 0;
    return static_cast<T>(a % b);
}
template<typename T>
T least(T a, T b)
{
    return a < b ? a : b;
}
template<typename T>
T most(T a, T b)
{
    return a > b ? a : b;
}
template<typename T>
T absolute(T a)
{
    return a < 0 ? sub<T>(0, a) : a;
}
template<typename T>
T negative(T a)
{
    return sub<T>(0, a);
}
template<typename T>
T sumOfDifference(T a, T b, T c)
{
    return add<T>(c, a < b ? sub<T>(b, a) : sub<T>(a, b));
}
int32_t addSaturated(int32_t a, int32_t b)
{
    const int64_t sum = int64_t(a) + b;
    return static_cast<int32_t>(std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX));
}
int32_t subSaturated(int32_t a, int32_t b)
{
    const int64_t difference = int64_t(a) - b;
    return static_cast<int32_t>(std::clamp<int64_t>(difference, INT32_MIN, INT32_MAX));
}

/// Chooses the handler of a binary function by type. W: of 16, 32 and 64 bits.
#define LATHE_PTX_BY_TYPE(name, function)                                                                              \
    Handler name(Type type)                                                                                            \
    {                                                                                                                  \
        switch (type) {                                                                                                \
        case Type::U16: return binary<uint16_t, uint16_t, function<uint16_t>>;                                         \
        case Type::S16: return binary<int16_t, int16_t, function<int16_t>>;                                            \
        case Type::U32: return binary<uint32_t, uint32_t, function<uint32_t>>;                                         \
        case Type::S32: return binary<int32_t, int32_t, function<int32_t>>;                                            \
        case Type::U64: return binary<uint64_t, uint64_t, function<uint64_t>>;                                         \
        case Type::S64: return binary<int64_t, int64_t, function<int64_t>>;                                            \
        default: return nullptr;                                                                                       \
        }                                                                                                              \
    }

LATHE_PTX_BY_TYPE(addOf, add)
LATHE_PTX_BY_TYPE(subOf, sub)
LATHE_PTX_BY_TYPE(mulLowOf, mulLow)
LATHE_PTX_BY_TYPE(mulHighOf, mulHigh)
LATHE_PTX_BY_TYPE(quotientOf, quotient)
LATHE_PTX_BY_TYPE(remainderOf, remainder)
LATHE_PTX_BY_TYPE(leastOf, least)
LATHE_PTX_BY_TYPE(mostOf, most)
#undef LATHE_PTX_BY_TYPE

Handler mulWideOf(Type type)
{
    switch (type) {
    case Type::U16: return binary<uint16_t, uint32_t, mulWide<uint16_t>>;
    case Type::S16: return binary<int16_t, int32_t, mulWide<int16_t>>;
    case Type::U32: return binary<uint32_t, uint64_t, mulWide<uint32_t>>;
    case Type::S32: return binary<int32_t, int64_t, mulWide<int32_t>>;
    default: return nullptr;
    }
}

Handler madWideOf(Type type)
{
    switch (type) {
    case Type::U16: return ternary<uint16_t, uint32_t, uint32_t, madWide<uint16_t>>;
    case Type::S16: return ternary<int16_t, int32_t, int32_t, madWide<int16_t>>;
    case Type::U32: return ternary<uint32_t, uint64_t, uint64_t, madWide<uint32_t>>;
    case Type::S32: return ternary<int32_t, int64_t, int64_t, madWide<int32_t>>;
    default: return nullptr;
    }
}

template<template<typename> class F>
Handler ternaryOf(Type type)
{
    switch (type) {
    case Type::U16: return ternary<uint16_t, uint16_t, uint16_t, F<uint16_t>::of>;
    case Type::S16: return ternary<int16_t, int16_t, int16_t, F<int16_t>::of>;
    case Type::U32: return ternary<uint32_t, uint32_t, uint32_t, F<uint32_t>::of>;
    case Type::S32: return ternary<int32_t, int32_t, int32_t, F<int32_t>::of>;
    case Type::U64: return ternary<uint64_t, uint64_t, uint64_t, F<uint64_t>::of>;
    case Type::S64: return ternary<int64_t, int64_t, int64_t, F<int64_t>::of>;
    default: return nullptr;
    }
}

template<typename T>
struct MadLow
{
    static T of(T a, T b, T c) { return madLow<T>(a, b, c); }
};
template<typename T>
struct MadHigh
{
    static T of(T a, T b, T c) { return madHigh<T>(a, b, c); }
};
template<typename T>
struct Sad
{
    static T of(T a, T b, T c) { return sumOfDifference<T>(a, b, c); }
};

Type wideOf(Type type)
{
    switch (type) {
    case Type::U16: return Type::U32;
    case Type::S16: return Type::S32;
    case Type::U32: return Type::U64;
    default: return Type::S64;
    }
}

// --- with the condition code: mode bit 0 reads it, bit 1 writes it

constexpr uint8_t kCarryIn = 1, kCarryOut = 2;

template<typename T, bool Subtract>
void carried(Warp& warp, const Instruction& i, LaneMask lanes)
{
    auto* const d = warp.row<T>(i.d);
    const auto* const a = warp.row<T>(i.a);
    const auto* const b = warp.row<T>(i.b);
    forEachLane(lanes, [&](unsigned lane) {
        const unsigned in = (i.mode & kCarryIn) != 0 ? warp.carry >> lane & 1 : 0;
        using Wide = Twice<T>;
        const Wide sum = Subtract ? Wide(a[lane]) - b[lane] - in : Wide(a[lane]) + b[lane] + in;
        d[lane] = static_cast<T>(sum);
        if ((i.mode & kCarryOut) != 0)
            warp.carry = (warp.carry & ~(1u << lane)) | (static_cast<unsigned>(sum >> (8 * sizeof(T))) & 1) << lane;
    });
}

template<typename T, bool High>
void carriedMad(Warp& warp, const Instruction& i, LaneMask lanes)
{
    using U = Unsigned<T>;
    auto* const d = warp.row<SlotOf<T>>(i.d);
    const auto* const a = warp.row<SlotOf<T>>(i.a);
    const auto* const b = warp.row<SlotOf<T>>(i.b);
    const auto* const c = warp.row<SlotOf<T>>(i.c);
    forEachLane(lanes, [&](unsigned lane) {
        const unsigned in = (i.mode & kCarryIn) != 0 ? warp.carry >> lane & 1 : 0;
        const T x = valueOf<T>(a[lane]), y = valueOf<T>(b[lane]);
        const U product = static_cast<U>(High ? mulHigh<T>(x, y) : mulLow<T>(x, y));
        const Twice<U> sum = Twice<U>(product) + static_cast<U>(c[lane]) + in;
        d[lane] = static_cast<SlotOf<T>>(sum);
        if ((i.mode & kCarryOut) != 0)
            warp.carry = (warp.carry & ~(1u << lane)) | (static_cast<unsigned>(sum >> (8 * sizeof(T))) & 1) << lane;
    });
}

void decodeCarried(Decoding& decoding)
{
    const std::string_view name = decoding.name();
    Instruction& made = decoding.made();
    if (name.back() == 'c')
        made.mode |= kCarryIn;
    if (decoding.take("cc"))
        made.mode |= kCarryOut;
    const bool high = decoding.take("hi");
    if (!high)
        decoding.take("lo");
    const Type type = decoding.takeType();
    const bool mad = name.starts_with("mad");
    decoding.finish(mad ? 4 : 3);
    operandsOf(decoding, type, type, mad ? 3 : 2);
    const bool wide = sizeOf(type) == 8;
    if (sizeOf(type) < 4 || isFloat(type))
        decoding.refuseInstruction();
    if (!mad) {
        const bool subtract = name.starts_with("sub");
        decoding.emit(wide ? (subtract ? carried<uint64_t, true> : carried<uint64_t, false>)
                           : (subtract ? carried<uint32_t, true> : carried<uint32_t, false>));
        return;
    }
    const auto choose = [high](Handler ofHigh, Handler ofLow) { return high ? ofHigh : ofLow; };
    switch (type) {
    case Type::S32: decoding.emit(choose(carriedMad<int32_t, true>, carriedMad<int32_t, false>)); break;
    case Type::S64: decoding.emit(choose(carriedMad<int64_t, true>, carriedMad<int64_t, false>)); break;
    case Type::U64: decoding.emit(choose(carriedMad<uint64_t, true>, carriedMad<uint64_t, false>)); break;
    default: decoding.emit(choose(carriedMad<uint32_t, true>, carriedMad<uint32_t, false>)); break;
    }
}

// --- products of bytes

template<typename A, typename B>
void dot4(Warp& warp, const Instruction& i, LaneMask lanes)
{
    forEachLane(lanes, [&](unsigned lane) {
        const uint32_t a = warp.row<uint32_t>(i.a)[lane], b = warp.row<uint32_t>(i.b)[lane];
        uint32_t sum = warp.row<uint32_t>(i.c)[lane];
        for (unsigned k = 0; k < 4; ++k)
            sum += static_cast<uint32_t>(static_cast<A>(a >> 8 * k) * static_cast<B>(b >> 8 * k));
        warp.row<uint32_t>(i.d)[lane] = sum;
    });
}

/// Two of 16 bits with two of 8: the low or, mode 1, the high pair of bytes.
template<typename A, typename B>
void dot2(Warp& warp, const Instruction& i, LaneMask lanes)
{
    forEachLane(lanes, [&](unsigned lane) {
        const uint32_t a = warp.row<uint32_t>(i.a)[lane], b = warp.row<uint32_t>(i.b)[lane] >> (i.mode == 1 ? 16 : 0);
        uint32_t sum = warp.row<uint32_t>(i.c)[lane];
        for (unsigned k = 0; k < 2; ++k)
            sum += static_cast<uint32_t>(static_cast<A>(a >> 16 * k) * static_cast<B>(b >> 8 * k));
        warp.row<uint32_t>(i.d)[lane] = sum;
    });
}

void decodeDot(Decoding& decoding)
{
    const bool four = decoding.name() == "dp4a";
    Instruction& made = decoding.made();
    if (!four) {
        made.mode = decoding.take("hi") ? 1 : 0;
        decoding.take("lo");
    }
    const Type a = decoding.takeType(), b = decoding.takeType();
    if ((a != Type::S32 && a != Type::U32) || (b != Type::S32 && b != Type::U32))
        decoding.refuseInstruction();
    decoding.finish(4);
    operandsOf(decoding, Type::B32, Type::B32, 3);
    const bool sa = a == Type::S32, sb = b == Type::S32;
    if (four)
        decoding.emit(sa ? (sb ? dot4<int8_t, int8_t> : dot4<int8_t, uint8_t>)
                         : (sb ? dot4<uint8_t, int8_t> : dot4<uint8_t, uint8_t>));
    else
        decoding.emit(sa ? (sb ? dot2<int16_t, int8_t> : dot2<int16_t, uint8_t>)
                         : (sb ? dot2<uint16_t, int8_t> : dot2<uint16_t, uint8_t>));
}

Type lastTypeOf(const Decoding& decoding)
{
    return typeNamed(decoding.statement().opcode.back()).value_or(Type::None);
}

bool isCarried(const Decoding& decoding)
{
    const std::string_view name = decoding.name();
    if (name == "addc" || name == "subc" || name == "madc")
        return true;
    const auto& words = decoding.statement().opcode;
    return (name == "add" || name == "sub" || name == "mad")
           && std::find(words.begin(), words.end(), "cc") != words.end();
}

void decodeProduct(Decoding& decoding, bool mad)
{
    const bool wide = decoding.take("wide");
    const bool high = !wide && decoding.take("hi");
    const bool only24 = decoding.name().ends_with("24");
    if (!wide && !high && !decoding.take("lo"))
        decoding.refuseInstruction();
    const Type type = decoding.takeType();
    const Type result = wide ? wideOf(type) : type;
    decoding.finish(mad ? 4 : 3);
    Instruction& made = decoding.made();
    made.d = decoding.destination(0, result);
    made.a = decoding.source(1, type);
    made.b = decoding.source(2, type);
    if (mad)
        made.c = decoding.source(3, result);
    Handler handler = nullptr;
    if (only24 && !wide && !high)
        handler = type == Type::S32   ? (mad ? ternary<int32_t, int32_t, int32_t, mad24<int32_t>>
                                             : binary<int32_t, int32_t, mul24<int32_t>>)
                  : type == Type::U32 ? (mad ? ternary<uint32_t, uint32_t, uint32_t, mad24<uint32_t>>
                                             : binary<uint32_t, uint32_t, mul24<uint32_t>>)
                                      : nullptr;
    else if (!only24 && mad)
        handler = wide ? madWideOf(type) : high ? ternaryOf<MadHigh>(type) : ternaryOf<MadLow>(type);
    else if (!only24)
        handler = wide ? mulWideOf(type) : high ? mulHighOf(type) : mulLowOf(type);
    if (!handler)
        decoding.refuseInstruction();
    decoding.emit(handler);
}

} // namespace

void operandsOf(Decoding& decoding, Type result, Type type, size_t sources)
{
    Instruction& made = decoding.made();
    made.d = decoding.destination(0, result);
    if (sources > 0)
        made.a = decoding.source(1, type);
    if (sources > 1)
        made.b = decoding.source(2, type);
    if (sources > 2)
        made.c = decoding.source(3, type);
}

bool decodeInteger(Decoding& decoding)
{
    const std::string_view name = decoding.name();
    if (name == "dp4a" || name == "dp2a")
        return decodeDot(decoding), true;
    if (isCarried(decoding))
        return decodeCarried(decoding), true;
    const Type last = lastTypeOf(decoding);
    if (last == Type::None || isFloat(last) || last == Type::Pred)
        return false;
    if (name == "mul" || name == "mul24")
        return decodeProduct(decoding, false), true;
    if (name == "mad" || name == "mad24")
        return decodeProduct(decoding, true), true;
    Handler handler = nullptr;
    size_t sources = 2;
    const bool saturate = (name == "add" || name == "sub") && decoding.take("sat");
    const Type type = last;
    if (name == "add")
        handler = saturate ? (type == Type::S32 ? binary<int32_t, int32_t, addSaturated> : nullptr) : addOf(type);
    else if (name == "sub")
        handler = saturate ? (type == Type::S32 ? binary<int32_t, int32_t, subSaturated> : nullptr) : subOf(type);
    else if (name == "div")
        handler = quotientOf(type);
    else if (name == "rem")
        handler = remainderOf(type);
    else if (name == "min")
        handler = leastOf(type);
    else if (name == "max")
        handler = mostOf(type);
    else if (name == "sad")
        handler = ternaryOf<Sad>(type), sources = 3;
    else if (name == "abs" || name == "neg") {
        sources = 1;
        const bool negate = name == "neg";
        handler = type == Type::S16   ? (negate ? unary<int16_t, int16_t, negative<int16_t>>
                                                : unary<int16_t, int16_t, absolute<int16_t>>)
                  : type == Type::S32 ? (negate ? unary<int32_t, int32_t, negative<int32_t>>
                                                : unary<int32_t, int32_t, absolute<int32_t>>)
                  : type == Type::S64 ? (negate ? unary<int64_t, int64_t, negative<int64_t>>
                                                : unary<int64_t, int64_t, absolute<int64_t>>)
                                      : nullptr;
    } else
        return false;
    if (!handler)
        decoding.refuseInstruction();
    decoding.takeType();
    decoding.finish(sources + 1);
    operandsOf(decoding, type, type, sources);
    decoding.emit(handler);
    return true;
}

} // namespace lathe::ptx
