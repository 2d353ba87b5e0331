#include "core/schedule/constant_matrices.h"

#include "core/ir/substitute.h"

#include <algorithm>

namespace lathe::schedule {

namespace {

using ir::Expr;
using ir::ExprKind;
using ir::Stmt;
using ir::StmtKind;

constexpr std::int64_t kMaxCopies = 8192; ///< of one statement, over all loops written out

/// True if a select between literals, at any depth, is decided by `v`.
bool selectsOn(const Expr& e, const Expr& v)
{
    if (e->kind == ExprKind::Select && ir::uses(e->operands[0], v)) {
        const ExprKind k = e->operands[1]->kind;
        if (k == ExprKind::FloatImm || k == ExprKind::IntImm)
            return true;
    }
    return std::any_of(e->operands.begin(), e->operands.end(), [&v](const Expr& o) { return selectsOn(o, v); });
}

bool selectsOn(const Stmt& s, const Expr& v)
{
    if (!s)
        return false;
    if (s->value.get() != nullptr && selectsOn(s->value, v))
        return true;
    return std::any_of(s->body.begin(), s->body.end(), [&v](const Stmt& inner) { return selectsOn(inner, v); });
}

bool hasZeroFactor(const Expr& e)
{
    if (e->kind == ExprKind::FloatImm)
        return ir::isVanishingZero(e);
    return e->kind == ExprKind::Mul && (hasZeroFactor(e->operands[0]) || hasZeroFactor(e->operands[1]));
}

/// The statement without sums that add a literal zero: dropped as soon as one matrix decides, before the other is
/// looked at.
Stmt withoutZeroTerms(const Stmt& s)
{
    if (!s)
        return s;
    if (s->kind == StmtKind::Store) {
        const Expr& v = s->value;
        const bool sum = v->kind == ExprKind::Add && v->operands[0]->kind == ExprKind::Load
                         && v->operands[0]->source == s->buffer
                         && std::equal(v->operands[0]->operands.begin(), v->operands[0]->operands.end(),
                                       s->indices.begin(), s->indices.end(), &ir::equal);
        return sum && hasZeroFactor(v->operands[1]) ? nullptr : s;
    }
    if (s->kind == StmtKind::Block) {
        std::vector<Stmt> body;
        for (const Stmt& inner : s->body)
            body.push_back(withoutZeroTerms(inner));
        Stmt block = ir::makeBlock(std::move(body));
        return block->kind == StmtKind::Block && block->body.empty() ? nullptr : block;
    }
    if (s->kind != StmtKind::For)
        return s;
    Stmt body = withoutZeroTerms(s->body[0]);
    if (!body || body == s->body[0])
        return body ? s : nullptr;
    auto copy = std::make_shared<ir::StmtNode>(*s);
    copy->body[0] = std::move(body);
    return copy;
}

Stmt expand(const Stmt& s, std::int64_t copies)
{
    if (!s || s->body.empty())
        return s;
    const bool unrolled = s->kind == StmtKind::For && s->loop == ir::LoopKind::Unrolled
                          && s->extent->kind == ExprKind::IntImm && s->min->kind == ExprKind::IntImm;
    if (unrolled && copies * s->extent->intValue <= kMaxCopies && selectsOn(s->body[0], s->variable)) {
        std::vector<Stmt> written;
        for (std::int64_t i = 0; i < s->extent->intValue; ++i) {
            const Expr value = ir::intImm(s->min->intValue + i, s->variable->dtype);
            const Stmt body = withoutZeroTerms(ir::substitute(s->body[0], {{s->variable.get(), value}}));
            written.push_back(expand(body, copies * s->extent->intValue));
        }
        return ir::makeBlock(std::move(written));
    }
    std::vector<Stmt> body;
    bool changed = false;
    for (const Stmt& inner : s->body) {
        body.push_back(expand(inner, copies));
        changed |= body.back() != inner;
    }
    if (!changed)
        return s;
    auto copy = std::make_shared<ir::StmtNode>(*s);
    copy->body = std::move(body);
    return copy;
}

} // namespace

Stmt expandConstantMatrices(const Stmt& s)
{
    return expand(s, 1);
}

} // namespace lathe::schedule
