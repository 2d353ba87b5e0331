#include "core/frontend/onnx.h"
#include "core/frontend/onnx_export.h"
#include "core/graph/node_types.h"
#include "core/graph/operators/element.h"
#include "core/graph/passes.h"
#include "core/support/files.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tst_onnx_goldens {

using namespace lathe;
using namespace lathe::graph;

namespace {

const std::filesystem::path kFolder = std::filesystem::path(LATHE_TEST_DATA) / "onnx";

/// Cuts the next tensor of a type off a NAME.bin.
HostTensor take(std::string_view& bytes, TensorType type)
{
    HostTensor tensor = HostTensor::zeros(std::move(type));
    if (bytes.size() < tensor.bytes.size()) {
        tensor.bytes.clear();
        return tensor;
    }
    std::memcpy(tensor.bytes.data(), bytes.data(), tensor.bytes.size());
    bytes.remove_prefix(tensor.bytes.size());
    return tensor;
}

/// Largest |a - b| over the largest |b|, element by element; infinite where one is NaN.
double distance(const HostTensor& a, const HostTensor& b)
{
    const auto x = operators::readFloats(a), y = operators::readFloats(b);
    double difference = 0, largest = 1e-30;
    for (std::size_t i = 0; i < y.size(); ++i) {
        difference = std::max(difference, std::isnan(x[i]) || std::isnan(y[i]) ? INFINITY : std::fabs(x[i] - y[i]));
        largest = std::max(largest, std::fabs(y[i]));
    }
    return difference / largest;
}

/// Those of ONNX Runtime's own operators and of quantized tensors (make_contrib_goldens.py), and networks of other
/// people's tools (make_quantized_networks.py).
void nameContribCases()
{
    QTest::addColumn<QString>("name");
    for (const char* name :
         {"contrib_attention", "contrib_convolutions", "contrib_fused", "contrib_linear", "contrib_net_dynamic",
          "contrib_net_functions", "contrib_net_fused", "contrib_net_operators", "contrib_net_pairs", "contrib_norms",
          "contrib_norms_half", "contrib_products", "contrib_quantized"})
        QTest::newRow(name) << QString(name);
}

void nameAllCases()
{
    QTest::addColumn<QString>("name");
    for (const char* name : {"activations",
                             "arithmetic",
                             "convolutions",
                             "external",
                             "half",
                             "network_opset7",
                             "network_opset9",
                             "network_opset11",
                             "network_opset13",
                             "network_opset18",
                             "norms",
                             "pools",
                             "volumes",
                             "products",
                             "reductions_opset11",
                             "reductions_opset18",
                             "shapes_opset11",
                             "shapes_opset18",
                             "algebra",
                             "bits",
                             "samples",
                             "sequences",
                             "signals",
                             "windows"})
        QTest::newRow(name) << QString(name);
}

} // namespace

/// Models of tests/data/onnx, whose outputs ONNX Runtime computed (make_goldens.py).
class TestOnnxGoldens : public QObject
{
    Q_OBJECT

private:
    /// Runs a graph on the inputs of NAME.bin and compares all outputs.
    static void compare(const Graph& g, const QString& name, double tolerance)
    {
        auto stored = readFile(kFolder / (name.toStdString() + ".bin"));
        QVERIFY2(stored, stored ? "" : stored.error().message.c_str());
        std::string_view bytes = *stored;
        std::vector<HostTensor> inputs;
        for (const ValueId id : g.inputs)
            inputs.push_back(take(bytes, {g.value(id).dtype, g.value(id).shape}));
        auto outputs = interpret(g, inputs);
        QVERIFY2(outputs, outputs ? "" : outputs.error().message.c_str());
        QVERIFY(!outputs->empty());
        for (std::size_t i = 0; i < outputs->size(); ++i) {
            const Value& value = g.value(g.outputs[i]);
            const HostTensor& got = (*outputs)[i];
            QCOMPARE(typeText(got.type), typeText({value.dtype, value.shape}));
            const HostTensor expected = take(bytes, got.type);
            QVERIFY2(expected.bytes.size() == got.bytes.size(), value.name.c_str());
            if (!isFloat(got.type.dtype)) {
                const auto is = operators::readInts(got), due = operators::readInts(expected);
                const auto at = std::ranges::mismatch(is, due).in1 - is.begin();
                if (is != due)
                    QFAIL(qPrintable(QString("output %1 differs at %2: %3 instead of %4")
                                         .arg(QString::fromStdString(value.name))
                                         .arg(at)
                                         .arg(is[static_cast<std::size_t>(at)])
                                         .arg(due[static_cast<std::size_t>(at)])));
                continue;
            }
            const double error = distance(got, expected);
            QVERIFY2(error <= tolerance,
                     qPrintable(QString("output %1 is off by %2").arg(QString::fromStdString(value.name)).arg(error)));
        }
        QVERIFY2(bytes.empty(), "the outputs are smaller than those of ONNX Runtime");
    }

