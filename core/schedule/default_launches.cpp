#include "core/schedule/default_launches.h"

#include "core/ir/linear_form.h"
#include "core/ir/substitute.h"
#include "core/schedule/lower.h"
#include "core/schedule/schedule_maker.h"
#include "core/support/element_count.h"

#include <algorithm>
#include <set>

namespace lathe::schedule {

namespace {

using compute::Op;
using ir::Expr;
using ir::ExprKind;

constexpr std::int64_t kWarp = 32; ///< threads that a device runs in step, or some of them
constexpr std::int64_t kSmallBlock = 64;
constexpr std::int64_t kWantedBlocks = 64; ///< so that all multiprocessors have one
constexpr std::int64_t kLongSum = 64; ///< steps from which a sum is worth dividing among threads
constexpr std::int64_t kFewSums = 4096;
constexpr std::int64_t kMostTile = 8; ///< sums of a thread along the dimension that shares what is read
constexpr std::int64_t kUnrolledSteps = 64;
constexpr std::int64_t kMostLanes = 256; ///< threads of a block that differ along one dimension alone

/// What a thread computes of a stage that is stored element by element.
struct ThreadTile
{
    std::int64_t lanes = 1; ///< neighbours along the last dimension
    std::int32_t tileDim = -1; ///< -1: none
    std::int64_t tile = 1;
    std::int32_t threadDim = -1; ///< along which alone the threads of a block differ; -1: along all
};

class LaunchScheduler : ScheduleMaker
{
public:
    LaunchScheduler(const compute::DagPtr& dag, const LaunchScheduleOptions& options)
        : ScheduleMaker(dag)
        , m_options(options)
    {
    }

    Result<State> run()
    {
        inlineProducers();
        LATHE_TRY_ASSIGN(m_bounds, inferProgramBounds(m_state));
        std::set<std::int32_t> done;
        for (std::size_t i = m_dag.ops.size(); i-- > 0;) {
            const auto id = static_cast<std::int32_t>(i);
            if (!m_bounds.stages[i].active || done.contains(id))
                continue;
            const std::int32_t producer = isReduction(id) ? -1 : fusibleReduction(id);
            if (producer >= 0)
                done.insert(producer);
            if (producer >= 0 || isReduction(id))
                LATHE_TRY(scheduleReduction(producer >= 0 ? producer : id, producer >= 0 ? id : -1));
            else
                LATHE_TRY(scheduleElementwise(id));
        }
        return std::move(m_state);
    }

private:
    /// The first `count` iterators as blocks and threads; the two then are the first ones.
    Result<> bind(std::int32_t id, std::int32_t count)
    {
        if (count == 0 && !iters(id).empty()) // one sum, of one thread
            return {};
        std::vector<std::int32_t> outer;
        for (std::int32_t i = 0; i < count; ++i)
            outer.push_back(i);
        if (count != 1) // a stage without dimensions gets an iterator
            LATHE_TRY(m_state.apply(FuseStep{id, std::move(outer)}));
        LATHE_TRY(m_state.inferBounds());
        const std::int64_t extent = std::max<std::int64_t>(iters(id)[0].extent, 1);
        std::int64_t threads = m_options.mostThreads >= 256 ? 256 : m_options.mostThreads;
        while (threads / 2 >= kSmallBlock && extent < threads * kWantedBlocks)
            threads /= 2;
        LATHE_TRY(m_state.apply(SplitStep{id, 0, extent, {std::min(threads, extent)}, true}));
        LATHE_TRY(m_state.apply(AnnotateStep{id, 0, Annotation::BlockX}));
        return m_state.apply(AnnotateStep{id, 1, Annotation::ThreadX});
    }

    /// The last of the first `count` iterators as threads, `threads` of a block, the others as blocks.
    Result<> bindLanes(std::int32_t id, std::int32_t count, std::int64_t threads)
    {
        const std::int64_t extent = iters(id)[static_cast<std::size_t>(count - 1)].extent;
        LATHE_TRY(m_state.apply(SplitStep{id, count - 1, extent, {threads}, true}));
        FuseStep blocks{id, {}};
        for (std::int32_t i = 0; i < count; ++i)
            blocks.iters.push_back(i);
        if (count > 1)
            LATHE_TRY(m_state.apply(std::move(blocks)));
        LATHE_TRY(m_state.apply(AnnotateStep{id, 0, Annotation::BlockX}));
        return m_state.apply(AnnotateStep{id, 1, Annotation::ThreadX});
    }

