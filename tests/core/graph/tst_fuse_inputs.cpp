// A transposed input joins the convolution that reads it.

#include "core/graph/fuse.h"
#include "core/graph/fuse_inputs.h"
#include "graph_fixture.h"
#include "tests/support/test_program.h"

#include <algorithm>

namespace tst_fuse_inputs {

using namespace lathe;
using namespace lathe::test;
using graph::NodeId;
using graph::ValueId;

namespace {

ValueId nhwcConv(GraphMaker& m, const std::string& name, ValueId x, Shape hwio)
{
    return m.node(name, "conv2d", {x, m.random(name + "_weight", std::move(hwio))},
                  {{"strides", Shape{1, 1}},
                   {"padding", Shape{1, 1, 1, 1}},
                   {"dilations", Shape{1, 1}},
                   {"groups", std::int64_t{1}},
                   {"layout", std::string("NHWC")},
                   {"kernel_layout", std::string("HWIO")}});
}

ValueId toNhwc(GraphMaker& m, ValueId x)
{
    return m.node("moved", "transpose", {x}, {{"axes", Shape{0, 2, 3, 1}}});
}

std::vector<std::vector<NodeId>> groupsOf(const graph::Graph& g)
{
    return graph::fuseInputs(g, graph::fuse(g));
}

} // namespace

class TestFuseInputs : public QObject
{
    Q_OBJECT

private slots:
    void aPhotoIsReadAsItLies();
    void manyChannelsAreMovedFirst();
    void twoReadersShareTheMovedOne();
    void anOutputIsMoved();
};

void TestFuseInputs::aPhotoIsReadAsItLies()
{
    GraphMaker m;
    const ValueId x = m.input("x", {1, 3, 8, 8});
    const auto g = m.finish({m.node("act", "relu", {nhwcConv(m, "conv", toNhwc(m, x), {3, 3, 3, 16})})});
    QCOMPARE(graph::fuse(g).size(), std::size_t{2});
    const auto groups = groupsOf(g);
    QCOMPARE(groups.size(), std::size_t{1});
    QCOMPARE(groups.front().size(), std::size_t{3});
    QCOMPARE(g.node(groups.front().back()).op, std::string("relu"));
}

void TestFuseInputs::manyChannelsAreMovedFirst()
{
    GraphMaker m;
    const ValueId x = m.input("x", {1, 16, 8, 8});
    const auto g = m.finish({nhwcConv(m, "conv", toNhwc(m, x), {3, 3, 16, 16})});
    QCOMPARE(groupsOf(g), graph::fuse(g));
}

void TestFuseInputs::twoReadersShareTheMovedOne()
{
    GraphMaker m;
    const ValueId moved = toNhwc(m, m.input("x", {1, 3, 8, 8}));
    const auto g = m.finish({nhwcConv(m, "a", moved, {3, 3, 3, 16}), nhwcConv(m, "b", moved, {3, 3, 3, 16})});
    QCOMPARE(groupsOf(g), graph::fuse(g));
}

void TestFuseInputs::anOutputIsMoved()
{
    GraphMaker m;
    const ValueId moved = toNhwc(m, m.input("x", {1, 3, 8, 8}));
    const auto g = m.finish({nhwcConv(m, "conv", moved, {3, 3, 3, 16}), moved});
    QCOMPARE(groupsOf(g), graph::fuse(g));
}

LATHE_TEST(TestFuseInputs)

} // namespace tst_fuse_inputs

#include "tst_fuse_inputs.moc"
