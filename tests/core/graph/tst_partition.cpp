#include "core/frontend/zoo.h"
#include "core/graph/passes.h"
#include "core/graph/task.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <set>

namespace tst_partition {

using namespace lathe;
using Shape = std::vector<std::int64_t>;

namespace {

graph::Graph optimized(const char* network, const char* layout, const Target& target)
{
    auto g = frontend::buildZoo(network, {.layout = layout, .weights = false});
    if (!g)
        qFatal("%s", g.error().message.c_str());
    auto o = graph::optimize(*std::move(g), target);
    if (!o)
        qFatal("%s", o.error().message.c_str());
    return *std::move(o);
}

struct Cut
{
    graph::Graph graph;
    graph::Partition partition;
};

Cut cut(const char* network, const char* layout, const char* targetText, const char* kind)
{
    const Target target = *Target::parse(targetText);
    Cut c{optimized(network, layout, target), {}};
    auto p = graph::partition(c.graph, target, kind);
    if (!p)
        qFatal("%s", p.error().message.c_str());
    c.partition = *std::move(p);
    return c;
}

int totalWeight(const graph::Partition& p)
{
    int weight = 0;
    for (const graph::Task& task : p.tasks)
        weight += task.weight;
    return weight;
}

std::string numbers(const Shape& shape)
{
    std::string text;
    for (const std::int64_t extent : shape)
        text += (text.empty() ? "" : ", ") + std::to_string(extent);
    return text;
}

std::string flatKey(const std::string& hash, const std::vector<Shape>& shapes)
{
    std::string text = "[\"" + hash + "\"";
    for (const Shape& shape : shapes)
        text += ", " + numbers(shape);
    return text + "]";
}

std::string nestedKey(const std::string& hash, const std::vector<Shape>& shapes)
{
    std::string text = "[\"" + hash + "\"";
    for (const Shape& shape : shapes)
        text += ", [" + numbers(shape) + "]";
    return text + "]";
}

struct Golden
{
    int weight;
    double flop;
    std::string flat; ///< hash of the flat generation
    std::string hash; ///< of the first generation
    std::vector<Shape> shapes; ///< inputs, then the output
};

/// A winograd convolution of an NHWC image with the operands of its epilogue.
std::vector<Shape> winograd(std::int64_t size, std::int64_t channels, std::int64_t alpha, bool residual, int vectors)
{
    const Shape image{1, size, size, channels};
    std::vector<Shape> shapes{image, {alpha, alpha, channels, channels}};
    if (residual)
        shapes.push_back(image);
    for (int i = 0; i < vectors; ++i)
        shapes.push_back({1, 1, 1, channels});
    shapes.push_back(image);
    return shapes;
}

std::vector<Shape> strided(std::int64_t size, std::int64_t in, std::int64_t out, std::int64_t kernel,
                           std::int64_t stride, bool bias)
{
    std::vector<Shape> shapes{{1, size, size, in}, {kernel, kernel, in, out}};
    if (bias)
        shapes.push_back({1, 1, 1, out});
    shapes.push_back({1, size / stride, size / stride, out});
    return shapes;
}

/// auto-scheduler.md 2.5 and appendix A.
std::vector<Golden> resnet18Goldens()
{
    return {
        {1, 4000, "d7b65649a4dd54becea0a52aabbc5af5", "b32ed43fb351136894c322ee49097a1a", {{1, 1000}, {1, 1000}}},
        {1,
         1025000,
         "9847f8cc0b305137f49f2c5c0c8ab25d",
         "d09dc1a6bb90d59c91b68989ad3492ff",
         {{1, 512}, {1000, 512}, {1000}, {1, 1000}}},
        {1,
         26112,
         "69115f188984ae34ede37c3b8ca40b43",
         "7de313da0ca29a8c63f647791692430d",
         {{1, 7, 7, 512}, {1, 1, 1, 512}}},
        {1, 142182400, "ad6cecbf5d85cb1cda3c2bb7af170211", "8d5a93959138dc7b2ee1f1b3219dfa14",
         winograd(7, 512, 4, true, 2)},
        {1, 142132224, "3a69f9fbc63760d99e36b4c17b3bfc57", "ac6920940de3797cc3f9f9c260675e5d",
         winograd(7, 512, 4, false, 1)},
        {1, 142107136, "d730bcd28f0920f6b97245e2a11bd8d6", "7e83a2ee5cd5d50282ed19310700046a",
         winograd(7, 512, 4, true, 0)},
        {1, 115655680, "12b88bedece6984af589a28b43e0f3c4", "1f6cd3637ec856bf5cf5010a623eed05",
         strided(14, 256, 512, 3, 2, true)},
        {1, 114953216, "f3b6c10fcc6ce01ff01add933e4d21e9", "424ba83160af31badc0b098136e1a3b0",
         winograd(14, 256, 4, true, 1)},
        {1, 114903040, "b8b52b9be9df6102466a22a014c44c1f", "a169cd0053d3a7ca82998fcb62e42c58",
         winograd(14, 256, 4, false, 1)},
        {1, 114852864, "d374e472bd9d8164892b9e28a0a8cb59", "0141ffc4fbabc10cc5a94c954419055b",
         winograd(14, 256, 4, true, 0)},
        {1, 115705856, "12b88bedece6984af589a28b43e0f3c4", "81aae4b8e2c076a4014d403e8a2c70a1",
         strided(28, 128, 256, 3, 2, true)},
        {1, 127145984, "c4500b4e2fd04e695c32d2f31bbdc14a", "c7a6b56bdc04b94c829fb2ef9874019e",
         winograd(28, 128, 4, true, 1)},
        {1, 127045632, "e4cdf917b876dbdd64488c3818d9c141", "c035cc8b0568a8e054d06bd7f4950550",
         winograd(28, 128, 4, false, 1)},
        {1, 126945280, "dac19035dd5fe9424ee8617421b9c817", "c5ee3e05edd9754492d0763aa41fd025",
         winograd(28, 128, 4, true, 0)},
        {1, 115806208, "12b88bedece6984af589a28b43e0f3c4", "022ebb6b7c55c5ed030421380ec83a04",
         strided(56, 64, 128, 3, 2, true)},
        {1, 128851968, "1e3c4211ffd2f2db91078ae4d04b779d", "de0df0893e01892cfe69f7bc2c24111f",
         winograd(56, 64, 6, true, 1)},
        {2, 128651264, "b818b53148cd450f86569dfc3e04cb8a", "f2e3c09a00e7d0a9897f70497e089f1e",
         winograd(56, 64, 6, false, 1)},
        {1, 128450560, "3ea73fb9b0364374730d09e068821f95", "fa26946d7ac51126bfa859cb183f9ca1",
         winograd(56, 64, 6, true, 0)},
        {1,
         2207744,
         "a5612fdeb9db4d579a75ec225ea4c06a",
         "ba2026d923536b75e9b4faed89287d5f",
         {{1, 112, 112, 64}, {1, 1, 1, 64}, {1, 56, 56, 64}}},
        {1, 237633536, "12b88bedece6984af589a28b43e0f3c4", "a0eb8d6048282a4a0986cc2ccf14eaa2",
         strided(224, 3, 64, 7, 2, true)},
        {1, 25690112, "7006235cfc29b73be524cf390ed5a977", "bf78a7bf0209980f72953637dfd14a6f",
         strided(56, 64, 64, 1, 1, false)},
        {1, 12845056, "f4380bb1dc62422a69ad4a1a9771f927", "6630936c26852f2b89dbfa2ff37fbb9c",
         strided(56, 64, 128, 1, 2, false)},
        {1, 12845056, "f4380bb1dc62422a69ad4a1a9771f927", "ba5f918733ccbbd4a1d7fd3724665a2f",
         strided(28, 128, 256, 1, 2, false)},
        {1, 12845056, "f4380bb1dc62422a69ad4a1a9771f927", "21ad409d72953de188314010134e3acd",
         strided(14, 256, 512, 1, 2, false)},
    };
}

const graph::Task* findTask(const graph::Partition& p, std::string_view name)
{
    const auto it = std::find_if(p.tasks.begin(), p.tasks.end(),
                                 [&](const graph::Task& task) { return task.name == name; });
    return it == p.tasks.end() ? nullptr : &*it;
}

/// A 3x3 convolution with a bias, as a network of one task.
graph::Graph oneConvolution(std::int64_t stride, std::int64_t size, DType dtype)
{
    graph::Graph g;
    g.name = "one";
    const graph::ValueId data = g.addValue("data", dtype, {1, size, size, 8});
    g.inputs.push_back(data);
    const std::vector<std::byte> zeros(static_cast<std::size_t>(3 * 3 * 8 * 16 * sizeOf(dtype)));
    const auto weight = g.addConstant("weight", dtype, {3, 3, 8, 16}, graph::makeConst(zeros.data(), zeros.size()));
    const std::int64_t out = (size - 1) / stride + 1;
    const auto result = g.addValue("conv", dtype, {1, out, out, 16});
    g.addNode({"conv",
               "conv2d",
               {{"strides", Shape{stride, stride}},
                {"padding", Shape{1, 1, 1, 1}},
                {"dilations", Shape{1, 1}},
                {"groups", std::int64_t{1}},
                {"layout", std::string("NHWC")},
                {"kernel_layout", std::string("HWIO")}},
               {data, weight},
               {result},
               "conv"});
    g.outputs.push_back(result);
    return g;
}

graph::Task onlyTask(const graph::Graph& g, const char* target = "cuda", const char* kind = "reference")
{
    auto p = graph::partition(g, *Target::parse(target), kind);
    if (!p)
        qFatal("%s", p.error().message.c_str());
    if (p->tasks.size() != 1)
        qFatal("%zu tasks", p->tasks.size());
    return p->tasks.front();
}

} // namespace

class TestPartition : public QObject
{
    Q_OBJECT

private slots:
    void resnet18IsCutIntoTheReferencesTasks();
    void mobilenetIsCutIntoTheReferencesTasks();
    void otherNetworksHaveTheReferencesNumbers_data();
    void otherNetworksHaveTheReferencesNumbers();
    void equalPartsOfNewerNetworksAreOneTask_data();
    void equalPartsOfNewerNetworksAreOneTask();
    void functionsThatAreNoTaskSayWhy();
    void tasksAndNodesKnowEachOther();
    void latheLetsAlgorithmsCompete();
    void winogradIsPickedByTheTargetsRules_data();
    void winogradIsPickedByTheTargetsRules();
    void changesChangeTheKeys();
    void unknownOperatorsAreNamedAllAtOnce();
    void anUnknownKindIsRefused();
};

void TestPartition::resnet18IsCutIntoTheReferencesTasks()
{
    const Cut c = cut("resnet-18", "NHWC", "cuda", "reference");
    const std::vector<Golden> goldens = resnet18Goldens();
    QCOMPARE(c.partition.tasks.size(), goldens.size());
    QCOMPARE(totalWeight(c.partition), 25);
    double flop = 0;
    for (std::size_t i = 0; i < goldens.size(); ++i) {
        const graph::Task& task = c.partition.tasks[i];
        const Golden& golden = goldens[i];
        const std::string place = "task " + std::to_string(i) + ": " + task.name;
        QVERIFY2(task.weight == golden.weight, place.c_str());
        QVERIFY2(task.flop == golden.flop, (place + " " + std::to_string(task.flop)).c_str());
        QCOMPARE(QString::fromStdString(place + task.flat->key),
                 QString::fromStdString(place + flatKey(golden.flat, golden.shapes)));
        QCOMPARE(QString::fromStdString(place + task.hash->key),
                 QString::fromStdString(place + "[\"" + golden.hash + "\"]"));
        QCOMPARE(task.alternatives.size(), std::size_t{1});
        QVERIFY(task.alternatives.front().isReference);
        QCOMPARE(task.key.size(), std::size_t{32});
        flop += task.weight * task.flop;
    }
    QCOMPARE(qRound(flop / 1e6), 2319);
    QCOMPARE(c.partition.subgraphs.size(), std::size_t{31});
    QCOMPARE(c.partition.tasks[3].description,
             std::string("vm_mod_fused_nn_contrib_conv2d_winograd_without_weight_transform_add_multiply_add_nn_re_")
                 + c.partition.tasks[3].description.substr(c.partition.tasks[3].description.size() - 16));
    QCOMPARE(c.partition.tasks[6].description, std::string("vm_mod_fused_nn_conv2d_add_nn_relu"));
    QCOMPARE(c.partition.tasks[14].name, std::string("conv2d 3x3/2 64->128 @28 +add+relu"));
}

void TestPartition::mobilenetIsCutIntoTheReferencesTasks()
{
    const Cut c = cut("mobilenet", "NHWC", "opencl -device=mali", "reference");
    QCOMPARE(c.partition.tasks.size(), std::size_t{22});
    QCOMPARE(totalWeight(c.partition), 30);
    const std::string pointwise = "1037be767e8e18197e87653d81c34558";
    const std::string depthwise = "06fce76bd84cb904eee50b905ca9449a";
    const std::string depthwiseStrided = "c87ba68bc180312f5716af09a77ca15b";
    struct Row
    {
        std::string hash;
        double flop;
        int weight;
        std::vector<Shape> shapes;
    };
    const auto pw = [&](std::int64_t size, std::int64_t in, std::int64_t out, double flop, int weight = 1) {
        return Row{
            pointwise, flop, weight, {{1, size, size, in}, {1, 1, in, out}, {1, 1, 1, out}, {1, size, size, out}}};
    };
    const auto dw = [&](std::int64_t size, std::int64_t channels, std::int64_t stride, double flop, int weight = 1) {
        return Row{stride == 1 ? depthwise : depthwiseStrided,
                   flop,
                   weight,
                   {{1, size, size, channels},
                    {3, 3, channels, 1},
                    {1, 1, 1, channels},
                    {1, size / stride, size / stride, channels}}};
    };
    // In Lathe's pre-order: from the output to the input.
    const std::vector<Row> rows{
        {"d7b65649a4dd54becea0a52aabbc5af5", 4000, 1, {{1, 1000}, {1, 1000}}},
        {"7d44c6e3c81cd80f61ff2265b2bae89a", 2049000, 1, {{1, 1024}, {1000, 1024}, {1, 1000}, {1, 1000}}},
        {"69115f188984ae34ede37c3b8ca40b43", 52224, 1, {{1, 7, 7, 1024}, {1, 1, 1, 1024}}},
        pw(7, 1024, 1024, 102860800),
        dw(7, 1024, 1, 1003520),
        pw(7, 512, 1024, 51480576),
        dw(14, 512, 2, 501760),
        pw(14, 512, 512, 102961152, 5),
        dw(14, 512, 1, 2007040, 5),
        pw(14, 256, 512, 51580928),
        dw(28, 256, 2, 1003520),
        pw(28, 256, 256, 103161856),
        dw(28, 256, 1, 4014080),
        pw(28, 128, 256, 51781632),
        dw(56, 128, 2, 2007040),
        pw(56, 128, 128, 103563264),
        dw(56, 128, 1, 8028160),
        pw(56, 64, 128, 52183040),
        dw(112, 64, 2, 4014080),
        pw(112, 32, 64, 52985856),
        dw(112, 32, 1, 8028160),
        {"2ca148ecea6508ce625f85719021344f",
         22880256,
         1,
         {{1, 224, 224, 3}, {3, 3, 3, 32}, {1, 112, 1, 1}, {1, 112, 1, 1}, {1, 112, 112, 32}}},
    };
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const graph::Task& task = c.partition.tasks[i];
        const std::string place = "task " + std::to_string(i) + ": " + task.name;
        QVERIFY2(task.weight == rows[i].weight, place.c_str());
        QVERIFY2(task.flop == rows[i].flop, (place + " " + std::to_string(task.flop)).c_str());
        QCOMPARE(QString::fromStdString(place + task.nested->key),
                 QString::fromStdString(place + nestedKey(rows[i].hash, rows[i].shapes)));
    }
}

