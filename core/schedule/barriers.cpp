#include "core/ir/substitute.h"
#include "core/schedule/launches.h"
#include "core/support/message.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

namespace lathe::schedule {

namespace {

using ir::Expr;
using ir::ExprKind;
using ir::Stmt;
using ir::StmtKind;

/// Shared buffers that threads have come to since the last barrier.
struct Accesses
{
    std::set<std::int32_t> reads, writes;

    bool empty() const { return reads.empty() && writes.empty(); }
    void add(const Accesses& other)
    {
        reads.insert(other.reads.begin(), other.reads.end());
        writes.insert(other.writes.begin(), other.writes.end());
    }
    bool operator==(const Accesses&) const = default;
};

bool meet(const std::set<std::int32_t>& a, const std::set<std::int32_t>& b)
{
    return std::ranges::any_of(a, [&b](std::int32_t id) { return b.contains(id); });
}

/// Whether what comes may disturb, or be disturbed by, what was.
bool disturb(const Accesses& was, const Accesses& comes)
{
    return meet(was.writes, comes.reads) || meet(was.writes, comes.writes) || meet(was.reads, comes.writes);
}

class BarrierPlacer
{
public:
    BarrierPlacer(const ir::LoopNest& nest, const ir::Launch& launch, const std::vector<StagedLoop>& staged)
        : m_nest(nest)
        , m_staged(staged)
    {
        for (const Expr& index : launch.threadIndex)
            m_differing.insert(index.get());
    }

    Stmt place(const Stmt& s, Accesses& pending)
    {
        if (s->kind == StmtKind::Barrier)
            pending = {};
        const Accesses all = accessesOf(s);
        if (all.empty() && !holdsBarrier(s))
            return s;
        if (!holdsBarrier(s) && !needsBarrierInside(s, all)) {
            std::vector<Stmt> both;
            if (disturb(pending, all)) {
                both.push_back(ir::makeBarrier());
                pending = {};
            }
            pending.add(all);
            both.push_back(s);
            return ir::makeBlock(std::move(both));
        }
        switch (s->kind) {
        case StmtKind::Block: {
            std::vector<Stmt> body;
            for (const Stmt& inner : s->body)
                body.push_back(place(inner, pending));
            return ir::makeBlock(std::move(body));
        }
        case StmtKind::For: return staged(s, pending);
        case StmtKind::If: return branch(s, pending);
        case StmtKind::Barrier: return s;
        default: return nowhere(s);
        }
    }

    const std::string& problem() const { return m_problem; }

private:
    /// Whose accesses count: not those that the barriers of a staged loop around keep.
    bool isShared(std::int32_t buffer) const
    {
        return m_nest.buffers[static_cast<std::size_t>(buffer)].scope == ir::Scope::Shared && !m_kept.contains(buffer);
    }

    static bool holdsBarrier(const Stmt& s)
    {
        return s && (s->kind == StmtKind::Barrier || std::ranges::any_of(s->body, &holdsBarrier));
    }

    /// A loop, which may have slices of buffers: inside of it they are kept, before and after it they are as others.
    Stmt staged(const Stmt& s, Accesses& pending)
    {
        const auto found = std::ranges::find(m_staged, s->variable.get(), &StagedLoop::variable);
        if (found == m_staged.end() || !holdsBarrier(s))
            return loop(s, pending);
        const Accesses all = accessesOf(s);
        const std::set<std::int32_t> outside = m_kept;
        m_kept.insert(found->buffers.begin(), found->buffers.end());
        Stmt made = loop(s, pending);
        m_kept = outside;
        for (const std::int32_t id : found->buffers) {
            if (all.reads.contains(id))
                pending.reads.insert(id);
            if (all.writes.contains(id))
                pending.writes.insert(id);
        }
        return made;
    }

    /// A condition, or the extent of a loop, that not all threads of the block agree on, and the branch taken.
    using Guards = std::vector<std::pair<const ir::Node*, std::size_t>>;

    /// Calls `see` for each access to a shared buffer.
    template<typename See>
    void visitAccesses(const Stmt& s, const See& see, Guards& guards) const
    {
        if (!s)
            return;
        const auto loads = [&](const Expr& e) {
            if (e)
                ir::visit(e, [&](const Expr& inner) {
                    if (inner->kind == ExprKind::Load && isShared(inner->source))
                        see(inner->source, inner->operands, false);
                });
        };
        for (const Expr* const e : {&s->min, &s->extent, &s->value, &s->condition})
            loads(*e);
        for (const Expr& index : s->indices)
            loads(index);
        if ((s->kind == StmtKind::Store || s->kind == StmtKind::AsyncCopy) && isShared(s->buffer))
            see(s->buffer, s->indices, true);
        const Expr& decides = s->kind == StmtKind::If ? s->condition : s->extent;
        const bool divides = decides ? !isUniform(decides) : false;
        for (std::size_t i = 0; i < s->body.size(); ++i) {
            if (divides)
                guards.emplace_back(decides.get(), i);
            visitAccesses(s->body[i], see, guards);
            if (divides)
                guards.pop_back();
        }
    }

