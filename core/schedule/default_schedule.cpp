#include "core/schedule/default_schedule.h"

#include "core/ir/linear_form.h"
#include "core/ir/substitute.h"
#include "core/schedule/conditions.h"
#include "core/schedule/lower.h"
#include "core/schedule/reduction_plan.h"
#include "core/schedule/schedule_maker.h"

#include <algorithm>
#include <set>

namespace lathe::schedule {

namespace {

using compute::Op;
using compute::OpKind;
using ir::Expr;
using ir::ExprKind;

constexpr std::int64_t kParallelWork = 16384; ///< element operations below which a phase is not worth sharing
constexpr std::int64_t kPrefetchBytes = 256 * 1024; ///< weights larger than this come from L3 or memory

class DefaultScheduler : ScheduleMaker
{
public:
    DefaultScheduler(const compute::DagPtr& dag, const DefaultScheduleOptions& options)
        : ScheduleMaker(dag)
        , m_options(options)
    {
    }

    Result<State> run()
    {
        for (const LayoutStep& layout : m_options.layouts)
            LATHE_TRY(m_state.apply(layout));
        inlineProducers();
        LATHE_TRY_ASSIGN(m_bounds, inferProgramBounds(m_state));
        std::set<std::int32_t> done;
        for (std::size_t i = m_dag.ops.size(); i-- > 0;) {
            const auto id = static_cast<std::int32_t>(i);
            if (!m_bounds.stages[i].active || done.contains(id))
                continue;
            if (isReduction(id)) {
                LATHE_TRY(scheduleReduction(id, -1));
                continue;
            }
            const std::int32_t producer = fusibleReduction(id);
            if (producer >= 0) {
                done.insert(producer);
                LATHE_TRY(scheduleReduction(producer, id));
            } else
                LATHE_TRY(scheduleElementwise(id));
        }
        return std::move(m_state);
    }

private:
    /// Fuses the first `count` iterators and divides them among threads.
    Result<> parallelize(std::int32_t id, std::int32_t count)
    {
        if (count <= 0)
            return {};
        if (count > 1) {
            std::vector<std::int32_t> outer;
            for (std::int32_t i = 0; i < count; ++i)
                outer.push_back(i);
            LATHE_TRY(m_state.apply(FuseStep{id, std::move(outer)}));
        }
        return m_state.apply(AnnotateStep{id, 0, Annotation::Parallel});
    }

    // ---- stages without a reduction
    // -----------------------------------------------------------------------------------

    Result<> scheduleElementwise(std::int32_t id)
    {
        const Op& op = m_dag.ops[id];
        const auto readers = readersOf(id);
        // A tile that only constant matrices transform is gathered where it is used: into registers.
        if (readers.size() == 1 && isConstantMatrixUser(readers[0]) && !isOutput(id)
            && m_state.stages()[readers[0]].location == Location::Root)
            if (const std::int32_t at = matrixTileLoop(readers[0]); at >= 0)
                return gatherAt(id, readers[0], at);
        if (op.shape.empty())
            return {};
        const auto rank = static_cast<std::int32_t>(op.shape.size());
        const std::int32_t dim = contiguousDim(m_state, id);
        const auto& layout = m_state.stages()[id].layout;
        const std::int64_t fitting = lanesFor(m_bounds.stages[id].bodies, op.dtype, m_options);
        const std::int64_t widest = layout.empty() ? fitting : std::min(fitting, layout.back().extent);
        const std::int64_t lanes = dim >= 0 && vectorizable(id, dim) ? pickLanes(op.shape[dim], widest) : 1;
        if (lanes > 1) {
            LATHE_TRY(m_state.apply(SplitStep{id, dim, op.shape[dim], {lanes}, true}));
            std::vector<std::int32_t> order;
            for (std::int32_t i = 0; i <= rank; ++i)
                if (i != dim + 1)
                    order.push_back(i);
            order.push_back(dim + 1);
            LATHE_TRY(m_state.apply(ReorderStep{id, std::move(order)}));
            LATHE_TRY(m_state.apply(AnnotateStep{id, rank, Annotation::Vectorize}));
        }
        // Conditions by lane (concatenation): the loop of vectors is cut where they change.
        const bool cut = lanes > 1 && conditionsUse(id, dim);
        if (cut) {
            std::vector<std::int32_t> order;
            for (std::int32_t i = 0; i < rank; ++i)
                if (i != dim)
                    order.push_back(i);
            order.insert(order.end(), {dim, rank});
            LATHE_TRY(m_state.apply(ReorderStep{id, std::move(order)}));
            LATHE_TRY(m_state.apply(PartitionStep{id, rank - 1}));
        }
        if (workOf(id) < kParallelWork)
            return {};
        return parallelize(id, !cut && (lanes > 1 || rank == 1) ? rank : rank - 1);
    }

