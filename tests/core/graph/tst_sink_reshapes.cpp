// Reshapes behind a kernel go behind the elementwise work that follows, and movement in front of slices into them.

#include "core/graph/fuse.h"
#include "graph_fixture.h"
#include "tests/support/test_program.h"

namespace tst_sink_reshapes {

using namespace lathe;
using namespace lathe::test;
using graph::ValueId;

namespace {

/// x [2, 5, 4] times a constant matrix, [2, 5, 6]: as importers write it.
ValueId product(GraphMaker& m, ValueId x)
{
    const ValueId rows = m.node("rows", "reshape", {x}, {{"newshape", Shape{10, 4}}});
    return m.node("back", "reshape", {m.node("product", "dense", {rows, m.random("w", {6, 4})})},
                  {{"newshape", Shape{2, 5, 6}}});
}

/// Nodes of the group that an operator of this kind is in.
std::size_t groupOf(const graph::Graph& g, std::string_view op)
{
    for (const auto& group : graph::fuse(g))
        for (const graph::NodeId id : group)
            if (g.node(id).op == op)
                return group.size();
    return 0;
}

} // namespace

class TestSinkReshapes : public QObject
{
    Q_OBJECT

private slots:
    void biasAndActivationJoinTheProduct();
    void aResidualIsReshapedForTheProduct();
    void twoReadersKeepTheReshape();
    void anOperandThatVariesOverMergedRowsKeepsTheReshape();
    void aTransposeOfOnesIsAReshape();
    void slicesMoveTheirOwnPart();
    void movementThatIsReadWholeStaysOne();
};

void TestSinkReshapes::biasAndActivationJoinTheProduct()
{
    GraphMaker m;
    const ValueId x = m.input("x", {2, 5, 4});
    const ValueId sum = m.node("sum", "add", {product(m, x), m.random("b", {6})});
    const auto g = m.finish({m.node("act", "relu", {sum})});
    const auto before = optimized(g);
    QCOMPARE(groupOf(before, "dense"), std::size_t{1});
    const auto after = take(graph::sinkReshapes(before));
    QCOMPARE(groupOf(after, "dense"), std::size_t{3});
    QCOMPARE(after.value(after.outputs[0]).shape, (Shape{2, 5, 6}));
    QCOMPARE(disagreement(g, after), QString());
}

void TestSinkReshapes::aResidualIsReshapedForTheProduct()
{
    GraphMaker m;
    const ValueId x = m.input("x", {2, 5, 4});
    const ValueId other = m.input("other", {2, 5, 6});
    const auto g = m.finish({m.node("sum", "add", {other, product(m, x)})});
    const auto after = take(graph::sinkReshapes(optimized(g)));
    QCOMPARE(groupOf(after, "dense"), std::size_t{2});
    QCOMPARE(disagreement(g, after), QString());
}

void TestSinkReshapes::twoReadersKeepTheReshape()
{
    GraphMaker m;
    const ValueId x = m.input("x", {2, 5, 4});
    const ValueId p = product(m, x);
    const auto before = optimized(m.finish({m.node("a", "relu", {p}), m.node("b", "tanh", {p})}));
    const auto after = take(graph::sinkReshapes(before));
    QCOMPARE(groupOf(after, "dense"), std::size_t{1});
    QVERIFY(identical(before, after));
}

void TestSinkReshapes::anOperandThatVariesOverMergedRowsKeepsTheReshape()
{
    GraphMaker m;
    const ValueId x = m.input("x", {2, 5, 4});
    const auto g = m.finish({m.node("sum", "add", {product(m, x), m.random("rows", {5, 1})})});
    const auto after = take(graph::sinkReshapes(optimized(g)));
    QCOMPARE(groupOf(after, "dense"), std::size_t{1});
    QCOMPARE(disagreement(g, after), QString());
}

void TestSinkReshapes::aTransposeOfOnesIsAReshape()
{
    GraphMaker m;
    const ValueId x = m.input("x", {1, 5, 6});
    const auto g = m.finish({m.node("t", "transpose", {x}, {{"axes", Shape{1, 0, 2}}}),
                             m.node("u", "transpose", {x}, {{"axes", Shape{2, 0, 1}}})});
    const auto after = take(graph::sinkReshapes(g));
    QCOMPARE(count(after, "transpose"), 1);
    QCOMPARE(count(after, "reshape"), 1);
    QVERIFY(identical(g, after));
}

void TestSinkReshapes::slicesMoveTheirOwnPart()
{
    GraphMaker m;
    const ValueId x = m.input("x", {5, 12});
    const ValueId t = m.node("t", "transpose", {m.node("r", "reshape", {x}, {{"newshape", Shape{5, 3, 4}}})},
                             {{"axes", Shape{1, 0, 2}}});
    std::vector<ValueId> parts;
    for (std::int64_t i = 0; i < 3; ++i)
        parts.push_back(
            m.node("part" + std::to_string(i), "strided_slice", {t},
                   {{"begin", Shape{i}}, {"end", Shape{i + 1}}, {"axes", Shape{0}}, {"strides", Shape{1}}}));
    const auto g = m.finish(parts);
    const auto after = take(graph::sinkReshapes(g));
    QCOMPARE(count(after, "transpose"), 3);
    QCOMPARE(count(after, "reshape"), 3);
    QCOMPARE(graph::fuse(after).size(), std::size_t{3});
    QVERIFY(identical(g, after));
}

void TestSinkReshapes::movementThatIsReadWholeStaysOne()
{
    GraphMaker m;
    const ValueId x = m.input("x", {5, 12});
    const ValueId t = m.node("t", "transpose", {x}, {{"axes", Shape{1, 0}}});
    const ValueId part = m.node("part", "strided_slice", {t},
                                {{"begin", Shape{0}}, {"end", Shape{3}}, {"axes", Shape{0}}, {"strides", Shape{1}}});
    const auto g = m.finish({part, m.node("all", "relu", {t})});
    const auto after = take(graph::sinkReshapes(g));
    QCOMPARE(count(after, "transpose"), 1);
    QVERIFY(identical(g, after));
}

LATHE_TEST(TestSinkReshapes)

} // namespace tst_sink_reshapes

#include "tst_sink_reshapes.moc"
