#include "core/compute/dag.h"

#include "core/compute/verify.h"
#include "core/compute/walk.h"
#include "core/support/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <unordered_map>
#include <unordered_set>

namespace lathe::compute {

namespace {

ir::Expr lowestValue(DType t)
{
    switch (t) {
    case DType::Bool: return ir::boolImm(false);
    case DType::I8: return ir::intImm(std::numeric_limits<std::int8_t>::min(), t);
    case DType::I16: return ir::intImm(std::numeric_limits<std::int16_t>::min(), t);
    case DType::I32: return ir::intImm(std::numeric_limits<std::int32_t>::min(), t);
    case DType::I64: return ir::intImm(std::numeric_limits<std::int64_t>::min(), t);
    case DType::U8:
    case DType::U16:
    case DType::U32:
    case DType::U64: return ir::intImm(0, t);
    case DType::F16:
    case DType::BF16:
    case DType::F32:
    case DType::F64: return ir::floatImm(-std::numeric_limits<double>::infinity(), t);
    }
    return {};
}

ir::Expr highestValue(DType t)
{
    switch (t) {
    case DType::Bool: return ir::boolImm(true);
    case DType::I8: return ir::intImm(std::numeric_limits<std::int8_t>::max(), t);
    case DType::U8: return ir::intImm(std::numeric_limits<std::uint8_t>::max(), t);
    case DType::I16: return ir::intImm(std::numeric_limits<std::int16_t>::max(), t);
    case DType::U16: return ir::intImm(std::numeric_limits<std::uint16_t>::max(), t);
    case DType::I32: return ir::intImm(std::numeric_limits<std::int32_t>::max(), t);
    case DType::U32: return ir::intImm(std::numeric_limits<std::uint32_t>::max(), t);
    case DType::I64: return ir::intImm(std::numeric_limits<std::int64_t>::max(), t);
    case DType::U64: return ir::intImm(-1, t); // all bits set
    case DType::F16:
    case DType::BF16:
    case DType::F32:
    case DType::F64: return ir::floatImm(std::numeric_limits<double>::infinity(), t);
    }
    return {};
}

ir::Expr identityOf(ir::Combiner combiner, DType t)
{
    switch (combiner) {
    case ir::Combiner::Sum: return isFloat(t) ? ir::floatImm(0, t) : ir::intImm(0, t);
    case ir::Combiner::Prod: return isFloat(t) ? ir::floatImm(1, t) : ir::intImm(1, t);
    case ir::Combiner::Max:
    case ir::Combiner::ArgMax: return lowestValue(t);
    case ir::Combiner::Min:
    case ir::Combiner::ArgMin: return highestValue(t);
    }
    return {};
}

std::vector<ir::Expr> makeAxes(std::size_t rank, const std::vector<std::string>& names)
{
    std::vector<ir::Expr> axes;
    for (std::size_t i = 0; i < rank; ++i)
        axes.push_back(ir::var(i < names.size() ? names[i] : fmt::format("i{}", i)));
    return axes;
}

/// Operations read by `op`, in order of first appearance in its bodies.
std::vector<std::int32_t> readsOf(const Op& op)
{
    std::vector<std::int32_t> result;
    for (const ir::Expr& body : op.bodies)
        postOrder(body, [&](const ir::Expr& e) {
            if (e->kind == ir::ExprKind::Load && std::ranges::find(result, e->source) == result.end())
                result.push_back(e->source);
        });
    return result;
}

/// Rewrites the sources of loads; shared nodes stay shared.
class Renumber
{
public:
    explicit Renumber(const std::vector<std::int32_t>& newIndex)
        : m_newIndex(newIndex)
    {
    }

