// Convolutions, plain and transposed, of images and volumes: types and compute definitions. reference_convolution.cpp
// evaluates.

#include "core/graph/operators/convolution.h"

#include "core/compute/definitions/conv2d.h"
#include "core/compute/definitions/conv3d.h"
#include "core/compute/definitions/conv_transpose.h"
#include "core/compute/definitions/winograd.h"
#include "core/graph/operators/families.h"
#include "core/graph/operators/labels.h"
#include "core/graph/reference_rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace lathe::graph::operators {
namespace {

/// Letters of the kernel's dimensions in the order that goes with the data's layout.
std::string usualKernelLayout(const ImageAxes& axes, bool transposed)
{
    const std::string taps = axes.dims == 2 ? "HW" : "DHW";
    if (axes.channelsLast())
        return taps + "IO";
    return (transposed ? "IO" : "OI") + taps;
}

Result<KernelAxes> kernelAxes(std::string_view layout, std::size_t dims)
{
    constexpr std::string_view kTaps = "DHW";
    KernelAxes axes{.o = layout.find('O'), .i = layout.find('I'), .taps = {}};
    bool found = layout.size() == dims + 2 && std::max(axes.o, axes.i) < layout.size();
    for (std::size_t side = 3 - dims; side < 3; ++side) {
        axes.taps[side] = layout.find(kTaps[side]);
        found = found && axes.taps[side] < layout.size();
    }
    if (found)
        return axes;
    return brokenRule(fmt::format("kernel_layout must order the letters O, I, {}H and W, it is \"{}\"",
                                  dims == 3 ? "D, " : "", layout));
}

Result<> checkTypes(ConvolutionGeometry& g, const Node& node, const TensorType& data, const TensorType& weight)
{
    if (data.dtype != weight.dtype && (isFloat(data.dtype) || isFloat(weight.dtype)))
        return brokenRule(fmt::format("data is {} and weight is {}", toString(data.dtype), toString(weight.dtype)));
    if (data.dtype == DType::Bool || weight.dtype == DType::Bool)
        return brokenRule("data and weight must be numbers");
    LATHE_TRY_ASSIGN(g.outType, dtypeAttr(node, "out_dtype", data.dtype));
    if (isFloat(g.outType) != isFloat(data.dtype))
        return brokenRule(fmt::format("out_dtype {} does not fit {} data", toString(g.outType), toString(data.dtype)));
    return {};
}

Result<> findChannels(ConvolutionGeometry& g, const TensorType& weight, const std::string& kernelLayout,
                      bool transposed)
{
    const std::int64_t weightIn = weight.shape[g.kernel.i];
    const std::int64_t weightOut = weight.shape[g.kernel.o];
    if (transposed) {
        if (weightIn != g.inChannels)
            return brokenRule(fmt::format("weight {} ({}) takes {} channels, data has {}", shapeText(weight.shape),
                                          kernelLayout, weightIn, g.inChannels));
        g.outChannels = weightOut * g.groups;
        return {};
    }
    // The field reads HWOI as [height, width, channel, multiplier]; both readings agree where the multiplier is 1.
    if (kernelLayout == "HWOI" && g.groups > 1
        && (weightIn != 1 || g.groups != g.inChannels || weightOut != g.inChannels))
        return brokenRule("kernel_layout HWOI is for one filter in each channel; other grouped weights are HWIO");
    if (weightIn * g.groups != g.inChannels) {
        return brokenRule(fmt::format("weight {} ({}) takes {} channels in each of {} groups, data has {}",
                                      shapeText(weight.shape), kernelLayout, weightIn, g.groups, g.inChannels));
    }
    if (weightOut % g.groups != 0)
        return brokenRule(fmt::format("groups {} must divide the {} channels of the output", g.groups, weightOut));
    g.outChannels = weightOut;
    return {};
}

Result<> findExtent(WindowSide& s, std::size_t side, bool transposed, std::int64_t outputPadding)
{
    const std::int64_t pads = s.before + s.after;
    if (transposed) {
        if (outputPadding >= std::max(s.stride, s.dilation))
            return brokenRule(fmt::format("output_padding {} must be smaller than stride or dilation", outputPadding));
        s.out = (s.in - 1) * s.stride - pads + s.reach() + outputPadding;
        if (s.out < 1)
            return brokenRule(fmt::format("padding {} and {} leaves no output", s.before, s.after));
        return {};
    }
    if (s.in + pads < s.reach())
        return brokenRule(fmt::format("the kernel reaches over {} {}, the padded data has {}", s.reach(),
                                      sideWord(side), s.in + pads));
    s.out = (s.in + pads - s.reach()) / s.stride + 1;
    return {};
}

} // namespace