void TestPartition::otherNetworksHaveTheReferencesNumbers_data()
{
    QTest::addColumn<QString>("network");
    QTest::addColumn<QString>("layout");
    QTest::addColumn<int>("tasks");
    QTest::addColumn<int>("functions");
    QTest::newRow("resnet-18 NCHW") << "resnet-18"
                                    << "NCHW" << 24 << 31;
    QTest::newRow("resnet-34") << "resnet-34"
                               << "NHWC" << 24 << 55;
    QTest::newRow("resnet-50") << "resnet-50"
                               << "NHWC" << 29 << 71;
    QTest::newRow("resnet-152") << "resnet-152"
                                << "NHWC" << 29 << 207;
    QTest::newRow("mobilenet NCHW") << "mobilenet"
                                    << "NCHW" << 22 << 31;
}

void TestPartition::otherNetworksHaveTheReferencesNumbers()
{
    QFETCH(QString, network);
    QFETCH(QString, layout);
    const Cut c = cut(network.toUtf8().constData(), layout.toUtf8().constData(), "cuda", "reference");
    QTEST(static_cast<int>(c.partition.tasks.size()), "tasks");
    QTEST(static_cast<int>(c.partition.subgraphs.size()), "functions");
}

void TestPartition::equalPartsOfNewerNetworksAreOneTask_data()
{
    QTest::addColumn<QString>("network");
    QTest::addColumn<int>("tasks");
    QTest::addColumn<int>("weight");
    QTest::addColumn<int>("megaflop");
    QTest::newRow("resnet3d-18") << "resnet3d-18" << 23 << 24 << 81852;
    QTest::newRow("shufflenet-v2") << "shufflenet-v2" << 19 << 59 << 294;
    QTest::newRow("efficientnet-b0") << "efficientnet-b0" << 58 << 99 << 787;
    QTest::newRow("mobilenet-v3-large") << "mobilenet-v3-large" << 52 << 73 << 449;
    QTest::newRow("vit-b16") << "vit-b16" << 11 << 136 << 35216;
    QTest::newRow("bert-base") << "bert-base" << 10 << 159 << 22402;
}

