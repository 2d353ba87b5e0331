#include "core/schedule/reduction_plan.h"

#include "core/ir/linear_form.h"
#include "core/ir/substitute.h"
#include "core/support/element_count.h"

#include <algorithm>

namespace lathe::schedule {

namespace {

using ir::Expr;
using ir::ExprKind;

class Planner
{
public:
    Planner(const State& state, const ProgramBounds& program, std::int32_t id, std::int32_t storedBy,
            const DefaultScheduleOptions& options)
        : m_state(state)
        , m_storedBy(storedBy)
        , m_ranges(program.ranges)
        , m_bounds(program.stages[id])
        , m_op(state.dag()->ops[id])
        , m_options(options)
    {
        for (const Expr& body : m_bounds.bodies)
            ir::visit(body, [this](const Expr& e) {
                if (e->kind == ExprKind::Load)
                    m_loads.push_back(e);
                else if (e->kind == ExprKind::IfThenElse || e->kind == ExprKind::Select)
                    m_conditions.push_back(e->operands[0]);
            });
    }

    ReductionPlan run()
    {
        const auto rank = static_cast<std::int32_t>(m_op.shape.size());
        int best = 0;
        for (std::int32_t d = rank; d-- > 0;) {
            const int score = vectorScore(d);
            if (score > best) {
                best = score;
                m_plan.vectorDim = d;
            }
        }
        if (m_plan.vectorDim >= 0)
            m_plan.lanes = pickLanes(m_op.shape[m_plan.vectorDim], smallestBlock());
        pickPixelDim();
        pickTile();
        orderReduceAxes();
        pickPacked();
        m_plan.partition = m_plan.pixelDim >= 0 && inConditions(axis(m_plan.pixelDim));
        return m_plan;
    }

private:
    const Expr& axis(std::int32_t d) const { return m_bounds.leaves[d]; }
    bool reads(const Expr& load, const Expr& v) const { return ir::uses(load, v); }
    bool inConditions(const Expr& v) const
    {
        return std::any_of(m_conditions.begin(), m_conditions.end(), [&v](const Expr& c) { return ir::uses(c, v); });
    }
    std::int64_t reduceSize() const { return elementCount(m_op.reduceExtents); }

    bool isPackable(const Expr& load) const
    {
        const auto& inputs = m_state.dag()->inputs;
        for (std::size_t i = 0; i < inputs.size(); ++i)
            if (inputs[i] == load->source && i < m_options.constantInputs.size() && m_options.constantInputs[i])
                return std::all_of(load->operands.begin(), load->operands.end(), [](const Expr& index) {
                    return index->kind == ExprKind::Var || index->kind == ExprKind::IntImm;
                });
        return false;
    }

    /// Along `v`: not read, or next to each other.
    bool isContiguous(const Expr& load, const Expr& v) const
    {
        const Stage& source = m_state.stages()[load->source];
        if (!source.layout.empty()) { // only the innermost physical axis may move with v, as v itself
            const std::int32_t inner = contiguousDim(m_state, load->source);
            for (std::size_t i = 0; i < load->operands.size(); ++i)
                if (ir::uses(load->operands[i], v)
                    && (static_cast<std::int32_t>(i) != inner || !load->operands[i].same(v)))
                    return false;
            return true;
        }
        for (std::size_t i = 0; i < load->operands.size(); ++i) {
            if (!ir::uses(load->operands[i], v))
                continue;
            const ir::LinearForm form = linearForm(load->operands[i], m_ranges);
            if (i + 1 != load->operands.size() || form.coefficientOf(v) != 1)
                return false;
        }
        return true;
    }

    int vectorScore(std::int32_t d) const
    {
        const std::int64_t extent = m_op.shape[d];
        // Padding along the vectors makes masked loads: better than no vectors, worse than any other dimension.
        const bool masked = inConditions(axis(d));
        if (extent < 4 || (masked && d != contiguousDim(m_state, m_storedBy)))
            return 0;
        for (const Expr& load : m_loads)
            if (reads(load, axis(d)) && !isContiguous(load, axis(d)) && !isPackable(load))
                return 0;
        if (masked)
            return 1;
        const bool divides = extent % 4 == 0;
        if (d == contiguousDim(m_state, m_storedBy))
            return divides ? 4 : 2;
        // Stores then scatter: fine where a long reduction stands before each.
        return reduceSize() >= 32 ? (divides ? 3 : 2) : 0;
    }

