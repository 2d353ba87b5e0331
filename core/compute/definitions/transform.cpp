#include "core/compute/definitions/transform.h"

#include "core/compute/definitions/indexing.h"
#include "core/compute/definitions/spatial.h"

namespace lathe::compute {

namespace {

using Exprs = std::vector<ir::Expr>;

std::size_t normalizedAxis(std::int64_t axis, std::size_t rank)
{
    return static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis);
}

/// Indices of `from` for the row-major position of `a` in `to`. Dimensions are matched in the smallest groups with
/// equal products, so that dimensions that stay are read by their own variable.
Exprs reshapedIndices(const Exprs& a, const std::vector<std::int64_t>& to, const std::vector<std::int64_t>& from)
{
    Exprs at(from.size(), index(0));
    std::size_t t = 0;
    std::size_t f = 0;
    while (t < to.size() || f < from.size()) {
        // Extents of 1 on either side stand alone.
        if (t < to.size() && to[t] == 1) {
            ++t;
            continue;
        }
        if (f < from.size() && from[f] == 1) {
            ++f;
            continue;
        }
        if (t >= to.size() || f >= from.size())
            break; // empty tensors: an extent of 0 has no partner
        std::size_t tEnd = t + 1;
        std::size_t fEnd = f + 1;
        std::int64_t tSize = to[t];
        std::int64_t fSize = from[f];
        while (tSize != fSize) {
            if (tSize < fSize && tEnd < to.size())
                tSize *= to[tEnd++];
            else if (fEnd < from.size())
                fSize *= from[fEnd++];
            else
                break;
        }
        ir::Expr flat = a[t];
        for (std::size_t i = t + 1; i < tEnd; ++i)
            flat = to[i] == 1 ? flat : flat * index(to[i]) + a[i];
        std::int64_t stride = 1;
        for (std::size_t i = fEnd; i-- > f;) {
            const ir::Expr quotient = ir::floorDiv(flat, index(stride));
            at[i] = from[i] == 1 ? index(0) : i == f ? quotient : ir::floorMod(quotient, index(from[i]));
            stride *= from[i];
        }
        t = tEnd;
        f = fEnd;
    }
    return at;
}

} // namespace

Tensor transpose(DagBuilder& b, Tensor x, const std::vector<std::int64_t>& permutation)
{
    const std::vector<std::int64_t> in = b.shape(x);
    std::vector<std::int64_t> shape;
    for (const std::int64_t p : permutation)
        shape.push_back(in[static_cast<std::size_t>(p)]);
    return b.compute("T_transpose", shape, axisNames(shape.size()), "injective", [&](const Exprs& a) {
        Exprs at(in.size());
        for (std::size_t i = 0; i < permutation.size(); ++i)
            at[static_cast<std::size_t>(permutation[i])] = a[i];
        return b.at(x, at);
    });
}

Tensor reshape(DagBuilder& b, Tensor x, std::vector<std::int64_t> shape)
{
    return b.compute("T_reshape", shape, axisNames(shape.size()), "injective",
                     [&](const Exprs& a) { return b.at(x, reshapedIndices(a, shape, b.shape(x))); });
}

Tensor batchFlatten(DagBuilder& b, Tensor x)
{
    const std::vector<std::int64_t> in = b.shape(x);
    std::int64_t rest = 1;
    for (std::size_t i = 1; i < in.size(); ++i)
        rest *= in[i];
    const std::vector<std::int64_t> shape{in[0], rest};
    return b.compute("tensor", shape, axisNames(2), "injective",
                     [&](const Exprs& a) { return b.at(x, reshapedIndices(a, shape, in)); });
}

Tensor concatenate(DagBuilder& b, std::span<const Tensor> xs, std::int64_t axis)
{
    std::vector<std::int64_t> shape = b.shape(xs[0]);
    const std::size_t dim = normalizedAxis(axis, shape.size());
    std::vector<std::int64_t> begins;
    std::int64_t total = 0;
    for (const Tensor x : xs) {
        begins.push_back(total);
        total += b.shape(x)[dim];
    }
    shape[dim] = total;
    return b.compute("T_concat", shape, axisNames(shape.size()), "injective", [&](const Exprs& a) {
        const auto piece = [&](std::size_t i) {
            Exprs at = a;
            at[dim] = a[dim] - index(begins[i]);
            return b.at(xs[i], at);
        };
        ir::Expr value = piece(0);
        for (std::size_t i = 1; i < xs.size(); ++i)
            value = ir::ifThenElse(a[dim] >= index(begins[i]), piece(i), value);
        return value;
    });
}

Tensor stridedSlice(DagBuilder& b, Tensor x, const std::vector<std::int64_t>& begin,
                    const std::vector<std::int64_t>& strides, const std::vector<std::int64_t>& outShape)
{
    return b.compute("T_strided_slice", outShape, axisNames(outShape.size()), "injective", [&](const Exprs& a) {
        Exprs at;
        for (std::size_t i = 0; i < a.size(); ++i)
            at.push_back(strides[i] > 0 ? a[i] * index(strides[i]) + index(begin[i])
                                        : index(begin[i]) - a[i] * index(-strides[i]));
        return b.at(x, at);
    });
}

Tensor slice(DagBuilder& b, Tensor x, std::int64_t axis, std::int64_t begin, std::int64_t size)
{
    std::vector<std::int64_t> shape = b.shape(x);
    const std::size_t dim = normalizedAxis(axis, shape.size());
    shape[dim] = size;
    std::vector<std::int64_t> begins(shape.size(), 0);
    begins[dim] = begin;
    return stridedSlice(b, x, begins, std::vector<std::int64_t>(shape.size(), 1), shape);
}