    ir::Expr operator()(const ir::Expr& e)
    {
        if (const auto known = m_done.find(e.get()); known != m_done.end())
            return known->second;
        ir::Node node = *e;
        bool changed = false;
        for (ir::Expr& operand : node.operands) {
            ir::Expr next = (*this)(operand);
            changed |= !next.same(operand);
            operand = std::move(next);
        }
        if (node.kind == ir::ExprKind::Load) {
            const std::int32_t source = m_newIndex[static_cast<std::size_t>(node.source)];
            changed |= source != node.source;
            node.source = source;
        }
        ir::Expr result = changed ? makeNode(std::move(node)) : e;
        m_done.emplace(e.get(), result);
        return result;
    }

private:
    const std::vector<std::int32_t>& m_newIndex;
    std::unordered_map<const ir::Node*, ir::Expr> m_done;
};

} // namespace

Tensor DagBuilder::placeholder(std::string name, std::vector<std::int64_t> shape, DType dtype)
{
    Op op;
    op.kind = OpKind::Placeholder;
    op.name = std::move(name);
    op.dtype = dtype;
    op.shape = std::move(shape);
    m_ops.push_back(std::move(op));
    return Tensor{static_cast<std::int32_t>(m_ops.size()) - 1};
}

Tensor DagBuilder::compute(std::string name, std::vector<std::int64_t> shape, std::vector<std::string> axisNames,
                           std::string tag, const std::function<ir::Expr(const std::vector<ir::Expr>&)>& body)
{
    Op op;
    op.name = std::move(name);
    op.tag = std::move(tag);
    op.axes = makeAxes(shape.size(), axisNames);
    op.shape = std::move(shape);
    ir::Expr value = body(op.axes);
    op.dtype = value->dtype;
    op.bodies.push_back(std::move(value));
    m_ops.push_back(std::move(op));
    return Tensor{static_cast<std::int32_t>(m_ops.size()) - 1};
}

Tensor DagBuilder::reduce(
    std::string name, std::vector<std::int64_t> shape, std::vector<std::string> axisNames, std::string tag,
    ir::Combiner combiner, std::vector<std::pair<std::string, std::int64_t>> reduceAxes,
    const std::function<ir::Expr(const std::vector<ir::Expr>&, const std::vector<ir::Expr>&)>& body)
{
    Op op;
    op.name = std::move(name);
    op.tag = std::move(tag);
    op.axes = makeAxes(shape.size(), axisNames);
    op.shape = std::move(shape);
    for (const auto& [axisName, extent] : reduceAxes) {
        op.reduceAxes.push_back(ir::var(axisName));
        op.reduceExtents.push_back(extent);
    }
    const ir::Expr value = body(op.axes, op.reduceAxes);
    const bool isArg = combiner == ir::Combiner::ArgMax || combiner == ir::Combiner::ArgMin;
    ir::Node node;
    node.kind = ir::ExprKind::Reduce;
    node.dtype = isArg ? DType::I32 : value->dtype;
    node.combiner = combiner;
    node.operands = {value, identityOf(combiner, value->dtype)};
    node.axes = op.reduceAxes;
    op.dtype = node.dtype;
    op.bodies.push_back(makeNode(std::move(node)));
    m_ops.push_back(std::move(op));
    return Tensor{static_cast<std::int32_t>(m_ops.size()) - 1};
}

ir::Expr DagBuilder::at(Tensor t, std::vector<ir::Expr> indices) const
{
    return ir::load(t.id, dtype(t), std::move(indices));
}

const std::vector<std::int64_t>& DagBuilder::shape(Tensor t) const
{
    LATHE_CHECK(t.id >= 0 && static_cast<std::size_t>(t.id) < m_ops.size()) << "tensor " << t.id;
    return m_ops[static_cast<std::size_t>(t.id)].shape;
}

DType DagBuilder::dtype(Tensor t) const
{
    LATHE_CHECK(t.id >= 0 && static_cast<std::size_t>(t.id) < m_ops.size()) << "tensor " << t.id;
    return m_ops[static_cast<std::size_t>(t.id)].dtype;
}

const std::string& DagBuilder::name(Tensor t) const
{
    LATHE_CHECK(t.id >= 0 && static_cast<std::size_t>(t.id) < m_ops.size()) << "tensor " << t.id;
    return m_ops[static_cast<std::size_t>(t.id)].name;
}

bool DagBuilder::isPlaceholder(Tensor t) const
{
    LATHE_CHECK(t.id >= 0 && static_cast<std::size_t>(t.id) < m_ops.size()) << "tensor " << t.id;
    return m_ops[static_cast<std::size_t>(t.id)].kind == OpKind::Placeholder;
}

void DagBuilder::setAttr(Tensor t, std::string key, AttrValue value)
{
    LATHE_CHECK(t.id >= 0 && static_cast<std::size_t>(t.id) < m_ops.size()) << "tensor " << t.id;
    m_ops[static_cast<std::size_t>(t.id)].attrs.insert_or_assign(std::move(key), std::move(value));
}

Result<DagPtr> DagBuilder::finish(const std::vector<Tensor>& outputs, std::vector<Tensor>* inputs) &&
{
    if (outputs.empty())
        return makeError(Errc::Internal, "a compute DAG needs an output");
    for (const Tensor t : outputs)
        if (t.id < 0 || static_cast<std::size_t>(t.id) >= m_ops.size())
            return makeError(Errc::Internal, fmt::format("output {} is no operation of the compute DAG", t.id));

    // Post-order from the outputs, with a stack of our own: chains of operations can be long.
    std::vector<std::int32_t> newIndex(m_ops.size(), -1);
    std::vector<std::int32_t> order;
    struct Frame
    {
        std::int32_t op;
        std::vector<std::int32_t> reads;
        std::size_t next = 0;
    };
    std::vector<bool> entered(m_ops.size(), false);
    std::vector<Frame> stack;
    const auto enter = [&](std::int32_t id) {
        entered[static_cast<std::size_t>(id)] = true;
        stack.push_back(Frame{id, readsOf(m_ops[static_cast<std::size_t>(id)])});
    };
    for (const Tensor t : outputs) {
        if (!entered[static_cast<std::size_t>(t.id)])
            enter(t.id);
        while (!stack.empty()) {
            LATHE_TRY(verifyOp(m_ops, stack.back().op));
            while (stack.back().next < stack.back().reads.size()) {
                const std::int32_t child = stack.back().reads[stack.back().next++];
                if (!entered[static_cast<std::size_t>(child)]) {
                    enter(child);
                    LATHE_TRY(verifyOp(m_ops, child));
                }
            }
            newIndex[static_cast<std::size_t>(stack.back().op)] = static_cast<std::int32_t>(order.size());
            order.push_back(stack.back().op);
            stack.pop_back();
        }
    }

    Dag dag;
    Renumber renumber(newIndex);
    for (const std::int32_t old : order) {
        Op op = std::move(m_ops[static_cast<std::size_t>(old)]);
        for (ir::Expr& body : op.bodies)
            body = renumber(body);
        if (op.kind == OpKind::Placeholder) {
            dag.inputs.push_back(static_cast<std::int32_t>(dag.ops.size()));
            if (inputs)
                inputs->push_back(Tensor{old});
        }
        dag.ops.push_back(std::move(op));
    }
    for (const Tensor t : outputs)
        dag.outputs.push_back(newIndex[static_cast<std::size_t>(t.id)]);
    return DagPtr(std::make_shared<const Dag>(std::move(dag)));
}

} // namespace lathe::compute
