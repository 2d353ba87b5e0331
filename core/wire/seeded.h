#pragma once

#include "core/runtime/dtype.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace lathe::wire {

/// Test data that both sides of a wire make from a seed: element i depends on (seed, i, dtype, range) alone, so a
/// reference may ask for single points and never needs the whole tensor.
struct SeededRange
{
    double low = 0;
    double high = 0; ///< both zero: [-1, 1) for floats, the eight bits around zero for integers, {0, 1} for bool
};

/// The value as the dtype holds it (rounded to f16, bf16, f32; whole for integers).
double seededValue(std::uint64_t seed, std::uint64_t index, DType dtype, SeededRange range = {});
/// out.size() == count * sizeOf(dtype), row-major logical order.
void fillSeeded(std::uint64_t seed, DType dtype, SeededRange range, std::span<std::byte> out);

/// Element `index` of a plain buffer as a double, and the reverse (rounding to nearest even).
double readElement(const void* buffer, std::int64_t index, DType dtype);
void writeElement(void* buffer, std::int64_t index, DType dtype, double value);

/// A seed for each input: the same for all candidates of a task, different between inputs.
std::uint64_t inputSeed(std::uint64_t taskSeed, std::size_t input);

} // namespace lathe::wire
