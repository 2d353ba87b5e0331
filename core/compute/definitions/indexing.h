#pragma once

#include "core/compute/dag.h"

namespace lathe::compute {

// Places read from tensors. Negative ones count from the end; what lies outside is cut to the nearest place, so that no
// kernel reads astray.

/// An index read from a tensor of indices, as I32 in [0, extent).
ir::Expr wrappedIndex(const ir::Expr& raw, std::int64_t extent);

/// ONNX GatherND: out[b, q, rest] = x[b, indices[b, q, :], rest], b the first batchDims dimensions.
Tensor gatherNd(DagBuilder& b, Tensor x, Tensor indices, std::int64_t batchDims);

} // namespace lathe::compute
