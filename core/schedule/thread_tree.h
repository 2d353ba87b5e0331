#pragma once

#include "core/ir/bounds.h"
#include "core/ir/loop_nest.h"

#include <vector>

namespace lathe::schedule {

/// Two Shared buffers through which the threads of a block hand over values of one kind: `from` has an element for each
/// thread, `to` for half of them.
struct HandOver
{
    std::int32_t from = -1, to = -1;
    DType dtype = DType::F32;
};

/// The steps by which `threads` threads along the axis `kind` make one result of what each has put into `from`: half as
/// many combine pairs, until one has it all; `from` then names the buffer whose element 0 holds it.
/// @param parts of a sum one; of a reduction to an index two, values and positions: of equal values the first counts.
std::vector<ir::Stmt> combinePairs(ir::Ranges& ranges, ir::LoopKind kind, std::int64_t threads, ir::Combiner combiner,
                                   std::vector<HandOver>& parts);

/// What a combiner makes of two values that are no indices.
ir::Expr combine(ir::Combiner combiner, const ir::Expr& a, const ir::Expr& b);

} // namespace lathe::schedule