    /// Threads of a block along a dimension: as many as leave the last block full, if these are not few.
    std::int64_t lanesAlong(std::int32_t id, std::int32_t d) const
    {
        const std::int64_t extent = m_dag.ops[id].shape[static_cast<std::size_t>(d)];
        const std::int64_t most = std::min({extent, kMostLanes, m_options.mostThreads});
        for (std::int64_t t = most; t >= m_options.simdWidth; --t)
            if (extent % t == 0)
                return t;
        return most;
    }

    // ---- stages without a reduction ---------------------------------------------------------------------------------

    Result<> scheduleElementwise(std::int32_t id)
    {
        const auto readers = readersOf(id);
        // A tile that only constant matrices transform is gathered where it is used: into registers.
        if (readers.size() == 1 && isConstantMatrixUser(readers[0]) && !isOutput(id)
            && m_state.stages()[readers[0]].location == Location::Root) {
            LATHE_TRY(m_state.apply(ComputeAtStep{id, readers[0], 1}));
            for (std::int32_t i = 0; i < static_cast<std::int32_t>(iters(id).size()); ++i)
                LATHE_TRY(m_state.apply(AnnotateStep{id, i, Annotation::Unroll}));
            return {};
        }
        const Op& op = m_dag.ops[id];
        const auto rank = static_cast<std::int32_t>(op.shape.size());
        const std::int64_t lanes = lanesOf(id);
        if (lanes > 1 && elementCount(op.shape) / lanes >= m_options.wantedThreads) {
            LATHE_TRY(m_state.apply(SplitStep{id, rank - 1, op.shape.back(), {lanes}, true}));
            LATHE_TRY(m_state.apply(AnnotateStep{id, rank, Annotation::Vectorize}));
        }
        return bind(id, rank);
    }

    /// Elements that a thread takes at once along the last dimension: those that lie next to each other in all that is
    /// read, or are the same.
    std::int64_t lanesOf(std::int32_t id) const
    {
        const Op& op = m_dag.ops[id];
        const auto last = static_cast<std::int32_t>(op.shape.size()) - 1;
        if (last < 0 || !vectorizable(id, last) || conditionsUse(id, last))
            return 1;
        const std::int64_t lanes = m_options.vectorLanes;
        bool fits = op.shape.back() % lanes == 0;
        for (const Expr& body : m_bounds.stages[id].bodies)
            ir::visit(body, [&](const Expr& e) {
                if (e->kind == ExprKind::Load)
                    fits = fits && (isContiguous(id, e, last) || isPackable(id, e));
            });
        return fits ? lanes : 1;
    }

    /// Along dimension `d` of the stage: not read, or next to each other.
    bool isContiguous(std::int32_t id, const Expr& load, std::int32_t d) const
    {
        const Expr& v = m_bounds.stages[id].leaves[d];
        for (std::size_t i = 0; i < load->operands.size(); ++i)
            if (ir::uses(load->operands[i], v)
                && (i + 1 != load->operands.size()
                    || ir::linearForm(load->operands[i], m_bounds.ranges).coefficientOf(v) != 1))
                return false;
        return true;
    }
    bool reads(std::int32_t id, const Expr& load, std::int32_t d) const
    {
        return ir::uses(load, m_bounds.stages[id].leaves[d]);
    }

    // ---- reductions -------------------------------------------------------------------------------------------------

    Result<> scheduleReduction(std::int32_t id, std::int32_t consumer)
    {
        if (isConstantMatrixUser(id))
            return scheduleMatrixTransform(id);
        if (const std::int64_t threads = sharingThreads(id); threads > 1)
            return divideSum(id, consumer, threads);
        if (isIndexReduction(id))
            return bind(id, static_cast<std::int32_t>(m_dag.ops[id].shape.size()));
        return tileSum(id, consumer);
    }

    /// Winograd's transforms: a thread has one tile, the indices of the matrices are unrolled.
    Result<> scheduleMatrixTransform(std::int32_t id)
    {
        const auto& names = std::get<std::vector<std::string>>(
            m_dag.ops[id].attrs.at("auto_scheduler_simplify_const_tensor_indices"));
        std::vector<std::string> order, inner;
        for (const Iterator& iter : iters(id))
            (std::ranges::find(names, iter.name) == names.end() ? order : inner).push_back(iter.name);
        const auto outer = static_cast<std::int32_t>(order.size());
        order.insert(order.end(), inner.begin(), inner.end());
        LATHE_TRY(reorder(id, order));
        for (const std::string& name : inner)
            LATHE_TRY(annotate(id, name, Annotation::Unroll));
        return bind(id, outer);
    }

