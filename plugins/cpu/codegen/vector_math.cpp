#include "plugins/cpu/codegen/vector_math.h"

#include "core/backend/function_coefficients.h"
#include "plugins/cpu/codegen/quarter_turns.h"

#include <cmath>
#include <numbers>
#include <span>

// Each function reduces its argument to a short interval and evaluates a polynomial there, near-minimax by Chebyshev
// interpolation in 40 digits:
//   exp    x = n ln2 + r, |r| <= ln2/2; e^x = 2^n (1 + r + r^2 P(r)), 2^n applied in two halves so that subnormals
//   survive log    x = 2^k m, m in [sqrt(1/2), sqrt 2); f = m - 1, s = f / (2 + f); log m = f - f^2/2 + s (f^2/2 + s^2
//   P(s^2)) tanh   x + x^3 P(x^2) for x^2 < 0.4, else 1 - 2 / (e^2x + 1) sin    x = n pi/2 + r, |r| <= pi/4
//   (quarter_turns.h); by n mod 4 one of +-(r + r^3 P(r^2)), +-(1 - r^2/2 + r^4 Q(r^2)) atan   t + t^3 P(t^2) with t =
//   x or 1/x erf    f32: x P(x^2) / Q(x^2), a third of the instructions that the next takes (an activation of whole
//   tensors)
//          f64: x P(x^2) for |x| < 1, else 1 - e^q(x) where q = log erfc
//   pow    f64: e^(y log x), log x and the product in twice the digits; f32: in f64
// Selections take the place of branches, so that lanes stay together.

namespace lathe::cpu {

namespace {

using backend::kErfP32, backend::kErfQ32, backend::kTanh32, backend::kTanh64;

constexpr double kExp32[] = {0.5, 0.1666657666611992831, 0.04166655421298415031, 0.008363232883682618204,
                             0.001392625083149761172};
constexpr double kExp64[] = {0.5,
                             0.1666666666666667103,
                             0.04166666666666666978,
                             0.00833333333332608312,
                             0.001388888888888371117,
                             0.0001984126987500227879,
                             0.0000248015873256774619,
                             2.755725517000088744e-6,
                             2.755727347871858047e-7,
                             2.510531272962210179e-8,
                             2.09147553258932022e-9};
constexpr double kLog32[] = {0.6666666655404201243, 0.400001222118106494, 0.2855077863319196543, 0.2333161447184349923};
constexpr double kLog64[] = {0.6666666666666666667, 0.3999999999999999244, 0.285714285714354076,
                             0.222222222198442311,  0.1818181859576906468, 0.1538457496646090682,
                             0.1333564584194937711, 0.1168796299754215568, 0.1188345239410785973};
constexpr double kErf64[] = {1.128379167095512574,     -0.3761263890318375238,     0.1128379167095512024,
                             -0.02686617064512984081,  0.005223977625423298309,    -0.0008548327021934829596,
                             0.0001205533290288873541, -0.00001492564756751933213, 1.646204544146841894e-6,
                             -1.63646421581676153e-7,  1.4792401209404813e-8,      -1.216456005728345008e-9,
                             8.70904512905310669e-11,  -4.230945824295337817e-12};
/// log erfc(x) in t = (x - centre) / half-width: [1, 2.5] and [2.5, 6].
constexpr double kLogErfc64Near[] = {-4.317863525433222667,     -2.969708175610061511,    -0.5118413436544143276,
                                     -0.008664823286005638664,  0.001463356915660468588,  -0.0002287851286064465713,
                                     0.00003106135597007541952, -3.169102833468905954e-6, 8.2845384179061874e-8,
                                     6.68900707331106328e-8,    -2.263405357432219916e-8, 4.77701449515448793e-9,
                                     -7.309100919071604868e-10, 6.800017089297161559e-11, 4.187203462982160587e-12,
                                     -4.586386562635802151e-12, 1.14243008165568649e-12};
constexpr double kLogErfc64Far[] = {-20.10776990146970691,    -15.26660750216341799,      -2.989259015215454616,
                                    -0.01749162949503900752,  0.004506834156977217403,    -0.001187976477925715803,
                                    0.0003124836663016822989, -0.00008076233630872768137, 0.00002024899879386896903,
                                    -4.856436904792214036e-6, 1.091435427914965126e-6,    -2.203614525684901577e-7,
                                    3.659438005184073791e-8,  -4.245910604686771934e-9,   -6.819559129468748307e-10,
                                    1.268895051165806744e-9,  -4.600890175771062121e-10};

constexpr double kSin32[] = {-0.1666666465029208205, 0.00833274593638042232, -0.0001958738706846445646};
constexpr double kSin64[] = {-0.1666666666666666667,   0.00833333333333333147,   -0.0001984126984126501703,
                             2.75573192193019187e-6,   -2.505210621952189423e-8, 1.605852957226787635e-10,
                             -7.586576588171072463e-13};
constexpr double kCos32[] = {0.04166666464745737717, -0.001388830069690389895, 0.00002454743721019319883};
constexpr double kCos64[] = {0.04166666666666666667,   -0.001388888888888888785, 0.00002480158730158461979,
                             -2.755731922138211558e-7, 2.087675578389403842e-9,  -1.147045974967560614e-11,
                             4.745804889760674174e-14};
constexpr double kAtan32[] = {-0.3333333308107325367,  0.1999994932114188742,   -0.1428400379473353029,
                              0.1108826162873515873,   -0.08931826777381314397, 0.07031914250029965936,
                              -0.04896051402709066592, 0.02630500111006237659,  -0.00914462976059239535,
                              0.001488691939304759625};
constexpr double kAtan64[] = {-0.3333333333333333283,    0.199999999999995532,     -0.1428571428564840404,
                              0.1111111110723479901,     -0.09090908969557403136,  0.07692305354678654812,
                              -0.06666636435777692702,   0.05882074956371294569,   -0.052612657357094544,
                              0.04752086773576656136,    -0.04308119655330471268,  0.03872640214042632453,
                              -0.03375013200161973426,   0.02756794229734467666,   -0.02023870698639351579,
                              0.01275617290769429747,    -0.006575683344151698632, 0.002622977891906089023,
                              -0.0007518472526973821523, 0.0001368724853148122,    -0.00001183250541755569279};
using llvm::Value;

class Maths
{
public:
    Maths(llvm::IRBuilder<>& builder, llvm::Type* type, bool hasFma)
        : b(builder)
        , m_type(type)
        , m_isDouble(type->getScalarType()->isDoubleTy())
        , m_hasFma(hasFma)
    {
        const llvm::Type* scalar = type->getScalarType();
        llvm::Type* integer = scalar->isDoubleTy() ? b.getInt64Ty() : b.getInt32Ty();
        const auto* vector = llvm::dyn_cast<llvm::VectorType>(type);
        m_integer = vector != nullptr ? llvm::VectorType::get(integer, vector->getElementCount()) : integer;
    }

