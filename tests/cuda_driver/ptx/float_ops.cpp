#include "tests/cuda_driver/ptx/fused_ops.h"
#include "tests/cuda_driver/ptx/lanes.h"

#include <cfenv>

// float32 and float64. Compiled with -frounding-math: roundedRun() changes the rounding around a handler.
// What a device approximates (ex2.approx, rsqrt.approx, ...) is computed by the C library, so that results differ from
// a device's in the last places, within the bounds that PTX gives.

namespace lathe::ptx {

namespace {

float flushed(float value)
{
    return std::fabs(value) < std::numeric_limits<float>::min() ? std::copysign(0.0F, value) : value;
}
float limited(float value)
{
    return value > 0 ? (value < 1 ? value : 1.0F) : 0.0F; // not a number becomes 0
}

template<typename T>
T sum(T a, T b)
{
    return canonical(a + b);
}
template<typename T>
T difference(T a, T b)
{
    return canonical(a - b);
}
template<typename T>
T product(T a, T b)
{
    return canonical(a * b);
}
template<typename T>
T quotient(T a, T b)
{
    return canonical(a / b);
}
template<typename T>
T fused(T a, T b, T c)
{
    return canonical(std::fma(a, b, c));
}
template<typename T>
T least(T a, T b)
{
    if (a != a || b != b)
        return canonical(a != a ? b : a);
    return a < b || (a == b && std::signbit(a)) ? a : b;
}
template<typename T>
T most(T a, T b)
{
    if (a != a || b != b)
        return canonical(a != a ? b : a);
    return a > b || (a == b && !std::signbit(a)) ? a : b;
}
template<typename T>
T leastOrNan(T a, T b)
{
    return a != a || b != b ? canonical(std::numeric_limits<T>::quiet_NaN()) : least(a, b);
}
template<typename T>
T mostOrNan(T a, T b)
{
    return a != a || b != b ? canonical(std::numeric_limits<T>::quiet_NaN()) : most(a, b);
}
template<typename T>
T absolute(T a)
{
    return std::fabs(a);
}
template<typename T>
T negative(T a)
{
    return -a;
}
template<typename T>
T signFrom(T a, T b)
{
    return std::copysign(b, a);
}
template<typename T>
T root(T a)
{
    return canonical(std::sqrt(a));
}
template<typename T>
T reciprocal(T a)
{
    return canonical(T(1) / a);
}
template<typename T>
T reciprocalRoot(T a)
{
    return canonical(T(1) / std::sqrt(a));
}
float power2(float a)
{
    return canonical(std::exp2(a));
}
float logarithm2(float a)
{
    return canonical(std::log2(a));
}
float sine(float a)
{
    return canonical(std::sin(a));
}
float cosine(float a)
{
    return canonical(std::cos(a));
}
float hyperbolicTangent(float a)
{
    return canonical(std::tanh(a));
}

/// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 read and write the upper half alone, subnormal numbers as zeros.
double upperHalf(double value)
{
    if (std::fabs(value) < std::numeric_limits<double>::min())
        return std::copysign(0.0, value);
    return std::bit_cast<double>(std::bit_cast<uint64_t>(value) & 0xffffffff00000000);
}
double coarseReciprocal(double a)
{
    return upperHalf(1 / upperHalf(a));
}
double coarseReciprocalRoot(double a)
{
    return upperHalf(1 / std::sqrt(upperHalf(a)));
}

// --- with subnormals flushed and results limited

template<auto F>
void unaryModified(Warp& warp, const Instruction& i, LaneMask lanes)
{
    auto* const d = warp.row<float>(i.d);
    const auto* const a = warp.row<float>(i.a);
    forEachLane(lanes, [&](unsigned lane) {
        float result = F(i.flush ? flushed(a[lane]) : a[lane]);
        result = i.flush ? flushed(result) : result;
        d[lane] = i.saturate ? limited(result) : result;
    });
}

template<auto F>
void binaryModified(Warp& warp, const Instruction& i, LaneMask lanes)
{
    auto* const d = warp.row<float>(i.d);
    const auto* const a = warp.row<float>(i.a);
    const auto* const b = warp.row<float>(i.b);
    forEachLane(lanes, [&](unsigned lane) {
        float result = i.flush ? flushed(F(flushed(a[lane]), flushed(b[lane]))) : F(a[lane], b[lane]);
        d[lane] = i.saturate ? limited(result) : result;
    });
}

void fusedModified(Warp& warp, const Instruction& i, LaneMask lanes)
{
    auto* const d = warp.row<float>(i.d);
    const auto* const a = warp.row<float>(i.a);
    const auto* const b = warp.row<float>(i.b);
    const auto* const c = warp.row<float>(i.c);
    forEachLane(lanes, [&](unsigned lane) {
        float result = i.flush ? flushed(fused(flushed(a[lane]), flushed(b[lane]), flushed(c[lane])))
                               : fused(a[lane], b[lane], c[lane]);
        d[lane] = i.saturate ? limited(result) : result;
    });
}

struct Choice
{
    Handler plain, modified; // of float32
    Handler wide; // of float64; null: there is none
    uint8_t operands, flops;
};

template<auto F32, auto F64>
Choice two(uint8_t flops)
{
    return {binary<float, float, F32>, binaryModified<F32>, binary<double, double, F64>, 2, flops};
}
template<auto F32, auto F64>
Choice one(uint8_t flops)
{
    return {unary<float, float, F32>, unaryModified<F32>, unary<double, double, F64>, 1, flops};
}
template<auto F32>
Choice oneNarrow()
{
    return {unary<float, float, F32>, unaryModified<F32>, nullptr, 1, 1};
}

/// The function that the words before the type ask for; nothing for one that is not of floats.
std::optional<Choice> choose(Decoding& decoding, Type type)
{
    const std::string_view name = decoding.name();
    if (name == "add")
        return two<sum<float>, sum<double>>(1);
    if (name == "sub")
        return two<difference<float>, difference<double>>(1);
    if (name == "mul")
        return two<product<float>, product<double>>(1);
    if (name == "div") {
        decoding.take("approx") || decoding.take("full");
        return two<quotient<float>, quotient<double>>(1);
    }
    if (name == "min")
        return decoding.take("NaN") ? two<leastOrNan<float>, leastOrNan<double>>(1)
                                    : two<least<float>, least<double>>(1);
    if (name == "max")
        return decoding.take("NaN") ? two<mostOrNan<float>, mostOrNan<double>>(1) : two<most<float>, most<double>>(1);
    if (name == "copysign")
        return two<signFrom<float>, signFrom<double>>(0);
    if (name == "abs")
        return one<absolute<float>, absolute<double>>(0);
    if (name == "neg")
        return one<negative<float>, negative<double>>(0);
    if (name == "fma" || name == "mad")
        return Choice{fusedOf(false), fusedModified, fusedOf(true), 3, 2};
    const bool approximate = decoding.take("approx");
    if (name == "sqrt")
        return one<root<float>, root<double>>(1);
    if (name == "rcp")
        return approximate && type == Type::F64 ? one<reciprocal<float>, coarseReciprocal>(1)
                                                : one<reciprocal<float>, reciprocal<double>>(1);
    if (name == "rsqrt")
        return approximate && type == Type::F64 && std::string_view(decoding.statement().opcode[2]) == "ftz"
                   ? one<reciprocalRoot<float>, coarseReciprocalRoot>(1)
                   : one<reciprocalRoot<float>, reciprocalRoot<double>>(1);
    if (name == "ex2")
        return oneNarrow<power2>();
    if (name == "lg2")
        return oneNarrow<logarithm2>();
    if (name == "sin")
        return oneNarrow<sine>();
    if (name == "cos")
        return oneNarrow<cosine>();
    if (name == "tanh")
        return oneNarrow<hyperbolicTangent>();
    return std::nullopt;
}

/// testp: mode tells the property.
enum : uint8_t
{
    kFinite,
    kInfinite,
    kNumber,
    kNotANumber,
    kNormal,
    kSubnormal
};

template<typename T>
void testProperty(Warp& warp, const Instruction& i, LaneMask lanes)
{
    LaneMask result = 0;
    forEachLane(lanes, [&](unsigned lane) {
        const int kind = std::fpclassify(warp.row<T>(i.a)[lane]);
        const bool holds = i.mode == kFinite       ? kind != FP_INFINITE && kind != FP_NAN
                           : i.mode == kInfinite   ? kind == FP_INFINITE
                           : i.mode == kNumber     ? kind != FP_NAN
                           : i.mode == kNotANumber ? kind == FP_NAN
                           : i.mode == kNormal     ? kind == FP_NORMAL
                                                   : kind == FP_SUBNORMAL;
        result |= holds ? 1u << lane : 0;
    });
    LaneMask& d = warp.mask(i.d);
    d = (d & ~lanes) | result;
}

void decodeTest(Decoding& decoding)
{
    constexpr std::array<std::string_view, 6> kNames = {"finite",     "infinite", "number",
                                                        "notanumber", "normal",   "subnormal"};
    Instruction& made = decoding.made();
    bool found = false;
    for (size_t k = 0; k < kNames.size(); ++k)
        if (decoding.take(kNames[k])) {
            made.mode = static_cast<uint8_t>(k);
            found = true;
        }
    const Type type = decoding.takeType();
    decoding.finish(2);
    if (!found || (type != Type::F32 && type != Type::F64))
        decoding.refuseInstruction();
    made.d = decoding.predicateDestination(decoding.operand(0));
    made.a = decoding.source(1, type);
    decoding.emit(type == Type::F32 ? testProperty<float> : testProperty<double>);
}

} // namespace

int roundingOf(Rounding rounding)
{
    switch (rounding) {
    case Rounding::Zero: return FE_TOWARDZERO;
    case Rounding::Down: return FE_DOWNWARD;
    case Rounding::Up: return FE_UPWARD;
    default: return FE_TONEAREST;
    }
}

void roundedRun(Warp& warp, const Instruction& instruction, LaneMask lanes)
{
    std::fesetround(roundingOf(instruction.rounding));
    instruction.inner(warp, instruction, lanes);
    std::fesetround(FE_TONEAREST);
}

void emitRounded(Decoding& decoding, Handler handler)
{
    Instruction& made = decoding.made();
    if (made.rounding == Rounding::Nearest) {
        decoding.emit(handler);
        return;
    }
    made.inner = handler;
    decoding.emit(roundedRun);
}

bool decodeFloat(Decoding& decoding)
{
    if (decoding.name() == "testp")
        return decodeTest(decoding), true;
    const Type type = typeNamed(decoding.statement().opcode.back()).value_or(Type::None);
    if (type != Type::F32 && type != Type::F64)
        return false;
    const std::optional<Choice> choice = choose(decoding, type);
    if (!choice)
        return false;
    Instruction& made = decoding.made();
    made.rounding = decoding.takeRounding();
    made.flush = decoding.take("ftz");
    made.saturate = decoding.take("sat");
    decoding.takeType();
    decoding.finish(choice->operands + 1u);
    if (type == Type::F64 && (!choice->wide || made.saturate))
        decoding.refuseInstruction();
    if (type == Type::F64)
        made.flush = false; // of rcp.approx.ftz.f64, whose function does it
    operandsOf(decoding, type, type, choice->operands);
    made.flops = choice->flops;
    const bool modified = made.flush || made.saturate;
    emitRounded(decoding, type == Type::F64 ? choice->wide : modified ? choice->modified : choice->plain);
    return true;
}

} // namespace lathe::ptx