    /// Vectors do not reach over a block of the layouts that they run along.
    std::int64_t smallestBlock() const
    {
        std::int64_t block = lanesFor(m_bounds.bodies, m_op.dtype, m_options);
        const auto consider = [&](std::int32_t id) {
            const auto& layout = m_state.stages()[id].layout;
            if (!layout.empty())
                block = std::min(block, layout.back().extent);
        };
        consider(m_storedBy);
        for (const Expr& load : m_loads)
            if (reads(load, axis(m_plan.vectorDim)) && !isPackable(load))
                consider(load->source);
        return block;
    }

    void pickPixelDim()
    {
        // Pixels share what is read along the vector dimension (weights).
        for (std::int32_t d = static_cast<std::int32_t>(m_op.shape.size()); d-- > 0;) {
            if (d == m_plan.vectorDim || m_op.shape[d] == 1)
                continue;
            const bool shares = std::any_of(m_loads.begin(), m_loads.end(), [&](const Expr& load) {
                return !reads(load, axis(d)) && (m_plan.vectorDim < 0 || reads(load, axis(m_plan.vectorDim)));
            });
            if (shares) {
                m_plan.pixelDim = d;
                return;
            }
        }
        if (m_plan.vectorDim >= 0)
            return;
        // Neither vectors nor reuse: several sums in flight hide the latency of one.
        for (std::int32_t d = static_cast<std::int32_t>(m_op.shape.size()); d-- > 0 && m_plan.pixelDim < 0;)
            if (m_op.shape[d] > 1 && !inConditions(axis(d)))
                m_plan.pixelDim = d;
    }

    /// Fewest loads per multiply-add among tiles that fit the registers and keep enough sums in flight.
    void pickTile()
    {
        const std::int64_t groups = m_plan.vectorDim < 0 ? 1
                                                         : ir::ceilDivide(m_op.shape[m_plan.vectorDim], m_plan.lanes);
        const std::int64_t width = m_plan.pixelDim < 0 ? 1 : m_op.shape[m_plan.pixelDim];
        std::int64_t outside = 1;
        for (std::int32_t d = 0; d < static_cast<std::int32_t>(m_op.shape.size()); ++d)
            outside *= d == m_plan.vectorDim || d == m_plan.pixelDim ? 1 : m_op.shape[d];
        const std::int64_t sums = m_options.vectorRegisters - m_options.vectorRegisters / 8;
        double best = -1;
        for (std::int64_t v = 1; v <= 8 && v <= groups; ++v) {
            if (groups % v != 0)
                continue;
            for (std::int64_t p = 1; p <= sums && p <= width; ++p) {
                if (width % p != 0 || p * v > sums || p * v + v + 1 > m_options.vectorRegisters || (v > 6 && p > 1))
                    continue;
                const double count = static_cast<double>(p * v);
                const double perLoad = count / static_cast<double>(p + v);
                const double busy = std::min(1.0, count / 12.0);
                // Tiles so large that threads would stand idle are no gain.
                const std::int64_t tiles = outside * (groups / v) * (width / p);
                const double shared = std::min(1.0,
                                               static_cast<double>(tiles) / static_cast<double>(m_options.threads));
                const double score = shared * (busy * std::min(perLoad, 1.75) + 0.001 * count);
                if (score > best) {
                    best = score;
                    m_plan.vectors = v;
                    m_plan.pixels = p;
                }
            }
        }
    }

    /// Taps outside, channels inside: an axis that stands alone in an index moves along memory.
    void orderReduceAxes()
    {
        const auto rank = static_cast<std::int32_t>(m_op.shape.size());
        std::vector<std::int32_t> alone;
        for (std::int32_t r = 0; r < static_cast<std::int32_t>(m_op.reduceExtents.size()); ++r) {
            const Expr& v = m_bounds.leaves[rank + r];
            bool shared = false;
            for (const Expr& load : m_loads)
                for (const Expr& index : load->operands)
                    shared |= ir::uses(index, v) && index->kind != ExprKind::Var;
            if (shared)
                m_plan.reduceOrder.push_back(r);
            else
                alone.push_back(r);
        }
        // Taps alone (depthwise): those of a row stand in one body and share what neighbouring pixels read.
        const bool tapsOnly = alone.empty() && !m_plan.reduceOrder.empty();
        m_plan.unrollLast = tapsOnly && m_plan.pixelDim >= 0 && m_op.reduceExtents[m_plan.reduceOrder.back()] <= 7;
        m_plan.reduceOrder.insert(m_plan.reduceOrder.end(), alone.begin(), alone.end());
        for (const Expr& load : m_loads) {
            const auto& layout = m_state.stages()[load->source].layout;
            const std::int32_t inner = contiguousDim(m_state, load->source);
            if (!layout.empty() && inner >= 0 && !alone.empty()
                && load->operands[inner].same(m_bounds.leaves[rank + alone.back()]))
                m_plan.reduceBlock = layout.back().extent;
        }
    }

