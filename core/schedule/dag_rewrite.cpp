#include "core/schedule/dag_rewrite.h"

#include "core/compute/verify.h"
#include "core/ir/simplify.h"
#include "core/ir/substitute.h"
#include "core/schedule/iteration.h"
#include "core/support/checks.h"

#include <fmt/format.h>

#include <algorithm>

namespace lathe::schedule {

namespace {

using compute::Dag;
using compute::Op;
using compute::OpKind;
using ir::Expr;

/// Rewrites the source of every load.
template<typename F>
Expr mapSources(const Expr& e, F&& source)
{
    return ir::transform(e, [&source](const Expr& node) {
        if (node->kind != ir::ExprKind::Load)
            return Expr();
        const std::int32_t to = source(node->source);
        return to == node->source ? Expr() : ir::load(to, node->dtype, node->operands, node->output);
    });
}

/// Inserts `op` (whose loads already count the insertion) at `position`.
std::shared_ptr<Dag> insertOp(const Dag& dag, std::int32_t position, Op op)
{
    auto result = std::make_shared<Dag>(dag);
    const auto shifted = [position](std::int32_t id) { return id >= position ? id + 1 : id; };
    for (Op& other : result->ops)
        for (Expr& body : other.bodies)
            body = mapSources(body, shifted);
    for (auto* list : {&result->inputs, &result->outputs})
        for (std::int32_t& id : *list)
            id = shifted(id);
    result->ops.insert(result->ops.begin() + position, std::move(op));
    return result;
}

/// A rewrite's result. What is unsound would show itself in a kernel's wrong values only.
Result<compute::DagPtr> checked(std::shared_ptr<Dag> dag)
{
    if (checksAreOn())
        LATHE_TRY(compute::verify(*dag));
    return compute::DagPtr(std::move(dag));
}

std::string uniqueName(const Dag& dag, std::string name)
{
    const auto taken = [&] {
        return std::any_of(dag.ops.begin(), dag.ops.end(), [&](const Op& op) { return op.name == name; });
    };
    while (taken())
        name += ".d";
    return name;
}

/// A body that copies operation `from`.
Op copyOf(const Op& op, std::int32_t from, std::string name)
{
    Op copy;
    copy.name = std::move(name);
    copy.dtype = op.dtype;
    copy.shape = op.shape;
    for (std::size_t d = 0; d < op.shape.size(); ++d)
        copy.axes.push_back(ir::var(fmt::format("ax{}", d)));
    copy.bodies = {ir::load(from, op.dtype, copy.axes)};
    return copy;
}

/// The body under other variables; a Reduce names its axes too.
Expr rebind(const Expr& body, const ir::Substitution& map)
{
    const Expr replaced = ir::substitute(body, map);
    if (replaced->kind != ir::ExprKind::Reduce)
        return replaced;
    auto node = std::make_shared<ir::Node>(*replaced);
    for (Expr& axis : node->axes)
        axis = ir::substitute(axis, map);
    return Expr(std::move(node));
}

/// "k.0" -> "k_o", "k.1" -> "k_i", "i@j@" -> "i_j_fused": the names that split and fused axes get as axes of an
/// operation.
std::string cleanName(const Stage& stage, const Iterator& iter)
{
    std::string name = iter.name;
    const bool fused = !name.empty() && name.back() == '@';
    for (const IterRelation& relation : stage.relations) {
        const auto found = std::find(relation.children.begin(), relation.children.end(), iter.id);
        if (!relation.isSplit() || found == relation.children.end())
            continue;
        const auto part = name.rfind('.');
        if (part != std::string::npos)
            name = name.substr(0, part) + (found == relation.children.begin() ? "_o" : "_i");
    }
    if (fused)
        name = name.substr(0, name.size() - 1) + "_fused";
    std::replace_if(
        name.begin(), name.end(), [](char c) { return c == '.' || c == '@'; }, '_');
    return name;
}

} // namespace

Result<compute::DagPtr> cacheRead(const compute::DagPtr& dag, std::int32_t id, const std::string& scope,
                                  const std::vector<std::int32_t>& readers)
{
    const Op& op = dag->ops[id];
    if (op.bodies.size() > 1)
        return makeError(Errc::IllegalSchedule, fmt::format("'{}' has several outputs and cannot be cached", op.name));
    for (const std::int32_t reader : readers) {
        bool reads = false;
        for (const Expr& body : dag->ops[reader].bodies)
            ir::visit(body, [&](const Expr& e) { reads |= e->kind == ir::ExprKind::Load && e->source == id; });
        if (!reads)
            return makeError(Errc::IllegalSchedule,
                             fmt::format("'{}' does not read '{}'", dag->ops[reader].name, op.name));
    }
    auto result = insertOp(*dag, id + 1, copyOf(op, id, uniqueName(*dag, op.name + "." + scope)));
    for (const std::int32_t reader : readers) {
        Op& shifted = result->ops[reader > id ? reader + 1 : reader];
        for (Expr& body : shifted.bodies)
            body = mapSources(body, [id](std::int32_t source) { return source == id ? id + 1 : source; });
    }
    return checked(std::move(result));
}

Result<compute::DagPtr> cacheWrite(const compute::DagPtr& dag, std::int32_t id, const std::string& scope)
{
    const Op& op = dag->ops[id];
    if (op.kind != OpKind::Compute || op.bodies.size() != 1)
        return makeError(Errc::IllegalSchedule, fmt::format("'{}' is no computation with one output", op.name));
    Op cache = op;
    cache.name = uniqueName(*dag, op.name + "." + scope);
    ir::Substitution map;
    for (Expr& axis : cache.axes) {
        const Expr fresh = ir::var(axis->name + "_c", axis->dtype);
        map[axis.get()] = fresh;
        axis = fresh;
    }
    for (Expr& axis : cache.reduceAxes) {
        const Expr fresh = ir::var(axis->name, axis->dtype);
        map[axis.get()] = fresh;
        axis = fresh;
    }
    // The new operation stands at `id`, so it reads only what is before: its sources do not shift.
    cache.bodies = {rebind(op.bodies[0], map)};
    auto result = insertOp(*dag, id, std::move(cache));
    Op& original = result->ops[id + 1];
    original.reduceAxes.clear();
    original.reduceExtents.clear();
    original.bodies = {ir::load(id, original.dtype, original.axes)};
    return checked(std::move(result));
}

Result<compute::DagPtr> rfactor(const compute::DagPtr& dag, const Stage& stage, std::int32_t iter,
                                std::int32_t factorAxis)
{
    const std::int32_t id = stage.op;
    const Op& op = dag->ops[id];
    const auto refuse = [&](const char* why) {
        return makeError(Errc::IllegalSchedule, fmt::format("'{}' {}", op.name, why));
    };
    if (op.bodies.size() != 1 || op.bodies[0]->kind != ir::ExprKind::Reduce)
        return refuse("is no reduction with one output");
    const Expr reduceNode = op.bodies[0];
    if (reduceNode->combiner >= ir::Combiner::ArgMax)
        return refuse("reduces to an index and cannot be factored");
    if (stage.iters[iter].kind != IterKind::Reduction)
        return refuse("is factored at an iterator that is no reduction");
    if (factorAxis < 0 || factorAxis > static_cast<std::int32_t>(op.axes.size()))
        return refuse("has no such place for the factored axis");

    const std::vector<std::int64_t> extents = propagateExtents(stage, axisExtents(op));
    ir::Ranges ranges;
    std::vector<Expr> leaves;
    for (const Iterator& leaf : stage.iters) {
        if (extents[leaf.id] < 0)
            return refuse("has open lengths");
        leaves.push_back(ir::var(cleanName(stage, leaf)));
        ranges.setExtent(leaves.back(), extents[leaf.id]);
    }
    const IterValues values = valuesOverLeaves(stage, extents, leaves, ranges);

    Op partial = op;
    partial.name = uniqueName(*dag, op.name + ".rf");
    ir::Substitution map;
    for (std::size_t d = 0; d < op.axes.size(); ++d) {
        partial.axes[d] = ir::var(op.axes[d]->name);
        map[op.axes[d].get()] = partial.axes[d];
        ranges.setExtent(partial.axes[d], op.shape[d]);
    }
    for (std::size_t r = 0; r < op.reduceAxes.size(); ++r)
        map[op.reduceAxes[r].get()] = values.values[op.axes.size() + r];
    partial.axes.insert(partial.axes.begin() + factorAxis, leaves[iter]);
    partial.shape.insert(partial.shape.begin() + factorAxis, extents[stage.iters[iter].id]);
    partial.reduceAxes.clear();
    partial.reduceExtents.clear();
    for (std::size_t i = 0; i < leaves.size(); ++i) {
        if (stage.iters[i].kind != IterKind::Reduction || static_cast<std::int32_t>(i) == iter)
            continue;
        partial.reduceAxes.push_back(leaves[i]);
        partial.reduceExtents.push_back(extents[stage.iters[i].id]);
    }
    const Expr identity = reduceNode->operands[1];
    Expr source = ir::simplify(ir::substitute(reduceNode->operands[0], map), ranges);
    for (const Expr& guard : values.guards) {
        const bool ofReduction = !ir::usesAny(guard, [&](const ir::Node* v) {
            for (std::size_t i = 0; i < leaves.size(); ++i)
                if (leaves[i].get() == v)
                    return stage.iters[i].kind != IterKind::Reduction;
            return false;
        });
        if (ofReduction)
            source = ir::ifThenElse(guard, source, identity);
    }
    partial.bodies = {
        partial.reduceAxes.empty() ? source : ir::reduce(reduceNode->combiner, source, identity, partial.reduceAxes)};

    auto result = insertOp(*dag, id, std::move(partial));
    Op& final = result->ops[id + 1];
    const Expr axis = ir::var(leaves[iter]->name + "_v");
    std::vector<Expr> indices = final.axes;
    indices.insert(indices.begin() + factorAxis, axis);
    final.reduceAxes = {axis};
    final.reduceExtents = {extents[stage.iters[iter].id]};
    final.bodies = {ir::reduce(reduceNode->combiner, ir::load(id, final.dtype, indices), identity, {axis})};
    return checked(std::move(result));
}

} // namespace lathe::schedule