void TestPartition::equalPartsOfNewerNetworksAreOneTask()
{
    QFETCH(QString, network);
    const Cut c = cut(network.toUtf8().constData(), "", "cuda", "reference");
    double flop = 0;
    for (const graph::Task& task : c.partition.tasks)
        flop += task.weight * task.flop;
    QTEST(static_cast<int>(c.partition.tasks.size()), "tasks");
    QTEST(totalWeight(c.partition), "weight");
    QTEST(qRound(flop / 1e6), "megaflop");
}

void TestPartition::functionsThatAreNoTaskSayWhy()
{
    const Cut c = cut("resnet-18", "NHWC", "cuda", "reference");
    int noops = 0;
    int simple = 0;
    for (const graph::Subgraph& s : c.partition.subgraphs) {
        QVERIFY(!s.name.empty());
        QCOMPARE(s.reason.empty(), s.task >= 0);
        noops += s.noop;
        if (s.task < 0 && !s.noop) {
            ++simple;
            QVERIFY(s.untuned.has_value());
            QCOMPARE(s.untuned->bindings.size(), s.untuned->dag->inputs.size());
        }
    }
    QCOMPARE(noops, 1);
    QCOMPARE(simple, 5); // the shift of the data, and an add with relu in each stage
}

void TestPartition::tasksAndNodesKnowEachOther()
{
    const Cut c = cut("resnet-18", "NHWC", "cuda", "lathe");
    std::set<graph::NodeId> seen;
    for (const graph::Subgraph& s : c.partition.subgraphs) {
        for (const graph::NodeId id : s.nodes)
            QVERIFY(seen.insert(id).second);
        if (s.task < 0)
            continue;
        const graph::Task& task = c.partition.tasks[static_cast<std::size_t>(s.task)];
        QVERIFY(std::find(task.occurrences.begin(), task.occurrences.end(), s.nodes) != task.occurrences.end());
        QCOMPARE(task.inputs.size(), s.inputs.size());
        for (std::size_t i = 0; i < s.inputs.size(); ++i)
            QVERIFY(task.inputs[i].type.shape == c.graph.value(s.inputs[i]).shape);
    }
    QCOMPARE(seen.size(), c.graph.nodes.size());
    for (const graph::Task& task : c.partition.tasks)
        QCOMPARE(task.occurrences.size(), static_cast<std::size_t>(task.weight));
}

