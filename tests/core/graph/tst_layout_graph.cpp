#include "core/frontend/zoo.h"
#include "core/graph/flatten.h"
#include "core/graph/pass_runner.h"
#include "core/graph/plan/layout_graph.h"
#include "core/graph/task.h"
#include "graph_fixture.h"
#include "layout_text.h"
#include "tests/support/test_program.h"

namespace tst_layout_graph {

using namespace lathe;
using namespace lathe::test;
using graph::ValueId;
using graph::plan::LayoutGraph;
using graph::plan::LayoutGraphOptions;

namespace {

LayoutGraph reducedOf(const graph::Graph& g, const LayoutGraphOptions& options = {}, const char* kind = "lathe")
{
    return graph::plan::reduced(g, take(graph::partition(g, *Target::parse("cpu"), kind)), options);
}

LayoutGraph zoo(const char* network, const char* layout, const LayoutGraphOptions& options = {},
                const char* kind = "lathe")
{
    graph::PassRunner passes;
    return reducedOf(take(graph::prepare(take(frontend::buildZoo(network, {.weights = false})), *Target::parse("cpu"),
                                         layout, kind, passes)),
                     options, kind);
}

int between(const LayoutGraph& layouts)
{
    return static_cast<int>(
        std::ranges::count_if(layouts.edges, [](const auto& e) { return e.from >= 0 && e.to >= 0; }));
}

int tuned(const LayoutGraph& layouts)
{
    return static_cast<int>(std::ranges::count_if(layouts.nodes, [](const auto& n) { return n.isTuned(); }));
}

QStringList atBoundaries(const LayoutGraph& layouts)
{
    return textOf(layouts).filter(QRegularExpression("^ ->|-> :"));
}

ValueId pool(GraphMaker& m, const std::string& name, ValueId x)
{
    return m.node(name, "max_pool2d", {x},
                  {{"pool_size", Shape{2, 2}},
                   {"strides", Shape{2, 2}},
                   {"padding", Shape{0, 0, 0, 0}},
                   {"layout", std::string("NCHW")},
                   {"ceil_mode", std::int64_t{0}}});
}

ValueId join(GraphMaker& m, const std::string& name, std::vector<ValueId> parts, std::int64_t axis = 1)
{
    return m.node(name, "concatenate", std::move(parts), {{"axis", axis}});
}

} // namespace

class TestLayoutGraph : public QObject
{
    Q_OBJECT

private slots:
    void resnet18();
    void mobilenet();
    void squeezenet();
    void edgesLeadThroughWhatPassesLayoutsOn();
    void paddingOfChannelsIsABoundary();
    void aResidualIsReadAsTheResult();
    void aGroupMayReadOneTensorInTwoWays();
    void aSmallerOperandIsReadPlainly();
    void aBoundaryReadsATensorOnce();
    void sumsOfPoolsAreNodesOfTheirOwn();
    void aJoinWithOneInputOfALayout();
    void whatComesFromBoundariesAloneIsOne();
    void joinsAlongChannelsKnowTheirParts();
    void workBehindAnAnchorInOneOrderEndsItsLayout();
    void readersThatCallDimensionsOtherwiseMeetInThePlainOrder();
    void otherOperatorsMayBeTuned();
    void boundariesMayBeLeftOut();
    void nodesAndConversionsInLoopsRunOften();
};

/// 21 convolutions: the stem, two in each of 4 x 2 units, and a pointwise one for the shortcut of each stage's first
/// unit. All 8 sums are in the group of a convolution, so that nothing else takes several inputs.
///
/// Edges: each convolution but the stem reads one tensor as data (20), and each sum the shortcut (8), which is what the
/// pointwise convolution gave or the sum before. Pooling and normalization of what a unit with a plain shortcut reads
/// are looked through. At the boundaries: the photo, and what the pooling before the classifier gives.
void TestLayoutGraph::resnet18()
{
    for (const char* kind : {"lathe", "reference"}) {
        const LayoutGraph layouts = zoo("resnet-18", "", {}, kind);
        QCOMPARE(static_cast<int>(layouts.nodes.size()), 21);
        QCOMPARE(tuned(layouts), 21);
        QCOMPARE(between(layouts), 28);
        const QStringList lines = textOf(layouts);
        QCOMPARE(lines.filter(": result of ").size(), 8);
        QCOMPARE(lines.filter(QRegularExpression(": result of .*64, 56, 56")).size(), 2);
        QCOMPARE(lines.filter(QRegularExpression(": data of .*64, 56, 56")).size(), 7);
        QCOMPARE(atBoundaries(layouts).size(), 2);
        QVERIFY(atBoundaries(layouts)[0].endsWith(": data of [1, 3, 224, 224]"));
        QVERIFY(atBoundaries(layouts)[1].endsWith("-> : plain of [1, 512, 1, 1]"));
    }
    const LayoutGraph last = zoo("resnet-18", "NHWC");
    QCOMPARE(between(last), 28);
    QVERIFY(std::ranges::all_of(last.nodes, [](const auto& n) { return n.order == "NHWC"; }));
}

/// A chain of 27 convolutions: the stem, then 13 pairs of a depthwise and a pointwise one.
void TestLayoutGraph::mobilenet()
{
    const LayoutGraph layouts = zoo("mobilenet", "");
    QCOMPARE(static_cast<int>(layouts.nodes.size()), 27);
    QCOMPARE(tuned(layouts), 27);
    QCOMPARE(between(layouts), 26);
    for (std::size_t e = 1; e <= 26; ++e) {
        QCOMPARE(layouts.edges[e].from, static_cast<int>(e) - 1);
        QCOMPARE(layouts.edges[e].to, static_cast<int>(e));
    }
    QCOMPARE(atBoundaries(layouts).size(), 2);
}

/// 26 convolutions: the stem, three in each of 8 fires, the last; and the 8 joins of the fires.
///
/// Each fire has 5 edges: to the squeeze, from it to both expansions, and from these to the join. One more leads from
/// the last join to the last convolution. Pools are looked through, so that the shapes at the squeezes behind them are
/// those of what they give.
void TestLayoutGraph::squeezenet()
{
    const LayoutGraph layouts = zoo("squeezenet-1.1", "");
    QCOMPARE(static_cast<int>(layouts.nodes.size()), 34);
    QCOMPARE(tuned(layouts), 26);
    QCOMPARE(between(layouts), 41);
    const QStringList lines = textOf(layouts);
    QCOMPARE(lines.filter(QRegularExpression(": result\\* of ")).size(), 8);
    QCOMPARE(lines.filter(QRegularExpression(": result of ")).size(), 8);
    QVERIFY(!lines.filter("-> fire1_input_conv+add+relu: data of [1, 64, 55, 55]").empty());
    QVERIFY(!lines.filter("-> fire3_input_conv+add+relu: data of [1, 128, 27, 27]").empty());
    QCOMPARE(atBoundaries(layouts).size(), 2);
}

void TestLayoutGraph::edgesLeadThroughWhatPassesLayoutsOn()
{
    GraphMaker m;
    const ValueId a = pool(m, "pool", m.conv("a", m.input("x", {1, 8, 8, 8}), {16, 8, 3, 3}));
    const ValueId padded = m.node("pad", "pad", {m.node("tanh", "tanh", {a})},
                                  {{"pad_width", Shape{0, 0, 0, 0, 1, 1, 1, 1}}});
    const auto b = m.conv("b", pool(m, "pool2", padded), {8, 16, 3, 3});
    QCOMPARE(textOf(reducedOf(m.finish({b}))),
             QStringList({"a NCHW", "b NCHW", " -> a: data of [1, 8, 8, 8]", "a -> b: data of [1, 16, 3, 3]",
                          "b -> : plain of [1, 8, 3, 3]"}));
}

void TestLayoutGraph::paddingOfChannelsIsABoundary()
{
    GraphMaker m;
    const ValueId a = pool(m, "pool", m.conv("a", m.input("x", {1, 8, 8, 8}), {16, 8, 3, 3}));
    const ValueId padded = m.node("pad", "pad", {a}, {{"pad_width", Shape{0, 0, 0, 1, 0, 0, 0, 0}}});
    const auto b = m.conv("b", pool(m, "pool2", padded), {8, 17, 3, 3});
    QCOMPARE(textOf(reducedOf(m.finish({b}))),
             QStringList({"a NCHW", "b NCHW", " -> a: data of [1, 8, 8, 8]", "a -> : plain of [1, 16, 4, 4]",
                          " -> b: data of [1, 17, 2, 2]", "b -> : plain of [1, 8, 2, 2]"}));
}

void TestLayoutGraph::aResidualIsReadAsTheResult()
{
    GraphMaker m;
    const ValueId a = m.conv("a", m.input("x", {1, 8, 4, 4}), {8, 8, 3, 3});
    const ValueId b = m.conv("b", a, {8, 8, 3, 3});
    const ValueId sum = m.node("sum", "add", {m.conv("c", b, {8, 8, 1, 1}), m.node("relu", "relu", {a})});
    QCOMPARE(
        textOf(reducedOf(m.finish({m.node("tanh", "tanh", {sum})}))),
        QStringList({"a NCHW", "b NCHW", "c+relu+add+tanh NCHW", " -> a: data of [1, 8, 4, 4]",
                     "a -> b: data of [1, 8, 4, 4]", "b -> c+relu+add+tanh: data of [1, 8, 4, 4]",
                     "a -> c+relu+add+tanh: result of [1, 8, 4, 4]", "c+relu+add+tanh -> : plain of [1, 8, 4, 4]"}));
}

void TestLayoutGraph::aGroupMayReadOneTensorInTwoWays()
{
    GraphMaker m;
    const ValueId a = m.conv("a", m.input("x", {1, 8, 4, 4}), {8, 8, 3, 3});
    const ValueId sum = m.node("sum", "add", {m.conv("b", a, {8, 8, 3, 3}), a});
    QCOMPARE(textOf(reducedOf(m.finish({sum}))),
             QStringList({"a NCHW", "b+add NCHW", " -> a: data of [1, 8, 4, 4]", "a -> b+add: data of [1, 8, 4, 4]",
                          "a -> b+add: result of [1, 8, 4, 4]", "b+add -> : plain of [1, 8, 4, 4]"}));
}

void TestLayoutGraph::aSmallerOperandIsReadPlainly()
{
    GraphMaker m;
    const ValueId x = m.input("x", {1, 8, 4, 4});
    const ValueId scale = m.conv("scale", m.input("s", {1, 8, 1, 1}), {8, 8, 1, 1});
    const ValueId scaled = m.node("scaled", "multiply", {m.conv("b", x, {8, 8, 3, 3}), scale});
    const QStringList lines = textOf(reducedOf(m.finish({scaled})));
    QVERIFY(lines.contains("scale -> b+multiply: plain of [1, 8, 1, 1]"));
    QCOMPARE(lines.filter("->").size(), 4);
    // From a boundary nothing is chosen on its way.
    GraphMaker n;
    const ValueId a = n.conv("a", n.input("x", {1, 8, 4, 4}), {8, 8, 3, 3});
    const ValueId shifted = n.node("shifted", "add", {a, n.input("s", {8, 1, 1})});
    QCOMPARE(textOf(reducedOf(n.finish({n.node("sum", "add", {pool(n, "pool", shifted), n.input("t", {2, 2})})}))),
             QStringList({"a+add NCHW", "pool+add* NCHW", " -> a+add: data of [1, 8, 4, 4]",
                          "a+add -> pool+add: result* of [1, 8, 4, 4]", "pool+add -> : plain of [1, 8, 2, 2]"}));
}

void TestLayoutGraph::aBoundaryReadsATensorOnce()
{
    GraphMaker m;
    const ValueId a = m.conv("a", m.input("x", {1, 8, 4, 4}), {8, 8, 3, 3});
    const ValueId one = m.node("one", "softmax", {a}, {{"axis", std::int64_t{1}}});
    const ValueId two = m.node("two", "transpose", {a}, {{"axes", Shape{0, 2, 3, 1}}});
    QCOMPARE(textOf(reducedOf(m.finish({one, two, a}))),
             QStringList({"a NCHW", " -> a: data of [1, 8, 4, 4]", "a -> : plain of [1, 8, 4, 4]"}));
}

void TestLayoutGraph::sumsOfPoolsAreNodesOfTheirOwn()
{
    GraphMaker m;
    const ValueId x = m.input("x", {1, 8, 4, 4});
    const ValueId a = m.conv("a", x, {8, 8, 3, 3}), b = m.conv("b", x, {8, 8, 3, 3});
    const ValueId sum = m.node("sum", "add", {pool(m, "pool_a", a), pool(m, "pool_b", b)});
    const LayoutGraph layouts = reducedOf(m.finish({m.conv("c", sum, {8, 8, 3, 3})}));
    // Whichever of the pools the sum is fused with, it reads the other and what that one reads.
    QCOMPARE(tuned(layouts), 3);
    QCOMPARE(layouts.nodes.size(), std::size_t{4});
    QCOMPARE(between(layouts), 3);
    QCOMPARE(textOf(layouts).filter("result*").size(), 1);
    QCOMPARE(textOf(layouts).filter("result of").size(), 1);
}

/// The case that the reference's dynamic programming loses: all other inputs come from boundaries.
void TestLayoutGraph::aJoinWithOneInputOfALayout()
{
    GraphMaker m;
    const ValueId x = m.input("x", {1, 8, 4, 4});
    const ValueId joined = join(m, "join", {x, m.conv("a", x, {8, 8, 3, 3}), m.input("y", {1, 8, 4, 4})});
    QCOMPARE(textOf(reducedOf(m.finish({m.conv("b", joined, {8, 24, 3, 3})}))),
             QStringList({"a NCHW", "join* NCHW", "b NCHW", " -> a: data of [1, 8, 4, 4]",
                          " -> join: result of [1, 8, 4, 4]", "a -> join: result* of [1, 8, 4, 4]",
                          " -> join: result of [1, 8, 4, 4]", "join -> b: data of [1, 24, 4, 4]",
                          "b -> : plain of [1, 8, 4, 4]"}));
}

void TestLayoutGraph::whatComesFromBoundariesAloneIsOne()
{
    GraphMaker m;
    const ValueId x = m.input("x", {1, 8, 4, 4});
    const ValueId joined = join(m, "join", {x, pool(m, "pool", m.input("y", {1, 8, 8, 8}))});
    const ValueId again = join(m, "again", {joined, x});
    QCOMPARE(textOf(reducedOf(m.finish({m.conv("b", again, {8, 24, 3, 3})}))),
             QStringList({"b NCHW", " -> b: data of [1, 24, 4, 4]", "b -> : plain of [1, 8, 4, 4]"}));
}

void TestLayoutGraph::joinsAlongChannelsKnowTheirParts()
{
    GraphMaker m;
    const ValueId x = m.input("x", {1, 8, 4, 4});
    const ValueId a = m.conv("a", x, {24, 8, 3, 3}), b = m.conv("b", x, {24, 8, 3, 3});
    const ValueId c = m.conv("c", x, {8, 8, 3, 3});
    const ValueId rows = join(m, "rows", {a, b}, -2), wide = join(m, "wide", {a, c}, -3);
    const LayoutGraph layouts = reducedOf(m.finish({rows, wide}));
    QCOMPARE(layouts.nodes[3].name, std::string("rows"));
    QCOMPARE(layouts.nodes[3].joinedChannels, Shape());
    QCOMPARE(layouts.nodes[4].joinedChannels, (Shape{24, 8}));
    // With a constant the block might go across a seam that no node stands for.
    GraphMaker n;
    const ValueId d = n.conv("d", n.input("x", {1, 8, 4, 4}), {8, 8, 3, 3});
    const ValueId mixed = n.conv("e", join(n, "mixed", {d, n.random("constant", {1, 4, 4, 4})}), {8, 12, 3, 3});
    QCOMPARE(between(reducedOf(n.finish({mixed}))), 0);
}

void TestLayoutGraph::workBehindAnAnchorInOneOrderEndsItsLayout()
{
    GraphMaker m;
    const ValueId a = m.conv("a", m.input("x", {1, 8, 4, 4}), {8, 8, 3, 3});
    const ValueId turned = m.node("turned", "transpose", {a}, {{"axes", Shape{0, 1, 3, 2}}});
    const ValueId b = m.conv("b", turned, {8, 8, 3, 3});
    const graph::Graph g = m.finish({b});
    // No pass fuses that today: a partition of which we say so.
    graph::Partition p = take(graph::partition(g, *Target::parse("cpu"), "lathe"));
    QCOMPARE(p.subgraphs.size(), std::size_t{3});
    p.subgraphs[0].nodes.push_back(p.subgraphs[1].nodes[0]);
    p.subgraphs[0].outputs = p.subgraphs[1].outputs;
    p.subgraphs.erase(p.subgraphs.begin() + 1);
    QCOMPARE(textOf(graph::plan::reduced(g, p)),
             QStringList({"a NCHW plain", "b NCHW", " -> a: data of [1, 8, 4, 4]", " -> b: data of [1, 8, 4, 4]",
                          "b -> : plain of [1, 8, 4, 4]"}));
    // And in front of the anchor: it is read as the graph has it, and nothing is chosen.
    p = take(graph::partition(g, *Target::parse("cpu"), "lathe"));
    p.subgraphs[2].nodes.insert(p.subgraphs[2].nodes.begin(), p.subgraphs[1].nodes[0]);
    p.subgraphs[2].inputs[0] = p.subgraphs[1].inputs[0];
    p.subgraphs.erase(p.subgraphs.begin() + 1);
    QCOMPARE(textOf(graph::plan::reduced(g, p)),
             QStringList({"a NCHW", "b NCHW", " -> a: data of [1, 8, 4, 4]", "a -> b: plain of [1, 8, 4, 4]",
                          "b -> : plain of [1, 8, 4, 4]"}));
}

void TestLayoutGraph::readersThatCallDimensionsOtherwiseMeetInThePlainOrder()
{
    GraphMaker m;
    const ValueId a = m.conv("a", m.input("x", {1, 8, 4, 4}), {8, 8, 3, 3});
    // The same tensor, read as 4 channels of 8 x 4.
    const ValueId b = m.node("b", "conv2d", {a, m.random("w", {1, 1, 4, 4})},
                             {{"strides", Shape{1, 1}},
                              {"padding", Shape{0, 0, 0, 0}},
                              {"dilations", Shape{1, 1}},
                              {"groups", std::int64_t{1}},
                              {"layout", std::string("NHWC")},
                              {"kernel_layout", std::string("HWIO")}});
    QCOMPARE(textOf(reducedOf(m.finish({b}))),
             QStringList({"a NCHW", "b NHWC", " -> a: data of [1, 8, 4, 4]", "a -> : plain of [1, 8, 4, 4]",
                          " -> b: data of [1, 8, 4, 4]", "b -> : plain of [1, 8, 4, 4]"}));
}

void TestLayoutGraph::otherOperatorsMayBeTuned()
{
    const auto isDense = [](const graph::Node& node) { return node.op == "dense"; };
    const LayoutGraph layouts = zoo("mlp", "", {.isTarget = isDense});
    // Three, behind one another; the relu between them is in their groups.
    QCOMPARE(tuned(layouts), 3);
    QCOMPARE(between(layouts), 2);
    QCOMPARE(layouts.nodes[0].order, std::string("NC"));
    QCOMPARE(atBoundaries(layouts).size(), 2);
    QVERIFY(zoo("mlp", "").nodes.empty());
}

void TestLayoutGraph::boundariesMayBeLeftOut()
{
    const LayoutGraph layouts = zoo("resnet-18", "", {.boundaries = false});
    QCOMPARE(layouts.nodes.size(), std::size_t{21});
    QCOMPARE(layouts.edges.size(), std::size_t{28});
}

void TestLayoutGraph::nodesAndConversionsInLoopsRunOften()
{
    GraphMaker m;
    const ValueId a = m.conv("a", m.input("x", {1, 8, 4, 4}), {8, 8, 3, 3});
    const graph::Graph g = m.finish({m.conv("b", pool(m, "pool", a), {8, 8, 3, 3})});
    graph::Partition p = take(graph::partition(g, *Target::parse("cpu"), "lathe"));
    p.subgraphs[2].runs = 5;
    const LayoutGraph layouts = graph::plan::reduced(g, p);
    QCOMPARE(layouts.nodes[0].runs, 1);
    QCOMPARE(layouts.nodes[1].runs, 5);
    QCOMPARE(layouts.edges[1].runs, 5); // in front of b
    QCOMPARE(layouts.edges[2].runs, 1); // at the network's output
}

LATHE_TEST(TestLayoutGraph)

} // namespace tst_layout_graph

#include "tst_layout_graph.moc"
