#include "core/compute/definitions/softmax.h"

#include "core/compute/definitions/elementwise.h"
#include "core/compute/definitions/spatial.h"

namespace lathe::compute {

namespace {

using Exprs = std::vector<ir::Expr>;

/// The axis along which softmax runs, and the shapes of tensor and statistics.
struct Rows
{
    Rows(const DagBuilder& b, Tensor data, std::int64_t axisOrNegative)
        : shape(b.shape(data))
        , axis(static_cast<std::size_t>(axisOrNegative < 0 ? axisOrNegative + static_cast<std::int64_t>(shape.size())
                                                           : axisOrNegative))
        , reduced(shape)
    {
        reduced.erase(reduced.begin() + static_cast<std::ptrdiff_t>(axis));
    }

    /// Indices of the row that an element is in.
    Exprs row(Exprs element) const
    {
        element.erase(element.begin() + static_cast<std::ptrdiff_t>(axis));
        return element;
    }

    /// Indices of the element at position k of a row.
    Exprs element(Exprs rowIndices, const ir::Expr& k) const
    {
        rowIndices.insert(rowIndices.begin() + static_cast<std::ptrdiff_t>(axis), k);
        return rowIndices;
    }

    std::vector<std::int64_t> shape;
    std::size_t axis;
    std::vector<std::int64_t> reduced;
};

Tensor rowMaximum(DagBuilder& b, Tensor data, const Rows& rows)
{
    return b.reduce("T_softmax_maxelem", rows.reduced, {}, "", ir::Combiner::Max, {{"k", rows.shape[rows.axis]}},
                    [&](const Exprs& a, const Exprs& r) { return b.at(data, rows.element(a, r[0])); });
}

/// Of half floats in f32: the difference of two would lose digits that the exponential turns into more.
ir::Expr exponentialOf(const ir::Expr& value, const ir::Expr& largest)
{
    const DType type = sumType(value->dtype);
    return applyUnary(Unary::Exp, ir::cast(type, value) - ir::cast(type, largest));
}

} // namespace

Tensor softmax(DagBuilder& b, Tensor data, std::int64_t axis)
{
    const Rows rows(b, data, axis);
    const Tensor maximum = rowMaximum(b, data, rows);
    const Tensor exponential = b.compute("T_softmax_exp", rows.shape, {}, "", [&](const Exprs& a) {
        return exponentialOf(b.at(data, a), b.at(maximum, rows.row(a)));
    });
    const Tensor sum = b.reduce("T_softmax_expsum", rows.reduced, {}, "", ir::Combiner::Sum,
                                {{"k", rows.shape[rows.axis]}}, [&](const Exprs& a, const Exprs& r) {
                                    return summand(b.at(exponential, rows.element(a, r[0])), rows.shape[rows.axis]);
                                });
    return b.compute("T_softmax_norm", rows.shape, {}, "softmax_output", [&](const Exprs& a) {
        return ir::cast(b.dtype(data), ir::div(ir::cast(b.dtype(sum), b.at(exponential, a)), b.at(sum, rows.row(a))));
    });
}

Tensor logSoftmax(DagBuilder& b, Tensor data, std::int64_t axis)
{
    const Rows rows(b, data, axis);
    const Tensor maximum = rowMaximum(b, data, rows);
    const Tensor sum = b.reduce("T_softmax_expsum", rows.reduced, {}, "", ir::Combiner::Sum,
                                {{"k", rows.shape[rows.axis]}}, [&](const Exprs& a, const Exprs& r) {
                                    return summand(exponentialOf(b.at(data, rows.element(a, r[0])), b.at(maximum, a)),
                                                   rows.shape[rows.axis]);
                                });
    return b.compute("T_log_softmax_norm", rows.shape, {}, "log_softmax_output", [&](const Exprs& a) {
        const DType type = b.dtype(data);
        const ir::Expr logarithm = applyUnary(Unary::Log, b.at(sum, rows.row(a)));
        if (sumType(type) != type) // rounded once
            return ir::cast(type, ir::cast(sumType(type), b.at(data, a))
                                      - ir::cast(sumType(type), b.at(maximum, rows.row(a)))
                                      - ir::cast(sumType(type), logarithm));
        return b.at(data, a) - b.at(maximum, rows.row(a)) - ir::cast(type, logarithm);
    });
}

} // namespace lathe::compute
