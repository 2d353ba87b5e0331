#include "core/ir/bounds.h"
#include "core/search/lathe/nest_part.h"
#include "core/search/lathe/tile_part.h"

#include <algorithm>

namespace lathe::search {

using schedule::Annotation;

namespace {

/// Winograd's transforms of data and result: the points of a tile (axes named in the operation's attribute) are
/// unrolled entirely, vectors run along the last dimension, and the tile of the input is gathered into registers first;
/// so is what a first pass over its rows makes of it.
class TransformPart final : public NestPart
{
public:
    TransformPart(const NestContext& context, const Nest& nest)
        : m_machine(context.machine)
        , m_owner(nest.owner)
        , m_gather(nest.gather)
        , m_rows(nest.rows)
        , m_op(context.analysis.dag().ops[static_cast<std::size_t>(nest.owner)])
    {
        const std::vector<std::string> names = compute::attrNames(m_op, "auto_scheduler_simplify_const_tensor_indices");
        for (std::size_t a = 0; a < m_op.axes.size(); ++a) {
            const bool constant = std::find(names.begin(), names.end(), m_op.axes[a]->name) != names.end();
            (constant ? m_constant : m_free).push_back(static_cast<std::int32_t>(a));
        }
        m_last = m_free.empty() ? -1 : m_free.back();
        m_lanes = m_last < 0 ? std::vector<std::int64_t>{1}
                             : laneChoices(m_op.shape[static_cast<std::size_t>(m_last)], sizeOf(m_op.dtype), m_machine);
        m_points = static_cast<double>(compute::spatialSize(m_op));
        m_steps = static_cast<double>(compute::reduceSize(m_op));
        if (m_rows >= 0) {
            const compute::Op& rows = context.analysis.dag().ops[static_cast<std::size_t>(m_rows)];
            m_rowsSteps = static_cast<double>(compute::reduceSize(rows) * compute::spatialSize(rows)) / m_points;
        }
    }

    std::vector<Parameter> parameters() const override
    {
        const std::string where = " " + m_op.name;
        const auto choice = [&](const char* name, std::vector<std::int64_t> values) {
            return Parameter{name + where, Parameter::Kind::Choice, static_cast<std::int32_t>(values.size()), nullptr,
                             std::move(values)};
        };
        return {choice("lanes", m_lanes), choice("order", {0, 1}), choice("parallel", {0, 1, 2}),
                choice("stride pad", {0, 16})};
    }

    Result<NestFacts> facts(std::span<const std::int32_t> genes) const override
    {
        NestFacts f;
        f.lanes = static_cast<double>(m_lanes[static_cast<std::size_t>(genes[0])]);
        f.order = genes[1];
        std::int64_t running = 0;
        for (const LoopPart& loop : outerLoops(genes)) {
            const std::int64_t e = extentOf(loop, genes);
            if (e > 1 && running < genes[2]) {
                ++running;
                f.parallelChunks *= static_cast<double>(e);
            }
        }
        if (running < genes[2])
            return makeError(Errc::IllegalSchedule, "there are no " + std::to_string(genes[2]) + " loops to share out");
        double tile = 1;
        for (const std::int32_t a : m_constant)
            tile *= static_cast<double>(m_op.shape[static_cast<std::size_t>(a)]);
        f.accumulators = tile;
        f.registers = 2 * tile;
        f.reduceSteps = m_steps;
        // About two thirds of the entries of a constant matrix are not zero.
        f.bodySize = m_rows >= 0 ? tile * (m_steps + m_rowsSteps) * 2 / 3 : tile * m_steps * 4 / 9;
        f.flops = m_points * (m_steps + m_rowsSteps);
        const double operand = m_rows >= 0 ? m_steps * m_steps : m_steps; // elements of a tile that is read
        f.bytesTouched = (m_points + m_points / tile * operand) * static_cast<double>(sizeOf(m_op.dtype));
        f.traffic[0] = f.bytesTouched;
        f.balance = genes[2] == 0 ? static_cast<double>(m_machine.threads)
                                  : imbalance(f.parallelChunks, m_machine.threads);
        const double share = f.balance / static_cast<double>(m_machine.threads);
        f.computeCycles = m_points / tile / f.lanes * (f.bodySize / m_machine.fmaPerCycle * 1.3 + 3 * tile) * share;
        const std::size_t level = f.bytesTouched * share < m_machine.cacheBytes[1] ? 1 : 2;
        f.memoryCycles = f.bytesTouched * share / m_machine.bytesPerCycle[level] * (genes[3] == 0 ? 1.06 : 1.0);
        finishFacts(f, m_machine);
        return f;
    }

