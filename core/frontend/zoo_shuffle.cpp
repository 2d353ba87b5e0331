// Shufflenet version 2: every block works on half of the channels, then both halves are mixed.

#include "core/frontend/zoo_builder.h"

#include <fmt/format.h>

namespace lathe::frontend {

using graph::ValueId;

namespace {

using Ints = std::vector<std::int64_t>;

ValueId convNorm(ZooBuilder& b, ValueId x, const std::string& name, const ZooConv& c)
{
    return b.batchNorm(b.conv(x, name + "_conv", c), name + "_bn");
}

ValueId convNormRelu(ZooBuilder& b, ValueId x, const std::string& name, const ZooConv& c)
{
    return b.relu(convNorm(b, x, name, c), name + "_relu");
}

ValueId depthwise(ZooBuilder& b, ValueId x, const std::string& name, std::int64_t stride)
{
    return convNorm(b, x, name, {.kernel = {3, 3}, .stride = stride, .pad = {1, 1}, .depthwise = true});
}

/// Takes channels from the first and the second half in turn.
ValueId shuffle(ZooBuilder& b, ValueId x, const std::string& name)
{
    const Ints s = b.shape(x);
    const std::int64_t half = b.channels(x) / 2;
    const Ints apart = b.nhwc() ? Ints{s[0], s[1], s[2], 2, half} : Ints{s[0], 2, half, s[2], s[3]};
    const Ints axes = b.nhwc() ? Ints{0, 1, 2, 4, 3} : Ints{0, 2, 1, 3, 4};
    x = b.op(name + "_turned", "transpose", {b.reshape(x, name + "_halves", apart)}, {{"axes", axes}});
    return b.reshape(x, name, s);
}

/// Of stride 2 the first of a stage, which reads all channels in both branches; the others pass the first half on as it
/// is.
ValueId block(ZooBuilder& b, ValueId x, const std::string& name, std::int64_t channels, std::int64_t stride)
{
    const std::int64_t half = channels / 2;
    ValueId left = x, right = x;
    if (stride == 1) {
        left = b.slice(x, name + "_kept", b.channelAxis(), 0, half);
        right = b.slice(x, name + "_worked", b.channelAxis(), half, channels);
    } else {
        left = convNormRelu(b, depthwise(b, x, name + "_left1", stride), name + "_left2", {.channels = half});
    }
    right = convNormRelu(b, right, name + "_right1", {.channels = half});
    right = convNormRelu(b, depthwise(b, right, name + "_right2", stride), name + "_right3", {.channels = half});
    return shuffle(b, b.concat(left, right, name + "_concat"), name + "_shuffle");
}

struct ShuffleStage
{
    std::int64_t channels;
    int repeats;
};

constexpr ShuffleStage kStages[] = {{116, 4}, {232, 8}, {464, 4}};

} // namespace

/// Width 1, logits at the end.
Result<graph::Graph> buildShufflenet(const std::string& name, const ZooOptions& options)
{
    ZooBuilder b(name, options);
    ValueId x = b.image(3, options.imageSize ? options.imageSize : 224);
    x = convNormRelu(b, x, "stem", {.channels = 24, .kernel = {3, 3}, .stride = 2, .pad = {1, 1}});
    x = b.maxPool(x, "pool1", 3, 2, 1);
    int index = 2; // as the paper counts its stages
    for (const ShuffleStage& stage : kStages) {
        for (int i = 0; i < stage.repeats; ++i)
            x = block(b, x, fmt::format("stage{}_block{}", index, i + 1), stage.channels, i == 0 ? 2 : 1);
        ++index;
    }
    x = convNormRelu(b, x, "conv5", {.channels = 1024});
    x = b.flatten(b.globalAvgPool(x, "pool"), "flatten");
    return std::move(b).finish(b.dense(x, "classifier", options.classes ? options.classes : 1000));
}

} // namespace lathe::frontend
