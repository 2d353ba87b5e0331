#include "core/frontend/zoo.h"
#include "core/frontend/zoo_builder.h"
#include "core/graph/passes.h"
#include "core/graph/rewrite.h"
#include "core/support/element_count.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>

namespace tst_zoo {

using namespace lathe;

namespace {

struct Figures
{
    int parameterTensors = 0;
    std::int64_t parameters = 0;
    std::int64_t withoutMovingStatistics = 0;
    std::int64_t macs = 0;
    int convolutionsAndDense = 0;
    int batchNorms = 0;
};

Figures figuresOf(const graph::Graph& g)
{
    Figures f;
    for (const graph::Value& value : g.values) {
        if (!value.constant || value.shape.empty()) // a number of a formula
            continue;
        ++f.parameterTensors;
        const std::int64_t count = elementCount(value.shape);
        f.parameters += count;
        if (!value.name.ends_with("_moving_mean") && !value.name.ends_with("_moving_var"))
            f.withoutMovingStatistics += count;
    }
    for (const graph::Node& node : g.nodes) {
        f.batchNorms += node.op == "batch_norm";
        if (node.op == "matmul")
            f.macs += elementCount(g.value(node.outputs[0]).shape) * g.value(node.inputs[0]).shape.back();
        if (node.op != "conv2d" && node.op != "conv3d" && node.op != "dense" && node.op != "conv2d_transpose")
            continue;
        ++f.convolutionsAndDense;
        const graph::Value& weight = g.value(node.inputs[1]);
        if (node.op == "conv2d_transpose") { // each input pixel meets the whole kernel
            f.macs += elementCount(g.value(node.inputs[0]).shape) * (elementCount(weight.shape) / weight.shape[0]);
            continue;
        }
        const graph::Value& output = g.value(node.outputs[0]);
        const std::int64_t outputChannels = graph::attrString(node, "layout", "").ends_with('C') ? output.shape.back()
                                                                                                 : output.shape[1];
        f.macs += elementCount(output.shape) * (elementCount(weight.shape) / outputChannels);
    }
    return f;
}

const graph::Value* findValue(const graph::Graph& g, std::string_view name)
{
    for (const graph::Value& value : g.values) {
        if (value.name == name)
            return &value;
    }
    return nullptr;
}

std::vector<float> firstFloats(const graph::Value& value, std::size_t count)
{
    std::vector<float> floats(count);
    std::memcpy(floats.data(), value.constant->data, count * sizeof(float));
    return floats;
}

} // namespace

class TestZoo : public QObject
{
    Q_OBJECT

private slots:
    void networksHaveTheirPublishedSizes_data();
    void networksHaveTheirPublishedSizes();
    void weightsAreTheReferencesBitForBit_data();
    void weightsAreTheReferencesBitForBit();
    void anotherSeedGivesOtherWeights();
    void everyNetworkIsAValidGraphInEveryLayoutItOffers();
    void aliasesNameTheSameNetwork();
    void layoutsChangeShapesButNotTheWork();
    void bothLayoutsComputeTheSame_data();
    void bothLayoutsComputeTheSame();
    void hiddenTokensAreNotLookedAt();
    void onlyTheReferencesMobilenetNormalisesRows();
    void parametersComeInOrderOfFirstUse();
    void unknownNamesAreRefusedWithTheList();
    void optionsThatDoNotWorkAreRefused_data();
    void optionsThatDoNotWorkAreRefused();
};

void TestZoo::networksHaveTheirPublishedSizes_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("layout");
    QTest::addColumn<int>("imageSize");
    QTest::addColumn<int>("tensors");
    QTest::addColumn<qint64>("parameters");
    QTest::addColumn<qint64>("withoutMovingStatistics");
    QTest::addColumn<qint64>("macs");
    const auto row = [](const char* name, const char* layout, int size, int tensors, qint64 parameters, qint64 without,
                        qint64 macs) {
        QTest::addRow("%s %s %d", name, layout, size)
            << QString(name) << QString(layout) << size << tensors << parameters << without << macs;
    };
    row("resnet-18", "NHWC", 0, 99, 11699892, 11691950, 1826918400);
    row("resnet-34", "NHWC", 0, 179, 21815476, 21800110, 3676606464);
    row("resnet-50", "NCHW", 0, 259, 25595060, 25549486, 3857973248);
    row("resnet-101", "NCHW", 0, 514, 44639412, 44541614, 7570194432);
    row("resnet-152", "NHWC", 0, 769, 60329140, 60185262, 11282415616);
    row("resnet-200", "NCHW", 0, 1009, 64834740, 64666286, 14776270848);
    row("resnet-18", "NCHW", 32, 95, 11691956, 11684142, 560123904);
    row("resnet3d-18", "NCHW", 0, 99, 33689652, 33681710, 40902381568);
    row("resnet3d-18", "NHWC", 0, 99, 33689652, 33681710, 40902381568);
    row("resnet3d-34", "NCHW", 0, 179, 64006708, 63991342, 75584032768);
    row("resnet3d-50", "NHWC", 0, 259, 48248372, 48202798, 52156186624);
    row("resnet3d-101", "NCHW", 0, 514, 87346740, 87248942, 82727419904);
    row("resnet3d-152", "NCHW", 0, 769, 119551540, 119407662, 120491884544);
    row("mobilenet", "NCHW", 0, 137, 4253864, 4231976, 568740352);
    row("mobilenet", "NHWC", 0, 137, 4254184, 4232136, 568740352);
    row("mobilenet-fixed", "NHWC", 0, 137, 4253864, 4231976, 568740352);
    row("squeezenet-1.1", "NCHW", 0, 52, 1235496, 1235496, 349537280);
    row("squeezenet-1.0", "NCHW", 0, 52, 1248424, 1248424, 835814912);
    row("vgg-11", "NCHW", 0, 22, 132863336, 132863336, 7609090048);
    row("vgg-13", "NCHW", 0, 26, 133047848, 133047848, 11308466176);
    row("vgg-16", "NCHW", 0, 32, 138357544, 138357544, 15470264320);
    row("vgg-19", "NCHW", 0, 38, 143667240, 143667240, 19632062464);
    row("mlp", "NCHW", 0, 6, 109386, 109386, 109184);
    // The published counts of torchvision's and the other framework's models.
    row("mobilenet-v2", "NCHW", 0, 262, 3538984, 3504872, 300774272);
    row("mobilenet-v2", "NHWC", 0, 262, 3538984, 3504872, 300774272);
    row("inception-v3", "NCHW", 0, 472, 23869000, 23834568, 5713216096);
    row("densenet-121", "NCHW", 0, 606, 8062504, 7978856, 2834161664);
    row("densenet-121", "NHWC", 0, 606, 8062504, 7978856, 2834161664);
    row("dcgan", "NCHW", 0, 17, 12658176, 12656384, 410583040);
    row("resnet18_v1", "NCHW", 0, 102, 11699112, 11689512, 1814073344);
    row("mobilenet-v3-large", "NCHW", 0, 266, 5507432, 5483032, 216589760);
    row("mobilenet-v3-large", "NHWC", 0, 266, 5507432, 5483032, 216589760);
    row("efficientnet-b0", "NCHW", 0, 311, 5330564, 5288548, 385814752);
    row("efficientnet-b0", "NHWC", 0, 311, 5330564, 5288548, 385814752);
    row("shufflenet-v2", "NCHW", 0, 282, 2294784, 2278604, 144907992);
    row("shufflenet-v2", "NHWC", 0, 282, 2294784, 2278604, 144907992);
    row("vit-b16", "NCHW", 0, 152, 86567656, 86567656, 17563828224);
    row("vit-b16", "NHWC", 0, 152, 86567656, 86567656, 17563828224);
    row("bert-base", "NCHW", 0, 199, 109482240, 109482240, 11174215680); // both embeddings and the pooler included
}