Result<ConvolutionGeometry> convolutionGeometry(const Node& node, const TensorType& data, const TensorType& weight,
                                                std::size_t dims, bool transposed)
{
    LATHE_TRY(needRank(data, dims + 2, "data"));
    LATHE_TRY(needRank(weight, dims + 2, "weight"));
    ConvolutionGeometry g;
    LATHE_TRY_ASSIGN(g.data, imageAxes(node, dims));
    LATHE_TRY_ASSIGN(const std::string kernelLayout,
                     stringAttr(node, "kernel_layout", usualKernelLayout(g.data, transposed)));
    LATHE_TRY_ASSIGN(g.kernel, kernelAxes(kernelLayout, dims));
    Shape taps;
    for (std::size_t side = 3 - dims; side < 3; ++side)
        taps.push_back(weight.shape[g.kernel.taps[side]]);
    LATHE_TRY_ASSIGN(g.sides, windowSides(node, g.data, data.shape, taps));
    LATHE_TRY_ASSIGN(g.groups, intAttr(node, "groups", 1));
    LATHE_TRY_ASSIGN(g.outputPadding, sizedAttr(node, "output_padding", dims, 0, Shape(dims, 0)));
    g.batch = data.shape[g.data.n];
    g.inChannels = data.shape[g.data.c];
    LATHE_TRY(checkTypes(g, node, data, weight));
    if (g.groups < 1)
        return brokenRule(fmt::format("groups must be at least 1, it is {}", g.groups));
    const bool empty = g.inChannels < 1
                       || std::ranges::any_of(g.sides, [](const WindowSide& s) { return s.in < 1 || s.size < 1; });
    if (empty)
        return brokenRule(
            fmt::format("data {} and weight {} must not be empty", shapeText(data.shape), shapeText(weight.shape)));
    if (g.inChannels % g.groups != 0)
        return brokenRule(fmt::format("groups {} must divide the {} channels of data", g.groups, g.inChannels));
    LATHE_TRY(findChannels(g, weight, kernelLayout, transposed));
    for (std::size_t d = 0; d < dims; ++d)
        LATHE_TRY(findExtent(g.sides[3 - dims + d], 3 - dims + d, transposed, g.outputPadding[d]));
    return g;
}

