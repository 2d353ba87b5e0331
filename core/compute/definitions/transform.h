#pragma once

#include "core/compute/dag.h"

#include <span>

namespace lathe::compute {

/// Output dimension i is input dimension permutation[i].
Tensor transpose(DagBuilder& b, Tensor x, const std::vector<std::int64_t>& permutation);
/// Same elements in row-major order; covers flatten, squeeze, expand_dims.
Tensor reshape(DagBuilder& b, Tensor x, std::vector<std::int64_t> shape);
/// [N, ...] -> [N, product]: the reference's batch_flatten.
Tensor batchFlatten(DagBuilder& b, Tensor x);
Tensor concatenate(DagBuilder& b, std::span<const Tensor> xs, std::int64_t axis);
/// begin, size and (possibly negative, never 0) stride for every dimension.
Tensor stridedSlice(DagBuilder& b, Tensor x, const std::vector<std::int64_t>& begin,
                    const std::vector<std::int64_t>& strides, const std::vector<std::int64_t>& outShape);
/// Elements [begin, begin + size) of one axis.
Tensor slice(DagBuilder& b, Tensor x, std::int64_t axis, std::int64_t begin, std::int64_t size);

enum class PadMode : std::uint8_t
{
    Constant,
    Edge,
    Reflect ///< the border element is not repeated
};

/// Negative amounts (constant and edge mode) crop.
Tensor pad(DagBuilder& b, Tensor x, const std::vector<std::int64_t>& before, const std::vector<std::int64_t>& after,
           PadMode mode, double value = 0);
/// Numpy's take: output shape = x[:axis] + indices.shape + x[axis+1:]. Negative indices count from the end.
Tensor take(DagBuilder& b, Tensor x, Tensor indices, std::int64_t axis);
/// ONNX GatherElements: out[p] = x[p with p[axis] replaced by indices[p]].
Tensor gatherElements(DagBuilder& b, Tensor x, Tensor indices, std::int64_t axis);
Tensor broadcastTo(DagBuilder& b, Tensor x, std::vector<std::int64_t> shape);
/// Repeats each dimension repeats[i] times (numpy's tile).
Tensor tile(DagBuilder& b, Tensor x, const std::vector<std::int64_t>& repeats);
/// A tensor of one value.
Tensor full(DagBuilder& b, std::vector<std::int64_t> shape, DType dtype, double value);
/// NCHW [N, C, H, W] -> [N, C/(s*s), H*s, W*s]; `columnRowDepth` picks ONNX's CRD mode.
Tensor depthToSpace(DagBuilder& b, Tensor x, std::int64_t block, bool columnRowDepth);

} // namespace lathe::compute
