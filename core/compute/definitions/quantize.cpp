#include "core/compute/definitions/quantize.h"

#include "core/compute/definitions/elementwise.h"
#include "core/compute/definitions/spatial.h"

namespace lathe::compute {
namespace {

using Exprs = std::vector<ir::Expr>;

/// round(y) + zero in the range of `dtype`. A comparison with NaN is false, which makes it the lowest number.
ir::Expr saturated(const ir::Expr& y, const ir::Expr* zero, DType dtype)
{
    const int bits = 8 * static_cast<int>(sizeOf(dtype));
    const double low = isSigned(dtype) ? -static_cast<double>(std::int64_t{1} << (bits - 1)) : 0.0;
    const double high = low + static_cast<double>((std::int64_t{1} << bits) - 1);
    const auto lit = [&](double value) { return constant(value, y->dtype); };
    ir::Expr whole = ir::call("round", y->dtype, {y});
    if (zero)
        whole = whole + ir::cast(y->dtype, *zero);
    return ir::cast(dtype, ir::select(whole > lit(low), ir::min(whole, lit(high)), lit(low)));
}

/// A stage with the shape of x: body(value of x, value of the scale, value of the zero point or null). The scale's type
/// is what is computed in: float32, or float64 where either is.
template<typename Body>
Tensor scaled(DagBuilder& b, const char* name, Tensor x, Tensor scale, std::optional<Tensor> zero, Body&& body)
{
    const std::vector<std::int64_t> shape = b.shape(x);
    return b.compute(name, shape, axisNames(shape.size()), "broadcast", [&](const Exprs& at) {
        const ir::Expr value = b.at(x, at), given = broadcastLoad(b, scale, at, shape);
        const bool wide = value->dtype == DType::F64 || given->dtype == DType::F64;
        const ir::Expr factor = ir::cast(wide ? DType::F64 : DType::F32, given);
        if (!zero)
            return body(value, factor, static_cast<const ir::Expr*>(nullptr));
        const ir::Expr shift = broadcastLoad(b, *zero, at, shape);
        return body(value, factor, &shift);
    });
}

} // namespace

Tensor quantize(DagBuilder& b, Tensor x, Tensor scale, std::optional<Tensor> zero, DType dtype)
{
    return scaled(b, "T_quantize", x, scale, zero,
                  [&](const ir::Expr& v, const ir::Expr& factor, const ir::Expr* shift) {
                      return saturated(ir::div(ir::cast(factor->dtype, v), factor), shift, dtype);
                  });
}

Tensor dequantize(DagBuilder& b, Tensor x, Tensor scale, std::optional<Tensor> zero, DType dtype)
{
    return scaled(b, "T_dequantize", x, scale, zero,
                  [&](const ir::Expr& v, const ir::Expr& factor, const ir::Expr* shift) {
                      const ir::Expr wide = ir::cast(DType::I32, v);
                      const ir::Expr centred = shift ? wide - ir::cast(DType::I32, *shift) : wide;
                      return ir::cast(dtype, ir::cast(factor->dtype, centred) * factor);
                  });
}

Tensor requantize(DagBuilder& b, Tensor x, Tensor multiplier, std::optional<Tensor> zero, DType dtype)
{
    return scaled(b, "T_requantize", x, multiplier, zero,
                  [&](const ir::Expr& v, const ir::Expr& factor, const ir::Expr* shift) {
                      return saturated(ir::cast(factor->dtype, v) * factor, shift, dtype);
                  });
}

} // namespace lathe::compute
