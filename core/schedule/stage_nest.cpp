#include "core/ir/linear_form.h"
#include "core/ir/simplify.h"
#include "core/ir/substitute.h"
#include "core/schedule/conditions.h"
#include "core/schedule/iteration.h"
#include "core/schedule/lowering.h"
#include "core/schedule/past_edge.h"
#include "core/schedule/prefetch.h"
#include "core/schedule/thread_tree.h"
#include "core/schedule/warp_shuffles.h"

#include <fmt/format.h>

#include <algorithm>

// The loops of one stage. A reduction is an initialisation at its outermost reduce loop and an update inside it:
//
//     for spatial loops before the first reduce loop
//         for the spatial loops that follow: buffer = identity
//         for all loops that follow: buffer = combine(buffer, source)
//
// Where all spatial loops inside some point are unrolled or vectorized, the tile is accumulated in a buffer of its own
// that becomes registers, and copied out once after the reduce loops inside that point (loaded first, if reduce loops
// are outside). An attached stage whose whole box is such a tile needs none: its own buffer becomes registers
// (register_scope.h).

namespace lathe::schedule {

namespace {

using ir::Expr;
using ir::ExprKind;
using ir::LoopKind;
using ir::Stmt;

constexpr std::int64_t kMaxTileElements = 1024; ///< of an accumulator tile, by lanes: 64 vectors of 16

class StageEmitter
{
public:
    StageEmitter(Lowering& lowering, std::int32_t id)
        : m_lowering(lowering)
        , m_id(id)
        , m_stage(lowering.stage(id))
        , m_bounds(lowering.bounds(id))
        , m_op(lowering.op(id))
    {
    }

    Result<Stmt> run()
    {
        if (m_stage.foldDim >= 0)
            return refuse("keeps rows in a ring, which lowering has no form for", Errc::Unsupported);
        if (isReduction() && m_bounds.bodies.size() > 1)
            return refuse("reduces to several outputs, which lowering has no form for", Errc::Unsupported);
        if (m_lowering.form == KernelForm::Phases && m_stage.leastBlocks > 0)
            return refuse("counts blocks, which a processor has not");
        if (m_stage.location != Location::Root && m_stage.leastBlocks > 0)
            return refuse("counts blocks, but is computed in another stage's launch");
        for (const Iterator& iter : m_stage.iters) {
            m_kinds.push_back(loopKind(iter.annotation));
            if (iter.warp > 0 && iter.annotation != Annotation::ThreadX)
                return refuse("exchanges parts of a sum along a loop that is not bound to threadIdx.x");
            if (iter.annotation == Annotation::Tensorize)
                return refuse("is tensorized, but there is no intrinsic to call", Errc::Unsupported);
            if (m_lowering.form == KernelForm::Phases && iter.annotation >= Annotation::VThread)
                return refuse("has a loop for blocks or threads, which a processor has not");
            if (iter.partition)
                m_lowering.partitioned.insert(m_bounds.leaves[m_kinds.size() - 1].get());
        }
        autoUnroll();
        if (!isReduction())
            return emitPlain();
        return emitReduction();
    }

private:
    Error refuse(const char* why, Errc code = Errc::IllegalSchedule) const
    {
        return refuseStage(m_lowering, m_id, why, code);
    }

    std::size_t loops() const { return m_stage.iters.size(); }
    std::int64_t extent(std::size_t i) const { return m_bounds.extents[m_stage.iters[i].id]; }
    bool isReduceLoop(std::size_t i) const { return m_stage.iters[i].kind == IterKind::Reduction; }
    bool isReduction() const { return m_bounds.bodies[0]->kind == ExprKind::Reduce; }

    bool isAttached(std::size_t other, std::size_t i) const
    {
        const Stage& s = m_lowering.state.stages()[other];
        return m_lowering.program.stages[other].active && s.location == Location::At && s.attachStage == m_id
               && s.attachIter == static_cast<std::int32_t>(i);
    }
    bool hasAttached(std::size_t i) const
    {
        for (std::size_t other = 0; other < m_lowering.state.stages().size(); ++other)
            if (isAttached(other, i))
                return true;
        return false;
    }

