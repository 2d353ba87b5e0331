#include "core/schedule/prefetch.h"

#include "core/ir/linear_form.h"
#include "core/ir/simplify.h"
#include "core/ir/substitute.h"

#include <algorithm>

namespace lathe::schedule {

namespace {

using ir::Expr;

constexpr std::int64_t kLineBytes = 64;
constexpr std::int32_t kLocalityL2 = 2; ///< of what is needed much later
constexpr std::size_t kMaxLines = 32; ///< per iteration; more would displace what they fetch

/// Offsets, in elements from the first one read, of the lines that one iteration touches.
std::vector<std::int64_t> lineOffsets(const std::vector<std::pair<std::int64_t, std::int64_t>>& steps,
                                      std::int64_t elementsPerLine)
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

/// How the loops around an attached stage use what it reads: they walk over it so many times before they come to the
/// next.
struct Reuse
{
    Expr walk = ir::intImm(0); ///< which of the walks this is
    std::int64_t walks = 1;
    bool hasNext = false;
};

/// Of a loop made of several by fusing them: how many turns it takes until the indices change; 1: each does.
std::int64_t walksInside(const Expr& leaf, const std::vector<Expr>& indices)
{
    std::int64_t uses = 0, divided = 0, least = 0;
    for (const Expr& index : indices)
        ir::visit(index, [&](const Expr& e) {
            uses += e.get() == leaf.get() ? 1 : 0;
            if (e->kind != ir::ExprKind::FloorDiv || e->operands[0].get() != leaf.get()
                || e->operands[1]->kind != ir::ExprKind::IntImm)
                return;
            ++divided;
            least = least == 0 ? e->operands[1]->intValue : std::min(least, e->operands[1]->intValue);
        });
    return uses > 0 && uses == divided ? std::max<std::int64_t>(1, least) : 1;
}

Reuse reuseAround(const Lowering& lowering, const Stage& stage, const std::vector<Expr>& indices)
{
    Reuse reuse;
    if (stage.location != Location::At)
        return reuse;
    const Stage& owner = lowering.stage(stage.attachStage);
    const StageBounds& bounds = lowering.program.stages[stage.attachStage];
    for (std::size_t i = static_cast<std::size_t>(stage.attachIter) + 1; i-- > 0;) {
        const Expr& leaf = bounds.leaves[i];
        const std::int64_t extent = bounds.extents[owner.iters[i].id];
        if (std::any_of(indices.begin(), indices.end(), [&leaf](const Expr& index) { return ir::uses(index, leaf); })) {
            const std::int64_t inner = walksInside(leaf, indices);
            reuse.walk = reuse.walk + ir::floorMod(leaf, ir::intImm(inner)) * ir::intImm(reuse.walks);
            reuse.walks *= inner;
            reuse.hasNext = extent > inner;
            return reuse;
        }
        reuse.walk = reuse.walk + leaf * ir::intImm(reuse.walks);
        reuse.walks *= extent;
    }
    return reuse;
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
                stride += ir::linearForm(indices[d], lowering.program.ranges).coefficientOf(bounds.leaves[i])
                          * buffer.strides[d];
            if (stride != 0 && extent > 1)
                steps.emplace_back(stride, extent);
            toStart[bounds.leaves[i].get()] = 0;
        }
        for (Expr& index : indices)
            index = ir::simplify(ir::substitute(index, toStart), lowering.program.ranges);
        const std::int64_t size = sizeOf(buffer.dtype);
        const std::vector<std::int64_t> lines = lineOffsets(steps, kLineBytes / size);
        if (prefetch.distanceBytes == 0) {
            const Reuse reuse = reuseAround(lowering, stage, indices);
            if (!reuse.hasNext || reuse.walks == 1)
                continue; // read once: there is no time to spread anything over
            // Behind all that one walk reads stands what the next ones do. Each walk takes its share of that, each
            // iteration `each` lines; the shares of two walks overlap where they do not divide.
            std::int64_t walked = 1, iterations = 1;
            Expr iteration = ir::intImm(0);
            for (std::size_t i = stage.iters.size(); i-- > 0;) {
                const std::int64_t extent = bounds.extents[stage.iters[i].id];
                std::int64_t stride = 0;
                for (std::size_t d = 0; d < indices.size(); ++d)
                    stride += ir::linearForm(indices[d], lowering.program.ranges).coefficientOf(bounds.leaves[i])
                              * buffer.strides[d];
                walked += i <= iter ? stride * (extent - 1) : 0;
                if (i <= iter && stride != 0) {
                    iteration = iteration + bounds.leaves[i] * ir::intImm(iterations);
                    iterations *= extent;
                }
            }
            for (const auto& [stride, extent] : steps)
                walked += stride * (extent - 1);
            ir::Substitution toBegin;
            for (std::size_t i = 0; i <= iter; ++i)
                toBegin[bounds.leaves[i].get()] = 0;
            const auto count = static_cast<std::int64_t>(lines.size());
            const std::int64_t each = std::min<std::int64_t>((count + reuse.walks - 1) / reuse.walks, kMaxLines);
            const std::int64_t all = (walked * size + kLineBytes - 1) / kLineBytes;
            for (std::int64_t k = 0; k < each; ++k) {
                std::vector<Expr> ahead;
                for (const Expr& index : indices)
                    ahead.push_back(ir::simplify(ir::substitute(index, toBegin), lowering.program.ranges));
                const Expr share = ir::floorDiv(reuse.walk * ir::intImm(all), ir::intImm(reuse.walks));
                const Expr line = share + iteration * ir::intImm(each) + ir::intImm(k);
                ahead.back() = ir::simplify(ahead.back() + line * ir::intImm(kLineBytes / size) + ir::intImm(walked),
                                            lowering.program.ranges);
                into.push_back(ir::makePrefetch(lowering.buffers[prefetch.source][0], std::move(ahead), kLocalityL2));
            }
            continue;
        }
        for (std::size_t k = 0; k < std::min(lines.size(), kMaxLines); ++k) {
            std::vector<Expr> ahead = indices;
            ahead.back() = ir::simplify(ahead.back() + ir::intImm(lines[k] + prefetch.distanceBytes / size),
                                        lowering.program.ranges);
            into.push_back(ir::makePrefetch(lowering.buffers[prefetch.source][0], std::move(ahead)));
        }
    }
}

} // namespace lathe::schedule
