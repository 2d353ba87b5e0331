// Inverted residuals that weigh their channels by squeeze and excitation.

#include "core/frontend/zoo_builder.h"

#include <fmt/format.h>

#include <algorithm>

namespace lathe::frontend {

using graph::ValueId;

namespace {

constexpr std::string_view kRelu = "relu", kHardSwish = "hard_swish", kSilu = "silu";

ValueId activate(ZooBuilder& b, ValueId x, const std::string& name, std::string_view activation)
{
    return activation.empty() ? x : b.op(fmt::format("{}_{}", name, activation), activation, {x});
}

ValueId unit(ZooBuilder& b, ValueId x, const std::string& name, const ZooConv& c, std::string_view activation,
             double epsilon)
{
    x = b.batchNorm(b.conv(x, name + "_conv", c), name + "_bn", {.epsilon = epsilon});
    return activate(b, x, name, activation);
}

ValueId pointwise(ZooBuilder& b, ValueId x, const std::string& name, std::int64_t channels)
{
    return b.biasAdd(b.conv(x, name, {.channels = channels}), name + "_bias", b.channelAxis());
}

struct Excitation
{
    std::int64_t squeezed = 0; ///< channels between; 0: the block has none
    std::string_view activation; ///< there
    bool hard = false; ///< gate by x/6 + 1/2 within 0 and 1, instead of the sigmoid
};

/// Each channel times a number from 0 to 1 that the means of all of them give.
ValueId excite(ZooBuilder& b, ValueId x, const std::string& name, const Excitation& e)
{
    ValueId gate = pointwise(b, b.globalAvgPool(x, name + "_pool"), name + "_reduce", e.squeezed);
    gate = pointwise(b, activate(b, gate, name + "_reduce", e.activation), name + "_expand", b.channels(x));
    if (e.hard)
        gate = b.op(name + "_gate", "hard_sigmoid", {gate}, {{"alpha", 1.0 / 6.0}, {"beta", 0.5}});
    else
        gate = b.op(name + "_gate", "sigmoid", {gate});
    return b.op(name + "_scale", "multiply", {x, gate});
}

struct Block
{
    std::int64_t kernel = 3;
    std::int64_t expanded = 0;
    std::int64_t channels = 0;
    std::int64_t stride = 1;
    std::string_view activation;
    Excitation excitation;
    double epsilon = 1e-5;
};

ValueId invertedResidual(ZooBuilder& b, ValueId x, const std::string& name, const Block& block)
{
    const std::int64_t in = b.channels(x), half = block.kernel / 2;
    ValueId y = x;
    if (block.expanded != in)
        y = unit(b, y, name + "_expand", {.channels = block.expanded}, block.activation, block.epsilon);
    const ZooConv depthwise{
        .kernel = {block.kernel, block.kernel}, .stride = block.stride, .pad = {half, half}, .depthwise = true};
    y = unit(b, y, name + "_depthwise", depthwise, block.activation, block.epsilon);
    if (block.excitation.squeezed > 0)
        y = excite(b, y, name + "_excite", block.excitation);
    y = unit(b, y, name + "_project", {.channels = block.channels}, {}, block.epsilon);
    return block.stride == 1 && in == block.channels ? b.add(x, y, name + "_add") : y;
}

/// The multiple of 8 next to `value`, at least 8 and not below nine tenths of it.
std::int64_t wholeWidth(std::int64_t value)
{
    const std::int64_t rounded = std::max<std::int64_t>(8, (value + 4) / 8 * 8);
    return 10 * rounded < 9 * value ? rounded + 8 : rounded;
}

struct V3Row
{
    std::int64_t kernel, expanded, channels, stride;
    bool excited;
    std::string_view activation;
};

constexpr V3Row kV3Large[] = {
    {3, 16, 16, 1, false, kRelu},       {3, 64, 24, 2, false, kRelu},       {3, 72, 24, 1, false, kRelu},
    {5, 72, 40, 2, true, kRelu},        {5, 120, 40, 1, true, kRelu},       {5, 120, 40, 1, true, kRelu},
    {3, 240, 80, 2, false, kHardSwish}, {3, 200, 80, 1, false, kHardSwish}, {3, 184, 80, 1, false, kHardSwish},
    {3, 184, 80, 1, false, kHardSwish}, {3, 480, 112, 1, true, kHardSwish}, {3, 672, 112, 1, true, kHardSwish},
    {5, 672, 160, 2, true, kHardSwish}, {5, 960, 160, 1, true, kHardSwish}, {5, 960, 160, 1, true, kHardSwish},
};

struct Stage
{
    std::int64_t expansion, kernel, stride, channels;
    int repeats;
};

constexpr Stage kB0[] = {{1, 3, 1, 16, 1},  {6, 3, 2, 24, 2},  {6, 5, 2, 40, 2}, {6, 3, 2, 80, 3},
                         {6, 5, 1, 112, 3}, {6, 5, 2, 192, 4}, {6, 3, 1, 320, 1}};

} // namespace

/// The structure of torchvision's mobilenet_v3_large, logits at the end.
Result<graph::Graph> buildMobilenetV3(const std::string& name, const ZooOptions& options)
{
    constexpr double kEpsilon = 1e-3;
    ZooBuilder b(name, options);
    ValueId x = b.image(3, options.imageSize ? options.imageSize : 224);
    x = unit(b, x, "stem", {.channels = 16, .kernel = {3, 3}, .stride = 2, .pad = {1, 1}}, kHardSwish, kEpsilon);
    int index = 1;
    for (const V3Row& row : kV3Large) {
        const Excitation excitation{
            .squeezed = row.excited ? wholeWidth(row.expanded / 4) : 0, .activation = kRelu, .hard = true};
        x = invertedResidual(
            b, x, fmt::format("block_{}", index++),
            {row.kernel, row.expanded, row.channels, row.stride, row.activation, excitation, kEpsilon});
    }
    x = unit(b, x, "head", {.channels = 960}, kHardSwish, kEpsilon);
    x = b.flatten(b.globalAvgPool(x, "pool"), "flatten");
    x = activate(b, b.dense(x, "hidden", 1280), "hidden", kHardSwish);
    x = b.dropout(x, "dropout", 0.2);
    return std::move(b).finish(b.dense(x, "classifier", options.classes ? options.classes : 1000));
}

/// Variant b0, logits at the end. Blocks squeeze to a quarter of the channels that they read.
Result<graph::Graph> buildEfficientnet(const std::string& name, const ZooOptions& options)
{
    constexpr double kEpsilon = 1e-5;
    ZooBuilder b(name, options);
    ValueId x = b.image(3, options.imageSize ? options.imageSize : 224);
    x = unit(b, x, "stem", {.channels = 32, .kernel = {3, 3}, .stride = 2, .pad = {1, 1}}, kSilu, kEpsilon);
    int index = 1;
    for (const Stage& stage : kB0) {
        for (int i = 0; i < stage.repeats; ++i) {
            const std::int64_t in = b.channels(x);
            const Excitation excitation{.squeezed = in / 4, .activation = kSilu};
            x = invertedResidual(b, x, fmt::format("block_{}", index++),
                                 {stage.kernel, in * stage.expansion, stage.channels, i == 0 ? stage.stride : 1, kSilu,
                                  excitation, kEpsilon});
        }
    }
    x = unit(b, x, "head", {.channels = 1280}, kSilu, kEpsilon);
    x = b.flatten(b.globalAvgPool(x, "pool"), "flatten");
    x = b.dropout(x, "dropout", 0.2);
    return std::move(b).finish(b.dense(x, "classifier", options.classes ? options.classes : 1000));
}

} // namespace lathe::frontend
