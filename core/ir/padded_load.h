#pragma once

#include "core/ir/expr.h"

namespace lathe::ir {

/// A choice between one element and a number, `condition ? x[i] : 0`: how what lies past an edge is read.
inline bool isPaddedLoad(const Expr& e)
{
    return e->kind == ExprKind::IfThenElse && e->operands[1]->kind == ExprKind::Load
           && (e->operands[2]->kind == ExprKind::FloatImm || e->operands[2]->kind == ExprKind::IntImm);
}

} // namespace lathe::ir