Tensor pad(DagBuilder& b, Tensor x, const std::vector<std::int64_t>& before, const std::vector<std::int64_t>& after,
           PadMode mode, double value)
{
    const std::vector<std::int64_t> in = b.shape(x);
    std::vector<std::int64_t> shape = in;
    for (std::size_t i = 0; i < in.size(); ++i)
        shape[i] += before[i] + after[i];
    return b.compute("T_pad", shape, axisNames(shape.size()), "injective,pad", [&](const Exprs& a) {
        Exprs at = a;
        ir::Expr inside;
        const auto require = [&](const ir::Expr& condition) { inside = inside ? inside && condition : condition; };
        for (std::size_t i = 0; i < a.size(); ++i) {
            if (before[i] == 0 && after[i] == 0)
                continue;
            const ir::Expr position = before[i] >= 0 ? a[i] - index(before[i]) : a[i] + index(-before[i]);
            const ir::Expr last = index(in[i] - 1);
            switch (mode) {
            case PadMode::Constant:
                at[i] = position;
                if (before[i] > 0)
                    require(a[i] >= index(before[i]));
                if (after[i] > 0)
                    require(a[i] < index(before[i] + in[i]));
                break;
            case PadMode::Edge: at[i] = ir::max(ir::min(position, last), index(0)); break;
            case PadMode::Reflect: {
                // Folded at 0 and at the last element: one reflection suffices, the padding is smaller than the extent.
                const ir::Expr folded = ir::max(position, index(before[i]) - a[i]);
                at[i] = ir::min(folded, index(2 * (in[i] - 1)) - folded);
                break;
            }
            }
        }
        const ir::Expr v = b.at(x, at);
        return inside ? ir::ifThenElse(inside, v, constant(value, b.dtype(x))) : v;
    });
}

Tensor take(DagBuilder& b, Tensor x, Tensor indices, std::int64_t axis)
{
    const std::vector<std::int64_t> in = b.shape(x);
    const std::vector<std::int64_t> picks = b.shape(indices);
    const std::size_t dim = normalizedAxis(axis, in.size());
    std::vector<std::int64_t> shape(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(dim));
    shape.insert(shape.end(), picks.begin(), picks.end());
    shape.insert(shape.end(), in.begin() + static_cast<std::ptrdiff_t>(dim) + 1, in.end());
    return b.compute("T_take", shape, axisNames(shape.size()), "injective", [&](const Exprs& a) {
        const auto middle = a.begin() + static_cast<std::ptrdiff_t>(dim);
        const auto tail = middle + static_cast<std::ptrdiff_t>(picks.size());
        Exprs at(a.begin(), middle);
        at.push_back(wrappedIndex(b.at(indices, Exprs(middle, tail)), in[dim]));
        at.insert(at.end(), tail, a.end());
        return b.at(x, at);
    });
}

Tensor gatherElements(DagBuilder& b, Tensor x, Tensor indices, std::int64_t axis)
{
    const std::vector<std::int64_t> shape = b.shape(indices);
    const std::size_t dim = normalizedAxis(axis, shape.size());
    return b.compute("T_gather", shape, axisNames(shape.size()), "injective", [&](const Exprs& a) {
        Exprs at = a;
        at[dim] = wrappedIndex(b.at(indices, a), b.shape(x)[dim]);
        return b.at(x, at);
    });
}

Tensor broadcastTo(DagBuilder& b, Tensor x, std::vector<std::int64_t> shape)
{
    const std::vector<std::int64_t> in = b.shape(x);
    return b.compute("T_broadcast_to", shape, axisNames(shape.size()), "broadcast", [&](const Exprs& a) {
        Exprs at;
        for (std::size_t i = 0; i < in.size(); ++i) {
            const std::size_t axis = shape.size() - in.size() + i;
            at.push_back(in[i] == shape[axis] ? a[axis] : index(0));
        }
        return b.at(x, at);
    });
}

Tensor tile(DagBuilder& b, Tensor x, const std::vector<std::int64_t>& repeats)
{
    const std::vector<std::int64_t> in = b.shape(x);
    std::vector<std::int64_t> shape = in;
    for (std::size_t i = 0; i < in.size(); ++i)
        shape[i] *= repeats[i];
    return b.compute("T_tile", shape, axisNames(shape.size()), "injective", [&](const Exprs& a) {
        Exprs at;
        for (std::size_t i = 0; i < in.size(); ++i)
            at.push_back(repeats[i] == 1 ? a[i] : ir::floorMod(a[i], index(in[i])));
        return b.at(x, at);
    });
}

Tensor full(DagBuilder& b, std::vector<std::int64_t> shape, DType dtype, double value)
{
    return b.compute("T_full", shape, axisNames(shape.size()), "elemwise",
                     [&](const Exprs&) { return constant(value, dtype); });
}

Tensor depthToSpace(DagBuilder& b, Tensor x, std::int64_t block, bool columnRowDepth)
{
    const std::vector<std::int64_t> in = b.shape(x);
    const std::int64_t channels = in[1] / (block * block);
    return b.compute(
        "depth_to_space", {in[0], channels, in[2] * block, in[3] * block}, axisNames(4), "injective",
        [&](const Exprs& a) {
            const ir::Expr offset = ir::floorMod(a[2], index(block)) * index(block) + ir::floorMod(a[3], index(block));
            const ir::Expr channel = columnRowDepth ? a[1] * index(block * block) + offset
                                                    : offset * index(channels) + a[1];
            return b.at(x, {a[0], channel, ir::floorDiv(a[2], index(block)), ir::floorDiv(a[3], index(block))});
        });
}

} // namespace lathe::compute
