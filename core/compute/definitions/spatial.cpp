#include "core/compute/definitions/spatial.h"

namespace lathe::compute {

ir::Expr zero(DType dtype)
{
    return constant(0, dtype);
}

ir::Expr constant(double value, DType dtype)
{
    return isFloat(dtype) ? ir::floatImm(value, dtype) : ir::intImm(static_cast<std::int64_t>(value), dtype);
}

Tensor padImage(DagBuilder& b, Tensor data, ImageLayout layout, const std::array<std::int64_t, 4>& padding, const std::string& name)
{
    const ImageAxes dims = imageAxes(layout);
    std::vector<std::int64_t> shape = b.shape(data);
    const std::vector<std::int64_t> source = shape;
    shape[dims.height] += padding[0] + padding[2];
    shape[dims.width] += padding[1] + padding[3];
    return b.compute(name, shape, {}, "injective,pad", [&](const std::vector<ir::Expr>& axes) {
        std::vector<ir::Expr> at = axes;
        ir::Expr inside;
        for (const auto& [dim, before, after] : {std::tuple{dims.height, padding[0], padding[2]}, std::tuple{dims.width, padding[1], padding[3]}}) {
            if (before == 0 && after == 0)
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

void markLayoutFree(DagBuilder& b, Tensor t, Tensor weight)
{
    if (!b.isPlaceholder(weight))
        return;
    b.setAttr(t, "layout_free_placeholders", std::vector<std::string>{b.name(weight)});
    b.setAttr(weight, "layout_free", std::int64_t{1});
}

} // namespace lathe::compute