    /// auto_unroll_max_step (auto-scheduler.md 3.2): inside out, while no loop that stays is inside, up to 8 deep, and
    /// the stores so far times the extent are within the limit.
    void autoUnroll()
    {
        std::int64_t steps = 1;
        int depth = 0;
        for (std::size_t i = loops(); i-- > 0;) {
            if (hasAttached(i))
                return;
            const bool vector = m_kinds[i] == LoopKind::Vectorized;
            if (extent(i) == 1 || vector)
                continue;
            if (m_kinds[i] == LoopKind::Serial) {
                if (depth > 8 || steps * extent(i) > m_stage.autoUnrollMaxStep)
                    return;
                m_kinds[i] = LoopKind::Unrolled;
            } else if (m_kinds[i] != LoopKind::Unrolled)
                return;
            steps *= extent(i);
            ++depth;
        }
    }

    // ---- statements -----------------------------------------------------------------------------------------------

    /// Statements of the stages that are computed at loop i, in stage order.
    Result<> emitAttached(std::size_t i, std::vector<Stmt>& into)
    {
        for (std::size_t other = 0; other < m_lowering.state.stages().size(); ++other) {
            if (!isAttached(other, i))
                continue;
            LATHE_TRY_ASSIGN(Stmt attached, emitStage(m_lowering, static_cast<std::int32_t>(other)));
            into.push_back(std::move(attached));
        }
        return {};
    }

    Stmt loop(std::size_t i, Stmt body) const
    {
        // Vectors do not nest: those of what is computed inside stay.
        const bool holdsVectors = m_kinds[i] == LoopKind::Vectorized && containsVectors(body);
        const LoopKind kind = holdsVectors ? LoopKind::Unrolled : m_kinds[i];
        return ir::makeFor(m_bounds.leaves[i], 0, ir::intImm(extent(i)), kind, std::move(body));
    }

    static bool containsVectors(const Stmt& s)
    {
        return s
               && ((s->kind == ir::StmtKind::For && s->loop == LoopKind::Vectorized)
                   || std::any_of(s->body.begin(), s->body.end(), &containsVectors));
    }

    /// Loops [first, end) around `inner`, with attached stages and prefetches at the top of each.
    Result<Stmt> nest(std::size_t first, std::size_t end, Stmt inner)
    {
        for (std::size_t i = end; i-- > first;) {
            std::vector<Stmt> body;
            emitPrefetches(m_lowering, m_id, i, body);
            LATHE_TRY(emitAttached(i, body));
            body.push_back(std::move(inner));
            inner = loop(i, ir::makeBlock(std::move(body)));
        }
        return inner;
    }

    /// Only the spatial loops of [first, end) around `inner`: initialisations and copies out.
    Stmt spatialNest(std::size_t first, Stmt inner) const
    {
        for (std::size_t i = loops(); i-- > first;)
            if (!isReduceLoop(i))
                inner = loop(i, std::move(inner));
        return inner;
    }

    bool usesReduceLoop(const Expr& e) const
    {
        return ir::usesAny(e, [this](const ir::Node* v) {
            for (std::size_t i = 0; i < loops(); ++i)
                if (m_bounds.leaves[i].get() == v)
                    return isReduceLoop(i);
            return false;
        });
    }

    bool usesVectorLoop(const Expr& e) const
    {
        return ir::usesAny(e, [this](const ir::Node* v) {
            for (std::size_t i = 0; i < loops(); ++i)
                if (m_bounds.leaves[i].get() == v)
                    return m_kinds[i] == LoopKind::Vectorized && extent(i) > 1;
            return false;
        });
    }

    static Stmt guarded(const std::vector<Expr>& conditions, Stmt inner)
    {
        Expr all;
        for (const Expr& c : conditions)
            all = all ? all && c : c;
        return all ? ir::makeIf(all, std::move(inner)) : inner;
    }

