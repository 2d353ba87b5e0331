#include "core/frontend/onnx.h"
#include "core/frontend/onnx_export.h"
#include "core/frontend/zoo.h"
#include "core/frontend/zoo_builder.h"
#include "core/graph/operators/element.h"
#include "core/graph/passes.h"
#include "core/support/files.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <set>

namespace tst_onnx_export {

using namespace lathe;
using namespace lathe::graph;

namespace {

HostTensor noise(TensorType type)
{
    HostTensor tensor = HostTensor::zeros(std::move(type));
    std::uint32_t state = 7;
    for (float& value : tensor.as<float>()) {
        state = state * 1664525 + 1013904223;
        value = static_cast<float>(state >> 16) / 65536.0F;
    }
    return tensor;
}

} // namespace

class TestOnnxExport : public QObject
{
    Q_OBJECT

private slots:
    void networksOfTheZooSurviveTheRoundTrip_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("layout");
        QTest::addColumn<qint64>("size");
        QTest::newRow("resnet NCHW") << "resnet-18"
                                     << "NCHW" << qint64{33};
        QTest::newRow("resnet NHWC") << "resnet-18"
                                     << "NHWC" << qint64{33};
        QTest::newRow("mobilenet NHWC, batch norm along rows") << "mobilenet"
                                                               << "NHWC" << qint64{32};
        QTest::newRow("squeezenet") << "squeezenet-1.1"
                                    << "NCHW" << qint64{64};
        QTest::newRow("mlp") << "mlp"
                             << "" << qint64{0};
        QTest::newRow("efficientnet NCHW, silu and sigmoid gates") << "efficientnet-b0"
                                                                   << "NCHW" << qint64{32};
        QTest::newRow("mobilenet v3 NHWC, hard swish and hard gates") << "mobilenet-v3-large"
                                                                      << "NHWC" << qint64{32};
        QTest::newRow("shufflenet NCHW") << "shufflenet-v2"
                                         << "NCHW" << qint64{32};
        QTest::newRow("shufflenet NHWC") << "shufflenet-v2"
                                         << "NHWC" << qint64{32};
    }
    void networksOfTheZooSurviveTheRoundTrip()
    {
        QFETCH(QString, name);
        QFETCH(QString, layout);
        QFETCH(qint64, size);
        frontend::ZooOptions options;
        options.layout = layout.toStdString();
        options.imageSize = size;
        options.classes = size == 0 ? 0 : 10;
        auto g = frontend::buildZoo(name.toStdString(), options);
        QVERIFY2(g, g ? "" : g.error().message.c_str());
        // Before a softmax, which would make all outputs of small logits equal.
        if (g->nodes.back().op == "softmax")
            g->outputs = {g->nodes.back().inputs[0]};
        expectSameAfterRoundTrip(*g, {noise({DType::F32, g->value(g->inputs[0]).shape})});
    }

