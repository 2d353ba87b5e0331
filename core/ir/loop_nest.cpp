#include "core/ir/loop_nest.h"

#include "core/support/check.h"

namespace lathe::ir {

Stmt makeFor(Expr variable, Expr min, Expr extent, LoopKind kind, Stmt body)
{
    LATHE_CHECK(variable.get() != nullptr && variable->kind == ExprKind::Var) << "a loop needs a variable";
    auto s = std::make_shared<StmtNode>();
    s->kind = StmtKind::For;
    s->loop = kind;
    s->variable = std::move(variable);
    s->min = std::move(min);
    s->extent = std::move(extent);
    s->body = {std::move(body)};
    return s;
}

Stmt makeStore(std::int32_t buffer, std::vector<Expr> indices, Expr value)
{
    auto s = std::make_shared<StmtNode>();
    s->kind = StmtKind::Store;
    s->buffer = buffer;
    s->indices = std::move(indices);
    s->value = std::move(value);
    return s;
}

Stmt makeBlock(std::vector<Stmt> body)
{
    std::vector<Stmt> flat;
    for (Stmt& s : body) {
        if (s && s->kind == StmtKind::Block)
            flat.insert(flat.end(), s->body.begin(), s->body.end());
        else if (s)
            flat.push_back(std::move(s));
    }
    if (flat.size() == 1)
        return flat.front();
    auto s = std::make_shared<StmtNode>();
    s->kind = StmtKind::Block;
    s->body = std::move(flat);
    return s;
}

Stmt makeIf(Expr condition, Stmt thenBody, Stmt elseBody)
{
    LATHE_CHECK(condition.get() != nullptr && condition->dtype == DType::Bool) << "the condition of an If is a bool";
    auto s = std::make_shared<StmtNode>();
    s->kind = StmtKind::If;
    s->condition = std::move(condition);
    s->body = {std::move(thenBody)};
    if (elseBody)
        s->body.push_back(std::move(elseBody));
    return s;
}

Stmt makePrefetch(std::int32_t buffer, std::vector<Expr> indices, std::int32_t locality)
{
    auto s = std::make_shared<StmtNode>();
    s->kind = StmtKind::Prefetch;
    s->buffer = buffer;
    s->locality = locality;
    s->indices = std::move(indices);
    return s;
}

Stmt makeBarrier()
{
    auto s = std::make_shared<StmtNode>();
    s->kind = StmtKind::Barrier;
    return s;
}

Stmt makeShuffle(std::int32_t buffer, std::vector<Expr> indices, Expr value, std::int32_t distance, std::int32_t warp)
{
    auto s = std::make_shared<StmtNode>();
    s->kind = StmtKind::Shuffle;
    s->buffer = buffer;
    s->indices = std::move(indices);
    s->value = std::move(value);
    s->distance = distance;
    s->warp = warp;
    return s;
}

std::vector<Stmt*> bodiesOf(LoopNest& nest)
{
    std::vector<Stmt*> bodies;
    for (Stmt& phase : nest.phases)
        bodies.push_back(&phase);
    for (Launch& launch : nest.launches)
        bodies.push_back(&launch.body);
    return bodies;
}

std::vector<const Stmt*> bodiesOf(const LoopNest& nest)
{
    std::vector<const Stmt*> bodies;
    for (const Stmt& phase : nest.phases)
        bodies.push_back(&phase);
    for (const Launch& launch : nest.launches)
        bodies.push_back(&launch.body);
    return bodies;
}

} // namespace lathe::ir
