#include "graph_fixture.h"

#include "core/compute/interpret.h"
#include "core/frontend/zoo.h"
#include "core/graph/node_types.h"
#include "core/graph/task.h"
#include "tests/support/test_program.h"

#include <map>

namespace tst_alternatives {

using namespace lathe;
using namespace lathe::test;
using graph::ValueId;
using Bytes = std::vector<std::byte>;

namespace {

Bytes runDag(const compute::DagPtr& dag, const std::vector<Bytes>& inputs)
{
    const std::vector<std::span<const std::byte>> views(inputs.begin(), inputs.end());
    return take(take(compute::Interpreter::compile(dag)).run(views)).front();
}

/// Runs the network by the compute DAGs of its partition; tasks by the alternative of that name where they have it.
class DagExecutor
{
public:
    DagExecutor(const graph::Graph& g, const graph::Partition& p, std::string alternative) : m_graph(g), m_partition(p), m_alternative(std::move(alternative)) { }

    std::vector<graph::HostTensor> run(std::uint64_t seed = 7)
    {
        Random random(seed);
        for (const ValueId id : m_graph.inputs) {
            std::vector<float> values(static_cast<std::size_t>(graph::elementCount(m_graph.value(id).shape)));
            for (float& v : values)
                v = static_cast<float>(2 * random.uniform() - 1);
            Bytes bytes(values.size() * sizeof(float));
            std::memcpy(bytes.data(), values.data(), bytes.size());
            m_values[id.value] = std::move(bytes);
        }
        for (const graph::Subgraph& s : m_partition.subgraphs)
            runSubgraph(s);
        std::vector<graph::HostTensor> outputs;
        for (const ValueId id : m_graph.outputs)
            outputs.push_back({{m_graph.value(id).dtype, m_graph.value(id).shape}, bytes(id)});
        return outputs;
    }

    int winogradRuns = 0;

private:
    Bytes bytes(ValueId id)
    {
        if (const auto& constant = m_graph.value(id).constant)
            return {constant->data, constant->data + constant->bytes};
        return m_values.at(id.value);
    }

    void runSubgraph(const graph::Subgraph& s)
    {
        if (s.noop) {
            m_values[s.outputs.at(0).value] = bytes(s.inputs.at(0));
            return;
        }
        const graph::Alternative& a = s.task < 0 ? s.untuned.value() : pick(m_partition.tasks[static_cast<std::size_t>(s.task)]);
        std::vector<Bytes> inputs;
        for (const graph::InputBinding& binding : a.bindings) {
            Bytes given = bytes(s.inputs[static_cast<std::size_t>(binding.taskInput)]);
            inputs.push_back(binding.recipe ? runDag(binding.recipe, {given}) : given);
        }
        m_values[s.outputs.at(0).value] = runDag(a.dag, inputs);
    }

    const graph::Alternative& pick(const graph::Task& task)
    {
        for (const graph::Alternative& a : task.alternatives) {
            if (a.name == m_alternative) {
                winogradRuns += a.name.starts_with("winograd");
                return a;
            }
        }
        return task.alternatives.front();
    }

