#include "plugins/cpu/codegen/quarter_turns.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

namespace lathe::cpu {

namespace {

using llvm::Value;

/// 2/pi after the binary point.
constexpr std::array<std::uint32_t, 39> kTwoOverPi = {
    0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561,
    0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484,
    0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f,
    0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b,
    0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab, 0xf0cfbc20};

/// `count` binary digits of 2/pi from `first` on, as a number in [0, 1).
double digitsOfTwoOverPi(int first, int count)
{
    double value = 0;
    for (int i = 0; i < count; ++i) {
        const int digit = first + i;
        if ((kTwoOverPi.at(static_cast<std::size_t>(digit / 32)) >> (31 - digit % 32) & 1U) != 0)
            value += std::ldexp(1.0, -1 - i);
    }
    return value;
}

/// How the product is cut so that each part of x times each chunk of digits is exact in f64.
struct Cut
{
    int mantissa; ///< digits of x
    int chunk; ///< digits of 2/pi in a chunk
    int window; ///< chunks that matter at once
    int last; ///< the chunk at which the window of the largest x begins
    std::uint64_t factor; ///< (v * factor) >> shift = v / chunk
    unsigned shift;
};
// The least distance of a number of the type to a multiple of pi/2 is 2^-31 and 2^-62 of it: the windows reach 2^-61
// and 2^-128 of a quarter turn.
constexpr Cut kCut32{24, 29, 4, 3, 71, 11};
constexpr Cut kCut64{53, 26, 8, 37, 2521, 16};

/// Sums without a loss: what rounding took is kept beside.
struct Sum
{
    Value* high;
    Value* low;
};

class Reduction
{
public:
    Reduction(llvm::IRBuilder<>& builder, Value* x)
        : b(builder)
        , m_type(x->getType())
        , m_isDouble(m_type->getScalarType()->isDoubleTy())
        , m_cut(m_isDouble ? kCut64 : kCut32)
    {
        const auto* vector = llvm::dyn_cast<llvm::VectorType>(m_type);
        const auto shaped = [vector](llvm::Type* scalar) -> llvm::Type* {
            return vector != nullptr ? llvm::VectorType::get(scalar, vector->getElementCount()) : scalar;
        };
        m_real = shaped(b.getDoubleTy());
        m_integer = shaped(b.getInt64Ty());
        m_narrow = shaped(m_isDouble ? b.getInt64Ty() : b.getInt32Ty());
        Value* wide = m_isDouble ? x : b.CreateFPExt(x, m_real);
        m_x = b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, wide);
    }

    QuarterTurns run()
    {
        Value* bits = b.CreateBitCast(m_x, m_integer);
        Value* beyond = b.CreateSub(b.CreateLShr(bits, 52), integer(1023 + m_cut.mantissa + 1));
        Value* digits = b.CreateSelect(b.CreateICmpSLT(beyond, integer(0)), integer(0), beyond);
        Value* first = b.CreateLShr(b.CreateMul(digits, integer(static_cast<std::int64_t>(m_cut.factor))),
                                    static_cast<std::uint64_t>(m_cut.shift));
        first = b.CreateSelect(b.CreateICmpUGT(first, integer(m_cut.last)), integer(m_cut.last), first); // infinities
        const std::vector<Value*> chunks = window(first);
        Value* scale = b.CreateSub(integer(1023), b.CreateMul(first, integer(m_cut.chunk)));
        Value* scaled = b.CreateFMul(m_x, b.CreateBitCast(b.CreateShl(scale, 52), m_real));

        std::vector<Value*> parts = {scaled};
        if (m_isDouble) { // 26 digits and 27
            Value* upper = b.CreateAnd(b.CreateBitCast(scaled, m_integer), integer(~std::int64_t{0x7ffffff}));
            Value* high = b.CreateBitCast(upper, m_real);
            parts = {high, b.CreateFSub(scaled, high)};
        }
        Sum sum{real(0), real(0)};
        for (int i = 0; i < m_cut.window; ++i)
            for (Value* part : parts) {
                Value* placed = b.CreateFMul(part, real(std::ldexp(1.0, -m_cut.chunk * i)));
                sum = add(sum, modulo4(b.CreateFMul(placed, chunks[static_cast<std::size_t>(i)])));
            }
        // To the nearest whole number, which the rounder leaves in the lowest digits.
        constexpr double kRounder = 0x1.8p52;
        Value* shifted = b.CreateFAdd(sum.high, real(kRounder));
        Value* whole = b.CreateFSub(shifted, real(kRounder));
        Value* turns = b.CreateSub(b.CreateBitCast(shifted, m_integer), b.CreateBitCast(real(kRounder), m_integer));
        Value* rest = b.CreateFSub(sum.high, whole);
        Value* fraction = b.CreateFAdd(rest, sum.low);
        Value* lost = b.CreateFAdd(b.CreateFSub(rest, fraction), sum.low);
        Value* angle = timesHalfPi(fraction, lost);
        // What is small already is the angle, and its product above may have lost digits.
        Value* isSmall = b.CreateFCmpOLT(m_x, real(0.78));
        angle = b.CreateSelect(isSmall, m_x, angle);
        turns = b.CreateSelect(isSmall, integer(0), turns);
        if (m_isDouble)
            return {turns, angle};
        return {b.CreateTrunc(turns, m_narrow), b.CreateFPTrunc(angle, m_type)};
    }

private:
    llvm::IRBuilder<>& b;
    llvm::Type* m_type;
    bool m_isDouble;
    Cut m_cut;
    llvm::Type* m_real = nullptr;
    llvm::Type* m_integer = nullptr;
    llvm::Type* m_narrow = nullptr;
    Value* m_x = nullptr;

