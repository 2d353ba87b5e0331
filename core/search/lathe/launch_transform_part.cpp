#include "core/ir/bounds.h"
#include "core/search/lathe/launch_part.h"
#include "core/support/element_count.h"
#include "core/support/message.h"

#include <algorithm>
#include <cmath>

namespace lathe::search {

using namespace schedule;

namespace {

/// Winograd's transforms: each thread has the points of one tile, or of a few neighbouring channels of it, in
/// registers, all written out; so is the tile that is gathered first, and what a first pass over its rows makes of it.
class LaunchTransformPart final : public LaunchPart
{
public:
    LaunchTransformPart(const LaunchContext& context, const Nest& nest)
        : m_machine(context.machine)
        , m_dag(context.analysis.dag())
        , m_owner(nest.owner)
        , m_gather(nest.gather)
        , m_rows(nest.rows)
        , m_op(m_dag.ops[static_cast<std::size_t>(nest.owner)])
    {
        const std::vector<std::string> names = compute::attrNames(m_op, "auto_scheduler_simplify_const_tensor_indices");
        for (std::size_t a = 0; a < m_op.axes.size(); ++a) {
            const bool constant = std::find(names.begin(), names.end(), m_op.axes[a]->name) != names.end();
            (constant ? m_constant : m_free).push_back(static_cast<std::int32_t>(a));
        }
        if (!m_free.empty())
            for (const std::int64_t l : launchLanes(m_op.shape[last()], sizeOf(m_op.dtype), m_machine))
                if (l <= 4)
                    m_lanes.push_back(l);
        if (m_lanes.empty())
            m_lanes = {1};
        for (std::int64_t t = 32; t <= std::min<std::int64_t>(m_machine.maxThreads, 512); t *= 2)
            m_threads.push_back(t);
        if (m_threads.empty())
            m_threads = {m_machine.maxThreads};
        for (const std::int32_t a : m_constant)
            m_points *= static_cast<double>(m_op.shape[static_cast<std::size_t>(a)]);
        for (const std::int32_t a : m_free)
            m_tiles *= m_op.shape[static_cast<std::size_t>(a)];
    }

    std::vector<Parameter> parameters() const override
    {
        return {launchChoice("threads " + m_op.name, m_threads), launchChoice("lanes " + m_op.name, m_lanes)};
    }

    Result<LaunchFacts> facts(std::span<const std::int32_t> genes) const override
    {
        const std::int64_t threads = m_threads[static_cast<std::size_t>(genes[0])];
        const std::int64_t lanes = m_lanes[static_cast<std::size_t>(genes[1])];
        LaunchFacts f;
        const auto steps = static_cast<double>(compute::reduceSize(m_op));
        const double read = m_rows >= 0 ? steps * steps : steps; // elements of the tile that is gathered
        f.blocks = static_cast<double>(ir::ceilDivide(m_tiles / lanes, threads));
        f.threads = static_cast<double>(threads);
        f.lanes = static_cast<double>(lanes);
        f.sums = m_points * f.lanes;
        f.registers = 16 + (m_points + read) * f.lanes;
        if (!m_machine.isProcessor && f.registers > 2 * static_cast<double>(m_machine.registers))
            return makeError(Errc::IllegalSchedule, say(Msg::PointsOverRegisters));
        f.steps = steps;
        f.unrolled = m_points * read;
        f.flops = static_cast<double>(m_tiles) * m_points * steps;
        const auto bytes = static_cast<double>(sizeOf(m_op.dtype));
        f.bytes = static_cast<double>(m_tiles) * (m_points + read) * bytes;
        // About two thirds of the entries of a constant matrix are not zero, and half of these are 1.
        f.arithmetic = m_points * (m_rows >= 0 ? 2 * std::sqrt(read) : steps) * f.lanes * 4 / 9 + 2 * read;
        f.accesses = m_points + read;
        f.segments = f.accesses * static_cast<double>(m_machine.warp) * f.lanes * bytes / 32;
        f.waits = std::ceil(read / 16);
        f.finish(m_machine);
        return f;
    }

