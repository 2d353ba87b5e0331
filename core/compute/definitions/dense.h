#pragma once

#include "core/compute/dag.h"
#include "core/compute/name_era.h"

#include <optional>

namespace lathe::compute {

/// data [M, K] times weight [N, K] transposed -> [M, N].
Tensor dense(DagBuilder& b, Tensor data, Tensor weight, NameEra era, std::optional<DType> outType = std::nullopt);

struct MatmulParams
{
    bool transposeA = false;
    bool transposeB = false;
    std::optional<DType> outType;
};

/// Matrix product over the last two dimensions; leading (batch) dimensions broadcast as in numpy. Both operands have
/// rank
/// >= 2; [M, K] x [K, N], or [K, M] / [N, K] where transposed.
Tensor matmul(DagBuilder& b, Tensor a, Tensor c, const MatmulParams& p, NameEra era);

/// Adds `bias` [C] along dimension `axis` of data (the reference's own op, before it is made an add).
Tensor biasAdd(DagBuilder& b, Tensor data, Tensor bias, std::int64_t axis);

} // namespace lathe::compute