    /// By how many threads each sum is computed; 1 where there are sums enough, or where neighbouring threads would
    /// read far apart.
    std::int64_t sharingThreads(std::int32_t id) const
    {
        const Op& op = m_dag.ops[id];
        const std::int64_t sums = elementCount(op.shape), steps = elementCount(op.reduceExtents);
        if (steps < kLongSum || sums > kFewSums || m_bounds.stages[id].bodies.size() > 1)
            return 1;
        const auto innermost = static_cast<std::int32_t>(op.shape.size() + op.reduceAxes.size()) - 1;
        bool along = true;
        for (const Expr& body : m_bounds.stages[id].bodies)
            ir::visit(body, [&](const Expr& e) {
                if (e->kind == ExprKind::Load)
                    along = along && isContiguous(id, e, innermost);
            });
        if (!along && sums > kSmallBlock * 4)
            return 1;
        std::int64_t threads = kWarp;
        while (threads * 2 <= std::min<std::int64_t>({steps, m_options.mostThreads, 256})
               && threads * sums < m_options.wantedThreads)
            threads *= 2;
        return threads <= std::min(steps, m_options.mostThreads) ? threads : 1;
    }

    /// A block for each sum, whose threads add up parts of it.
    Result<> divideSum(std::int32_t id, std::int32_t consumer, std::int64_t threads)
    {
        const std::int32_t outer = consumer >= 0 ? consumer : id;
        const auto rank = static_cast<std::int32_t>(m_dag.ops[id].shape.size());
        std::int32_t first = 0; // reduce iterator
        if (rank > 0 || consumer >= 0) {
            FuseStep space{outer, {}};
            for (std::int32_t i = 0; i < rank; ++i)
                space.iters.push_back(i);
            if (rank != 1)
                LATHE_TRY(m_state.apply(std::move(space)));
            LATHE_TRY(m_state.apply(AnnotateStep{outer, 0, Annotation::BlockX}));
            first = 1;
        }
        if (consumer >= 0) {
            LATHE_TRY(m_state.apply(ComputeAtStep{id, consumer, 0}));
            first = rank;
        }
        FuseStep steps{id, {}};
        for (auto i = first; i < static_cast<std::int32_t>(iters(id).size()); ++i)
            steps.iters.push_back(i);
        if (steps.iters.size() > 1)
            LATHE_TRY(m_state.apply(std::move(steps)));
        LATHE_TRY(m_state.apply(SplitStep{id, first, elementCount(m_dag.ops[id].reduceExtents), {threads}, true}));
        return m_state.apply(AnnotateStep{id, first + 1, Annotation::ThreadX});
    }

    /// Each thread has a few sums that share what is read for them.
    Result<> tileSum(std::int32_t id, std::int32_t consumer)
    {
        const ThreadTile tile = tileOf(id, consumer);
        const std::int32_t outerStage = consumer >= 0 ? consumer : id;
        const auto rank = static_cast<std::int32_t>(m_dag.ops[id].shape.size());
        std::vector<std::string> outer, inside;
        for (std::int32_t d = 0; d < rank; ++d)
            outer.push_back(iters(outerStage)[d].name);
        const auto take = [&](std::int32_t d, std::int64_t length, Annotation annotation) -> Result<> {
            const std::string name = outer[static_cast<std::size_t>(d)];
            LATHE_TRY(split(outerStage, name, {length}));
            LATHE_TRY(annotate(outerStage, name + ".1", annotation));
            outer[static_cast<std::size_t>(d)] = name + ".0";
            inside.push_back(name + ".1");
            return {};
        };
        if (tile.tile > 1)
            LATHE_TRY(take(tile.tileDim, tile.tile, Annotation::Unroll));
        if (tile.lanes > 1)
            LATHE_TRY(take(rank - 1, tile.lanes, Annotation::Vectorize));
        std::vector<std::string> order = outer;
        if (tile.threadDim >= 0) {
            order.erase(order.begin() + tile.threadDim);
            order.push_back(outer[static_cast<std::size_t>(tile.threadDim)]);
        }
        if (consumer < 0)
            for (const Expr& axis : m_dag.ops[id].reduceAxes)
                order.push_back(axis->name);
        order.insert(order.end(), inside.begin(), inside.end());
        LATHE_TRY(reorder(outerStage, order));
        LATHE_TRY(tile.threadDim >= 0 ? bindLanes(outerStage, rank, lanesAlong(id, tile.threadDim))
                                      : bind(outerStage, rank));
        if (consumer >= 0)
            LATHE_TRY(computeTileAt(id, consumer, tile));
        LATHE_TRY(packWeights(id, tile));
        return m_state.apply(PragmaStep{id, 0, "auto_unroll_max_step$" + std::to_string(kUnrolledSteps)});
    }