    std::vector<Expr> guards(bool spatialOnly, bool withShape) const
    {
        std::vector<Expr> result;
        for (const Expr& g : m_bounds.splitGuards)
            if (!spatialOnly || !usesReduceLoop(g))
                result.push_back(g);
        if (withShape)
            result.insert(result.end(), m_bounds.shapeGuards.begin(), m_bounds.shapeGuards.end());
        return result;
    }

    std::vector<Expr> ownIndices() const
    {
        const std::vector<Expr> logical(m_bounds.axes.begin(),
                                        m_bounds.axes.begin() + static_cast<std::ptrdiff_t>(m_op.shape.size()));
        return physicalIndices(m_lowering, m_id, logical);
    }

    Result<Stmt> emitPlain()
    {
        const bool isWhole = fillsWholeTile(m_lowering, m_id);
        std::vector<Stmt> stores;
        for (std::size_t body = 0; body < m_bounds.bodies.size(); ++body) {
            Expr value = resolveLoads(m_lowering, m_bounds.bodies[body]);
            if (isWhole)
                value = ir::ifThenElse(conjunction(m_bounds.shapeGuards), value, ir::cast(value->dtype, 0));
            stores.push_back(ir::makeStore(m_lowering.buffers[m_id][body], ownIndices(), std::move(value)));
        }
        return nest(0, loops(), guarded(guards(false, !isWhole), ir::makeBlock(std::move(stores))));
    }

    /// Whether parts that overlap (OV) are walked by a loop from `first` on.
    bool overlapsInside(std::size_t first) const
    {
        bool found = false;
        for (std::size_t d = 0; d < m_op.shape.size(); ++d)
            ir::visit(m_bounds.local[d], [&](const Expr& e) {
                for (std::size_t i = first; i < loops() && e->kind == ExprKind::Min; ++i)
                    found = found || ir::uses(e, m_bounds.leaves[i]);
            });
        return found;
    }

    // ---- reductions -----------------------------------------------------------------------------------------------

    /// Outermost loop position from which all spatial loops are unrolled or vectorized and the tile is small.
    std::size_t tileStart() const
    {
        std::int64_t tile = 1;
        std::size_t start = loops();
        for (std::size_t i = loops(); i-- > 0;) {
            if (!isReduceLoop(i) && extent(i) > 1) {
                const bool unrolled = m_kinds[i] == LoopKind::Unrolled || m_kinds[i] == LoopKind::Vectorized;
                tile *= extent(i);
                if (!unrolled || tile > kMaxTileElements)
                    return start;
            }
            start = i;
        }
        return start;
    }

    /// The accumulator tile's buffer: one dimension per spatial loop from `start` on.
    std::int32_t makeTile(std::size_t start, std::size_t body, std::vector<Expr>& indices)
    {
        ir::Buffer tile;
        tile.name = m_lowering.nest.buffers[m_lowering.buffers[m_id][body]].name + ".acc";
        tile.dtype = m_bounds.bodies[body]->dtype;
        tile.scope = ir::Scope::Part; // promoteRegisters decides
        for (std::size_t i = start; i < loops(); ++i) {
            if (isReduceLoop(i) || extent(i) == 1)
                continue;
            tile.shape.push_back(extent(i));
            indices.push_back(m_bounds.leaves[i]);
        }
        tile.strides.assign(tile.shape.size(), 1);
        for (std::size_t d = tile.shape.size(); d-- > 1;)
            tile.strides[d - 1] = tile.strides[d] * tile.shape[d];
        m_lowering.nest.buffers.push_back(std::move(tile));
        return static_cast<std::int32_t>(m_lowering.nest.buffers.size()) - 1;
    }

