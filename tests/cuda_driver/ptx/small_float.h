#pragma once

#include "tests/cuda_driver/ptx/program.h"

namespace lathe::ptx {

/// A float format of at most 16 bits, or tf32 (whose lowest 13 bits of 32 are zero).
struct SmallFormat
{
    int exponentBits, mantissaBits;
};
constexpr SmallFormat kHalf = {5, 10};
constexpr SmallFormat kBfloat16 = {8, 7};
constexpr SmallFormat kTf32 = {8, 10};

/// Rounds once, whatever the value. Not a number becomes the one with all bits of the mantissa set and no sign.
uint32_t encode(double value, SmallFormat format, Rounding rounding);
double decode(uint32_t bits, SmallFormat format);

inline SmallFormat formatOf(Type type)
{
    return type == Type::F16 || type == Type::F16x2 ? kHalf : type == Type::Tf32 ? kTf32 : kBfloat16;
}

} // namespace lathe::ptx
