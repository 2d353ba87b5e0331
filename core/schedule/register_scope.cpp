#include "core/schedule/register_scope.h"

#include "core/ir/substitute.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

namespace lathe::schedule {

namespace {

using ir::Expr;
using ir::ExprKind;
using ir::LoopKind;
using ir::Stmt;
using ir::StmtKind;

constexpr std::int64_t kMaxRegisterElements = 1024; ///< 64 vectors of 16
constexpr std::int64_t kMaxAccessCopies = 256; ///< emitted copies of one access

struct Candidate
{
    bool possible = false;
    std::vector<const ir::StmtNode*> toUnroll; ///< serial loops that must be unrolled for it
    std::int32_t laneDim = -1; ///< dimension that vectors run along
};

/// Lanes next to each other: a vector of the tile is then one register, whatever the order of its dimensions.
void putLanesInnermost(ir::Buffer& buffer, std::int32_t laneDim)
{
    if (laneDim < 0)
        return;
    buffer.strides[laneDim] = 1;
    std::int64_t next = buffer.shape[laneDim];
    for (std::size_t d = buffer.shape.size(); d-- > 0;) {
        if (static_cast<std::int32_t>(d) == laneDim)
            continue;
        buffer.strides[d] = next;
        next *= buffer.shape[d];
    }
}

bool isStraight(const Stmt& s)
{
    if (!s)
        return true;
    if (s->kind == StmtKind::For && s->loop != LoopKind::Unrolled && s->loop != LoopKind::Vectorized)
        return false;
    return std::all_of(s->body.begin(), s->body.end(), &isStraight);
}

class Analysis
{
public:
    explicit Analysis(const ir::LoopNest& nest)
        : m_candidates(nest.buffers.size())
        , m_unrollsAround(!nest.launches.empty())
    {
        for (std::size_t b = 0; b < nest.buffers.size(); ++b) {
            std::int64_t elements = 1;
            for (const std::int64_t extent : nest.buffers[b].shape)
                elements *= extent;
            m_candidates[b].possible = nest.buffers[b].scope == ir::Scope::Part && elements <= kMaxRegisterElements;
        }
        for (const Stmt* const body : ir::bodiesOf(nest))
            walk(*body);
    }

    const std::vector<Candidate>& candidates() const { return m_candidates; }

private:
    void walk(const Stmt& s)
    {
        if (!s)
            return;
        for (const Expr* e : {&s->min, &s->extent, &s->value, &s->condition})
            if (*e)
                loads(*e);
        for (const Expr& index : s->indices)
            loads(index);
        if (s->kind == StmtKind::Store || s->kind == StmtKind::Shuffle)
            access(s->buffer, s->indices);
        if (s->kind == StmtKind::For)
            m_loops.push_back(s.get());
        for (const Stmt& inner : s->body)
            walk(inner);
        if (s->kind == StmtKind::For)
            m_loops.pop_back();
    }

    void loads(const Expr& e)
    {
        if (e->kind == ExprKind::Load)
            access(e->source, e->operands);
        for (const Expr& operand : e->operands)
            loads(operand);
    }

    void access(std::int32_t buffer, const std::vector<Expr>& indices)
    {
        Candidate& candidate = m_candidates[buffer];
        if (!candidate.possible)
            return;
        std::int64_t copies = 1;
        for (const ir::StmtNode* loop : m_loops) {
            const bool used = std::any_of(indices.begin(), indices.end(),
                                          [&](const Expr& i) { return ir::uses(i, loop->variable); });
            const bool constant = loop->extent->kind == ExprKind::IntImm && loop->min->kind == ExprKind::IntImm;
            if (used && loop->loop == LoopKind::Vectorized && constant) {
                for (std::size_t d = 0; d < indices.size(); ++d)
                    if (ir::uses(indices[d], loop->variable))
                        candidate.laneDim = static_cast<std::int32_t>(d);
                continue;
            }
            if (!used)
                continue;
            copies *= constant ? loop->extent->intValue : kMaxAccessCopies + 1;
            if (loop->loop == LoopKind::Serial && (m_unrollsAround || isStraight(loop->body[0])))
                candidate.toUnroll.push_back(loop);
            else if (loop->loop != LoopKind::Unrolled)
                copies = kMaxAccessCopies + 1;
        }
        for (const Expr& index : indices)
            ir::visit(index, [&](const Expr& e) {
                if (e->kind == ExprKind::Load || (e->kind == ExprKind::Var && !isLoop(e)))
                    copies = kMaxAccessCopies + 1;
            });
        candidate.possible = copies <= kMaxAccessCopies;
    }

    /// Not an axis of a launch, of which every thread has another value.
    bool isLoop(const Expr& variable) const
    {
        return std::ranges::any_of(m_loops, [&](const ir::StmtNode* loop) { return loop->variable.same(variable); });
    }

    std::vector<Candidate> m_candidates;
    /// Loops of a tile around loops that stay, as those around a step of a sum: a thread of a GPU has no cache of its
    /// own that the tile could lie in, so that what is written out costs less than what is not in registers.
    bool m_unrollsAround;
    std::vector<const ir::StmtNode*> m_loops;
};

Stmt unrollLoops(const Stmt& s, const std::unordered_set<const ir::StmtNode*>& loops)
{
    if (!s || s->body.empty())
        return s;
    bool changed = loops.contains(s.get());
    std::vector<Stmt> body;
    for (const Stmt& inner : s->body) {
        body.push_back(unrollLoops(inner, loops));
        changed |= body.back() != inner;
    }
    if (!changed)
        return s;
    auto copy = std::make_shared<ir::StmtNode>(*s);
    copy->body = std::move(body);
    if (loops.contains(s.get()))
        copy->loop = LoopKind::Unrolled;
    return copy;
}

} // namespace

void promoteRegisters(ir::LoopNest& nest)
{
    std::unordered_set<const ir::StmtNode*> toUnroll;
    {
        const Analysis analysis(nest);
        for (std::size_t b = 0; b < nest.buffers.size(); ++b) {
            const Candidate& candidate = analysis.candidates()[b];
            if (!candidate.possible)
                continue;
            nest.buffers[b].scope = ir::Scope::Register;
            putLanesInnermost(nest.buffers[b], candidate.laneDim);
            toUnroll.insert(candidate.toUnroll.begin(), candidate.toUnroll.end());
        }
    }
    if (!toUnroll.empty())
        for (Stmt* const body : ir::bodiesOf(nest))
            *body = unrollLoops(*body, toUnroll);
}

} // namespace lathe::schedule
