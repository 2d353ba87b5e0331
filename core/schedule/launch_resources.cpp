#include "core/schedule/launch_resources.h"

#include "core/ir/bounds.h"
#include "core/ir/scratch.h"
#include "core/ir/simplify.h"
#include "core/ir/substitute.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace lathe::schedule {

namespace {

using ir::Expr;
using ir::ExprKind;
using ir::Scope;
using ir::Stmt;
using ir::StmtKind;

constexpr std::int64_t kVectorBytes = 16; ///< to which ir::sharedBytes rounds

std::int64_t bytesOf(const ir::LoopNest& nest, const std::vector<std::int32_t>& buffers, Scope scope)
{
    std::int64_t bytes = 0;
    for (const std::int32_t id : buffers)
        if (const ir::Buffer& buffer = nest.buffers[static_cast<std::size_t>(id)]; buffer.scope == scope)
            bytes += ir::elementCount(buffer) * sizeOf(buffer.dtype);
    return bytes;
}

/// What is loaded into registers between two places where nothing is held back: elements that each thread has its own
/// of, from memory and from shared memory, in registers of 32 bits.
struct Held
{
    double global = 0, shared = 0;

    double all() const { return global + shared; }
};

/// How many registers a compiler takes that hides the time of loads behind other loads, as those for GPUs do: it loads
/// early what a straight piece of code needs, and makes pieces longer by unrolling short loops.
class RegisterModel
{
public:
    RegisterModel(const ir::LoopNest& nest, const ir::Launch& launch)
        : m_nest(nest)
        , m_launch(launch)
        , m_buffers(ir::buffersOf(launch.body))
    {
        for (std::size_t d = 0; d < 3; ++d) {
            m_ranges.setExtent(launch.blockIndex[d], launch.grid[d]);
            m_ranges.setExtent(launch.threadIndex[d], launch.block[d]);
        }
    }

    std::int32_t registers()
    {
        const Held held = most(m_launch.body);
        const double tile = static_cast<double>(bytesOf(m_nest, m_buffers, Scope::Register)) / 4;
        return static_cast<std::int32_t>(std::lround(
            kOwn + kOfTile * tile + std::min(kMostGlobal, held.global) + std::min(kMostShared, kOfShared * held.shared)
            + kOfDivision * static_cast<double>(m_divisions.size()) + kOfLoop * m_loops));
    }

private:
    // Fitted to clang-19 for gfx1030 over the kernels of tests/bench/launches.
    static constexpr double kOwn = 3, kOfTile = 1.1, kMostGlobal = 48, kMostShared = 64, kOfShared = 0.8,
                            kOfDivision = 1.5, kOfLoop = 2;
    static constexpr std::int64_t kWholeLoop = 20; ///< statements up to which a loop is unrolled whole
    static constexpr std::int64_t kPartOfLoop = 16; ///< the same of what a loop that stays does at once

    bool isMemory(std::int32_t id) const
    {
        const Scope scope = m_nest.buffers[static_cast<std::size_t>(id)].scope;
        return scope == Scope::Parameter || scope == Scope::Team;
    }
    /// One value for all threads: held once for all of them.
    bool isUniform(const Expr& load) const
    {
        return !ir::usesAny(load, [this](const ir::Node* v) {
            return std::ranges::any_of(m_launch.threadIndex, [v](const Expr& index) { return index.get() == v; });
        });
    }

    static bool isWritten(const ir::StmtNode& s)
    {
        return s.kind == StmtKind::For && (s.loop == ir::LoopKind::Unrolled || s.loop == ir::LoopKind::Vectorized);
    }
    static std::int64_t tripsOf(const ir::StmtNode& loop)
    {
        return loop.extent->kind == ExprKind::IntImm ? loop.extent->intValue : 0;
    }
    static std::int64_t statements(const Stmt& s)
    {
        if (!s)
            return 0;
        std::int64_t inside = s->kind == StmtKind::Store ? 1 : 0;
        for (const Stmt& inner : s->body)
            inside += statements(inner);
        if (s->kind != StmtKind::For || s->loop == ir::LoopKind::Vectorized)
            return inside;
        return inside * std::max<std::int64_t>(1, tripsOf(*s));
    }
    static bool holds(const Stmt& s, StmtKind kind)
    {
        return s
               && ((s->kind == kind && (kind != StmtKind::For || !isWritten(*s)))
                   || std::ranges::any_of(s->body, [kind](const Stmt& inner) { return holds(inner, kind); }));
    }

    /// Of the piece that holds most.
    Held most(const Stmt& s)
    {
        Held best, piece;
        m_seen.clear();
        walk(s, best, piece);
        endPiece(best, piece);
        return best;
    }
    void endPiece(Held& best, Held& piece)
    {
        if (piece.all() > best.all())
            best = piece;
        piece = {};
        m_seen.clear();
    }

