#include "core/frontend/zoo_builder.h"

#include <fmt/format.h>

namespace lathe::frontend {
namespace {

using graph::ValueId;

constexpr ZooNorm kNorm{.epsilon = 2e-5};
constexpr std::int64_t kSlices = 16; ///< of a volume

struct Variant
{
    std::vector<std::int64_t> units; ///< by stage
    std::vector<std::int64_t> widths; ///< stem, then by stage
    bool bottleneck = false;
};

/// A convolution with a kernel of 1 or 3 in all dimensions, padded so that the stride alone makes the result smaller.
using Convolve = ValueId (*)(ZooBuilder& b, ValueId x, const std::string& name, std::int64_t channels,
                             std::int64_t kernel, std::int64_t stride);

ValueId convolve2d(ZooBuilder& b, ValueId x, const std::string& name, std::int64_t channels, std::int64_t kernel,
                   std::int64_t stride)
{
    const std::int64_t pad = kernel / 2;
    return b.conv(x, name, {.channels = channels, .kernel = {kernel, kernel}, .stride = stride, .pad = {pad, pad}});
}

ValueId convolve3d(ZooBuilder& b, ValueId x, const std::string& name, std::int64_t channels, std::int64_t kernel,
                   std::int64_t stride)
{
    const std::int64_t pad = kernel / 2;
    return b.conv3d(x, name,
                    {.channels = channels,
                     .kernel = {kernel, kernel, kernel},
                     .stride = {stride, stride, stride},
                     .pad = {pad, pad, pad}});
}

struct Unit
{
    std::string name;
    std::int64_t width = 0;
    std::int64_t stride = 1; ///< in all dimensions
    bool projects = false; ///< the shortcut is a pointwise convolution of the activated input
};

ValueId activated(ZooBuilder& b, ValueId x, const Unit& unit, int index)
{
    return b.relu(b.batchNorm(x, fmt::format("{}_bn{}", unit.name, index), kNorm),
                  fmt::format("{}_relu{}", unit.name, index));
}

ValueId unitOf(ZooBuilder& b, Convolve convolve, ValueId x, const Unit& unit, bool bottleneck)
{
    const ValueId a = activated(b, x, unit, 1);
    ValueId y = a;
    if (bottleneck) {
        const std::int64_t narrow = unit.width / 4;
        y = convolve(b, y, unit.name + "_conv1", narrow, 1, unit.stride);
        y = convolve(b, activated(b, y, unit, 2), unit.name + "_conv2", narrow, 3, 1);
        y = convolve(b, activated(b, y, unit, 3), unit.name + "_conv3", unit.width, 1, 1);
    } else {
        y = convolve(b, y, unit.name + "_conv1", unit.width, 3, unit.stride);
        y = convolve(b, activated(b, y, unit, 2), unit.name + "_conv2", unit.width, 3, 1);
    }
    const ValueId shortcut = unit.projects ? convolve(b, a, unit.name + "_sc", unit.width, 1, unit.stride) : x;
    return b.add(y, shortcut, unit.name + "_add");
}

/// All that lies between stem and pooling.
ValueId unitsOf(ZooBuilder& b, Convolve convolve, ValueId x, const Variant& variant)
{
    for (std::size_t stage = 0; stage < variant.units.size(); ++stage) {
        for (std::int64_t i = 0; i < variant.units[stage]; ++i) {
            const Unit unit{.name = fmt::format("stage{}_unit{}", stage + 1, i + 1),
                            .width = variant.widths[stage + 1],
                            .stride = stage > 0 && i == 0 ? 2 : 1,
                            .projects = i == 0};
            x = unitOf(b, convolve, x, unit, variant.bottleneck);
        }
    }
    return b.relu(b.batchNorm(x, "bn1", kNorm), "relu1");
}

Result<graph::Graph> classified(ZooBuilder& b, ValueId pooled, const ZooOptions& options)
{
    const ValueId logits = b.dense(b.flatten(pooled, "flatten"), "fc1", options.classes ? options.classes : 1000);
    return std::move(b).finish(b.softmax(logits, "softmax"));
}

/// The reference picks stages and widths by the image's height (model-zoo.md 2.1).
Result<Variant> variantOf(std::int64_t layers, std::int64_t height)
{
    if (height <= 28) {
        const bool deep = (layers - 2) % 9 == 0 && layers >= 164;
        if (deep)
            return Variant{std::vector<std::int64_t>(3, (layers - 2) / 9), {16, 64, 128, 256}, true};
        if ((layers - 2) % 6 == 0 && layers < 164 && layers > 2)
            return Variant{std::vector<std::int64_t>(3, (layers - 2) / 6), {16, 16, 32, 64}, false};
        return makeError(Errc::InvalidArgument,
                         fmt::format("resnet-{} does not exist for images of {} rows", layers, height));
    }
    Variant v;
    v.bottleneck = layers >= 50;
    v.widths = v.bottleneck ? std::vector<std::int64_t>{64, 256, 512, 1024, 2048}
                            : std::vector<std::int64_t>{64, 64, 128, 256, 512};
    switch (layers) {
    case 18: v.units = {2, 2, 2, 2}; break;
    case 34: v.units = {3, 4, 6, 3}; break;
    case 50: v.units = {3, 4, 6, 3}; break;
    case 101: v.units = {3, 4, 23, 3}; break;
    case 152: v.units = {3, 8, 36, 3}; break;
    case 200: v.units = {3, 24, 36, 3}; break;
    case 269: v.units = {3, 30, 48, 8}; break;
    default:
        return makeError(Errc::InvalidArgument,
                         fmt::format("resnet-{} does not exist for images of {} rows", layers, height));
    }
    return v;
}

} // namespace

Result<graph::Graph> buildResnet(const std::string& name, std::int64_t layers, const ZooOptions& options)
{
    const std::int64_t size = options.imageSize ? options.imageSize : 224;
    LATHE_TRY_ASSIGN(const Variant variant, variantOf(layers, size));
    ZooBuilder b(name, options);
    ValueId x = b.image(3, size);
    x = b.batchNorm(x, "bn_data", {.epsilon = kNorm.epsilon, .scale = false});
    if (size <= 32) {
        x = convolve2d(b, x, "conv0", variant.widths[0], 3, 1);
    } else {
        x = b.conv(x, "conv0", {.channels = variant.widths[0], .kernel = {7, 7}, .stride = 2, .pad = {3, 3}});
        x = b.relu(b.batchNorm(x, "bn0", kNorm), "relu0");
        x = b.maxPool(x, "pool0", 3, 2, 1);
    }
    x = unitsOf(b, convolve2d, x, variant);
    return classified(b, b.globalAvgPool(x, "pool1"), options);
}

/// The same in three dimensions; the stem halves height and width alone, and nothing is pooled behind it.
Result<graph::Graph> buildResnet3d(const std::string& name, std::int64_t layers, const ZooOptions& options)
{
    const std::int64_t size = options.imageSize ? options.imageSize : 112;
    LATHE_TRY_ASSIGN(const Variant variant, variantOf(layers, size));
    ZooBuilder b(name, options);
    ValueId x = b.volume(3, kSlices, size);
    x = b.batchNorm(x, "bn_data", {.epsilon = kNorm.epsilon, .scale = false});
    if (size <= 32) {
        x = convolve3d(b, x, "conv0", variant.widths[0], 3, 1);
    } else {
        x = b.conv3d(x, "conv0",
                     {.channels = variant.widths[0], .kernel = {3, 7, 7}, .stride = {1, 2, 2}, .pad = {1, 3, 3}});
        x = b.relu(b.batchNorm(x, "bn0", kNorm), "relu0");
    }
    x = unitsOf(b, convolve3d, x, variant);
    return classified(b, b.globalAvgPool3d(x, "pool1"), options);
}

/// Post-activation: convolution, batch norm, relu; the sum of a unit is activated. Shortcuts are projected where the
/// size changes, so stage 1 has none. Ends in logits.
Result<graph::Graph> buildResnet18V1(const std::string& name, const ZooOptions& options)
{
    ZooBuilder b(name, options);
    ValueId x = b.image(3, options.imageSize ? options.imageSize : 224);
    x = b.conv(x, "conv0", {.channels = 64, .kernel = {7, 7}, .stride = 2, .pad = {3, 3}});
    x = b.relu(b.batchNorm(x, "bn0"), "relu0");
    x = b.maxPool(x, "pool0", 3, 2, 1);
    for (int stage = 1; stage <= 4; ++stage) {
        for (int i = 1; i <= 2; ++i) {
            const std::string unit = fmt::format("stage{}_unit{}", stage, i);
            const std::int64_t width = 32LL << stage;
            const std::int64_t stride = stage > 1 && i == 1 ? 2 : 1;
            ValueId y = b.conv(x, unit + "_conv1",
                               {.channels = width, .kernel = {3, 3}, .stride = stride, .pad = {1, 1}});
            y = b.relu(b.batchNorm(y, unit + "_bn1"), unit + "_relu1");
            y = b.conv(y, unit + "_conv2", {.channels = width, .kernel = {3, 3}, .pad = {1, 1}});
            y = b.batchNorm(y, unit + "_bn2");
            if (stride != 1) {
                x = b.conv(x, unit + "_sc", {.channels = width, .stride = stride});
                x = b.batchNorm(x, unit + "_sc_bn");
            }
            x = b.relu(b.add(y, x, unit + "_add"), unit + "_relu2");
        }
    }
    x = b.flatten(b.globalAvgPool(x, "pool1"), "flatten");
    return std::move(b).finish(b.dense(x, "fc1", options.classes ? options.classes : 1000));
}

} // namespace lathe::frontend