    Value* real(double v) { return llvm::ConstantFP::get(m_real, v); }
    Value* integer(std::int64_t v) { return llvm::ConstantInt::get(m_integer, static_cast<std::uint64_t>(v), true); }

    /// Chunks first, first + 1, ...: by the binary digits of `first` the list is shifted by so many places or not.
    std::vector<Value*> window(Value* first)
    {
        std::vector<Value*> list;
        for (int chunk = 0; chunk < m_cut.last + m_cut.window; ++chunk)
            list.push_back(real(digitsOfTwoOverPi(chunk * m_cut.chunk, m_cut.chunk)));
        int step = 1;
        while (2 * step <= m_cut.last)
            step *= 2;
        for (; step > 0; step /= 2) {
            Value* shifts = b.CreateICmpNE(b.CreateAnd(first, integer(step)), integer(0));
            const std::size_t needed = static_cast<std::size_t>(m_cut.window + step - 1);
            std::vector<Value*> next;
            for (std::size_t i = 0; i < std::min(needed, list.size()); ++i) {
                const std::size_t moved = i + static_cast<std::size_t>(step);
                next.push_back(moved < list.size() ? b.CreateSelect(shifts, list[moved], list[i]) : list[i]);
            }
            list = std::move(next);
        }
        return list;
    }

    Value* modulo4(Value* v)
    {
        Value* quarters = b.CreateUnaryIntrinsic(llvm::Intrinsic::floor, b.CreateFMul(v, real(0.25)));
        return b.CreateFSub(v, b.CreateFMul(quarters, real(4)));
    }

    /// Knuth's sum of two: exact in whatever order.
    Sum add(Sum sum, Value* v)
    {
        Value* high = b.CreateFAdd(sum.high, v);
        Value* added = b.CreateFSub(high, sum.high);
        Value* lost = b.CreateFAdd(b.CreateFSub(sum.high, b.CreateFSub(high, added)), b.CreateFSub(v, added));
        return {high, b.CreateFAdd(sum.low, lost)};
    }

    Value* timesHalfPi(Value* fraction, Value* lost)
    {
        if (!m_isDouble)
            return b.CreateFMul(fraction, real(std::numbers::pi / 2));
        // pi/2 in two numbers, the first of 26 digits; so is the fraction's upper half: their product is exact.
        constexpr double kUpper = 0x1.921fb50000000p+0, kLower = 0x1.110b4611a6263p-26;
        Value* upper = b.CreateBitCast(
            b.CreateAnd(b.CreateBitCast(fraction, m_integer), integer(~std::int64_t{0x7ffffff})), m_real);
        Value* lower = b.CreateFAdd(b.CreateFSub(fraction, upper), lost);
        Value* small = b.CreateFAdd(b.CreateFMul(upper, real(kLower)), b.CreateFMul(lower, real(std::numbers::pi / 2)));
        return b.CreateFAdd(b.CreateFMul(upper, real(kUpper)), small);
    }
};

} // namespace

QuarterTurns emitQuarterTurns(llvm::IRBuilder<>& builder, llvm::Value* x)
{
    return Reduction(builder, x).run();
}

} // namespace lathe::cpu