    Value* exp(Value* x) { return exponential(x, std::numbers::log2e, false); }
    Value* exp2(Value* x) { return exponential(x, 1.0, true); }

    Value* log(Value* x)
    {
        // Subnormals are scaled up first.
        const int mantissaBits = m_isDouble ? 52 : 23;
        const double smallest = m_isDouble ? 0x1p-1022 : 0x1p-126;
        Value* isSmall = b.CreateFCmpOLT(x, real(smallest));
        Value* scaled = b.CreateSelect(isSmall, b.CreateFMul(x, real(std::ldexp(1.0, mantissaBits + 1))), x);
        Value* bits = b.CreateBitCast(scaled, m_integer);
        // Exponent such that the mantissa falls into [sqrt(1/2), sqrt 2): shift the bits by those of sqrt(1/2).
        const std::int64_t half = m_isDouble ? 0x3fe6a09e667f3bcd : 0x3f3504f3;
        Value* shifted = b.CreateSub(bits, integer(half));
        Value* k = b.CreateAShr(shifted, static_cast<std::uint64_t>(mantissaBits));
        Value* mantissa = b.CreateSub(bits, b.CreateShl(k, static_cast<std::uint64_t>(mantissaBits)));
        Value* f = b.CreateFSub(b.CreateBitCast(mantissa, m_type), real(1.0));
        k = b.CreateSub(k, b.CreateSelect(isSmall, integer(mantissaBits + 1), integer(0)));
        Value* kReal = smallIntegerToReal(k);
        Value* s = b.CreateFDiv(f, b.CreateFAdd(f, real(2.0)));
        Value* z = b.CreateFMul(s, s);
        Value* r = b.CreateFMul(z, polynomial(z, m_isDouble ? std::span<const double>(kLog64) : kLog32));
        Value* halfSquare = b.CreateFMul(b.CreateFMul(f, real(0.5)), f);
        const double ln2High = m_isDouble ? 0x1.62e42fee00000p-1 : 0x1.62e300p-1;
        const double ln2Low = m_isDouble ? 0x1.a39ef35793c76p-33 : 0x1.2fefa2p-17;
        Value* tail = fma(s, b.CreateFAdd(halfSquare, r), b.CreateFMul(kReal, real(ln2Low)));
        Value* result = fma(kReal, real(ln2High), b.CreateFSub(f, b.CreateFSub(halfSquare, tail)));
        const double infinity = std::numeric_limits<double>::infinity();
        result = b.CreateSelect(b.CreateFCmpOEQ(x, real(infinity)), x, result);
        result = b.CreateSelect(b.CreateFCmpOEQ(x, real(0.0)), real(-infinity), result);
        return b.CreateSelect(b.CreateFCmpULT(x, real(0.0)), real(std::numeric_limits<double>::quiet_NaN()), result);
    }