namespace {

template<std::size_t Dims, bool Transposed>
Result<Types> inferConvolution(const Node& node, InputTypes inputs, Constants)
{
    LATHE_TRY_ASSIGN(const ConvolutionGeometry g, convolutionGeometry(node, inputs[0], inputs[1], Dims, Transposed));
    return Types{{g.outType, g.data.shape(g.batch, g.outChannels, g.sides)}};
}

using Tensors = std::span<const compute::Tensor>;

Error noDefinition(std::string_view layout, std::string_view kernelLayout)
{
    return makeError(Errc::Unsupported,
                     fmt::format("a convolution of {} data with {} weights has no kernel", layout, kernelLayout));
}

/// What the definitions call layout, strides, padding, dilation and groups.
template<typename Params>
Params paramsOf(const ConvolutionGeometry& g)
{
    Params p;
    p.layout = g.data.channelsLast() ? compute::ImageLayout::Nhwc : compute::ImageLayout::Nchw;
    const std::size_t dims = g.data.dims;
    for (std::size_t d = 0; d < dims; ++d) {
        const WindowSide& s = g.sides[3 - dims + d];
        p.strides[d] = s.stride;
        p.padding[d] = s.before;
        p.padding[d + dims] = s.after;
        p.dilation[d] = s.dilation;
    }
    p.groups = g.groups;
    return p;
}

TensorType typeOf(ComputeContext& context, compute::Tensor tensor)
{
    return {context.builder.dtype(tensor), context.builder.shape(tensor)};
}

Result<compute::Tensor> computeWinograd(const Node& node, Tensors inputs, ComputeContext& context, std::string_view m)
{
    if (m != "2" && m != "4")
        return brokenRule(fmt::format("there is no algorithm \"{}\" for conv2d", context.algorithm));
    // Its weight is [m + 2, m + 2, CO, CI]: the kernel is 3x3, or the recipe of the weight would have refused it.
    const TensorType data = typeOf(context, inputs[0]);
    LATHE_TRY_ASSIGN(const ImageAxes axes, imageAxes(node, 2));
    ConvolutionGeometry g;
    g.data = axes;
    LATHE_TRY_ASSIGN(g.sides, windowSides(node, axes, data.shape, Shape{3, 3}));
    LATHE_TRY_ASSIGN(g.groups, intAttr(node, "groups", 1));
    auto p = paramsOf<compute::Conv2dParams>(g);
    LATHE_TRY_ASSIGN(p.outType, dtypeAttr(node, "out_dtype", data.dtype));
    if (!compute::winogradApplies(data.dtype, 3, 3, p))
        return makeError(Errc::Unsupported, "winograd is for 3x3 convolutions of stride 1 in one group");
    return compute::conv2dWinograd(context.builder, inputs[0], inputs[1], m == "2" ? 2 : 4, p, context.era,
                                   context.splitTransforms);
}

/// "winograd:m" takes the transformed weight; everything else the weight itself.
Result<compute::Tensor> computeConv2d(const Node& node, Tensors inputs, ComputeContext& context)
{
    constexpr std::string_view kWinograd = "winograd:";
    if (context.algorithm.starts_with(kWinograd))
        return computeWinograd(node, inputs, context, std::string_view(context.algorithm).substr(kWinograd.size()));
    if (!context.algorithm.empty() && context.algorithm != "direct")
        return brokenRule(fmt::format("there is no algorithm \"{}\" for conv2d", context.algorithm));
    LATHE_TRY_ASSIGN(const ConvolutionGeometry g,
                     convolutionGeometry(node, typeOf(context, inputs[0]), typeOf(context, inputs[1]), 2, false));
    auto p = paramsOf<compute::Conv2dParams>(g);
    p.outType = g.outType;
    const bool channelsLast = g.data.channelsLast();
    LATHE_TRY_ASSIGN(const std::string kernelLayout,
                     stringAttr(node, "kernel_layout", usualKernelLayout(g.data, false)));
    const bool depthwise = p.groups > 1 && p.groups == g.inChannels && g.outChannels == g.inChannels;
    if (depthwise && kernelLayout == (channelsLast ? "HWOI" : "OIHW"))
        return compute::depthwiseConv2d(context.builder, inputs[0], inputs[1], p, context.era);
    if (kernelLayout != usualKernelLayout(g.data, false))
        return noDefinition(channelsLast ? "NHWC" : "NCHW", kernelLayout);
    return compute::conv2d(context.builder, inputs[0], inputs[1], p, context.era);
}

Result<compute::Tensor> computeConv3d(const Node& node, Tensors inputs, ComputeContext& context)
{
    if (!context.algorithm.empty() && context.algorithm != "direct")
        return brokenRule(fmt::format("there is no algorithm \"{}\" for conv3d", context.algorithm));
    LATHE_TRY_ASSIGN(const ConvolutionGeometry g,
                     convolutionGeometry(node, typeOf(context, inputs[0]), typeOf(context, inputs[1]), 3, false));
    LATHE_TRY_ASSIGN(const std::string kernelLayout,
                     stringAttr(node, "kernel_layout", usualKernelLayout(g.data, false)));
    if (kernelLayout != usualKernelLayout(g.data, false))
        return noDefinition(g.data.channelsLast() ? "NDHWC" : "NCDHW", kernelLayout);
    auto p = paramsOf<compute::Conv3dParams>(g);
    p.outType = g.outType;
    return compute::conv3d(context.builder, inputs[0], inputs[1], p, context.era);
}

template<std::size_t Dims>
Result<compute::Tensor> computeTransposed(const Node& node, Tensors inputs, ComputeContext& context)
{
    LATHE_TRY_ASSIGN(const ConvolutionGeometry g,
                     convolutionGeometry(node, typeOf(context, inputs[0]), typeOf(context, inputs[1]), Dims, true));
    LATHE_TRY_ASSIGN(const std::string kernelLayout,
                     stringAttr(node, "kernel_layout", usualKernelLayout(g.data, true)));
    if (kernelLayout != usualKernelLayout(g.data, true))
        return noDefinition(g.data.channelsLast() ? "channels-last" : "channels-first", kernelLayout);
    auto p = paramsOf<compute::ConvTransposeParams<Dims>>(g);
    std::ranges::copy(g.outputPadding, p.outputPadding.begin());
    return compute::convTranspose<Dims>(context.builder, inputs[0], inputs[1], p);
}

/// Convolutions of one group, and those with a filter for each channel.
std::optional<WeightAxes> convolutionWeightAxes(const Node& node, std::span<const std::int64_t> data,
                                                std::span<const std::int64_t> weight)
{
    const bool last = attrString(node, "layout", "NCHW").ends_with('C');
    const std::string taps = data.size() == 5 ? "DHW" : "HW";
    const std::string layout = attrString(node, "kernel_layout", last ? taps + "IO" : "OI" + taps);
    const std::size_t channel = last ? data.size() - 1 : 1;
    const std::size_t o = layout.find('O'), i = layout.find('I');
    if (o == std::string::npos || i == std::string::npos)
        return std::nullopt;
    const std::int64_t groups = attrInt(node, "groups", 1);
    if (groups == 1)
        return WeightAxes{channel, i, o};
    const bool depthwise = data[channel] == groups && weight[o] == groups;
    return depthwise ? std::optional(WeightAxes{channel, o, o}) : std::nullopt;
}

} // namespace

