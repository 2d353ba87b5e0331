#include "core/schedule/conditions.h"

#include "core/ir/linear_form.h"
#include "core/ir/simplify.h"
#include "core/ir/substitute.h"

#include <algorithm>
#include <optional>

namespace lathe::schedule {

using ir::Expr;
using ir::ExprKind;
using ir::LoopKind;
using ir::Stmt;
using ir::StmtKind;

void flattenConjunction(const Expr& condition, std::vector<Expr>& conjuncts)
{
    if (condition->kind == ExprKind::And) {
        flattenConjunction(condition->operands[0], conjuncts);
        flattenConjunction(condition->operands[1], conjuncts);
        return;
    }
    if (ir::isConst(condition, 1))
        return;
    const auto same = [&condition](const Expr& other) { return ir::equal(other, condition); };
    if (std::none_of(conjuncts.begin(), conjuncts.end(), same))
        conjuncts.push_back(condition);
}

Expr conjunction(const std::vector<Expr>& conjuncts)
{
    Expr all = ir::boolImm(true);
    for (const Expr& c : conjuncts)
        all = all && c;
    return all;
}

namespace {

bool sameLiteral(const Expr& a, const Expr& b)
{
    const auto value = [](const Expr& e) -> std::optional<double> {
        if (e->kind == ExprKind::FloatImm)
            return e->floatValue;
        if (e->kind == ExprKind::IntImm)
            return static_cast<double>(e->intValue);
        return std::nullopt;
    };
    const auto x = value(a);
    return x && x == value(b);
}

Expr strip(const Expr& e, bool throughProducts, const Expr& identity, std::vector<Expr>& conditions)
{
    switch (e->kind) {
    case ExprKind::Select:
    case ExprKind::IfThenElse:
        if (sameLiteral(e->operands[2], identity)) {
            flattenConjunction(e->operands[0], conditions);
            return strip(e->operands[1], throughProducts, identity, conditions);
        }
        if (sameLiteral(e->operands[1], identity)) {
            flattenConjunction(!e->operands[0], conditions);
            return strip(e->operands[2], throughProducts, identity, conditions);
        }
        return e;
    case ExprKind::Cast: // zero stays zero in every type; other identities do not
        return throughProducts ? ir::cast(e->dtype, strip(e->operands[0], true, ir::intImm(0), conditions)) : e;
    case ExprKind::Mul:
        if (throughProducts) {
            const Expr a = strip(e->operands[0], true, identity, conditions);
            return a * strip(e->operands[1], true, identity, conditions);
        }
        return e;
    case ExprKind::Div:
        return throughProducts ? ir::div(strip(e->operands[0], true, identity, conditions), e->operands[1]) : e;
    default: return e;
    }
}

/// Ends of a loop as conditions bound them.
struct LoopLimits
{
    std::vector<Expr> lower;
    std::vector<Expr> upper; ///< exclusive
};

/// coefficient * v + rest >= 0 as a bound of v. False if v stands elsewhere in the form.
bool limit(const ir::LinearForm& form, const Expr& v, LoopLimits& limits)
{
    const std::int64_t c = form.coefficientOf(v);
    if (c == 0)
        return false;
    ir::LinearForm rest = form;
    rest.add(v, -c);
    for (const ir::LinearForm::Term& term : rest.terms)
        if (ir::uses(term.atom, v))
            return false;
    if (c > 0) { // v >= ceil(-rest / c)
        rest.scale(-1);
        rest.constant += c - 1;
        limits.lower.push_back(ir::floorDiv(toExpr(rest), ir::intImm(c)));
    } else // v <= floor(rest / -c)
        limits.upper.push_back(ir::floorDiv(toExpr(rest), ir::intImm(-c)) + 1);
    return true;
}

class Placer
{
public:
    Placer(ir::Ranges& ranges, std::span<const Expr> threads)
        : m_ranges(ranges)
        , m_threads(threads)
    {
    }

