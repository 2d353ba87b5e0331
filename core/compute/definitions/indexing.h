#pragma once

#include "core/compute/dag.h"

namespace lathe::compute {

// Places read from tensors. Negative ones count from the end; what lies outside is cut to the nearest place, so that no
// kernel reads astray.

/// An index read from a tensor of indices, as I32 in [0, extent).
ir::Expr wrappedIndex(const ir::Expr& raw, std::int64_t extent);

/// ONNX GatherND: out[b, q, rest] = x[b, indices[b, q, :], rest], b the first batchDims dimensions.
Tensor gatherNd(DagBuilder& b, Tensor x, Tensor indices, std::int64_t batchDims);

/// What meets at one place of a scatter.
enum class ScatterMode : std::uint8_t
{
    Replace, ///< the last update wins
    Add,
    Multiply,
    Maximum,
    Minimum
};

/// ONNX ScatterElements: each place of the result looks for the updates that name it.
Tensor scatterElements(DagBuilder& b, Tensor x, Tensor indices, Tensor updates, std::int64_t axis, ScatterMode mode);

/// ONNX ScatterND with the places in one row: indices [Q, K], updates [Q, rest of x].
Tensor scatterNd(DagBuilder& b, Tensor x, Tensor indices, Tensor updates, ScatterMode mode);

/// Running sums along `axis`; exclusive: without the element itself; reverse: from the end.
Tensor cumulativeSum(DagBuilder& b, Tensor x, std::int64_t axis, bool exclusive, bool reverse);

/// Positions of the `count` largest (smallest) values along `axis`, best first, the first of equals first; I64.
Tensor topPositions(DagBuilder& b, Tensor x, std::int64_t axis, std::int64_t count, bool largest);

} // namespace lathe::compute
