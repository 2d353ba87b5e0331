// Convolutions, plain and transposed.
//
// The reference executor must run whole networks on one core without optimisation by the compiler, and share nothing with
// the generated kernels. It splits the padded image of each channel into stride x stride phase planes (rows y with
// y mod stride equal, columns likewise). In a phase plane every tap of the kernel is a constant offset, so a whole output
// plane is a sum of shifted vectors: out[i] += weight * plane[i + offset], over long contiguous runs, in double. Columns
// past the output's width hold sums that nobody reads.

#include "core/compute/definitions/conv2d.h"
#include "core/compute/definitions/winograd.h"
#include "core/graph/operators/element.h"
#include "core/graph/operators/families.h"
#include "core/graph/operators/rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace lathe::graph::operators {
namespace {

/// Positions of output channel, input channel, height and width in the kernel's shape.
struct KernelAxes
{
    std::size_t o = 0, i = 1, h = 2, w = 3;
};

struct Geometry
{
    ImageAxes data;
    KernelAxes kernel;
    Window window;
    std::int64_t groups = 1;
    std::int64_t batch = 0, inChannels = 0, inHeight = 0, inWidth = 0;
    std::int64_t outChannels = 0, outHeight = 0, outWidth = 0;
    Shape outputPadding;
    DType outType = DType::F32;
};

Result<KernelAxes> kernelAxes(std::string_view layout)
{
    KernelAxes axes;
    if (layout.size() == 4) {
        axes = {layout.find('O'), layout.find('I'), layout.find('H'), layout.find('W')};
        if (std::max({axes.o, axes.i, axes.h, axes.w}) < 4)
            return axes;
    }
    return brokenRule(fmt::format("kernel_layout must order the letters O, I, H and W, it is \"{}\"", layout));
}

Result<Geometry> geometryOf(const Node& node, const TensorType& data, const TensorType& weight, bool transposed)
{
    LATHE_TRY(needRank(data, 4, "data"));
    LATHE_TRY(needRank(weight, 4, "weight"));
    Geometry g;
    LATHE_TRY_ASSIGN(const std::string layout, stringAttr(node, "layout", "NCHW"));
    LATHE_TRY_ASSIGN(g.data, imageAxes(layout));
    const std::string_view usual = layout == "NHWC" ? "HWIO" : (transposed ? "IOHW" : "OIHW");
    LATHE_TRY_ASSIGN(const std::string kernelLayout, stringAttr(node, "kernel_layout", usual));
    LATHE_TRY_ASSIGN(g.kernel, kernelAxes(kernelLayout));
    LATHE_TRY_ASSIGN(g.window, windowOf(node, {weight.shape[g.kernel.h], weight.shape[g.kernel.w]}));
    LATHE_TRY_ASSIGN(g.groups, intAttr(node, "groups", 1));
    LATHE_TRY_ASSIGN(g.outputPadding, sizedAttr(node, "output_padding", 2, 0, {0, 0}));
    g.batch = data.shape[g.data.n];
    g.inChannels = data.shape[g.data.c];
    g.inHeight = data.shape[g.data.h];
    g.inWidth = data.shape[g.data.w];

    if (data.dtype != weight.dtype && (isFloat(data.dtype) || isFloat(weight.dtype)))
        return brokenRule(fmt::format("data is {} and weight is {}", toString(data.dtype), toString(weight.dtype)));
    if (data.dtype == DType::Bool || weight.dtype == DType::Bool)
        return brokenRule("data and weight must be numbers");
    LATHE_TRY_ASSIGN(g.outType, dtypeAttr(node, "out_dtype", data.dtype));
    if (isFloat(g.outType) != isFloat(data.dtype))
        return brokenRule(fmt::format("out_dtype {} does not fit {} data", toString(g.outType), toString(data.dtype)));
    if (g.groups < 1)
        return brokenRule(fmt::format("groups must be at least 1, it is {}", g.groups));
    for (const std::int64_t extent : {g.inHeight, g.inWidth, g.inChannels, g.window.size[0], g.window.size[1]}) {
        if (extent < 1)
            return brokenRule(fmt::format("data {} and weight {} must not be empty", shapeText(data.shape), shapeText(weight.shape)));
    }
    if (g.inChannels % g.groups != 0)
        return brokenRule(fmt::format("groups {} must divide the {} channels of data", g.groups, g.inChannels));

    const std::int64_t weightIn = weight.shape[g.kernel.i];
    const std::int64_t weightOut = weight.shape[g.kernel.o];
    if (transposed) {
        if (weightIn != g.inChannels)
            return brokenRule(fmt::format("weight {} ({}) takes {} channels, data has {}", shapeText(weight.shape), kernelLayout, weightIn, g.inChannels));
        g.outChannels = weightOut * g.groups;
    } else {
        // The field reads HWOI as [height, width, channel, multiplier]; both readings agree where the multiplier is 1.
        if (kernelLayout == "HWOI" && g.groups > 1 && (weightIn != 1 || g.groups != g.inChannels || weightOut != g.inChannels))
            return brokenRule("kernel_layout HWOI is for one filter in each channel; other grouped weights are HWIO");
        if (weightIn * g.groups != g.inChannels) {
            return brokenRule(fmt::format("weight {} ({}) takes {} channels in each of {} groups, data has {}",
                                          shapeText(weight.shape), kernelLayout, weightIn, g.groups, g.inChannels));
        }
        if (weightOut % g.groups != 0)
            return brokenRule(fmt::format("groups {} must divide the {} channels of the output", g.groups, weightOut));
        g.outChannels = weightOut;
    }
    for (std::size_t d = 0; d < 2; ++d) {
        const std::int64_t in = d == 0 ? g.inHeight : g.inWidth;
        const std::int64_t pads = g.window.padding[d] + g.window.padding[d + 2];
        const std::int64_t reach = (g.window.size[d] - 1) * g.window.dilations[d] + 1;
        std::int64_t out = 0;
        if (transposed) {
            if (g.outputPadding[d] >= std::max(g.window.strides[d], g.window.dilations[d]))
                return brokenRule(fmt::format("output_padding {} must be smaller than stride or dilation", g.outputPadding[d]));
            out = (in - 1) * g.window.strides[d] - pads + reach + g.outputPadding[d];
            if (out < 1)
                return brokenRule(fmt::format("padding {} leaves no output", shapeText(g.window.padding)));
        } else {
            if (in + pads < reach)
                return brokenRule(fmt::format("the kernel reaches over {} {}, the padded data has {}", reach, d == 0 ? "rows" : "columns", in + pads));
            out = (in + pads - reach) / g.window.strides[d] + 1;
        }
        (d == 0 ? g.outHeight : g.outWidth) = out;
    }
    return g;
}

template<bool Transposed>
Result<Types> inferConvolution(const Node& node, InputTypes inputs, Constants)
{
    LATHE_TRY_ASSIGN(const Geometry g, geometryOf(node, inputs[0], inputs[1], Transposed));
    Shape shape(4);
    shape[g.data.n] = g.batch;
    shape[g.data.c] = g.outChannels;
    shape[g.data.h] = g.outHeight;
    shape[g.data.w] = g.outWidth;
    return Types{{g.outType, shape}};
}

/// One tap of the kernel on one input channel: where its vector starts, and its weight.
struct Tap
{
    const double* values;
    double weight;
};

/// out[i] += sum over taps of weight * values[i]. Four taps at a time: a quarter of the loads and stores of `out`.
void accumulate(std::vector<double>& out, const std::vector<Tap>& taps)
{
    constexpr std::size_t kBlock = 2048; // doubles: 16 KiB of the first-level cache
    for (std::size_t begin = 0; begin < out.size(); begin += kBlock) {
        const std::size_t end = std::min(out.size(), begin + kBlock);
        double* const sum = out.data();
        std::size_t t = 0;
        for (; t + 4 <= taps.size(); t += 4) {
            const double* const v0 = taps[t].values;
            const double* const v1 = taps[t + 1].values;
            const double* const v2 = taps[t + 2].values;
            const double* const v3 = taps[t + 3].values;
            const double w0 = taps[t].weight, w1 = taps[t + 1].weight, w2 = taps[t + 2].weight, w3 = taps[t + 3].weight;
            for (std::size_t i = begin; i < end; ++i)
                sum[i] += (w0 * v0[i] + w1 * v1[i]) + (w2 * v2[i] + w3 * v3[i]);
        }
        for (; t < taps.size(); ++t) {
            for (std::size_t i = begin; i < end; ++i)
                sum[i] += taps[t].weight * taps[t].values[i];
        }
    }
}

std::int64_t divideUp(std::int64_t value, std::int64_t divisor)
{
    return (value + divisor - 1) / divisor;
}

/// Which residues modulo the stride the taps of one dimension read, and the place of each among the phase planes.
std::vector<std::int64_t> phasesOf(std::int64_t taps, std::int64_t dilation, std::int64_t stride)
{
    std::vector<std::int64_t> phases;
    for (std::int64_t k = 0; k < taps && static_cast<std::int64_t>(phases.size()) < stride; ++k) {
        const std::int64_t phase = k * dilation % stride;
        if (std::ranges::find(phases, phase) != phases.end())
            break; // residues repeat from here on
        phases.push_back(phase);
    }
    return phases;
}

/// One channel of the image with the strides of its layout.
struct Channel
{
    const double* values;
    std::int64_t strideY, strideX;
};

/// Copies the pixels whose padded row and column have the given residues; the padding stays zero.
void fillPlane(const Geometry& g, Channel channel, std::int64_t phaseY, std::int64_t phaseX, std::int64_t pitch, double* plane)
{
    const std::int64_t strideY = g.window.strides[0], strideX = g.window.strides[1];
    const std::int64_t top = g.window.padding[0], left = g.window.padding[1];
    for (std::int64_t row = divideUp(std::max<std::int64_t>(top - phaseY, 0), strideY); row * strideY + phaseY - top < g.inHeight; ++row) {
        const double* const source = channel.values + (row * strideY + phaseY - top) * channel.strideY;
        for (std::int64_t col = divideUp(std::max<std::int64_t>(left - phaseX, 0), strideX); col * strideX + phaseX - left < g.inWidth; ++col)
            plane[row * pitch + col] = source[(col * strideX + phaseX - left) * channel.strideX];
    }
}

Result<> evaluateConv2d(const Node& node, std::span<const HostTensor* const> inputs, std::span<HostTensor> outputs)
{
    const HostTensor& data = *inputs[0];
    const HostTensor& weight = *inputs[1];
    LATHE_TRY_ASSIGN(const Geometry g, geometryOf(node, data.type, weight.type, false));
    const auto dataStrides = denseStrides(data.type.shape);
    const auto weightStrides = denseStrides(weight.type.shape);
    const auto outStrides = denseStrides(outputs[0].type.shape);
    const std::vector<double> kernel = readFloats(weight);
    const std::vector<double> image = readFloats(data);

    const std::int64_t strideY = g.window.strides[0], strideX = g.window.strides[1];
    const std::int64_t kernelY = g.window.size[0], kernelX = g.window.size[1];
    const std::int64_t lastY = ((kernelY - 1) * g.window.dilations[0]) / strideY;
    const std::int64_t lastX = ((kernelX - 1) * g.window.dilations[1]) / strideX;
    // A phase plane covers all that the taps of valid outputs read, and the run past the last row's width.
    const std::int64_t pitch = std::max(divideUp(g.inWidth + g.window.padding[1] + g.window.padding[3], strideX), g.outWidth + lastX);
    const std::int64_t rows = std::max(divideUp(g.inHeight + g.window.padding[0] + g.window.padding[2], strideY), g.outHeight + lastY);
    const std::vector<std::int64_t> phasesY = phasesOf(kernelY, g.window.dilations[0], strideY);
    const std::vector<std::int64_t> phasesX = phasesOf(kernelX, g.window.dilations[1], strideX);
    const auto countY = static_cast<std::int64_t>(phasesY.size());
    const auto countX = static_cast<std::int64_t>(phasesX.size());
    const std::int64_t planeSize = pitch * rows;
    const std::int64_t channelSize = planeSize * countY * countX;
    const std::int64_t run = (g.outHeight - 1) * pitch + g.outWidth;
    const std::int64_t groupIn = g.inChannels / g.groups;
    const std::int64_t groupOut = g.outChannels / g.groups;

    std::vector<double> planes(static_cast<std::size_t>(channelSize * groupIn));
    std::vector<double> sums(static_cast<std::size_t>(run));
    std::vector<Tap> taps;
    for (std::int64_t n = 0; n < g.batch; ++n) {
        for (std::int64_t group = 0; group < g.groups; ++group) {
            std::ranges::fill(planes, 0.0);
            for (std::int64_t c = 0; c < groupIn; ++c) {
                const std::int64_t channel = n * dataStrides[g.data.n] + (group * groupIn + c) * dataStrides[g.data.c];
                double* plane = planes.data() + c * channelSize;
                for (const std::int64_t phaseY : phasesY) {
                    for (const std::int64_t phaseX : phasesX) {
                        fillPlane(g, {image.data() + channel, dataStrides[g.data.h], dataStrides[g.data.w]}, phaseY, phaseX, pitch, plane);
                        plane += planeSize;
                    }
                }
            }
            for (std::int64_t o = group * groupOut; o < (group + 1) * groupOut; ++o) {
                taps.clear();
                for (std::int64_t c = 0; c < groupIn; ++c) {
                    for (std::int64_t ky = 0; ky < kernelY; ++ky) {
                        for (std::int64_t kx = 0; kx < kernelX; ++kx) {
                            const std::int64_t dy = ky * g.window.dilations[0], dx = kx * g.window.dilations[1];
                            const std::int64_t phase = ky % countY * countX + kx % countX;
                            taps.push_back({planes.data() + c * channelSize + phase * planeSize + dy / strideY * pitch + dx / strideX,
                                            kernel[o * weightStrides[g.kernel.o] + c * weightStrides[g.kernel.i]
                                                   + ky * weightStrides[g.kernel.h] + kx * weightStrides[g.kernel.w]]});
                        }
                    }
                }
                std::ranges::fill(sums, 0.0);
                accumulate(sums, taps);
                const std::int64_t base = n * outStrides[g.data.n] + o * outStrides[g.data.c];
                for (std::int64_t y = 0; y < g.outHeight; ++y) {
                    for (std::int64_t x = 0; x < g.outWidth; ++x) {
                        writeFloat(outputs[0].bytes.data(), g.outType, base + y * outStrides[g.data.h] + x * outStrides[g.data.w],
                                   sums[static_cast<std::size_t>(y * pitch + x)]);
                    }
                }
            }
        }
    }
    return {};
}

/// Scatters each input pixel times the kernel into the output.
Result<> evaluateConv2dTranspose(const Node& node, std::span<const HostTensor* const> inputs, std::span<HostTensor> outputs)
{
    const HostTensor& data = *inputs[0];
    const HostTensor& weight = *inputs[1];
    LATHE_TRY_ASSIGN(const Geometry g, geometryOf(node, data.type, weight.type, true));
    const auto dataStrides = denseStrides(data.type.shape);
    const auto weightStrides = denseStrides(weight.type.shape);
    const auto outStrides = denseStrides(outputs[0].type.shape);
    const std::vector<double> kernel = readFloats(weight);
    const std::vector<double> image = readFloats(data);
    const std::int64_t groupIn = g.inChannels / g.groups;
    const std::int64_t groupOut = g.outChannels / g.groups;
    std::vector<double> plane(static_cast<std::size_t>(g.outHeight * g.outWidth));

    for (std::int64_t n = 0; n < g.batch; ++n) {
        for (std::int64_t o = 0; o < g.outChannels; ++o) {
            std::ranges::fill(plane, 0.0);
            const std::int64_t group = o / groupOut;
            for (std::int64_t c = group * groupIn; c < (group + 1) * groupIn; ++c) {
                const std::int64_t filter = c * weightStrides[g.kernel.i] + o % groupOut * weightStrides[g.kernel.o];
                const std::int64_t channel = n * dataStrides[g.data.n] + c * dataStrides[g.data.c];
                for (std::int64_t iy = 0; iy < g.inHeight; ++iy) {
                    for (std::int64_t ky = 0; ky < g.window.size[0]; ++ky) {
                        const std::int64_t y = iy * g.window.strides[0] - g.window.padding[0] + ky * g.window.dilations[0];
                        if (y < 0 || y >= g.outHeight)
                            continue;
                        for (std::int64_t ix = 0; ix < g.inWidth; ++ix) {
                            const double value = image[channel + iy * dataStrides[g.data.h] + ix * dataStrides[g.data.w]];
                            for (std::int64_t kx = 0; kx < g.window.size[1]; ++kx) {
                                const std::int64_t x = ix * g.window.strides[1] - g.window.padding[1] + kx * g.window.dilations[1];
                                if (x >= 0 && x < g.outWidth)
                                    plane[y * g.outWidth + x] += value * kernel[filter + ky * weightStrides[g.kernel.h] + kx * weightStrides[g.kernel.w]];
                            }
                        }
                    }
                }
            }
            const std::int64_t base = n * outStrides[g.data.n] + o * outStrides[g.data.c];
            for (std::int64_t y = 0; y < g.outHeight; ++y) {
                for (std::int64_t x = 0; x < g.outWidth; ++x) {
                    writeFloat(outputs[0].bytes.data(), g.outType, base + y * outStrides[g.data.h] + x * outStrides[g.data.w],
                               plane[static_cast<std::size_t>(y * g.outWidth + x)]);
                }
            }
        }
    }
    return {};
}

using Tensors = std::span<const compute::Tensor>;

Error noDefinition(std::string_view layout, std::string_view kernelLayout)
{
    return makeError(Errc::Unsupported, fmt::format("a convolution of {} data with {} weights has no kernel", layout, kernelLayout));
}

/// "winograd:m" takes the transformed weight; everything else the weight itself.
Result<compute::Tensor> computeConv2d(const Node& node, Tensors inputs, ComputeContext& context)
{
    LATHE_TRY_ASSIGN(const std::string layout, stringAttr(node, "layout", "NCHW"));
    const bool channelsLast = layout == "NHWC";
    LATHE_TRY_ASSIGN(const std::string kernelLayout, stringAttr(node, "kernel_layout", channelsLast ? "HWIO" : "OIHW"));
    LATHE_TRY_ASSIGN(const Window w, windowOf(node, {}));
    const DType dataType = context.builder.dtype(inputs[0]);
    const Shape weight = context.builder.shape(inputs[1]);
    compute::Conv2dParams p;
    p.layout = channelsLast ? compute::ImageLayout::Nhwc : compute::ImageLayout::Nchw;
    p.strides = {w.strides[0], w.strides[1]};
    p.padding = {w.padding[0], w.padding[1], w.padding[2], w.padding[3]};
    p.dilation = {w.dilations[0], w.dilations[1]};
    LATHE_TRY_ASSIGN(p.groups, intAttr(node, "groups", 1));
    LATHE_TRY_ASSIGN(p.outType, dtypeAttr(node, "out_dtype", dataType));

    constexpr std::string_view kWinograd = "winograd:";
    if (context.algorithm.starts_with(kWinograd)) {
        const std::string m = context.algorithm.substr(kWinograd.size());
        if (m != "2" && m != "4")
            return brokenRule(fmt::format("there is no algorithm \"{}\" for conv2d", context.algorithm));
        // Its weight is [m + 2, m + 2, CO, CI]: the kernel is 3x3, or the recipe of the weight would have refused it.
        if (!compute::winogradApplies(dataType, 3, 3, p))
            return makeError(Errc::Unsupported, "winograd is for 3x3 convolutions of stride 1 in one group");
        return compute::conv2dWinograd(context.builder, inputs[0], inputs[1], m == "2" ? 2 : 4, p, context.era, context.splitTransforms);
    }
    if (!context.algorithm.empty() && context.algorithm != "direct")
        return brokenRule(fmt::format("there is no algorithm \"{}\" for conv2d", context.algorithm));
    const std::int64_t channels = context.builder.shape(inputs[0])[channelsLast ? 3 : 1];
    const std::int64_t weightOut = kernelLayout == "OIHW" ? weight[0] : (kernelLayout == "HWIO" ? weight[3] : weight[2]);
    const bool depthwise = p.groups > 1 && p.groups == channels && weightOut == channels;
    if (depthwise && kernelLayout == (channelsLast ? "HWOI" : "OIHW"))
        return compute::depthwiseConv2d(context.builder, inputs[0], inputs[1], p, context.era);
    if (kernelLayout != (channelsLast ? "HWIO" : "OIHW"))
        return noDefinition(layout, kernelLayout);
    return compute::conv2d(context.builder, inputs[0], inputs[1], p, context.era);
}

Result<compute::Tensor> computeConv2dTranspose(const Node& node, Tensors inputs, ComputeContext& context)
{
    LATHE_TRY_ASSIGN(const std::string layout, stringAttr(node, "layout", "NCHW"));
    const bool channelsLast = layout == "NHWC";
    const std::string_view wanted = channelsLast ? "HWIO" : "IOHW";
    LATHE_TRY_ASSIGN(const std::string kernelLayout, stringAttr(node, "kernel_layout", wanted));
    if (kernelLayout != wanted)
        return noDefinition(layout, kernelLayout);
    LATHE_TRY_ASSIGN(const Window w, windowOf(node, {}));
    LATHE_TRY_ASSIGN(const Shape outputPadding, sizedAttr(node, "output_padding", 2, 0, {0, 0}));
    compute::ConvTranspose2dParams p;
    p.layout = channelsLast ? compute::ImageLayout::Nhwc : compute::ImageLayout::Nchw;
    p.strides = {w.strides[0], w.strides[1]};
    p.padding = {w.padding[0], w.padding[1], w.padding[2], w.padding[3]};
    p.dilation = {w.dilations[0], w.dilations[1]};
    p.outputPadding = {outputPadding[0], outputPadding[1]};
    LATHE_TRY_ASSIGN(p.groups, intAttr(node, "groups", 1));
    return compute::convTranspose2d(context.builder, inputs[0], inputs[1], p, context.era);
}

} // namespace

std::span<const OpDef> convolutionOperators()
{
    static const std::vector<OpDef> table = {
        {"conv2d", Pattern::OutElementwiseFusable, 2, 2, inferConvolution<false>, computeConv2d, evaluateConv2d},
        {"conv2d_transpose", Pattern::OutElementwiseFusable, 2, 2, inferConvolution<true>, computeConv2dTranspose, evaluateConv2dTranspose},
    };
    return table;
}

} // namespace lathe::graph::operators
