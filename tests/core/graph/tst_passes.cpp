#include "graph_fixture.h"
#include "tests/support/test_program.h"

namespace tst_passes {

using namespace lathe;
using namespace lathe::test;
using graph::ValueId;

class TestPasses : public QObject
{
    Q_OBJECT

private slots:
    void batchNormBehindAConvolutionGoesIntoItsWeights();
    void batchNormOfADepthwiseConvolutionGoesIntoItsWeights();
    void batchNormBehindABiasScalesTheBias();
    void aScaleGoesThroughReluOnlyIfPositive();
    void aSumOfTwoConvolutionsTakesTheScaleOnBothSides();
    void aSecondConsumerBlocksTheBackwardWay();
    void preActivationGoesForwardIntoAllConsumers();
    void negativeGammaKeepsThePreActivationsMultiply();
    void aConsumerWithoutWeightsBlocksTheForwardWay();
    void aZeroScaleIsNotDividedBy();
    void aScaleOnAnotherAxisStays();
    void sharedWeightsAreScaledForOneConsumerOnly();
    void constantsAreEvaluated();
    void equalNodesBecomeOne();
    void chainsOfReshapesAndTransposesCollapse();
    void neutralScalarsDisappear();
    void paddingGoesIntoTheConvolution();
    void splitsBecomeSlices();
    void matmulByAConstantBecomesDense();
    void deadNodesGoAndInputsStay();
    void batchNormsOfEveryFloatTypeBecomeArithmetic_data();
    void batchNormsOfEveryFloatTypeBecomeArithmetic();
    void neutralScalarsOfEveryFloatTypeDisappear_data();
    void neutralScalarsOfEveryFloatTypeDisappear();
    void aScaleOfMoreDigitsStaysOutOfWeights();
};

void TestPasses::batchNormBehindAConvolutionGoesIntoItsWeights()
{
    GraphMaker m;
    const ValueId x = m.input("x", {1, 3, 6, 6});
    const auto g = m.finish({m.node("relu", "relu", {m.batchNorm("bn", m.conv("conv", x, {4, 3, 3, 3}), 4)})});
    const auto o = optimized(g);
    QCOMPARE(count(o, "multiply"), 0);
    QCOMPARE(count(o, "add"), 1);
    QCOMPARE(o.nodes.size(), std::size_t{3});
    QCOMPARE(o.value(o.nodes[1].inputs[1]).shape, (Shape{1, 4, 1, 1}));
    QCOMPARE(disagreement(g, o), QString());
}

void TestPasses::batchNormOfADepthwiseConvolutionGoesIntoItsWeights()
{
    GraphMaker m;
    const ValueId x = m.input("x", {1, 4, 6, 6});
    const auto g = m.finish({m.batchNorm("bn", m.conv("conv", x, {4, 1, 3, 3}, 4), 4)});
    const auto o = optimized(g);
    QCOMPARE(count(o, "multiply"), 0);
    QCOMPARE(disagreement(g, o), QString());
}

void TestPasses::batchNormBehindABiasScalesTheBias()
{
    GraphMaker m;
    const ValueId x = m.input("x", {1, 3, 5, 5});
    const ValueId biased = m.node("bias", "bias_add", {m.conv("conv", x, {4, 3, 1, 1}), m.random("b", {4})},
                                  {{"axis", std::int64_t{1}}});
    const auto g = m.finish({m.batchNorm("bn", biased, 4)});
    const auto o = optimized(g);
    QCOMPARE(o.nodes.size(), std::size_t{2}); // the convolution and one add: bias and shift are one constant
    QCOMPARE(disagreement(g, o), QString());
}

void TestPasses::aScaleGoesThroughReluOnlyIfPositive()
{
    for (const bool positive : {true, false}) {
        GraphMaker m;
        const ValueId x = m.input("x", {1, 3, 5, 5});
        const ValueId relu = m.node("relu", "relu", {m.conv("conv", x, {2, 3, 1, 1})});
        const auto g = m.finish(
            {m.node("mul", "multiply", {relu, m.constant("s", {2, 1, 1}, {2.0f, positive ? 0.5f : -0.5f})})});
        const auto o = optimized(g);
        QCOMPARE(count(o, "multiply"), positive ? 0 : 1);
        QCOMPARE(disagreement(g, o), QString());
    }
}

void TestPasses::aSumOfTwoConvolutionsTakesTheScaleOnBothSides()
{
    GraphMaker m;
    const ValueId x = m.input("x", {1, 3, 5, 5});
    const ValueId sum = m.node("sum", "add", {m.conv("left", x, {4, 3, 3, 3}), m.conv("right", x, {4, 3, 1, 1})});
    const auto g = m.finish({m.batchNorm("bn", sum, 4)});
    const auto o = optimized(g);
    QCOMPARE(count(o, "multiply"), 0);
    QCOMPARE(disagreement(g, o), QString());
}

void TestPasses::aSecondConsumerBlocksTheBackwardWay()
{
    GraphMaker m;
    const ValueId x = m.input("x", {1, 3, 5, 5});
    const ValueId conv = m.conv("conv", x, {4, 3, 3, 3});
    const ValueId norm = m.batchNorm("bn", conv, 4);
    const auto g = m.finish({m.node("sum", "add", {norm, conv})});
    const auto o = optimized(g);
    QCOMPARE(count(o, "multiply"), 1);
    QCOMPARE(disagreement(g, o), QString());
}

void TestPasses::preActivationGoesForwardIntoAllConsumers()
{
    GraphMaker m;
    const ValueId x = m.input("x", {1, 4, 6, 6});
    const ValueId a = m.node("relu", "relu", {m.batchNorm("bn", x, 4)});
    const auto g = m.finish({m.conv("main", a, {4, 4, 3, 3}), m.conv("shortcut", a, {4, 4, 1, 1}),
                             m.conv("depthwise", a, {4, 1, 3, 3}, 4)});
    const auto o = optimized(g);
    QCOMPARE(count(o, "multiply"), 0);
    QCOMPARE(count(o, "add"), 1);
    QCOMPARE(disagreement(g, o), QString());
}

void TestPasses::negativeGammaKeepsThePreActivationsMultiply()
{
    GraphMaker m;
    const ValueId x = m.input("x", {1, 4, 6, 6});
    const ValueId scaled = m.node("mul", "multiply", {x, m.constant("s", {4, 1, 1}, {1, 2, -1, 3})});
    const auto g = m.finish({m.conv("conv", m.node("relu", "relu", {scaled}), {4, 4, 3, 3})});
    QCOMPARE(count(optimized(g), "multiply"), 1);
}

void TestPasses::aConsumerWithoutWeightsBlocksTheForwardWay()
{
    GraphMaker m;
    const ValueId x = m.input("x", {1, 4, 6, 6});
    const ValueId a = m.node("relu", "relu", {m.batchNorm("bn", x, 4)});
    const ValueId pool = m.node("pool", "global_avg_pool2d", {a}, {{"layout", std::string("NCHW")}});
    const auto g = m.finish({m.conv("conv", a, {4, 4, 3, 3}), pool});
    const auto o = optimized(g);
    QCOMPARE(count(o, "multiply"), 1);
    QCOMPARE(disagreement(g, o), QString());
}

void TestPasses::aZeroScaleIsNotDividedBy()
{
    GraphMaker m;
    const ValueId x = m.input("x", {1, 2, 4, 4});
    const ValueId scaled = m.node("mul", "multiply", {x, m.constant("s", {2, 1, 1}, {0, 2})});
    const ValueId shifted = m.node("add", "add", {scaled, m.constant("t", {2, 1, 1}, {1, 1})});
    const auto g = m.finish({m.conv("conv", shifted, {3, 2, 1, 1})});
    const auto o = optimized(g);
    QCOMPARE(count(o, "multiply"), 1);
    QCOMPARE(disagreement(g, o), QString());
}

void TestPasses::aScaleOnAnotherAxisStays()
{
    GraphMaker m;
    const ValueId x = m.input("x", {1, 3, 6, 6});
    const auto g = m.finish({m.batchNorm("bn", m.conv("conv", x, {6, 3, 3, 3}), 6, 0.5f, 2)});
    const auto o = optimized(g);
    QCOMPARE(count(o, "multiply"), 1);
    QCOMPARE(disagreement(g, o), QString());
}

void TestPasses::sharedWeightsAreScaledForOneConsumerOnly()
{
    GraphMaker m;
    const ValueId x = m.input("x", {1, 3, 5, 5});
    const ValueId w = m.random("w", {4, 3, 1, 1});
    const graph::Attrs attrs{{"layout", std::string("NCHW")}, {"kernel_layout", std::string("OIHW")}};
    const ValueId other = m.node("other_relu", "relu", {x});
    const auto g = m.finish(
        {m.batchNorm("bn", m.node("a", "conv2d", {x, w}, attrs), 4), m.node("b", "conv2d", {other, w}, attrs)});
    QCOMPARE(disagreement(g, optimized(g)), QString());
}

void TestPasses::constantsAreEvaluated()
{
    GraphMaker m;
    const ValueId x = m.input("x", {2});
    const ValueId sum = m.node("sum", "add", {m.constant("a", {2}, {1, 2}), m.constant("b", {2}, {10, 20})});
    const auto g = m.finish({m.node("out", "add", {x, m.node("exp", "negative", {sum})})});
    const auto o = take(graph::foldConstants(g));
    QCOMPARE(o.nodes.size(), std::size_t{1});
    QCOMPARE(*graph::constNumbers(o.value(o.nodes[0].inputs[1])), (std::vector<double>{-11, -22}));
}

void TestPasses::equalNodesBecomeOne()
{
    GraphMaker m;
    const ValueId x = m.input("x", {4});
    const ValueId a = m.node("a", "exp", {m.node("a0", "relu", {x})});
    const ValueId b = m.node("b", "exp", {m.node("b0", "relu", {x})});
    const auto g = m.finish({m.node("sum", "add", {a, b})});
    const auto o = take(graph::eliminateCommonSubexpressions(g));
    QCOMPARE(o.nodes.size(), std::size_t{3});
    QVERIFY(identical(g, o));
}

void TestPasses::chainsOfReshapesAndTransposesCollapse()
{
    GraphMaker m;
    const ValueId x = m.input("x", {2, 3, 4});
    const ValueId t = m.node("t2", "transpose", {m.node("t1", "transpose", {x}, {{"axes", Shape{2, 0, 1}}})},
                             {{"axes", Shape{1, 2, 0}}});
    const ValueId r = m.node("r2", "reshape", {m.node("r1", "reshape", {t}, {{"newshape", Shape{6, 4}}})},
                             {{"newshape", Shape{24}}});
    const auto g = m.finish({r});
    const auto o = take(graph::simplifyExpressions(g));
    QCOMPARE(QString::fromStdString(graph::print(o)), QString("graph test\n"
                                                              "input %x: float32[2, 3, 4]\n"
                                                              "%r2: float32[24] = reshape(%x) {newshape=[24]}\n"
                                                              "output %r2\n"));
    QVERIFY(identical(g, o));
}

void TestPasses::neutralScalarsDisappear()
{
    GraphMaker m;
    const ValueId x = m.input("x", {4});
    const ValueId a = m.node("a", "add", {x, m.constant("zero", {}, {0})});
    const ValueId b = m.node("b", "multiply", {a, m.constant("one", {}, {1})});
    const auto o = take(
        graph::simplifyExpressions(m.finish({m.node("c", "add", {b, m.constant("vector", {4}, {0, 0, 0, 0})})})));
    QCOMPARE(o.nodes.size(), std::size_t{1}); // the vector of zeros stays, as in the reference
    QCOMPARE(o.nodes[0].name, std::string("c"));
}

void TestPasses::paddingGoesIntoTheConvolution()
{
    for (const double value : {0.0, 1.0}) {
        GraphMaker m;
        const ValueId x = m.input("x", {1, 2, 5, 5});
        const ValueId padded = m.node("pad", "pad", {x},
                                      {{"pad_width", Shape{0, 0, 0, 0, 1, 2, 0, 1}}, {"value", value}});
        const auto g = m.finish({m.conv("conv", padded, {3, 2, 3, 3})});
        const auto o = optimized(g);
        QCOMPARE(count(o, "pad"), value == 0 ? 0 : 1);
        if (value == 0)
            QCOMPARE(graph::attrInts(o.nodes[0], "padding"), (Shape{2, 1, 3, 2}));
        QCOMPARE(disagreement(g, o), QString());
    }
}

void TestPasses::splitsBecomeSlices()
{
    GraphMaker m;
    const ValueId x = m.input("x", {2, 6});
    graph::Graph g = m.finish({x});
    const ValueId a = g.addValue("a", DType::F32, {2, 2});
    const ValueId b = g.addValue("b", DType::F32, {2, 4});
    g.addNode({"split", "split", {{"axis", std::int64_t{1}}, {"indices", Shape{2}}}, {x}, {a, b}, "split"});
    g.outputs = {b, a};
    const auto o = take(graph::canonicalizeOperators(g));
    QCOMPARE(count(o, "split"), 0);
    QCOMPARE(count(o, "strided_slice"), 2);
    QVERIFY(identical(g, o));
}

void TestPasses::matmulByAConstantBecomesDense()
{
    GraphMaker m;
    const ValueId x = m.input("x", {2, 3});
    const auto g = m.finish({m.node("product", "matmul", {x, m.random("w", {3, 5})})});
    const auto o = optimized(g);
    QCOMPARE(count(o, "dense"), 1);
    QCOMPARE(o.value(o.nodes[0].inputs[1]).shape, (Shape{5, 3}));
    QCOMPARE(disagreement(g, o), QString());
}

void TestPasses::deadNodesGoAndInputsStay()
{
    GraphMaker m;
    const ValueId x = m.input("x", {4});
    m.input("unused", {2});
    m.node("dead", "exp", {x});
    const auto o = take(graph::removeDead(m.finish({m.node("live", "relu", {x})})));
    QCOMPARE(o.nodes.size(), std::size_t{1});
    QCOMPARE(o.inputs.size(), std::size_t{2});
}

void TestPasses::batchNormsOfEveryFloatTypeBecomeArithmetic_data()
{
    QTest::addColumn<int>("dtype");
    QTest::addColumn<int>("left"); // multiplications: half floats keep their scales
    QTest::newRow("float64") << static_cast<int>(DType::F64) << 0;
    QTest::newRow("bfloat16") << static_cast<int>(DType::BF16) << 0;
    QTest::newRow("float16") << static_cast<int>(DType::F16) << 1;
}

void TestPasses::batchNormsOfEveryFloatTypeBecomeArithmetic()
{
    QFETCH(int, dtype);
    QFETCH(int, left);
    GraphMaker m;
    const ValueId x = m.input("x", {1, 3, 6, 6});
    const ValueId bias = m.node("bias", "bias_add", {m.conv("conv", x, {4, 3, 3, 3}), m.random("b", {4})},
                                {{"axis", std::int64_t{1}}});
    const auto g = inType(m.finish({m.node("relu", "relu", {m.batchNorm("bn", bias, 4)})}), static_cast<DType>(dtype));
    const auto o = optimized(g);
    QCOMPARE(count(o, "batch_norm") + count(o, "cast") + count(o, "rsqrt"), 0);
    QCOMPARE(count(o, "multiply"), left);
    QCOMPARE(static_cast<int>(o.value(o.outputs[0]).dtype), dtype);
    QCOMPARE(disagreement(g, o), QString());
}

void TestPasses::neutralScalarsOfEveryFloatTypeDisappear_data()
{
    QTest::addColumn<int>("dtype");
    for (const DType dtype : {DType::F16, DType::BF16, DType::F32, DType::F64})
        QTest::newRow(toString(dtype)) << static_cast<int>(dtype);
}

void TestPasses::neutralScalarsOfEveryFloatTypeDisappear()
{
    QFETCH(int, dtype);
    GraphMaker m;
    const ValueId a = m.node("a", "subtract", {m.input("x", {4}), m.constant("zero", {}, {0})});
    const ValueId b = m.node("b", "divide", {a, m.constant("one", {}, {1})});
    const auto g = inType(m.finish({m.node("c", "exp", {b})}), static_cast<DType>(dtype));
    QCOMPARE(take(graph::simplifyExpressions(g)).nodes.size(), std::size_t{1});
}

void TestPasses::aScaleOfMoreDigitsStaysOutOfWeights()
{
    GraphMaker m;
    const ValueId conv = m.conv("conv", m.input("x", {1, 3, 5, 5}), {4, 3, 1, 1});
    auto g = m.finish({m.node("scaled", "multiply", {conv, m.random("s", {4, 1, 1})})});
    // Weights of eight digits give sums of 24, which are scaled as such.
    for (const std::size_t input : {0, 1}) {
        graph::Value& value = g.value(g.nodes[0].inputs[input]);
        if (value.constant) {
            const graph::ValueId made = graph::addNumbers(g, "half", DType::BF16, value.shape,
                                                          *graph::constNumbers(value));
            g.nodes[0].inputs[input] = made;
        } else {
            value.dtype = DType::BF16;
        }
    }
    g.nodes[0].attrs["out_dtype"] = std::string("float32");
    g = take(graph::inferTypes(std::move(g)));
    QCOMPARE(count(take(graph::foldScaleAxis(g)), "multiply"), 1);
}

LATHE_TEST(TestPasses)

} // namespace tst_passes

#include "tst_passes.moc"