    void walk(const Stmt& s, Held& best, Held& piece)
    {
        if (!s)
            return;
        switch (s->kind) {
        case StmtKind::Store:
            noteDivisions(s->buffer, s->indices);
            ir::visit(s->value, [&](const Expr& e) { hold(e, piece); });
            return;
        case StmtKind::Barrier: endPiece(best, piece); return;
        case StmtKind::If: { // nothing is loaded across a condition: copies of it are pieces of their own
            endPiece(best, piece);
            const std::vector<const ir::StmtNode*> outside = std::exchange(m_written, {});
            for (const Stmt& inner : s->body)
                walk(inner, best, piece);
            endPiece(best, piece);
            m_written = outside;
            return;
        }
        case StmtKind::For: return loop(s, best, piece);
        default:
            for (const Stmt& inner : s->body)
                walk(inner, best, piece);
        }
    }

    void loop(const Stmt& s, Held& best, Held& piece)
    {
        if (isWritten(*s)) {
            m_ranges.setExtent(s->variable, std::max<std::int64_t>(1, tripsOf(*s)));
            m_written.push_back(s.get());
            walk(s->body[0], best, piece);
            m_written.pop_back();
            return;
        }
        ++m_loops;
        if (s->min->kind == ExprKind::IntImm && s->extent->kind == ExprKind::IntImm)
            m_ranges.set(s->variable, {s->min->intValue, s->min->intValue + s->extent->intValue - 1});
        const std::int64_t trips = tripsOf(*s), size = statements(s->body[0]);
        const bool isInnermost = !holds(s->body[0], StmtKind::For) && !holds(s->body[0], StmtKind::If);
        std::int64_t times = 1;
        const bool isWhole = isInnermost && trips > 0 && trips * size <= kWholeLoop;
        if (isWhole)
            times = trips;
        else if (isInnermost && trips > 0)
            for (const std::int64_t t : {16, 8, 4, 2})
                if (times == 1 && trips % t == 0 && t * size <= kPartOfLoop)
                    times = t;
        if (!isWhole)
            endPiece(best, piece);
        Held inside, own;
        walk(s->body[0], inside, own);
        own.global *= static_cast<double>(times);
        own.shared *= static_cast<double>(times);
        if (isWhole) {
            piece.global += own.global;
            piece.shared += own.shared;
        } else
            endPiece(inside, own);
        if (inside.all() > best.all())
            best = inside;
    }

    void hold(const Expr& e, Held& piece)
    {
        if (e->kind != ExprKind::Load)
            return;
        noteDivisions(e->source, e->operands);
        const Scope scope = m_nest.buffers[static_cast<std::size_t>(e->source)].scope;
        const bool isShared = scope == Scope::Shared;
        if ((!isShared && !isMemory(e->source)) || (!isShared && isUniform(e)))
            return;
        if (std::ranges::any_of(m_seen, [&](const Expr& other) { return ir::equal(other, e); }))
            return;
        m_seen.push_back(e);
        double elements = static_cast<double>((sizeOf(e->dtype) + 3) / 4);
        for (const ir::StmtNode* written : m_written)
            if (ir::uses(e, written->variable))
                elements *= static_cast<double>(std::max<std::int64_t>(1, tripsOf(*written)));
        (isShared ? piece.shared : piece.global) += elements;
    }

    /// Quotients and remainders by constants that remain of a place in memory, each kind once.
    void noteDivisions(std::int32_t id, const std::vector<Expr>& indices)
    {
        const ir::Buffer& buffer = m_nest.buffers[static_cast<std::size_t>(id)];
        Expr offset = 0;
        for (std::size_t d = 0; d < indices.size(); ++d)
            offset = offset + ir::cast(DType::I32, indices[d]) * ir::intImm(buffer.strides[d]);
        ir::visit(ir::simplify(offset, m_ranges), [this](const Expr& inner) {
            if ((inner->kind == ExprKind::FloorDiv || inner->kind == ExprKind::FloorMod)
                && inner->operands[1]->kind == ExprKind::IntImm)
                m_divisions.emplace(inner->kind, inner->operands[1]->intValue);
        });
    }

    ir::Ranges m_ranges; ///< of the axes
    const ir::LoopNest& m_nest;
    const ir::Launch& m_launch;
    std::vector<std::int32_t> m_buffers;
    std::vector<const ir::StmtNode*> m_written; ///< loops that are written out, around where the walk is
    std::vector<Expr> m_seen; ///< loads of the piece
    std::set<std::pair<ExprKind, std::int64_t>> m_divisions;
    double m_loops = 0;
};

} // namespace

std::int64_t sharedElements(const ir::Buffer& buffer)
{
    const std::int64_t size = sizeOf(buffer.dtype);
    return ir::ceilDivide(ir::elementCount(buffer) * size, kVectorBytes) * kVectorBytes / size;
}

LaunchResources resourcesOf(const ir::LoopNest& nest, const ir::Launch& launch)
{
    const std::vector<std::int32_t> buffers = ir::buffersOf(launch.body);
    LaunchResources made;
    made.grid = launch.grid;
    made.block = launch.block;
    made.threads = launch.block[0] * launch.block[1] * launch.block[2];
    made.sharedBytes = ir::sharedBytes(nest, launch);
    made.localBytes = bytesOf(nest, buffers, Scope::Local);
    made.registers = RegisterModel(nest, launch).registers();
    return made;
}

std::vector<LaunchResources> resourcesOf(const ir::LoopNest& nest)
{
    std::vector<LaunchResources> all;
    for (const ir::Launch& launch : nest.launches)
        all.push_back(resourcesOf(nest, launch));
    return all;
}

} // namespace lathe::schedule
