#include "core/ir/bounds.h"
#include "core/ir/substitute.h"
#include "core/search/lathe/access.h"
#include "core/search/lathe/nest_part.h"

#include <algorithm>
#include <cmath>

namespace lathe::search {

using schedule::Annotation;

std::vector<std::int64_t> laneChoices(std::int64_t extent, std::int64_t elementBytes, const Machine& machine)
{
    const std::int64_t full = std::max<std::int64_t>(1, machine.vectorBytes / elementBytes);
    std::vector<std::int64_t> lanes;
    for (std::int64_t l = full; l >= 4 || l == full; l /= 2) {
        if (extent % l == 0 || (l == full && extent > l))
            lanes.push_back(l);
        if (l == 1)
            break;
    }
    if (lanes.empty())
        lanes.push_back(widestDivisor(extent, elementBytes, machine));
    return lanes;
}

std::int64_t widestDivisor(std::int64_t extent, std::int64_t elementBytes, const Machine& machine)
{
    const std::int64_t full = std::max<std::int64_t>(1, machine.vectorBytes / elementBytes);
    const std::vector<std::int64_t> all = divisors(extent);
    return *std::find_if(all.rbegin(), all.rend(), [&](std::int64_t d) { return d <= full; });
}

double imbalance(double chunks, std::int64_t threads)
{
    const double t = static_cast<double>(threads);
    return std::ceil(chunks / t) * t / chunks;
}

void finishFacts(NestFacts& facts, const Machine& machine)
{
    // What memory does not hide shows; prefetched weights hide nearly all of it.
    const double hidden = facts.prefetchBytes > 0 ? 0.85 : 0.6;
    const double less = std::min(facts.computeCycles, facts.memoryCycles);
    const double more = std::max(facts.computeCycles, facts.memoryCycles);
    const double dispatch = 300; // a barrier, and the loops' set-up
    facts.seconds = (more + (1 - hidden) * less + dispatch) / machine.cyclesPerSecond;
}

void emitMap(StepEmitter& emitter, std::int32_t stage, const std::vector<std::int64_t>& shape, std::int64_t lanes,
             std::int64_t vectors, std::int64_t depth, bool cut, std::int32_t along)
{
    const auto rank = static_cast<std::int32_t>(shape.size());
    if (rank == 0)
        return;
    StageLoops loops(emitter, stage, rank);
    const std::int32_t last = rank - 1;
    const bool blocked = vectors > 1;
    const bool vector = lanes > 1;
    if (blocked)
        loops.cover(last, shape.back(), {vectors, lanes});
    else if (vector)
        loops.cover(last, shape.back(), {lanes});
    const bool strides = along >= 0 && vector;
    if (strides) {
        std::vector<LoopPart> order;
        for (std::int32_t a = 0; a < rank; ++a)
            if (a != along)
                order.push_back({a, 0});
        order.push_back({along, 0});
        order.push_back({last, 1});
        loops.reorder(std::move(order));
    }
    // Fuse the outermost loops until `depth` of them run more than once.
    std::int32_t count = 0;
    std::int64_t running = 0;
    for (std::int32_t a = 0; a < rank - (cut ? 1 : 0) && running < depth; ++a) {
        if (strides && a == along)
            continue;
        const std::int64_t extent = a < last ? shape[static_cast<std::size_t>(a)]
                                             : ir::ceilDivide(shape.back(), lanes * vectors);
        if (a == last && !vector && !blocked)
            break; // a loop of single elements stays inside
        ++count;
        if (extent > 1)
            ++running;
    }
    if (count > 0 && depth > 0) {
        loops.fuseOuter(count);
        loops.annotateOutermost(Annotation::Parallel);
    }
    if (blocked)
        loops.annotate({last, 1}, Annotation::Unroll);
    if (vector)
        loops.annotate({last, blocked ? 2 : 1}, Annotation::Vectorize);
    if (cut && vector)
        emitter.add(schedule::PartitionStep{stage, loops.position({last, 0})});
}

namespace {

/// Whether what `op` reads depends on the place along its last dimension: a concatenation, by itself or on the way to
/// it.
bool joinsPieces(const compute::Analysis& analysis, std::int32_t op)
{
    const compute::Op& o = analysis.dag().ops[static_cast<std::size_t>(op)];
    if (o.kind == compute::OpKind::Placeholder || o.shape.empty() || !o.reduceAxes.empty())
        return false;
    if (analysis.op(op).hasBranch)
        for (const ir::Expr& body : o.bodies) {
            bool found = false;
            ir::visit(body, [&](const ir::Expr& e) {
                found = found || (e->kind == ir::ExprKind::IfThenElse && ir::uses(e->operands[0], o.axes.back()));
            });
            if (found)
                return true;
        }
    const std::vector<std::int32_t> producers = analysis.producers(op);
    return std::any_of(producers.begin(), producers.end(),
                       [&](std::int32_t p) { return analysis.elementwiseMatch(p, op) && joinsPieces(analysis, p); });
}

/// Elementwise and other maps: lanes and vectors along the last dimension, and how many outer loops are shared out.
class MapPart final : public NestPart
{
public:
    MapPart(const NestContext& context, const Nest& nest)
        : m_machine(context.machine)
        , m_owner(nest.owner)
        , m_op(context.analysis.dag().ops[static_cast<std::size_t>(nest.owner)])
    {
        const std::int64_t extent = m_op.shape.empty() ? 1 : m_op.shape.back();
        m_cut = m_op.shape.size() > 1 && joinsPieces(context.analysis, nest.owner);
        m_lanes = laneChoices(extent, std::max<std::int64_t>(1, sizeOf(m_op.dtype)), m_machine);
        for (const std::int64_t v : {1, 2, 4})
            if (v == 1 || extent % (v * m_lanes.front()) == 0 || extent >= 4 * v * m_lanes.front())
                m_vectors.push_back(v);
        if (!m_cut && m_lanes.front() > 1)
            m_along = transposedAxis(context.analysis.dag(), nest.owner);
        if (m_cut || m_along >= 0)
            m_vectors = {1}; // a block of vectors would reach over the ends of pieces
        for (std::int64_t d = 0; d <= 3; ++d)
            m_depths.push_back(d);
        for (const Operand& operand : operandsOf(context.analysis.dag(), nest.owner)) {
            std::int64_t elements = 1;
            for (const std::int64_t e : operand.shape)
                elements *= e;
            m_bytes += static_cast<double>(elements * operand.elementBytes);
        }
        m_points = static_cast<double>(compute::spatialSize(m_op));
        m_bytes += m_points * static_cast<double>(sizeOf(m_op.dtype));
    }