    Value* tanh(Value* x)
    {
        Value* a = absolute(x);
        Value* z = b.CreateFMul(x, x);
        Value* small = fma(b.CreateFMul(x, z), polynomial(z, m_isDouble ? std::span<const double>(kTanh64) : kTanh32),
                           x);
        Value* e = exp(b.CreateFAdd(a, a));
        Value* large = b.CreateFSub(real(1.0), b.CreateFDiv(real(2.0), b.CreateFAdd(e, real(1.0))));
        Value* result = b.CreateSelect(b.CreateFCmpOLT(z, real(backend::kTanhNear)), small, large);
        return b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, result, x); // of -0 too
    }

    Value* sigmoid(Value* x)
    {
        // With e = exp(-|x|) <= 1 nothing overflows: 1 / (1 + e), or e / (1 + e) on the negative side.
        Value* e = exp(b.CreateFNeg(absolute(x)));
        Value* numerator = b.CreateSelect(b.CreateFCmpOLT(x, real(0.0)), e, real(1.0));
        return b.CreateFDiv(numerator, b.CreateFAdd(e, real(1.0)));
    }

    Value* erf(Value* x)
    {
        if (!m_isDouble) {
            Value* inside = within(x, backend::kErfFlat);
            Value* square = b.CreateFMul(inside, inside);
            Value* y = b.CreateFDiv(b.CreateFMul(inside, polynomial(square, kErfP32)), polynomial(square, kErfQ32));
            return within(y, 1.0);
        }
        Value* a = absolute(x);
        Value* z = b.CreateFMul(x, x);
        Value* small = b.CreateFMul(x, polynomial(z, kErf64));
        Value* near = polynomial(b.CreateFMul(b.CreateFSub(a, real(1.75)), real(1.0 / 0.75)), kLogErfc64Near);
        Value* clamped = b.CreateSelect(b.CreateFCmpOGT(a, real(6.0)), real(6.0), a);
        Value* far = polynomial(b.CreateFMul(b.CreateFSub(clamped, real(4.25)), real(1.0 / 1.75)), kLogErfc64Far);
        Value* q = b.CreateSelect(b.CreateFCmpOLT(a, real(2.5)), near, far);
        Value* large = b.CreateFSub(real(1.0), exp(q));
        large = b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, large, x);
        Value* result = b.CreateSelect(b.CreateFCmpOLT(a, real(1.0)), small, large);
        return b.CreateSelect(b.CreateFCmpUNO(x, x), x, result);
    }

