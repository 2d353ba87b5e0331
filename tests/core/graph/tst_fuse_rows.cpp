// Groups that work by rows become one.

#include "core/graph/fuse.h"
#include "core/graph/fuse_rows.h"
#include "core/graph/task.h"
#include "dag_executor.h"
#include "tests/support/test_program.h"

#include <algorithm>

namespace tst_fuse_rows {

using namespace lathe;
using namespace lathe::test;
using graph::NodeId;
using graph::ValueId;

namespace {

struct Norm
{
    ValueId mean, difference, variance, result;
};

/// (x - mean) * rsqrt(variance + eps) * scale along `axis`.
Norm layerNorm(GraphMaker& m, ValueId x, std::int64_t length, std::int64_t axis)
{
    const graph::Attrs last{{"axes", Shape{axis}}, {"keepdims", std::int64_t{1}}};
    Norm n;
    n.mean = m.node("mean", "mean", {x}, last);
    n.difference = m.node("difference", "subtract", {x, n.mean});
    n.variance = m.node("variance", "mean", {m.node("square", "multiply", {n.difference, n.difference})}, last);
    const ValueId inverse = m.node("inverse", "rsqrt",
                                   {m.node("safe", "add", {n.variance, m.constant("eps", {}, {1e-5f})})});
    n.result = m.node("scaled", "multiply",
                      {m.node("normal", "multiply", {n.difference, inverse}), m.random("scale", {length})});
    return n;
}

std::vector<std::vector<NodeId>> byRows(const graph::Graph& g)
{
    return graph::fuseRows(g, graph::fuse(g));
}

/// Groups are in topological order, every node in one of them.
bool isSound(const graph::Graph& g, const std::vector<std::vector<NodeId>>& groups)
{
    std::vector<std::int64_t> place(g.nodes.size(), -1);
    for (std::size_t i = 0; i < groups.size(); ++i)
        for (const NodeId id : groups[i])
            if (std::exchange(place[static_cast<std::size_t>(id.value)], static_cast<std::int64_t>(i)) != -1)
                return false;
    for (const auto& node : g.nodes)
        for (const ValueId input : node.inputs)
            if (input.valid() && g.value(input).producer.valid()
                && place[static_cast<std::size_t>(g.value(input).producer.value)]
                       > place[static_cast<std::size_t>(&node - g.nodes.data())])
                return false;
    return std::none_of(place.begin(), place.end(), [](std::int64_t p) { return p < 0; });
}

} // namespace

class TestFuseRows : public QObject
{
    Q_OBJECT

private slots:
    void aLayerNormIsOneGroup();
    void aReshapeOfOnesJoins();
    void aProductBeforeItStaysOut();
    void whatOthersReadStaysOut();
    void outputsOfTheGraphStayOut();
    void otherAxesStayApart();
    void aSingleLongRowStaysApart();
    void onlyLathesPartitionDoesIt();
    void everyFloatTypeDoesIt_data();
    void everyFloatTypeDoesIt();
    void aSqueezeOfOnesJoins();
};

void TestFuseRows::aLayerNormIsOneGroup()
{
    GraphMaker m;
    const auto g = m.finish({layerNorm(m, m.input("x", {2, 20, 32}), 32, 2).result});
    QVERIFY(graph::fuse(g).size() > 1);
    const auto groups = byRows(g);
    QCOMPARE(groups.size(), std::size_t{1});
    QVERIFY(isSound(g, groups));
}

void TestFuseRows::aReshapeOfOnesJoins()
{
    GraphMaker m;
    const Norm n = layerNorm(m, m.input("x", {1, 20, 32}), 32, 2);
    const auto g = m.finish({m.node("rows", "reshape", {n.result}, {{"newshape", Shape{20, 32}}})});
    QCOMPARE(byRows(g).size(), std::size_t{1});
}

void TestFuseRows::aProductBeforeItStaysOut()
{
    GraphMaker m;
    const ValueId product = m.node("product", "dense", {m.input("x", {20, 8}), m.random("w", {32, 8})});
    const auto g = m.finish({layerNorm(m, product, 32, 1).result});
    const auto groups = byRows(g);
    QCOMPARE(groups.size(), std::size_t{2});
    QVERIFY(isSound(g, groups));
    QCOMPARE(groups.front().size(), std::size_t{1});
}

void TestFuseRows::whatOthersReadStaysOut()
{
    GraphMaker m;
    const Norm n = layerNorm(m, m.input("x", {20, 32}), 32, 1);
    const ValueId product = m.node("product", "dense", {n.difference, m.random("w", {8, 32})});
    const auto g = m.finish({n.result, product});
    const auto groups = byRows(g);
    QVERIFY(isSound(g, groups));
    // The mean joins the difference, which the product reads, and the variance the scaling.
    QCOMPARE(groups.size(), std::size_t{3});
}

void TestFuseRows::outputsOfTheGraphStayOut()
{
    GraphMaker m;
    const Norm n = layerNorm(m, m.input("x", {20, 32}), 32, 1);
    const auto g = m.finish({n.result, n.variance});
    const auto groups = byRows(g);
    QVERIFY(isSound(g, groups));
    for (const auto& group : groups)
        for (const NodeId id : group)
            if (g.node(id).outputs.front() == n.variance)
                QVERIFY(id == group.back());
}

void TestFuseRows::otherAxesStayApart()
{
    GraphMaker m;
    const ValueId x = m.input("x", {20, 32});
    const ValueId mean = m.node("mean", "mean", {x}, {{"axes", Shape{0}}, {"keepdims", std::int64_t{1}}});
    const auto g = m.finish({m.node("difference", "subtract", {x, mean})});
    QCOMPARE(byRows(g), graph::fuse(g));
}

void TestFuseRows::aSingleLongRowStaysApart()
{
    GraphMaker m;
    const auto g = m.finish({layerNorm(m, m.input("x", {1, 50000}), 50000, 1).result});
    QCOMPARE(byRows(g), graph::fuse(g));
}

void TestFuseRows::onlyLathesPartitionDoesIt()
{
    GraphMaker m;
    const auto g = m.finish({layerNorm(m, m.input("x", {20, 32}), 32, 1).result});
    const Target target = *Target::parse("cpu -mcpu=emeraldrapids -threads=2");
    const auto ours = take(graph::partition(g, target, "lathe"));
    QCOMPARE(ours.subgraphs.size(), std::size_t{1});
    QCOMPARE(ours.tasks.size(), std::size_t{1});
    QVERIFY(take(graph::partition(g, target, "reference")).subgraphs.size() > 1);
}

void TestFuseRows::everyFloatTypeDoesIt_data()
{
    QTest::addColumn<int>("dtype");
    QTest::newRow("float16") << static_cast<int>(DType::F16);
    QTest::newRow("bfloat16") << static_cast<int>(DType::BF16);
    QTest::newRow("float64") << static_cast<int>(DType::F64);
}

void TestFuseRows::everyFloatTypeDoesIt()
{
    QFETCH(int, dtype);
    GraphMaker m;
    const auto g = inType(m.finish({layerNorm(m, m.input("x", {2, 20, 32}), 32, 2).result}), static_cast<DType>(dtype));
    const auto p = take(graph::partition(g, *Target::parse("cpu"), "lathe"));
    QCOMPARE(p.subgraphs.size(), std::size_t{1});
    QCOMPARE(disagreement(g, DagExecutor(g, p, "direct").run()), QString());
}

void TestFuseRows::aSqueezeOfOnesJoins()
{
    GraphMaker m;
    const ValueId x = m.input("x", {20, 1, 32});
    const ValueId mean = m.node("mean", "mean", {x}, {{"axes", Shape{2}}, {"keepdims", std::int64_t{1}}});
    const ValueId centred = m.node("squeezed", "squeeze", {m.node("centred", "subtract", {x, mean})},
                                   {{"axes", Shape{1}}});
    const auto g = m.finish({m.node("out", "exp", {centred})});
    const auto groups = byRows(g);
    QCOMPARE(groups.size(), std::size_t{1});
    const auto p = take(graph::partition(g, *Target::parse("cpu"), "lathe"));
    QCOMPARE(disagreement(g, DagExecutor(g, p, "direct").run()), QString());
}

LATHE_TEST(TestFuseRows)

} // namespace tst_fuse_rows

#include "tst_fuse_rows.moc"
