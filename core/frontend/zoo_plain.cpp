#include "core/frontend/zoo_builder.h"

#include <fmt/format.h>

namespace lathe::frontend {

using graph::ValueId;

namespace {

ValueId convBiasRelu(ZooBuilder& b, ValueId x, const std::string& name, const std::string& prefix, const ZooConv& c)
{
    x = b.biasAdd(b.conv(x, name, prefix + "_weight", c), prefix + "_bias", b.channelAxis());
    return b.relu(x, prefix + "_relu");
}

/// Squeeze to few channels, then expand by a 1x1 and a 3x3 convolution side by side.
ValueId fire(ZooBuilder& b, ValueId x, int index, std::int64_t squeeze, std::int64_t expand)
{
    const auto part = [index](const char* which) { return fmt::format("fire{}_{}_conv", index, which); };
    x = convBiasRelu(b, x, part("input"), part("input"), {.channels = squeeze});
    const ValueId left = convBiasRelu(b, x, part("left"), part("left"), {.channels = expand});
    const ValueId right = convBiasRelu(b, x, part("right"), part("right"),
                                       {.channels = expand, .kernel = {3, 3}, .pad = {1, 1}});
    return b.concat(left, right, fmt::format("fire{}_concat", index));
}

struct FireSize
{
    std::int64_t squeeze = 0;
    std::int64_t expand = 0;
};

constexpr FireSize kFires[] = {{16, 64}, {16, 64}, {32, 128}, {32, 128}, {48, 192}, {48, 192}, {64, 256}, {64, 256}};

} // namespace

Result<graph::Graph> buildSqueezenet(const std::string& name, bool version11, const ZooOptions& options)
{
    ZooBuilder b(name, options);
    ValueId x = b.image(3, options.imageSize ? options.imageSize : 224);
    if (version11)
        x = convBiasRelu(b, x, "conv1", "conv1", {.channels = 64, .kernel = {3, 3}, .stride = 2, .pad = {1, 1}});
    else
        x = convBiasRelu(b, x, "conv1", "conv1", {.channels = 96, .kernel = {7, 7}, .stride = 2, .pad = {3, 3}});
    x = b.maxPool(x, "pool1", 3, 2, 0);
    // The versions differ in where they pool: after these fires.
    const int firstPool = version11 ? 2 : 3;
    const int secondPool = version11 ? 4 : 7;
    for (int i = 1; i <= 8; ++i) {
        x = fire(b, x, i, kFires[i - 1].squeeze, kFires[i - 1].expand);
        if (i == firstPool || i == secondPool)
            x = b.maxPool(x, i == firstPool ? "pool2" : "pool3", 3, 2, 0);
    }
    x = b.dropout(x, "dropout", 0.5);
    x = convBiasRelu(b, x, "conv_final", "conv_final", {.channels = options.classes ? options.classes : 1000});
    x = b.flatten(b.globalAvgPool(x, "pool_final"), "flatten");
    return std::move(b).finish(b.softmax(x, "softmax"));
}

Result<graph::Graph> buildVgg(const std::string& name, std::int64_t layers, const ZooOptions& options)
{
    const int deep = layers == 16 ? 3 : layers == 19 ? 4 : 2; // convolutions of the last three stages
    const int first = layers == 11 ? 1 : 2;
    const int counts[] = {first, first, deep, deep, deep};
    constexpr std::int64_t kWidths[] = {64, 128, 256, 512, 512};
    ZooBuilder b(name, options);
    ValueId x = b.image(3, options.imageSize ? options.imageSize : 224);
    for (int stage = 1; stage <= 5; ++stage) {
        for (int i = 1; i <= counts[stage - 1]; ++i) {
            const std::string conv = fmt::format("conv{}_{}", stage, i);
            x = convBiasRelu(b, x, conv, conv, {.channels = kWidths[stage - 1], .kernel = {3, 3}, .pad = {1, 1}});
        }
        x = b.maxPool(x, fmt::format("pool{}", stage), 2, 2, 0);
    }
    x = b.flatten(x, "flatten");
    for (const char* layer : {"fc6", "fc7"}) {
        x = b.relu(b.dense(x, layer, 4096), fmt::format("{}_relu", layer));
        x = b.dropout(x, fmt::format("{}_dropout", layer), 0.5);
    }
    x = b.dense(x, "fc8", options.classes ? options.classes : 1000);
    return std::move(b).finish(b.softmax(x, "softmax"));
}

Result<graph::Graph> buildMlp(const std::string& name, const ZooOptions& options)
{
    ZooBuilder b(name, options);
    ValueId x = b.flatten(b.image(1, options.imageSize ? options.imageSize : 28), "flatten");
    x = b.relu(b.dense(x, "fc1", 128), "relu1");
    x = b.relu(b.dense(x, "fc2", 64), "relu2");
    x = b.dense(x, "fc3", options.classes ? options.classes : 10);
    return std::move(b).finish(b.softmax(x, "softmax"));
}

} // namespace lathe::frontend
