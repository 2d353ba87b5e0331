#include "core/compute/definitions/pool.h"

#include "core/compute/definitions/spatial.h"
#include "core/compute/print.h"
#include "core/compute/walk.h"
#include "core/support/element_count.h"

#include <limits>

namespace lathe::compute {

namespace {

using Exprs = std::vector<ir::Expr>;

ir::Expr lowest(DType t)
{
    if (isFloat(t))
        return ir::floatImm(-std::numeric_limits<double>::infinity(), t);
    if (!isSigned(t))
        return ir::intImm(0, t);
    return ir::intImm(-(std::int64_t{1} << (sizeOf(t) * 8 - 2)) * 2, t);
}

/// How far the last window reaches beyond the padded image.
std::int64_t overrun(std::int64_t n, std::int64_t out, std::int64_t kernel, std::int64_t stride, std::int64_t before,
                     std::int64_t after, std::int64_t dilation)
{
    return std::max<std::int64_t>(0, (out - 1) * stride + dilation * (kernel - 1) + 1 - (n + before + after));
}

/// A select that stays even where its condition is a literal: the reference's texts have it.
ir::Expr literalSelect(bool condition, const ir::Expr& ifTrue, const ir::Expr& ifFalse)
{
    ir::Node node;
    node.kind = ir::ExprKind::Select;
    node.dtype = ifTrue->dtype;
    node.operands = {ir::boolImm(condition), ifTrue, ifFalse};
    return makeNode(std::move(node));
}

} // namespace

std::int64_t pooledExtent(std::int64_t n, std::int64_t kernel, std::int64_t stride, std::int64_t before,
                          std::int64_t after, std::int64_t dilation, bool ceilMode)
{
    const std::int64_t room = n + before + after - dilation * (kernel - 1) - 1;
    if (room < 0)
        return 0;
    std::int64_t out = (ceilMode ? (room + stride - 1) / stride : room / stride) + 1;
    if (ceilMode && (out - 1) * stride >= n + before)
        --out;
    return out;
}

template<std::size_t N>
Tensor pool(DagBuilder& b, Tensor data, PoolKind kind, const PoolParams<N>& p)
{
    const std::array<std::size_t, N> spatial = spatialAxes<N>(p.layout);
    const std::vector<std::string> names = axisNames(N + 2);
    const std::vector<std::int64_t> in = b.shape(data);
    const DType type = b.dtype(data);
    std::vector<std::int64_t> outShape = in;
    std::vector<std::int64_t> paddedShape = in;
    std::array<std::int64_t, N> extra{};
    bool padded = false;
    for (std::size_t i = 0; i < N; ++i) {
        const std::int64_t n = in[spatial[i]];
        const std::int64_t out = pooledExtent(n, p.kernel[i], p.strides[i], p.padding[i], p.padding[i + N],
                                              p.dilation[i], p.ceilMode);
        outShape[spatial[i]] = out;
        extra[i] = overrun(n, out, p.kernel[i], p.strides[i], p.padding[i], p.padding[i + N], p.dilation[i]);
        paddedShape[spatial[i]] = n + p.padding[i] + p.padding[i + N] + extra[i];
        padded |= paddedShape[spatial[i]] != n;
    }

    Tensor source = data;
    if (padded)
        source = b.compute("pad_temp", paddedShape, names, "injective,pad", [&](const Exprs& a) {
            Exprs at = a;
            ir::Expr inside;
            const auto require = [&](const ir::Expr& condition) { inside = inside ? inside && condition : condition; };
            for (std::size_t i = 0; i < N; ++i) {
                const std::size_t dim = spatial[i];
                at[dim] = a[dim] - index(p.padding[i]);
                if (p.padding[i] > 0)
                    require(a[dim] >= index(p.padding[i]));
                if (p.padding[i + N] + extra[i] > 0)
                    require(a[dim] < index(in[dim] + p.padding[i]));
            }
            return ir::ifThenElse(inside, b.at(data, at), kind == PoolKind::Max ? lowest(type) : zero(type));
        });
    if (padded && kind == PoolKind::Max)
        b.setAttr(source, "pads_maximum", std::int64_t{1}); // how print() writes the padding

    std::vector<std::pair<std::string, std::int64_t>> reduceAxes;
    for (std::size_t i = 0; i < N; ++i)
        reduceAxes.emplace_back(std::string("d") + "dhw"[3 - N + i], p.kernel[i]);
    const std::int64_t window = elementCount(p.kernel);
    const ir::Combiner combiner = kind == PoolKind::Max ? ir::Combiner::Max : ir::Combiner::Sum;
    const Tensor pooled = b.reduce("tensor", outShape, names, kind == PoolKind::Max ? "pool_max" : "pool_sum", combiner,
                                   reduceAxes, [&](const Exprs& a, const Exprs& r) {
                                       Exprs at = a;
                                       for (std::size_t i = 0; i < N; ++i)
                                           at[spatial[i]] = a[spatial[i]] * index(p.strides[i])
                                                            + r[i] * index(p.dilation[i]);
                                       const ir::Expr value = b.at(source, at);
                                       return kind == PoolKind::Max ? value : summand(value, window);
                                   });
    if (kind == PoolKind::Max)
        return pooled;

    return b.compute("tensor", outShape, names, "elemwise", [&](const Exprs& a) {
        ir::Expr count = index(1);
        for (std::size_t i = 0; i < N; ++i) {
            const std::int64_t n = in[spatial[i]];
            // Positions that count: the image, with countIncludePad also its explicit padding.
            const std::int64_t first = p.countIncludePad ? -p.padding[i] : 0;
            const std::int64_t end = p.countIncludePad ? n + p.padding[i + N] : n;
            const std::int64_t out = outShape[spatial[i]];
            const bool whole = -p.padding[i] >= first
                               && (out - 1) * p.strides[i] - p.padding[i] + p.dilation[i] * (p.kernel[i] - 1) < end;
            if (whole) {
                count = count * index(p.kernel[i]);
                continue;
            }
            const ir::Expr start = a[spatial[i]] * index(p.strides[i]) - index(p.padding[i]);
            if (p.dilation[i] == 1) {
                count = count * (ir::min(start + index(p.kernel[i]), index(end)) - ir::max(start, index(first)));
                continue;
            }
            ir::Expr inside = index(0);
            for (std::int64_t k = 0; k < p.kernel[i]; ++k) {
                const ir::Expr at = start + index(k * p.dilation[i]);
                inside = inside + ir::select(at >= index(first) && at < index(end), index(1), index(0));
            }
            count = count * inside;
        }
        return ir::cast(type, ir::div(b.at(pooled, a), ir::cast(b.dtype(pooled), ir::max(count, index(1)))));
    });
}

template<std::size_t N>
Tensor adaptivePool(DagBuilder& b, Tensor data, PoolKind kind, ImageLayout layout, std::array<std::int64_t, N> size)
{
    const std::array<std::size_t, N> spatial = spatialAxes<N>(layout);
    const std::vector<std::string> names = axisNames(N + 2);
    const std::vector<std::int64_t> in = b.shape(data);
    const DType type = b.dtype(data);
    std::vector<std::int64_t> outShape = in;
    std::array<bool, N> even{};
    std::vector<std::pair<std::string, std::int64_t>> reduceAxes;
    for (std::size_t i = 0; i < N; ++i) {
        const std::int64_t n = in[spatial[i]];
        outShape[spatial[i]] = size[i];
        even[i] = n % size[i] == 0;
        // Windows of uneven division differ by one or two; the loop has the longest.
        std::int64_t longest = 0;
        for (std::int64_t o = 0; o < size[i]; ++o)
            longest = std::max(longest, ((o + 1) * n + size[i] - 1) / size[i] - o * n / size[i]);
        reduceAxes.emplace_back("rv" + std::to_string(i), longest);
    }
    const auto startOf = [&](const Exprs& a, std::size_t i) {
        return ir::floorDiv(a[spatial[i]] * index(in[spatial[i]]), index(size[i]));
    };
    const auto endOf = [&](const Exprs& a, std::size_t i) {
        const ir::Expr scaled = (a[spatial[i]] + index(1)) * index(in[spatial[i]]);
        const ir::Expr low = ir::floorDiv(scaled, index(size[i]));
        if (size[i] == 1)
            return literalSelect(true, low, low + index(1));
        return ir::select(ir::eq(ir::floorMod(scaled, index(size[i])), index(0)), low, low + index(1));
    };

    const ir::Expr outside = kind == PoolKind::Max ? lowest(type) : zero(type);
    std::int64_t summands = 1; // of the largest window
    for (const auto& [name, extent] : reduceAxes)
        summands *= extent;
    std::vector<std::string> extentTexts;
    const Tensor pooled = b.reduce(
        "tensor", outShape, names, kind == PoolKind::Max ? "adaptive_pool_max" : "adaptive_pool_sum",
        kind == PoolKind::Max ? ir::Combiner::Max : ir::Combiner::Sum, reduceAxes, [&](const Exprs& a, const Exprs& r) {
            Exprs at = a;
            ir::Expr inside;
            for (std::size_t i = 0; i < N; ++i) {
                at[spatial[i]] = startOf(a, i) + r[i];
                if (even[i])
                    continue;
                const ir::Expr within = at[spatial[i]] < endOf(a, i);
                inside = inside ? inside && within : within;
            }
            for (std::size_t i = 0; i < N; ++i)
                extentTexts.push_back(printExpr(Dag{}, endOf(a, i) - startOf(a, i)));
            const ir::Expr one = b.at(data, at);
            const ir::Expr value = inside ? ir::ifThenElse(inside, one, outside) : one;
            return kind == PoolKind::Max ? value : summand(value, summands);
        });
    // The reference leaves these extents symbolic, and its hash-only keys show them.
    b.setAttr(pooled, "reduce_extent_texts", extentTexts);
    if (kind == PoolKind::Max)
        return pooled;
    return b.compute("tensor", outShape, names, "elemwise", [&](const Exprs& a) {
        const auto extent = [&](std::size_t i) { return ir::cast(b.dtype(pooled), endOf(a, i) - startOf(a, i)); };
        ir::Expr count = extent(0);
        for (std::size_t i = 1; i < N; ++i)
            count = count * extent(i);
        return ir::cast(type, ir::div(b.at(pooled, a), count));
    });
}

template<std::size_t N>
Tensor globalPool(DagBuilder& b, Tensor data, PoolKind kind, ImageLayout layout)
{
    std::array<std::int64_t, N> size;
    size.fill(1);
    return adaptivePool<N>(b, data, kind, layout, size);
}

template<std::size_t N>
Tensor poolPositions(DagBuilder& b, Tensor data, const PoolParams<N>& p, bool byColumn)
{
    const Tensor pooled = pool<N>(b, data, PoolKind::Max, p);
    const std::vector<std::int64_t> in = b.shape(data);
    std::vector<std::pair<std::string, std::int64_t>> reduceAxes;
    for (std::size_t i = 0; i < N; ++i)
        reduceAxes.emplace_back(std::string("d") + "dhw"[3 - N + i], p.kernel[i]);
    const auto wide = [](std::int64_t value) { return ir::intImm(value, DType::I64); };
    const ir::Expr none = wide(std::numeric_limits<std::int64_t>::max());
    const Tensor found = b.reduce(
        "pool_position", b.shape(pooled), axisNames(N + 2), "comm_reduce", ir::Combiner::Min, reduceAxes,
        [&](const Exprs& a, const Exprs& r) {
            Exprs at{a[0], a[1]};
            ir::Expr inside, place = ir::cast(DType::I64, a[0]) * wide(in[1]) + ir::cast(DType::I64, a[1]);
            for (std::size_t i = 0; i < N; ++i) {
                at.push_back(a[i + 2] * index(p.strides[i]) + r[i] * index(p.dilation[i]) - index(p.padding[i]));
                const ir::Expr on = at.back() >= index(0) && at.back() < index(in[i + 2]);
                inside = inside ? inside && on : on;
                place = place * wide(in[i + 2]) + ir::cast(DType::I64, at.back());
            }
            const ir::Expr value = ir::ifThenElse(inside, b.at(data, at), zero(b.dtype(data)));
            const ir::Expr hit = ir::eq(value, b.at(pooled, a)) || ir::ne(value, value); // a NaN won
            return ir::select(inside && hit, place, none);
        });
    if (!byColumn)
        return found;
    return b.compute("pool_position_by_column", b.shape(pooled), axisNames(N + 2), "elemwise", [&](const Exprs& a) {
        ir::Expr rest = b.at(found, a), within = wide(0);
        for (std::size_t i = N; i-- > 0;) { // the last dimension counts most
            within = within * wide(in[i + 2]) + ir::floorMod(rest, wide(in[i + 2]));
            rest = ir::floorDiv(rest, wide(in[i + 2]));
        }
        std::int64_t pixels = 1;
        for (std::size_t i = 0; i < N; ++i)
            pixels *= in[i + 2];
        return rest * wide(pixels) + within;
    });
}

template Tensor poolPositions<2>(DagBuilder&, Tensor, const PoolParams<2>&, bool);
template Tensor poolPositions<3>(DagBuilder&, Tensor, const PoolParams<3>&, bool);
template Tensor pool<2>(DagBuilder&, Tensor, PoolKind, const PoolParams<2>&);
template Tensor pool<3>(DagBuilder&, Tensor, PoolKind, const PoolParams<3>&);
template Tensor adaptivePool<2>(DagBuilder&, Tensor, PoolKind, ImageLayout, std::array<std::int64_t, 2>);
template Tensor adaptivePool<3>(DagBuilder&, Tensor, PoolKind, ImageLayout, std::array<std::int64_t, 3>);
template Tensor globalPool<2>(DagBuilder&, Tensor, PoolKind, ImageLayout);
template Tensor globalPool<3>(DagBuilder&, Tensor, PoolKind, ImageLayout);

} // namespace lathe::compute
