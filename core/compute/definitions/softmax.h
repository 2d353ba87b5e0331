#pragma once

#include "core/compute/dag.h"

namespace lathe::compute {

/// exp(x - max) / sum along `axis` (negative counts from the end): T_softmax_maxelem, _exp, _expsum, _norm.
Tensor softmax(DagBuilder& b, Tensor data, std::int64_t axis);

/// x - max - log(sum(exp(x - max))).
Tensor logSoftmax(DagBuilder& b, Tensor data, std::int64_t axis);

} // namespace lathe::compute
