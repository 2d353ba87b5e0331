#include "core/ir/scalar.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>

namespace lathe::ir {

namespace {

template<typename T>
T raw(const std::byte* at)
{
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

template<typename T>
void put(std::byte* at, T value)
{
    std::memcpy(at, &value, sizeof value);
}

float halfToFloat(std::uint16_t h)
{
    const std::uint32_t sign = static_cast<std::uint32_t>(h & 0x8000u) << 16;
    const int exponent = (h >> 10) & 0x1f;
    const std::uint32_t mantissa = h & 0x3ffu;
    if (exponent == 0x1f)
        return std::bit_cast<float>(sign | 0x7f800000u | mantissa << 13);
    const float magnitude = exponent == 0 ? std::ldexp(static_cast<float>(mantissa), -24)
                                          : std::ldexp(static_cast<float>(mantissa | 0x400u), exponent - 25);
    return sign != 0 ? -magnitude : magnitude;
}

std::uint16_t floatToHalf(double value)
{
    const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
    const double magnitude = std::fabs(value);
    if (std::isnan(value))
        return static_cast<std::uint16_t>(sign | 0x7e00);
    if (magnitude >= 65520.0)
        return static_cast<std::uint16_t>(sign | 0x7c00);
    if (magnitude < 0x1p-25)
        return sign;
    int exponent = 0;
    std::frexp(magnitude, &exponent);
    // Steps of 2^-24 below the smallest normal number, 11 bits of mantissa above. nearbyint rounds to even.
    const int step = std::max(exponent - 11, -24);
    const auto units = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(magnitude, -step)));
    if (step == -24)
        return static_cast<std::uint16_t>(sign | units);
    const std::uint32_t bits = static_cast<std::uint32_t>(step + 25) << 10;
    return static_cast<std::uint16_t>(sign | (bits + (units - 0x400u)));
}

float bfloatToFloat(std::uint16_t b)
{
    return std::bit_cast<float>(static_cast<std::uint32_t>(b) << 16);
}

std::uint16_t floatToBfloat(double value)
{
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
    if (std::isnan(value))
        return 0x7fc0;
    const std::uint32_t rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
    return static_cast<std::uint16_t>(rounded >> 16);
}

} // namespace

std::int64_t wrap(std::int64_t v, DType t)
{
    switch (t) {
    case DType::Bool: return v != 0 ? 1 : 0;
    case DType::I8: return static_cast<std::int8_t>(v);
    case DType::U8: return static_cast<std::uint8_t>(v);
    case DType::I16: return static_cast<std::int16_t>(v);
    case DType::U16: return static_cast<std::uint16_t>(v);
    case DType::I32: return static_cast<std::int32_t>(v);
    case DType::U32: return static_cast<std::uint32_t>(v);
    default: return v;
    }
}

Scalar loadScalar(const std::byte* at, DType t)
{
    switch (t) {
    case DType::Bool:
    case DType::U8: return {0, raw<std::uint8_t>(at)};
    case DType::I8: return {0, raw<std::int8_t>(at)};
    case DType::I16: return {0, raw<std::int16_t>(at)};
    case DType::U16: return {0, raw<std::uint16_t>(at)};
    case DType::I32: return {0, raw<std::int32_t>(at)};
    case DType::U32: return {0, raw<std::uint32_t>(at)};
    case DType::I64:
    case DType::U64: return {0, raw<std::int64_t>(at)};
    case DType::F16: return {static_cast<double>(halfToFloat(raw<std::uint16_t>(at))), 0};
    case DType::BF16: return {static_cast<double>(bfloatToFloat(raw<std::uint16_t>(at))), 0};
    case DType::F32: return {static_cast<double>(raw<float>(at)), 0};
    case DType::F64: return {raw<double>(at), 0};
    }
    return {};
}

void storeScalar(std::byte* at, DType t, Scalar value)
{
    switch (t) {
    case DType::Bool: put(at, static_cast<std::uint8_t>(value.i != 0)); break;
    case DType::I8:
    case DType::U8: put(at, static_cast<std::uint8_t>(value.i)); break;
    case DType::I16:
    case DType::U16: put(at, static_cast<std::uint16_t>(value.i)); break;
    case DType::I32:
    case DType::U32: put(at, static_cast<std::uint32_t>(value.i)); break;
    case DType::I64:
    case DType::U64: put(at, value.i); break;
    case DType::F16: put(at, floatToHalf(value.f)); break;
    case DType::BF16: put(at, floatToBfloat(value.f)); break;
    case DType::F32: put(at, static_cast<float>(value.f)); break;
    case DType::F64: put(at, value.f); break;
    }
}

Scalar roundTo(Scalar value, DType t)
{
    switch (t) {
    case DType::F16: value.f = static_cast<double>(halfToFloat(floatToHalf(value.f))); break;
    case DType::BF16: value.f = static_cast<double>(bfloatToFloat(floatToBfloat(value.f))); break;
    case DType::F32: value.f = static_cast<double>(static_cast<float>(value.f)); break;
    case DType::F64: break;
    default: value.i = wrap(value.i, t); break;
    }
    return value;
}