    /// The sums in registers of the thread that stores what its reader makes of them.
    Result<> computeTileAt(std::int32_t id, std::int32_t consumer, const ThreadTile& tile)
    {
        const auto rank = static_cast<std::int32_t>(m_dag.ops[id].shape.size());
        LATHE_TRY(m_state.apply(ComputeAtStep{id, consumer, 1}));
        const auto isInside = [&](std::int32_t d) {
            return (d == tile.tileDim && tile.tile > 1) || (d == rank - 1 && tile.lanes > 1);
        };
        ReorderStep order{id, {}};
        for (std::int32_t d = 0; d < rank; ++d)
            if (!isInside(d))
                order.order.push_back(d);
        for (std::size_t r = 0; r < m_dag.ops[id].reduceAxes.size(); ++r)
            order.order.push_back(rank + static_cast<std::int32_t>(r));
        if (tile.tile > 1)
            order.order.push_back(tile.tileDim);
        if (tile.lanes > 1)
            order.order.push_back(rank - 1);
        LATHE_TRY(m_state.apply(std::move(order)));
        auto last = static_cast<std::int32_t>(iters(id).size()) - 1;
        if (tile.lanes > 1)
            LATHE_TRY(m_state.apply(AnnotateStep{id, last--, Annotation::Vectorize}));
        return tile.tile > 1 ? m_state.apply(AnnotateStep{id, last, Annotation::Unroll}) : Result<>();
    }

    ThreadTile tileOf(std::int32_t id, std::int32_t consumer) const
    {
        const Op& op = m_dag.ops[id];
        const auto last = static_cast<std::int32_t>(op.shape.size()) - 1;
        ThreadTile tile;
        if (last < 0)
            return tile;
        tile.lanes = std::min(lanesOf(id), consumer >= 0 ? lanesOf(consumer) : lanesOf(id));
        const std::int64_t sums = elementCount(op.shape);
        if (m_options.simdWidth > 0 && takeThreadDim(id, tile))
            return tile;
        if (sums / tile.lanes < m_options.wantedThreads)
            tile.lanes = 1;
        // What does not depend on a dimension, but on the last one, is read once for all of a tile along it.
        for (std::int32_t d = last - 1; d >= 0 && tile.tileDim < 0; --d) {
            bool shares = false;
            ir::visit(m_bounds.stages[id].bodies[0], [&](const Expr& e) {
                shares = shares || (e->kind == ExprKind::Load && !reads(id, e, d) && reads(id, e, last));
            });
            if (shares && op.shape[static_cast<std::size_t>(d)] > 1)
                tile.tileDim = d;
        }
        if (tile.tileDim < 0)
            return tile;
        for (std::int64_t t = kMostTile; t > 1 && tile.tile == 1; --t)
            if (op.shape[static_cast<std::size_t>(tile.tileDim)] % t == 0
                && sums / (tile.lanes * t) >= m_options.wantedThreads / 2)
                tile.tile = t;
        return tile;
    }

