#include "core/compute/definitions/indexing.h"

#include "core/compute/definitions/spatial.h"

#include <limits>

namespace lathe::compute {

namespace {

using Exprs = std::vector<ir::Expr>;

/// No smaller (largest: no larger) value of the type exists.
ir::Expr extreme(DType t, bool largest)
{
    if (isFloat(t)) {
        const double infinity = std::numeric_limits<double>::infinity();
        return ir::floatImm(largest ? infinity : -infinity, t);
    }
    const auto bits = static_cast<int>(sizeOf(t) * 8);
    if (!isSigned(t))
        return ir::intImm(largest ? static_cast<std::int64_t>(~std::uint64_t{0} >> (64 - bits)) : 0, t);
    const std::int64_t high = static_cast<std::int64_t>(~std::uint64_t{0} >> (65 - bits));
    return ir::intImm(largest ? high : -high - 1, t);
}

/// The updates of each place joined; Replace: the number of the last one, or -1.
/// `match(a, r)`: update r names place a; `update(a, r)`: its value.
Tensor joinUpdates(DagBuilder& b, const std::vector<std::int64_t>& shape, std::int64_t count, DType dtype,
                   ScatterMode mode, const std::function<ir::Expr(const Exprs&, const ir::Expr&)>& match,
                   const std::function<ir::Expr(const Exprs&, const ir::Expr&)>& update)
{
    const auto joined = [&](ir::Combiner combiner, const ir::Expr& neutral) {
        return b.reduce(
            "scatter_updates", shape, axisNames(shape.size()), "comm_reduce", combiner, {{"k", count}},
            [&](const Exprs& a, const Exprs& r) { return ir::ifThenElse(match(a, r[0]), update(a, r[0]), neutral); });
    };
    switch (mode) {
    case ScatterMode::Replace:
        return b.reduce(
            "scatter_last", shape, axisNames(shape.size()), "comm_reduce", ir::Combiner::Max, {{"k", count}},
            [&](const Exprs& a, const Exprs& r) { return ir::ifThenElse(match(a, r[0]), r[0], index(-1)); });
    case ScatterMode::Add: return joined(ir::Combiner::Sum, constant(0, dtype));
    case ScatterMode::Multiply: return joined(ir::Combiner::Prod, constant(1, dtype));
    case ScatterMode::Maximum: return joined(ir::Combiner::Max, extreme(dtype, false));
    case ScatterMode::Minimum: return joined(ir::Combiner::Min, extreme(dtype, true));
    }
    return {};
}

Tensor scatter(DagBuilder& b, Tensor x, std::int64_t count, ScatterMode mode,
               const std::function<ir::Expr(const Exprs&, const ir::Expr&)>& match,
               const std::function<ir::Expr(const Exprs&, const ir::Expr&)>& update,
               const std::function<ir::Expr(const Exprs&)>& covered)
{
    const std::vector<std::int64_t> shape = b.shape(x);
    const Tensor found = joinUpdates(b, shape, count, b.dtype(x), mode, match, update);
    return b.compute("scatter", shape, axisNames(shape.size()), "injective", [&](const Exprs& a) {
        const ir::Expr old = b.at(x, a), news = b.at(found, a);
        switch (mode) {
        case ScatterMode::Replace: {
            const ir::Expr inside = covered(a);
            const ir::Expr any = inside ? inside && news >= index(0) : news >= index(0);
            return ir::ifThenElse(any, update(a, ir::max(news, index(0))), old);
        }
        case ScatterMode::Add: return old + news;
        case ScatterMode::Multiply: return old * news;
        case ScatterMode::Maximum: return ir::max(old, news);
        case ScatterMode::Minimum: return ir::min(old, news);
        }
        return old;
    });
}

} // namespace

ir::Expr wrappedIndex(const ir::Expr& raw, std::int64_t extent)
{
    // In its own type where that is wider than an index: 2^32 + 1 is not 1.
    const ir::Expr i = sizeOf(raw->dtype) < sizeOf(DType::I32) ? ir::cast(DType::I32, raw) : raw;
    const auto literal = [&i](std::int64_t value) { return ir::intImm(value, i->dtype); };
    const ir::Expr wrapped = isSigned(raw->dtype) ? ir::select(i < literal(0), i + literal(extent), i) : i;
    return ir::cast(DType::I32, ir::max(ir::min(wrapped, literal(extent - 1)), literal(0)));
}

Tensor gatherNd(DagBuilder& b, Tensor x, Tensor indices, std::int64_t batchDims)
{
    const std::vector<std::int64_t> in = b.shape(x), picks = b.shape(indices);
    const auto depth = static_cast<std::size_t>(picks.back());
    const auto batch = static_cast<std::size_t>(batchDims);
    const std::size_t places = picks.size() - 1; // dimensions of the result that count places
    std::vector<std::int64_t> shape(picks.begin(), picks.end() - 1);
    shape.insert(shape.end(), in.begin() + static_cast<std::ptrdiff_t>(batch + depth), in.end());
    return b.compute("T_gather_nd", shape, axisNames(shape.size()), "injective", [&](const Exprs& a) {
        Exprs at(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(batch));
        for (std::size_t d = 0; d < depth; ++d) {
            Exprs place(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(places));
            place.push_back(index(static_cast<std::int64_t>(d)));
            at.push_back(wrappedIndex(b.at(indices, place), in[batch + d]));
        }
        at.insert(at.end(), a.begin() + static_cast<std::ptrdiff_t>(places), a.end());
        return b.at(x, at);
    });
}

Tensor scatterElements(DagBuilder& b, Tensor x, Tensor indices, Tensor updates, std::int64_t axis, ScatterMode mode)
{
    const std::vector<std::int64_t> shape = b.shape(x), picks = b.shape(indices);
    const auto dim = static_cast<std::size_t>(axis);
    const auto covered = [&](const Exprs& a) {
        ir::Expr inside;
        for (std::size_t d = 0; d < shape.size(); ++d) {
            if (d == dim || picks[d] >= shape[d])
                continue;
            const ir::Expr within = a[d] < index(picks[d]);
            inside = inside ? inside && within : within;
        }
        return inside;
    };
    const auto place = [&](const Exprs& a, const ir::Expr& r) {
        Exprs at = a;
        at[dim] = r;
        return at;
    };
    const auto match = [&](const Exprs& a, const ir::Expr& r) {
        const ir::Expr inside = covered(a);
        const ir::Expr load = b.at(indices, place(a, r));
        const ir::Expr raw = inside ? ir::ifThenElse(inside, load, constant(0, b.dtype(indices))) : load;
        const ir::Expr equal = ir::eq(wrappedIndex(raw, shape[dim]), a[dim]);
        return inside ? inside && equal : equal;
    };
    return scatter(
        b, x, picks[dim], mode, match, [&](const Exprs& a, const ir::Expr& r) { return b.at(updates, place(a, r)); },
        covered);
}

Tensor scatterNd(DagBuilder& b, Tensor x, Tensor indices, Tensor updates, ScatterMode mode)
{
    const std::vector<std::int64_t> shape = b.shape(x), picks = b.shape(indices);
    const auto depth = static_cast<std::size_t>(picks[1]);
    const auto match = [&](const Exprs& a, const ir::Expr& r) {
        ir::Expr all = ir::boolImm(true);
        for (std::size_t d = 0; d < depth; ++d) {
            const ir::Expr equal = ir::eq(
                wrappedIndex(b.at(indices, {r, index(static_cast<std::int64_t>(d))}), shape[d]), a[d]);
            all = d == 0 ? equal : all && equal;
        }
        return all;
    };
    const auto update = [&](const Exprs& a, const ir::Expr& r) {
        Exprs at{r};
        at.insert(at.end(), a.begin() + static_cast<std::ptrdiff_t>(depth), a.end());
        return b.at(updates, at);
    };
    return scatter(b, x, picks[0], mode, match, update, [](const Exprs&) { return ir::Expr(); });
}

Tensor cumulativeSum(DagBuilder& b, Tensor x, std::int64_t axis, bool exclusive, bool reverse)
{
    const std::vector<std::int64_t> shape = b.shape(x);
    const auto dim = static_cast<std::size_t>(axis);
    return b.reduce("cumulative_sum", shape, axisNames(shape.size()), "comm_reduce", ir::Combiner::Sum,
                    {{"k", shape[dim]}}, [&](const Exprs& a, const Exprs& r) {
                        Exprs at = a;
                        at[dim] = r[0];
                        const ir::Expr& first = reverse ? a[dim] : r[0];
                        const ir::Expr& last = reverse ? r[0] : a[dim];
                        return ir::select(exclusive ? first < last : first <= last, b.at(x, at),
                                          constant(0, b.dtype(x)));
                    });
}

Tensor topPositions(DagBuilder& b, Tensor x, std::int64_t axis, std::int64_t count, bool largest)
{
    std::vector<std::int64_t> shape = b.shape(x);
    const auto dim = static_cast<std::size_t>(axis);
    const std::int64_t extent = shape[dim];
    // How many stand before each element, then who has each place: comparisons of all pairs, without branches or writes
    // to computed places.
    const Tensor places = b.reduce("place", shape, axisNames(shape.size()), "comm_reduce", ir::Combiner::Sum,
                                   {{"k", extent}}, [&](const Exprs& a, const Exprs& r) {
                                       Exprs at = a;
                                       at[dim] = r[0];
                                       const ir::Expr mine = b.at(x, a), other = b.at(x, at);
                                       const ir::Expr before = (largest ? other > mine : other < mine)
                                                               || (ir::eq(other, mine) && r[0] < a[dim]);
                                       return ir::select(before, index(1), index(0));
                                   });
    shape[dim] = count;
    const Tensor found = b.reduce("position", shape, axisNames(shape.size()), "comm_reduce", ir::Combiner::Sum,
                                  {{"k", extent}}, [&](const Exprs& a, const Exprs& r) {
                                      Exprs at = a;
                                      at[dim] = r[0];
                                      return ir::select(ir::eq(b.at(places, at), a[dim]), r[0], index(0));
                                  });
    return b.compute("T_cast", shape, axisNames(shape.size()), "elemwise",
                     [&](const Exprs& a) { return ir::cast(DType::I64, b.at(found, a)); });
}

} // namespace lathe::compute