void TestPartition::latheLetsAlgorithmsCompete()
{
    const Cut c = cut("resnet-18", "NHWC", "cuda", "lathe");
    const graph::Task* task = findTask(c.partition, "conv2d 3x3 64->64 @56 +add+relu");
    QVERIFY(task);
    QCOMPARE(task->weight, 2);
    QCOMPARE(task->alternatives.size(), std::size_t{3});
    QCOMPARE(task->alternatives[0].name, std::string("direct"));
    QCOMPARE(task->alternatives[1].name, std::string("winograd:2"));
    QCOMPARE(task->alternatives[2].name, std::string("winograd:4"));
    QVERIFY(!task->alternatives[0].isReference && !task->alternatives[1].isReference
            && task->alternatives[2].isReference);
    for (const graph::Alternative& a : task->alternatives) {
        QCOMPARE(a.bindings.size(), a.dag->inputs.size());
        for (std::size_t i = 0; i < a.bindings.size(); ++i) {
            const compute::Op& op = a.dag->ops[static_cast<std::size_t>(a.dag->inputs[i])];
            const graph::InputBinding& binding = a.bindings[i];
            const Shape& given = task->inputs[static_cast<std::size_t>(binding.taskInput)].type.shape;
            if (!binding.recipe) {
                QCOMPARE(op.shape, given);
                continue;
            }
            // The recipe makes the transformed weight from the weight of the network.
            QVERIFY(a.name != "direct");
            QVERIFY(task->inputs[static_cast<std::size_t>(binding.taskInput)].constant);
            QCOMPARE(binding.recipe->ops[static_cast<std::size_t>(binding.recipe->inputs.front())].shape, given);
            QCOMPARE(binding.recipe->ops[static_cast<std::size_t>(binding.recipe->outputs.front())].shape, op.shape);
        }
    }
    // The keys do not depend on what else competes.
    const Cut reference = cut("resnet-18", "NHWC", "cuda", "reference");
    QCOMPARE(c.partition.tasks.size(), reference.partition.tasks.size());
    for (std::size_t i = 0; i < c.partition.tasks.size(); ++i) {
        QCOMPARE(c.partition.tasks[i].key, reference.partition.tasks[i].key);
        QCOMPARE(c.partition.tasks[i].nested->key, reference.partition.tasks[i].nested->key);
    }
}

