#include "core/compute/flop.h"

#include "core/compute/analysis.h"

#include <algorithm>

namespace lathe::compute {

namespace {

enum class TypeClass : std::uint8_t
{
    Signed,
    Unsigned, ///< bool too
    Float,
    Brain
};

TypeClass classOf(DType t)
{
    if (t == DType::BF16)
        return TypeClass::Brain;
    if (isFloat(t))
        return TypeClass::Float;
    return isSigned(t) ? TypeClass::Signed : TypeClass::Unsigned;
}

double cost(const ir::Expr& e, TypeClass counted, const Op& op)
{
    double children = 0;
    switch (e->kind) {
    case ir::ExprKind::IntImm:
    case ir::ExprKind::FloatImm:
    case ir::ExprKind::Var:
    case ir::ExprKind::Load: return 0; // indices are address arithmetic
    case ir::ExprKind::Select:
        return cost(e->operands[0], counted, op)
               + std::max(cost(e->operands[1], counted, op), cost(e->operands[2], counted, op));
    case ir::ExprKind::Reduce:
        // The combiner's result is one operation on the accumulated type.
        return static_cast<double>(reduceSize(op)) * (1 + cost(e->operands[0], counted, op));
    case ir::ExprKind::IfThenElse:
    case ir::ExprKind::Cast:
    case ir::ExprKind::Call:
        for (const ir::Expr& operand : e->operands)
            children += cost(operand, counted, op);
        return children;
    default: break;
    }
    bool counts = false;
    for (const ir::Expr& operand : e->operands) {
        counts |= classOf(operand->dtype) == counted;
        children += cost(operand, counted, op);
    }
    return children + (counts ? 1 : 0);
}

} // namespace

double flop(const Dag& dag)
{
    double total = 0;
    for (const Op& op : dag.ops) {
        if (op.kind != OpKind::Compute)
            continue;
        if (op.attrs.contains("FLOP")) {
            total += static_cast<double>(attrInteger(op, "FLOP", 0));
            continue;
        }
        for (const ir::Expr& body : op.bodies)
            total += static_cast<double>(spatialSize(op)) * cost(body, classOf(op.dtype), op);
    }
    return total;
}

} // namespace lathe::compute
