#include "compiled_model.h"
#include "core/frontend/onnx.h"
#include "core/support/files.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cmath>

namespace tst_contrib {

using namespace lathe;
using namespace lathe::test;

namespace {

const std::filesystem::path kFolder = std::filesystem::path(LATHE_TEST_DATA) / "onnx";

/// Cuts the next tensor of a type off a NAME.bin.
graph::HostTensor take(std::string_view& bytes, graph::TensorType type)
{
    graph::HostTensor tensor = graph::HostTensor::zeros(std::move(type));
    if (bytes.size() < tensor.bytes.size())
        qFatal("the golden is too short");
    std::memcpy(tensor.bytes.data(), bytes.data(), tensor.bytes.size());
    bytes.remove_prefix(tensor.bytes.size());
    return tensor;
}

} // namespace

/// Operators of ONNX Runtime's own and of quantized tensors, compiled whole with default schedules, against what ONNX
/// Runtime computed (make_contrib_goldens.py). Integers to the last one.
class TestContrib : public QObject
{
    Q_OBJECT

private slots:
    void compiledModelsComputeWhatOnnxRuntimeComputes_data()
    {
        QTest::addColumn<QString>("name");
        for (const char* name :
             {"attention", "convolutions", "fused", "linear", "net_dynamic", "net_functions", "net_fused",
              "net_operators", "net_pairs", "norms", "norms_half", "products", "quantized"})
            QTest::newRow(name) << QString("contrib_") + name;
    }
    void compiledModelsComputeWhatOnnxRuntimeComputes()
    {
        QFETCH(QString, name);
        const std::filesystem::path file = kFolder / (name.toStdString() + ".onnx");
        const auto imported = frontend::importOnnx(file);
        QVERIFY2(imported, imported ? "" : imported.error().message.c_str());
        const auto stored = readFile(kFolder / (name.toStdString() + ".bin"));
        QVERIFY(stored);
        std::string_view bytes = *stored;
        CompiledModel model;
        for (const graph::ValueId id : imported->inputs)
            model.input(take(bytes, {imported->value(id).dtype, imported->value(id).shape}));
        const Result<> compiled = model.compileFile(file);
        QVERIFY2(compiled, compiled ? "" : compiled.error().message.c_str());
        for (const std::string& output : model.names()) {
            const graph::HostTensor& got = model.compiled(output);
            const graph::HostTensor due = take(bytes, got.type);
            const auto is = graph::operators::readFloats(got), want = graph::operators::readFloats(due);
            double largest = 1e-30;
            for (const double value : want)
                largest = std::max(largest, std::fabs(value));
            const double bound = !isFloat(got.type.dtype) ? 0 : (name.endsWith("half") ? 1e-3 : 2e-5) * largest;
            for (std::size_t i = 0; i < want.size(); ++i)
                QVERIFY2(std::fabs(is[i] - want[i]) <= bound, qPrintable(QString("output %1 at %2: %3 instead of %4")
                                                                             .arg(QString::fromStdString(output))
                                                                             .arg(i)
                                                                             .arg(is[i])
                                                                             .arg(want[i])));
        }
        QVERIFY(bytes.empty());
    }
};

LATHE_TEST(TestContrib)

} // namespace tst_contrib

#include "tst_contrib.moc"
