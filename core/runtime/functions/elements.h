#pragma once

// Elements of tensors in functions of the runtime: half floats, orders, dispatch over types. No mathematics library.

#include "core/runtime/dtype.h"

#include <bit>
#include <cstdint>
#include <type_traits>

namespace lathe::runtime {

inline float widen(std::uint16_t half)
{
    const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000u) << 16;
    const std::uint32_t exponent = (half >> 10) & 0x1fu, fraction = half & 0x3ffu;
    if (exponent == 0) {
        const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
        return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | sign);
    }
    const std::uint32_t wide = exponent == 31 ? 255u : exponent + 112u;
    return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}

/// To nearest, halves to even.
inline std::uint16_t narrow(float value)
{
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000u);
    std::uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) // NaN
        return static_cast<std::uint16_t>(sign | 0x7e00u);
    if (magnitude >= 0x477ff000u) // 65520 rounds to infinity
        return static_cast<std::uint16_t>(sign | 0x7c00u);
    if (magnitude < 0x38800000u) { // subnormal: a multiple of 2^-24, which is the last bit of 0.5
        const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
        return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000u));
    }
    magnitude += 0xfffu + (magnitude >> 13 & 1u);
    return static_cast<std::uint16_t>(sign | (magnitude - 0x38000000u) >> 13);
}

/// A half float: stored in 16 bits, computed with as a float.
struct Half
{
    std::uint16_t bits;
    float value() const { return widen(bits); }
    static Half of(float v) { return {narrow(v)}; }
};

struct Brain
{
    std::uint16_t bits;
    float value() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }
    static Brain of(float v)
    {
        const auto wide = std::bit_cast<std::uint32_t>(v);
        if ((wide & 0x7fffffffu) > 0x7f800000u)
            return {static_cast<std::uint16_t>(wide >> 16 | 0x40u)};
        return {static_cast<std::uint16_t>((wide + 0x7fffu + (wide >> 16 & 1u)) >> 16)};
    }
};

template<typename T>
constexpr bool kIsHalf = std::is_same_v<T, Half> || std::is_same_v<T, Brain>;
template<typename T>
bool isNan(T value)
{
    if constexpr (std::is_floating_point_v<T>)
        return value != value;
    else
        return false;
}

/// Rank in the order of numbers: -0 equals 0. NaN is lower than all.
template<typename T>
std::uint64_t orderOf(T value)
{
    if constexpr (kIsHalf<T>) {
        return orderOf(value.value());
    } else if constexpr (std::is_floating_point_v<T>) {
        using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
        if (isNan(value))
            return 0;
        const Bits bits = std::bit_cast<Bits>(value == 0 ? T{0} : value);
        constexpr Bits kSign = Bits{1} << (sizeof(T) * 8 - 1);
        return (bits & kSign) != 0 ? static_cast<Bits>(~bits) : static_cast<Bits>(bits | kSign);
    } else if constexpr (std::is_signed_v<T>) {
        return static_cast<std::uint64_t>(static_cast<std::int64_t>(value)) ^ std::uint64_t{1} << 63;
    } else {
        return value;
    }
}

/// Calls f with a value of the type that stores elements of `dtype`; 1 if there is none.
template<typename F>
std::int32_t withElement(std::int64_t dtype, F&& f)
{
    switch (static_cast<DType>(dtype)) {
    case DType::Bool:
    case DType::U8: f(std::uint8_t{}); return 0;
    case DType::I8: f(std::int8_t{}); return 0;
    case DType::I16: f(std::int16_t{}); return 0;
    case DType::U16: f(std::uint16_t{}); return 0;
    case DType::I32: f(std::int32_t{}); return 0;
    case DType::U32: f(std::uint32_t{}); return 0;
    case DType::I64: f(std::int64_t{}); return 0;
    case DType::U64: f(std::uint64_t{}); return 0;
    case DType::F16: f(Half{}); return 0;
    case DType::BF16: f(Brain{}); return 0;
    case DType::F32: f(float{}); return 0;
    case DType::F64: f(double{}); return 0;
    }
    return 1;
}

/// The share of `count` things that one part does: [first, last).
struct Share
{
    std::int64_t first, last;
    Share(std::int64_t count, std::uint32_t part, std::uint32_t parts)
        : first(begin(count, part, parts))
        , last(begin(count, part + 1, parts))
    {
    }

private:
    static std::int64_t begin(std::int64_t count, std::uint32_t part, std::uint32_t parts)
    {
        return count / parts * part + count % parts * part / parts; // count * part might not fit
    }
};

} // namespace lathe::runtime
