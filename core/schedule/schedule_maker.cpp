#include "core/schedule/schedule_maker.h"

#include "core/ir/linear_form.h"
#include "core/ir/substitute.h"
#include "core/schedule/conditions.h"

#include <algorithm>

namespace lathe::schedule {

using compute::Op;
using compute::OpKind;
using ir::Expr;
using ir::ExprKind;

namespace {

bool isExpensive(const Expr& body)
{
    bool found = false;
    ir::visit(body, [&found](const Expr& e) { found |= e->kind == ExprKind::Call || e->kind == ExprKind::Div; });
    return found;
}

int operationCount(const Expr& body)
{
    int count = 0;
    ir::visit(body, [&count](const Expr& e) {
        count += isFloat(e->dtype) && e->kind >= ExprKind::Add && e->kind <= ExprKind::Max ? 1 : 0;
    });
    return count;
}

} // namespace

bool ScheduleMaker::isOutput(std::int32_t id) const
{
    return std::find(m_dag.outputs.begin(), m_dag.outputs.end(), id) != m_dag.outputs.end();
}

bool ScheduleMaker::isConstantMatrixUser(std::int32_t id) const
{
    return m_dag.ops[id].attrs.contains("auto_scheduler_simplify_const_tensor_indices");
}

std::vector<std::int32_t> ScheduleMaker::readersOf(std::int32_t id) const
{
    std::vector<std::int32_t> readers;
    for (std::size_t i = 0; i < m_dag.ops.size(); ++i) {
        bool reads = false;
        for (const Expr& body : m_dag.ops[i].bodies)
            ir::visit(body, [&](const Expr& e) { reads |= e->kind == ExprKind::Load && e->source == id; });
        if (reads)
            readers.push_back(static_cast<std::int32_t>(i));
    }
    return readers;
}

void ScheduleMaker::inlineProducers()
{
    for (std::size_t i = 0; i < m_dag.ops.size(); ++i) {
        const auto id = static_cast<std::int32_t>(i);
        const Op& op = m_dag.ops[i];
        if (op.kind == OpKind::Placeholder || isReduction(id) || isOutput(id) || op.bodies.size() != 1)
            continue;
        const std::vector<std::int32_t> readers = readersOf(id);
        const bool readByReduction = std::any_of(readers.begin(), readers.end(),
                                                 [this](std::int32_t r) { return isReduction(r); });
        bool loads = false;
        ir::visit(op.bodies[0], [&loads](const Expr& e) { loads |= e->kind == ExprKind::Load; });
        const bool gathersTile = std::any_of(readers.begin(), readers.end(),
                                             [this](std::int32_t r) { return isConstantMatrixUser(r); });
        const bool cheap = !isExpensive(op.bodies[0]) && operationCount(op.bodies[0]) <= 4;
        const bool inlined = !loads
                             || (!gathersTile
                                 && (cheap ? readers.size() <= 3 || !readByReduction
                                           : readers.size() == 1 && !readByReduction));
        // Inlining is an optimisation: where it does not apply the stage stays at root.
        if (inlined && !readers.empty())
            (void)m_state.apply(ComputeInlineStep{id}).has_value();
    }
}

std::int32_t ScheduleMaker::fusibleReduction(std::int32_t id) const
{
    const StageBounds& bounds = m_bounds.stages[id];
    if (bounds.bodies.size() != 1)
        return -1;
    std::int32_t found = -1;
    bool fits = true;
    ir::visit(bounds.bodies[0], [&](const Expr& e) {
        if (e->kind != ExprKind::Load || !m_bounds.stages[e->source].active || !isReduction(e->source))
            return;
        fits &= found < 0 || found == e->source;
        found = e->source;
        fits &= m_dag.ops[e->source].shape == m_dag.ops[id].shape;
        for (std::size_t d = 0; fits && d < e->operands.size(); ++d)
            fits &= e->operands[d].same(bounds.leaves[d])
                    || (m_dag.ops[id].shape[d] == 1 && ir::isConst(e->operands[d], 0));
    });
    if (found < 0 || !fits || isOutput(found) || isConstantMatrixUser(found) || isIndexReduction(found))
        return -1;
    for (std::size_t other = 0; other < m_bounds.stages.size(); ++other)
        for (const Expr& body : m_bounds.stages[other].bodies)
            ir::visit(body, [&](const Expr& e) {
                fits &= e->kind != ExprKind::Load || e->source != found || static_cast<std::int32_t>(other) == id;
            });
    return fits ? found : -1;
}

bool ScheduleMaker::isIndexReduction(std::int32_t id) const
{
    return isReduction(id) && m_dag.ops[id].bodies[0]->combiner >= ir::Combiner::ArgMax;
}

std::int64_t ScheduleMaker::workOf(std::int32_t id) const
{
    std::int64_t work = 1;
    for (const std::int64_t e : m_dag.ops[id].shape)
        work *= e;
    for (const std::int64_t e : m_dag.ops[id].reduceExtents)
        work *= e;
    return work;
}

std::int32_t ScheduleMaker::place(std::int32_t id, const std::string& name) const
{
    for (std::size_t i = 0; i < iters(id).size(); ++i)
        if (iters(id)[i].name == name)
            return static_cast<std::int32_t>(i);
    return -1;
}

Result<> ScheduleMaker::split(std::int32_t id, const std::string& name,
                              std::vector<std::optional<std::int64_t>> lengths)
{
    const std::int32_t at = place(id, name);
    return m_state.apply(SplitStep{id, at, std::max<std::int64_t>(iters(id)[at].extent, 0), std::move(lengths), true});
}

Result<> ScheduleMaker::reorder(std::int32_t id, const std::vector<std::string>& names)
{
    std::vector<std::int32_t> order;
    for (const std::string& name : names)
        order.push_back(place(id, name));
    return m_state.apply(ReorderStep{id, std::move(order)});
}

Result<> ScheduleMaker::annotate(std::int32_t id, const std::string& name, Annotation annotation)
{
    return m_state.apply(AnnotateStep{id, place(id, name), annotation});
}

bool ScheduleMaker::conditionsUse(std::int32_t id, std::int32_t dim) const
{
    bool found = false;
    for (const Expr& body : m_bounds.stages[id].bodies)
        ir::visit(body, [&](const Expr& e) {
            const bool branch = e->kind == ExprKind::IfThenElse || e->kind == ExprKind::Select;
            found |= branch && loadsUnder(e) && ir::uses(e->operands[0], m_bounds.stages[id].leaves[dim]);
        });
    return found;
}

bool ScheduleMaker::vectorizable(std::int32_t id, std::int32_t dim) const
{
    const StageBounds& bounds = m_bounds.stages[id];
    const Expr& lane = bounds.leaves[dim];
    bool fits = sizeOf(m_dag.ops[id].dtype) == 4;
    const auto decidable = [&](const Expr& condition) {
        std::vector<Expr> conjuncts;
        flattenConjunction(condition, conjuncts);
        return std::all_of(conjuncts.begin(), conjuncts.end(), [&](const Expr& c) {
            ir::LinearForm form;
            return !ir::uses(c, lane) || (asInequality(c, m_bounds.ranges, form) && form.coefficientOf(lane) != 0);
        });
    };
    for (const Expr& body : bounds.bodies)
        ir::visit(body, [&](const Expr& e) {
            if ((e->kind == ExprKind::IfThenElse || e->kind == ExprKind::Select) && loadsUnder(e))
                fits &= decidable(e->operands[0]);
            if (e->kind != ExprKind::Load)
                return;
            for (const Expr& index : e->operands)
                fits &= !ir::uses(index, lane) || linearForm(index, m_bounds.ranges).coefficientOf(lane) != 0;
        });
    return fits;
}

bool ScheduleMaker::loadsUnder(const Expr& e)
{
    bool found = false;
    ir::visit(e, [&found](const Expr& node) { found |= node->kind == ExprKind::Load; });
    return found;
}

bool ScheduleMaker::directlyReads(std::int32_t id, std::int32_t source) const
{
    bool found = false;
    for (const Expr& body : m_dag.ops[id].bodies)
        ir::visit(body, [&](const Expr& e) { found |= e->kind == ExprKind::Load && e->source == source; });
    return found;
}

} // namespace lathe::schedule