    /// sin(x + quarterTurns * pi/2), of one turn cos x.
    Value* sine(Value* x, std::int64_t quarterTurns)
    {
        const QuarterTurns reduced = emitQuarterTurns(b, x);
        Value* r = reduced.angle;
        Value* z = b.CreateFMul(r, r);
        Value* sinR = fma(b.CreateFMul(r, z), polynomial(z, m_isDouble ? std::span<const double>(kSin64) : kSin32), r);
        Value* quartic = b.CreateFMul(b.CreateFMul(z, z),
                                      polynomial(z, m_isDouble ? std::span<const double>(kCos64) : kCos32));
        Value* cosR = b.CreateFAdd(fma(z, real(-0.5), real(1.0)), quartic);
        Value* turns = b.CreateAdd(reduced.turns, integer(quarterTurns));
        Value* isOdd = b.CreateICmpNE(b.CreateAnd(turns, integer(1)), integer(0));
        Value* isNegative = b.CreateICmpNE(b.CreateAnd(turns, integer(2)), integer(0));
        Value* magnitude = b.CreateSelect(isOdd, cosR, sinR);
        Value* result = b.CreateSelect(isNegative, b.CreateFNeg(magnitude), magnitude);
        if (quarterTurns != 0)
            return result;
        return b.CreateSelect(hasSign(x), b.CreateFNeg(result), result);
    }

    Value* atan(Value* x)
    {
        Value* a = absolute(x);
        Value* isLarge = b.CreateFCmpOGT(a, real(1.0));
        Value* t = b.CreateSelect(isLarge, b.CreateFDiv(real(1.0), a), a);
        Value* z = b.CreateFMul(t, t);
        Value* p = fma(b.CreateFMul(t, z), polynomial(z, m_isDouble ? std::span<const double>(kAtan64) : kAtan32), t);
        p = b.CreateSelect(isLarge, b.CreateFSub(real(std::numbers::pi / 2), p), p);
        return b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, p, x);
    }

    /// Remainder with the sign of x. From |x| it takes |y| 2^k as often as it goes, for falling k: in steps of so many
    /// digits that the product of quotient and divisor is exact. In f64, for f32 too: `digits` of a mantissa, `range`
    /// of a quotient.
    Value* fmod(Value* x, Value* y, int digits, int range)
    {
        const int step = m_hasFma ? 52 : 53 - digits;
        Value* d = absolute(y);
        Value* r = absolute(x);
        if (step > 0) {
            for (int k = range / step * step; k >= 0; k -= step) {
                Value* divisor = d; // times 2^k in three steps: 2^k alone may be infinite
                for (const int part : {k / 3, k / 3, k - k / 3 * 2})
                    divisor = b.CreateFMul(divisor, real(std::ldexp(1.0, part)));
                r = b.CreateSelect(b.CreateFCmpOGE(r, divisor), remainder(r, divisor), r);
            }
        } else
            r = remainder(r, d);
        r = b.CreateSelect(b.CreateFCmpUNO(d, d), d, r);
        return b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, r, x);
    }

    Value* log1p(Value* x)
    {
        // What 1 + x loses comes back as the first term of the series about 1 + x.
        Value* one = real(1.0);
        Value* sum = b.CreateFAdd(x, one);
        Value* lost = b.CreateFDiv(b.CreateFSub(x, b.CreateFSub(sum, one)), sum);
        Value* ends = b.CreateFCmpOEQ(b.CreateFMul(sum, real(0.0)), real(0.0)); // finite
        ends = b.CreateAnd(ends, b.CreateFCmpONE(sum, real(0.0)));
        Value* result = b.CreateFAdd(log(sum), b.CreateSelect(ends, lost, real(0.0)));
        return b.CreateSelect(b.CreateFCmpOEQ(x, real(0.0)), x, result); // with its sign
    }

    Value* expm1(Value* x)
    {
        const Exponential e = splitExponential(x, std::numbers::log2e, false);
        // 2^n (1 + p) - 1 = (2^n p + (2^n - 1)); both halves of 2^n are needed at the ends alone.
        Value* scale = powerOfTwo(e.n);
        Value* near = fma(scale, e.p, b.CreateFSub(scale, real(1.0)));
        Value* far = scaled(b.CreateFAdd(e.p, real(1.0)), e.n);
        Value* result = b.CreateSelect(b.CreateFCmpOGT(x, real(m_isDouble ? 700.0 : 80.0)), far, near);
        result = b.CreateSelect(b.CreateFCmpOLT(x, real(m_isDouble ? -50.0 : -25.0)), real(-1.0), result);
        return b.CreateSelect(b.CreateFCmpOEQ(x, real(0.0)), x, result); // with its sign
    }

    /// `keepsDigits`: the logarithm and its product as sums of two numbers, since exp turns an error of one unit there
    /// into hundreds. f32 is computed in f64, which has digits to spare.
    Value* pow(Value* x, Value* y, bool keepsDigits)
    {
        Value* a = absolute(x);
        Value* magnitude = keepsDigits ? powerOf(a, y) : exp(b.CreateFMul(y, log(a)));
        magnitude = b.CreateSelect(b.CreateAnd(b.CreateFCmpOEQ(a, real(1.0)), b.CreateFCmpORD(y, y)), a, magnitude);
        // Negative base: a number for integer exponents alone, negative for odd ones.
        Value* whole = b.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, y);
        Value* isWhole = b.CreateFCmpOEQ(whole, y);
        Value* halved = b.CreateFMul(y, real(0.5));
        Value* isOdd = b.CreateAnd(isWhole,
                                   b.CreateFCmpUNE(b.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, halved), halved));
        Value* withSign = b.CreateSelect(b.CreateAnd(hasSign(x), isOdd), b.CreateFNeg(magnitude), magnitude);
        const double infinity = std::numeric_limits<double>::infinity();
        Value* isNegative = b.CreateAnd(b.CreateFCmpOLT(x, real(0.0)), b.CreateFCmpUNE(x, real(-infinity)));
        Value* undefined = b.CreateAnd(isNegative, b.CreateFCmpONE(whole, y));
        Value* result = b.CreateSelect(undefined, real(std::numeric_limits<double>::quiet_NaN()), withSign);
        Value* isOne = b.CreateOr(b.CreateFCmpOEQ(y, real(0.0)), b.CreateFCmpOEQ(x, real(1.0))); // NaN as the other
        return b.CreateSelect(isOne, real(1.0), result);
    }

    Value* fma(Value* x, Value* y, Value* z)
    {
        if (m_hasFma)
            return b.CreateIntrinsic(llvm::Intrinsic::fma, {m_type}, {x, y, z});
        return b.CreateFAdd(b.CreateFMul(x, y), z);
    }

    Value* real(double v) { return llvm::ConstantFP::get(m_type, v); }
    /// x, but at most `limit` away from 0; not-a-number stays.
    Value* within(Value* x, double limit)
    {
        Value* below = b.CreateSelect(b.CreateFCmpOGT(x, real(limit)), real(limit), x);
        return b.CreateSelect(b.CreateFCmpOLT(below, real(-limit)), real(-limit), below);
    }

    Value* absolute(Value* x) { return b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x); }

