#include "tests/cuda_driver/ptx/small_float.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lathe::ptx {

uint32_t encode(double value, SmallFormat format, Rounding rounding)
{
    const uint32_t topExponent = (1u << format.exponentBits) - 1;
    const uint32_t negative = std::signbit(value) ? 1 : 0;
    const uint32_t sign = negative << (format.exponentBits + format.mantissaBits);
    const uint32_t infinity = topExponent << format.mantissaBits;
    if (std::isnan(value))
        return infinity | ((1u << format.mantissaBits) - 1);
    if (std::isinf(value))
        return sign | infinity;
    const double magnitude = std::fabs(value);
    if (magnitude == 0)
        return sign;
    const int bias = (1 << (format.exponentBits - 1)) - 1;
    const int quantum = std::max(std::ilogb(magnitude), 1 - bias) - format.mantissaBits;
    const double scaled = std::scalbn(magnitude, -quantum); // below 2^(mantissaBits + 1), exact
    auto steps = static_cast<uint32_t>(scaled);
    const double rest = scaled - steps;
    const bool up = rounding == Rounding::Nearest       ? rest > 0.5 || (rest == 0.5 && (steps & 1) != 0)
                    : rounding == Rounding::NearestAway ? rest >= 0.5
                    : rounding == Rounding::Down        ? negative != 0 && rest > 0
                    : rounding == Rounding::Up          ? negative == 0 && rest > 0
                                                        : false;
    steps += up ? 1 : 0;
    if (steps < 1u << format.mantissaBits)
        return sign | steps; // subnormal
    const auto exponent = static_cast<uint32_t>(quantum + format.mantissaBits + bias);
    const uint32_t bits = (exponent << format.mantissaBits) + (steps - (1u << format.mantissaBits));
    if (bits < infinity)
        return sign | bits;
    const bool toLargest = rounding == Rounding::Zero || (rounding == Rounding::Down && negative == 0)
                           || (rounding == Rounding::Up && negative != 0);
    return sign | (toLargest ? infinity - 1 : infinity);
}

double decode(uint32_t bits, SmallFormat format)
{
    const uint32_t topExponent = (1u << format.exponentBits) - 1;
    const uint32_t mantissa = bits & ((1u << format.mantissaBits) - 1);
    const uint32_t exponent = bits >> format.mantissaBits & topExponent;
    const bool negative = (bits >> (format.exponentBits + format.mantissaBits) & 1) != 0;
    const int bias = (1 << (format.exponentBits - 1)) - 1;
    double value = 0;
    if (exponent == topExponent)
        value = mantissa == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
    else if (exponent == 0)
        value = std::scalbn(static_cast<double>(mantissa), 1 - bias - format.mantissaBits);
    else
        value = std::scalbn(static_cast<double>(mantissa | 1u << format.mantissaBits),
                            static_cast<int>(exponent) - bias - format.mantissaBits);
    return negative ? -value : value;
}

} // namespace lathe::ptx