std::span<const OpDef> convolutionOperators()
{
    static const std::vector<OpDef> table = {
        {"conv2d",
         Pattern::OutElementwiseFusable,
         2,
         2,
         inferConvolution<2, false>,
         computeConv2d,
         evaluateConvolution<2>,
         {.layout = LayoutRule::Convolution,
          .sums = true,
          .takesPadding = true,
          .label = convolutionLabel,
          .nnName = true,
          .weights = convolutionWeightAxes,
          .algorithms = algorithmsFor}},
        {"conv2d_transpose",
         Pattern::OutElementwiseFusable,
         2,
         2,
         inferConvolution<2, true>,
         computeTransposed<2>,
         evaluateTransposedConvolution<2>,
         {.sums = true, .label = transposedConvolutionLabel, .nnName = true}},
        {"conv3d",
         Pattern::OutElementwiseFusable,
         2,
         2,
         inferConvolution<3, false>,
         computeConv3d,
         evaluateConvolution<3>,
         {.layout = LayoutRule::Convolution,
          .sums = true,
          .takesPadding = true,
          .label = convolutionLabel,
          .nnName = true,
          .weights = convolutionWeightAxes}},
        {"conv3d_transpose",
         Pattern::OutElementwiseFusable,
         2,
         2,
         inferConvolution<3, true>,
         computeTransposed<3>,
         evaluateTransposedConvolution<3>,
         {.sums = true, .label = transposedConvolutionLabel, .nnName = true}},
    };
    return table;
}

} // namespace lathe::graph::operators
