#pragma once

#include "core/ir/loop_nest.h"

#include <functional>
#include <unordered_map>

namespace lathe::ir {

using Substitution = std::unordered_map<const Node*, Expr>; ///< variable -> what stands for it

/// Replaces variables. Subtrees without one of them stay shared; builders fold what becomes literal.
Expr substitute(const Expr& e, const Substitution& map);
Stmt substitute(const Stmt& s, const Substitution& map);

/// Rebuilds bottom up: `rewrite` sees each node after its operands were rewritten and returns a replacement or an empty
/// Expr to keep the node.
Expr transform(const Expr& e, const std::function<Expr(const Expr&)>& rewrite);

/// The same node kind over other operands, through the builders.
Expr withOperands(const Expr& e, std::vector<Expr> operands);

/// Calls `visit` for each node, parents first.
void visit(const Expr& e, const std::function<void(const Expr&)>& visit);
/// Calls `visit` for each expression that stands in the statement.
void visitExprs(const Stmt& s, const std::function<void(const Expr&)>& visit);

bool uses(const Expr& e, const Expr& variable);
bool usesAny(const Expr& e, const std::function<bool(const Node*)>& isVariable);

} // namespace lathe::ir
