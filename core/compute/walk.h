#pragma once

#include "core/ir/expr.h"

#include <utility>

namespace lathe::compute {

/// Calls visit(const ir::Expr&) for every node below and at `e`, operands first.
template<typename Visit>
void postOrder(const ir::Expr& e, Visit&& visit)
{
    for (const ir::Expr& operand : e->operands)
        postOrder(operand, visit);
    visit(e);
}

/// A node exactly as given; unlike the builders of ir it does not simplify.
inline ir::Expr makeNode(ir::Node node)
{
    return ir::Expr(std::make_shared<const ir::Node>(std::move(node)));
}

} // namespace lathe::compute