    /// Iterator of a scheduled constant-matrix stage inside which all loops are unrolled or vectorized.
    std::int32_t matrixTileLoop(std::int32_t id) const
    {
        std::int32_t at = static_cast<std::int32_t>(iters(id).size());
        while (at > 0
               && (iters(id)[at - 1].annotation == Annotation::Unroll
                   || iters(id)[at - 1].annotation == Annotation::Vectorize))
            --at;
        return at - 1;
    }

    Result<> gatherAt(std::int32_t id, std::int32_t reader, std::int32_t at)
    {
        LATHE_TRY(m_state.apply(ComputeAtStep{id, reader, at}));
        const auto rank = static_cast<std::int32_t>(iters(id).size());
        for (std::int32_t i = 0; i + 1 < rank; ++i)
            LATHE_TRY(m_state.apply(AnnotateStep{id, i, Annotation::Unroll}));
        return m_state.apply(AnnotateStep{id, rank - 1, Annotation::Vectorize});
    }

    // ---- reductions
    // ---------------------------------------------------------------------------------------------------

    /// Winograd's transforms: the indices of the matrices unrolled, channels in vectors.
    Result<> scheduleMatrixTransform(std::int32_t id)
    {
        const Op& op = m_dag.ops[id];
        const auto& names = std::get<std::vector<std::string>>(
            op.attrs.at("auto_scheduler_simplify_const_tensor_indices"));
        std::vector<std::string> outer;
        std::vector<std::string> inner;
        for (const Iterator& iter : iters(id))
            (std::find(names.begin(), names.end(), iter.name) == names.end() ? outer : inner).push_back(iter.name);
        if (outer.empty())
            return {};
        const std::string channel = outer.back();
        const std::int64_t lanes = pickLanes(iters(id)[place(id, channel)].extent,
                                             lanesFor(m_bounds.stages[id].bodies, op.dtype, m_options));
        std::vector<std::string> order = outer;
        if (lanes > 1) {
            LATHE_TRY(split(id, channel, {lanes}));
            order.back() = channel + ".0";
        }
        const auto outerCount = static_cast<std::int32_t>(order.size());
        order.insert(order.end(), inner.begin(), inner.end());
        if (lanes > 1)
            order.push_back(channel + ".1");
        LATHE_TRY(reorder(id, order));
        for (const std::string& name : inner)
            LATHE_TRY(annotate(id, name, Annotation::Unroll));
        if (lanes > 1)
            LATHE_TRY(annotate(id, channel + ".1", Annotation::Vectorize));
        return parallelize(id, outerCount);
    }

    Result<> scheduleReduction(std::int32_t id, std::int32_t consumer)
    {
        if (isConstantMatrixUser(id))
            return scheduleMatrixTransform(id);
        const Op& op = m_dag.ops[id];
        if (op.shape.empty() || isIndexReduction(id)) {
            if (!op.shape.empty() && workOf(id) >= kParallelWork)
                LATHE_TRY(parallelize(id, static_cast<std::int32_t>(op.shape.size())));
            return {};
        }
        const ReductionPlan plan = planReduction(m_state, m_bounds, id, consumer >= 0 ? consumer : id, m_options);
        // What the tile is stored from: the consumer's loops, or the reduction's own.
        const std::int32_t outerStage = consumer >= 0 ? consumer : id;
        std::vector<std::string> outer;
        std::vector<std::string> tile;
        LATHE_TRY(tileSpatial(outerStage, plan, outer, tile));
        std::int32_t parallelCount = static_cast<std::int32_t>(outer.size());
        std::vector<std::string> order = outer;
        if (consumer >= 0) {
            order.insert(order.end(), tile.begin(), tile.end());
            LATHE_TRY(reorder(consumer, order));
            LATHE_TRY(m_state.apply(ComputeAtStep{id, consumer, static_cast<std::int32_t>(outer.size()) - 1}));
            LATHE_TRY(annotateTile(consumer, tile, plan));
            std::vector<std::string> ownOuter;
            std::vector<std::string> ownTile;
            LATHE_TRY(tileSpatial(id, plan, ownOuter, ownTile));
            LATHE_TRY(orderReduction(id, plan, ownOuter, ownTile));
        } else
            LATHE_TRY(orderReduction(id, plan, outer, tile));
        LATHE_TRY(packWeights(id, plan));
        if (plan.partition) { // the partitioned loop stays apart from those that are divided among threads
            LATHE_TRY(m_state.apply(PartitionStep{outerStage, static_cast<std::int32_t>(outer.size()) - 1}));
            parallelCount -= 1;
        }
        return workOf(id) < kParallelWork ? Result<>() : parallelize(outerStage, parallelCount);
    }

