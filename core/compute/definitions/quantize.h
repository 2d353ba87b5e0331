#pragma once

#include "core/compute/dag.h"

#include <optional>

namespace lathe::compute {

// To and from integers with scales; graph/operators/quantize.cpp says what is computed, in which order and rounding.
// Scales and zero points broadcast to x. What is said to be in float32 is in float64 where x or the scale is.

/// saturate(round(x / scale) + zero), halves to even; NaN gives the lowest number.
Tensor quantize(DagBuilder& b, Tensor x, Tensor scale, std::optional<Tensor> zero, DType dtype);
/// (x - zero) * scale, the difference in int32 and the product in float32, rounded to `dtype`.
Tensor dequantize(DagBuilder& b, Tensor x, Tensor scale, std::optional<Tensor> zero, DType dtype);
/// saturate(round(x * multiplier) + zero) of int32 x, computed in float32.
Tensor requantize(DagBuilder& b, Tensor x, Tensor multiplier, std::optional<Tensor> zero, DType dtype);

} // namespace lathe::compute