std::int64_t saturate(double value, DType t)
{
    if (t == DType::Bool)
        return value != 0 ? 1 : 0;
    if (std::isnan(value))
        return 0;
    const int bits = static_cast<int>(sizeOf(t)) * 8;
    const double low = isSigned(t) ? -std::ldexp(1.0, bits - 1) : 0;
    const double high = std::ldexp(1.0, isSigned(t) ? bits - 1 : bits); // the first that does not fit
    if (value <= low)
        return bits == 64 && isSigned(t) ? std::numeric_limits<std::int64_t>::min() : static_cast<std::int64_t>(low);
    if (value >= high) // all bits set for U64
        return bits < 64     ? static_cast<std::int64_t>(high) - 1
               : isSigned(t) ? std::numeric_limits<std::int64_t>::max()
                             : -1;
    return t == DType::U64 ? static_cast<std::int64_t>(static_cast<std::uint64_t>(value))
                           : static_cast<std::int64_t>(value);
}

bool lessThan(std::int64_t a, std::int64_t b, DType t)
{
    return t == DType::U64 ? static_cast<std::uint64_t>(a) < static_cast<std::uint64_t>(b) : a < b;
}

std::int64_t power(std::int64_t base, std::int64_t exponent, DType t)
{
    if (isSigned(t) && exponent < 0) {
        if (base == 1)
            return 1;
        return base != -1 ? 0 : exponent % 2 == 0 ? 1 : -1;
    }
    std::uint64_t result = 1, square = static_cast<std::uint64_t>(base);
    for (auto left = static_cast<std::uint64_t>(exponent); left > 0; left /= 2) {
        if (left % 2 == 1)
            result *= square;
        square *= square;
    }
    return static_cast<std::int64_t>(result);
}

double minimum(double a, double b)
{
    return a < b || std::isnan(a) ? a : b;
}

double maximum(double a, double b)
{
    return a > b || std::isnan(a) ? a : b;
}

Scalar convert(Scalar value, DType from, DType to)
{
    if (isFloat(from) == isFloat(to))
        return to == DType::Bool ? Scalar{0, value.i != 0 || value.f != 0 ? 1 : 0} : roundTo(value, to);
    if (isFloat(to))
        return roundTo({from == DType::U64 ? static_cast<double>(static_cast<std::uint64_t>(value.i))
                                           : static_cast<double>(value.i),
                        0},
                       to);
    return {0, saturate(value.f, to)};
}

Intrinsic findIntrinsic(const std::string& name)
{
    static constexpr std::pair<std::string_view, Intrinsic> kTable[] = {
        {"exp", [](double x, double, double) { return std::exp(x); }},
        {"exp2", [](double x, double, double) { return std::exp2(x); }},
        {"log", [](double x, double, double) { return std::log(x); }},
        {"log2", [](double x, double, double) { return std::log2(x); }},
        {"sqrt", [](double x, double, double) { return std::sqrt(x); }},
        {"rsqrt", [](double x, double, double) { return 1.0 / std::sqrt(x); }},
        {"tanh", [](double x, double, double) { return std::tanh(x); }},
        {"expm1", [](double x, double, double) { return std::expm1(x); }},
        {"log1p", [](double x, double, double) { return std::log1p(x); }},
        {"erf", [](double x, double, double) { return std::erf(x); }},
        {"sigmoid", [](double x, double, double) { return 1.0 / (1.0 + std::exp(-x)); }},
        {"sin", [](double x, double, double) { return std::sin(x); }},
        {"cos", [](double x, double, double) { return std::cos(x); }},
        {"tan", [](double x, double, double) { return std::tan(x); }},
        {"atan", [](double x, double, double) { return std::atan(x); }},
        {"floor", [](double x, double, double) { return std::floor(x); }},
        {"ceil", [](double x, double, double) { return std::ceil(x); }},
        {"trunc", [](double x, double, double) { return std::trunc(x); }},
        {"round", [](double x, double, double) { return std::nearbyint(x); }},
        {"abs", [](double x, double, double) { return std::fabs(x); }},
        {"fabs", [](double x, double, double) { return std::fabs(x); }},
        {"pow", [](double x, double y, double) { return std::pow(x, y); }},
        {"fmod", [](double x, double y, double) { return std::fmod(x, y); }},
        {"fma", [](double x, double y, double z) { return std::fma(x, y, z); }},
    };
    for (const auto& [known, function] : kTable)
        if (known == name)
            return function;
    return nullptr;
}

BitIntrinsic findBitIntrinsic(std::string_view name)
{
    using Bits = std::uint64_t;
    static constexpr std::pair<std::string_view, BitIntrinsic> kTable[] = {
        {"bit_and", [](std::int64_t x, std::int64_t y) { return x & y; }},
        {"bit_or", [](std::int64_t x, std::int64_t y) { return x | y; }},
        {"bit_xor", [](std::int64_t x, std::int64_t y) { return x ^ y; }},
        {"shift_left",
         [](std::int64_t x, std::int64_t y) {
             return static_cast<Bits>(y) < 64 ? static_cast<std::int64_t>(static_cast<Bits>(x) << y) : 0;
         }},
        {"shift_right",
         [](std::int64_t x, std::int64_t y) {
             return static_cast<Bits>(y) < 64 ? static_cast<std::int64_t>(static_cast<Bits>(x) >> y) : 0;
         }},
    };
    for (const auto& [known, function] : kTable)
        if (known == name)
            return function;
    return nullptr;
}

} // namespace lathe::ir
