#include "core/compute/definitions/elementwise.h"
#include "core/compute/definitions/reduction.h"
#include "core/compute/definitions/spatial.h"

namespace lathe::compute {

namespace {

using Exprs = std::vector<ir::Expr>;

/// (x - mean) / sqrt(variance + epsilon) over dimensions [first, rank).
Tensor normalized(DagBuilder& b, Tensor x, std::size_t first, double epsilon)
{
    std::vector<std::int64_t> axes;
    for (std::size_t i = first; i < b.shape(x).size(); ++i)
        axes.push_back(static_cast<std::int64_t>(i));
    const Tensor mean = reduction(b, Reduction::Mean, x, axes, true);
    const Tensor centred = binary(b, Binary::Subtract, x, mean);
    const Tensor squares = reduction(b, Reduction::SumSquare, centred, axes, true);
    double count = 1;
    for (std::size_t i = first; i < b.shape(x).size(); ++i)
        count *= static_cast<double>(b.shape(x)[i]);
    const Tensor variance = binaryScalar(b, Binary::Divide, squares, count);
    const Tensor scale = unary(b, Unary::Rsqrt, binaryScalar(b, Binary::Add, variance, epsilon));
    return binary(b, Binary::Multiply, centred, scale);
}

} // namespace

Tensor layerNorm(DagBuilder& b, Tensor x, Tensor gamma, Tensor beta, std::int64_t axis, double epsilon)
{
    const auto rank = static_cast<std::int64_t>(b.shape(x).size());
    Tensor result = normalized(b, x, static_cast<std::size_t>(axis < 0 ? axis + rank : axis), epsilon);
    if (gamma.id >= 0)
        result = binary(b, Binary::Multiply, result, gamma);
    if (beta.id >= 0)
        result = binary(b, Binary::Add, result, beta);
    return result;
}

Tensor instanceNorm(DagBuilder& b, Tensor x, Tensor gamma, Tensor beta, double epsilon)
{
    const Tensor unit = normalized(b, x, 2, epsilon);
    const std::vector<std::int64_t> shape = b.shape(x);
    return b.compute("T_instance_norm", shape, {}, "broadcast",
                     [&](const Exprs& a) { return b.at(unit, a) * b.at(gamma, {a[1]}) + b.at(beta, {a[1]}); });
}

} // namespace lathe::compute
