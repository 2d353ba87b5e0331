#include "core/compute/verify.h"

#include "core/compute/walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_set>

namespace lathe::compute {

Result<> verifyOp(const std::vector<Op>& ops, std::int32_t index)
{
    const Op& op = ops[static_cast<std::size_t>(index)];
    const auto fail = [&](std::string_view what) {
        return makeError(Errc::Internal, fmt::format("operation {} of the compute DAG: {}", op.name, what));
    };
    for (const std::int64_t extent : op.shape)
        if (extent < 0)
            return fail(fmt::format("extent {} is negative", extent));
    if (op.kind == OpKind::Placeholder)
        return {};
    if (op.axes.size() != op.shape.size())
        return fail(fmt::format("{} axis names for {} dimensions", op.axes.size(), op.shape.size()));
    if (op.bodies.empty())
        return fail("there is no body");
    std::set<std::string> names;
    std::unordered_set<const ir::Node*> variables;
    for (const auto* list : {&op.axes, &op.reduceAxes})
        for (const ir::Expr& axis : *list) {
            variables.insert(axis.get());
            if (!names.insert(axis->name).second)
                return fail(fmt::format("iterator name {} is used twice", axis->name));
        }
    for (const ir::Expr& body : op.bodies) {
        std::string problem;
        postOrder(body, [&](const ir::Expr& e) {
            if (e->kind == ir::ExprKind::Reduce && !e.same(body))
                problem = "a reduction stands inside an expression";
            if (e->kind == ir::ExprKind::Var && !variables.contains(e.get()))
                problem = fmt::format("variable {} is none of its iterators", e->name);
            if (e->kind != ir::ExprKind::Load)
                return;
            if (e->source < 0 || e->source >= index)
                problem = "a load reads an operation that does not come before";
            else if (const Op& from = ops[static_cast<std::size_t>(e->source)]; from.shape.size() != e->operands.size())
                problem = fmt::format("{} indices for {} of rank {}", e->operands.size(), from.name, from.shape.size());
        });
        if (!problem.empty())
            return fail(problem);
    }
    return {};
}

Result<> verify(const Dag& dag)
{
    std::set<std::int32_t> placeholders;
    for (std::size_t i = 0; i < dag.ops.size(); ++i) {
        LATHE_TRY(verifyOp(dag.ops, static_cast<std::int32_t>(i)));
        if (dag.ops[i].kind == OpKind::Placeholder)
            placeholders.insert(static_cast<std::int32_t>(i));
    }
    const auto isOp = [&](std::int32_t id) { return id >= 0 && static_cast<std::size_t>(id) < dag.ops.size(); };
    if (dag.outputs.empty() || !std::all_of(dag.outputs.begin(), dag.outputs.end(), isOp))
        return makeError(Errc::Internal, "the compute DAG's outputs are not operations of it");
    if (dag.inputs.size() != placeholders.size() || std::set(dag.inputs.begin(), dag.inputs.end()) != placeholders)
        return makeError(Errc::Internal, "the compute DAG's inputs are not its placeholders");
    return {};
}

} // namespace lathe::compute
