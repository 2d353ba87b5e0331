#include "graph_fixture.h"
#include "tests/support/test_program.h"

namespace tst_graph {

using namespace lathe;
using namespace lathe::test;
using graph::NodeId;
using graph::ValueId;

class TestGraph : public QObject
{
    Q_OBJECT

private slots:
    void aGraphPrintsANodeALine();
    void consumersAreListedOnceInOrder();
    void attributesHaveDefaults();
    void soundGraphsAreAccepted();
    void damagedGraphsAreRefused_data();
    void damagedGraphsAreRefused();
    void orderIsDepthFirstFromTheOutputs();
    void permutedConstantsKeepTheirElements();
    void vectorsBroadcastAlongTheirAxisOnly();
};

namespace {

graph::Graph small()
{
    GraphMaker m;
    const ValueId x = m.input("x", {2, 3});
    const ValueId a = m.node("a", "relu", {x});
    return m.finish({m.node("sum", "add", {a, m.constant("c", {3}, {1, 2, 3})}, {})});
}

} // namespace

void TestGraph::aGraphPrintsANodeALine()
{
    graph::Graph g = small();
    g.nodes[0].attrs = {
        {"count", std::int64_t{3}}, {"factor", 0.5}, {"list", Shape{1, 2}}, {"mode", std::string("edge")}};
    QCOMPARE(QString::fromStdString(graph::print(g)),
             QString("graph test\n"
                     "input %x: float32[2, 3]\n"
                     "%a: float32[2, 3] = relu(%x) {count=3, factor=0.5, list=[1, 2], mode=edge}\n"
                     "%sum: float32[2, 3] = add(%a, c: float32[3])\n"
                     "output %sum\n"));
}

void TestGraph::consumersAreListedOnceInOrder()
{
    GraphMaker m;
    const ValueId x = m.input("x", {4});
    const ValueId square = m.node("square", "multiply", {x, x});
    const auto g = m.finish({m.node("sum", "add", {square, x})});
    const auto consumers = g.consumers();
    QCOMPARE(consumers[static_cast<std::size_t>(x.value)], (std::vector<NodeId>{NodeId(0), NodeId(1)}));
    QCOMPARE(graph::useCounts(g)[static_cast<std::size_t>(x.value)], 3);
}

void TestGraph::attributesHaveDefaults()
{
    graph::Node node;
    node.attrs = {{"i", std::int64_t{4}}, {"f", 1.5}, {"s", std::string("NHWC")}, {"l", Shape{1, 2}}};
    QCOMPARE(graph::attrInt(node, "i", 1), 4);
    QCOMPARE(graph::attrInt(node, "none", 1), 1);
    QCOMPARE(graph::attrFloat(node, "f", 0), 1.5);
    QCOMPARE(graph::attrFloat(node, "i", 0), 4.0); // an integer is a number
    QCOMPARE(graph::attrString(node, "s", ""), std::string("NHWC"));
    QCOMPARE(graph::attrInts(node, "l"), (Shape{1, 2}));
    QCOMPARE(graph::attrInts(node, "none", {7}), (Shape{7}));
}

void TestGraph::soundGraphsAreAccepted()
{
    QVERIFY(graph::verify(small()));
}

void TestGraph::damagedGraphsAreRefused_data()
{
    QTest::addColumn<int>("damage");
    QTest::addColumn<QString>("word");
    QTest::newRow("input that does not exist") << 0 << "sum";
    QTest::newRow("nodes in the wrong order") << 1 << "before it is computed";
    QTest::newRow("two nodes of one name") << 2 << "two nodes are named";
    QTest::newRow("value computed twice") << 3 << "twice";
    QTest::newRow("constant of the wrong size") << 4 << "12 bytes";
    QTest::newRow("negative extent") << 5 << "negative";
    QTest::newRow("size that overflows") << 6 << "memory";
    QTest::newRow("output that nobody computes") << 7 << "no node";
    QTest::newRow("cycle") << 8 << "before it is computed";
    QTest::newRow("wrong producer") << 9 << "producer";
    QTest::newRow("node without output") << 10 << "no output";
    QTest::newRow("input that is a constant") << 11 << "constant";
}

void TestGraph::damagedGraphsAreRefused()
{
    QFETCH(int, damage);
    QFETCH(QString, word);
    graph::Graph g = small();
    switch (damage) {
    case 0: g.nodes[1].inputs[0] = ValueId(99); break;
    case 1:
        std::swap(g.nodes[0], g.nodes[1]);
        for (std::size_t i = 0; i < 2; ++i)
            g.value(g.nodes[i].outputs[0]).producer = NodeId(static_cast<std::int64_t>(i));
        break;
    case 2: g.nodes[1].name = "a"; break;
    case 3: g.nodes[1].outputs[0] = g.nodes[0].outputs[0]; break;
    case 4: g.value(g.nodes[1].inputs[1]).shape = {4}; break;
    case 5: g.value(g.inputs[0]).shape = {-1, 3}; break;
    case 6: g.value(g.inputs[0]).shape = {std::int64_t{1} << 40, std::int64_t{1} << 40}; break;
    case 7: g.outputs[0] = g.addValue("loose", DType::F32, {1}); break;
    case 8: g.nodes[0].inputs[0] = g.nodes[1].outputs[0]; break;
    case 9: g.value(g.nodes[1].outputs[0]).producer = NodeId(0); break;
    case 10: g.nodes[1].outputs.clear(); break;
    default: g.inputs.push_back(g.nodes[1].inputs[1]); break;
    }
    const auto r = graph::verify(g);
    QVERIFY(!r);
    QCOMPARE(int(r.error().code), int(Errc::BadFile));
    QVERIFY2(r.error().message.find(word.toStdString()) != std::string::npos, r.error().message.c_str());
}

void TestGraph::orderIsDepthFirstFromTheOutputs()
{
    GraphMaker m;
    const ValueId x = m.input("x", {4});
    const ValueId right = m.node("right", "exp", {x});
    const ValueId left = m.node("left", "relu", {x});
    const auto o = take(graph::compact(m.finish({m.node("sum", "add", {left, right})})));
    QCOMPARE(o.nodes[0].name, std::string("left"));
    QCOMPARE(o.nodes[1].name, std::string("right"));
    graph::Graph cyclic = m.finish({left});
    cyclic.node(cyclic.value(left).producer).inputs[0] = left;
    const auto refused = graph::compact(cyclic);
    QVERIFY(!refused);
    QCOMPARE(int(refused.error().code), int(Errc::Internal));
}

void TestGraph::permutedConstantsKeepTheirElements()
{
    const std::vector<float> contents{0, 1, 2, 3, 4, 5};
    const auto data = graph::makeConst(contents.data(), contents.size() * sizeof(float));
    const auto turned = graph::permuteConst(*data, DType::F32, {1, 2, 3}, {2, 0, 1});
    std::vector<float> result(6);
    std::memcpy(result.data(), turned->data, turned->bytes);
    QCOMPARE(result, (std::vector<float>{0, 3, 1, 4, 2, 5}));
    const std::vector<std::uint8_t> bytes{1, 2, 3, 4};
    const auto small8 = graph::permuteConst(*graph::makeConst(bytes.data(), 4), DType::U8, {2, 2}, {1, 0});
    QCOMPARE(int(small8->data[1]), 3);
}

void TestGraph::vectorsBroadcastAlongTheirAxisOnly()
{
    QVERIFY(graph::broadcastsAlong({1, 8, 1, 1}, 4, 1, 8));
    QVERIFY(graph::broadcastsAlong({8, 1, 1}, 4, 1, 8));
    QVERIFY(graph::broadcastsAlong({8}, 4, 3, 8));
    QVERIFY(!graph::broadcastsAlong({8}, 4, 1, 8));
    QVERIFY(!graph::broadcastsAlong({1, 8, 1, 2}, 4, 1, 8));
    QVERIFY(!graph::broadcastsAlong({1, 1, 8, 1, 1}, 4, 1, 8));
}

LATHE_TEST(TestGraph)

} // namespace tst_graph

#include "tst_graph.moc"