    Result<Stmt> emitReduction()
    {
        std::size_t firstReduce = loops();
        for (std::size_t i = loops(); i-- > 0;)
            if (isReduceLoop(i) && (extent(i) > 1 || hasAttached(i)))
                firstReduce = i;
        for (const Iterator& iter : m_stage.iters)
            if (iter.kind == IterKind::Mixed)
                return refuse("fuses spatial and reduce iterators");
        for (std::size_t i = 0; i < loops(); ++i)
            if (isReduceLoop(i) && (m_kinds[i] == LoopKind::Parallel || m_kinds[i] == LoopKind::Vectorized)
                && extent(i) > 1)
                return refuse("has a parallel or vectorized reduce loop; factor it first");

        if (m_lowering.form == KernelForm::Launches)
            for (std::size_t i = firstReduce; i < loops(); ++i)
                if (isReduceLoop(i) && extent(i) > 1 && m_kinds[i] >= LoopKind::ThreadX
                    && m_kinds[i] <= LoopKind::ThreadZ)
                    return emitAcrossThreads(firstReduce, i);

        if (overlapsInside(firstReduce))
            return refuse("has overlapping parts inside its sum, which would count elements twice");

        std::size_t lastReduce = 0;
        for (std::size_t i = firstReduce; i < loops(); ++i)
            if (isReduceLoop(i) && extent(i) > 1)
                lastReduce = i;
        const bool atRoot = m_stage.location == Location::Root;
        // A tile needs no more than the loops inside the outermost reduce loop.
        const std::size_t start = std::max(tileStart(), firstReduce);
        // The whole box of an attached stage in unrolled loops: its own buffer becomes registers.
        const bool ownTile = m_stage.location == Location::At && tileStart() == 0;
        const bool tiled = !isIndex() && !ownTile && firstReduce < loops() && start <= lastReduce;

        std::vector<std::vector<Expr>> indices(m_bounds.bodies.size(), ownIndices());
        std::vector<std::int32_t> targets = m_lowering.buffers[m_id];
        if (tiled) {
            for (std::size_t body = 0; body < targets.size(); ++body) {
                indices[body].clear();
                targets[body] = makeTile(start, body, indices[body]);
            }
        }
        if (isIndex()) {
            holdIndex(firstReduce);
            const std::vector<Expr> conditions = guards(true, atRoot);
            const Stmt init = guarded(conditions, indexInit());
            Stmt after;
            if (m_held.place != targets[0])
                after = guarded(conditions, ir::makeStore(targets[0], ownIndices(),
                                                          ir::load(m_held.place, m_op.dtype, m_held.indices)));
            return nestFrom(firstReduce, init, indexUpdate(), after);
        }
        // With reduce loops outside of it a tile of a thread is loaded as far as the tensor goes, and may grow no
        // further.
        const bool isLoaded = tiled && start > firstReduce && m_lowering.form == KernelForm::Launches;
        const Stmt update = updateStatement(targets[0], indices[0],
                                            tiled && !isLoaded   ? Sums::Tile
                                            : atRoot || isLoaded ? Sums::Tensor
                                                                 : Sums::Box);

        std::vector<Stmt> inits;
        for (std::size_t body = 0; body < targets.size(); ++body)
            inits.push_back(ir::makeStore(targets[body], indices[body], m_bounds.bodies[body]->operands[1]));
        Stmt init = ir::makeBlock(std::move(inits));
        if (!tiled)
            return nestFrom(firstReduce, guarded(guards(true, atRoot), init), update, nullptr);

        // Copies between the tile and the tensor.
        std::vector<Stmt> stores;
        std::vector<Stmt> loads;
        for (std::size_t body = 0; body < targets.size(); ++body) {
            const DType t = m_bounds.bodies[body]->dtype;
            stores.push_back(
                ir::makeStore(m_lowering.buffers[m_id][body], ownIndices(), ir::load(targets[body], t, indices[body])));
            loads.push_back(
                ir::makeStore(targets[body], indices[body], ir::load(m_lowering.buffers[m_id][body], t, ownIndices())));
        }
        const std::vector<Expr> spatial = guards(true, atRoot);
        Stmt store = guarded(spatial, ir::makeBlock(std::move(stores)));
        if (start <= firstReduce)
            return nestFrom(start, init, update, store);

        // Reduce loops outside of the tile: the tensor itself is initialised, the tile loaded and stored each time.
        std::vector<Stmt> tensorInits;
        for (std::size_t body = 0; body < targets.size(); ++body)
            tensorInits.push_back(
                ir::makeStore(m_lowering.buffers[m_id][body], ownIndices(), m_bounds.bodies[body]->operands[1]));
        LATHE_TRY_ASSIGN(Stmt inner, nest(start, loops(), update));
        inner = ir::makeBlock(
            {spatialNest(start, guarded(spatial, ir::makeBlock(std::move(loads)))), inner, spatialNest(start, store)});
        LATHE_TRY_ASSIGN(Stmt outer, nest(firstReduce, start, inner));
        Stmt whole = ir::makeBlock(
            {spatialNest(firstReduce, guarded(spatial, ir::makeBlock(std::move(tensorInits)))), outer});
        return nest(0, firstReduce, whole);
    }

