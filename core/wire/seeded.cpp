#include "core/wire/seeded.h"

#include "core/support/random.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace lathe::wire {

namespace {

std::uint64_t mix(std::uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

/// Counter based: any element alone, all of them in a loop that vectorises.
std::uint64_t bits(std::uint64_t seed, std::uint64_t index)
{
    return mix(seed + (index + 1) * 0x9e3779b97f4a7c15ULL);
}

/// Rounds to nearest even into `exponentBits` and `mantissaBits`.
std::uint16_t toNarrow(double value, int exponentBits, int mantissaBits)
{
    const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
    const int bias = (1 << (exponentBits - 1)) - 1;
    const auto infinity = static_cast<std::uint16_t>(((1 << exponentBits) - 1) << mantissaBits);
    if (std::isnan(value))
        return static_cast<std::uint16_t>(sign | infinity | 1 << (mantissaBits - 1));
    const double magnitude = std::fabs(value);
    if (magnitude == 0)
        return sign;
    if (std::isinf(value))
        return static_cast<std::uint16_t>(sign | infinity);
    int exponent = 0;
    std::frexp(magnitude, &exponent);
    exponent = std::max(exponent - 1, 1 - bias); // of the leading bit; subnormals share the least
    const double unit = std::ldexp(1.0, exponent - mantissaBits);
    const double steps = std::nearbyint(magnitude / unit); // a multiple of the unit: mantissa with its leading bit
    const auto whole = static_cast<std::int64_t>(steps);
    const std::int64_t code = whole + (static_cast<std::int64_t>(exponent + bias - 1) << mantissaBits);
    return static_cast<std::uint16_t>(sign | std::min<std::int64_t>(code, infinity));
}

double fromNarrow(std::uint16_t code, int exponentBits, int mantissaBits)
{
    const int bias = (1 << (exponentBits - 1)) - 1;
    const int exponent = (code >> mantissaBits) & ((1 << exponentBits) - 1);
    const int mantissa = code & ((1 << mantissaBits) - 1);
    double value;
    if (exponent == (1 << exponentBits) - 1)
        value = mantissa ? std::nan("") : HUGE_VAL;
    else if (exponent == 0)
        value = std::ldexp(mantissa, 1 - bias - mantissaBits);
    else
        value = std::ldexp(mantissa + (1 << mantissaBits), exponent - bias - mantissaBits);
    return code & 0x8000 ? -value : value;
}

template<typename T>
T load(const void* buffer, std::int64_t index)
{
    T value;
    std::memcpy(&value, static_cast<const char*>(buffer) + index * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
    return value;
}

template<typename T>
void store(void* buffer, std::int64_t index, T value)
{
    std::memcpy(static_cast<char*>(buffer) + index * static_cast<std::int64_t>(sizeof(T)), &value, sizeof(T));
}

/// Out of range saturates; not-a-number becomes zero.
template<typename T>
T toInteger(double value)
{
    if (std::isnan(value))
        return 0;
    const double whole = std::nearbyint(value);
    if (whole <= static_cast<double>(std::numeric_limits<T>::min()))
        return std::numeric_limits<T>::min();
    if (whole >= static_cast<double>(std::numeric_limits<T>::max()))
        return std::numeric_limits<T>::max();
    return static_cast<T>(whole);
}

SeededRange resolve(DType dtype, SeededRange range)
{
    if (range.low != 0 || range.high != 0)
        return range;
    if (dtype == DType::Bool)
        return {0, 2};
    if (isFloat(dtype))
        return {-1, 1};
    return isSigned(dtype) ? SeededRange{-127, 128} : SeededRange{0, 256};
}

double valueOf(std::uint64_t random, DType dtype, const SeededRange& range)
{
    // 24 bits: exact in f32, so that a range of [-1, 1) has no rounding at all there.
    const double unit = static_cast<double>(random >> 40) * 0x1.0p-24;
    const double value = range.low + unit * (range.high - range.low);
    return isFloat(dtype) ? value : std::floor(value);
}

} // namespace

double readElement(const void* buffer, std::int64_t index, DType dtype)
{
    switch (dtype) {
    case DType::Bool: return load<std::uint8_t>(buffer, index) != 0 ? 1 : 0;
    case DType::I8: return load<std::int8_t>(buffer, index);
    case DType::U8: return load<std::uint8_t>(buffer, index);
    case DType::I16: return load<std::int16_t>(buffer, index);
    case DType::U16: return load<std::uint16_t>(buffer, index);
    case DType::I32: return load<std::int32_t>(buffer, index);
    case DType::U32: return load<std::uint32_t>(buffer, index);
    case DType::I64: return static_cast<double>(load<std::int64_t>(buffer, index));
    case DType::U64: return static_cast<double>(load<std::uint64_t>(buffer, index));
    case DType::F16: return fromNarrow(load<std::uint16_t>(buffer, index), 5, 10);
    case DType::BF16: return fromNarrow(load<std::uint16_t>(buffer, index), 8, 7);
    case DType::F32: return static_cast<double>(load<float>(buffer, index));
    case DType::F64: return load<double>(buffer, index);
    }
    return 0;
}

void writeElement(void* buffer, std::int64_t index, DType dtype, double value)
{
    switch (dtype) {
    case DType::Bool: return store<std::uint8_t>(buffer, index, value != 0);
    case DType::I8: return store(buffer, index, toInteger<std::int8_t>(value));
    case DType::U8: return store(buffer, index, toInteger<std::uint8_t>(value));
    case DType::I16: return store(buffer, index, toInteger<std::int16_t>(value));
    case DType::U16: return store(buffer, index, toInteger<std::uint16_t>(value));
    case DType::I32: return store(buffer, index, toInteger<std::int32_t>(value));
    case DType::U32: return store(buffer, index, toInteger<std::uint32_t>(value));
    case DType::I64: return store(buffer, index, toInteger<std::int64_t>(value));
    case DType::U64: return store(buffer, index, toInteger<std::uint64_t>(value));
    case DType::F16: return store(buffer, index, toNarrow(value, 5, 10));
    case DType::BF16: return store(buffer, index, toNarrow(value, 8, 7));
    case DType::F32: return store(buffer, index, static_cast<float>(value));
    case DType::F64: return store(buffer, index, value);
    }
}

double seededValue(std::uint64_t seed, std::uint64_t index, DType dtype, SeededRange range)
{
    alignas(8) std::byte cell[8];
    writeElement(cell, 0, dtype, valueOf(bits(seed, index), dtype, resolve(dtype, range)));
    return readElement(cell, 0, dtype);
}

void fillSeeded(std::uint64_t seed, DType dtype, SeededRange range, std::span<std::byte> out)
{
    const SeededRange resolved = resolve(dtype, range);
    const auto count = static_cast<std::int64_t>(out.size()) / sizeOf(dtype);
    if (dtype == DType::F32) {
        for (std::int64_t i = 0; i < count; ++i) {
            const auto value = static_cast<float>(
                valueOf(bits(seed, static_cast<std::uint64_t>(i)), DType::F32, resolved));
            store(out.data(), i, value);
        }
        return;
    }
    for (std::int64_t i = 0; i < count; ++i)
        writeElement(out.data(), i, dtype, valueOf(bits(seed, static_cast<std::uint64_t>(i)), dtype, resolved));
}

std::uint64_t inputSeed(std::uint64_t taskSeed, std::size_t input)
{
    return Random(taskSeed, 0x1a7e, input).next();
}

} // namespace lathe::wire
