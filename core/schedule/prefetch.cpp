#include "core/schedule/prefetch.h"

#include "core/ir/linear_form.h"
#include "core/ir/simplify.h"
#include "core/ir/substitute.h"

#include <algorithm>

namespace lathe::schedule {

namespace {

using ir::Expr;

constexpr std::int64_t kLineBytes = 64;
constexpr std::size_t kMaxLines = 32; ///< per iteration; more would displace what they fetch

/// Offsets, in elements from the first one read, of the lines that one iteration touches.
std::vector<std::int64_t> lineOffsets(const std::vector<std::pair<std::int64_t, std::int64_t>>& steps, std::int64_t elementsPerLine)
{
    std::vector<std::int64_t> offsets{0};
    for (const auto& [stride, extent] : steps) {
        const std::size_t known = offsets.size();
        for (std::int64_t i = 1; i < extent && offsets.size() < 4096; ++i)
            for (std::size_t k = 0; k < known; ++k)
                offsets.push_back(offsets[k] + i * stride);
    }
    for (std::int64_t& o : offsets)
        o = ir::floorDivide(o, elementsPerLine) * elementsPerLine;
    std::sort(offsets.begin(), offsets.end());
    offsets.erase(std::unique(offsets.begin(), offsets.end()), offsets.end());
    return offsets;
}

} // namespace

void emitPrefetches(const Lowering& lowering, std::int32_t id, std::size_t iter, std::vector<ir::Stmt>& into)
{
    const Stage& stage = lowering.stage(id);
    const StageBounds& bounds = lowering.program.stages[id];
    for (const Stage::Prefetch& prefetch : stage.prefetches) {
        if (prefetch.iterId != stage.iters[iter].id || lowering.buffers[prefetch.source].empty())
            continue;
        Expr load;
        for (const Expr& body : bounds.bodies)
            ir::visit(body, [&](const Expr& e) {
                if (load.get() == nullptr && e->kind == ir::ExprKind::Load && e->source == prefetch.source)
                    load = e;
            });
        if (load.get() == nullptr)
            continue;
        const ir::Buffer& buffer = lowering.nest.buffers[lowering.buffers[prefetch.source][0]];
        std::vector<Expr> indices = physicalIndices(lowering, prefetch.source, load->operands);
        if (indices.empty())
            continue;
        ir::Substitution toStart; // inner loops at their first iteration
        std::vector<std::pair<std::int64_t, std::int64_t>> steps;
        for (std::size_t i = iter + 1; i < stage.iters.size(); ++i) {
            const std::int64_t extent = bounds.extents[stage.iters[i].id];
            std::int64_t stride = 0;
            for (std::size_t d = 0; d < indices.size(); ++d)
                stride += ir::linearForm(indices[d], lowering.program.ranges).coefficientOf(bounds.leaves[i]) * buffer.strides[d];
            if (stride != 0 && extent > 1)
                steps.emplace_back(stride, extent);
            toStart[bounds.leaves[i].get()] = 0;
        }
        for (Expr& index : indices)
            index = ir::simplify(ir::substitute(index, toStart), lowering.program.ranges);
        const std::int64_t size = sizeOf(buffer.dtype);
        const std::vector<std::int64_t> lines = lineOffsets(steps, kLineBytes / size);
        for (std::size_t k = 0; k < std::min(lines.size(), kMaxLines); ++k) {
            std::vector<Expr> ahead = indices;
            ahead.back() = ir::simplify(ahead.back() + ir::intImm(lines[k] + prefetch.distanceBytes / size), lowering.program.ranges);
            into.push_back(ir::makePrefetch(lowering.buffers[prefetch.source][0], std::move(ahead)));
        }
    }
}

} // namespace lathe::schedule