    /// A reduction that threads share: each has its part, then the parts are combined, through shared memory
    /// (thread_tree.h) or within warps from register to register (warp_shuffles.h).
    Result<Stmt> emitAcrossThreads(std::size_t firstReduce, std::size_t thread)
    {
        for (std::size_t i = firstReduce; i < loops(); ++i)
            if (i != thread && extent(i) > 1 && (!isReduceLoop(i) || m_kinds[i] >= LoopKind::VThread))
                return refuse("has more than sums inside of a sum across threads, which lowering has no form for",
                              Errc::Unsupported);
        const Expr& body = m_bounds.bodies[0];
        const std::int32_t warp = m_stage.iters[thread].warp;
        if (const std::string why = warp > 0 ? whyNoShuffles(extent(thread), warp) : std::string(); !why.empty())
            return refuse(why.c_str());
        const bool isShared = warp == 0 || warpsOf(extent(thread), warp) > 1;
        for (std::size_t i = 0; i < firstReduce && isShared; ++i)
            if (extent(i) > 1 && m_kinds[i] >= LoopKind::ThreadX && m_kinds[i] <= LoopKind::ThreadZ)
                return refuse("shares parts of several sums of a block in memory, which lowering has no form for",
                              Errc::Unsupported);
        std::vector<std::int32_t> own;
        std::vector<HandOver> parts;
        std::vector<LanePart> lanes;
        const auto handOver = [&](const char* ownName, const char* from, const char* to, DType dtype,
                                  const Expr& identity) {
            own.push_back(addBeside(m_lowering, m_id, ownName, dtype, ir::Scope::Part, 1));
            if (warp > 0) {
                const std::int64_t warps = warpsOf(extent(thread), warp);
                const std::int32_t other = addBeside(m_lowering, m_id, to, dtype, ir::Scope::Part, 1);
                lanes.push_back({own.back(), other,
                                 warps > 1 ? addBeside(m_lowering, m_id, from, dtype, ir::Scope::Shared, warps) : -1,
                                 dtype, identity});
                return;
            }
            parts.push_back(
                {addBeside(m_lowering, m_id, from, dtype, ir::Scope::Shared, extent(thread)),
                 addBeside(m_lowering, m_id, to, dtype, ir::Scope::Shared, ir::ceilDivide(extent(thread), 2)), dtype});
        };
        Stmt init, update;
        if (isIndex()) {
            handOver(".best", ".bests", ".pairs", body->operands[1]->dtype, body->operands[1]);
            handOver(".own", ".parts", ".places", m_op.dtype, ir::intImm(0, m_op.dtype));
            m_held = {own[0], own[1], {0}};
            init = indexInit();
            update = indexUpdate();
        } else {
            handOver(".own", ".parts", ".pairs", body->dtype, body->operands[1]);
            init = ir::makeStore(own[0], {0}, body->operands[1]);
            update = updateStatement(own[0], {0}, Sums::Tile);
        }
        for (std::size_t i = loops(); i-- > firstReduce;) {
            if (hasAttached(i))
                return refuse("has a stage inside of a sum across threads, which lowering has no form for",
                              Errc::Unsupported);
            if (i != thread)
                update = loop(i, std::move(update));
        }
        std::vector<Stmt> each = {init, update};
        const auto whole = [&](std::vector<Stmt> steps, const Expr& result) {
            steps.push_back(
                guarded(guards(true, true), ir::makeStore(m_lowering.buffers[m_id][0], ownIndices(), result)));
            return nest(0, firstReduce, ir::makeBlock(std::move(steps)));
        };
        if (warp > 0)
            return whole(combineLanes(m_lowering.program.ranges, m_bounds.leaves[thread], extent(thread), warp,
                                      body->combiner, lanes, std::move(each)),
                         ir::load(lanes.back().own, lanes.back().dtype, {0}));
        for (std::size_t i = 0; i < own.size(); ++i)
            each.push_back(
                ir::makeStore(parts[i].from, {m_bounds.leaves[thread]}, ir::load(own[i], parts[i].dtype, {0})));
        std::vector<Stmt> steps = {loop(thread, ir::makeBlock(std::move(each)))};
        for (Stmt& step :
             combinePairs(m_lowering.program.ranges, m_kinds[thread], extent(thread), body->combiner, parts))
            steps.push_back(std::move(step));
        const HandOver& last = parts.back();
        return whole(std::move(steps), ir::load(last.from, last.dtype, {0}));
    }