void TestZoo::networksHaveTheirPublishedSizes()
{
    QFETCH(QString, name);
    QFETCH(QString, layout);
    QFETCH(int, imageSize);
    const auto g = frontend::buildZoo(name.toStdString(),
                                      {.layout = layout.toStdString(), .imageSize = imageSize, .weights = false});
    QVERIFY2(g, g ? "" : g.error().message.c_str());
    const Figures f = figuresOf(*g);
    QTEST(f.parameterTensors, "tensors");
    QTEST(static_cast<qint64>(f.parameters), "parameters");
    QTEST(static_cast<qint64>(f.withoutMovingStatistics), "withoutMovingStatistics");
    QTEST(static_cast<qint64>(f.macs), "macs");
}

void TestZoo::weightsAreTheReferencesBitForBit_data()
{
    QTest::addColumn<QString>("network");
    QTest::addColumn<QString>("layout");
    QTest::addColumn<QString>("parameter");
    QTest::addColumn<QList<float>>("first");
    QTest::newRow("resnet NCHW") << "resnet-18"
                                 << "NCHW"
                                 << "conv0_weight"
                                 << QList<float>{0.0041735936f, 0.018398862f, 0.0087863505f, 0.003837548f};
    QTest::newRow("resnet NHWC") << "resnet-18"
                                 << "NHWC"
                                 << "conv0_weight" << QList<float>{0.0046124426f};
    QTest::newRow("mobilenet NCHW") << "mobilenet"
                                    << "NCHW"
                                    << "conv_block_1_conv_weight" << QList<float>{0.013473807f, 0.05939791f};
}

