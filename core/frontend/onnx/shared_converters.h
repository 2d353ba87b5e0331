#pragma once

#include "core/frontend/onnx/composer.h"

namespace lathe::frontend::onnx_detail {

// What operators of both domains share: parts of converters, and converters that others begin with. Attributes are read
// from the node.

/// As MatMul. Integers give int32 sums.
Result<ValueId> matrixProduct(Builder& b, ValueId left, ValueId right);
/// As Conv; the bias may be invalid: there is none. Integers give int32 sums, and take such a bias.
Result<ValueId> convolve(Builder& b, NodeReader& node, ValueId data, ValueId weight, ValueId bias);
/// As AveragePool or MaxPool; data is [N, C, ...].
Result<ValueId> pooled(Builder& b, NodeReader& node, ValueId data, bool average);

/// Gemm itself; FusedGemm goes on from there.
Result<std::vector<ValueId>> convertGemm(Builder& b, NodeReader& node);

/// [N, ..., C] -> [N, C, ...], and back.
ValueId channelsFirst(Composer& c, ValueId x);
ValueId channelsLast(Composer& c, ValueId x);

struct Standardised
{
    ValueId mean, inverse, y; ///< inverse: 1 / sqrt(variance + epsilon)
};
/// (x - mean) / sqrt(variance + epsilon) over `axes`.
Standardised standardise(Composer& c, ValueId x, const Ints& axes, double epsilon);
/// x / sqrt(mean of squares + epsilon) over `axes`; there is no mean.
Standardised standardiseBySquares(Composer& c, ValueId x, const Ints& axes, double epsilon);

/// [batch, sequence, heads * size] -> [batch, heads, sequence, size].
ValueId splitHeads(Composer& c, ValueId x, std::int64_t heads);
/// And back.
ValueId joinHeads(Composer& c, ValueId x);

struct Rotation
{
    ValueId cosine, sine; ///< [batch or 1, sequence, width / 2]
    std::int64_t width = 0; ///< entries of each head that are turned, from the first on
    bool interleaved = false; ///< pairs are neighbours, else half of the width apart
};
/// x [batch, sequence, heads, size], its pairs of entries turned by an angle for each position.
ValueId rotated(Composer& c, ValueId x, const Rotation& rotation);

} // namespace lathe::frontend::onnx_detail
