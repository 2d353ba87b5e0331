#include "core/ir/simplify.h"

#include "core/ir/linear_form.h"
#include "core/ir/substitute.h"

#include <algorithm>
#include <cmath>

namespace lathe::ir {

namespace {

bool isFloatConst(const Expr& e, double value)
{
    return e->kind == ExprKind::FloatImm && e->floatValue == value;
}

Expr simplifyComparison(const Expr& e, const Ranges& ranges)
{
    const Interval b = boundsOf(e, ranges);
    if (b.isPoint())
        return boolImm(b.lo != 0);
    LinearForm form;
    if (asInequality(e, ranges, form))
        return inequalityToExpr(form);
    return binary(e->kind, simplify(e->operands[0], ranges), simplify(e->operands[1], ranges));
}

Expr opposite(const Expr& e)
{
    switch (e->kind) {
    case ExprKind::Eq: return ne(e->operands[0], e->operands[1]);
    case ExprKind::Ne: return eq(e->operands[0], e->operands[1]);
    default: break;
    }
    if (isFloat(e->operands[0]->dtype)) // not (a < b) is no (a >= b) for NaN
        return {};
    switch (e->kind) {
    case ExprKind::Lt: return e->operands[0] >= e->operands[1];
    case ExprKind::Le: return e->operands[0] > e->operands[1];
    case ExprKind::Gt: return e->operands[0] <= e->operands[1];
    case ExprKind::Ge: return e->operands[0] < e->operands[1];
    default: return {};
    }
}

/// +-2^n for small n, so that products neither round nor overflow.
bool isPowerOfTwo(double value)
{
    int exponent = 0;
    return std::fabs(std::frexp(value, &exponent)) == 0.5 && exponent > -16 && exponent < 16;
}

bool isNegativeZero(const Expr& e)
{
    return isFloatConst(e, 0) && std::signbit(e->floatValue);
}

/// Only what no value contradicts: x * 0 is no zero for an infinity, and x + 0 loses the sign of -0.
Expr foldFloat(const Expr& e)
{
    const Expr& a = e->operands[0];
    const Expr& b = e->operands[1];
    if (isVanishingZero(a) || isVanishingZero(b)) {
        if (e->kind == ExprKind::Mul)
            return isVanishingZero(a) ? a : b;
        if (isVanishingZero(b)) // sums and differences
            return a;
        if (e->kind == ExprKind::Add)
            return b;
    }
    if (a->kind == ExprKind::FloatImm && b->kind == ExprKind::FloatImm
        && (e->dtype == DType::F32 || e->dtype == DType::F64)) {
        const double x = a->floatValue;
        const double y = b->floatValue;
        switch (e->kind) {
        case ExprKind::Add: return floatImm(x + y, e->dtype);
        case ExprKind::Sub: return floatImm(x - y, e->dtype);
        case ExprKind::Mul: return floatImm(x * y, e->dtype);
        default: return e;
        }
    }
    switch (e->kind) {
    case ExprKind::Add:
        if (isNegativeZero(b))
            return a;
        return isNegativeZero(a) ? b : e;
    case ExprKind::Sub: return isFloatConst(b, 0) && !isNegativeZero(b) ? a : e;
    case ExprKind::Mul:
        if (isFloatConst(b, 1))
            return a;
        if (isFloatConst(a, 1))
            return b;
        // (x * c1) * c2 with a power of two among them is x * (c1*c2) exactly.
        if (b->kind == ExprKind::FloatImm && a->kind == ExprKind::Mul && a->operands[1]->kind == ExprKind::FloatImm
            && (isPowerOfTwo(b->floatValue) || isPowerOfTwo(a->operands[1]->floatValue))) {
            const double factor = a->operands[1]->floatValue * b->floatValue;
            return factor == 1 ? a->operands[0] : a->operands[0] * floatImm(factor, e->dtype);
        }
        return e;
    default: return e;
    }
}

Expr simplifyChildren(const Expr& e, const Ranges& ranges)
{
    bool changed = false;
    std::vector<Expr> operands;
    operands.reserve(e->operands.size());
    for (const Expr& operand : e->operands) {
        operands.push_back(simplify(operand, ranges));
        changed |= !operands.back().same(operand);
    }
    return changed ? withOperands(e, std::move(operands)) : e;
}

Stmt simplifyLoop(const Stmt& s, Ranges& ranges)
{
    const Expr min = simplify(s->min, ranges);
    const Expr extent = simplify(s->extent, ranges);
    const Interval count = boundsOf(extent, ranges);
    if (count.hi <= 0)
        return nullptr;
    if (count.isPoint() && count.lo == 1 && s->loop != LoopKind::Parallel) {
        if (min->kind == ExprKind::IntImm) {
            const RangeScope scope(ranges, s->variable, Interval::point(min->intValue));
            return simplify(s->body[0], ranges);
        }
        return simplify(substitute(s->body[0], {{s->variable.get(), min}}), ranges);
    }
    LinearForm last = linearForm(min, ranges);
    last.add(linearForm(extent, ranges), 1);
    const RangeScope scope(ranges, s->variable, {boundsOf(min, ranges).lo, boundsOf(last, ranges).hi - 1});
    Stmt body = simplify(s->body[0], ranges);
    if (!body)
        return nullptr;
    auto copy = std::make_shared<StmtNode>(*s);
    copy->min = min;
    copy->extent = extent;
    copy->body[0] = std::move(body);
    return copy;
}

} // namespace

Expr simplify(const Expr& e, const Ranges& ranges)
{
    switch (e->kind) {
    case ExprKind::IntImm:
    case ExprKind::FloatImm: return e;
    case ExprKind::Var: {
        const Interval range = ranges.of(e.get());
        return range.isPoint() ? intImm(range.lo, e->dtype) : e;
    }
    case ExprKind::Eq:
    case ExprKind::Ne:
    case ExprKind::Lt:
    case ExprKind::Le:
    case ExprKind::Gt:
    case ExprKind::Ge:
        if (isIndexType(e->operands[0]->dtype))
            return simplifyComparison(e, ranges);
        return simplifyChildren(e, ranges);
    case ExprKind::And:
    case ExprKind::Or: {
        const Expr a = simplify(e->operands[0], ranges);
        const Expr b = simplify(e->operands[1], ranges);
        return equal(a, b) ? a : binary(e->kind, a, b);
    }
    case ExprKind::Not: {
        const Expr a = simplify(e->operands[0], ranges);
        if (a->kind == ExprKind::Not)
            return a->operands[0];
        if (a->kind >= ExprKind::Eq && a->kind <= ExprKind::Ge)
            if (const Expr flipped = opposite(a))
                return isIndexType(a->operands[0]->dtype) ? simplify(flipped, ranges) : flipped;
        return !a;
    }
    case ExprKind::Select:
    case ExprKind::IfThenElse: {
        const Expr condition = simplify(e->operands[0], ranges);
        if (condition->kind == ExprKind::IntImm)
            return simplify(e->operands[condition->intValue != 0 ? 1 : 2], ranges);
        const Expr ifTrue = simplify(e->operands[1], ranges);
        const Expr ifFalse = simplify(e->operands[2], ranges);
        if (equal(ifTrue, ifFalse))
            return ifTrue;
        return e->kind == ExprKind::Select ? select(condition, ifTrue, ifFalse)
                                           : ifThenElse(condition, ifTrue, ifFalse);
    }
    case ExprKind::Add:
    case ExprKind::Sub:
    case ExprKind::Mul:
        if (isIndexType(e->dtype))
            return toExpr(linearForm(e, ranges));
        if (isFloat(e->dtype)) {
            const Expr inner = simplifyChildren(e, ranges);
            const bool sameKind = inner->kind == e->kind;
            return sameKind ? foldFloat(inner) : inner;
        }
        return simplifyChildren(e, ranges);
    case ExprKind::FloorDiv:
    case ExprKind::FloorMod:
    case ExprKind::Min:
    case ExprKind::Max:
        if (isIndexType(e->dtype))
            return toExpr(linearForm(e, ranges));
        return simplifyChildren(e, ranges);
    case ExprKind::Cast:
        if (isIndexType(e->dtype) && isIndexType(e->operands[0]->dtype)
            && sizeOf(e->operands[0]->dtype) <= sizeOf(e->dtype))
            return toExpr(linearForm(e, ranges));
        return simplifyChildren(e, ranges);
    default: return simplifyChildren(e, ranges);
    }
}

bool provablyTrue(const Expr& condition, const Ranges& ranges)
{
    return boundsOf(condition, ranges).lo == 1;
}

bool provablyFalse(const Expr& condition, const Ranges& ranges)
{
    return boundsOf(condition, ranges).hi == 0;
}

Stmt simplify(const Stmt& s, Ranges& ranges)
{
    if (!s)
        return nullptr;
    switch (s->kind) {
    case StmtKind::For: return simplifyLoop(s, ranges);
    case StmtKind::Block: {
        std::vector<Stmt> body;
        body.reserve(s->body.size());
        for (const Stmt& inner : s->body)
            body.push_back(simplify(inner, ranges));
        Stmt block = makeBlock(std::move(body));
        const bool empty = block->kind == StmtKind::Block && block->body.empty();
        return empty ? nullptr : block;
    }
    case StmtKind::If: {
        const Expr condition = simplify(s->condition, ranges);
        const Stmt elseBody = s->body.size() > 1 ? s->body[1] : nullptr;
        if (condition->kind == ExprKind::IntImm)
            return simplify(condition->intValue != 0 ? s->body[0] : elseBody, ranges);
        Stmt thenBody = simplify(s->body[0], ranges);
        Stmt otherwise = simplify(elseBody, ranges);
        if (!thenBody && !otherwise)
            return nullptr;
        if (!thenBody)
            return makeIf(simplify(!condition, ranges), std::move(otherwise));
        return makeIf(condition, std::move(thenBody), std::move(otherwise));
    }
    case StmtKind::Barrier:
    case StmtKind::AsyncCommit:
    case StmtKind::AsyncWait: return s;
    case StmtKind::Store:
    case StmtKind::Shuffle:
    case StmtKind::Prefetch:
    case StmtKind::AsyncCopy:
    case StmtKind::Evaluate: {
        auto copy = std::make_shared<StmtNode>(*s);
        for (Expr& index : copy->indices)
            index = simplify(index, ranges);
        if (copy->value)
            copy->value = simplify(copy->value, ranges);
        const Expr& value = copy->value;
        const bool selfStore = s->kind == StmtKind::Store && value->kind == ExprKind::Load && value->source == s->buffer
                               && std::equal(value->operands.begin(), value->operands.end(), copy->indices.begin(),
                                             copy->indices.end(), &equal);
        return selfStore ? nullptr : copy;
    }
    }
    return s;
}

} // namespace lathe::ir
