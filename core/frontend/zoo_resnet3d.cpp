#include "core/frontend/zoo_builder.h"
#include "core/frontend/zoo_resnet.h"

#include <fmt/format.h>

namespace lathe::frontend {
namespace {

using graph::ValueId;

constexpr ZooNorm kNorm{.epsilon = 2e-5};
constexpr std::int64_t kSlices = 16;

struct Unit
{
    std::string name;
    std::int64_t width = 0;
    std::int64_t stride = 1; ///< in all three dimensions
    bool projects = false; ///< the shortcut is a 1x1x1 convolution of the activated input
};

ZooConv3d pointwise(std::int64_t channels, std::int64_t stride)
{
    return {.channels = channels, .stride = {stride, stride, stride}};
}

ZooConv3d cube(std::int64_t channels, std::int64_t stride)
{
    return {.channels = channels, .kernel = {3, 3, 3}, .stride = {stride, stride, stride}, .pad = {1, 1, 1}};
}

ValueId activated(ZooBuilder& b, ValueId x, const Unit& unit, int index)
{
    return b.relu(b.batchNorm(x, fmt::format("{}_bn{}", unit.name, index), kNorm), fmt::format("{}_relu{}", unit.name, index));
}

ValueId unitOf(ZooBuilder& b, ValueId x, const Unit& unit, bool bottleneck)
{
    const ValueId a = activated(b, x, unit, 1);
    ValueId y = a;
    if (bottleneck) {
        const std::int64_t narrow = unit.width / 4;
        y = b.conv3d(y, unit.name + "_conv1", pointwise(narrow, unit.stride));
        y = b.conv3d(activated(b, y, unit, 2), unit.name + "_conv2", cube(narrow, 1));
        y = b.conv3d(activated(b, y, unit, 3), unit.name + "_conv3", pointwise(unit.width, 1));
    } else {
        y = b.conv3d(y, unit.name + "_conv1", cube(unit.width, unit.stride));
        y = b.conv3d(activated(b, y, unit, 2), unit.name + "_conv2", cube(unit.width, 1));
    }
    const ValueId shortcut = unit.projects ? b.conv3d(a, unit.name + "_sc", pointwise(unit.width, unit.stride)) : x;
    return b.add(y, shortcut, unit.name + "_add");
}

} // namespace

/// The structure of buildResnet in three dimensions; the stem halves height and width alone, and nothing is pooled behind it.
Result<graph::Graph> buildResnet3d(const std::string& name, std::int64_t layers, const ZooOptions& options)
{
    const std::int64_t size = options.imageSize ? options.imageSize : 112;
    LATHE_TRY_ASSIGN(const ResnetVariant variant, resnetVariant(layers, size));
    ZooBuilder b(name, options);
    ValueId x = b.volume(3, kSlices, size);
    x = b.batchNorm(x, "bn_data", {.epsilon = kNorm.epsilon, .scale = false});
    if (size <= 32) {
        x = b.conv3d(x, "conv0", cube(variant.widths[0], 1));
    } else {
        x = b.conv3d(x, "conv0", {.channels = variant.widths[0], .kernel = {3, 7, 7}, .stride = {1, 2, 2}, .pad = {1, 3, 3}});
        x = b.relu(b.batchNorm(x, "bn0", kNorm), "relu0");
    }
    for (std::size_t stage = 0; stage < variant.units.size(); ++stage) {
        for (std::int64_t i = 0; i < variant.units[stage]; ++i) {
            const Unit unit{.name = fmt::format("stage{}_unit{}", stage + 1, i + 1),
                            .width = variant.widths[stage + 1],
                            .stride = stage > 0 && i == 0 ? 2 : 1,
                            .projects = i == 0};
            x = unitOf(b, x, unit, variant.bottleneck);
        }
    }
    x = b.relu(b.batchNorm(x, "bn1", kNorm), "relu1");
    x = b.flatten(b.globalAvgPool3d(x, "pool1"), "flatten");
    x = b.dense(x, "fc1", options.classes ? options.classes : 1000);
    return std::move(b).finish(b.softmax(x, "softmax"));
}

} // namespace lathe::frontend
