#include "core/schedule/iteration.h"

#include "core/ir/simplify.h"

#include <algorithm>

namespace lathe::schedule {

namespace {

void propagateSplit(const IterRelation& relation, std::vector<std::int64_t>& extents)
{
    std::int64_t rest = extents[relation.parents[0]];
    const std::size_t n = relation.lengths.size();
    for (std::size_t k = 0; k < n; ++k) {
        // Inner to outer works from the last child backwards, outer to inner from the first forwards.
        const std::size_t part = relation.innerToOuter ? n - 1 - k : k;
        const std::int32_t child = relation.children[relation.innerToOuter ? part + 1 : part];
        const auto length = relation.lengths[part];
        if (!length || rest < 0) {
            extents[child] = length ? *length : -1;
            rest = -1;
            continue;
        }
        extents[child] = std::min(*length, rest);
        rest = ir::ceilDivide(rest, *length);
    }
    extents[relation.innerToOuter ? relation.children.front() : relation.children.back()] = rest;
}

} // namespace

std::vector<std::int64_t> propagateExtents(const Stage& stage, const std::vector<std::int64_t>& axes)
{
    std::vector<std::int64_t> extents(static_cast<std::size_t>(stage.nextIterId), -1);
    std::copy(axes.begin(), axes.end(), extents.begin());
    for (const IterRelation& relation : stage.relations) {
        if (relation.isSplit()) {
            propagateSplit(relation, extents);
            continue;
        }
        std::int64_t product = 1;
        for (const std::int32_t parent : relation.parents)
            product = product < 0 || extents[parent] < 0 ? -1 : cappedProduct(product, extents[parent]);
        extents[relation.children[0]] = product;
    }
    return extents;
}

IterValues valuesOverLeaves(const Stage& stage, const std::vector<std::int64_t>& extents,
                            const std::vector<ir::Expr>& leaves, const ir::Ranges& ranges)
{
    IterValues result;
    result.values.resize(extents.size());
    for (std::size_t i = 0; i < stage.iters.size(); ++i)
        result.values[stage.iters[i].id] = leaves[i];
    for (auto it = stage.relations.rbegin(); it != stage.relations.rend(); ++it) {
        const IterRelation& relation = *it;
        if (relation.isSplit()) {
            ir::Expr sum = 0;
            std::int64_t reach = 1; // what the children count to
            std::int64_t stride = 1;
            for (const std::int32_t child : relation.children)
                reach *= extents[child];
            stride = reach;
            for (const std::int32_t child : relation.children) {
                stride /= extents[child];
                sum = sum + result.values[child] * ir::intImm(stride);
            }
            const std::int32_t parent = relation.parents[0];
            if (relation.overlaps && reach > extents[parent]) {
                const std::int64_t length = extents[relation.children[1]];
                const ir::Expr start = result.values[relation.children[0]] * ir::intImm(length);
                result.values[parent] = ir::simplify(
                    ir::min(start, ir::intImm(extents[parent] - length)) + result.values[relation.children[1]], ranges);
                continue;
            }
            result.values[parent] = ir::simplify(sum, ranges);
            if (reach > extents[parent])
                result.guards.push_back(result.values[parent] < ir::intImm(extents[parent]));
            continue;
        }
        std::int64_t stride = 1;
        const ir::Expr fused = result.values[relation.children[0]];
        for (auto parent = relation.parents.rbegin(); parent != relation.parents.rend(); ++parent) {
            const ir::Expr quotient = ir::floorDiv(fused, ir::intImm(stride));
            const bool outermost = std::next(parent) == relation.parents.rend();
            const ir::Expr value = outermost ? quotient : ir::floorMod(quotient, ir::intImm(extents[*parent]));
            result.values[*parent] = ir::simplify(value, ranges);
            stride *= extents[*parent];
        }
    }
    return result;
}

ir::LoopKind loopKind(Annotation annotation)
{
    switch (annotation) {
    case Annotation::None: return ir::LoopKind::Serial;
    case Annotation::Unroll: return ir::LoopKind::Unrolled;
    case Annotation::Vectorize: return ir::LoopKind::Vectorized;
    case Annotation::Parallel: return ir::LoopKind::Parallel;
    case Annotation::VThread: return ir::LoopKind::VThread;
    case Annotation::BlockX: return ir::LoopKind::BlockX;
    case Annotation::ThreadX: return ir::LoopKind::ThreadX;
    case Annotation::BlockY: return ir::LoopKind::BlockY;
    case Annotation::ThreadY: return ir::LoopKind::ThreadY;
    case Annotation::BlockZ: return ir::LoopKind::BlockZ;
    case Annotation::ThreadZ: return ir::LoopKind::ThreadZ;
    case Annotation::Tensorize: return ir::LoopKind::Tensorized;
    }
    return ir::LoopKind::Serial;
}

void assignExtents(Stage& stage, const std::vector<std::int64_t>& extents)
{
    for (Iterator& iter : stage.iters)
        iter.extent = extents[iter.id];
}

std::vector<std::int64_t> axisExtents(const compute::Op& op)
{
    std::vector<std::int64_t> extents;
    if (op.kind == compute::OpKind::Compute)
        extents = op.shape;
    extents.insert(extents.end(), op.reduceExtents.begin(), op.reduceExtents.end());
    return extents;
}

} // namespace lathe::schedule
