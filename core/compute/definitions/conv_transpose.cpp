#include "core/compute/definitions/conv2d.h"
#include "core/compute/definitions/spatial.h"

namespace lathe::compute {

namespace {

using Exprs = std::vector<ir::Expr>;

} // namespace

/// Spreads the input by the stride (zeros between), pads it so that every output position sees a whole kernel, and runs a
/// convolution of stride 1 with the kernel turned round.
Tensor convTranspose2d(DagBuilder& b, Tensor data, Tensor weight, const ConvTranspose2dParams& p, NameEra)
{
    const bool nchw = p.layout == ImageLayout::Nchw;
    const std::vector<std::int64_t> in = b.shape(data);
    const std::vector<std::int64_t> kernel = b.shape(weight);
    const std::array<std::int64_t, 2> k{nchw ? kernel[2] : kernel[0], nchw ? kernel[3] : kernel[1]};
    const std::int64_t inChannels = nchw ? kernel[0] : kernel[2];
    const std::int64_t groupOut = nchw ? kernel[1] : kernel[3];
    const std::int64_t groupIn = inChannels / p.groups;
    const std::int64_t outChannels = groupOut * p.groups;
    const ImageAxes dims = imageAxes(p.layout);
    const std::array<std::size_t, 2> spatial{dims.height, dims.width};

    std::array<std::int64_t, 2> out{};
    std::array<std::int64_t, 2> before{};
    std::vector<std::int64_t> paddedShape = in;
    for (std::size_t i = 0; i < 2; ++i) {
        const std::int64_t reach = p.dilation[i] * (k[i] - 1);
        out[i] = (in[spatial[i]] - 1) * p.strides[i] - p.padding[i] - p.padding[i + 2] + reach + 1 + p.outputPadding[i];
        before[i] = reach - p.padding[i];
        paddedShape[spatial[i]] = out[i] + reach;
    }
    const Tensor spread = b.compute("data_pad", paddedShape, {}, "injective,pad", [&](const Exprs& axes) {
        Exprs at = axes;
        ir::Expr inside;
        const auto require = [&](const ir::Expr& condition) { inside = inside ? inside && condition : condition; };
        for (std::size_t i = 0; i < 2; ++i) {
            const std::size_t dim = spatial[i];
            const ir::Expr position = axes[dim] - index(before[i]);
            const std::int64_t last = (in[dim] - 1) * p.strides[i];
            require(axes[dim] >= index(before[i]));
            require(axes[dim] <= index(before[i] + last));
            if (p.strides[i] > 1)
                require(ir::eq(ir::floorMod(position, index(p.strides[i])), index(0)));
            at[dim] = ir::floorDiv(position, index(p.strides[i]));
        }
        return ir::ifThenElse(inside, b.at(data, at), zero(b.dtype(data)));
    });

    const auto body = [&](const ir::Expr& n, const ir::Expr& c, const ir::Expr& y, const ir::Expr& x, const Exprs& r) {
        const ir::Expr ky = index(k[0] - 1) - r[1];
        const ir::Expr kx = index(k[1] - 1) - r[2];
        const ir::Expr ci = p.groups == 1 ? r[0] : ir::floorDiv(c, index(groupOut)) * index(groupIn) + r[0];
        const ir::Expr co = p.groups == 1 ? c : ir::floorMod(c, index(groupOut));
        const ir::Expr iy = y + r[1] * index(p.dilation[0]);
        const ir::Expr ix = x + r[2] * index(p.dilation[1]);
        return nchw ? b.at(spread, {n, ci, iy, ix}) * b.at(weight, {ci, co, ky, kx})
                    : b.at(spread, {n, iy, ix, ci}) * b.at(weight, {ky, kx, ci, co});
    };
    const std::vector<std::pair<std::string, std::int64_t>> reduceAxes{{"dc", groupIn}, {"dh", k[0]}, {"dw", k[1]}};
    Tensor result;
    if (nchw)
        result = b.reduce("conv2d_transpose", {in[0], outChannels, out[0], out[1]}, {"b", "c", "h", "w"}, "conv2d_transpose_nchw",
                          ir::Combiner::Sum, reduceAxes, [&](const Exprs& a, const Exprs& r) { return body(a[0], a[1], a[2], a[3], r); });
    else
        result = b.reduce("conv2d_transpose", {in[0], out[0], out[1], outChannels}, {"b", "h", "w", "c"}, "conv2d_transpose_nhwc",
                          ir::Combiner::Sum, reduceAxes, [&](const Exprs& a, const Exprs& r) { return body(a[0], a[3], a[1], a[2], r); });
    return result;
}

} // namespace lathe::compute