    /// Splits the tile off; names of the loops outside (pixels last if they are partitioned) and of the tile's.
    Result<> tileSpatial(std::int32_t id, const ReductionPlan& plan, std::vector<std::string>& outer,
                         std::vector<std::string>& tile)
    {
        const auto rank = static_cast<std::int32_t>(m_dag.ops[id].shape.size());
        std::vector<std::string> names;
        for (std::int32_t d = 0; d < rank; ++d)
            names.push_back(iters(id)[d].name);
        std::string vectorOuter;
        std::string pixelOuter;
        std::vector<std::string> vectorTile;
        if (plan.vectorDim >= 0 && plan.lanes > 1) {
            const std::string& name = names[plan.vectorDim];
            LATHE_TRY(split(id, name, {plan.vectors, plan.lanes}));
            vectorOuter = name + ".0";
            vectorTile = {name + ".1", name + ".2"};
        }
        if (plan.pixelDim >= 0 && (plan.pixels > 1 || plan.partition)) {
            const std::string& name = names[plan.pixelDim];
            LATHE_TRY(split(id, name, {plan.pixels}));
            pixelOuter = name + ".0";
            tile.push_back(name + ".1");
        }
        tile.insert(tile.end(), vectorTile.begin(), vectorTile.end());
        // Large weights are read once by each thread: output channels outside; else rows outside.
        const bool vectorsFirst = plan.packedBytes > plan.otherBytes;
        if (vectorsFirst && !vectorOuter.empty())
            outer.push_back(vectorOuter);
        for (std::int32_t d = 0; d < rank; ++d) {
            if (d == plan.vectorDim && !vectorOuter.empty())
                continue;
            if (d == plan.pixelDim && !pixelOuter.empty()) {
                if (!plan.partition)
                    outer.push_back(pixelOuter);
                continue;
            }
            outer.push_back(names[d]);
        }
        if (!vectorsFirst && !vectorOuter.empty())
            outer.push_back(vectorOuter);
        if (plan.partition)
            outer.push_back(pixelOuter);
        return {};
    }

    Result<> annotateTile(std::int32_t id, const std::vector<std::string>& tile, const ReductionPlan& plan)
    {
        for (std::size_t i = 0; i < tile.size(); ++i) {
            const bool lanes = plan.lanes > 1 && i + 1 == tile.size();
            LATHE_TRY(annotate(id, tile[i], lanes ? Annotation::Vectorize : Annotation::Unroll));
        }
        return {};
    }

    /// How many steps of the innermost reduction stand in one body: four where taps unroll around them, else eight.
    static std::int64_t reductionSteps(const ReductionPlan& plan, const Op& op)
    {
        if (plan.reduceOrder.empty())
            return 1;
        const std::int64_t extent = op.reduceExtents[plan.reduceOrder.back()];
        std::int64_t taps = 1;
        for (const std::int32_t r : plan.reduceOrder)
            taps *= op.reduceExtents[r];
        taps /= extent;
        for (const std::int64_t steps : {std::int64_t{8}, std::int64_t{4}})
            if ((taps == 1 || steps == 4) && extent % steps == 0 && extent > steps)
                return steps;
        return 1;
    }