    /// Loops outside of `at`; there the initialisation, the loops of the update, and what follows them.
    Result<Stmt> nestFrom(std::size_t at, Stmt init, Stmt update, Stmt after)
    {
        LATHE_TRY_ASSIGN(Stmt inner, nest(at, loops(), std::move(update)));
        std::vector<Stmt> parts{spatialNest(at, std::move(init)), std::move(inner)};
        if (after)
            parts.push_back(spatialNest(at, std::move(after)));
        return nest(0, at, ir::makeBlock(std::move(parts)));
    }

    /// Where a sum is kept while it grows.
    enum class Sums : std::uint8_t
    {
        Tensor, ///< of a stage at root, or as much of it as is there
        Box, ///< the buffer of an attached stage: all that is read of it, of which the loops may overshoot
        Tile ///< elements for all iterations of the loops
    };

    Stmt updateStatement(std::int32_t target, const std::vector<Expr>& indices, Sums sums)
    {
        std::vector<Expr> conditions = guards(false, true);
        const Expr& body = m_bounds.bodies[0];
        Expr source = body->operands[0];
        if (sums == Sums::Box && m_lowering.form == KernelForm::Launches) {
            // What is stored beyond the box would be another thread's.
            std::vector<Expr> edges = m_bounds.shapeGuards;
            source = withoutEdges(m_lowering, m_id, source, edges);
            conditions = guards(false, false);
            conditions.insert(conditions.end(), edges.begin(), edges.end());
        } else if (sums != Sums::Tensor)
            source = withoutEdges(m_lowering, m_id, source, conditions);
        // A processor leaves out what adds nothing to the result: padding becomes a condition. Threads of a launch step
        // together, and a branch would keep their loads from being moved ahead: there it stays a choice.
        GuardedTerm term{source, {}};
        if (m_lowering.form == KernelForm::Phases)
            term = extractGuards(source, body->combiner, body->operands[1]);
        std::vector<Expr> lanes; // conditions that differ between lanes stay selects
        for (const Expr& c : term.conditions)
            (usesVectorLoop(c) ? lanes : conditions).push_back(c);
        Expr value = term.value;
        if (!lanes.empty())
            value = ir::ifThenElse(conjunction(lanes), value, ir::cast(value->dtype, body->operands[1]));
        value = ir::cast(body->dtype, resolveLoads(m_lowering, value));
        for (Expr& c : conditions)
            c = resolveLoads(m_lowering, c);
        const Expr old = ir::load(target, body->dtype, indices);
        return guarded(conditions, ir::makeStore(target, indices, combine(body->combiner, old, value)));
    }

    // ---- reductions to an index: beside it the value held is kept; where a value beats it, both are replaced
    // ---------

    bool isIndex() const { return m_bounds.bodies[0]->combiner >= ir::Combiner::ArgMax; }