    void attentionSurvivesTheRoundTrip_data()
    {
        QTest::addColumn<QString>("kind");
        for (const char* kind : {"NCHW", "NHWC", "text"})
            QTest::newRow(kind) << kind;
    }
    void attentionSurvivesTheRoundTrip()
    {
        QFETCH(QString, kind);
        const frontend::TransformerSizes sizes{
            .layers = 2, .width = 16, .heads = 4, .hidden = 24, .vocabulary = 30, .positions = 9, .tokens = 7};
        if (kind != "text") {
            const auto g = frontend::buildVit(
                "vit", sizes, {.batch = 2, .layout = kind.toStdString(), .imageSize = 48, .classes = 5});
            QVERIFY2(g, g ? "" : g.error().message.c_str());
            expectSameAfterRoundTrip(*g, {noise({DType::F32, g->value(g->inputs[0]).shape})});
            return;
        }
        const auto g = frontend::buildBert("bert", sizes, {.batch = 2, .layout = "NCHW"});
        QVERIFY2(g, g ? "" : g.error().message.c_str());
        HostTensor ids = HostTensor::zeros({DType::I64, {2, 7}}), mask = ids;
        for (std::size_t i = 0; i < 14; ++i) {
            ids.as<std::int64_t>()[i] = static_cast<std::int64_t>(i * 11 % 30);
            mask.as<std::int64_t>()[i] = i % 7 < 5 ? 1 : 0;
        }
        expectSameAfterRoundTrip(*g, {ids, mask});
    }

private:
    static void expectSameAfterRoundTrip(const Graph& g, const std::vector<HostTensor>& inputs)
    {
        const auto bytes = frontend::exportOnnx(g);
        QVERIFY2(bytes, bytes ? "" : bytes.error().message.c_str());
        const auto again = frontend::importOnnx(*bytes);
        QVERIFY2(again, again ? "" : again.error().message.c_str());
        QCOMPARE(again->inputs.size(), g.inputs.size());
        for (std::size_t i = 0; i < g.inputs.size(); ++i) {
            QCOMPARE(again->value(again->inputs[i]).name, g.value(g.inputs[i]).name);
            QCOMPARE(again->value(again->inputs[i]).shape, g.value(g.inputs[i]).shape);
        }
        const auto expected = interpret(g, inputs);
        const auto got = interpret(*again, inputs);
        QVERIFY2(expected, expected ? "" : expected.error().message.c_str());
        QVERIFY2(got, got ? "" : got.error().message.c_str());
        QCOMPARE(got->size(), expected->size());
        for (std::size_t k = 0; k < expected->size(); ++k) {
            const auto a = (*expected)[k].as<float>(), b = (*got)[k].as<float>();
            QCOMPARE(a.size(), b.size());
            float largest = 0, difference = 0;
            for (std::size_t i = 0; i < a.size(); ++i) {
                largest = std::max(largest, std::fabs(a[i]));
                difference = std::max(difference, std::fabs(a[i] - b[i]));
            }
            QVERIFY(largest > 0);
            QVERIFY2(difference <= 1e-5F * largest, qPrintable(QString("%1 of %2").arg(difference).arg(largest)));
        }
    }

private slots:
    void filesAreWrittenWhole()
    {
        auto dir = TempDir::create();
        QVERIFY(dir);
        const auto g = frontend::buildZoo("mlp");
        QVERIFY(g);
        const auto written = frontend::exportOnnx(*g, dir->path() / "mlp.onnx");
        QVERIFY2(written, written ? "" : written.error().message.c_str());
        QVERIFY(frontend::importOnnx(dir->path() / "mlp.onnx"));
        QVERIFY(!frontend::exportOnnx(*g, dir->path() / "no folder" / "mlp.onnx"));
    }