    const graph::Graph& m_graph;
    const graph::Partition& m_partition;
    std::string m_alternative;
    std::map<std::int32_t, Bytes> m_values;
};

double worst(const std::vector<graph::HostTensor>& a, const std::vector<graph::HostTensor>& b)
{
    double difference = 0;
    double largest = 1e-30;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (a[i].type != b[i].type)
            return INFINITY;
        for (std::size_t k = 0; k < a[i].as<float>().size(); ++k) {
            difference = std::max(difference, std::abs(static_cast<double>(a[i].as<float>()[k]) - static_cast<double>(b[i].as<float>()[k])));
            largest = std::max(largest, static_cast<double>(std::abs(a[i].as<float>()[k])));
        }
    }
    return difference / largest;
}

/// Residual unit, depthwise, strided, concatenation, scalar, pools, dense and softmax.
graph::Graph network()
{
    GraphMaker m;
    const ValueId x = m.input("x", {1, 3, 10, 10});
    const ValueId stem = m.node("relu0", "relu", {m.batchNorm("bn0", m.conv("stem", x, {8, 3, 3, 3}), 8)});
    ValueId y = m.node("relu1", "relu", {m.batchNorm("bn1", m.conv("c1", stem, {8, 8, 3, 3}), 8)});
    y = m.node("sum", "add", {m.conv("c2", y, {8, 8, 3, 3}), stem});
    y = m.node("half", "multiply", {y, m.constant("h", {}, {0.5f})});
    y = m.node("bias", "bias_add", {m.conv("dw", y, {8, 1, 3, 3}, 8, 2), m.random("b", {8})}, {{"axis", std::int64_t{1}}});
    y = m.node("concat", "concatenate", {m.conv("left", y, {4, 8, 1, 1}), m.conv("right", y, {6, 8, 3, 3})}, {{"axis", std::int64_t{1}}});
    y = m.node("pool", "global_avg_pool2d", {m.node("clip", "clip", {y}, {{"min", 0.0}, {"max", 6.0}})}, {{"layout", std::string("NCHW")}});
    y = m.node("fc", "dense", {m.node("flat", "batch_flatten", {y}), m.random("w", {5, 10})});
    return m.finish({m.node("soft", "softmax", {m.node("fc_bias", "bias_add", {y, m.random("fb", {5})}, {{"axis", std::int64_t{1}}})}, {{"axis", std::int64_t{-1}}})});
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
    QTest::addColumn<double>("tolerance");
    for (const char* layout : {"NCHW", "NHWC"}) {
        QTest::addRow("%s direct", layout) << layout << "direct" << 1e-5;
        QTest::addRow("%s winograd 2", layout) << layout << "winograd:2" << 1e-5;
        QTest::addRow("%s winograd 4", layout) << layout << "winograd:4" << 1e-4;
    }
}

void TestAlternatives::everyAlternativeComputesTheNetwork()
{
    QFETCH(QString, layout);
    QFETCH(QString, alternative);
    QFETCH(double, tolerance);
    const graph::Graph original = network();
    const graph::Graph g = optimized(take(graph::convertLayout(original, layout.toStdString())));
    const graph::Partition p = take(graph::partition(g, *Target::parse("cpu -threads=1"), "lathe"));
    DagExecutor executor(g, p, alternative.toStdString());
    const double error = worst(run(original), executor.run());
    QVERIFY2(error < tolerance, qPrintable(QString::number(error)));
    QCOMPARE(executor.winogradRuns, alternative == "direct" ? 0 : 4);
}

void TestAlternatives::theReferencesPartitionComputesTheNetworkToo()
{
    const graph::Graph original = network();
    const graph::Graph g = optimized(take(graph::convertLayout(original, "NHWC")));
    const graph::Partition p = take(graph::partition(g, *Target::parse("cuda"), "reference"));
    DagExecutor executor(g, p, "winograd:2");
    QVERIFY(worst(run(original), executor.run()) < 1e-5);
    QCOMPARE(executor.winogradRuns, 4); // neither 10 nor 5 rows divide by 8
}

void TestAlternatives::optimizingANetworkOfTheZooKeepsItsNumbers_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("layout");
    QTest::addColumn<QString>("converted");
    QTest::addColumn<int>("size");
    QTest::newRow("resnet-18") << "resnet-18" << "NHWC" << "NHWC" << 33;
    QTest::newRow("mobilenet") << "mobilenet" << "NHWC" << "NHWC" << 32;
    QTest::newRow("mobilenet-v2 converted") << "mobilenet-v2" << "NCHW" << "NHWC" << 32;
    QTest::newRow("squeezenet converted") << "squeezenet-1.1" << "NCHW" << "NHWC" << 48;
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
    QVERIFY(difference(g, o) < 1e-5);
}

LATHE_TEST(TestAlternatives)

} // namespace tst_alternatives

#include "tst_alternatives.moc"