    Stmt operator()(const Stmt& s)
    {
        if (!s)
            return s;
        switch (s->kind) {
        case StmtKind::For: return loop(s);
        case StmtKind::Block: {
            std::vector<Stmt> body;
            for (const Stmt& inner : s->body)
                body.push_back((*this)(inner));
            return ir::makeBlock(std::move(body));
        }
        case StmtKind::If: {
            const Stmt thenBody = (*this)(s->body[0]);
            if (s->body.size() > 1 && s->body[1])
                return ir::makeIf(s->condition, thenBody, (*this)(s->body[1]));
            // A condition that reads memory stays inside: code computes both sides of a conjunction, and what is read
            // may exist only where the outer condition holds.
            if (thenBody && thenBody->kind == StmtKind::If && thenBody->body.size() == 1
                && !containsLoad(thenBody->condition))
                return ir::makeIf(s->condition && thenBody->condition, thenBody->body[0]);
            return ir::makeIf(s->condition, thenBody);
        }
        default: return s;
        }
    }

private:
    Stmt loop(const Stmt& s)
    {
        ir::LinearForm last = linearForm(s->min, m_ranges);
        last.add(linearForm(s->extent, m_ranges), 1);
        Stmt body;
        std::vector<Expr> stay;
        std::vector<Expr> outward;
        LoopLimits limits;
        {
            const ir::RangeScope scope(m_ranges, s->variable,
                                       {boundsOf(s->min, m_ranges).lo, boundsOf(last, m_ranges).hi - 1});
            body = gatherHints((*this)(s->body[0]));
            if (!body || body->kind != StmtKind::If || body->body.size() != 1 || s->loop == LoopKind::Parallel)
                return withBody(s, body);
            std::vector<Expr> conjuncts;
            flattenConjunction(ir::simplify(body->condition, m_ranges), conjuncts);
            for (const Expr& c : conjuncts) {
                ir::LinearForm form;
                const bool pure = !containsLoad(c);
                if (!ir::uses(c, s->variable) && pure)
                    outward.push_back(c);
                else if (s->loop != LoopKind::Serial || !pure || differsBetweenThreads(c)
                         || !asInequality(c, m_ranges, form) || !limit(form, s->variable, limits))
                    stay.push_back(c);
            }
        }
        Stmt inner = stay.empty() ? body->body[0] : ir::makeIf(conjunction(stay), body->body[0]);
        Stmt result = withBody(s, inner);
        if (!limits.lower.empty() || !limits.upper.empty())
            result = bounded(result, limits);
        return outward.empty() ? result : ir::makeIf(conjunction(outward), result);
    }

    /// A condition after prefetches may cover them as well: they are hints.
    static Stmt gatherHints(const Stmt& s)
    {
        if (!s || s->kind != StmtKind::Block || s->body.back()->kind != StmtKind::If
            || s->body.back()->body.size() != 1)
            return s;
        const auto isHint = [](const Stmt& inner) { return inner->kind == StmtKind::Prefetch; };
        if (!std::all_of(s->body.begin(), s->body.end() - 1, isHint))
            return s;
        std::vector<Stmt> inner(s->body.begin(), s->body.end() - 1);
        inner.push_back(s->body.back()->body[0]);
        return ir::makeIf(s->body.back()->condition, ir::makeBlock(std::move(inner)));
    }

    bool differsBetweenThreads(const Expr& e) const
    {
        return std::ranges::any_of(m_threads,
                                   [&e](const Expr& index) { return index.get() != nullptr && ir::uses(e, index); });
    }

    static bool containsLoad(const Expr& e)
    {
        if (e->kind == ExprKind::Load)
            return true;
        return std::any_of(e->operands.begin(), e->operands.end(), &containsLoad);
    }

    Stmt bounded(const Stmt& s, const LoopLimits& limits) const
    {
        auto copy = std::make_shared<ir::StmtNode>(*s);
        Expr end = s->min + s->extent;
        for (const Expr& lower : limits.lower)
            copy->min = ir::max(copy->min, lower);
        for (const Expr& upper : limits.upper)
            end = ir::min(end, upper);
        copy->min = ir::simplify(copy->min, m_ranges);
        copy->extent = ir::simplify(end - copy->min, m_ranges);
        return copy;
    }

    static Stmt withBody(const Stmt& s, const Stmt& body)
    {
        if (body == s->body[0])
            return s;
        auto copy = std::make_shared<ir::StmtNode>(*s);
        copy->body[0] = body;
        return copy;
    }

    ir::Ranges& m_ranges;
    std::span<const Expr> m_threads; ///< indices within a block; null ones are of no launch
};

} // namespace

GuardedTerm extractGuards(const Expr& source, ir::Combiner combiner, const Expr& identity)
{
    GuardedTerm term;
    term.value = strip(source, combiner == ir::Combiner::Sum, identity, term.conditions);
    return term;
}

Stmt placeConditions(const Stmt& s, ir::Ranges& ranges, std::span<const Expr> threads)
{
    return Placer(ranges, threads)(s);
}

} // namespace lathe::schedule
