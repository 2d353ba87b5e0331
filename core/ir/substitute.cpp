#include "core/ir/substitute.h"

namespace lathe::ir {

Expr withOperands(const Expr& e, std::vector<Expr> operands)
{
    switch (e->kind) {
    case ExprKind::IntImm:
    case ExprKind::FloatImm:
    case ExprKind::Var: return e;
    case ExprKind::Not: return !operands[0];
    case ExprKind::Select: return select(operands[0], operands[1], operands[2]);
    case ExprKind::IfThenElse: return ifThenElse(operands[0], operands[1], operands[2]);
    case ExprKind::Cast: return cast(e->dtype, operands[0]);
    case ExprKind::Call:
    case ExprKind::Load:
    case ExprKind::Reduce: {
        auto node = std::make_shared<Node>(*e);
        node->operands = std::move(operands);
        return Expr(std::move(node));
    }
    default: return binary(e->kind, operands[0], operands[1]);
    }
}

namespace {

/// Applies `map` to the operands; keeps the node if none changed.
template<typename F>
Expr mapOperands(const Expr& e, F&& map)
{
    bool changed = false;
    std::vector<Expr> operands;
    operands.reserve(e->operands.size());
    for (const Expr& operand : e->operands) {
        operands.push_back(map(operand));
        changed |= !operands.back().same(operand);
    }
    return changed ? withOperands(e, std::move(operands)) : e;
}

} // namespace

Expr substitute(const Expr& e, const Substitution& map)
{
    if (e->kind == ExprKind::Var) {
        const auto found = map.find(e.get());
        return found == map.end() ? e : found->second;
    }
    return mapOperands(e, [&map](const Expr& operand) { return substitute(operand, map); });
}

Stmt substitute(const Stmt& s, const Substitution& map)
{
    if (!s)
        return s;
    auto copy = std::make_shared<StmtNode>(*s);
    const auto replace = [&map](Expr& e) {
        if (e)
            e = substitute(e, map);
    };
    replace(copy->min);
    replace(copy->extent);
    replace(copy->value);
    replace(copy->condition);
    for (Expr& index : copy->indices)
        replace(index);
    for (Stmt& inner : copy->body)
        inner = substitute(inner, map);
    return copy;
}

Expr transform(const Expr& e, const std::function<Expr(const Expr&)>& rewrite)
{
    const Expr inner = mapOperands(e, [&rewrite](const Expr& operand) { return transform(operand, rewrite); });
    const Expr replaced = rewrite(inner);
    return replaced ? replaced : inner;
}

void visit(const Expr& e, const std::function<void(const Expr&)>& visitor)
{
    visitor(e);
    for (const Expr& operand : e->operands)
        visit(operand, visitor);
}

void visitExprs(const Stmt& s, const std::function<void(const Expr&)>& visitor)
{
    if (!s)
        return;
    for (const Expr* e : {&s->min, &s->extent, &s->value, &s->condition})
        if (*e)
            visitor(*e);
    for (const Expr& index : s->indices)
        visitor(index);
    for (const Stmt& inner : s->body)
        visitExprs(inner, visitor);
}

bool uses(const Expr& e, const Expr& variable)
{
    if (e.same(variable))
        return true;
    for (const Expr& operand : e->operands)
        if (uses(operand, variable))
            return true;
    return false;
}

bool usesAny(const Expr& e, const std::function<bool(const Node*)>& isVariable)
{
    if (e->kind == ExprKind::Var)
        return isVariable(e.get());
    for (const Expr& operand : e->operands)
        if (usesAny(operand, isVariable))
            return true;
    return false;
}

} // namespace lathe::ir
