// Results that are as large as the data says: compiled networks against ONNX Runtime (tests/data/sized), and what is
// refused.

#include "compiled_model.h"
#include "core/deploy/verify.h"
#include "core/frontend/onnx.h"
#include "core/graph/node_types.h"
#include "core/graph/operators/element.h"
#include "core/support/files.h"
#include "tests/support/test_program.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QTest>

#include <cmath>

namespace tst_sized_results {

using namespace lathe;
using namespace lathe::test;

namespace {

const std::filesystem::path kFolder = std::filesystem::path(LATHE_TEST_DATA) / "sized";

template<typename T>
T cut(std::string_view& bytes)
{
    T value{};
    if (bytes.size() < sizeof value)
        qFatal("the golden file is too short");
    std::memcpy(&value, bytes.data(), sizeof value);
    bytes.remove_prefix(sizeof value);
    return value;
}

graph::HostTensor cutTensor(std::string_view& bytes, graph::TensorType type)
{
    graph::HostTensor tensor = graph::HostTensor::zeros(std::move(type));
    if (bytes.size() < tensor.bytes.size())
        qFatal("the golden file is too short");
    std::memcpy(tensor.bytes.data(), bytes.data(), tensor.bytes.size());
    bytes.remove_prefix(tensor.bytes.size());
    return tensor;
}

/// Empty, or what is off: whole numbers must be equal, floats within 1e-5 of the largest.
std::string difference(const graph::HostTensor& got, const graph::HostTensor& want)
{
    if (got.type != want.type)
        return graph::typeText(got.type) + " instead of " + graph::typeText(want.type);
    if (!isFloat(got.type.dtype))
        return got.bytes == want.bytes ? "" : "other numbers";
    const auto x = graph::operators::readFloats(got), y = graph::operators::readFloats(want);
    double largest = 1e-30;
    for (const double value : y)
        largest = std::max(largest, std::abs(value));
    for (std::size_t i = 0; i < x.size(); ++i)
        if (!(std::abs(x[i] - y[i]) <= 1e-5 * largest))
            return "element " + std::to_string(i) + " is " + std::to_string(x[i]) + " instead of "
                   + std::to_string(y[i]);
    return {};
}

} // namespace

class TestSizedResults : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase() { skipWhereThereIsNoDevice(); }

    void networksGiveWhatOnnxRuntimeGives_data()
    {
        QTest::addColumn<QString>("name");
        for (const char* const name : {"counted_loop", "detector_head", "proposals", "shapes_of_data", "different"})
            QTest::newRow(name) << QString(name);
    }
    void networksGiveWhatOnnxRuntimeGives()
    {
        QFETCH(QString, name);
        session::ModelSpec spec;
        spec.source = (kFolder / (name.toStdString() + ".onnx")).string();
        const auto loaded = session::loadModel(spec, "cpu");
        QVERIFY2(loaded, loaded ? "" : loaded.error().message.c_str());
        const session::LoadedModel& model = **loaded;
        const auto choices = session::chooseKernels(model, nullptr, {});
        QVERIFY2(choices, choices ? "" : choices.error().message.c_str());
        const auto compiler = must(deploy::makeBuilderCompiler("cpu", 2, std::chrono::minutes(2)));
        const QTemporaryDir folder;
        deploy::LibraryOptions options;
        options.output = folder.filePath("model.so").toStdString();
        auto staged = deploy::buildLibrary(model.graph, model.partition, choices->choices, *compiler, options);
        QVERIFY2(staged, staged ? "" : staged.error().message.c_str());
        const auto library = must(InProcessLibrary::open(staged->file, {.threads = 2}));

        const std::string stored = must(readFile(kFolder / (name.toStdString() + ".bin")));
        std::string_view bytes = stored;
        int runs = 0;
        for (; !bytes.empty(); ++runs) {
            deploy::LibraryRunRequest request;
            for (const graph::ValueId id : model.imported.inputs)
                request.inputs.push_back(
                    cutTensor(bytes, {model.imported.value(id).dtype, model.imported.value(id).shape}));
            const auto run = library->run(request);
            QVERIFY2(run, run ? "" : run.error().message.c_str());
            const auto asRead = graph::interpret(model.imported, request.inputs);
            QVERIFY2(asRead, asRead ? "" : asRead.error().message.c_str());
            const auto rewritten = graph::interpret(model.optimized, request.inputs);
            QVERIFY2(rewritten, rewritten ? "" : rewritten.error().message.c_str());
            for (std::size_t i = 0; i < run->outputs.size(); ++i) {
                graph::TensorType type{library->outputs()[i].type.dtype, {}};
                type.shape.resize(static_cast<std::size_t>(cut<std::int64_t>(bytes)));
                for (std::int64_t& extent : type.shape)
                    extent = cut<std::int64_t>(bytes);
                const graph::HostTensor want = cutTensor(bytes, type);
                const std::string where = " of " + library->outputs()[i].name + " in run " + std::to_string(runs);
                for (const auto& [who, got] :
                     {std::pair("as read", &(*asRead)[i]), std::pair("after the passes", &(*rewritten)[i]),
                      std::pair("compiled", &run->outputs[i])}) {
                    const std::string off = difference(*got, want);
                    QVERIFY2(off.empty(), (who + where + ": " + off).c_str());
                }
            }
        }
        QVERIFY(runs >= 3);

        const auto files = deploy::publishLibrary(*staged, {});
        QVERIFY2(files, files ? "" : files.error().message.c_str());
        QFile description(QString::fromStdString(files->description.string()));
        QVERIFY(description.open(QIODevice::ReadOnly));
        const QJsonArray outputs = QJsonDocument::fromJson(description.readAll())["outputs"].toArray();
        for (std::size_t i = 0; i < library->outputs().size(); ++i) {
            std::vector<std::int32_t> axes;
            for (const auto axis : outputs[static_cast<qsizetype>(i)]["dynamic_axes"].toArray())
                axes.push_back(axis.toInt());
            QCOMPARE(axes, library->outputs()[i].dynamicAxes);
        }
    }