    void pickPacked()
    {
        for (const Expr& load : m_loads) {
            const std::int64_t bytes = elementCount(m_state.dag()->ops[load->source].shape) * sizeOf(load->dtype);
            const bool alongVectors = m_plan.vectorDim >= 0 && reads(load, axis(m_plan.vectorDim));
            if (m_plan.packedInput < 0 && alongVectors && isPackable(load) && readOnce(load->source)) {
                m_plan.packedInput = load->source;
                m_plan.packedBytes = bytes;
            } else
                m_plan.otherBytes += bytes;
        }
    }

    /// By one load of one operation, with distinct variables: then the loops decide the layout alone.
    bool readOnce(std::int32_t source) const
    {
        int count = 0;
        for (const compute::Op& op : m_state.dag()->ops)
            for (const Expr& body : op.bodies)
                ir::visit(body,
                          [&](const Expr& e) { count += e->kind == ExprKind::Load && e->source == source ? 1 : 0; });
        std::vector<const ir::Node*> seen;
        for (const Expr& load : m_loads) {
            if (load->source != source)
                continue;
            for (const Expr& index : load->operands)
                if (index->kind == ExprKind::Var)
                    seen.push_back(index.get());
        }
        std::sort(seen.begin(), seen.end());
        return count == 1 && std::adjacent_find(seen.begin(), seen.end()) == seen.end();
    }

    const State& m_state;
    std::int32_t m_storedBy; ///< the stage whose tensor the tile is stored to
    const ir::Ranges& m_ranges;
    const StageBounds& m_bounds;
    const compute::Op& m_op;
    const DefaultScheduleOptions& m_options;
    std::vector<Expr> m_loads;
    std::vector<Expr> m_conditions;
    ReductionPlan m_plan;
};

} // namespace

std::int64_t pickLanes(std::int64_t extent, std::int64_t lanes)
{
    for (std::int64_t l = lanes; l >= 4 && l >= lanes / 4; l /= 2)
        if (extent % l == 0)
            return l;
    std::int64_t l = lanes;
    while (l > extent)
        l /= 2;
    return l >= 4 ? l : 1;
}

std::int64_t lanesFor(std::span<const Expr> bodies, DType result, const DefaultScheduleOptions& options)
{
    const auto bytesOf = [](DType dtype) {
        return isFloat(dtype) ? std::max<std::int64_t>(4, sizeOf(dtype)) : sizeOf(dtype);
    };
    std::int64_t widest = bytesOf(result);
    // Not into loads: what is read there are indices.
    const auto consider = [&](const auto& self, const Expr& e) -> void {
        if (e->kind == ExprKind::Load) {
            widest = std::max(widest, bytesOf(e->dtype));
            return;
        }
        for (const Expr& operand : e->operands)
            self(self, operand);
    };
    for (const Expr& body : bodies)
        consider(consider, body);
    return std::max<std::int64_t>(1, options.vectorLanes * 4 / widest);
}

std::int32_t contiguousDim(const State& state, std::int32_t id)
{
    const auto& layout = state.stages()[id].layout;
    if (layout.empty())
        return static_cast<std::int32_t>(state.dag()->ops[id].shape.size()) - 1;
    return layout.back().div == 1 ? layout.back().dim : -1;
}

ReductionPlan planReduction(const State& state, const ProgramBounds& bounds, std::int32_t id, std::int32_t storedBy,
                            const DefaultScheduleOptions& options)
{
    return Planner(state, bounds, id, storedBy, options).run();
}

} // namespace lathe::schedule