void TestZoo::weightsAreTheReferencesBitForBit()
{
    QFETCH(QString, network);
    QFETCH(QString, layout);
    QFETCH(QString, parameter);
    QFETCH(QList<float>, first);
    const auto g = frontend::buildZoo(network.toStdString(), {.layout = layout.toStdString()});
    QVERIFY(g);
    const graph::Value* value = findValue(*g, parameter.toStdString());
    QVERIFY(value);
    const std::vector<float> floats = firstFloats(*value, static_cast<std::size_t>(first.size()));
    for (qsizetype i = 0; i < first.size(); ++i)
        QCOMPARE(std::bit_cast<std::uint32_t>(floats[static_cast<std::size_t>(i)]),
                 std::bit_cast<std::uint32_t>(first[i]));
}

void TestZoo::anotherSeedGivesOtherWeights()
{
    const auto a = frontend::buildZoo("mlp", {.seed = 0});
    const auto b = frontend::buildZoo("mlp", {.seed = 1});
    const auto again = frontend::buildZoo("mlp", {.seed = 1});
    QVERIFY(a && b && again);
    QVERIFY(firstFloats(*findValue(*a, "fc1_weight"), 8) != firstFloats(*findValue(*b, "fc1_weight"), 8));
    QCOMPARE(firstFloats(*findValue(*again, "fc3_weight"), 8), firstFloats(*findValue(*b, "fc3_weight"), 8));
}

void TestZoo::everyNetworkIsAValidGraphInEveryLayoutItOffers()
{
    QVERIFY(frontend::zooList().size() >= 17);
    for (const frontend::ZooEntry& entry : frontend::zooList()) {
        QVERIFY(!entry.description.empty());
        for (const std::string& layout : entry.layouts) {
            const auto g = frontend::buildZoo(entry.name, {.batch = 2, .layout = layout, .weights = false});
            QVERIFY2(g, entry.name.c_str());
            const auto valid = graph::verify(*g);
            QVERIFY2(valid, valid ? "" : valid.error().message.c_str());
            if (entry.name == "bert-base") {
                QCOMPARE(g->inputs.size(), std::size_t{2});
                for (const graph::ValueId input : g->inputs) {
                    QVERIFY(g->value(input).dtype == DType::I64);
                    QCOMPARE(g->value(input).shape, (std::vector<std::int64_t>{2, 128}));
                }
                QCOMPARE(g->value(g->outputs[0]).shape, (std::vector<std::int64_t>{2, 128, 768}));
                QCOMPARE(g->value(g->outputs[1]).shape, (std::vector<std::int64_t>{2, 768}));
                continue;
            }
            QCOMPARE(g->inputs.size(), std::size_t{1});
            QCOMPARE(g->value(g->inputs[0]).name, std::string("data"));
            const std::vector<std::int64_t> made{2, 3, 64, 64}, classes{2, entry.name == "mlp" ? 10 : 1000};
            QCOMPARE(g->value(g->outputs[0]).shape, entry.name == "dcgan" ? made : classes);
        }
    }
}