void TestPartition::winogradIsPickedByTheTargetsRules_data()
{
    QTest::addColumn<QString>("target");
    QTest::addColumn<int>("size");
    QTest::addColumn<QString>("picked");
    QTest::newRow("cuda, height divides by 8") << "cuda" << 56 << "winograd:4";
    QTest::newRow("cuda, height does not") << "cuda" << 28 << "winograd:2";
    QTest::newRow("opencl as cuda") << "opencl" << 16 << "winograd:4";
    QTest::newRow("mali, height divides by 4") << "opencl -device=mali" << 28 << "winograd:4";
    QTest::newRow("mali, height does not") << "opencl -device=mali" << 14 << "winograd:2";
    QTest::newRow("cpu, few output channels") << "cpu -threads=2" << 56 << "direct";
}

void TestPartition::winogradIsPickedByTheTargetsRules()
{
    QFETCH(QString, target);
    QFETCH(int, size);
    const graph::Task task = onlyTask(oneConvolution(1, size, DType::F32), target.toUtf8().constData());
    QCOMPARE(task.alternatives.size(), std::size_t{1});
    QTEST(QString::fromStdString(task.alternatives[0].name), "picked");
}

void TestPartition::changesChangeTheKeys()
{
    const graph::Task base = onlyTask(oneConvolution(2, 56, DType::F32));
    const graph::Task same = onlyTask(oneConvolution(2, 56, DType::F32));
    QCOMPARE(same.key, base.key);
    QCOMPARE(same.nested->key, base.nested->key);
    const graph::Task strideChanged = onlyTask(oneConvolution(1, 56, DType::F32));
    const graph::Task shapeChanged = onlyTask(oneConvolution(2, 28, DType::F32));
    const graph::Task dtypeChanged = onlyTask(oneConvolution(2, 56, DType::F16));
    graph::Graph shifted = oneConvolution(2, 56, DType::F32);
    shifted.nodes[0].attrs["padding"] = Shape{0, 0, 1, 1};
    const graph::Task padChanged = onlyTask(shifted);
    for (const graph::Task* other : {&strideChanged, &shapeChanged, &dtypeChanged, &padChanged})
        QVERIFY(other->key != base.key);
    QVERIFY(strideChanged.flat->key != base.flat->key);
    QVERIFY(strideChanged.hash->key != base.hash->key);
    QVERIFY(shapeChanged.flat->key != base.flat->key);
    QVERIFY(shapeChanged.nested->key != base.nested->key);
    QVERIFY(dtypeChanged.hash->key != base.hash->key);
    // The later generations of the reference's key see neither: Lathe's own must tell such tasks apart.
    QCOMPARE(padChanged.flat->key, base.flat->key);
    QVERIFY(padChanged.hash->key != base.hash->key);
    // The key is of the task on one kind of target.
    QVERIFY(onlyTask(oneConvolution(2, 56, DType::F32), "cpu").key != base.key);
}

void TestPartition::unknownOperatorsAreNamedAllAtOnce()
{
    graph::Graph g = oneConvolution(1, 16, DType::F32);
    for (const char* op : {"teleport", "wormhole"}) {
        const auto out = g.addValue(op, DType::F32, {1, 16, 16, 16});
        g.addNode({std::string("node_") + op, op, {}, {g.outputs[0]}, {out}, ""});
        g.outputs[0] = out;
    }
    const auto p = graph::partition(g, *Target::parse("cuda"), "reference");
    QVERIFY(!p);
    QCOMPARE(int(p.error().code), int(Errc::Unsupported));
    for (const char* word : {"teleport", "wormhole", "node_teleport", "node_wormhole"})
        QVERIFY2(p.error().message.find(word) != std::string::npos, p.error().message.c_str());
}

void TestPartition::anUnknownKindIsRefused()
{
    const auto p = graph::partition(oneConvolution(1, 16, DType::F32), *Target::parse("cuda"), "best");
    QVERIFY(!p);
    QCOMPARE(int(p.error().code), int(Errc::InvalidArgument));
}

LATHE_TEST(TestPartition)

} // namespace tst_partition

#include "tst_partition.moc"
