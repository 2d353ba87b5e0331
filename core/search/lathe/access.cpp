#include "core/search/lathe/access.h"

#include "core/ir/linear_form.h"
#include "core/ir/simplify.h"
#include "core/ir/substitute.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace lathe::search {
namespace {

using ir::Expr;
using ir::ExprKind;

std::optional<std::int64_t> constantOf(const Expr& e)
{
    return e->kind == ExprKind::IntImm ? std::optional(e->intValue) : std::nullopt;
}

/// Adds `factor` x `e` to `index`.
void addTerm(const Expr& e, std::int64_t factor, const compute::Op& op, LinearIndex& index)
{
    switch (e->kind) {
    case ExprKind::IntImm: return;
    case ExprKind::Var:
        for (std::size_t a = 0; a < op.axes.size(); ++a)
            if (op.axes[a].same(e))
                index.spatial[a] += factor;
        for (std::size_t a = 0; a < op.reduceAxes.size(); ++a)
            if (op.reduceAxes[a].same(e))
                index.reduce[a] += factor;
        return;
    case ExprKind::Add:
        addTerm(e->operands[0], factor, op, index);
        addTerm(e->operands[1], factor, op, index);
        return;
    case ExprKind::Sub:
        addTerm(e->operands[0], factor, op, index);
        addTerm(e->operands[1], -factor, op, index);
        return;
    case ExprKind::Mul:
        if (const auto c = constantOf(e->operands[1])) {
            addTerm(e->operands[0], factor * *c, op, index);
            return;
        }
        if (const auto c = constantOf(e->operands[0])) {
            addTerm(e->operands[1], factor * *c, op, index);
            return;
        }
        break;
    default: break;
    }
    // Anything else moves the index in a way that is not followed further.
    index.complex = true;
    for (const Expr& operand : e->operands)
        addTerm(operand, 1, op, index);
}

void collect(const Expr& e, const compute::Dag& dag, const compute::Op& op, std::vector<Operand>& out)
{
    if (e->kind == ExprKind::Load) {
        const auto known = std::find_if(out.begin(), out.end(),
                                        [&](const Operand& o) { return o.producer == e->source; });
        if (known != out.end()) {
            ++known->reads;
        } else {
            Operand operand;
            const compute::Op& producer = dag.ops[static_cast<std::size_t>(e->source)];
            operand.producer = e->source;
            operand.elementBytes = sizeOf(producer.dtype);
            operand.shape = producer.shape;
            for (const Expr& i : e->operands) {
                LinearIndex index{std::vector<std::int64_t>(op.axes.size()),
                                  std::vector<std::int64_t>(op.reduceAxes.size()), false};
                addTerm(i, 1, op, index);
                operand.indices.push_back(std::move(index));
            }
            out.push_back(std::move(operand));
        }
    }
    for (const Expr& operand : e->operands)
        collect(operand, dag, op, out);
}

} // namespace

std::int32_t LinearIndex::plainAxis() const
{
    if (complex)
        return -1;
    std::int32_t found = -1;
    for (std::size_t a = 0; a < spatial.size() + reduce.size(); ++a) {
        const std::int64_t c = a < spatial.size() ? spatial[a] : reduce[a - spatial.size()];
        if (c == 0)
            continue;
        if (c != 1 || found >= 0)
            return -1;
        found = static_cast<std::int32_t>(a);
    }
    return found;
}

bool Operand::usesSpatial(std::size_t axis) const
{
    return std::any_of(indices.begin(), indices.end(), [&](const LinearIndex& i) { return i.spatial[axis] != 0; });
}

bool Operand::usesReduce(std::size_t axis) const
{
    return std::any_of(indices.begin(), indices.end(), [&](const LinearIndex& i) { return i.reduce[axis] != 0; });
}

bool Operand::contiguousIn(std::size_t axis) const
{
    if (indices.empty() || indices.back().spatial[axis] != 1 || indices.back().complex)
        return false;
    for (std::size_t d = 0; d + 1 < indices.size(); ++d)
        if (indices[d].spatial[axis] != 0)
            return false;
    return true;
}

std::int64_t Operand::footprint(const std::vector<std::int64_t>& spatial, const std::vector<std::int64_t>& reduce) const
{
    std::int64_t total = 1;
    for (std::size_t d = 0; d < indices.size(); ++d) {
        const LinearIndex& index = indices[d];
        std::int64_t span = 1;
        for (std::size_t a = 0; a < spatial.size(); ++a)
            span += std::abs(index.spatial[a]) * (spatial[a] - 1);
        for (std::size_t a = 0; a < reduce.size(); ++a)
            span += std::abs(index.reduce[a]) * (reduce[a] - 1);
        total *= std::min(span, shape[d]);
    }
    return total;
}

std::vector<Operand> operandsOf(const compute::Dag& dag, std::int32_t op)
{
    std::vector<Operand> operands;
    const compute::Op& reader = dag.ops[static_cast<std::size_t>(op)];
    for (const Expr& body : reader.bodies)
        collect(body, dag, reader, operands);
    return operands;
}

namespace {

/// `indices` say where `producer` is read, over the axes of the operation that asks.
std::int32_t stridedAxis(const compute::Dag& dag, std::int32_t producer, const std::vector<Expr>& indices,
                         const compute::Op& asks, const ir::Ranges& ranges)
{
    const compute::Op& op = dag.ops[static_cast<std::size_t>(producer)];
    if (op.kind == compute::OpKind::Placeholder || !op.reduceAxes.empty()) {
        const auto strides = [&](const Expr& index) { return ir::uses(index, asks.axes.back()); };
        if (indices.empty() || strides(indices.back()) || std::none_of(indices.begin(), indices.end(), strides))
            return -1;
        const ir::LinearForm last = ir::linearForm(indices.back(), ranges);
        for (std::size_t d = 0; d + 1 < asks.axes.size(); ++d)
            if (asks.shape[d] > 1 && last.coefficientOf(asks.axes[d]) == 1)
                return static_cast<std::int32_t>(d);
        return -1;
    }
    ir::Substitution map;
    for (std::size_t d = 0; d < op.axes.size(); ++d)
        map[op.axes[d].get()] = indices[d];
    std::int32_t found = -1;
    for (const Expr& body : op.bodies)
        ir::visit(body, [&](const Expr& e) {
            if (e->kind != ExprKind::Load || found >= 0)
                return;
            std::vector<Expr> inner;
            for (const Expr& index : e->operands)
                inner.push_back(ir::simplify(ir::substitute(index, map), ranges));
            found = stridedAxis(dag, e->source, inner, asks, ranges);
        });
    return found;
}

} // namespace

std::int32_t transposedAxis(const compute::Dag& dag, std::int32_t op)
{
    const compute::Op& o = dag.ops[static_cast<std::size_t>(op)];
    if (o.kind == compute::OpKind::Placeholder || o.axes.size() < 2 || !o.reduceAxes.empty())
        return -1;
    ir::Ranges ranges;
    for (std::size_t d = 0; d < o.axes.size(); ++d)
        ranges.setExtent(o.axes[d], o.shape[d]);
    std::int32_t found = -1;
    for (const Expr& body : o.bodies)
        ir::visit(body, [&](const Expr& e) {
            if (e->kind == ExprKind::Load && found < 0)
                found = stridedAxis(dag, e->source, e->operands, o, ranges);
        });
    return found;
}

} // namespace lathe::search