void TestZoo::aliasesNameTheSameNetwork()
{
    for (const char* spelling : {"squeezenet_v1.1", "resnet_18", "resnet-18", "vgg16", "mobilenet_v2"})
        QVERIFY2(frontend::findZoo(spelling), spelling);
    QCOMPARE(frontend::findZoo("squeezenet_v1.1")->name, std::string("squeezenet-1.1"));
    const auto g = frontend::buildZoo("resnet_18", {.weights = false});
    QVERIFY(g);
    QCOMPARE(g->name, std::string("resnet-18"));
    // No spelling names two networks.
    std::vector<std::string> all;
    for (const frontend::ZooEntry& entry : frontend::zooList()) {
        all.push_back(entry.name);
        all.insert(all.end(), entry.aliases.begin(), entry.aliases.end());
    }
    std::sort(all.begin(), all.end());
    QVERIFY(std::adjacent_find(all.begin(), all.end()) == all.end());
}

void TestZoo::layoutsChangeShapesButNotTheWork()
{
    const auto nchw = frontend::buildZoo("resnet-18", {.layout = "NCHW", .weights = false});
    const auto nhwc = frontend::buildZoo("resnet-18", {.layout = "NHWC", .weights = false});
    QVERIFY(nchw && nhwc);
    QCOMPARE(nchw->nodes.size(), nhwc->nodes.size());
    QCOMPARE(findValue(*nchw, "data")->shape, (std::vector<std::int64_t>{1, 3, 224, 224}));
    QCOMPARE(findValue(*nhwc, "data")->shape, (std::vector<std::int64_t>{1, 224, 224, 3}));
    QCOMPARE(findValue(*nhwc, "conv0_weight")->shape, (std::vector<std::int64_t>{7, 7, 3, 64}));
    const auto depthwise = frontend::buildZoo("mobilenet", {.layout = "NHWC", .weights = false});
    QVERIFY(depthwise);
    QCOMPARE(findValue(*depthwise, "separable_conv_block_1_weight")->shape, (std::vector<std::int64_t>{3, 3, 32, 1}));
    QCOMPARE(figuresOf(*nchw).macs, figuresOf(*nhwc).macs);
    QCOMPARE(figuresOf(*nchw).convolutionsAndDense, 22);
    QCOMPARE(figuresOf(*nchw).batchNorms, 19);
}

void TestZoo::bothLayoutsComputeTheSame_data()
{
    QTest::addColumn<QString>("name");
    for (const char* name : {"mobilenet-v3-large", "efficientnet-b0", "shufflenet-v2", "vit"})
        QTest::newRow(name) << name;
}

