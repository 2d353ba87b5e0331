#pragma once

#include "core/ir/bounds.h"
#include "core/ir/loop_nest.h"

namespace lathe::ir {

/// Equal value in fewer operations, given the ranges of variables: index arithmetic becomes sums of coefficient * atom,
/// (16*a + b) // 16 becomes a where 0 <= b < 16, comparisons, min, max and selects are decided by bounds.
/// Float arithmetic changes only where literals stand: x*1, x+0 and x*0 (a literal zero factor counts as a left-out
/// term: matrices of constants such as winograd's are mostly zeros).
Expr simplify(const Expr& e, const Ranges& ranges);

/// True or false where bounds decide the condition for all values of the variables.
bool provablyTrue(const Expr& condition, const Ranges& ranges);
bool provablyFalse(const Expr& condition, const Ranges& ranges);

/// Simplifies all expressions of a statement under the ranges of its loops, drops loops of no iteration and branches
/// that cannot be taken, replaces the variable of a loop of one iteration, drops stores of a value to where it was
/// loaded from. Loops keep their kind; `ranges` holds what is known outside.
Stmt simplify(const Stmt& s, Ranges& ranges);

} // namespace lathe::ir