    void emit(std::span<const std::int32_t> genes, StepEmitter& emitter) const override
    {
        const std::int64_t lanes = m_lanes[static_cast<std::size_t>(genes[0])];
        const std::int32_t anchorStage = emitter.cacheWrite(m_owner, "local");
        const std::int32_t ownerStage = emitter.stageOf(m_owner);
        const auto rank = static_cast<std::int32_t>(m_op.shape.size());
        const auto reduces = static_cast<std::int32_t>(m_op.reduceAxes.size());
        StageLoops anchor(emitter, anchorStage, rank + reduces), owner(emitter, ownerStage, rank);
        const std::vector<LoopPart> outer = outerLoops(genes);
        for (StageLoops* loops : {&anchor, &owner}) {
            if (m_last >= 0)
                loops->cover(m_last, m_op.shape[static_cast<std::size_t>(m_last)], {lanes});
            std::vector<LoopPart> order = outer;
            for (const std::int32_t a : m_constant)
                order.push_back({a, 0});
            if (loops == &anchor)
                for (std::int32_t r = 0; r < reduces; ++r)
                    order.push_back({rank + r, 0});
            if (m_last >= 0)
                order.push_back({m_last, 1});
            loops->reorder(order);
        }
        if (outer.empty())
            return;
        const std::int32_t at = owner.position(outer.back());
        emitter.add(schedule::ComputeAtStep{anchorStage, ownerStage, at});
        for (StageLoops* loops : {&anchor, &owner}) {
            for (const std::int32_t a : m_constant)
                loops->annotate({a, 0}, Annotation::Unroll);
            if (loops == &anchor)
                for (std::int32_t r = 0; r < reduces; ++r)
                    loops->annotate({rank + r, 0}, Annotation::Unroll);
            if (m_last >= 0 && lanes > 1)
                loops->annotate({m_last, 1}, Annotation::Vectorize);
        }
        if (m_rows >= 0)
            emitRows(lanes, ownerStage, at, emitter);
        if (m_gather >= 0)
            emitGather(lanes, ownerStage, at, emitter);
        if (genes[3] != 0 && m_op.shape.size() >= 2)
            emitter.add(schedule::PadStrideStep{ownerStage, 1, 16});
        std::int32_t count = 0, running = 0;
        while (static_cast<std::size_t>(count) < outer.size() && running < genes[2])
            running += extentOf(outer[static_cast<std::size_t>(count++)], genes) > 1 ? 1 : 0;
        if (genes[2] > 0) {
            owner.fuseOuter(count);
            owner.annotateOutermost(Annotation::Parallel);
        }
    }

private:
    std::vector<LoopPart> outerLoops(std::span<const std::int32_t> genes) const
    {
        std::vector<LoopPart> outer;
        for (const std::int32_t a : m_free)
            outer.push_back({a, 0});
        if (genes[1] == 1)
            std::reverse(outer.begin(), outer.end());
        return outer;
    }
    std::int64_t extentOf(LoopPart loop, std::span<const std::int32_t> genes) const
    {
        const std::int64_t full = m_op.shape[static_cast<std::size_t>(loop.axis)];
        return loop.axis == m_last ? ir::ceilDivide(full, m_lanes[static_cast<std::size_t>(genes[0])]) : full;
    }
    /// The gathered tile has the shape of the operation's operand: tile rows, tile columns, tile number, channel.
    void emitGather(std::int64_t lanes, std::int32_t ownerStage, std::int32_t at, StepEmitter& emitter) const
    {
        const std::int32_t stage = emitter.stageOf(m_gather);
        StageLoops loops(emitter, stage, 4);
        loops.split(3, m_op.shape.back(), {lanes});
        emitter.add(schedule::ComputeAtStep{stage, ownerStage, at});
        loops.annotate({0, 0}, Annotation::Unroll);
        loops.annotate({1, 0}, Annotation::Unroll);
        if (lanes > 1)
            loops.annotate({3, 1}, Annotation::Vectorize);
    }

    /// rows, columns, tile number, channel | sum
    void emitRows(std::int64_t lanes, std::int32_t ownerStage, std::int32_t at, StepEmitter& emitter) const
    {
        const std::int32_t stage = emitter.stageOf(m_rows);
        StageLoops loops(emitter, stage, 5);
        loops.reorder({{2, 0}, {0, 0}, {1, 0}, {4, 0}, {3, 0}});
        emitter.add(schedule::ComputeAtStep{stage, ownerStage, at});
        for (const std::int32_t axis : {0, 1, 4})
            loops.annotate({axis, 0}, Annotation::Unroll);
        if (lanes > 1)
            loops.annotate({3, 0}, Annotation::Vectorize);
    }

    Machine m_machine;
    std::int32_t m_owner, m_gather, m_rows;
    const compute::Op& m_op;
    std::vector<std::int32_t> m_constant, m_free; ///< spatial axes
    std::int32_t m_last = -1;
    std::vector<std::int64_t> m_lanes;
    double m_points = 1, m_steps = 1;
    double m_rowsSteps = 0; ///< of the first pass, by points of the result
};

} // namespace

std::unique_ptr<NestPart> makeTransformPart(const NestContext& context, const Nest& nest)
{
    return std::make_unique<TransformPart>(context, nest);
}

std::unique_ptr<NestPart> makeTilePart(const NestContext& context, const Nest& nest)
{
    return std::make_unique<TilePart>(context, nest);
}

} // namespace lathe::search
