#include "core/graph/fuse.h"
#include "graph_fixture.h"
#include "tests/support/test_program.h"

namespace tst_fuse {

using namespace lathe;
using namespace lathe::test;
using graph::ValueId;

namespace {

/// "conv+add relu": groups by the names of their nodes, sorted by their first.
QString groupsOf(const graph::Graph& g, const graph::FuseOptions& options = {})
{
    QStringList groups;
    for (const auto& nodes : graph::fuse(g, options)) {
        QStringList names;
        for (const graph::NodeId id : nodes)
            names << QString::fromStdString(g.node(id).name);
        groups << names.join('+');
    }
    return groups.join(' ');
}

graph::Graph ordered(const graph::Graph& g)
{
    return take(graph::removeDead(g));
}

} // namespace

class TestFuse : public QObject
{
    Q_OBJECT

private slots:
    void elementwiseWorkJoinsTheConvolutionBefore();
    void elementwiseWorkBeforeAConvolutionStaysAlone();
    void aResidualDiamondEndsWhereTheConvolutionsMeet();
    void theFirstOfTwoConvolutionsTakesTheSum();
    void convolutionsStayOutOfAConcatenation();
    void injectiveProducersJoinAConcatenationThatIsReadInjectively();
    void poolsTakeWhatFollowsButNoFlatten();
    void elementwiseDiamondsAreOneKernel();
    void reductionsTakeElementwiseWorkBeforeThem();
    void aGroupOutputEndsTheGroup();
    void oneNodeAGroupTurnsFusionOff();
};

void TestFuse::elementwiseWorkJoinsTheConvolutionBefore()
{
    GraphMaker m;
    const ValueId x = m.input("x", {1, 4, 6, 6});
    const ValueId add = m.node("add", "add", {m.conv("conv", x, {4, 4, 3, 3}), m.random("b", {1, 4, 1, 1})});
    QCOMPARE(groupsOf(m.finish({m.node("relu", "relu", {add})})), QString("conv+add+relu"));
}

void TestFuse::elementwiseWorkBeforeAConvolutionStaysAlone()
{
    GraphMaker m;
    const ValueId x = m.input("x", {1, 4, 6, 6});
    const auto g = m.finish(
        {m.conv("second", m.node("relu", "relu", {m.conv("first", m.node("before", "relu", {x}), {4, 4, 3, 3})}),
                {4, 4, 3, 3})});
    QCOMPARE(groupsOf(g), QString("before first+relu second"));
}

void TestFuse::aResidualDiamondEndsWhereTheConvolutionsMeet()
{
    GraphMaker m;
    const ValueId x = m.input("x", {1, 4, 6, 6});
    const ValueId a = m.node("a", "relu", {m.conv("conv1", x, {4, 4, 3, 3})});
    const ValueId sum = m.node("sum", "add", {m.conv("conv2", a, {4, 4, 3, 3}), a});
    QCOMPARE(groupsOf(m.finish({m.node("relu", "relu", {sum})})), QString("conv1+a conv2+sum+relu"));
}

void TestFuse::theFirstOfTwoConvolutionsTakesTheSum()
{
    GraphMaker m;
    const ValueId x = m.input("x", {1, 4, 6, 6});
    const ValueId right = m.conv("right", x, {4, 4, 1, 1});
    const ValueId left = m.conv("left", x, {4, 4, 3, 3});
    // Not the order in which they were written, but the order of the arguments.
    QCOMPARE(groupsOf(ordered(m.finish({m.node("sum", "add", {left, right})}))), QString("right left+sum"));
}

void TestFuse::convolutionsStayOutOfAConcatenation()
{
    GraphMaker m;
    const ValueId x = m.input("x", {1, 4, 6, 6});
    const ValueId a = m.node("a_relu", "relu", {m.conv("a", x, {4, 4, 3, 3})});
    const ValueId b = m.node("b_relu", "relu", {m.conv("b", x, {4, 4, 1, 1})});
    QCOMPARE(groupsOf(m.finish({m.node("concat", "concatenate", {a, b}, {{"axis", std::int64_t{1}}})})),
             QString("a+a_relu b+b_relu concat"));
}

void TestFuse::injectiveProducersJoinAConcatenationThatIsReadInjectively()
{
    GraphMaker m;
    const ValueId x = m.input("x", {2, 6});
    const ValueId a = m.node("a", "transpose", {x}, {{"axes", Shape{1, 0}}});
    const ValueId b = m.node("b", "reshape", {x}, {{"newshape", Shape{6, 2}}});
    const ValueId c = m.node("concat", "concatenate", {a, b}, {{"axis", std::int64_t{1}}});
    QCOMPARE(groupsOf(m.finish({m.node("out", "reshape", {c}, {{"newshape", Shape{24}}})})), QString("a+b+concat+out"));
}

void TestFuse::poolsTakeWhatFollowsButNoFlatten()
{
    GraphMaker m;
    const ValueId x = m.input("x", {1, 4, 6, 6});
    const ValueId pool = m.node("pool", "global_avg_pool2d", {m.node("before", "exp", {x})},
                                {{"layout", std::string("NCHW")}});
    QCOMPARE(groupsOf(m.finish({m.node("flat", "batch_flatten", {m.node("relu", "relu", {pool})})})),
             QString("before pool+relu flat"));
}

void TestFuse::elementwiseDiamondsAreOneKernel()
{
    GraphMaker m;
    const ValueId x = m.input("x", {4, 4});
    const ValueId a = m.node("a", "exp", {x});
    QCOMPARE(groupsOf(m.finish({m.node("sum", "add", {m.node("b", "relu", {a}), m.node("c", "tanh", {a})})})),
             QString("a+b+c+sum"));
}

void TestFuse::reductionsTakeElementwiseWorkBeforeThem()
{
    GraphMaker m;
    const ValueId x = m.input("x", {4, 4});
    const ValueId mean = m.node("mean", "mean", {m.node("square", "exp", {x})},
                                {{"axes", Shape{1}}, {"keepdims", std::int64_t{0}}});
    QCOMPARE(groupsOf(m.finish({m.node("after", "relu", {mean})})), QString("square+mean after"));
}

void TestFuse::aGroupOutputEndsTheGroup()
{
    GraphMaker m;
    const ValueId x = m.input("x", {1, 4, 6, 6});
    const ValueId conv = m.conv("conv", x, {4, 4, 3, 3});
    QCOMPARE(groupsOf(m.finish({conv, m.node("relu", "relu", {conv})})), QString("conv relu"));
}

void TestFuse::oneNodeAGroupTurnsFusionOff()
{
    GraphMaker m;
    const ValueId x = m.input("x", {1, 4, 6, 6});
    const auto g = m.finish({m.node("relu", "relu", {m.conv("conv", x, {4, 4, 3, 3})})});
    QCOMPARE(groupsOf(g, {.maxNodes = 1}), QString("conv relu"));
}

LATHE_TEST(TestFuse)

} // namespace tst_fuse

#include "tst_fuse.moc"
