#include "core/frontend/zoo.h"
#include "core/graph/node_types.h"
#include "dag_executor.h"
#include "tests/support/test_program.h"

namespace tst_alternatives {

using namespace lathe;
using namespace lathe::test;
using graph::ValueId;

namespace {

/// Residual unit, depthwise, strided, concatenation, scalar, pools, dense and softmax.
graph::Graph network()
{
    GraphMaker m;
    const ValueId x = m.input("x", {1, 3, 10, 10});
    const ValueId stem = m.node("relu0", "relu", {m.batchNorm("bn0", m.conv("stem", x, {8, 3, 3, 3}), 8)});
    ValueId y = m.node("relu1", "relu", {m.batchNorm("bn1", m.conv("c1", stem, {8, 8, 3, 3}), 8)});
    y = m.node("sum", "add", {m.conv("c2", y, {8, 8, 3, 3}), stem});
    y = m.node("half", "multiply", {y, m.constant("h", {}, {0.5f})});
    y = m.node("bias", "bias_add", {m.conv("dw", y, {8, 1, 3, 3}, 8, 2), m.random("b", {8})},
               {{"axis", std::int64_t{1}}});
    y = m.node("concat", "concatenate", {m.conv("left", y, {4, 8, 1, 1}), m.conv("right", y, {6, 8, 3, 3})},
               {{"axis", std::int64_t{1}}});
    y = m.node("pool", "global_avg_pool2d", {m.node("clip", "clip", {y}, {{"min", 0.0}, {"max", 6.0}})},
               {{"layout", std::string("NCHW")}});
    y = m.node("fc", "dense", {m.node("flat", "batch_flatten", {y}), m.random("w", {5, 10})});
    return m.finish({m.node("soft", "softmax",
                            {m.node("fc_bias", "bias_add", {y, m.random("fb", {5})}, {{"axis", std::int64_t{1}}})},
                            {{"axis", std::int64_t{-1}}})});
}

} // namespace

class TestAlternatives : public QObject
{
    Q_OBJECT

private slots:
    void everyAlternativeComputesTheNetwork_data();
    void everyAlternativeComputesTheNetwork();
    void theReferencesPartitionComputesTheNetworkToo();
    void optimizingANetworkOfTheZooKeepsItsNumbers_data();
    void optimizingANetworkOfTheZooKeepsItsNumbers();
};

void TestAlternatives::everyAlternativeComputesTheNetwork_data()
{
    QTest::addColumn<QString>("layout");
    QTest::addColumn<QString>("alternative");
    for (const char* layout : {"NCHW", "NHWC"}) {
        QTest::addRow("%s direct", layout) << layout << "direct";
        QTest::addRow("%s winograd 2", layout) << layout << "winograd:2";
        QTest::addRow("%s winograd 4", layout) << layout << "winograd:4";
    }
}

void TestAlternatives::everyAlternativeComputesTheNetwork()
{
    QFETCH(QString, layout);
    QFETCH(QString, alternative);
    const graph::Graph original = network();
    const graph::Graph g = optimized(take(graph::convertLayout(original, layout.toStdString())));
    const graph::Partition p = take(graph::partition(g, *Target::parse("cpu -threads=1"), "lathe"));
    DagExecutor executor(g, p, alternative.toStdString());
    QCOMPARE(disagreement(original, executor.run()), QString());
    QCOMPARE(executor.winogradRuns, alternative == "direct" ? 0 : 4);
}

void TestAlternatives::theReferencesPartitionComputesTheNetworkToo()
{
    const graph::Graph original = network();
    const graph::Graph g = optimized(take(graph::convertLayout(original, "NHWC")));
    const graph::Partition p = take(graph::partition(g, *Target::parse("cuda"), "reference"));
    DagExecutor executor(g, p, "winograd:2");
    QCOMPARE(disagreement(original, executor.run()), QString());
    QCOMPARE(executor.winogradRuns, 4); // neither 10 nor 5 rows divide by 8
}

void TestAlternatives::optimizingANetworkOfTheZooKeepsItsNumbers_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("layout");
    QTest::addColumn<QString>("converted");
    QTest::addColumn<int>("size");
    QTest::newRow("resnet-18") << "resnet-18"
                               << "NHWC"
                               << "NHWC" << 33;
    QTest::newRow("mobilenet") << "mobilenet"
                               << "NHWC"
                               << "NHWC" << 32;
    QTest::newRow("mobilenet-v2 converted") << "mobilenet-v2"
                                            << "NCHW"
                                            << "NHWC" << 32;
    QTest::newRow("squeezenet converted") << "squeezenet-1.1"
                                          << "NCHW"
                                          << "NHWC" << 48;
}

void TestAlternatives::optimizingANetworkOfTheZooKeepsItsNumbers()
{
    QFETCH(QString, name);
    QFETCH(QString, layout);
    QFETCH(QString, converted);
    QFETCH(int, size);
    graph::Graph g = take(frontend::buildZoo(name.toStdString(), {.layout = layout.toStdString(), .imageSize = size}));
    // Before the softmax, which would hide differences.
    if (g.nodes.back().op == "softmax")
        g.outputs = {g.nodes.back().inputs[0]};
    const graph::Graph o = optimized(take(graph::convertLayout(g, converted.toStdString())));
    QCOMPARE(count(o, "batch_norm") + count(o, "bias_add") + count(o, "dropout"), 0);
    QCOMPARE(disagreement(g, o), QString());
}

LATHE_TEST(TestAlternatives)

} // namespace tst_alternatives

#include "tst_alternatives.moc"
