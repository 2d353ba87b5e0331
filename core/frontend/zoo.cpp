#include "core/frontend/zoo.h"

#include "core/frontend/zoo_builder.h"
#include "core/support/message.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

namespace lathe::frontend {
namespace {

struct Row
{
    ZooEntry entry;
    std::function<Result<graph::Graph>(const std::string& name, const ZooOptions&)> build;
};

const std::vector<std::string> kBothLayouts{"NCHW", "NHWC"};
const std::vector<std::string> kChannelsFirst{"NCHW"};

Row resnet(std::int64_t layers)
{
    return {
        {fmt::format("resnet-{}", layers),
         {fmt::format("resnet_{}", layers), fmt::format("resnet{}", layers)},
         fmt::format("residual network of {} layers, batch norm before each convolution (version 2)", layers),
         kBothLayouts},
        [layers](const std::string& name, const ZooOptions& options) { return buildResnet(name, layers, options); }};
}

Row resnet3d(std::int64_t layers)
{
    return {
        {fmt::format("resnet3d-{}", layers),
         {fmt::format("resnet3d_{}", layers), fmt::format("resnet3d{}", layers)},
         fmt::format("residual network of {} layers on volumes of 16x112x112 by convolutions in three dimensions "
                     "(NCDHW or NDHWC)",
                     layers),
         kBothLayouts},
        [layers](const std::string& name, const ZooOptions& options) { return buildResnet3d(name, layers, options); }};
}

Row vgg(std::int64_t layers)
{
    return {{fmt::format("vgg-{}", layers),
             {fmt::format("vgg_{}", layers), fmt::format("vgg{}", layers)},
             fmt::format("plain network of {} layers of 3x3 convolutions and three large dense ones", layers),
             kChannelsFirst},
            [layers](const std::string& name, const ZooOptions& options) { return buildVgg(name, layers, options); }};
}

std::vector<Row> makeRows()
{
    std::vector<Row> rows;
    for (const std::int64_t layers : {18, 34, 50, 101, 152, 200})
        rows.push_back(resnet(layers));
    rows.push_back({{"resnet18_v1",
                     {"resnet18-v1", "resnet-18-v1", "resnet_18_v1"},
                     "residual network of 18 layers, batch norm after each convolution (version 1)",
                     kBothLayouts},
                    buildResnet18V1});
    for (const std::int64_t layers : {18, 34, 50, 101, 152})
        rows.push_back(resnet3d(layers));
    rows.push_back(
        {{"mobilenet",
          {"mobilenet-v1", "mobilenet_v1", "mobilenet1.0"},
          "mobilenet version 1 as the reference has it: in NHWC its first batch norm runs along rows, not channels",
          kBothLayouts},
         [](const std::string& name, const ZooOptions& options) { return buildMobilenet(name, false, options); }});
    rows.push_back(
        {{"mobilenet-fixed",
          {"mobilenet_fixed"},
          "mobilenet version 1 with the first batch norm along channels",
          kBothLayouts},
         [](const std::string& name, const ZooOptions& options) { return buildMobilenet(name, true, options); }});
    rows.push_back({{"mobilenet-v2",
                     {"mobilenet_v2", "mobilenetv2"},
                     "mobilenet version 2: inverted residuals, as torchvision builds it",
                     kBothLayouts},
                    buildMobilenetV2});
    rows.push_back({{"mobilenet-v3-large",
                     {"mobilenet_v3_large", "mobilenetv3_large"},
                     "mobilenet version 3, large: inverted residuals with squeeze and excitation, hard swish",
                     kBothLayouts},
                    buildMobilenetV3});
    rows.push_back({{"efficientnet-b0",
                     {"efficientnet_b0", "efficientnetb0"},
                     "efficientnet b0: inverted residuals with squeeze and excitation, swish",
                     kBothLayouts},
                    buildEfficientnet});
    rows.push_back({{"shufflenet-v2",
                     {"shufflenet_v2", "shufflenetv2", "shufflenet_v2_x1_0"},
                     "shufflenet version 2, width 1: works on half of the channels, then shuffles them",
                     kBothLayouts},
                    buildShufflenet});
    rows.push_back(
        {{"squeezenet-1.1",
          {"squeezenet_v1.1", "squeezenet_1.1", "squeezenet-v1.1", "squeezenet1.1"},
          "squeezenet 1.1: fire modules, early pooling",
          kChannelsFirst},
         [](const std::string& name, const ZooOptions& options) { return buildSqueezenet(name, true, options); }});
    rows.push_back(
        {{"squeezenet-1.0",
          {"squeezenet_v1.0", "squeezenet_1.0", "squeezenet-v1.0", "squeezenet1.0"},
          "squeezenet 1.0: fire modules",
          kChannelsFirst},
         [](const std::string& name, const ZooOptions& options) { return buildSqueezenet(name, false, options); }});
    for (const std::int64_t layers : {11, 13, 16, 19})
        rows.push_back(vgg(layers));
    rows.push_back({{"inception-v3",
                     {"inception_v3", "inceptionv3"},
                     "inception version 3: branches of different windows, on 299x299 images",
                     kChannelsFirst},
                    buildInception});
    rows.push_back({{"densenet-121",
                     {"densenet_121", "densenet121"},
                     "densely connected network of 121 layers: each reads all before it",
                     kBothLayouts},
                    buildDensenet});
    rows.push_back({{"vit-b16",
                     {"vit_b16", "vit_b_16", "vit-base-16"},
                     "vision transformer, base: 12 layers of attention over patches of 16x16",
                     kBothLayouts},
                    [](const std::string& name, const ZooOptions& options) { return buildVit(name, {}, options); }});
    rows.push_back({{"bert-base",
                     {"bert_base", "bert-base-uncased"},
                     "text encoder: 12 layers of attention over 128 tokens, with a mask, and the pooler",
                     kChannelsFirst},
                    [](const std::string& name, const ZooOptions& options) { return buildBert(name, {}, options); }});
    rows.push_back(
        {{"dcgan", {}, "generator of 64x64 images from 100 numbers, by transposed convolutions", kChannelsFirst},
         buildDcgan});
    rows.push_back({{"mlp", {}, "three dense layers on 28x28 images", kChannelsFirst}, buildMlp});
    return rows;
}

const std::vector<Row>& rows()
{
    static const std::vector<Row> table = makeRows();
    return table;
}

const Row* findRow(std::string_view name)
{
    for (const Row& row : rows()) {
        if (row.entry.name == name
            || std::find(row.entry.aliases.begin(), row.entry.aliases.end(), name) != row.entry.aliases.end())
            return &row;
    }
    return nullptr;
}

} // namespace

const std::vector<ZooEntry>& zooList()
{
    static const std::vector<ZooEntry> list = [] {
        std::vector<ZooEntry> entries;
        for (const Row& row : rows())
            entries.push_back(row.entry);
        return entries;
    }();
    return list;
}

const ZooEntry* findZoo(std::string_view name)
{
    const Row* row = findRow(name);
    return row ? &row->entry : nullptr;
}

Result<graph::Graph> buildZoo(std::string_view name, const ZooOptions& options)
{
    const Row* row = findRow(name);
    if (!row) {
        std::vector<std::string> names;
        for (const ZooEntry& entry : zooList())
            names.push_back(entry.name);
        return makeError(Errc::NotFound, say(Msg::NoZooNetwork, name, names));
    }
    // Bounds that keep every size below 2^63 and every shape sensible.
    if (options.batch < 1 || options.batch > 65536)
        return makeError(Errc::InvalidArgument, say(Msg::BatchOutOfRange, options.batch));
    if (options.imageSize < 0 || options.imageSize > 16384)
        return makeError(Errc::InvalidArgument, say(Msg::ImageSizeRange, options.imageSize));
    if (options.classes < 0 || options.classes > 1000000)
        return makeError(Errc::InvalidArgument, say(Msg::ClassesRange, options.classes));
    ZooOptions filled = options;
    const std::vector<std::string>& layouts = row->entry.layouts;
    if (filled.layout.empty())
        filled.layout = layouts.front();
    if (filled.layout != "NCHW" && filled.layout != "NHWC")
        return makeError(Errc::InvalidArgument, say(Msg::NoLayout, filled.layout));
    if (std::find(layouts.begin(), layouts.end(), filled.layout) == layouts.end())
        return makeError(Errc::Unsupported,
                         fmt::format("{} is written in {} only", row->entry.name, fmt::join(layouts, ", ")));
    return row->build(row->entry.name, filled);
}

} // namespace lathe::frontend