    /// The threads of a block along one dimension, a tile of each along another that shares what the first one reads.
    bool takeThreadDim(std::int32_t id, ThreadTile& tile) const
    {
        const Op& op = m_dag.ops[id];
        for (auto d = static_cast<std::int32_t>(op.shape.size()) - 1; d >= 0 && tile.threadDim < 0; --d) {
            bool fits = op.shape[static_cast<std::size_t>(d)] >= m_options.simdWidth, isRead = false;
            ir::visit(m_bounds.stages[id].bodies[0], [&](const Expr& e) {
                if (e->kind != ExprKind::Load || !reads(id, e, d))
                    return;
                isRead = true;
                fits = fits && (isPackable(id, e) || isContiguous(id, e, d));
            });
            if (fits && isRead)
                tile.threadDim = d;
        }
        if (tile.threadDim < 0)
            return false;
        tile.lanes = 1;
        for (auto d = static_cast<std::int32_t>(op.shape.size()) - 1; d >= 0 && tile.tile == 1; --d) {
            bool shares = false;
            ir::visit(m_bounds.stages[id].bodies[0], [&](const Expr& e) {
                shares = shares || (e->kind == ExprKind::Load && !reads(id, e, d) && reads(id, e, tile.threadDim));
            });
            for (std::int64_t t = kMostTile; shares && d != tile.threadDim && t > 1 && tile.tile == 1; --t)
                if (op.shape[static_cast<std::size_t>(d)] % t == 0) {
                    tile.tileDim = d;
                    tile.tile = t;
                }
        }
        return true;
    }

    // ---- weights ----------------------------------------------------------------------------------------------------

    /// A constant whose layout the loops may decide: one load with variables, each of its own dimension.
    bool isPackable(std::int32_t id, const Expr& load) const
    {
        const auto input = std::ranges::find(m_dag.inputs, load->source);
        const auto place = static_cast<std::size_t>(input - m_dag.inputs.begin());
        if (!isReduction(id) || place >= m_options.constantInputs.size() || !m_options.constantInputs[place]
            || !directlyReads(id, load->source))
            return false;
        std::set<const ir::Node*> seen;
        for (const Expr& index : load->operands)
            if (index->kind != ExprKind::IntImm && (index->kind != ExprKind::Var || !seen.insert(index.get()).second))
                return false;
        int readings = 0;
        for (const Op& op : m_dag.ops)
            for (const Expr& body : op.bodies)
                ir::visit(body, [&](const Expr& e) {
                    readings += e->kind == ExprKind::Load && e->source == load->source ? 1 : 0;
                });
        return readings == 1;
    }

    /// What neighbouring threads, or the sums of one, read of a weight lies next to each other.
    Result<> packWeights(std::int32_t id, const ThreadTile& tile)
    {
        std::vector<Expr> loads;
        ir::visit(m_bounds.stages[id].bodies[0], [&](const Expr& e) {
            if (e->kind == ExprKind::Load && isPackable(id, e))
                loads.push_back(e);
        });
        const auto& leaves = m_bounds.stages[id].leaves;
        const auto rank = m_dag.ops[id].shape.size();
        for (const Expr& load : loads) {
            const auto dimOf = [&](const Expr& v) {
                const auto found = std::ranges::find_if(load->operands, [&](const Expr& e) { return e.same(v); });
                return found == load->operands.end() ? -1 : static_cast<std::int32_t>(found - load->operands.begin());
            };
            std::int32_t inner = dimOf(
                leaves[tile.threadDim >= 0 ? static_cast<std::size_t>(tile.threadDim) : rank - 1]);
            if (inner < 0 && tile.tileDim >= 0)
                inner = dimOf(leaves[static_cast<std::size_t>(tile.tileDim)]);
            if (inner < 0 || inner + 1 == static_cast<std::int32_t>(load->operands.size()))
                continue;
            LayoutStep layout{load->source, {}};
            const std::vector<std::int64_t>& shape = m_dag.ops[load->source].shape;
            for (std::size_t d = 0; d < shape.size(); ++d)
                if (static_cast<std::int32_t>(d) != inner)
                    layout.axes.push_back({static_cast<std::int32_t>(d), 1, shape[d]});
            layout.axes.push_back({inner, 1, shape[static_cast<std::size_t>(inner)]});
            LATHE_TRY(m_state.apply(std::move(layout)));
        }
        return {};
    }

    const LaunchScheduleOptions& m_options;
};

Result<> checkLowering(const State& state, const LaunchScheduleOptions& options)
{
    LowerOptions check;
    check.form = KernelForm::Launches;
    check.constantInputs = options.constantInputs;
    LATHE_TRY(lower(state, check));
    return {};
}

} // namespace

Result<State> planDefaultLaunches(const compute::DagPtr& dag, const LaunchScheduleOptions& options)
{
    LATHE_TRY_ASSIGN(State state, LaunchScheduler(dag, options).run());
    LATHE_TRY(checkLowering(state, options));
    return state;
}

} // namespace lathe::schedule
