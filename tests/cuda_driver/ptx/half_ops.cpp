#include "tests/cuda_driver/ptx/lanes.h"
#include "tests/cuda_driver/ptx/small_float.h"

// Arithmetic of f16, bf16 and pairs of them. Computed in float64 and rounded once: exact for sums and products; a fused
// sum whose float64 is inexact and lies in the middle between two halves, to 53 bits, could round wrongly, which no
// test will meet by chance.

namespace lathe::ptx {

namespace {

enum class HalfOp : uint8_t
{
    Add,
    Sub,
    Mul,
    Fma,
    Min,
    Max,
    MinNan,
    MaxNan,
    Abs,
    Neg,
    Power2,
    Tanh,
};

struct HalfRow
{
    std::string_view name;
    HalfOp op;
    uint8_t operands;
    uint8_t flops;
};

constexpr std::array<HalfRow, 10> kHalfOps = {{
    {"add", HalfOp::Add, 2, 1},
    {"sub", HalfOp::Sub, 2, 1},
    {"mul", HalfOp::Mul, 2, 1},
    {"fma", HalfOp::Fma, 3, 2},
    {"min", HalfOp::Min, 2, 1},
    {"max", HalfOp::Max, 2, 1},
    {"abs", HalfOp::Abs, 1, 0},
    {"neg", HalfOp::Neg, 1, 0},
    {"ex2", HalfOp::Power2, 1, 1},
    {"tanh", HalfOp::Tanh, 1, 1},
}};

double apply(HalfOp op, double a, double b, double c)
{
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    switch (op) {
    case HalfOp::Add: return a + b;
    case HalfOp::Sub: return a - b;
    case HalfOp::Mul: return a * b;
    case HalfOp::Fma: return std::fma(a, b, c);
    case HalfOp::MinNan:
    case HalfOp::MaxNan:
        if (a != a || b != b)
            return kNan;
        [[fallthrough]];
    case HalfOp::Min:
    case HalfOp::Max:
        if (a != a || b != b)
            return a != a ? b : a;
        if (op == HalfOp::Min || op == HalfOp::MinNan)
            return a < b || (a == b && std::signbit(a)) ? a : b;
        return a > b || (a == b && !std::signbit(a)) ? a : b;
    case HalfOp::Power2: return std::exp2(a);
    case HalfOp::Tanh: return std::tanh(a);
    case HalfOp::Abs:
    case HalfOp::Neg: break; // of bits
    }
    return kNan;
}

double flushed(double value, SmallFormat format)
{
    const double least = std::scalbn(1.0, 2 - (1 << (format.exponentBits - 1)));
    return std::fabs(value) < least ? std::copysign(0.0, value) : value;
}

uint32_t one(const Instruction& i, SmallFormat format, uint32_t a, uint32_t b, uint32_t c)
{
    const auto op = static_cast<HalfOp>(i.mode);
    if (op == HalfOp::Neg)
        return a ^ 0x8000;
    if (op == HalfOp::Abs)
        return a & 0x7fff;
    const auto read = [&](uint32_t bits) {
        const double value = decode(bits, format);
        return i.flush ? flushed(value, format) : value;
    };
    double value = apply(op, read(a), read(b), read(c));
    if (i.saturate)
        value = value > 0 ? std::min(value, 1.0) : 0.0;
    if (i.aligned && value < 0) // .relu
        value = 0;
    if (i.flush)
        value = flushed(value, format);
    return encode(value, format, i.rounding);
}

void halfRun(Warp& warp, const Instruction& i, LaneMask lanes)
{
    const SmallFormat format = formatOf(i.type);
    const bool pair = i.size == 4;
    const uint32_t* const a = warp.row<uint32_t>(i.a);
    const uint32_t* const b = i.b == kNoRow ? a : warp.row<uint32_t>(i.b);
    const uint32_t* const c = i.c == kNoRow ? a : warp.row<uint32_t>(i.c);
    uint32_t* const d = warp.row<uint32_t>(i.d);
    forEachLane(lanes, [&](unsigned lane) {
        uint32_t result = one(i, format, a[lane] & 0xffff, b[lane] & 0xffff, c[lane] & 0xffff);
        if (pair)
            result |= one(i, format, a[lane] >> 16, b[lane] >> 16, c[lane] >> 16) << 16;
        d[lane] = result;
    });
}

} // namespace

bool decodeHalf(Decoding& decoding)
{
    const Type type = typeNamed(decoding.statement().opcode.back()).value_or(Type::None);
    if (type != Type::F16 && type != Type::Bf16 && type != Type::F16x2 && type != Type::Bf16x2)
        return false;
    for (const HalfRow& row : kHalfOps) {
        if (row.name != decoding.name())
            continue;
        Instruction& made = decoding.made();
        HalfOp op = row.op;
        if ((op == HalfOp::Min || op == HalfOp::Max) && decoding.take("NaN"))
            op = op == HalfOp::Min ? HalfOp::MinNan : HalfOp::MaxNan;
        if (op == HalfOp::Power2 || op == HalfOp::Tanh)
            decoding.take("approx");
        decoding.take("rn");
        made.flush = decoding.take("ftz");
        made.saturate = decoding.take("sat");
        made.aligned = op == HalfOp::Fma && decoding.take("relu");
        decoding.takeType();
        decoding.finish(row.operands + 1u);
        operandsOf(decoding, type, type, row.operands);
        made.mode = static_cast<uint8_t>(op);
        made.type = type;
        made.size = static_cast<uint8_t>(sizeOf(type));
        made.flops = static_cast<uint8_t>(row.flops * (made.size == 4 ? 2 : 1));
        decoding.emit(halfRun);
        return true;
    }
    return false;
}

} // namespace lathe::ptx