    std::vector<Parameter> parameters() const override
    {
        const std::string where = " " + m_op.name;
        const auto choice = [&](const char* name, const std::vector<std::int64_t>& values) {
            return Parameter{name + where, Parameter::Kind::Choice, static_cast<std::int32_t>(values.size()), nullptr,
                             values};
        };
        return {choice("lanes", m_lanes), choice("vectors", m_vectors), choice("parallel", m_depths)};
    }

    Result<NestFacts> facts(std::span<const std::int32_t> genes) const override
    {
        NestFacts f;
        f.lanes = static_cast<double>(m_lanes[static_cast<std::size_t>(genes[0])]);
        f.vectors = static_cast<double>(m_vectors[static_cast<std::size_t>(genes[1])]);
        const std::int64_t depth = m_depths[static_cast<std::size_t>(genes[2])];
        const std::int64_t extent = m_op.shape.empty() ? 1 : m_op.shape.back();
        const auto block = static_cast<std::int64_t>(f.lanes * f.vectors);
        if (extent % block != 0 && extent < block)
            return makeError(Errc::IllegalSchedule,
                             "vectors of " + std::to_string(block) + " do not divide " + std::to_string(extent));
        std::int64_t running = 0;
        for (std::size_t a = 0; a < m_op.shape.size() - (m_cut ? 1 : 0) && running < depth; ++a) {
            const bool last = a + 1 == m_op.shape.size();
            if (f.lanes > 1 && static_cast<std::int32_t>(a) == m_along)
                continue;
            const std::int64_t e = last ? ir::ceilDivide(extent, block) : m_op.shape[a];
            if (e > 1 && !(last && block == 1)) {
                ++running;
                f.parallelChunks *= static_cast<double>(e);
            }
        }
        if (running < depth)
            return makeError(Errc::IllegalSchedule, "there are no " + std::to_string(depth) + " loops to share out");
        f.flops = m_points;
        f.bytesTouched = m_bytes;
        f.accumulators = f.registers = f.vectors + 1;
        f.bodySize = 3 * f.vectors;
        f.balance = depth == 0 ? static_cast<double>(m_machine.threads)
                               : imbalance(f.parallelChunks, m_machine.threads);
        const double share = f.balance / static_cast<double>(m_machine.threads);
        // Elements that lie apart come one by one.
        f.computeCycles = m_points / f.lanes * (2 + 1 / f.vectors + (m_along >= 0 ? f.lanes / 2 : 0)) * share;
        const std::size_t level = m_bytes * share < m_machine.cacheBytes[1] ? 1
                                  : m_bytes < m_machine.cacheBytes[2]       ? 2
                                                                            : 3;
        f.traffic[0] = m_bytes;
        f.memoryCycles = m_bytes * share / m_machine.bytesPerCycle[level];
        finishFacts(f, m_machine);
        return f;
    }

    void emit(std::span<const std::int32_t> genes, StepEmitter& emitter) const override
    {
        emitMap(emitter, emitter.stageOf(m_owner), m_op.shape, m_lanes[static_cast<std::size_t>(genes[0])],
                m_vectors[static_cast<std::size_t>(genes[1])], m_depths[static_cast<std::size_t>(genes[2])], m_cut,
                m_along);
    }

private:
    const Machine m_machine;
    std::int32_t m_owner;
    const compute::Op& m_op;
    bool m_cut = false;
    std::int32_t m_along = -1;
    std::vector<std::int64_t> m_lanes, m_vectors, m_depths;
    double m_points = 1, m_bytes = 0;
};

} // namespace

std::unique_ptr<NestPart> makeMapPart(const NestContext& context, const Nest& nest)
{
    return std::make_unique<MapPart>(context, nest);
}

} // namespace lathe::search
