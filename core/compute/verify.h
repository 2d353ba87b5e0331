#pragma once

#include "core/compute/dag.h"

namespace lathe::compute {

/// What an operation at a position of Dag::ops satisfies: it reads operations that stand before it only, with an index
/// for each dimension; its bodies use its own axes only, of different names; a reduction stands at the root of a body
/// only. Errors: Internal, naming the operation and what is off.
Result<> verifyOp(const std::vector<Op>& ops, std::int32_t index);

/// That of all operations, and that the inputs are exactly the placeholders and the outputs operations. A DAG that the
/// builder made is sound; rewrites check theirs where checks are on (core/support/checks.h). Errors: as above.
Result<> verify(const Dag& dag);

} // namespace lathe::compute
