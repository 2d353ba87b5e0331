#include "core/compute/definitions/conv2d.h"

#include "core/compute/definitions/spatial.h"

namespace lathe::compute {

namespace {

using Exprs = std::vector<ir::Expr>;

/// Product of two loads in the type that the convolution accumulates in.
ir::Expr product(const ir::Expr& x, const ir::Expr& y, DType type)
{
    return ir::cast(type, x) * ir::cast(type, y);
}

/// Input position that output position `o` and kernel position `k` meet at.
ir::Expr window(const ir::Expr& o, const ir::Expr& k, std::int64_t stride, std::int64_t dilation)
{
    return o * index(stride) + k * index(dilation);
}

std::string convName(const Conv2dParams& p, NameEra era)
{
    if (era == NameEra::Nested)
        return std::string(p.groups > 1 ? "group_" : "")
               + (p.layout == ImageLayout::Nchw ? "conv2d_nchw" : "conv2d_nhwc");
    return p.layout == ImageLayout::Nchw ? "compute" : "Conv2dOutput";
}

} // namespace

Tensor conv2d(DagBuilder& b, Tensor data, Tensor weight, const Conv2dParams& p, NameEra era)
{
    const bool nchw = p.layout == ImageLayout::Nchw;
    const std::vector<std::int64_t> in = b.shape(data);
    const std::vector<std::int64_t> kernel = b.shape(weight);
    const std::int64_t kh = nchw ? kernel[2] : kernel[0];
    const std::int64_t kw = nchw ? kernel[3] : kernel[1];
    const std::int64_t channels = nchw ? kernel[1] : kernel[2];
    const std::int64_t outChannels = nchw ? kernel[0] : kernel[3];
    const ImageAxes dims = imageAxes(p.layout);
    const std::int64_t oh = convExtent(in[dims.height], kh, p.strides[0], p.padding[0], p.padding[2], p.dilation[0]);
    const std::int64_t ow = convExtent(in[dims.width], kw, p.strides[1], p.padding[1], p.padding[3], p.dilation[1]);
    const DType outType = p.outType.value_or(b.dtype(data)), type = sumType(outType);

    const bool oldName = !nchw && era != NameEra::Nested;
    const Tensor padded = padImage(b, data, p.layout, p.padding, oldName ? "PaddedInput" : "pad_temp");

    // Channel of the input that output channel ff and position rc in its group read.
    const auto channelOf = [&](const ir::Expr& ff, const ir::Expr& rc) {
        return p.groups == 1 ? rc : ir::floorDiv(ff, index(outChannels / p.groups)) * index(channels) + rc;
    };
    const std::pair<std::string, std::int64_t> ry{"ry", kh}, rx{"rx", kw}, rc{"rc", channels};
    Tensor out;
    if (nchw)
        out = b.reduce(convName(p, era), {in[0], outChannels, oh, ow}, {"nn", "ff", "yy", "xx"},
                       p.groups > 1 ? "group_conv2d_nchw" : "conv2d_nchw", ir::Combiner::Sum, {rc, ry, rx},
                       [&](const Exprs& a, const Exprs& r) {
                           return product(b.at(padded, {a[0], channelOf(a[1], r[0]),
                                                        window(a[2], r[1], p.strides[0], p.dilation[0]),
                                                        window(a[3], r[2], p.strides[1], p.dilation[1])}),
                                          b.at(weight, {a[1], r[0], r[1], r[2]}), type);
                       });
    else
        out = b.reduce(convName(p, era), {in[0], oh, ow, outChannels}, {"nn", "yy", "xx", "ff"},
                       p.groups > 1 ? "group_conv2d_nhwc" : "conv2d_nhwc", ir::Combiner::Sum, {ry, rx, rc},
                       [&](const Exprs& a, const Exprs& r) {
                           return product(
                               b.at(padded, {a[0], window(a[1], r[0], p.strides[0], p.dilation[0]),
                                             window(a[2], r[1], p.strides[1], p.dilation[1]), channelOf(a[3], r[2])}),
                               b.at(weight, {r[0], r[1], r[2], a[3]}), type);
                       });
    markLayoutFree(b, out, weight);
    return rounded(b, out, outType);
}

Tensor depthwiseConv2d(DagBuilder& b, Tensor data, Tensor weight, const Conv2dParams& p, NameEra)
{
    const bool nchw = p.layout == ImageLayout::Nchw;
    const std::vector<std::int64_t> in = b.shape(data);
    const std::vector<std::int64_t> kernel = b.shape(weight);
    const std::int64_t kh = nchw ? kernel[2] : kernel[0];
    const std::int64_t kw = nchw ? kernel[3] : kernel[1];
    const std::int64_t multiplier = nchw ? kernel[1] : kernel[3];
    const ImageAxes dims = imageAxes(p.layout);
    const std::int64_t outChannels = in[dims.channel] * multiplier;
    const std::int64_t oh = convExtent(in[dims.height], kh, p.strides[0], p.padding[0], p.padding[2], p.dilation[0]);
    const std::int64_t ow = convExtent(in[dims.width], kw, p.strides[1], p.padding[1], p.padding[3], p.dilation[1]);
    const DType outType = p.outType.value_or(b.dtype(data)), type = sumType(outType);

    const Tensor padded = padImage(b, data, p.layout, p.padding, "PaddedInput");
    const std::vector<std::pair<std::string, std::int64_t>> reduceAxes{{"di", kh}, {"dj", kw}};
    const auto body = [&](const ir::Expr& n, const ir::Expr& c, const ir::Expr& i, const ir::Expr& j, const Exprs& r) {
        const ir::Expr y = window(i, r[0], p.strides[0], p.dilation[0]);
        const ir::Expr x = window(j, r[1], p.strides[1], p.dilation[1]);
        const ir::Expr ci = ir::floorDiv(c, index(multiplier));
        const ir::Expr m = ir::floorMod(c, index(multiplier));
        return nchw ? product(b.at(padded, {n, ci, y, x}), b.at(weight, {ci, m, r[0], r[1]}), type)
                    : product(b.at(padded, {n, y, x, ci}), b.at(weight, {r[0], r[1], ci, m}), type);
    };
    Tensor out;
    if (nchw)
        out = b.reduce("DepthwiseConv2d", {in[0], outChannels, oh, ow}, {"b", "c", "i", "j"}, "depthwise_conv2d_nchw",
                       ir::Combiner::Sum, reduceAxes,
                       [&](const Exprs& a, const Exprs& r) { return body(a[0], a[1], a[2], a[3], r); });
    else
        out = b.reduce("DepthwiseConv2d", {in[0], oh, ow, outChannels}, {"b", "i", "j", "c"}, "depthwise_conv2d_nhwc",
                       ir::Combiner::Sum, reduceAxes,
                       [&](const Exprs& a, const Exprs& r) { return body(a[0], a[3], a[1], a[2], r); });
    markLayoutFree(b, out, weight);
    return rounded(b, out, outType);
}

} // namespace lathe::compute
