#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace lathe::compute {

/// IEEE half precision and bfloat16 as 16 bits, to and from float; rounds to nearest, halves to even.

inline float halfToFloat(std::uint16_t bits)
{
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
    const std::uint32_t exponent = (bits >> 10) & 0x1fu;
    const std::uint32_t fraction = bits & 0x3ffu;
    if (exponent == 0)
        return std::copysign(std::ldexp(static_cast<float>(fraction), -24), std::bit_cast<float>(sign | 0x3f800000u));
    const std::uint32_t wide = exponent == 31 ? 255u : exponent + 112u;
    return std::bit_cast<float>(sign | (wide << 23) | (fraction << 13));
}

inline std::uint16_t floatToHalf(double value)
{
    const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000u : 0u);
    if (std::isnan(value))
        return static_cast<std::uint16_t>(sign | 0x7e00u);
    const double magnitude = std::fabs(value);
    if (magnitude >= 65520.0)
        return static_cast<std::uint16_t>(sign | 0x7c00u);
    if (magnitude < std::ldexp(1.0, -14)) // subnormal: a multiple of 2^-24
        return static_cast<std::uint16_t>(sign | static_cast<std::uint16_t>(std::nearbyint(std::ldexp(magnitude, 24))));
    int exponent = 0;
    const double mantissa = std::frexp(magnitude, &exponent); // in [1/2, 1)
    const auto fraction = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(mantissa, 11))); // [1024, 2048]
    const std::uint32_t bits = (static_cast<std::uint32_t>(exponent + 14) << 10) + (fraction - 1024u);
    return static_cast<std::uint16_t>(sign | bits);
}

inline float brainToFloat(std::uint16_t bits)
{
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

inline std::uint16_t floatToBrain(double value)
{
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
    if (std::isnan(value))
        return static_cast<std::uint16_t>((bits >> 16) | 0x40u);
    return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

} // namespace lathe::compute