private:
    llvm::IRBuilder<>& b;
    llvm::Type* m_type;
    llvm::Type* m_integer;
    bool m_isDouble;
    bool m_hasFma;

    Value* integer(std::int64_t v) { return llvm::ConstantInt::get(m_integer, static_cast<std::uint64_t>(v), true); }

    /// A number as the sum of two, the second at most half a unit of the first.
    struct Pair
    {
        Value* high;
        Value* low;
    };

    /// x + y and what was lost.
    Pair exactSum(Value* x, Value* y)
    {
        Value* high = b.CreateFAdd(x, y);
        Value* fromY = b.CreateFSub(high, x);
        Value* lostX = b.CreateFSub(x, b.CreateFSub(high, fromY));
        return {high, b.CreateFAdd(lostX, b.CreateFSub(y, fromY))};
    }

    /// x y and what was lost; without fused multiply-add by halves of their mantissas.
    Pair exactProduct(Value* x, Value* y)
    {
        Value* high = b.CreateFMul(x, y);
        if (m_hasFma)
            return {high, fma(x, y, b.CreateFNeg(high))};
        const auto half = [&](Value* v) {
            Value* raised = b.CreateFMul(v, real(0x1p27 + 1));
            Value* upper = b.CreateFSub(raised, b.CreateFSub(raised, v));
            return Pair{upper, b.CreateFSub(v, upper)};
        };
        const Pair p = half(x), q = half(y);
        Value* low = b.CreateFSub(b.CreateFMul(p.high, q.high), high);
        low = b.CreateFAdd(low, b.CreateFMul(p.high, q.low));
        low = b.CreateFAdd(low, b.CreateFMul(p.low, q.high));
        return {high, b.CreateFAdd(low, b.CreateFMul(p.low, q.low))};
    }

    /// log a of a positive f64 within 2^-64 of itself: m as in log(), s = f / (2 + f), log m = 2 s + 2/3 s^3 + s^5
    /// Q(s^2) of which the first two terms are pairs. Of 0, infinity and NaN as log() has it.
    Pair logarithmPair(Value* a)
    {
        constexpr double kTail[] = {2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11, 2.0 / 13, 2.0 / 15,
                                    2.0 / 17, 2.0 / 19, 2.0 / 21, 2.0 / 23, 2.0 / 25};
        Value* isSmall = b.CreateFCmpOLT(a, real(0x1p-1022));
        Value* bits = b.CreateBitCast(b.CreateSelect(isSmall, b.CreateFMul(a, real(0x1p53)), a), m_integer);
        Value* k = b.CreateAShr(b.CreateSub(bits, integer(0x3fe6a09e667f3bcd)), 52);
        Value* f = b.CreateFSub(b.CreateBitCast(b.CreateSub(bits, b.CreateShl(k, 52)), m_type), real(1.0));
        Value* kReal = smallIntegerToReal(b.CreateSub(k, b.CreateSelect(isSmall, integer(53), integer(0))));

        Value* divisor = b.CreateFAdd(f, real(2.0));
        Value* divisorLow = b.CreateFSub(f, b.CreateFSub(divisor, real(2.0)));
        Value* s = b.CreateFDiv(f, divisor);
        const Pair back = exactProduct(s, divisor);
        Value* rest = b.CreateFSub(b.CreateFSub(b.CreateFSub(f, back.high), back.low), b.CreateFMul(s, divisorLow));
        Value* sLow = b.CreateFDiv(rest, divisor);

        const Pair square = exactProduct(s, s);
        Value* squareLow = b.CreateFAdd(square.low, b.CreateFMul(b.CreateFAdd(s, s), sLow));
        Pair cube = exactProduct(square.high, s);
        cube.low = b.CreateFAdd(cube.low, b.CreateFAdd(b.CreateFMul(squareLow, s), b.CreateFMul(square.high, sLow)));
        constexpr double kTwoThirds = 2.0 / 3, kTwoThirdsLow = 0x1.5555555555555p-55; // together 2/3
        Pair third = exactProduct(cube.high, real(kTwoThirds));
        third.low = b.CreateFAdd(third.low, b.CreateFAdd(b.CreateFMul(cube.low, real(kTwoThirds)),
                                                         b.CreateFMul(cube.high, real(kTwoThirdsLow))));
        Value* tail = b.CreateFMul(b.CreateFMul(cube.high, square.high), polynomial(square.high, kTail));

        const Pair first = exactSum(b.CreateFMul(kReal, real(0x1.62e42fee00000p-1)), b.CreateFAdd(s, s));
        const Pair second = exactSum(first.high, third.high);
        Value* low = b.CreateFAdd(b.CreateFMul(kReal, real(0x1.a39ef35793c76p-33)), b.CreateFAdd(sLow, sLow));
        low = b.CreateFAdd(b.CreateFAdd(low, tail), b.CreateFAdd(third.low, b.CreateFAdd(first.low, second.low)));
        Value* high = b.CreateFAdd(second.high, low);
        low = b.CreateFSub(low, b.CreateFSub(high, second.high));

        const double infinity = std::numeric_limits<double>::infinity();
        high = b.CreateSelect(b.CreateFCmpOEQ(a, real(0.0)), real(-infinity), high);
        high = b.CreateSelect(b.CreateFCmpULT(a, real(infinity)), high, a); // infinity and NaN
        high = b.CreateSelect(b.CreateFCmpUNO(a, a), a, high);
        Value* ends = b.CreateFCmpOEQ(b.CreateFMul(high, real(0.0)), real(0.0)); // finite
        return {high, b.CreateSelect(ends, low, real(0.0))};
    }

    /// a^y of f64, a positive.
    Value* powerOf(Value* a, Value* y)
    {
        const Pair logarithm = logarithmPair(a);
        Value* bounded = within(y, 0x1p70); // beyond, the result is 0, 1 or infinity
        Pair exponent = exactProduct(bounded, logarithm.high);
        exponent.low = b.CreateFAdd(exponent.low, b.CreateFMul(bounded, logarithm.low));
        Value* isModerate = b.CreateFCmpOLT(absolute(exponent.high), real(1000.0));
        const Exponential e = splitExponential(exponent.high, std::numbers::log2e, false,
                                               b.CreateSelect(isModerate, exponent.low, real(0.0)));
        return scaled(b.CreateFAdd(e.p, real(1.0)), e.n);
    }

    Value* polynomial(Value* x, std::span<const double> coefficients)
    {
        Value* sum = real(coefficients.back());
        for (std::size_t i = coefficients.size() - 1; i-- > 0;)
            sum = fma(sum, x, real(coefficients[i]));
        return sum;
    }

    /// Adding it to a number of moderate size leaves that number, rounded to an integer, in the lowest mantissa bits.
    double rounder() const { return m_isDouble ? 0x1.8p52 : 0x1.8p23; }

    /// By the same token: exact for small integers, and vectorises where 64-bit conversions do not exist.
    Value* smallIntegerToReal(Value* k)
    {
        if (!m_isDouble)
            return b.CreateSIToFP(k, m_type);
        Value* bits = b.CreateAdd(b.CreateBitCast(real(rounder()), m_integer), k);
        return b.CreateFSub(b.CreateBitCast(bits, m_type), real(rounder()));
    }

    Value* powerOfTwo(Value* n)
    {
        const int mantissaBits = m_isDouble ? 52 : 23;
        Value* biased = b.CreateAdd(n, integer(m_isDouble ? 1023 : 127));
        return b.CreateBitCast(b.CreateShl(biased, static_cast<std::uint64_t>(mantissaBits)), m_type);
    }

    Value* exponential(Value* x, double perUnit, bool isBase2)
    {
        const Exponential e = splitExponential(x, perUnit, isBase2);
        return scaled(b.CreateFAdd(e.p, real(1.0)), e.n);
    }

    /// e^x or 2^x = 2^n (1 + p).
    struct Exponential
    {
        Value* n;
        Value* p;
    };

    /// `low`, if given, is what x lost.
    Exponential splitExponential(Value* x, double perUnit, bool isBase2, Value* low = nullptr)
    {
        const double natural = isBase2 ? std::numbers::log2e : 1.0;
        const double least = (m_isDouble ? -760.0 : -105.0) * natural;
        const double most = (m_isDouble ? 720.0 : 90.0) * natural;
        // In this order a NaN stays one.
        Value* clamped = b.CreateSelect(b.CreateFCmpOLT(x, real(least)), real(least), x);
        clamped = b.CreateSelect(b.CreateFCmpOGT(clamped, real(most)), real(most), clamped);
        Value* shifted = fma(clamped, real(perUnit), real(rounder()));
        Value* n = b.CreateSub(b.CreateBitCast(shifted, m_integer), b.CreateBitCast(real(rounder()), m_integer));
        Value* nReal = b.CreateFSub(shifted, real(rounder()));
        Value* r = nullptr;
        if (isBase2) {
            r = b.CreateFMul(b.CreateFSub(clamped, nReal), real(std::numbers::ln2));
        } else {
            const double ln2High = m_isDouble ? 0x1.62e42fee00000p-1 : 0x1.62e300p-1;
            const double ln2Low = m_isDouble ? 0x1.a39ef35793c76p-33 : 0x1.2fefa2p-17;
            r = fma(nReal, real(-ln2Low), fma(nReal, real(-ln2High), clamped));
            if (low != nullptr)
                r = b.CreateFAdd(r, low);
        }
        Value* p = polynomial(r, m_isDouble ? std::span<const double>(kExp64) : kExp32);
        return {n, fma(b.CreateFMul(r, r), p, r)};
    }

    /// v 2^n in two halves, so that subnormals survive.
    Value* scaled(Value* v, Value* n)
    {
        Value* firstHalf = b.CreateAShr(n, 1);
        Value* secondHalf = b.CreateSub(n, firstHalf);
        return b.CreateFMul(b.CreateFMul(v, powerOfTwo(firstHalf)), powerOfTwo(secondHalf));
    }

    /// Also of -0 and of a NaN.
    Value* hasSign(Value* x) { return b.CreateICmpSLT(b.CreateBitCast(x, m_integer), integer(0)); }

    Value* remainder(Value* r, Value* divisor)
    {
        Value* q = b.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, b.CreateFDiv(r, divisor));
        Value* rest = fma(b.CreateFNeg(q), divisor, r);
        return b.CreateSelect(b.CreateFCmpOLT(rest, real(0.0)), b.CreateFAdd(rest, divisor), rest); // q was rounded up
    }
};

