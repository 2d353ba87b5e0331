#include "tests/cuda_driver/ptx/lanes.h"
#include "tests/cuda_driver/ptx/small_float.h"

// cvt between all types. Compiled with -frounding-math.

namespace lathe::ptx {

namespace {

constexpr uint8_t kToWhole = 1; // mode: rounded to a whole number, which stays a float

struct Number
{
    double real = 0;
    int64_t whole = 0; // of a source that is no float; the bits of an unsigned one
};

Number read(const Warp& warp, const Instruction& i, unsigned lane)
{
    const uint64_t bits = i.strong ? warp.row<uint64_t>(i.a)[lane] : warp.row<uint32_t>(i.a)[lane]; // strong: 64 bits
    switch (i.from) {
    case Type::F64: return {std::bit_cast<double>(bits), 0};
    case Type::F32: {
        const float value = std::bit_cast<float>(static_cast<uint32_t>(bits));
        const bool tiny = i.flush && std::fabs(value) < std::numeric_limits<float>::min();
        return {tiny ? std::copysign(0.0, static_cast<double>(value)) : static_cast<double>(value), 0};
    }
    case Type::F16:
    case Type::Bf16: return {decode(static_cast<uint32_t>(bits & 0xffff), formatOf(i.from)), 0};
    case Type::S8: return {0, static_cast<int8_t>(bits)};
    case Type::S16: return {0, static_cast<int16_t>(bits)};
    case Type::S32: return {0, static_cast<int32_t>(bits)};
    case Type::U8:
    case Type::B8: return {0, static_cast<uint8_t>(bits)};
    case Type::U16:
    case Type::B16: return {0, static_cast<uint16_t>(bits)};
    case Type::U32:
    case Type::B32: return {0, static_cast<uint32_t>(bits)};
    default: return {0, static_cast<int64_t>(bits)};
    }
}

double toWhole(double value, Rounding rounding)
{
    switch (rounding) {
    case Rounding::Zero: return std::trunc(value);
    case Rounding::Down: return std::floor(value);
    case Rounding::Up: return std::ceil(value);
    default: return std::nearbyint(value);
    }
}

struct Range
{
    int64_t low;
    uint64_t high;
};

Range rangeOf(Type type)
{
    const unsigned bits = 8 * sizeOf(type);
    if (!isSigned(type))
        return {0, ~uint64_t(0) >> (64 - bits)};
    const uint64_t high = ~uint64_t(0) >> (65 - bits);
    return {static_cast<int64_t>(~high), high};
}

/// Floats become the nearest number of the range, what is not a number 0.
uint64_t wholeOf(double value, const Instruction& i)
{
    if (value != value)
        return 0;
    const double rounded = toWhole(value, i.rounding);
    const Range range = rangeOf(i.type);
    if (rounded <= static_cast<double>(range.low))
        return static_cast<uint64_t>(range.low);
    if (rounded >= static_cast<double>(range.high))
        return range.high;
    return rounded < 0 ? static_cast<uint64_t>(static_cast<int64_t>(rounded)) : static_cast<uint64_t>(rounded);
}

uint64_t saturated(int64_t whole, bool fromSigned, Type type)
{
    const Range range = rangeOf(type);
    if (fromSigned && whole < range.low)
        return static_cast<uint64_t>(range.low);
    if (fromSigned && whole < 0)
        return static_cast<uint64_t>(whole);
    return std::min(static_cast<uint64_t>(whole), range.high);
}

uint64_t floatBits(const Number& number, const Instruction& i)
{
    double real = number.real;
    if (!isFloat(i.from)) {
        const bool isUnsigned = !isSigned(i.from);
        if (i.type == Type::F32) // rounded once
            return std::bit_cast<uint32_t>(isUnsigned ? static_cast<float>(static_cast<uint64_t>(number.whole))
                                                      : static_cast<float>(number.whole));
        real = isUnsigned ? static_cast<double>(static_cast<uint64_t>(number.whole))
                          : static_cast<double>(number.whole);
    }
    if (i.mode == kToWhole)
        real = toWhole(real, i.rounding);
    if (i.saturate)
        real = real > 0 ? std::min(real, 1.0) : 0.0;
    if (i.aligned && !(real > 0)) // .relu
        real = real != real ? real : 0.0;
    if (i.type == Type::F64)
        return std::bit_cast<uint64_t>(real);
    if (i.type == Type::Tf32)
        return uint64_t(encode(real, kTf32, i.rounding)) << 13;
    if (i.type != Type::F32)
        return encode(real, formatOf(i.type), i.rounding);
    if (real != real)
        return 0x7fffffff;
    const float value = static_cast<float>(real);
    const bool tiny = i.flush && std::fabs(value) < std::numeric_limits<float>::min();
    return std::bit_cast<uint32_t>(tiny ? std::copysign(0.0F, value) : value);
}

void convertRun(Warp& warp, const Instruction& i, LaneMask lanes)
{
    const bool toFloat = isFloat(i.type), fromFloat = isFloat(i.from);
    forEachLane(lanes, [&](unsigned lane) {
        const Number number = read(warp, i, lane);
        uint64_t bits = 0;
        if (toFloat)
            bits = floatBits(number, i);
        else if (fromFloat)
            bits = wholeOf(number.real, i);
        else if (i.saturate)
            bits = saturated(number.whole, isSigned(i.from), i.type);
        else
            bits = static_cast<uint64_t>(number.whole);
        if (!toFloat) { // as wide as the register, with the sign of the type
            switch (i.type) {
            case Type::S8: bits = static_cast<uint64_t>(int64_t(static_cast<int8_t>(bits))); break;
            case Type::S16: bits = static_cast<uint64_t>(int64_t(static_cast<int16_t>(bits))); break;
            case Type::S32: bits = static_cast<uint64_t>(int64_t(static_cast<int32_t>(bits))); break;
            default: bits &= ~uint64_t(0) >> (64 - 8 * sizeOf(i.type)); break;
            }
        }
        if (i.wide)
            warp.row<uint64_t>(i.d)[lane] = bits;
        else
            warp.row<uint32_t>(i.d)[lane] = static_cast<uint32_t>(bits);
    });
}

template<typename From, typename To>
To cast(From value)
{
    return static_cast<To>(value);
}

/// The conversions of addresses, done for whole warps.
Handler fastHandler(Type to, Type from)
{
    if (from == Type::U32 && (to == Type::U64 || to == Type::S64))
        return unary<uint32_t, uint64_t, cast<uint32_t, uint64_t>>;
    if (from == Type::S32 && (to == Type::U64 || to == Type::S64))
        return unary<int32_t, int64_t, cast<int32_t, int64_t>>;
    if ((from == Type::U64 || from == Type::S64) && (to == Type::U32 || to == Type::S32))
        return unary<uint64_t, uint32_t, cast<uint64_t, uint32_t>>;
    if (from == Type::S32 && to == Type::F32)
        return unary<int32_t, float, cast<int32_t, float>>;
    return nullptr;
}

/// cvt.rn.f16x2.f32 d, a, b: a is the upper half.
void pairRun(Warp& warp, const Instruction& i, LaneMask lanes)
{
    forEachLane(lanes, [&](unsigned lane) {
        const auto one = [&](RowRef row) {
            double value = static_cast<double>(warp.row<float>(row)[lane]);
            if (i.aligned && value < 0)
                value = 0;
            if (i.saturate)
                value = value > 0 ? std::min(value, 1.0) : 0.0;
            return encode(value, formatOf(i.type), i.rounding);
        };
        warp.row<uint32_t>(i.d)[lane] = one(i.a) << 16 | one(i.b);
    });
}

/// cvt.pack.sat.s8.s32.b32 d, a, b, c: a and b saturated side by side, above them what c has in its lower part.
void packRun(Warp& warp, const Instruction& i, LaneMask lanes)
{
    const unsigned bits = 8 * sizeOf(i.type);
    forEachLane(lanes, [&](unsigned lane) {
        const auto one = [&](RowRef row) {
            const int64_t value = isSigned(i.from) ? int64_t(warp.row<int32_t>(row)[lane])
                                                   : int64_t(warp.row<uint32_t>(row)[lane]);
            return static_cast<uint32_t>(saturated(value, true, i.type)) & ((1u << bits) - 1);
        };
        uint32_t result = one(i.a) << bits | one(i.b);
        if (bits == 8 && i.c != kNoRow)
            result |= warp.row<uint32_t>(i.c)[lane] << 16;
        warp.row<uint32_t>(i.d)[lane] = result;
    });
}

bool asksForWhole(const Decoding& decoding)
{
    for (const std::string_view word : decoding.statement().opcode)
        if (word == "rni" || word == "rzi" || word == "rmi" || word == "rpi")
            return true;
    return false;
}

void decodePack(Decoding& decoding)
{
    Instruction& made = decoding.made();
    if (!decoding.take("sat"))
        decoding.refuseInstruction();
    made.type = decoding.takeType();
    made.from = decoding.takeType();
    const bool third = decoding.takeType() == Type::B32;
    if (sizeOf(made.type) > 2 || isFloat(made.type) || (made.from != Type::S32 && made.from != Type::U32))
        decoding.refuseInstruction();
    decoding.finish(third ? 4 : 3);
    operandsOf(decoding, Type::B32, Type::B32, third ? 3 : 2);
    decoding.emit(packRun);
}

} // namespace

bool decodeConvert(Decoding& decoding)
{
    if (decoding.name() != "cvt")
        return false;
    if (decoding.take("pack"))
        return decodePack(decoding), true;
    Instruction& made = decoding.made();
    const bool whole = asksForWhole(decoding);
    made.rounding = decoding.takeRounding();
    made.flush = decoding.take("ftz");
    made.aligned = decoding.take("relu");
    made.saturate = decoding.take("sat") || decoding.take("satfinite");
    made.type = decoding.takeType();
    made.from = decoding.takeType();
    if (made.type == Type::None || made.from == Type::None || made.type == Type::Pred || made.from == Type::Pred)
        decoding.refuseInstruction();
    if (made.type == Type::F16x2 || made.type == Type::Bf16x2) {
        if (made.from != Type::F32)
            decoding.refuseInstruction();
        decoding.finish(3);
        operandsOf(decoding, Type::B32, Type::F32, 2);
        decoding.emit(pairRun);
        return true;
    }
    if (made.from == Type::F16x2 || made.from == Type::Bf16x2 || made.from == Type::Tf32)
        decoding.refuseInstruction();
    decoding.finish(2);
    if (whole && isFloat(made.type) && isFloat(made.from))
        made.mode = kToWhole;
    const Operand& source = decoding.operand(1);
    made.d = decoding.destination(0, made.type, true);
    made.wide = decoding.isWide(decoding.operand(0));
    made.strong = decoding.isWide(source) || sizeOf(made.from) == 8;
    made.a = decoding.source(source, made.strong ? Type::B64 : Type::B32);
    const Handler fast = made.saturate || made.wide != (sizeOf(made.type) == 8)
                                 || made.strong != (sizeOf(made.from) == 8)
                             ? nullptr
                             : fastHandler(made.type, made.from);
    // Small formats round by themselves; float32 and float64 do as the machine is told.
    if (!whole && (made.type == Type::F32 || made.type == Type::F64))
        emitRounded(decoding, fast ? fast : convertRun);
    else
        decoding.emit(fast ? fast : convertRun);
    return true;
}

} // namespace lathe::ptx
