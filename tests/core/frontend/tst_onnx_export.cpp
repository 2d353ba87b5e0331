#include "core/frontend/onnx.h"
#include "core/frontend/onnx_export.h"
#include "core/frontend/zoo.h"
#include "core/graph/passes.h"
#include "core/support/files.h"

#include <QTest>

#include <algorithm>
#include <cmath>

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

class TstOnnxExport : public QObject
{
    Q_OBJECT

private slots:
    void networksOfTheZooSurviveTheRoundTrip_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("layout");
        QTest::addColumn<qint64>("size");
        QTest::newRow("resnet NCHW") << "resnet-18" << "NCHW" << qint64{33};
        QTest::newRow("resnet NHWC") << "resnet-18" << "NHWC" << qint64{33};
        QTest::newRow("mobilenet NHWC, batch norm along rows") << "mobilenet" << "NHWC" << qint64{32};
        QTest::newRow("squeezenet") << "squeezenet-1.1" << "NCHW" << qint64{64};
        QTest::newRow("mlp") << "mlp" << "" << qint64{0};
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
        // Before the softmax, which would make all outputs of small logits equal.
        QCOMPARE(g->nodes.back().op, std::string("softmax"));
        g->outputs = {g->nodes.back().inputs[0]};
        const auto bytes = frontend::exportOnnx(*g);
        QVERIFY2(bytes, bytes ? "" : bytes.error().message.c_str());
        const auto again = frontend::importOnnx(*bytes);
        QVERIFY2(again, again ? "" : again.error().message.c_str());
        QCOMPARE(again->value(again->inputs[0]).name, g->value(g->inputs[0]).name);
        QCOMPARE(again->value(again->inputs[0]).shape, g->value(g->inputs[0]).shape);

        const HostTensor input = noise({DType::F32, g->value(g->inputs[0]).shape});
        const auto expected = interpret(*g, {input});
        const auto got = interpret(*again, {input});
        QVERIFY2(expected, expected ? "" : expected.error().message.c_str());
        QVERIFY2(got, got ? "" : got.error().message.c_str());
        const auto a = (*expected)[0].as<float>(), b = (*got)[0].as<float>();
        QCOMPARE(a.size(), b.size());
        float largest = 0, difference = 0;
        for (std::size_t i = 0; i < a.size(); ++i) {
            largest = std::max(largest, std::fabs(a[i]));
            difference = std::max(difference, std::fabs(a[i] - b[i]));
        }
        QVERIFY(largest > 0);
        QVERIFY2(difference <= 1e-5F * largest, qPrintable(QString("%1 of %2").arg(difference).arg(largest)));
    }

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

    void operatorsWithoutASpellingAreNamedWithTheirNode()
    {
        Graph g;
        const ValueId x = g.addValue("x", DType::F32, {2}), y = g.addValue("y", DType::F32, {2});
        g.addNode({"odd", "mish", {}, {x}, {y}, {}});
        g.inputs = {x};
        g.outputs = {y};
        const auto bytes = frontend::exportOnnx(g);
        QVERIFY(!bytes && bytes.error().code == Errc::Unsupported);
        QVERIFY(bytes.error().message.find("\"odd\"") != std::string::npos && bytes.error().message.find("mish") != std::string::npos);
    }
};

QTEST_APPLESS_MAIN(TstOnnxExport)
#include "tst_onnx_export.moc"