    Stmt indexInit() const
    {
        return ir::makeBlock({ir::makeStore(m_held.value, m_held.indices, m_bounds.bodies[0]->operands[1]),
                              ir::makeStore(m_held.place, m_held.indices, ir::intImm(0, m_op.dtype))});
    }

    /// Where the value and its position are held: the position in the stage's own buffer. A thread's value is one
    /// element where the loops inside are of the reduction alone.
    void holdIndex(std::size_t firstReduce)
    {
        bool isOne = m_lowering.form == KernelForm::Launches;
        for (std::size_t i = firstReduce; i < loops(); ++i)
            isOne = isOne && (isReduceLoop(i) || extent(i) == 1);
        const DType dtype = m_bounds.bodies[0]->operands[1]->dtype;
        m_held = {-1, m_lowering.buffers[m_id][0], ownIndices()};
        if (isOne) {
            m_held = {addBeside(m_lowering, m_id, ".best", dtype, ir::Scope::Part, 1),
                      addBeside(m_lowering, m_id, ".own", m_op.dtype, ir::Scope::Part, 1),
                      {0}};
            return;
        }
        ir::Buffer best = m_lowering.nest.buffers[m_held.place];
        best.name += ".best";
        best.dtype = dtype;
        best.scope = m_stage.location == Location::Root ? ir::Scope::Team : ir::Scope::Part;
        m_held.value = static_cast<std::int32_t>(m_lowering.nest.buffers.size());
        m_lowering.nest.buffers.push_back(std::move(best));
    }

    /// Whether the loops of the reduction are the operation's own, in their order.
    bool reducesInOrder() const
    {
        auto next = static_cast<std::int32_t>(m_op.shape.size());
        for (const Iterator& iterator : m_stage.iters)
            if (iterator.kind == IterKind::Reduction && iterator.id != next++)
                return false;
        return next == static_cast<std::int32_t>(m_op.shape.size() + m_op.reduceExtents.size());
    }

    Stmt indexUpdate()
    {
        const Expr& body = m_bounds.bodies[0];
        const Expr value = resolveLoads(m_lowering, body->operands[0]);
        Expr position = 0;
        for (std::size_t r = 0; r < m_op.reduceExtents.size(); ++r)
            position = position * ir::intImm(m_op.reduceExtents[r]) + m_bounds.axes[m_op.shape.size() + r];
        position = ir::cast(m_op.dtype, ir::simplify(position, m_lowering.program.ranges));
        const Expr held = ir::load(m_held.value, value->dtype, m_held.indices);
        Expr better = body->combiner == ir::Combiner::ArgMax ? value > held : value < held;
        if (!reducesInOrder()) { // of equal ones the first counts
            const Expr place = ir::load(m_held.place, m_op.dtype, m_held.indices);
            better = better || (ir::eq(value, held) && position < place);
        }
        // Inside of the guards, not beside them: both sides of a conjunction are computed, and what `better` reads
        // exists only where they hold.
        Stmt update = ir::makeBlock({ir::makeStore(m_held.value, m_held.indices, value),
                                     ir::makeStore(m_held.place, m_held.indices, position)});
        return guarded(guards(false, true), ir::makeIf(better, std::move(update)));
    }

    Lowering& m_lowering;
    std::int32_t m_id;
    const Stage& m_stage;
    const StageBounds& m_bounds;
    const compute::Op& m_op;
    std::vector<LoopKind> m_kinds;
    /// Of a reduction to an index: the buffers of the value held and of its position, and where in them.
    struct Held
    {
        std::int32_t value = -1, place = -1;
        std::vector<Expr> indices;
    } m_held;
};

} // namespace

Error refuseStage(const Lowering& lowering, std::int32_t stage, const char* why, Errc code)
{
    return makeError(code, fmt::format("'{}' {}", lowering.op(stage).name, why));
}

Result<Stmt> emitStage(Lowering& lowering, std::int32_t stage)
{
    return StageEmitter(lowering, stage).run();
}

} // namespace lathe::schedule