    void theMostAndTheTrueSizeAreTold()
    {
        CompiledModel model;
        model.input<float>("x", wire::Float, {3, 4}, {0, 1, 0, 2, 0, 0, 0, 0, 3, 0, 0, 0});
        model.node("NonZero", {"x"}, "places");
        const auto done = model.compile();
        QVERIFY2(done, done ? "" : done.error().message.c_str());
        const deploy::PortInfo& port = model.library().outputs()[0];
        QCOMPARE(port.type.shape, (std::vector<std::int64_t>{2, 12}));
        QCOMPARE(port.dynamicAxes, (std::vector<std::int32_t>{1}));
        for (const graph::HostTensor* const tensor : {&model.compiled("places"), &model.evaluated("places")}) {
            QCOMPARE(tensor->type.shape, (std::vector<std::int64_t>{2, 3}));
            QCOMPARE(valuesOf<std::int64_t>(*tensor), (std::vector<std::int64_t>{0, 0, 2, 1, 3, 0}));
        }
        const auto evaluate = [](const graph::Graph& network, const std::vector<graph::HostTensor>& inputs) {
            return graph::interpret(network, inputs);
        };
        const auto report = deploy::verifyLibrary(model.library(), evaluate, model.imported(), nullptr, {});
        QVERIFY2(report && report->passed, report ? report->text.c_str() : report.error().message.c_str());
        QVERIFY2(report->text.find("'places' was [2, 12] of at most [2, 12]") != std::string::npos,
                 report->text.c_str());
    }

    void whatCannotFollowASizeIsRefusedByName_data()
    {
        QTest::addColumn<QString>("op");
        QTest::addColumn<QStringList>("inputs");
        QTest::addColumn<QString>("sentence");
        QTest::newRow("no rule") << "Resize" << QStringList{"column"}
                                 << "input \"column\" of data-dependent size of Resize";
        QTest::newRow("two sizes") << "Add" << QStringList{"flat", "other"}
                                   << "inputs whose sizes depend on data in different ways of Add";
        QTest::newRow("a known size") << "Add" << QStringList{"flat", "twelve"}
                                      << "inputs whose sizes depend on data in different ways of Add";
        QTest::newRow("a shape of its own")
            << "Reshape" << QStringList{"flat", "shape"} << "a shape with a data-dependent size";
        QTest::newRow("scatter") << "ScatterElements" << QStringList{"twelve", "flat", "flat"} << "input \"flat\"";
    }
    void whatCannotFollowASizeIsRefusedByName()
    {
        QFETCH(QString, op);
        QFETCH(QStringList, inputs);
        QFETCH(QString, sentence);
        CompiledModel model;
        model.input<float>("x", wire::Float, {12}, std::vector<float>(12, 1));
        model.input<float>("z", wire::Float, {12}, std::vector<float>(12, 1));
        model.input<std::int64_t>("twelve", wire::Int64, {12}, std::vector<std::int64_t>(12, 1));
        model.input<std::int64_t>("shape", wire::Int64, {2}, {3, 4});
        model.node("NonZero", {"x"}, "row");
        model.node("Transpose", {"row"}, "column");
        model.node("NonZero", {"z"}, "otherRow");
        model.node("Reshape", {"row", "minus"}, "flat");
        model.node("Reshape", {"otherRow", "minus"}, "other");
        model.model().initializers.push_back(wire::tensor("minus", wire::Int64, {1}, wire::ints({-1})));
        std::vector<std::string> names;
        for (const QString& name : inputs)
            names.push_back(name.toStdString());
        model.node(op.toStdString(), names, "y");
        const auto done = model.compile();
        QVERIFY(!done);
        QVERIFY(done.error().code == Errc::Unsupported);
        QVERIFY2(done.error().message.find(sentence.toStdString()) != std::string::npos, done.error().message.c_str());
    }
};

LATHE_TEST(TestSizedResults)

} // namespace tst_sized_results

#include "tst_sized_results.moc"
