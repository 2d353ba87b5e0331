#include "core/compute/analysis.h"

#include "core/compute/walk.h"
#include "core/support/element_count.h"

#include <algorithm>
#include <unordered_set>

namespace lathe::compute {

namespace {

std::int32_t axisPosition(const ir::Expr& e, const std::vector<ir::Expr>& axes)
{
    for (std::size_t i = 0; i < axes.size(); ++i)
        if (axes[i].same(e))
            return static_cast<std::int32_t>(i);
    return -1;
}

Reads& readsOfProducer(std::vector<Reads>& reads, std::int32_t producer)
{
    for (Reads& r : reads)
        if (r.producer == producer)
            return r;
    reads.push_back(Reads{producer, {}});
    return reads.back();
}

void collectBody(const Op& op, OpAccess& access)
{
    for (const ir::Expr& body : op.bodies)
        postOrder(body, [&](const ir::Expr& e) {
            switch (e->kind) {
            case ir::ExprKind::Load: readsOfProducer(access.reads, e->source).indices.push_back(e->operands); break;
            case ir::ExprKind::Select:
            case ir::ExprKind::IfThenElse: access.hasBranch = true; break;
            case ir::ExprKind::Call: access.hasExpensiveOp |= e->name == "exp"; break;
            default: break;
            }
        });
}

void classify(const Op& op, OpAccess& access)
{
    access.hasReduce = !op.reduceAxes.empty();
    access.simpleAccess = true;
    bool ordered = true;
    bool duplicated = false;
    for (const Reads& reads : access.reads)
        for (const auto& indices : reads.indices) {
            const SimpleRead read = classifyRead(op, indices);
            access.simpleAccess &= read.simple;
            ordered &= read.sameOrder;
            duplicated |= read.axisDuplicated;
        }
    access.strictlyInlineable = access.reads.empty()
                                || (access.simpleAccess && ordered && !duplicated && !access.hasExpensiveOp
                                    && !access.hasBranch);

    if (op.attrs.contains("auto_scheduler_simplify_const_tensor_indices"))
        return;
    std::int32_t missing = 0;
    for (const Reads& reads : access.reads) {
        std::unordered_set<const ir::Node*> used;
        for (const auto& indices : reads.indices)
            for (const ir::Expr& index : indices)
                postOrder(index, [&](const ir::Expr& e) {
                    if (e->kind == ir::ExprKind::Var)
                        used.insert(e.get());
                });
        for (std::size_t i = 0; i < op.axes.size(); ++i)
            if (op.shape[i] > 1 && !used.contains(op.axes[i].get())) {
                ++missing;
                break;
            }
    }
    access.needsMultiLevelTiling = missing >= 2 || (missing >= 1 && access.hasReduce);
}

/// Length of the common prefix of two directly linked operations.
std::int32_t commonPrefix(const Op& producer, const Op& consumer, const Reads& reads)
{
    const std::size_t limit = std::min(producer.shape.size(), consumer.shape.size());
    for (std::size_t n = 0; n < limit; ++n) {
        if (producer.shape[n] != consumer.shape[n])
            return static_cast<std::int32_t>(n);
        for (const auto& indices : reads.indices)
            if (constShiftAxis(indices[n], consumer.axes) != static_cast<std::int32_t>(n))
                return static_cast<std::int32_t>(n);
    }
    return static_cast<std::int32_t>(limit);
}

} // namespace

std::int32_t constShiftAxis(const ir::Expr& index, const std::vector<ir::Expr>& axes)
{
    const auto isConstant = [](const ir::Expr& e) { return e->kind == ir::ExprKind::IntImm; };
    switch (index->kind) {
    case ir::ExprKind::Var: return axisPosition(index, axes);
    case ir::ExprKind::Add:
        if (isConstant(index->operands[1]))
            return axisPosition(index->operands[0], axes);
        if (isConstant(index->operands[0]))
            return axisPosition(index->operands[1], axes);
        return -1;
    case ir::ExprKind::Sub: return isConstant(index->operands[1]) ? axisPosition(index->operands[0], axes) : -1;
    default: return -1;
    }
}

SimpleRead classifyRead(const Op& op, const std::vector<ir::Expr>& indices)
{
    SimpleRead result;
    std::vector<bool> seen(op.axes.size(), false);
    std::int32_t previous = -1;
    for (const ir::Expr& index : indices) {
        if (index->kind == ir::ExprKind::IntImm)
            continue;
        const std::int32_t axis = constShiftAxis(index, op.axes);
        if (axis < 0)
            return result;
        if (seen[static_cast<std::size_t>(axis)])
            result.axisDuplicated = true;
        seen[static_cast<std::size_t>(axis)] = true;
        if (axis < previous)
            result.sameOrder = false;
        previous = axis;
    }
    result.simple = true;
    result.axisMissing = std::ranges::find(seen, false) != seen.end();
    return result;
}

Analysis::Analysis(DagPtr dag)
    : m_dag(std::move(dag))
    , m_ops(m_dag->ops.size())
{
    for (std::size_t i = 0; i < m_ops.size(); ++i) {
        collectBody(m_dag->ops[i], m_ops[i]);
        classify(m_dag->ops[i], m_ops[i]);
        for (const Reads& reads : m_ops[i].reads)
            m_ops[static_cast<std::size_t>(reads.producer)].consumers.push_back(static_cast<std::int32_t>(i));
    }
    for (std::size_t i = 0; i < m_ops.size(); ++i)
        m_ops[i].isOutput = m_ops[i].consumers.empty();
}

std::vector<std::int32_t> Analysis::producers(std::int32_t index) const
{
    std::vector<std::int32_t> result;
    for (const Reads& reads : op(index).reads)
        result.push_back(reads.producer);
    return result;
}

std::int32_t Analysis::commonOuterIterators(std::int32_t producer, std::int32_t consumer) const
{
    // Operations are in topological order: best[i] = the minimum over all paths from the producer to i.
    constexpr std::int32_t kUnreached = -1;
    std::vector<std::int32_t> best(m_ops.size(), kUnreached);
    best[static_cast<std::size_t>(producer)] = static_cast<std::int32_t>(
        m_dag->ops[static_cast<std::size_t>(producer)].shape.size());
    for (std::int32_t i = producer + 1; i <= consumer; ++i)
        for (const Reads& reads : op(i).reads) {
            const std::int32_t above = best[static_cast<std::size_t>(reads.producer)];
            if (above == kUnreached)
                continue;
            const std::int32_t hop = std::min(above, commonPrefix(m_dag->ops[static_cast<std::size_t>(reads.producer)],
                                                                  m_dag->ops[static_cast<std::size_t>(i)], reads));
            std::int32_t& mine = best[static_cast<std::size_t>(i)];
            mine = mine == kUnreached ? hop : std::min(mine, hop);
        }
    return consumer < producer ? 0 : std::max(0, best[static_cast<std::size_t>(consumer)]);
}

bool Analysis::elementwiseMatch(std::int32_t from, std::int32_t target) const
{
    std::int32_t current = from;
    while (current != target) {
        if (op(current).consumers.size() != 1)
            return false;
        const std::int32_t next = op(current).consumers.front();
        const Op& nextOp = m_dag->ops[static_cast<std::size_t>(next)];
        if (m_dag->ops[static_cast<std::size_t>(current)].shape != nextOp.shape)
            return false;
        for (const Reads& reads : op(next).reads) {
            if (reads.producer != current)
                continue;
            for (const auto& indices : reads.indices) {
                const SimpleRead read = classifyRead(nextOp, indices);
                if (!read.simple || read.axisMissing || read.axisDuplicated || !read.sameOrder)
                    return false;
            }
        }
        current = next;
    }
    return true;
}

std::vector<std::int32_t> Analysis::layoutFreePlaceholders(std::int32_t index) const
{
    const Op& reader = m_dag->ops[static_cast<std::size_t>(index)];
    const std::vector<std::string> names = attrNames(reader, "layout_free_placeholders");
    std::vector<std::int32_t> result;
    for (const Reads& reads : op(index).reads) {
        const Op& producer = m_dag->ops[static_cast<std::size_t>(reads.producer)];
        // Placeholders share one name, so the weight itself carries a mark; a second reader pins its layout.
        if (producer.kind == OpKind::Placeholder && attrInteger(producer, "layout_free", 0) != 0
            && std::ranges::find(names, producer.name) != names.end() && op(reads.producer).consumers.size() == 1)
            result.push_back(reads.producer);
    }
    return result;
}

std::vector<std::string> attrNames(const Op& op, const std::string& key)
{
    const auto found = op.attrs.find(key);
    if (found == op.attrs.end())
        return {};
    const auto* names = std::get_if<std::vector<std::string>>(&found->second);
    return names ? *names : std::vector<std::string>{};
}

std::int64_t attrInteger(const Op& op, const std::string& key, std::int64_t fallback)
{
    const auto found = op.attrs.find(key);
    if (found == op.attrs.end())
        return fallback;
    const auto* value = std::get_if<std::int64_t>(&found->second);
    return value ? *value : fallback;
}

std::int64_t spatialSize(const Op& op)
{
    return elementCount(op.shape);
}

std::int64_t reduceSize(const Op& op)
{
    return elementCount(op.reduceExtents);
}

std::vector<std::int64_t> realDimensions(std::span<const std::int64_t> shape)
{
    std::vector<std::int64_t> real;
    std::copy_if(shape.begin(), shape.end(), std::back_inserter(real), [](std::int64_t d) { return d != 1; });
    return real;
}

} // namespace lathe::compute
