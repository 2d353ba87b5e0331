#pragma once

#include "core/runtime/dtype.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace lathe::ir {

/// One value under interpretation: `f` for floats, `i` for integers and bool.
struct Scalar
{
    double f = 0;
    std::int64_t i = 0;
};

Scalar loadScalar(const std::byte* at, DType t);
void storeScalar(std::byte* at, DType t, Scalar value);
/// Rounds or wraps to what `t` can hold.
Scalar roundTo(Scalar value, DType t);
Scalar convert(Scalar value, DType from, DType to);
/// What is left of an integer in a type that is narrower: its lowest bits, with the sign that they then have.
std::int64_t wrap(std::int64_t v, DType t);
/// The integer nearest to `value` towards zero that `t` holds: its ends for what lies beyond them, 0 for not-a-number.
std::int64_t saturate(double value, DType t);
/// The order of two integers of a type, whose 64 bits they hold.
bool lessThan(std::int64_t a, std::int64_t b, DType t);
/// base^exponent in 64 bits, which wraps around. A negative exponent gives 0 but of 1 and -1. Of a type without a sign
/// no exponent is negative.
std::int64_t power(std::int64_t base, std::int64_t exponent, DType t);
/// Not-a-number if one of them is; which zero, where both are zeros, is not said.
double minimum(double a, double b);
double maximum(double a, double b);

/// Pure intrinsics by name, on floats of up to three arguments; nullptr if the name is not known.
using Intrinsic = double (*)(double, double, double);
Intrinsic findIntrinsic(const std::string& name);

/// Those on the bits of two integers: bit_and, bit_or, bit_xor, shift_left, shift_right. The caller wraps the result to
/// its type. Shifts are of unsigned types, and by the type's width or more they give 0. Null if the name is not known.
using BitIntrinsic = std::int64_t (*)(std::int64_t, std::int64_t);
BitIntrinsic findBitIntrinsic(std::string_view name);

} // namespace lathe::ir
