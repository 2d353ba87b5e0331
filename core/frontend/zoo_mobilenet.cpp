#include "core/frontend/zoo_builder.h"

#include <fmt/format.h>

namespace lathe::frontend {

using graph::ValueId;

namespace {

struct Separable
{
    std::int64_t channels = 0;
    std::int64_t stride = 1;
};

constexpr Separable kBlocks[] = {{64, 1},  {128, 2}, {128, 1}, {256, 2}, {256, 1},  {512, 2}, {512, 1},
                                 {512, 1}, {512, 1}, {512, 1}, {512, 1}, {1024, 2}, {1024, 1}};

} // namespace

/// Version 1, width 1. The reference forgets to tell the first batch norm the layout, so in NHWC it normalises rows;
/// `fixed` corrects that (model-zoo.md 3.1).
Result<graph::Graph> buildMobilenet(const std::string& name, bool fixed, const ZooOptions& options)
{
    ZooBuilder b(name, options);
    ValueId x = b.image(3, options.imageSize ? options.imageSize : 224);
    x = b.conv(x, "conv_block_1_conv", {.channels = 32, .kernel = {3, 3}, .stride = 2, .pad = {1, 1}});
    x = b.relu(b.batchNorm(x, "conv_block_1_bn", {.ignoreLayout = !fixed}), "conv_block_1_relu");
    int index = 1;
    for (const Separable& block : kBlocks) {
        const std::string prefix = fmt::format("separable_conv_block_{}", index++);
        x = b.conv(x, prefix + "_depthwise", prefix + "_weight",
                   {.kernel = {3, 3}, .stride = block.stride, .pad = {1, 1}, .depthwise = true});
        x = b.relu(b.batchNorm(x, prefix + "_bn1"), prefix + "_relu1");
        x = b.conv(x, prefix + "_conv2", {.channels = block.channels});
        x = b.relu(b.batchNorm(x, prefix + "_bn2"), prefix + "_relu2");
    }
    x = b.flatten(b.globalAvgPool(x, "pool"), "flatten");
    x = b.dense(x, "fc", options.classes ? options.classes : 1000);
    return std::move(b).finish(b.softmax(x, "softmax"));
}

namespace {

struct InvertedStage
{
    std::int64_t expansion = 1;
    std::int64_t channels = 0;
    int repeats = 1;
    std::int64_t stride = 1; ///< of the first block
};

constexpr InvertedStage kInverted[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                                       {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};

ValueId convNormClip(ZooBuilder& b, ValueId x, const std::string& name, const ZooConv& c)
{
    x = b.batchNorm(b.conv(x, name + "_conv", c), name + "_bn");
    return b.clip(x, name + "_relu6", 0, 6);
}

} // namespace

/// The structure of torchvision's mobilenet_v2: inverted residuals, clipping at 6, logits at the end.
Result<graph::Graph> buildMobilenetV2(const std::string& name, const ZooOptions& options)
{
    ZooBuilder b(name, options);
    ValueId x = b.image(3, options.imageSize ? options.imageSize : 224);
    x = convNormClip(b, x, "stem", {.channels = 32, .kernel = {3, 3}, .stride = 2, .pad = {1, 1}});
    int index = 1;
    for (const InvertedStage& stage : kInverted) {
        for (int i = 0; i < stage.repeats; ++i) {
            const std::string block = fmt::format("block_{}", index++);
            const std::int64_t stride = i == 0 ? stage.stride : 1;
            const std::int64_t in = b.channels(x);
            ValueId y = x;
            if (stage.expansion != 1)
                y = convNormClip(b, y, block + "_expand", {.channels = in * stage.expansion});
            y = convNormClip(b, y, block + "_depthwise",
                             {.kernel = {3, 3}, .stride = stride, .pad = {1, 1}, .depthwise = true});
            y = b.batchNorm(b.conv(y, block + "_project_conv", {.channels = stage.channels}), block + "_project_bn");
            x = stride == 1 && in == stage.channels ? b.add(x, y, block + "_add") : y;
        }
    }
    x = convNormClip(b, x, "head", {.channels = 1280});
    x = b.flatten(b.globalAvgPool(x, "pool"), "flatten");
    x = b.dropout(x, "dropout", 0.2);
    return std::move(b).finish(b.dense(x, "classifier", options.classes ? options.classes : 1000));
}

} // namespace lathe::frontend