    void emit(std::span<const std::int32_t> genes, StepEmitter& emitter) const override
    {
        if (m_free.empty())
            return;
        const std::int64_t threads = m_threads[static_cast<std::size_t>(genes[0])];
        const std::int64_t lanes = m_lanes[static_cast<std::size_t>(genes[1])];
        const std::int32_t sums = emitter.cacheWrite(m_owner, "local"), owner = emitter.stageOf(m_owner);
        const auto rank = static_cast<std::int32_t>(m_op.shape.size());
        const auto reduces = static_cast<std::int32_t>(m_op.reduceAxes.size());
        const auto vector = static_cast<std::int32_t>(last());
        const auto outer = static_cast<std::int32_t>(m_free.size());

        StageLoops stores(emitter, owner, rank);
        stores.split(vector, m_op.shape[last()], {lanes});
        std::vector<LoopPart> order;
        for (const std::int32_t a : m_free)
            order.push_back({a, 0});
        for (const std::int32_t a : m_constant)
            order.push_back({a, 0});
        order.push_back({vector, 1});
        stores.reorder(order);
        if (outer > 1) {
            FuseStep fuse{owner, {}};
            for (std::int32_t i = 0; i < outer; ++i)
                fuse.iters.push_back(i);
            emitter.add(std::move(fuse));
        }
        emitter.add(SplitStep{owner, 0, m_tiles / lanes, {threads}, true});
        emitter.add(AnnotateStep{owner, 0, Annotation::BlockX});
        emitter.add(AnnotateStep{owner, 1, Annotation::ThreadX});
        const auto constants = static_cast<std::int32_t>(m_constant.size());
        for (std::int32_t i = 0; i < constants; ++i)
            emitter.add(AnnotateStep{owner, 2 + i, Annotation::Unroll});
        if (lanes > 1)
            emitter.add(AnnotateStep{owner, 2 + constants, Annotation::Vectorize});

        emitter.add(ComputeAtStep{sums, owner, 1});
        StageLoops adds(emitter, sums, rank + reduces);
        order.clear();
        for (const std::int32_t a : m_free)
            if (a != vector)
                order.push_back({a, 0});
        for (const std::int32_t a : m_constant)
            order.push_back({a, 0});
        for (std::int32_t r = 0; r < reduces; ++r)
            order.push_back({rank + r, 0});
        order.push_back({vector, 0});
        adds.reorder(order);
        for (const LoopPart& loop : order)
            if (loop.axis != vector)
                adds.annotate(loop, Annotation::Unroll);
        if (lanes > 1)
            adds.annotate({vector, 0}, Annotation::Vectorize);
        for (const std::int32_t op : {m_rows, m_gather})
            if (op >= 0)
                emitInside(op, owner, lanes, emitter);
    }

private:
    std::size_t last() const { return static_cast<std::size_t>(m_free.back()); }

    /// Everything written out; the last dimension, of channels, as lanes.
    void emitInside(std::int32_t op, std::int32_t owner, std::int64_t lanes, StepEmitter& emitter) const
    {
        const compute::Op& o = m_dag.ops[static_cast<std::size_t>(op)];
        const std::int32_t stage = emitter.stageOf(op);
        const auto rank = static_cast<std::int32_t>(o.shape.size());
        const auto reduces = static_cast<std::int32_t>(o.reduceAxes.size());
        emitter.add(ComputeAtStep{stage, owner, 1});
        StageLoops loops(emitter, stage, rank + reduces);
        std::vector<LoopPart> order;
        for (std::int32_t a = 0; a + 1 < rank; ++a)
            order.push_back({a, 0});
        for (std::int32_t r = 0; r < reduces; ++r)
            order.push_back({rank + r, 0});
        order.push_back({rank - 1, 0});
        loops.reorder(order);
        order.pop_back();
        for (const LoopPart& loop : order)
            loops.annotate(loop, Annotation::Unroll);
        if (lanes > 1)
            loops.annotate({rank - 1, 0}, Annotation::Vectorize);
    }

    LaunchMachine m_machine;
    const compute::Dag& m_dag;
    std::int32_t m_owner, m_gather, m_rows;
    const compute::Op& m_op;
    std::vector<std::int32_t> m_constant, m_free; ///< spatial axes
    std::vector<std::int64_t> m_threads, m_lanes;
    double m_points = 1;
    std::int64_t m_tiles = 1;
};

} // namespace

std::unique_ptr<LaunchPart> makeLaunchTransformPart(const LaunchContext& context, const Nest& nest)
{
    return std::make_unique<LaunchTransformPart>(context, nest);
}

} // namespace lathe::search