    Accesses accessesOf(const Stmt& s) const
    {
        Accesses all;
        Guards guards;
        visitAccesses(
            s,
            [&](std::int32_t buffer, const std::vector<Expr>&, bool writes) {
                (writes ? all.writes : all.reads).insert(buffer);
            },
            guards);
        return all;
    }

    /// Whether the statement stores what it reads, at places that are not plainly the thread's own: elsewhere, or where
    /// other threads come to as well.
    bool needsBarrierInside(const Stmt& s, const Accesses& all) const
    {
        if (!meet(all.reads, all.writes))
            return false;
        struct Place
        {
            std::vector<Expr> indices;
            Guards guards;
        };
        std::map<std::int32_t, Place> places;
        bool elsewhere = false;
        Guards guards;
        visitAccesses(
            s,
            [&](std::int32_t buffer, const std::vector<Expr>& indices, bool) {
                if (!all.reads.contains(buffer) || !all.writes.contains(buffer))
                    return;
                const Place& first = places.try_emplace(buffer, Place{indices, guards}).first->second;
                const bool isSame = std::equal(indices.begin(), indices.end(), first.indices.begin(),
                                               first.indices.end(), &ir::equal);
                const bool isOwn = std::ranges::any_of(
                    indices, [this](const Expr& index) { return m_differing.contains(index.get()); });
                elsewhere = elsewhere || !isSame || (!isOwn && guards != first.guards);
            },
            guards);
        return elsewhere;
    }

    /// Whether the value is one for all threads of the block.
    bool isUniform(const Expr& e) const
    {
        bool uniform = true;
        ir::visit(e, [&](const Expr& inner) {
            uniform = uniform && inner->kind != ExprKind::Load && !m_differing.contains(inner.get());
        });
        return uniform;
    }

    Stmt loop(const Stmt& s, Accesses& pending)
    {
        if (!isUniform(s->min) || !isUniform(s->extent))
            return nowhere(s);
        const Accesses before = pending;
        Accesses entry = before;
        for (;;) { // what one iteration leaves is there when the next begins
            Accesses end = entry;
            Stmt body = place(s->body[0], end);
            Accesses next = entry;
            next.add(end);
            if (next != entry && m_problem.empty()) {
                entry = std::move(next);
                continue;
            }
            const bool runs = s->extent->kind == ExprKind::IntImm && s->extent->intValue > 0;
            pending = end;
            if (!runs)
                pending.add(before);
            auto copy = std::make_shared<ir::StmtNode>(*s);
            copy->body[0] = std::move(body);
            return copy;
        }
    }

    Stmt branch(const Stmt& s, Accesses& pending)
    {
        if (!isUniform(s->condition))
            return nowhere(s);
        auto copy = std::make_shared<ir::StmtNode>(*s);
        Accesses after = pending;
        for (Stmt& inner : copy->body) {
            Accesses own = pending;
            inner = place(inner, own);
            after.add(own);
        }
        pending = after;
        return copy;
    }

    Stmt nowhere(const Stmt& s)
    {
        if (m_problem.empty())
            m_problem = ir::firstLine(m_nest, *s);
        return s;
    }

    const ir::LoopNest& m_nest;
    const std::vector<StagedLoop>& m_staged;
    std::set<std::int32_t> m_kept; ///< by staged loops around
    std::unordered_set<const ir::Node*> m_differing; ///< variables that differ between threads
    std::string m_problem;
};

} // namespace

Result<> placeBarriers(const ir::LoopNest& nest, ir::Launch& launch, const std::vector<StagedLoop>& staged)
{
    if (!launch.body)
        return {};
    BarrierPlacer placer(nest, launch, staged);
    Accesses pending;
    Stmt body = placer.place(launch.body, pending);
    if (!placer.problem().empty())
        return makeError(Errc::IllegalSchedule, say(Msg::NeedsBarrierElsewhere, launch.name, placer.problem()));
    launch.body = std::move(body);
    return {};
}

} // namespace lathe::schedule
