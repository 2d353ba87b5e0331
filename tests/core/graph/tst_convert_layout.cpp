#include "core/frontend/zoo.h"
#include "graph_fixture.h"
#include "tests/support/test_program.h"

namespace tst_convert_layout {

using namespace lathe;
using namespace lathe::test;
using graph::ValueId;

class TestConvertLayout : public QObject
{
    Q_OBJECT

private slots:
    void convolutionsRunInTheWantedLayoutWithTransposesAtTheBorders();
    void volumesAreConvertedAsImagesAre();
    void axesOfOtherOperatorsFollow();
    void aNetworkConvertedThereAndBackIsAsBefore();
    void transposesOfAnExportedNetworkCancel();
    void aConvertedNetworkIsTheOneWrittenInThatLayout();
    void anUnknownLayoutIsRefused();
};

void TestConvertLayout::convolutionsRunInTheWantedLayoutWithTransposesAtTheBorders()
{
    GraphMaker m;
    const ValueId x = m.input("x", {1, 3, 8, 8});
    ValueId y = m.node("relu", "relu", {m.batchNorm("bn", m.conv("conv", x, {4, 3, 3, 3}), 4)});
    y = m.node("bias", "bias_add", {m.conv("depthwise", y, {4, 1, 3, 3}, 4, 2), m.random("b", {4})},
               {{"axis", std::int64_t{1}}});
    y = m.node("pool", "max_pool2d", {y},
               {{"pool_size", Shape{2, 2}},
                {"strides", Shape{2, 2}},
                {"padding", Shape{0, 0, 0, 0}},
                {"layout", std::string("NCHW")}});
    const auto g = m.finish({y});
    const auto o = take(graph::convertLayout(g, "NHWC"));
    QCOMPARE(count(o, "transpose"), 2);
    for (const graph::Node& node : o.nodes) {
        if (node.op == "conv2d" || node.op == "max_pool2d")
            QCOMPARE(graph::attrString(node, "layout", ""), std::string("NHWC"));
    }
    QCOMPARE(o.value(o.inputs[0]).shape, g.value(g.inputs[0]).shape);
    QCOMPARE(disagreement(g, o), QString());
}

void TestConvertLayout::volumesAreConvertedAsImagesAre()
{
    GraphMaker m;
    const ValueId x = m.input("x", {1, 3, 4, 6, 5});
    const Shape ones(6, 1);
    ValueId y = m.node("conv", "conv3d", {x, m.random("w", {4, 3, 3, 3, 3})}, {{"padding", ones}});
    y = m.node("relu", "relu", {m.batchNorm("bn", y, 4)});
    y = m.node("groups", "conv3d", {y, m.random("v", {6, 2, 1, 3, 2})}, {{"groups", std::int64_t{2}}});
    y = m.node("pool", "max_pool3d", {y}, {{"pool_size", Shape{2, 2, 2}}, {"strides", Shape{2, 1, 2}}});
    const ValueId mean = m.node("mean", "global_avg_pool3d", {y});
    const auto g = m.finish({y, m.node("flat", "batch_flatten", {mean})});
    const auto o = take(graph::convertLayout(g, "NHWC"));
    QCOMPARE(count(o, "transpose"), 2);
    int volumes = 0;
    for (const graph::Node& node : o.nodes) {
        if (node.op.ends_with("3d"))
            volumes += graph::attrString(node, "layout", "") == "NDHWC" ? 1 : 0;
    }
    QCOMPARE(volumes, 4);
    QCOMPARE(disagreement(g, o), QString());
    // Scales are folded into the kernels of either layout.
    for (const graph::Graph& written : {g, o}) {
        const auto folded = take(
            graph::foldScaleAxis(take(graph::foldConstants(take(graph::simplifyInference(written))))));
        QCOMPARE(count(folded, "multiply"), 0);
        QCOMPARE(disagreement(g, folded), QString());
    }
}

void TestConvertLayout::axesOfOtherOperatorsFollow()
{
    GraphMaker m;
    const ValueId x = m.input("x", {1, 3, 6, 6});
    const ValueId a = m.conv("a", x, {4, 3, 3, 3});
    const ValueId b = m.conv("b", x, {4, 3, 1, 1});
    ValueId y = m.node("concat", "concatenate", {a, b}, {{"axis", std::int64_t{1}}});
    y = m.node("pad", "pad", {y}, {{"pad_width", Shape{0, 0, 0, 0, 1, 0, 2, 1}}, {"value", 0.5}});
    y = m.node("slice", "strided_slice", {y},
               {{"begin", Shape{1}}, {"end", Shape{7}}, {"strides", Shape{2}}, {"axes", Shape{1}}});
    y = m.node("scale", "multiply", {y, m.random("s", {3, 1, 1})});
    const ValueId soft = m.node("soft", "softmax", {y}, {{"axis", std::int64_t{1}}});
    const ValueId rows = m.node("mean", "mean", {y}, {{"axes", Shape{3}}, {"keepdims", std::int64_t{0}}});
    const ValueId flat = m.node("flat", "mean", {y}, {{"axes", Shape{2, 3}}, {"keepdims", std::int64_t{0}}});
    const ValueId kept = m.node("kept", "sum", {y}, {{"axes", Shape{1}}, {"keepdims", std::int64_t{1}}});
    const ValueId reshaped = m.node("reshape", "reshape", {y}, {{"newshape", Shape{-1}}});
    const auto g = m.finish({soft, rows, flat, kept, reshaped});
    const auto o = take(graph::convertLayout(g, "NHWC"));
    QCOMPARE(disagreement(g, o), QString());
}

void TestConvertLayout::aNetworkConvertedThereAndBackIsAsBefore()
{
    GraphMaker m;
    const ValueId x = m.input("x", {1, 3, 8, 8});
    const ValueId a = m.node("relu", "relu", {m.conv("a", x, {4, 3, 3, 3})});
    const auto g = m.finish({m.node("sum", "add", {m.conv("b", a, {4, 4, 3, 3}), a})});
    const auto back = take(graph::convertLayout(take(graph::convertLayout(g, "NHWC")), "NCHW"));
    QCOMPARE(QString::fromStdString(graph::print(back)),
             QString::fromStdString(graph::print(take(graph::removeDead(g)))));
}

void TestConvertLayout::transposesOfAnExportedNetworkCancel()
{
    // As an NHWC network looks in a format that has NCHW convolutions only.
    GraphMaker m;
    ValueId x = m.input("x", {1, 8, 8, 3});
    for (const char* name : {"a", "b"}) {
        x = m.node(std::string(name) + "_in", "transpose", {x}, {{"axes", Shape{0, 3, 1, 2}}});
        x = m.conv(name, x, {3, 3, 3, 3});
        x = m.node(std::string(name) + "_out", "transpose", {x}, {{"axes", Shape{0, 2, 3, 1}}});
        x = m.node(std::string(name) + "_relu", "relu", {x});
    }
    const auto g = m.finish({x});
    const auto o = take(graph::convertLayout(g, "NHWC"));
    QCOMPARE(count(o, "transpose"), 0);
    QCOMPARE(o.nodes.size(), std::size_t{4});
    QCOMPARE(disagreement(g, o), QString());
}

void TestConvertLayout::aConvertedNetworkIsTheOneWrittenInThatLayout()
{
    // Behind its first transpose, the converted network is the one that is written in NHWC.
    const auto nchw = take(frontend::buildZoo("resnet18_v1", {.layout = "NCHW", .imageSize = 64, .weights = false}));
    const auto nhwc = take(frontend::buildZoo("resnet18_v1", {.layout = "NHWC", .imageSize = 64, .weights = false}));
    const auto converted = optimized(take(graph::convertLayout(nchw, "NHWC")));
    const auto native = optimized(nhwc);
    QCOMPARE(count(converted, "transpose"), 1);
    QCOMPARE(converted.nodes.size(), native.nodes.size() + 1);
    for (std::size_t i = 0; i < native.nodes.size(); ++i) {
        QCOMPARE(converted.nodes[i + 1].op, native.nodes[i].op);
        QCOMPARE(converted.value(converted.nodes[i + 1].outputs[0]).shape,
                 native.value(native.nodes[i].outputs[0]).shape);
    }
}

void TestConvertLayout::anUnknownLayoutIsRefused()
{
    GraphMaker m;
    const auto g = m.finish({m.node("relu", "relu", {m.input("x", {1})})});
    const auto o = graph::convertLayout(g, "NCHW16c");
    QVERIFY(!o);
    QCOMPARE(int(o.error().code), int(Errc::InvalidArgument));
}

LATHE_TEST(TestConvertLayout)

} // namespace tst_convert_layout

#include "tst_convert_layout.moc"
