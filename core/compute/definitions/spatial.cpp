#include "core/compute/definitions/spatial.h"

#include "core/compute/definitions/elementwise.h"

namespace lathe::compute {

std::vector<std::string> axisNames(std::size_t rank)
{
    std::vector<std::string> names;
    for (std::size_t i = 0; i < rank; ++i)
        names.push_back("ax" + std::to_string(i));
    return names;
}

ir::Expr zero(DType dtype)
{
    return constant(0, dtype);
}

ir::Expr summand(const ir::Expr& value, std::int64_t count)
{
    if (!isFloat(value->dtype))
        return value;
    if (count > kLongSum)
        return ir::cast(DType::F64, value);
    return ir::cast(sumType(value->dtype), value);
}

DType sumType(DType type)
{
    return type == DType::F16 || type == DType::BF16 ? DType::F32 : type;
}

Tensor rounded(DagBuilder& b, Tensor sum, DType type)
{
    return b.dtype(sum) == type ? sum : cast(b, sum, type);
}

ir::Expr constant(double value, DType dtype)
{
    return isFloat(dtype) ? ir::floatImm(value, dtype) : ir::intImm(static_cast<std::int64_t>(value), dtype);
}

template<std::size_t N>
Tensor padSpatial(DagBuilder& b, Tensor data, ImageLayout layout, const std::array<std::int64_t, 2 * N>& padding,
                  const std::string& name)
{
    const std::array<std::size_t, N> dims = spatialAxes<N>(layout);
    std::vector<std::int64_t> shape = b.shape(data);
    const std::vector<std::int64_t> source = shape;
    for (std::size_t i = 0; i < N; ++i)
        shape[dims[i]] += padding[i] + padding[i + N];
    return b.compute(name, shape, {}, "injective,pad", [&](const std::vector<ir::Expr>& axes) {
        std::vector<ir::Expr> at = axes;
        ir::Expr inside;
        for (std::size_t i = 0; i < N; ++i) {
            const std::size_t dim = dims[i];
            const std::int64_t before = padding[i];
            if (before == 0 && padding[i + N] == 0)
                continue;
            at[dim] = axes[dim] - index(before);
            const ir::Expr low = axes[dim] >= index(before);
            inside = inside ? inside && low : low;
            inside = inside && axes[dim] < index(source[dim] + before);
        }
        const ir::Expr value = b.at(data, at);
        return inside ? ir::ifThenElse(inside, value, zero(b.dtype(data))) : value;
    });
}

template Tensor padSpatial<2>(DagBuilder&, Tensor, ImageLayout, const std::array<std::int64_t, 4>&, const std::string&);
template Tensor padSpatial<3>(DagBuilder&, Tensor, ImageLayout, const std::array<std::int64_t, 6>&, const std::string&);

void markLayoutFree(DagBuilder& b, Tensor t, Tensor weight)
{
    if (!b.isPlaceholder(weight))
        return;
    b.setAttr(t, "layout_free_placeholders", std::vector<std::string>{b.name(weight)});
    b.setAttr(weight, "layout_free", std::int64_t{1});
}

} // namespace lathe::compute
