#include "core/compute/definitions/reduction.h"

#include "core/compute/definitions/elementwise.h"
#include "core/compute/definitions/spatial.h"

#include <algorithm>
#include <functional>

namespace lathe::compute {

namespace {

using Exprs = std::vector<ir::Expr>;

/// Which dimensions go, and how points of the result map to points of the operand.
class Reduced
{
public:
    Reduced(const DagBuilder& b, Tensor x, const std::vector<std::int64_t>& axes, bool keepDims)
        : m_shape(b.shape(x))
        , m_keep(keepDims)
    {
        const auto rank = static_cast<std::int64_t>(m_shape.size());
        m_gone.assign(m_shape.size(), axes.empty());
        for (const std::int64_t axis : axes)
            m_gone[static_cast<std::size_t>(axis < 0 ? axis + rank : axis)] = true;
        for (std::size_t i = 0; i < m_shape.size(); ++i) {
            if (m_gone[i])
                m_reduceAxes.emplace_back("k" + std::to_string(m_reduceAxes.size()), m_shape[i]);
            if (!m_gone[i] || keepDims) {
                m_names.push_back("ax" + std::to_string(m_names.size()));
                m_result.push_back(m_gone[i] ? 1 : m_shape[i]);
            }
        }
    }

    const std::vector<std::int64_t>& shape() const { return m_result; }
    const std::vector<std::string>& names() const { return m_names; }
    const std::vector<std::pair<std::string, std::int64_t>>& reduceAxes() const { return m_reduceAxes; }

    std::int64_t count() const
    {
        std::int64_t n = 1;
        for (const auto& [name, extent] : m_reduceAxes)
            n *= extent;
        return n;
    }

    Exprs operand(const Exprs& a, const Exprs& r) const
    {
        Exprs at;
        std::size_t ai = 0;
        std::size_t ri = 0;
        for (std::size_t i = 0; i < m_shape.size(); ++i) {
            at.push_back(m_gone[i] ? r[ri++] : a[ai]);
            if (!m_gone[i] || m_keep)
                ++ai;
        }
        return at;
    }

private:
    std::vector<std::int64_t> m_shape;
    std::vector<bool> m_gone;
    bool m_keep;
    std::vector<std::int64_t> m_result;
    std::vector<std::string> m_names;
    std::vector<std::pair<std::string, std::int64_t>> m_reduceAxes;
};

Tensor reduceBy(DagBuilder& b, ir::Combiner combiner, Tensor x, const Reduced& over,
                const std::function<ir::Expr(const ir::Expr&)>& value)
{
    const std::string name = b.name(x) + "_red";
    if (over.reduceAxes().empty()) // nothing to reduce: rank 0, or no axes of its own
        return b.compute(name, over.shape(), over.names(), "injective",
                         [&](const Exprs& a) { return value(b.at(x, over.operand(a, {}))); });
    return b.reduce(name, over.shape(), over.names(), "comm_reduce", combiner, over.reduceAxes(),
                    [&](const Exprs& a, const Exprs& r) {
                        const ir::Expr one = b.at(x, over.operand(a, r));
                        if (combiner == ir::Combiner::Sum)
                            return value(summand(one, over.count()));
                        return value(combiner == ir::Combiner::Prod ? ir::cast(sumType(one->dtype), one) : one);
                    });
}

/// In the type that sums are kept in: a mean of half floats may exist where their sum does not.
Tensor wideReduction(DagBuilder& b, Reduction op, Tensor x, const Reduced& over)
{
    const auto plain = [](const ir::Expr& v) { return v; };
    const auto square = [](const ir::Expr& v) { return v * v; };
    switch (op) {
    case Reduction::Sum: return reduceBy(b, ir::Combiner::Sum, x, over, plain);
    case Reduction::Max: return reduceBy(b, ir::Combiner::Max, x, over, plain);
    case Reduction::Min: return reduceBy(b, ir::Combiner::Min, x, over, plain);
    case Reduction::Prod: return reduceBy(b, ir::Combiner::Prod, x, over, plain);
    case Reduction::SumSquare: return reduceBy(b, ir::Combiner::Sum, x, over, square);
    case Reduction::L1:
        return reduceBy(b, ir::Combiner::Sum, x, over, [](const ir::Expr& v) { return applyUnary(Unary::Abs, v); });
    case Reduction::L2: return unary(b, Unary::Sqrt, reduceBy(b, ir::Combiner::Sum, x, over, square));
    case Reduction::LogSum: return unary(b, Unary::Log, reduceBy(b, ir::Combiner::Sum, x, over, plain));
    case Reduction::Mean:
        return binaryScalar(b, Binary::Divide, reduceBy(b, ir::Combiner::Sum, x, over, plain),
                            static_cast<double>(over.count()));
    case Reduction::LogSumExp: {
        const Tensor largest = reduceBy(b, ir::Combiner::Max, x, over, plain);
        // Taken off to keep exp within its range; an infinity would leave infinity - infinity.
        const Tensor taken = b.compute("T_finite", over.shape(), over.names(), "elemwise", [&](const Exprs& a) {
            const ir::Expr v = b.at(largest, a), none = constant(0, v->dtype);
            return ir::select(ir::eq(v - v, none), v, none);
        });
        const Tensor sum = b.reduce(
            b.name(x) + "_red", over.shape(), over.names(), "comm_reduce", ir::Combiner::Sum, over.reduceAxes(),
            [&](const Exprs& a, const Exprs& r) {
                return summand(applyUnary(Unary::Exp, b.at(x, over.operand(a, r)) - b.at(taken, a)), over.count());
            });
        const Tensor logarithm = unary(b, Unary::Log, sum);
        return binary(b, Binary::Add, b.dtype(sum) == b.dtype(x) ? logarithm : cast(b, logarithm, b.dtype(x)), taken);
    }
    }
    return x;
}

} // namespace

Tensor reduction(DagBuilder& b, Reduction op, Tensor x, std::vector<std::int64_t> axes, bool keepDims)
{
    const Tensor result = wideReduction(b, op, x, Reduced(b, x, axes, keepDims));
    return b.dtype(result) == b.dtype(x) ? result : cast(b, result, b.dtype(x));
}

Tensor argReduction(DagBuilder& b, bool largest, Tensor x, std::int64_t axis, bool keepDims)
{
    const Reduced over(b, x, {axis}, keepDims);
    const Tensor position = b.reduce(b.name(x) + "_red", over.shape(), over.names(), "comm_reduce_idx",
                                     largest ? ir::Combiner::ArgMax : ir::Combiner::ArgMin, over.reduceAxes(),
                                     [&](const Exprs& a, const Exprs& r) { return b.at(x, over.operand(a, r)); });
    return cast(b, position, DType::I64);
}

} // namespace lathe::compute
