// Networks whose layers feed many others: inception's branches, densenet's chains of concatenations; and the generator
// that grows images from noise.

#include "core/frontend/zoo_builder.h"

#include <fmt/format.h>

namespace lathe::frontend {

using graph::ValueId;

namespace {

using Ints = std::vector<std::int64_t>;

// ---- inception
// -----------------------------------------------------------------------------------------------------------

constexpr ZooNorm kInceptionNorm{.epsilon = 2e-5, .scale = false};

ValueId unit(ZooBuilder& b, ValueId x, const std::string& name, const ZooConv& c)
{
    x = b.conv(x, name + "_conv1", c);
    x = b.batchNorm(x, name + "_bn", kInceptionNorm);
    return b.relu(x, name + "_relu1");
}

/// Kernel height x width with as much padding as keeps the size.
ZooConv same(std::int64_t channels, std::int64_t height, std::int64_t width)
{
    return {.channels = channels, .kernel = {height, width}, .pad = {height / 2, width / 2}};
}

ValueId mixedA(ZooBuilder& b, ValueId x, const std::string& name, std::int64_t pooled)
{
    const ValueId one = unit(b, x, name + "_conv", {.channels = 64});
    ValueId five = unit(b, x, name + "_tower_conv", {.channels = 48});
    five = unit(b, five, name + "_tower_conv_1", same(64, 5, 5));
    ValueId three = unit(b, x, name + "_tower_1_conv", {.channels = 64});
    three = unit(b, three, name + "_tower_1_conv_1", same(96, 3, 3));
    three = unit(b, three, name + "_tower_1_conv_2", same(96, 3, 3));
    const ValueId pool = unit(b, b.avgPool(x, name + "_pool", 3, 1, 1), name + "_tower_2_conv", {.channels = pooled});
    return b.concat({one, five, three, pool}, name + "_concat");
}

ValueId mixedB(ZooBuilder& b, ValueId x, const std::string& name)
{
    const ValueId three = unit(b, x, name + "_conv", {.channels = 384, .kernel = {3, 3}, .stride = 2});
    ValueId tower = unit(b, x, name + "_tower_conv", {.channels = 64});
    tower = unit(b, tower, name + "_tower_conv_1", same(96, 3, 3));
    tower = unit(b, tower, name + "_tower_conv_2", {.channels = 96, .kernel = {3, 3}, .stride = 2});
    return b.concat({three, tower, b.maxPool(x, name + "_pool", 3, 2, 0)}, name + "_concat");
}

ValueId mixedC(ZooBuilder& b, ValueId x, const std::string& name, std::int64_t inner)
{
    const ValueId one = unit(b, x, name + "_conv", {.channels = 192});
    ValueId seven = unit(b, x, name + "_tower_conv", {.channels = inner});
    seven = unit(b, seven, name + "_tower_conv_1", same(inner, 1, 7));
    seven = unit(b, seven, name + "_tower_conv_2", same(192, 7, 1));
    ValueId twice = unit(b, x, name + "_tower_1_conv", {.channels = inner});
    twice = unit(b, twice, name + "_tower_1_conv_1", same(inner, 7, 1));
    twice = unit(b, twice, name + "_tower_1_conv_2", same(inner, 1, 7));
    twice = unit(b, twice, name + "_tower_1_conv_3", same(inner, 7, 1));
    twice = unit(b, twice, name + "_tower_1_conv_4", same(192, 1, 7));
    const ValueId pool = unit(b, b.avgPool(x, name + "_pool", 3, 1, 1), name + "_tower_2_conv", {.channels = 192});
    return b.concat({one, seven, twice, pool}, name + "_concat");
}

ValueId mixedD(ZooBuilder& b, ValueId x, const std::string& name)
{
    ValueId three = unit(b, x, name + "_tower_conv", {.channels = 192});
    three = unit(b, three, name + "_tower_conv_1", {.channels = 320, .kernel = {3, 3}, .stride = 2});
    ValueId seven = unit(b, x, name + "_tower_1_conv", {.channels = 192});
    seven = unit(b, seven, name + "_tower_1_conv_1", same(192, 1, 7));
    seven = unit(b, seven, name + "_tower_1_conv_2", same(192, 7, 1));
    seven = unit(b, seven, name + "_tower_1_conv_3", {.channels = 192, .kernel = {3, 3}, .stride = 2});
    return b.concat({three, seven, b.maxPool(x, name + "_pool", 3, 2, 0)}, name + "_concat");
}

ValueId mixedE(ZooBuilder& b, ValueId x, const std::string& name, bool average)
{
    const ValueId one = unit(b, x, name + "_conv", {.channels = 320});
    const ValueId split = unit(b, x, name + "_tower_conv", {.channels = 384});
    const ValueId left = unit(b, split, name + "_tower_mixed_conv", same(384, 1, 3));
    const ValueId right = unit(b, split, name + "_tower_mixed_conv_1", same(384, 3, 1));
    ValueId deep = unit(b, x, name + "_tower_1_conv", {.channels = 448});
    deep = unit(b, deep, name + "_tower_1_conv_1", same(384, 3, 3));
    const ValueId deepLeft = unit(b, deep, name + "_tower_1_mixed_conv", same(384, 1, 3));
    const ValueId deepRight = unit(b, deep, name + "_tower_1_mixed_conv_1", same(384, 3, 1));
    const ValueId pooled = average ? b.avgPool(x, name + "_pool", 3, 1, 1) : b.maxPool(x, name + "_pool", 3, 1, 1);
    return b.concat({one, left, right, deepLeft, deepRight, unit(b, pooled, name + "_tower_2_conv", {.channels = 192})},
                    name + "_concat");
}

// ---- densenet
// ------------------------------------------------------------------------------------------------------------

ValueId normRelu(ZooBuilder& b, ValueId x, const std::string& name)
{
    return b.relu(b.batchNorm(x, name), name + "_relu");
}

} // namespace

Result<graph::Graph> buildInception(const std::string& name, const ZooOptions& options)
{
    ZooBuilder b(name, options);
    ValueId x = b.image(3, options.imageSize ? options.imageSize : 299);
    x = unit(b, x, "conv", {.channels = 32, .kernel = {3, 3}, .stride = 2});
    x = unit(b, x, "conv_1", {.channels = 32, .kernel = {3, 3}});
    x = unit(b, x, "conv_2", same(64, 3, 3));
    x = b.maxPool(x, "pool", 3, 2, 0);
    x = unit(b, x, "conv_3", {.channels = 80});
    x = unit(b, x, "conv_4", {.channels = 192, .kernel = {3, 3}});
    x = b.maxPool(x, "pool1", 3, 2, 0);
    x = mixedA(b, x, "mixed", 32);
    x = mixedA(b, x, "mixed_1", 64);
    x = mixedA(b, x, "mixed_2", 64);
    x = mixedB(b, x, "mixed_3");
    constexpr std::int64_t kInner[] = {128, 160, 160, 192};
    for (int i = 0; i < 4; ++i)
        x = mixedC(b, x, fmt::format("mixed_{}", 4 + i), kInner[i]);
    x = mixedD(b, x, "mixed_8");
    x = mixedE(b, x, "mixed_9", true);
    x = mixedE(b, x, "mixed_10", false); // pools by the largest, as the reference has it
    x = b.flatten(b.globalAvgPool(x, "global_pool"), "flatten");
    x = b.dense(x, "fc1", options.classes ? options.classes : 1000);
    return std::move(b).finish(b.softmax(x, "softmax"));
}

Result<graph::Graph> buildDensenet(const std::string& name, const ZooOptions& options)
{
    constexpr std::int64_t kGrowth = 32;
    constexpr int kLayers[] = {6, 12, 24, 16};
    ZooBuilder b(name, options);
    ValueId x = b.image(3, options.imageSize ? options.imageSize : 224);
    x = b.conv(x, "conv0", {.channels = 64, .kernel = {7, 7}, .stride = 2, .pad = {3, 3}});
    x = b.maxPool(normRelu(b, x, "norm0"), "pool0", 3, 2, 1);
    for (int block = 1; block <= 4; ++block) {
        for (int layer = 1; layer <= kLayers[block - 1]; ++layer) {
            const std::string prefix = fmt::format("block{}_layer{}_", block, layer);
            ValueId y = b.conv(normRelu(b, x, prefix + "norm1"), prefix + "conv1", {.channels = 4 * kGrowth});
            y = b.conv(normRelu(b, y, prefix + "norm2"), prefix + "conv2",
                       {.channels = kGrowth, .kernel = {3, 3}, .pad = {1, 1}});
            x = b.concat({x, y}, prefix + "concat");
        }
        if (block == 4)
            break;
        const std::string prefix = fmt::format("transition{}_", block);
        x = b.conv(normRelu(b, x, prefix + "norm"), prefix + "conv", {.channels = b.channels(x) / 2});
        x = b.avgPool(x, prefix + "pool", 2, 2, 0);
    }
    x = b.flatten(b.globalAvgPool(normRelu(b, x, "norm5"), "pool5"), "flatten");
    return std::move(b).finish(b.dense(x, "classifier", options.classes ? options.classes : 1000));
}

Result<graph::Graph> buildDcgan(const std::string& name, const ZooOptions& options)
{
    if (options.imageSize != 0 && options.imageSize != 64)
        return makeError(Errc::InvalidArgument, fmt::format("{} makes images of 64x64 alone", name));
    constexpr std::int64_t kNoise = 100, kWidth = 128;
    constexpr ZooNorm kNorm{.epsilon = 1e-5 + 1e-12, .scale = false};
    ZooBuilder b(name, options);
    ValueId x = b.product(b.vector(kNoise), "dense", 4 * 4 * 8 * kWidth);
    x = b.relu(x, "relu1");
    x = b.reshape(x, "reshape", {options.batch, 8 * kWidth, 4, 4});
    for (const auto& [layer, channels] : {std::pair{"g2", 4 * kWidth}, {"g3", 2 * kWidth}, {"g4", kWidth}}) {
        const std::string prefix = layer;
        x = b.batchNorm(b.widen(x, prefix + "_deconv", channels), prefix + "_bn", kNorm);
        x = b.relu(x, prefix + "_relu");
    }
    return std::move(b).finish(b.tanh(b.widen(x, "g5_deconv", 3), "tanh"));
}

} // namespace lathe::frontend
