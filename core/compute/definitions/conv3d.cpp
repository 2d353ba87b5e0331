#include "core/compute/definitions/conv3d.h"

#include "core/compute/definitions/spatial.h"

namespace lathe::compute {

namespace {

using Exprs = std::vector<ir::Expr>;

} // namespace

Tensor conv3d(DagBuilder& b, Tensor data, Tensor weight, const Conv3dParams& p, NameEra era)
{
    const bool channelsFirst = p.layout == ImageLayout::Nchw;
    const std::vector<std::int64_t> in = b.shape(data);
    const std::vector<std::int64_t> kernel = b.shape(weight);
    const std::size_t firstTap = channelsFirst ? 2 : 0;
    const std::int64_t groupIn = channelsFirst ? kernel[1] : kernel[3];
    const std::int64_t outChannels = channelsFirst ? kernel[0] : kernel[4];
    const std::array<std::size_t, 3> spatial = spatialAxes<3>(p.layout);
    const std::size_t channel = channelsFirst ? 1 : 4;
    const DType outType = p.outType.value_or(b.dtype(data)), type = sumType(outType);

    std::vector<std::int64_t> outShape = in;
    outShape[channel] = outChannels;
    std::vector<std::pair<std::string, std::int64_t>> reduceAxes;
    for (std::size_t i = 0; i < 3; ++i) {
        const std::int64_t taps = kernel[firstTap + i];
        outShape[spatial[i]] = convExtent(in[spatial[i]], taps, p.strides[i], p.padding[i], p.padding[i + 3],
                                          p.dilation[i]);
        reduceAxes.emplace_back(i == 0 ? "rz" : i == 1 ? "ry" : "rx", taps);
    }
    // Channels are the outermost of the loops that sum where they lie outside of the pixels, else the innermost.
    reduceAxes.insert(channelsFirst ? reduceAxes.begin() : reduceAxes.end(), {"rc", groupIn});
    const std::size_t tapAt = channelsFirst ? 1 : 0, channelAt = channelsFirst ? 0 : 3;
    const std::vector<std::string> names = channelsFirst ? std::vector<std::string>{"nn", "ff", "zz", "yy", "xx"}
                                                         : std::vector<std::string>{"nn", "zz", "yy", "xx", "ff"};

    const std::string tag = std::string(p.groups > 1 ? "group_" : "")
                            + (channelsFirst ? "conv3d_ncdhw" : "conv3d_ndhwc");
    const std::string name = era == NameEra::Nested ? tag : channelsFirst ? "compute" : "Conv3dOutput";
    const Tensor padded = padSpatial<3>(b, data, p.layout, p.padding,
                                        era == NameEra::Nested || channelsFirst ? "pad_temp" : "PaddedInput");
    const Tensor out = b.reduce(
        name, outShape, names, tag, ir::Combiner::Sum, reduceAxes, [&](const Exprs& a, const Exprs& r) {
            const ir::Expr& ff = a[channel];
            const ir::Expr& rc = r[channelAt];
            Exprs at = a, tap(r.begin() + static_cast<std::ptrdiff_t>(tapAt),
                              r.begin() + static_cast<std::ptrdiff_t>(tapAt) + 3);
            for (std::size_t i = 0; i < 3; ++i)
                at[spatial[i]] = a[spatial[i]] * index(p.strides[i]) + tap[i] * index(p.dilation[i]);
            at[channel] = p.groups == 1 ? rc : ir::floorDiv(ff, index(outChannels / p.groups)) * index(groupIn) + rc;
            if (channelsFirst)
                tap.insert(tap.begin(), {ff, rc});
            else
                tap.insert(tap.end(), {rc, ff});
            return ir::cast(type, b.at(padded, at)) * ir::cast(type, b.at(weight, tap));
        });
    markLayoutFree(b, out, weight);
    return rounded(b, out, outType);
}

} // namespace lathe::compute