void TestZoo::bothLayoutsComputeTheSame()
{
    QFETCH(QString, name);
    const auto build = [&name](const char* layout) {
        const frontend::ZooOptions options{.batch = 2, .layout = layout, .imageSize = 32, .classes = 10};
        if (name == "vit")
            return frontend::buildVit("vit", {.layers = 2, .width = 16, .heads = 2, .hidden = 32}, options);
        return frontend::buildZoo(name.toStdString(), options);
    };
    auto nchw = build("NCHW"), nhwc = build("NHWC");
    QVERIFY(nchw && nhwc);
    // The same parameters, kernels turned.
    std::map<std::string, std::vector<std::int64_t>> turned;
    for (const graph::Node& node : nhwc->nodes) {
        if (node.op == "conv2d") {
            const bool depthwise = graph::attrString(node, "kernel_layout", "") == "HWOI";
            turned[nhwc->value(node.inputs[1]).name] = depthwise ? std::vector<std::int64_t>{2, 3, 0, 1}
                                                                 : std::vector<std::int64_t>{2, 3, 1, 0};
        }
    }
    for (graph::Value& value : nhwc->values) {
        if (!value.constant)
            continue;
        const graph::Value* other = findValue(*nchw, value.name);
        QVERIFY2(other && other->constant, value.name.c_str());
        const auto kernel = turned.find(value.name);
        value.constant = kernel == turned.end()
                             ? other->constant
                             : graph::permuteConst(*other->constant, value.dtype, other->shape, kernel->second);
    }
    const std::vector<std::int64_t> shape{2, 3, 32, 32};
    graph::HostTensor image = graph::HostTensor::zeros({DType::F32, shape}),
                      last = graph::HostTensor::zeros({DType::F32, {2, 32, 32, 3}});
    const auto pixels = image.as<float>(), lastPixels = last.as<float>();
    for (std::size_t i = 0; i < pixels.size(); ++i) {
        const std::size_t n = i / 3072, c = i / 1024 % 3, at = i % 1024;
        pixels[i] = static_cast<float>(i * 2654435761U % 1000) / 500.0F - 1.0F;
        lastPixels[(n * 1024 + at) * 3 + c] = pixels[i];
    }
    const auto a = graph::interpret(*nchw, {image}), b = graph::interpret(*nhwc, {last});
    QVERIFY(a && b);
    const auto first = (*a)[0].as<float>(), second = (*b)[0].as<float>();
    QCOMPARE(first.size(), second.size());
    float largest = 0, difference = 0;
    for (std::size_t i = 0; i < first.size(); ++i) {
        largest = std::max(largest, std::fabs(first[i]));
        difference = std::max(difference, std::fabs(first[i] - second[i]));
    }
    QVERIFY(largest > 0);
    QVERIFY2(difference <= 1e-5F * largest, qPrintable(QString("%1 of %2").arg(difference).arg(largest)));
}

void TestZoo::hiddenTokensAreNotLookedAt()
{
    const frontend::TransformerSizes sizes{
        .layers = 2, .width = 16, .heads = 2, .hidden = 32, .vocabulary = 40, .positions = 12, .tokens = 6};
    const auto g = frontend::buildBert("bert", sizes, {.batch = 2, .layout = "NCHW"});
    QVERIFY2(g, g ? "" : g.error().message.c_str());
    // Tokens 4 and 5 of the first sample are hidden; any number but 0 shows a token.
    const auto run = [&g](std::int64_t changedToken) {
        graph::HostTensor ids = graph::HostTensor::zeros({DType::I64, {2, 6}}), mask = ids;
        for (std::size_t i = 0; i < 12; ++i) {
            ids.as<std::int64_t>()[i] = static_cast<std::int64_t>(i * 7 % 40);
            mask.as<std::int64_t>()[i] = i == 4 || i == 5 ? 0 : static_cast<std::int64_t>(i + 1);
        }
        if (changedToken >= 0)
            ids.as<std::int64_t>()[static_cast<std::size_t>(changedToken)] = 39;
        auto outputs = graph::interpret(*g, {ids, mask});
        if (!outputs)
            qFatal("%s", outputs.error().message.c_str());
        const auto rows = (*outputs)[0].as<float>(), pooled = (*outputs)[1].as<float>();
        std::vector<float> seen(rows.begin(), rows.begin() + 4 * 16); // the shown tokens of the first sample
        seen.insert(seen.end(), pooled.begin(), pooled.begin() + 16);
        return seen;
    };
    const std::vector<float> plain = run(-1);
    QCOMPARE(run(4), plain);
    QCOMPARE(run(9), plain); // of the other sample
    QVERIFY(run(2) != plain);
    QVERIFY(std::all_of(plain.begin(), plain.end(), [](float value) { return std::isfinite(value); }));
}

void TestZoo::onlyTheReferencesMobilenetNormalisesRows()
{
    const auto reference = frontend::buildZoo("mobilenet", {.layout = "NHWC", .weights = false});
    const auto fixed = frontend::buildZoo("mobilenet-fixed", {.layout = "NHWC", .weights = false});
    QVERIFY(reference && fixed);
    QCOMPARE(findValue(*reference, "conv_block_1_bn_gamma")->shape, (std::vector<std::int64_t>{112}));
    QCOMPARE(findValue(*fixed, "conv_block_1_bn_gamma")->shape, (std::vector<std::int64_t>{32}));
    QCOMPARE(findValue(*reference, "separable_conv_block_1_bn1_gamma")->shape, (std::vector<std::int64_t>{32}));
}

