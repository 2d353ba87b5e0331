// Scales of channels go into the weights of a pointwise convolution, where these are fewer than the image's elements.

#include "graph_fixture.h"
#include "tests/support/test_program.h"

namespace tst_scale_weights {

using namespace lathe;
using namespace lathe::test;
using graph::ValueId;

namespace {

struct Made
{
    ValueId product, result;
};

/// image [1, size, size, 6] * sigmoid(scale [1, 1, 1, 6]), then 1x1 (or `kernel`) to `filters` channels.
Made excited(GraphMaker& m, std::int64_t size, std::int64_t filters, std::int64_t kernel = 1, bool scaleFirst = false)
{
    const ValueId image = m.input("image", {1, size, size, 6});
    const ValueId scale = m.node("gate", "sigmoid", {m.input("scale", {1, 1, 1, 6})});
    const std::int64_t pad = kernel / 2;
    Made made;
    made.product = m.node("product", "multiply", scaleFirst ? std::vector{scale, image} : std::vector{image, scale});
    made.result = m.node("conv", "conv2d", {made.product, m.random("w", {kernel, kernel, 6, filters})},
                         {{"strides", Shape{1, 1}},
                          {"padding", Shape{pad, pad, pad, pad}},
                          {"dilations", Shape{1, 1}},
                          {"groups", std::int64_t{1}},
                          {"layout", std::string("NHWC")},
                          {"kernel_layout", std::string("HWIO")}});
    return made;
}

/// Whether some convolution still reads a product.
bool scalesTheImage(const graph::Graph& g)
{
    for (const auto& node : g.nodes)
        if (const auto producer = node.op == "conv2d" ? g.value(node.inputs[0]).producer : graph::NodeId();
            producer.valid())
            return g.node(producer).op == "multiply";
    return false;
}

} // namespace

class TestScaleWeights : public QObject
{
    Q_OBJECT

private slots:
    void theWeightsAreScaled_data();
    void theWeightsAreScaled();
    void manyWeightsStay();
    void aProductThatOthersReadStays();
    void otherConvolutionsStay();
};

void TestScaleWeights::theWeightsAreScaled_data()
{
    QTest::addColumn<bool>("scaleFirst");
    QTest::addColumn<int>("dtype");
    QTest::newRow("image * scale") << false << static_cast<int>(DType::F32);
    QTest::newRow("scale * image") << true << static_cast<int>(DType::F32);
    QTest::newRow("float64") << false << static_cast<int>(DType::F64);
    QTest::newRow("bfloat16") << false << static_cast<int>(DType::BF16);
}

void TestScaleWeights::theWeightsAreScaled()
{
    QFETCH(bool, scaleFirst);
    QFETCH(int, dtype);
    GraphMaker m;
    const auto g = inType(m.finish({excited(m, 8, 4, 1, scaleFirst).result}), static_cast<DType>(dtype));
    QVERIFY(scalesTheImage(g));
    const auto after = take(graph::inferTypes(take(graph::scaleWeights(g))));
    QVERIFY(!scalesTheImage(after));
    QCOMPARE(count(after, "multiply"), 1);
    // Weights of eight channels are rounded once more.
    QCOMPARE(disagreement(g, after, static_cast<DType>(dtype) == DType::BF16 ? 8 * 0x1p-10 : 0), QString());
}

void TestScaleWeights::manyWeightsStay()
{
    GraphMaker m;
    const auto g = m.finish({excited(m, 8, 64).result});
    QVERIFY(scalesTheImage(take(graph::scaleWeights(g))));
}

void TestScaleWeights::aProductThatOthersReadStays()
{
    GraphMaker m;
    const Made made = excited(m, 8, 4);
    const auto g = m.finish({made.result, made.product});
    QVERIFY(scalesTheImage(take(graph::scaleWeights(g))));
}

void TestScaleWeights::otherConvolutionsStay()
{
    GraphMaker m;
    const auto g = m.finish({excited(m, 8, 4, 3).result});
    QVERIFY(scalesTheImage(take(graph::scaleWeights(g))));
}

LATHE_TEST(TestScaleWeights)

} // namespace tst_scale_weights

#include "tst_scale_weights.moc"
