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

Stmt expand(const Stmt& s, std::int64_t copies)
{
    if (!s || s->body.empty())
        return s;
    const bool unrolled = s->kind == StmtKind::For && s->loop == ir::LoopKind::Unrolled && s->extent->kind == ExprKind::IntImm
        && s->min->kind == ExprKind::IntImm;
    if (unrolled && copies * s->extent->intValue <= kMaxCopies && selectsOn(s->body[0], s->variable)) {
        std::vector<Stmt> written;
        for (std::int64_t i = 0; i < s->extent->intValue; ++i) {
            const Expr value = ir::intImm(s->min->intValue + i, s->variable->dtype);
            written.push_back(expand(ir::substitute(s->body[0], {{s->variable.get(), value}}), copies * s->extent->intValue));
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

Stmt expandConstantMatrices(const Stmt& s) { return expand(s, 1); }

} // namespace lathe::schedule