    /// As ONNX's operators where they fit, else spelt out; the integers are the same.
    void integersWithScalesSurviveTheRoundTrip_data()
    {
        QTest::addColumn<QString>("op");
        QTest::addColumn<int>("from");
        QTest::addColumn<int>("to");
        QTest::addColumn<int>("scaleType");
        QTest::addColumn<QList<qint64>>("scale");
        QTest::addColumn<QList<qint64>>("zero");
        QTest::addColumn<QString>("spelling");
        const auto row = [](const char* name, const char* op, DType from, DType to, DType scaleType,
                            QList<qint64> scale, QList<qint64> zero, const char* spelling) {
            QTest::newRow(name) << QString(op) << static_cast<int>(from) << static_cast<int>(to)
                                << static_cast<int>(scaleType) << scale << zero << QString(spelling);
        };
        constexpr DType f = DType::F32;
        row("one scale", "quantize", f, DType::U8, f, {}, {}, "QuantizeLinear");
        row("one scale of rank 3", "quantize", f, DType::I8, f, {1, 1, 1}, {1}, "QuantizeLinear");
        row("along an axis", "quantize", f, DType::I8, f, {3, 1}, {3, 1}, "QuantizeLinear");
        row("along an axis, one zero point", "quantize", f, DType::U8, f, {3, 1}, {}, "QuantizeLinear");
        row("sixteen bits", "quantize", f, DType::I16, f, {4}, {}, "QuantizeLinear");
        row("a scale for each element", "quantize", f, DType::U8, f, {2, 3, 4}, {}, "Round");
        row("different axes", "quantize", f, DType::U8, f, {4}, {3, 1}, "Round");
        row("halves", "quantize", DType::F16, DType::U8, DType::F16, {}, {}, "QuantizeLinear");
        row("doubles", "quantize", DType::F64, DType::I8, DType::F64, {3, 1}, {}, "Round");
        row("to floats", "dequantize", DType::U8, f, f, {}, {}, "DequantizeLinear");
        row("to floats along an axis", "dequantize", DType::I8, f, f, {2, 1, 1}, {2, 1, 1}, "DequantizeLinear");
        row("to halves", "dequantize", DType::I8, DType::F16, f, {}, {}, "DequantizeLinear");
        row("from sixteen bits", "dequantize", DType::U16, f, f, {}, {}, "DequantizeLinear");
        row("from sums with a zero point", "dequantize", DType::I32, f, f, {}, {}, "Sub");
        row("to doubles", "dequantize", DType::I8, DType::F64, DType::F64, {}, {}, "Sub");
        row("sums", "requantize", DType::I32, DType::I8, f, {}, {}, "QuantizeLinear");
        row("sums along an axis", "requantize", DType::I32, DType::U8, f, {4}, {}, "QuantizeLinear");
        row("sums, a scale for each element", "requantize", DType::I32, DType::U8, f, {2, 3, 4}, {4}, "Round");
    }
    void integersWithScalesSurviveTheRoundTrip()
    {
        QFETCH(QString, op);
        QFETCH(int, from);
        QFETCH(int, to);
        QFETCH(int, scaleType);
        QFETCH(QList<qint64>, scale);
        QFETCH(QList<qint64>, zero);
        QFETCH(QString, spelling);
        const auto dtype = static_cast<DType>(from), made = static_cast<DType>(to);
        const auto tensor = [](DType type, const QList<qint64>& shape, double low, double step) {
            HostTensor t = HostTensor::zeros({type, {shape.begin(), shape.end()}});
            std::vector<double> values(operators::readFloats(t).size());
            for (std::size_t i = 0; i < values.size(); ++i)
                values[i] = low + step * static_cast<double>(i);
            if (isFloat(type))
                operators::writeFloats(t, values);
            else
                operators::writeInts(t, std::vector<std::int64_t>(values.begin(), values.end()));
            return t;
        };
        const bool isSums = dtype == DType::I32;
        const std::vector<HostTensor> inputs = {
            tensor(dtype, {2, 3, 4},
                   isSums           ? -9000
                   : isFloat(dtype) ? -40.5
                                    : 3,
                   isSums           ? 801
                   : isFloat(dtype) ? 4.25
                                    : 5),
            tensor(static_cast<DType>(scaleType), scale, isSums ? 0.011 : 0.25, isSums ? 0.001 : 0.03125),
            tensor(op == "dequantize" ? dtype : made, zero, 3, 1)};
        Graph g;
        Node node;
        node.name = "scaled";
        node.op = op.toStdString();
        node.attrs = {{"dtype", std::string(toString(made))}};
        for (const HostTensor& input : inputs) {
            node.inputs.push_back(
                g.addValue("x" + std::to_string(g.values.size()), input.type.dtype, input.type.shape));
            g.inputs.push_back(node.inputs.back());
        }
        node.outputs = {g.addValue("y", made, {2, 3, 4})};
        g.outputs = node.outputs;
        g.addNode(std::move(node));
        const auto bytes = frontend::exportOnnx(g);
        QVERIFY2(bytes, bytes ? "" : bytes.error().message.c_str());
        QVERIFY(QByteArrayView(reinterpret_cast<const char*>(bytes->data()), static_cast<qsizetype>(bytes->size()))
                    .contains(spelling.toLatin1()));
        const auto again = frontend::importOnnx(*bytes);
        QVERIFY2(again, again ? "" : again.error().message.c_str());
        const auto expected = interpret(g, inputs), got = interpret(*again, inputs);
        QVERIFY2(expected, expected ? "" : expected.error().message.c_str());
        QVERIFY2(got, got ? "" : got.error().message.c_str());
        QVERIFY((*got)[0].type == (*expected)[0].type);
        QVERIFY((*got)[0].bytes == (*expected)[0].bytes);
        const auto values = operators::readFloats((*expected)[0]);
        QVERIFY(std::set<double>(values.begin(), values.end()).size() > 10); // not all saturated
    }

