#pragma once

#include "core/ir/bounds.h"
#include "core/ir/loop_nest.h"

#include <span>
#include <unordered_set>
#include <vector>

namespace lathe::schedule {

/// A term of a reduction that counts only where all conditions hold.
struct GuardedTerm
{
    ir::Expr value;
    std::vector<ir::Expr> conditions;
};

/// Takes out of `source` the conditions under which it is not the identity of the combiner: for a sum,
/// if_then_else(c, x, 0) * w is x * w under c. Padding of a convolution becomes conditions in this way.
GuardedTerm extractGuards(const ir::Expr& source, ir::Combiner combiner, const ir::Expr& identity);

/// The conditions that `condition` is the conjunction of.
void flattenConjunction(const ir::Expr& condition, std::vector<ir::Expr>& conjuncts);
ir::Expr conjunction(const std::vector<ir::Expr>& conjuncts);

/// Moves conditions outward: through loops whose variable they do not use, and into the bounds of a serial loop whose
/// variable they limit (kh in [max(0, pad - oh), min(KH, H + pad - oh))). What depends on unrolled variables stays
/// inside, where it becomes constant when the loop is emitted. Loops so bounded may have no iteration at all.
///
/// What differs between the `threads` of a block bounds no loop: they step together, as often as the one with most, and
/// compilers write out loops with a constant end alone.
ir::Stmt placeConditions(const ir::Stmt& s, ir::Ranges& ranges, std::span<const ir::Expr> threads = {});

} // namespace lathe::schedule