    static Result<Graph> importModel(const QString& name)
    {
        frontend::ImportOptions options;
        if (name.startsWith("shapes"))
            options.batch = 2;
        return frontend::importOnnx(kFolder / (name.toStdString() + ".onnx"), options);
    }

private slots:
    void importedModelsComputeWhatOnnxRuntimeComputes_data() { nameAllCases(); }
    void importedModelsComputeWhatOnnxRuntimeComputes()
    {
        QFETCH(QString, name);
        auto g = importModel(name);
        QVERIFY2(g, g ? "" : g.error().message.c_str());
        compare(*g, name, name == "half" ? 1e-3 : 1e-5);
    }

    /// Integers to the last one.
    void operatorsOfOnnxRuntimeComputeTheSame_data() { nameContribCases(); }
    void operatorsOfOnnxRuntimeComputeTheSame()
    {
        QFETCH(QString, name);
        auto g = importModel(name);
        QVERIFY2(g, g ? "" : g.error().message.c_str());
        compare(*g, name, name.endsWith("half") ? 1e-3 : 2e-5);
    }

    /// Networks on integers with scales, to the last number.
    void exportedQuantizedModelsComputeTheSameAfterReimport_data()
    {
        QTest::addColumn<QString>("name");
        for (const char* name : {"contrib_convolutions", "contrib_net_dynamic", "contrib_net_operators",
                                 "contrib_net_pairs", "contrib_products", "contrib_quantized"})
            QTest::newRow(name) << QString(name);
    }
    void exportedQuantizedModelsComputeTheSameAfterReimport()
    {
        QFETCH(QString, name);
        const auto g = importModel(name);
        QVERIFY(g);
        const auto bytes = frontend::exportOnnx(*g);
        QVERIFY2(bytes, bytes ? "" : bytes.error().message.c_str());
        const auto again = frontend::importOnnx(*bytes);
        QVERIFY2(again, again ? "" : again.error().message.c_str());
        compare(*again, name, 2e-5);
    }

    void exportedModelsComputeTheSameAfterReimport_data() { nameAllCases(); }
    void exportedModelsComputeTheSameAfterReimport()
    {
        QFETCH(QString, name);
        auto g = importModel(name);
        QVERIFY(g);
        auto bytes = frontend::exportOnnx(*g);
        if (!bytes) {
            // Operators newer than the opset that is written are refused by name.
            QVERIFY(bytes.error().code == Errc::Unsupported);
            QVERIFY2(name == "activations" || name == "arithmetic", bytes.error().message.c_str());
            return;
        }
        auto again = frontend::importOnnx(*bytes);
        QVERIFY2(again, again ? "" : again.error().message.c_str());
        compare(*again, name, name == "half" ? 1e-3 : 1e-5);
    }
};

LATHE_TEST(TestOnnxGoldens)

} // namespace tst_onnx_goldens

#include "tst_onnx_goldens.moc"