    /// ONNX's CumSum has none of fewer than 32 bits: those are summed as int32, of which as much is kept as fits.
    void runningSumsOfSmallIntegersAreWrittenAsInt32_data()
    {
        QTest::addColumn<int>("type");
        QTest::addColumn<int>("casts");
        for (const DType dtype : {DType::I8, DType::U8, DType::I16, DType::U16})
            QTest::newRow(toString(dtype)) << static_cast<int>(dtype) << 2;
        for (const DType dtype : {DType::I32, DType::U32, DType::I64, DType::U64})
            QTest::newRow(toString(dtype)) << static_cast<int>(dtype) << 0;
    }
    void runningSumsOfSmallIntegersAreWrittenAsInt32()
    {
        QFETCH(int, type);
        QFETCH(int, casts);
        const auto dtype = static_cast<DType>(type);
        constexpr std::int64_t kCount = 700;
        HostTensor values = HostTensor::zeros({dtype, {kCount}});
        operators::writeInts(values, std::vector<std::int64_t>(kCount, 101)); // 16 bits do not hold the last sums
        Graph g;
        const ValueId x = g.addValue("x", dtype, {kCount}), y = g.addValue("y", dtype, {kCount});
        g.addNode({"sums", "cumulative_sum", {{"axis", std::int64_t{0}}}, {x}, {y}, {}});
        g.inputs = {x};
        g.outputs = {y};
        const auto bytes = frontend::exportOnnx(g);
        QVERIFY2(bytes, bytes ? "" : bytes.error().message.c_str());
        const QByteArrayView text(reinterpret_cast<const char*>(bytes->data()), static_cast<qsizetype>(bytes->size()));
        QCOMPARE(text.count("Cast"), casts);
        const auto again = frontend::importOnnx(*bytes);
        QVERIFY2(again, again ? "" : again.error().message.c_str());
        const auto expected = interpret(g, {values}), got = interpret(*again, {values});
        QVERIFY2(expected, expected ? "" : expected.error().message.c_str());
        QVERIFY2(got, got ? "" : got.error().message.c_str());
        QVERIFY((*got)[0].type == (*expected)[0].type);
        QVERIFY((*got)[0].bytes == (*expected)[0].bytes);
    }

    void operatorsWithoutASpellingAreNamedWithTheirNode()
    {
        Graph g;
        const ValueId x = g.addValue("x", DType::F32, {2}), y = g.addValue("y", DType::F32, {2});
        g.addNode({"odd", "mish", {}, {x}, {y}, {}});
        g.inputs = {x};
        g.outputs = {y};
        const auto bytes = frontend::exportOnnx(g);
        QVERIFY(!bytes && bytes.error().code == Errc::Unsupported);
        QVERIFY(bytes.error().message.find("\"odd\"") != std::string::npos
                && bytes.error().message.find("mish") != std::string::npos);
    }
};

LATHE_TEST(TestOnnxExport)

} // namespace tst_onnx_export

#include "tst_onnx_export.moc"
