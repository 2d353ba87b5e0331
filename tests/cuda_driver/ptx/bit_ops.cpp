#include "tests/cuda_driver/ptx/lanes.h"

namespace lathe::ptx {

namespace {

template<typename T>
T bitAnd(T a, T b)
{
    return a & b;
}
template<typename T>
T bitOr(T a, T b)
{
    return a | b;
}
template<typename T>
T bitXor(T a, T b)
{
    return a ^ b;
}
template<typename T>
T bitNot(T a)
{
    return static_cast<T>(~a);
}
template<typename T>
T logicalNot(T a)
{
    return a == 0 ? 1 : 0;
}

// --- predicates: a row is one mask

template<auto F>
void ofPredicates(Warp& warp, const Instruction& i, LaneMask lanes)
{
    const LaneMask result = F(warp.mask(i.a), warp.mask(i.b));
    LaneMask& d = warp.mask(i.d);
    d = (d & ~lanes) | (result & lanes);
}

LaneMask invertFirst(LaneMask a, LaneMask)
{
    return ~a;
}

// --- shifts: by more than the width gives 0, or the sign

template<typename T>
struct ShiftLeft
{
    LATHE_PTX_INLINE static void run(Warp& warp, const Instruction& i, LaneMask lanes)
    {
        const auto* const a = warp.row<SlotOf<T>>(i.a);
        const auto* const b = warp.row<uint32_t>(i.b);
        constexpr uint32_t kBits = 8 * sizeof(T);
        assignLanes(warp, lanes, warp.row<SlotOf<T>>(i.d), [=](unsigned lane) LATHE_PTX_LAMBDA {
            const T shifted = static_cast<T>(valueOf<T>(a[lane]) << (b[lane] & (kBits - 1)));
            return b[lane] >= kBits ? SlotOf<T>(0) : slotOf<T>(shifted);
        });
    }
};

template<typename T>
struct ShiftRight
{
    LATHE_PTX_INLINE static void run(Warp& warp, const Instruction& i, LaneMask lanes)
    {
        const auto* const a = warp.row<SlotOf<T>>(i.a);
        const auto* const b = warp.row<uint32_t>(i.b);
        constexpr uint32_t kBits = 8 * sizeof(T);
        assignLanes(warp, lanes, warp.row<SlotOf<T>>(i.d), [=](unsigned lane) LATHE_PTX_LAMBDA {
            const T value = valueOf<T>(a[lane]);
            const T shifted = static_cast<T>(value >> (b[lane] & (kBits - 1)));
            return slotOf<T>(b[lane] >= kBits ? static_cast<T>(value < 0 ? -1 : 0) : shifted);
        });
    }
};

template<typename T>
inline const Handler shiftLeft = handlerFor<ShiftLeft<T>>();
template<typename T>
inline const Handler shiftRight = handlerFor<ShiftRight<T>>();

/// mode bit 0: left; bit 1: clamp instead of wrap.
void funnel(Warp& warp, const Instruction& i, LaneMask lanes)
{
    forEachLane(lanes, [&](unsigned lane) {
        const uint64_t both = uint64_t(warp.row<uint32_t>(i.b)[lane]) << 32 | warp.row<uint32_t>(i.a)[lane];
        const uint32_t c = warp.row<uint32_t>(i.c)[lane];
        const uint32_t by = (i.mode & 2) != 0 ? std::min(c, 32u) : c & 31;
        warp.row<uint32_t>(i.d)[lane] = static_cast<uint32_t>((i.mode & 1) != 0 ? (both << by) >> 32 : both >> by);
    });
}

/// imm: the table of eight bits.
struct Lookup3
{
    LATHE_PTX_INLINE static void run(Warp& warp, const Instruction& i, LaneMask lanes)
    {
        const auto* const a = warp.row<uint32_t>(i.a);
        const auto* const b = warp.row<uint32_t>(i.b);
        const auto* const c = warp.row<uint32_t>(i.c);
        uint32_t table[8];
        for (unsigned k = 0; k < 8; ++k)
            table[k] = (i.imm >> k & 1) != 0 ? ~0u : 0;
        assignLanes(warp, lanes, warp.row<uint32_t>(i.d), [=](unsigned lane) LATHE_PTX_LAMBDA {
            uint32_t result = 0;
            for (unsigned k = 0; k < 8; ++k)
                result |= table[k] & ((k & 4) != 0 ? a[lane] : ~a[lane]) & ((k & 2) != 0 ? b[lane] : ~b[lane])
                          & ((k & 1) != 0 ? c[lane] : ~c[lane]);
            return result;
        });
    }
};
const Handler lookup3 = handlerFor<Lookup3>();

uint32_t permute(uint32_t a, uint32_t b, uint32_t c, uint8_t mode)
{
    const uint64_t both = uint64_t(b) << 32 | a;
    const auto byte = [both](unsigned index) { return static_cast<uint32_t>(both >> 8 * (index & 7) & 0xff); };
    uint32_t result = 0;
    const unsigned first = c & 3;
    for (unsigned k = 0; k < 4; ++k) {
        uint32_t chosen = 0;
        switch (mode) {
        case 1: chosen = byte(first + k); break; // f4e
        case 2: chosen = byte(8 + first - k); break; // b4e
        case 3: chosen = byte(first); break; // rc8
        case 4: chosen = byte(std::max(first, k)); break; // ecl
        case 5: chosen = byte(std::min(first, k)); break; // ecr
        case 6: chosen = byte((first & 1) * 2 + (k & 1)); break; // rc16
        default: {
            const uint32_t selector = c >> 4 * k & 0xf;
            chosen = byte(selector);
            if ((selector & 8) != 0)
                chosen = (chosen & 0x80) != 0 ? 0xff : 0;
        }
        }
        result |= chosen << 8 * k;
    }
    return result;
}

void permuteLanes(Warp& warp, const Instruction& i, LaneMask lanes)
{
    forEachLane(lanes, [&](unsigned lane) {
        warp.row<uint32_t>(i.d)[lane] = permute(warp.row<uint32_t>(i.a)[lane], warp.row<uint32_t>(i.b)[lane],
                                                warp.row<uint32_t>(i.c)[lane], i.mode);
    });
}

template<typename T>
void extractField(Warp& warp, const Instruction& i, LaneMask lanes)
{
    constexpr unsigned kBits = 8 * sizeof(T);
    using U = std::make_unsigned_t<T>;
    forEachLane(lanes, [&](unsigned lane) {
        const T a = valueOf<T>(warp.row<SlotOf<T>>(i.a)[lane]);
        const unsigned at = warp.row<uint32_t>(i.b)[lane] & 0xff, length = warp.row<uint32_t>(i.c)[lane] & 0xff;
        U result = 0;
        if (length > 0) {
            // Beyond the top there are copies of the sign, or zeros.
            const T shifted = at >= kBits ? static_cast<T>(a < 0 ? -1 : 0) : static_cast<T>(a >> at);
            result = static_cast<U>(shifted);
            if (length < kBits) {
                result &= static_cast<U>((U(1) << length) - 1);
                const unsigned top = std::min(at + length - 1, kBits - 1);
                if (std::is_signed_v<T> && (static_cast<U>(a) >> top & 1) != 0)
                    result |= static_cast<U>(~((U(1) << length) - 1));
            }
        }
        warp.row<SlotOf<T>>(i.d)[lane] = slotOf<U>(result);
    });
}

template<typename T>
void insertField(Warp& warp, const Instruction& i, LaneMask lanes)
{
    constexpr unsigned kBits = 8 * sizeof(T);
    forEachLane(lanes, [&](unsigned lane) {
        const T a = warp.row<T>(i.a)[lane], b = warp.row<T>(i.b)[lane];
        const unsigned at = warp.row<uint32_t>(i.c)[lane] & 0xff, length = warp.row<uint32_t>(i.e)[lane] & 0xff;
        T mask = length >= kBits ? ~T(0) : static_cast<T>((T(1) << length) - 1);
        mask = at >= kBits ? 0 : static_cast<T>(mask << at);
        warp.row<T>(i.d)[lane] = (b & ~mask) | ((at >= kBits ? 0 : a << at) & mask);
    });
}

template<typename T>
T reversed(T a)
{
    T result = 0;
    for (unsigned k = 0; k < 8 * sizeof(T); ++k)
        result |= (a >> k & 1) << (8 * sizeof(T) - 1 - k);
    return result;
}
template<typename T>
uint32_t leadingZeros(T a)
{
    return static_cast<uint32_t>(std::countl_zero(a));
}
template<typename T>
uint32_t population(T a)
{
    return static_cast<uint32_t>(std::popcount(a));
}

/// The highest bit that is not the sign; mode 1: by how much it is to be shifted.
template<typename T>
void findBit(Warp& warp, const Instruction& i, LaneMask lanes)
{
    using U = std::make_unsigned_t<T>;
    forEachLane(lanes, [&](unsigned lane) {
        const T a = valueOf<T>(warp.row<SlotOf<T>>(i.a)[lane]);
        const U bits = static_cast<U>(a < 0 ? ~a : a);
        uint32_t at = 8 * sizeof(T) - 1 - static_cast<uint32_t>(std::countl_zero(bits));
        if (bits == 0)
            at = 0xffffffff;
        else if (i.mode == 1)
            at = 8 * sizeof(T) - 1 - at;
        warp.row<uint32_t>(i.d)[lane] = at;
    });
}

/// mode 1: clamp; else wrap.
void bitMask(Warp& warp, const Instruction& i, LaneMask lanes)
{
    forEachLane(lanes, [&](unsigned lane) {
        uint32_t a = warp.row<uint32_t>(i.a)[lane], b = warp.row<uint32_t>(i.b)[lane];
        if (i.mode != 1)
            a &= 31, b &= 31;
        const uint64_t ones = b >= 32 ? 0xffffffff : (uint64_t(1) << b) - 1;
        warp.row<uint32_t>(i.d)[lane] = a >= 32 ? 0 : static_cast<uint32_t>(ones << a);
    });
}

template<template<typename> class F>
Handler bitwiseOf(Type type)
{
    switch (sizeOf(type)) {
    case 2: return binary<uint16_t, uint16_t, F<uint16_t>::of>;
    case 4: return binary<uint32_t, uint32_t, F<uint32_t>::of>;
    case 8: return binary<uint64_t, uint64_t, F<uint64_t>::of>;
    default: return nullptr;
    }
}
template<typename T>
struct And
{
    static T of(T a, T b) { return bitAnd<T>(a, b); }
};
template<typename T>
struct Or
{
    static T of(T a, T b) { return bitOr<T>(a, b); }
};
template<typename T>
struct Xor
{
    static T of(T a, T b) { return bitXor<T>(a, b); }
};

void decodeLogic(Decoding& decoding)
{
    const std::string_view name = decoding.name();
    const Type type = decoding.takeType();
    Instruction& made = decoding.made();
    const bool one = name == "not" || name == "cnot";
    decoding.finish(one ? 2 : 3);
    if (type == Type::Pred) {
        if (name == "cnot")
            decoding.refuseInstruction();
        made.d = decoding.predicateDestination(decoding.operand(0));
        made.a = decoding.predicate(decoding.operand(1));
        made.b = one ? made.a : decoding.predicate(decoding.operand(2));
        decoding.emit(one             ? ofPredicates<invertFirst>
                      : name == "and" ? ofPredicates<bitAnd<LaneMask>>
                      : name == "or"  ? ofPredicates<bitOr<LaneMask>>
                                      : ofPredicates<bitXor<LaneMask>>);
        return;
    }
    operandsOf(decoding, type, type, one ? 1 : 2);
    Handler handler = nullptr;
    const unsigned size = sizeOf(type);
    if (name == "not")
        handler = size == 2   ? unary<uint16_t, uint16_t, bitNot<uint16_t>>
                  : size == 4 ? unary<uint32_t, uint32_t, bitNot<uint32_t>>
                  : size == 8 ? unary<uint64_t, uint64_t, bitNot<uint64_t>>
                              : nullptr;
    else if (name == "cnot")
        handler = size == 2   ? unary<uint16_t, uint16_t, logicalNot<uint16_t>>
                  : size == 4 ? unary<uint32_t, uint32_t, logicalNot<uint32_t>>
                  : size == 8 ? unary<uint64_t, uint64_t, logicalNot<uint64_t>>
                              : nullptr;
    else
        handler = name == "and" ? bitwiseOf<And>(type) : name == "or" ? bitwiseOf<Or>(type) : bitwiseOf<Xor>(type);
    if (!handler)
        decoding.refuseInstruction();
    decoding.emit(handler);
}

void decodeShift(Decoding& decoding)
{
    const bool left = decoding.name() == "shl";
    const Type type = decoding.takeType();
    decoding.finish(3);
    Instruction& made = decoding.made();
    made.d = decoding.destination(0, type);
    made.a = decoding.source(1, type);
    made.b = decoding.source(2, Type::U32);
    const unsigned size = sizeOf(type);
    if (left)
        decoding.emit(size == 2 ? shiftLeft<uint16_t> : size == 4 ? shiftLeft<uint32_t> : shiftLeft<uint64_t>);
    else if (isSigned(type))
        decoding.emit(size == 2 ? shiftRight<int16_t> : size == 4 ? shiftRight<int32_t> : shiftRight<int64_t>);
    else
        decoding.emit(size == 2 ? shiftRight<uint16_t> : size == 4 ? shiftRight<uint32_t> : shiftRight<uint64_t>);
}

void decodePermute(Decoding& decoding)
{
    Instruction& made = decoding.made();
    decoding.takeType();
    constexpr std::array<std::string_view, 6> kModes = {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"};
    for (size_t k = 0; k < kModes.size(); ++k)
        if (decoding.take(kModes[k]))
            made.mode = static_cast<uint8_t>(k + 1);
    decoding.finish(4);
    operandsOf(decoding, Type::B32, Type::B32, 3);
    decoding.emit(permuteLanes);
}

void decodeField(Decoding& decoding)
{
    const Type type = decoding.takeType();
    Instruction& made = decoding.made();
    const bool wide = sizeOf(type) == 8;
    made.d = decoding.destination(0, type);
    made.a = decoding.source(1, type);
    if (decoding.name() == "bfe") {
        decoding.finish(4);
        made.b = decoding.source(2, Type::U32);
        made.c = decoding.source(3, Type::U32);
        if (isSigned(type))
            decoding.emit(wide ? extractField<int64_t> : extractField<int32_t>);
        else
            decoding.emit(wide ? extractField<uint64_t> : extractField<uint32_t>);
    } else {
        decoding.finish(5);
        made.b = decoding.source(2, type);
        made.c = decoding.source(3, Type::U32);
        made.e = decoding.source(4, Type::U32);
        decoding.emit(wide ? insertField<uint64_t> : insertField<uint32_t>);
    }
}

void decodeCount(Decoding& decoding)
{
    const std::string_view name = decoding.name();
    Instruction& made = decoding.made();
    if (name == "bfind" && decoding.take("shiftamt"))
        made.mode = 1;
    const Type type = decoding.takeType();
    decoding.finish(2);
    const bool wide = sizeOf(type) == 8;
    if (sizeOf(type) < 4)
        decoding.refuseInstruction();
    operandsOf(decoding, name == "brev" ? type : Type::U32, type, 1);
    if (name == "brev")
        decoding.emit(wide ? unary<uint64_t, uint64_t, reversed<uint64_t>>
                           : unary<uint32_t, uint32_t, reversed<uint32_t>>);
    else if (name == "clz")
        decoding.emit(wide ? unary<uint64_t, uint32_t, leadingZeros<uint64_t>>
                           : unary<uint32_t, uint32_t, leadingZeros<uint32_t>>);
    else if (name == "popc")
        decoding.emit(wide ? unary<uint64_t, uint32_t, population<uint64_t>>
                           : unary<uint32_t, uint32_t, population<uint32_t>>);
    else if (isSigned(type))
        decoding.emit(wide ? findBit<int64_t> : findBit<int32_t>);
    else
        decoding.emit(wide ? findBit<uint64_t> : findBit<uint32_t>);
}

} // namespace

bool decodeBits(Decoding& decoding)
{
    const std::string_view name = decoding.name();
    Instruction& made = decoding.made();
    if (name == "and" || name == "or" || name == "xor" || name == "not" || name == "cnot") {
        decodeLogic(decoding);
    } else if (name == "shl" || name == "shr") {
        decodeShift(decoding);
    } else if (name == "shf") {
        if (decoding.take("l"))
            made.mode |= 1;
        else if (!decoding.take("r"))
            decoding.refuseInstruction();
        if (decoding.take("clamp"))
            made.mode |= 2;
        else
            decoding.take("wrap");
        decoding.takeType();
        decoding.finish(4);
        operandsOf(decoding, Type::B32, Type::B32, 3);
        decoding.emit(funnel);
    } else if (name == "lop3") {
        if (decoding.takeType() != Type::B32)
            decoding.refuseInstruction();
        decoding.finish(5);
        operandsOf(decoding, Type::B32, Type::B32, 3);
        made.imm = decoding.immediate(4);
        decoding.emit(lookup3);
    } else if (name == "prmt") {
        decodePermute(decoding);
    } else if (name == "bfe" || name == "bfi") {
        decodeField(decoding);
    } else if (name == "brev" || name == "clz" || name == "popc" || name == "bfind") {
        decodeCount(decoding);
    } else if (name == "bmsk") {
        made.mode = decoding.take("clamp") ? 1 : 0;
        decoding.take("wrap");
        decoding.takeType();
        decoding.finish(3);
        operandsOf(decoding, Type::B32, Type::B32, 2);
        decoding.emit(bitMask);
    } else {
        return false;
    }
    return true;
}

} // namespace lathe::ptx
