#pragma once

#include "core/compute/dag.h"

namespace lathe::compute {

enum class Reduction : std::uint8_t
{
    Sum,
    Mean,
    Max,
    Min,
    Prod,
    SumSquare,
    L1, ///< sum |x|
    L2, ///< sqrt(sum x^2)
    LogSum,
    LogSumExp ///< without overflow
};

/// Over `axes` (negative counts from the end; empty: all).
Tensor reduction(DagBuilder& b, Reduction op, Tensor x, std::vector<std::int64_t> axes, bool keepDims);

/// Position of the largest (smallest) value along `axis`, the first of equals; I64.
Tensor argReduction(DagBuilder& b, bool largest, Tensor x, std::int64_t axis, bool keepDims);

/// (x - mean) / sqrt(variance + epsilon) over dimensions [axis, rank), then * gamma + beta (each broadcast; may be
/// absent: id -1).
Tensor layerNorm(DagBuilder& b, Tensor x, Tensor gamma, Tensor beta, std::int64_t axis, double epsilon);
/// The same over all dimensions after the second, gamma and beta per channel [C]; NC... layout.
Tensor instanceNorm(DagBuilder& b, Tensor x, Tensor gamma, Tensor beta, double epsilon);

} // namespace lathe::compute