bool isNumber(const Value* v)
{
    const auto* constant = llvm::dyn_cast<llvm::Constant>(v);
    if (constant != nullptr && constant->getType()->isVectorTy())
        constant = constant->getSplatValue();
    const auto* number = llvm::dyn_cast_or_null<llvm::ConstantFP>(constant);
    return number != nullptr && !number->isNaN();
}

} // namespace

Value* emitExtremum(llvm::IRBuilder<>& builder, bool isMin, Value* a, Value* b)
{
    if (isNumber(b))
        std::swap(a, b);
    // One instruction on x86-64: the second operand if one is not-a-number.
    Value* first = isMin ? builder.CreateFCmpOLT(a, b) : builder.CreateFCmpOGT(a, b);
    Value* chosen = builder.CreateSelect(first, a, b);
    return isNumber(a) ? chosen : builder.CreateSelect(builder.CreateFCmpORD(a, a), chosen, a);
}

Value* emitMathCall(llvm::IRBuilder<>& builder, std::string_view name, const std::vector<Value*>& operands, bool hasFma)
{
    const llvm::IRBuilderBase::FastMathFlagGuard saved(builder);
    llvm::FastMathFlags exact; // the reductions cancel on purpose
    builder.setFastMathFlags(exact);
    llvm::Type* type = operands[0]->getType();
    Maths m(builder, type, hasFma);
    if (operands.size() == 1) {
        Value* x = operands[0];
        if (name == "exp")
            return m.exp(x);
        if (name == "exp2")
            return m.exp2(x);
        if (name == "log")
            return m.log(x);
        if (name == "log2")
            return builder.CreateFMul(m.log(x), m.real(std::numbers::log2e));
        if (name == "expm1")
            return m.expm1(x);
        if (name == "log1p")
            return m.log1p(x);
        if (name == "tanh")
            return m.tanh(x);
        if (name == "sigmoid")
            return m.sigmoid(x);
        if (name == "erf")
            return m.erf(x);
        if (name == "sin")
            return m.sine(x, 0);
        if (name == "cos")
            return m.sine(x, 1);
        if (name == "tan")
            return builder.CreateFDiv(m.sine(x, 0), m.sine(x, 1));
        if (name == "atan")
            return m.atan(x);
        if (name == "sqrt")
            return builder.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x);
        if (name == "rsqrt")
            return builder.CreateFDiv(m.real(1.0), builder.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x));
        if (name == "abs" || name == "fabs")
            return m.absolute(x);
        if (name == "floor")
            return builder.CreateUnaryIntrinsic(llvm::Intrinsic::floor, x);
        if (name == "ceil")
            return builder.CreateUnaryIntrinsic(llvm::Intrinsic::ceil, x);
        if (name == "trunc")
            return builder.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, x);
        if (name == "round")
            return builder.CreateUnaryIntrinsic(llvm::Intrinsic::roundeven, x);
        return nullptr;
    }
    if (operands.size() == 2) {
        if (name == "max" || name == "min")
            return emitExtremum(builder, name == "min", operands[0], operands[1]);
        if (name != "pow" && name != "fmod")
            return nullptr;
        const bool isPower = name == "pow";
        if (!type->getScalarType()->isFloatTy())
            return isPower ? m.pow(operands[0], operands[1], true) : m.fmod(operands[0], operands[1], 53, 2098);
        // f32 through f64: y log x needs the digits, and a remainder is exact with fewer steps.
        const auto* vector = llvm::dyn_cast<llvm::VectorType>(type);
        llvm::Type* wide = builder.getDoubleTy();
        if (vector != nullptr)
            wide = llvm::VectorType::get(wide, vector->getElementCount());
        Maths d(builder, wide, hasFma);
        Value* x = builder.CreateFPExt(operands[0], wide);
        Value* y = builder.CreateFPExt(operands[1], wide);
        return builder.CreateFPTrunc(isPower ? d.pow(x, y, false) : d.fmod(x, y, 24, 277), type);
    }
    if (operands.size() == 3 && name == "fma")
        return m.fma(operands[0], operands[1], operands[2]);
    return nullptr;
}

} // namespace lathe::cpu
