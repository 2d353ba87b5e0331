#include "core/compute/definitions/conv_transpose.h"

#include "core/compute/definitions/spatial.h"

namespace lathe::compute {

namespace {

using Exprs = std::vector<ir::Expr>;

} // namespace

/// Spreads the input by the stride (zeros between), pads it so that every output position sees a whole kernel, and runs
/// a convolution of stride 1 with the kernel turned round.
template<std::size_t N>
Tensor convTranspose(DagBuilder& b, Tensor data, Tensor weight, const ConvTransposeParams<N>& p)
{
    const bool channelsFirst = p.layout == ImageLayout::Nchw;
    const std::vector<std::int64_t> in = b.shape(data);
    const std::vector<std::int64_t> kernel = b.shape(weight);
    const std::size_t firstTap = channelsFirst ? 2 : 0;
    const std::int64_t inChannels = channelsFirst ? kernel[0] : kernel[N];
    const std::int64_t groupOut = channelsFirst ? kernel[1] : kernel[N + 1];
    const std::int64_t groupIn = inChannels / p.groups;
    const std::size_t channel = channelsFirst ? 1 : N + 1;
    const std::array<std::size_t, N> spatial = spatialAxes<N>(p.layout);

    std::array<std::int64_t, N> k{}, before{};
    std::vector<std::int64_t> outShape = in;
    std::vector<std::int64_t> paddedShape = in;
    outShape[channel] = groupOut * p.groups;
    for (std::size_t i = 0; i < N; ++i) {
        k[i] = kernel[firstTap + i];
        const std::int64_t reach = p.dilation[i] * (k[i] - 1);
        const std::int64_t out = (in[spatial[i]] - 1) * p.strides[i] - p.padding[i] - p.padding[i + N] + reach + 1
                                 + p.outputPadding[i];
        before[i] = reach - p.padding[i];
        outShape[spatial[i]] = out;
        paddedShape[spatial[i]] = out + reach;
    }
    const Tensor spread = b.compute("data_pad", paddedShape, {}, "injective,pad", [&](const Exprs& axes) {
        Exprs at = axes;
        ir::Expr inside;
        const auto require = [&](const ir::Expr& condition) { inside = inside ? inside && condition : condition; };
        for (std::size_t i = 0; i < N; ++i) {
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

    std::vector<std::pair<std::string, std::int64_t>> reduceAxes{{"dc", groupIn}};
    std::vector<std::string> axisNames{"b", "c"};
    for (std::size_t i = 0; i < N; ++i) {
        const std::string letter(1, "dhw"[3 - N + i]);
        reduceAxes.emplace_back("d" + letter, k[i]);
        axisNames.insert(channelsFirst ? axisNames.end() : axisNames.end() - 1, letter);
    }
    const std::string name = N == 2 ? "conv2d_transpose" : "conv3d_transpose";
    const std::string tag = name
                            + (N == 2 ? (channelsFirst ? "_nchw" : "_nhwc") : (channelsFirst ? "_ncdhw" : "_ndhwc"));
    const DType type = sumType(b.dtype(data));
    const Tensor out = b.reduce(
        name, outShape, axisNames, tag, ir::Combiner::Sum, reduceAxes, [&](const Exprs& a, const Exprs& r) {
            const ir::Expr& c = a[channel];
            const ir::Expr ci = p.groups == 1 ? r[0] : ir::floorDiv(c, index(groupOut)) * index(groupIn) + r[0];
            const ir::Expr co = p.groups == 1 ? c : ir::floorMod(c, index(groupOut));
            Exprs at = a, taps;
            at[channel] = ci;
            for (std::size_t i = 0; i < N; ++i) {
                at[spatial[i]] = a[spatial[i]] + r[i + 1] * index(p.dilation[i]);
                taps.push_back(index(k[i] - 1) - r[i + 1]);
            }
            taps.insert(channelsFirst ? taps.begin() : taps.end(), {ci, co});
            return ir::cast(type, b.at(spread, at)) * ir::cast(type, b.at(weight, taps));
        });
    return rounded(b, out, b.dtype(data));
}

template Tensor convTranspose<2>(DagBuilder&, Tensor, Tensor, const ConvTransposeParams<2>&);
template Tensor convTranspose<3>(DagBuilder&, Tensor, Tensor, const ConvTransposeParams<3>&);

} // namespace lathe::compute