    Result<> orderReduction(std::int32_t id, const ReductionPlan& plan, const std::vector<std::string>& outer,
                            const std::vector<std::string>& tile)
    {
        const Op& op = m_dag.ops[id];
        std::vector<std::string> order = outer;
        std::string unrolled;
        std::string fetching; // loop at which weights are prefetched
        for (std::size_t k = 0; k < plan.reduceOrder.size(); ++k) {
            const std::int32_t r = plan.reduceOrder[k];
            const std::string& name = op.reduceAxes[r]->name;
            fetching = name;
            const bool last = k + 1 == plan.reduceOrder.size();
            const std::int64_t steps = reductionSteps(plan, op);
            if (last && !plan.unrollLast && steps > 1) {
                const bool blocks = plan.reduceBlock > steps && plan.reduceBlock % steps == 0;
                if (blocks) { // a level of its own for the block, so that indices stay linear
                    LATHE_TRY(split(id, name, {plan.reduceBlock / steps, steps}));
                    order.push_back(name + ".0");
                } else
                    LATHE_TRY(split(id, name, {steps}));
                fetching = name + (blocks ? ".1" : ".0");
                unrolled = name + (blocks ? ".2" : ".1");
                order.push_back(fetching);
            }
            if (last && plan.unrollLast)
                unrolled = name;
            order.push_back(unrolled.empty() ? name : unrolled);
        }
        order.insert(order.end(), tile.begin(), tile.end());
        LATHE_TRY(reorder(id, order));
        if (!unrolled.empty())
            LATHE_TRY(annotate(id, unrolled, Annotation::Unroll));
        LATHE_TRY(annotateTile(id, tile, plan));
        const bool readsDirectly = plan.packedInput >= 0 && directlyReads(id, plan.packedInput);
        if (readsDirectly && plan.packedBytes > kPrefetchBytes && !fetching.empty())
            LATHE_TRY(m_state.apply(PrefetchStep{id, place(id, fetching), plan.packedInput, 4096}));
        return {};
    }

    /// The weight lies in the order in which the loops read it.
    Result<> packWeights(std::int32_t id, const ReductionPlan& plan)
    {
        if (plan.packedInput < 0 || plan.lanes <= 1)
            return {};
        const Op& op = m_dag.ops[id];
        const std::vector<std::int64_t>& shape = m_dag.ops[plan.packedInput].shape;
        Expr load;
        ir::visit(m_bounds.stages[id].bodies[0], [&](const Expr& e) {
            if (e->kind == ExprKind::Load && e->source == plan.packedInput)
                load = e;
        });
        const auto dimOf = [&](const Expr& v) {
            for (std::size_t d = 0; d < load->operands.size(); ++d)
                if (load->operands[d].same(v))
                    return static_cast<std::int32_t>(d);
            return -1;
        };
        const auto& leaves = m_bounds.stages[id].leaves;
        const std::int32_t vectorDim = dimOf(leaves[plan.vectorDim]);
        std::vector<LayoutStep::Axis> axes;
        std::vector<bool> placed(shape.size(), false);
        const auto add = [&](std::int32_t dim) {
            if (dim < 0 || placed[dim] || dim == vectorDim)
                return;
            placed[dim] = true;
            axes.push_back({dim, 1, shape[dim]});
        };
        for (std::size_t d = 0; d < op.shape.size(); ++d) // what both sides share (winograd's positions) is outermost
            add(dimOf(leaves[d]));
        const std::int64_t group = plan.vectors * plan.lanes;
        axes.push_back({vectorDim, group, ir::ceilDivide(shape[vectorDim], group)});
        for (const std::int32_t r : plan.reduceOrder)
            add(dimOf(leaves[op.shape.size() + static_cast<std::size_t>(r)]));
        for (std::size_t d = 0; d < shape.size(); ++d) // dimensions read at a constant
            add(static_cast<std::int32_t>(d));
        axes.push_back({vectorDim, plan.lanes, plan.vectors});
        axes.push_back({vectorDim, 1, plan.lanes});
        return m_state.apply(LayoutStep{plan.packedInput, std::move(axes)});
    }

    const DefaultScheduleOptions& m_options;
};

} // namespace

Result<State> planDefaultSchedule(const compute::DagPtr& dag, const DefaultScheduleOptions& options)
{
    LATHE_TRY_ASSIGN(State state, DefaultScheduler(dag, options).run());
    LowerOptions check;
    check.constantInputs = options.constantInputs;
    LATHE_TRY(lower(state, check));
    return state;
}

Result<State> defaultSchedule(const compute::DagPtr& dag, const DefaultScheduleOptions& options)
{
    if (Result<State> planned = planDefaultSchedule(dag, options))
        return planned;
    State plain = State::initial(dag);
    LowerOptions check;
    check.constantInputs = options.constantInputs;
    LATHE_TRY(lower(plain, check));
    return plain;
}

} // namespace lathe::schedule
