#include "core/ir/scratch.h"
#include "core/ir/substitute.h"
#include "core/schedule/launches.h"

#include <algorithm>
#include <unordered_set>

namespace lathe::schedule {

namespace {

using ir::Expr;
using ir::ExprKind;
using ir::LoopKind;
using ir::Stmt;
using ir::StmtKind;

/// One loop over virtual threads.
class Spreader
{
public:
    Spreader(ir::LoopNest& nest, const ir::StmtNode& loop)
        : m_nest(nest)
        , m_variable(loop.variable)
        , m_extent(loop.extent)
    {
    }

    Stmt run(const Stmt& body)
    {
        for (std::size_t before = 1; before != m_differing.size();) {
            before = m_differing.size();
            collect(body, false);
            if (m_differing.empty())
                break;
        }
        for (const std::int32_t id : m_differing) {
            ir::Buffer& buffer = m_nest.buffers[static_cast<std::size_t>(id)];
            buffer.strides.insert(buffer.strides.begin(), ir::elementCount(buffer));
            buffer.shape.insert(buffer.shape.begin(), m_extent->intValue);
        }
        return spread(withDimension(body));
    }

private:
    static bool isStore(const Stmt& s) { return s->kind == StmtKind::Store || s->kind == StmtKind::Shuffle; }
    bool isOwn(std::int32_t buffer) const
    {
        return m_nest.buffers[static_cast<std::size_t>(buffer)].scope == ir::Scope::Part;
    }

    bool depends(const Expr& e) const
    {
        if (e.get() == nullptr)
            return false;
        bool found = false;
        ir::visit(e, [&](const Expr& inner) {
            found = found || inner.same(m_variable)
                    || (inner->kind == ExprKind::Load && m_differing.contains(inner->source));
        });
        return found;
    }

    bool dependsItself(const Stmt& s) const
    {
        return depends(s->min) || depends(s->extent) || depends(s->value) || depends(s->condition)
               || std::ranges::any_of(s->indices, [this](const Expr& e) { return depends(e); })
               || (isStore(s) && m_differing.contains(s->buffer));
    }

    bool dependsAnywhere(const Stmt& s) const
    {
        return s && (dependsItself(s) || std::ranges::any_of(s->body, [this](const Stmt& inner) {
                         return dependsAnywhere(inner);
                     }));
    }

    /// Buffers of the thread that hold something else for each virtual one.
    void collect(const Stmt& s, bool inside)
    {
        if (!s)
            return;
        inside = inside || dependsItself(s);
        if (isStore(s) && inside && isOwn(s->buffer))
            m_differing.insert(s->buffer);
        for (const Stmt& inner : s->body)
            collect(inner, inside);
    }

    Expr withDimension(const Expr& e) const
    {
        return ir::transform(e, [this](const Expr& inner) {
            if (inner->kind != ExprKind::Load || !m_differing.contains(inner->source))
                return Expr();
            std::vector<Expr> indices = inner->operands;
            indices.insert(indices.begin(), m_variable);
            return ir::load(inner->source, inner->dtype, std::move(indices));
        });
    }

    Stmt withDimension(const Stmt& s) const
    {
        if (!s)
            return s;
        auto copy = std::make_shared<ir::StmtNode>(*s);
        for (Expr* const e : {&copy->min, &copy->extent, &copy->value, &copy->condition})
            if (*e)
                *e = withDimension(*e);
        for (Expr& index : copy->indices)
            index = withDimension(index);
        if (isStore(s) && m_differing.contains(s->buffer))
            copy->indices.insert(copy->indices.begin(), m_variable);
        for (Stmt& inner : copy->body)
            inner = withDimension(inner);
        return copy;
    }

    /// Steps of a sum that are written out, and nothing else: what they load stands together for each virtual thread,
    /// and conditions of its own are around all of them.
    static bool isOfSteps(const ir::StmtNode& loop)
    {
        if (loop.kind != StmtKind::For || loop.loop != LoopKind::Unrolled)
            return false;
        const ir::StmtNode* inner = &loop;
        while (!inner->body.empty()) {
            if (inner->body.size() != 1 || !inner->body[0] || inner->kind == StmtKind::Block)
                return false;
            inner = inner->body[0].get();
        }
        return inner->kind == StmtKind::Store && std::ranges::none_of(inner->indices, [&loop](const Expr& index) {
                   return ir::uses(index, loop.variable);
               });
    }

    Stmt spread(const Stmt& s) const
    {
        if (!dependsAnywhere(s))
            return s;
        const bool isLeaf = s->body.empty() || (s->kind == StmtKind::For && s->loop == LoopKind::Vectorized)
                            || isOfSteps(*s);
        if (s->kind != StmtKind::Block && (isLeaf || dependsItself(s)))
            return ir::makeFor(m_variable, 0, m_extent, LoopKind::Unrolled, s);
        auto copy = std::make_shared<ir::StmtNode>(*s);
        for (Stmt& inner : copy->body)
            inner = spread(inner);
        return copy;
    }

    ir::LoopNest& m_nest;
    Expr m_variable, m_extent;
    std::unordered_set<std::int32_t> m_differing;
};

} // namespace

Stmt spreadVirtualThreads(ir::LoopNest& nest, const Stmt& s)
{
    if (!s || s->body.empty())
        return s;
    auto copy = std::make_shared<ir::StmtNode>(*s);
    for (Stmt& inner : copy->body)
        inner = spreadVirtualThreads(nest, inner);
    if (s->kind == StmtKind::For && s->loop == LoopKind::VThread)
        return Spreader(nest, *copy).run(copy->body[0]);
    return copy;
}

} // namespace lathe::schedule