void TestZoo::parametersComeInOrderOfFirstUse()
{
    const auto g = frontend::buildZoo("resnet-18", {.layout = "NCHW", .weights = false});
    QVERIFY(g);
    std::vector<std::string> names;
    for (const graph::Value& value : g->values) {
        if (value.constant)
            names.push_back(value.name);
    }
    QCOMPARE(names[0], std::string("bn_data_gamma"));
    QCOMPARE(names[3], std::string("bn_data_moving_var"));
    QCOMPARE(names[4], std::string("conv0_weight"));
    // A unit's second convolution draws before its shortcut.
    const auto position = [&](const char* name) { return std::find(names.begin(), names.end(), name) - names.begin(); };
    QVERIFY(position("stage1_unit1_conv2_weight") < position("stage1_unit1_sc_weight"));
    QVERIFY(position("stage1_unit1_sc_weight") < position("stage1_unit2_bn1_gamma"));
    QCOMPARE(names.back(), std::string("fc1_bias"));
}

void TestZoo::unknownNamesAreRefusedWithTheList()
{
    const auto g = frontend::buildZoo("resnet-19");
    QVERIFY(!g);
    QCOMPARE(int(g.error().code), int(Errc::NotFound));
    QVERIFY(g.error().message.find("resnet-18") != std::string::npos);
}

void TestZoo::optionsThatDoNotWorkAreRefused_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("layout");
    QTest::addColumn<int>("batch");
    QTest::addColumn<int>("imageSize");
    QTest::addColumn<int>("code");
    QTest::newRow("layout that the network has not") << "squeezenet-1.1"
                                                     << "NHWC" << 1 << 0 << int(Errc::Unsupported);
    QTest::newRow("no layout at all") << "resnet-18"
                                      << "CHWN" << 1 << 0 << int(Errc::InvalidArgument);
    QTest::newRow("no batch") << "resnet-18"
                              << "NHWC" << 0 << 0 << int(Errc::InvalidArgument);
    QTest::newRow("negative batch") << "mlp"
                                    << "" << -3 << 0 << int(Errc::InvalidArgument);
    QTest::newRow("image too small for the pools") << "vgg-16"
                                                   << "" << 1 << 16 << int(Errc::InvalidArgument);
    QTest::newRow("image too large for memory") << "vgg-16"
                                                << "" << 1 << 16384 << int(Errc::InvalidArgument);
    QTest::newRow("variant that small images have not") << "resnet-18"
                                                        << "" << 1 << 28 << int(Errc::InvalidArgument);
    QTest::newRow("image of broken patches") << "vit-b16"
                                             << "" << 1 << 100 << int(Errc::InvalidArgument);
    QTest::newRow("more patches than attention can hold") << "vit-b16"
                                                          << "" << 1 << 4096 << int(Errc::InvalidArgument);
    QTest::newRow("tensors past all bounds") << "shufflenet-v2"
                                             << "" << 65536 << 16384 << int(Errc::InvalidArgument);
    QTest::newRow("image size of a text") << "bert-base"
                                          << "" << 1 << 224 << int(Errc::InvalidArgument);
    QTest::newRow("text in a layout that it has not") << "bert-base"
                                                      << "NHWC" << 1 << 0 << int(Errc::Unsupported);
}

void TestZoo::optionsThatDoNotWorkAreRefused()
{
    QFETCH(QString, name);
    QFETCH(QString, layout);
    QFETCH(int, batch);
    QFETCH(int, imageSize);
    const auto g = frontend::buildZoo(
        name.toStdString(), {.batch = batch, .layout = layout.toStdString(), .imageSize = imageSize, .weights = false});
    QVERIFY(!g);
    QTEST(int(g.error().code), "code");
    QVERIFY(!g.error().message.empty());
}

LATHE_TEST(TestZoo)

} // namespace tst_zoo

#include "tst_zoo.moc"
