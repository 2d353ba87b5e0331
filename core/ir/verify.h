#pragma once

#include "core/ir/loop_nest.h"
#include "core/support/result.h"

namespace lathe::ir {

/// What every loop nest that leaves lowering satisfies, and every back end may rely on:
/// - indices match the rank of their buffer, strides match its shape; parameters are exactly the Parameter buffers;
/// - variables are used inside their loops only, and no loop reuses the variable of one around it;
/// - each phase is one Parallel loop, and no other loop is Parallel;
/// - Vectorized and Unrolled loops have constant bounds; vectorized loops do not nest;
/// - indices of Register buffers use variables of Vectorized and Unrolled loops only;
/// - nothing stores to a read-only buffer; no Reduce is left.
/// Errors: Internal, naming the kernel and what is off.
Result<> verify(const LoopNest& nest);

} // namespace lathe::ir
