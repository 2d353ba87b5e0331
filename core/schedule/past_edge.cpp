#include "core/schedule/past_edge.h"

#include "core/ir/linear_form.h"
#include "core/ir/padded_load.h"
#include "core/ir/simplify.h"
#include "core/ir/substitute.h"
#include "core/schedule/conditions.h"

#include <algorithm>
#include <unordered_map>

namespace lathe::schedule {

using ir::Expr;
using ir::ExprKind;

namespace {

using Conditions = std::vector<Expr>;

class EdgeRemover
{
public:
    EdgeRemover(const Lowering& lowering, std::int32_t stage)
        : m_lowering(lowering)
        , m_stage(stage)
        , m_ranges(lowering.program.ranges)
    {
        for (std::size_t id = 0; id < lowering.program.stages.size(); ++id) {
            const std::vector<Expr>& leaves = lowering.program.stages[id].leaves;
            for (std::size_t i = 0; i < leaves.size(); ++i)
                m_iterators[leaves[i].get()] = &lowering.stage(static_cast<std::int32_t>(id)).iters[i];
        }
    }

    Expr run(Expr value, Conditions& guards)
    {
        const bool isLaunched = m_lowering.form == KernelForm::Launches;
        for (std::size_t g = 0; g < guards.size();) {
            if (reduces(guards[g])) {
                ++g;
                continue;
            }
            m_guard = guards[g];
            m_known.clear();
            // All others hold for each load that needs them: around the sum, or at the load.
            for (std::size_t other = 0; isLaunched && other < guards.size(); ++other)
                if (other != g)
                    m_known.push_back(guards[other]);
            const Expr safe = guarded(value, isLaunched);
            if (safe.get() == value.get() || (isLaunched && differsInThread(m_guard))) {
                value = safe;
                guards.erase(guards.begin() + static_cast<std::ptrdiff_t>(g));
            } else
                ++g;
        }
        return value;
    }

private:
    const Iterator* iteratorOf(const ir::Node* variable) const
    {
        const auto found = m_iterators.find(variable);
        return found == m_iterators.end() ? nullptr : found->second;
    }

    bool reduces(const Expr& guard) const
    {
        const std::vector<Expr>& leaves = m_lowering.program.stages[static_cast<std::size_t>(m_stage)].leaves;
        return ir::usesAny(guard, [&](const ir::Node* variable) {
            const Iterator* const iterator = iteratorOf(variable);
            return iterator != nullptr && iterator->kind == IterKind::Reduction
                   && std::ranges::any_of(leaves, [&](const Expr& leaf) { return leaf.get() == variable; });
        });
    }

    bool differsInThread(const Expr& guard) const
    {
        return ir::usesAny(guard, [this](const ir::Node* variable) {
            const Iterator* const iterator = iteratorOf(variable);
            return iterator != nullptr && loopKind(iterator->annotation) < ir::LoopKind::BlockX;
        });
    }

    bool movesWithEdge(const Expr& index) const
    {
        return ir::usesAny(index, [this](const ir::Node* variable) {
            return ir::usesAny(m_guard, [variable](const ir::Node* of) { return of == variable; });
        });
    }

    /// `e` with the guard at each load that does not exist without it; `e` itself where there is none.
    Expr guarded(const Expr& e, bool withConditions)
    {
        if (e->kind == ExprKind::Load && !exists(e))
            return ir::ifThenElse(m_guard, e, ir::cast(e->dtype, 0));
        std::vector<Expr> operands;
        bool isSame = true;
        for (std::size_t i = 0; i < e->operands.size(); ++i) {
            const std::size_t outside = m_known.size();
            // Of a Select code may compute both values.
            const bool isChosen = e->kind == ExprKind::IfThenElse && i == 1 && withConditions;
            if (isChosen)
                flattenConjunction(e->operands[0], m_known);
            const Expr& old = e->operands[i];
            // Whatever the number is: nobody reads what it comes to past the edge.
            if (isChosen && ir::isPaddedLoad(e) && !exists(old)) {
                m_known.resize(outside);
                return ir::ifThenElse(operands[0] && m_guard, old, e->operands[2]);
            }
            operands.push_back(guarded(old, withConditions));
            isSame = isSame && operands.back().get() == old.get();
            m_known.resize(outside);
        }
        return isSame ? e : ir::withOperands(e, std::move(operands));
    }

    /// Whether there is an element where a load goes beyond the guard.
    bool exists(const Expr& load) const
    {
        for (std::size_t d = 0; d < load->operands.size(); ++d)
            if (movesWithEdge(load->operands[d]) && !isHeld(load->source, d, load->operands[d]))
                return false;
        return true;
    }

    /// Elements that a tensor's buffer holds along a dimension: a layout may have more than the shape.
    std::int64_t capacity(std::int32_t id, std::size_t dim) const
    {
        std::int64_t elements = m_lowering.op(id).shape[dim];
        for (const LayoutStep::Axis& axis : m_lowering.stage(id).layout)
            if (axis.dim == static_cast<std::int32_t>(dim))
                elements = std::max(elements, axis.div * axis.extent);
        return elements;
    }

    /// Whether there is an element at these places along a dimension of a tensor, beyond its edge too where its tile
    /// has them.
    bool isHeld(std::int32_t source, std::size_t d, const Expr& index) const
    {
        if (isWithin(index, capacity(source, d)))
            return true;
        if (!fillsWholeTile(m_lowering, source))
            return false;
        const StageBounds& bounds = m_lowering.program.stages[static_cast<std::size_t>(source)];
        const ir::Interval within = ir::boundsOf(ir::simplify(index - bounds.mins[d], m_ranges), m_ranges);
        return within.lo >= 0 && within.hi < bounds.region[d];
    }

    /// Whether 0 <= index < count, always or under what is known.
    bool isWithin(const Expr& index, std::int64_t count) const
    {
        const ir::Interval range = ir::boundsOf(index, m_ranges);
        const ir::LinearForm place = ir::linearForm(index, m_ranges);
        ir::LinearForm left = place;
        left.scale(-1);
        left.constant += count - 1;
        return (range.lo >= 0 || isImplied(place)) && (range.hi < count || isImplied(left));
    }

    /// Whether form >= 0 follows from one of the conditions that are known.
    bool isImplied(const ir::LinearForm& form) const
    {
        return std::ranges::any_of(m_known, [&](const Expr& condition) {
            ir::LinearForm known, rest = form;
            if (!ir::asInequality(condition, m_ranges, known))
                return false;
            rest.add(known, -1);
            return ir::exactBoundsOf(rest, m_ranges).lo >= 0;
        });
    }

    const Lowering& m_lowering;
    std::int32_t m_stage;
    const ir::Ranges& m_ranges;
    std::unordered_map<const ir::Node*, const Iterator*> m_iterators; ///< of loop variables
    Expr m_guard; ///< the present one
    Conditions m_known; ///< that hold at the present place without it
};

} // namespace

Expr withoutEdges(const Lowering& lowering, std::int32_t stage, Expr value, std::vector<Expr>& guards)
{
    return EdgeRemover(lowering, stage).run(std::move(value), guards);
}

} // namespace lathe::schedule
