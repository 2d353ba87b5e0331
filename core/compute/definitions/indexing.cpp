#include "core/compute/definitions/indexing.h"

#include "core/compute/definitions/spatial.h"

namespace lathe::compute {

namespace {

using Exprs = std::vector<ir::Expr>;

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

} // namespace lathe::compute
