#include "compiled_model.h"
#include "core/deploy/library.h"
#include "core/deploy/verify.h"
#include "core/frontend/onnx.h"
#include "core/frontend/onnx_export.h"
#include "core/graph/operators/element.h"
#include "core/graph/passes.h"
#include "core/session/exports/kernel_choices.h"
#include "core/session/loaded_model.h"
#include "core/support/files.h"
#include "tests/support/in_process_library.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tst_control_flow {

using namespace lathe;
using graph::HostTensor;
using test::must;

namespace {

const std::filesystem::path kFolder = std::filesystem::path(LATHE_TEST_DATA) / "control";

/// One run of a model: what goes in, and what ONNX Runtime made of it.
struct Run
{
    std::vector<HostTensor> inputs, outputs;
};

std::vector<Run> runsOf(const graph::Graph& network, const std::filesystem::path& file)
{
    const std::string bytes = must(readFile(file));
    std::string_view rest = bytes;
    const auto take = [&](const std::vector<graph::ValueId>& ids) {
        std::vector<HostTensor> tensors;
        for (const graph::ValueId id : ids) {
            tensors.push_back(HostTensor::zeros({network.value(id).dtype, network.value(id).shape}));
            if (rest.size() < tensors.back().bytes.size())
                qFatal("%s is too short", file.c_str());
            std::memcpy(tensors.back().bytes.data(), rest.data(), tensors.back().bytes.size());
            rest.remove_prefix(tensors.back().bytes.size());
        }
        return tensors;
    };
    std::vector<Run> runs;
    while (!rest.empty()) {
        std::vector<HostTensor> inputs = take(network.inputs);
        runs.push_back({std::move(inputs), take(network.outputs)});
    }
    return runs;
}

/// What is off, in a sentence; empty if nothing is.
std::string difference(const std::vector<HostTensor>& got, const std::vector<HostTensor>& wanted,
                       const graph::Graph& network)
{
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        auto x = graph::operators::readFloats(got.at(i));
        const auto y = graph::operators::readFloats(wanted[i]);
        const bool mayBeShorter = std::ranges::any_of(network.outputExtents, [&](const graph::OutputExtent& extent) {
            return extent.output == static_cast<std::int32_t>(i);
        });
        if (mayBeShorter && x.size() < y.size())
            x.resize(y.size(), 0.0); // as the file has it
        if (x.size() != y.size())
            return network.outputName(i) + " has another size";
        for (std::size_t k = 0; k < y.size(); ++k)
            if (!(std::fabs(x[k] - y[k]) <= (isFloat(wanted[i].type.dtype) ? 2e-5 * (1 + std::fabs(y[k])) : 0)))
                return network.outputName(i) + "[" + std::to_string(k) + "] is " + std::to_string(x[k]) + " instead of "
                       + std::to_string(y[k]);
    }
    return {};
}

/// A loop of at most `trips` iterations over (i, go, v).
std::string loop(const std::vector<std::string>& nodes, const std::vector<std::string>& outputs,
                 const std::vector<std::string>& initial, const std::vector<std::string>& results)
{
    std::string body = wire::bytes(2, "body");
    for (const std::string& node : nodes)
        body += wire::bytes(1, node);
    for (const std::string& input :
         {wire::info("i", {}, wire::Int64), wire::info("go", {}, wire::Bool), wire::info("v", {})})
        body += wire::bytes(11, input);
    for (const std::string& output : outputs)
        body += wire::bytes(12, wire::info(output, {}));
    std::vector<std::string> inputs = {"trips", ""};
    inputs.insert(inputs.end(), initial.begin(), initial.end());
    return wire::node("Loop", inputs, results, "around",
                      wire::bytes(5, wire::bytes(1, "body") + wire::bytes(6, body) + wire::number(20, 5)));
}

} // namespace

/// Models of tests/data/control, whose outputs ONNX Runtime computed (make_control.py).
class TestControlFlow : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase() { test::skipWhereThereIsNoDevice(); }

    void modelsComputeWhatOnnxRuntimeComputes_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("target");
        for (const char* const name : {"branches", "convolutions", "counted", "decoder", "decoder_rows", "nested",
                                       "scans", "trading", "trading_large", "until_small", "voice_detector"})
            for (const char* const target : {"cpu", "cpu -threads=3"})
                QTest::addRow("%s, %s", name, target) << QString(name) << QString(target);
    }
    void modelsComputeWhatOnnxRuntimeComputes()
    {
        QFETCH(QString, name);
        QFETCH(QString, target);
        session::ModelSpec spec;
        spec.source = (kFolder / (name.toStdString() + ".onnx")).string();
        const auto model = must(session::loadModel(spec, target.toStdString()));
        QVERIFY(!model->graph.regions.empty());
        const std::vector<Run> runs = runsOf(model->imported, kFolder / (name.toStdString() + ".bin"));
        for (const Run& run : runs) {
            const std::string imported = difference(must(graph::interpret(model->imported, run.inputs)), run.outputs,
                                                    model->imported);
            QVERIFY2(imported.empty(), ("as imported: " + imported).c_str());
            const std::string optimized = difference(must(graph::interpret(model->optimized, run.inputs)), run.outputs,
                                                     model->imported);
            QVERIFY2(optimized.empty(), ("after the passes: " + optimized).c_str());
        }
        const session::KernelChoices choices = must(session::chooseKernels(*model, nullptr, {}));
        const auto compiler = must(deploy::makeBuilderCompiler(target.toStdString(), 2, std::chrono::minutes(2)));
        QTemporaryDir folder;
        deploy::LibraryOptions options;
        options.output = folder.filePath("model.so").toStdString();
        const deploy::StagedLibrary staged = must(
            deploy::buildLibrary(model->graph, model->partition, choices.choices, *compiler, options));
        // Small values are copied where one iteration hands over to the next, large ones trade places with their
        // successors.
        const auto isSwap = [](const deploy::InstructionReport& instruction) { return instruction.kind == "swap"; };
        QCOMPARE(std::ranges::any_of(staged.variants.at(0).image.instructions, isSwap), name == "trading_large");
        const auto library = must(test::InProcessLibrary::open(staged.file, {.threads = model->target.threads()}));
        for (int round = 0; round < 2; ++round) // what one run leaves behind does not show in the next
            for (const Run& run : runs) {
                deploy::LibraryRunRequest request;
                request.inputs = run.inputs;
                const std::string compiled = difference(must(library->run(request)).outputs, run.outputs,
                                                        model->imported);
                QVERIFY2(compiled.empty(), ("compiled: " + compiled).c_str());
            }
    }

    /// The rows of a loop that ends early go into a softmax: all that exist are compared, and nothing else.
    void rowsThatGoIntoASoftmaxAreVerified()
    {
        test::CompiledModel m;
        m.input<float>("x", wire::Float, {4}, {0.5F, 0.25F, -0.5F, 1});
        // A large tensor first, whose place the rows may take.
        m.model().nodes.push_back(wire::node("Expand", {"x", "wide"}, {"large"}, "large"));
        m.model().nodes.push_back(
            wire::node("ReduceSum", {"large", "first"}, {"start"}, "start", wire::intAttribute("keepdims", 0)));
        m.model().nodes.push_back(
            loop({wire::node("Add", {"v", "v"}, {"next"}), wire::node("Neg", {"next"}, {"row"}),
                  wire::node("ReduceMax", {"next"}, {"top"}, {}, wire::intAttribute("keepdims", 0)),
                  wire::node("Less", {"top", "limit"}, {"still"})},
                 {"still", "next", "row"}, {"start"}, {"last", "logits"}));
        m.model().nodes.push_back(wire::node("Softmax", {"logits"}, {"y"}, "y", wire::intAttribute("axis", 1)));
        m.model().outputs = {wire::info("y", {})};
        m.model().initializers = {wire::tensor("wide", wire::Int64, {2}, wire::ints({64, 4})),
                                  wire::tensor("first", wire::Int64, {1}, wire::ints({0})),
                                  wire::tensor("trips", wire::Int64, {}, wire::ints({40})),
                                  wire::tensor("limit", wire::Float, {}, wire::floats({300}))};
        const auto compiled = m.compile();
        QVERIFY2(compiled, compiled ? "" : compiled.error().message.c_str());
        QCOMPARE(m.compiled("y").type.shape, (std::vector<std::int64_t>{3, 4})); // 128, 256, 512
        const auto report = must(deploy::verifyLibrary(m.library(), graph::interpret, m.imported(), nullptr, {}));
        QVERIFY2(report.passed, report.text.c_str());
        QVERIFY2(report.notCompared.empty(), report.text.c_str());
        QCOMPARE(report.kinds.at(0).outputs.size(), std::size_t{2}); // y, and what goes into it

        // Seen is what the last iteration left, not the first, with rows behind it that another run wrote.
        deploy::LibraryRunRequest request;
        request.inputs = {HostTensor::zeros({DType::F32, {4}})};
        const std::vector<float> other = {1, 0.5F, -1, 2};
        std::memcpy(request.inputs[0].bytes.data(), other.data(), request.inputs[0].bytes.size());
        request.observe = {report.kinds.at(0).outputs.at(1).name};
        const deploy::LibraryRun run = must(m.library().run(request));
        QCOMPARE(run.observed.size(), std::size_t{1});
        const auto rows = graph::operators::readFloats(run.observed[0].second);
        QCOMPARE(std::vector<double>(rows.begin(), rows.begin() + 8),
                 (std::vector<double>{-128, -64, 128, -256, -256, -128, 256, -512}));
    }

    void functionsInALoopAreCountedAsOftenAsTheyRun()
    {
        test::CompiledModel m;
        m.input<float>("x", wire::Float, {4}, {0.5F, 0.25F, -0.5F, 1});
        m.model().nodes.push_back(loop({wire::node("TopK", {"v", "two"}, {"best", "places"}),
                                        wire::node("Neg", {"v"}, {"next"}), wire::node("Identity", {"go"}, {"still"})},
                                       {"still", "next", "places"}, {"x"}, {"y", "rows"}));
        m.model().outputs = {wire::info("rows", {}, wire::Int64)};
        m.model().initializers = {wire::tensor("trips", wire::Int64, {}, wire::ints({40})),
                                  wire::tensor("two", wire::Int64, {1}, wire::ints({2}))};
        const auto compiled = m.compile();
        QVERIFY2(compiled, compiled ? "" : compiled.error().message.c_str());
        int kernels = 0;
        for (const deploy::InstructionReport& instruction : m.instructions())
            if (instruction.kind == "kernel") {
                ++kernels;
                QVERIFY2(instruction.runs == 40, instruction.name.c_str());
            }
        QVERIFY(kernels >= 2); // one of these sorts
    }

    /// The other branch computes its result in the place of what it reads last, which this one still needs behind that.
    void aBranchDoesNotOverwriteWhatItStillReads()
    {
        const auto body = [](const std::string& name, const std::vector<std::string>& nodes,
                             const std::vector<std::string>& outputs) {
            std::string text;
            for (const std::string& node : nodes)
                text += wire::bytes(1, node);
            text += wire::bytes(2, name);
            for (const std::string& output : outputs)
                text += wire::bytes(12, wire::info(output, {}));
            return wire::bytes(5, wire::bytes(1, name) + wire::bytes(6, text) + wire::number(20, 5));
        };
        const std::string axes = wire::intsAttribute("axes", {1});
        std::vector<float> x;
        for (int i = 0; i < 32; ++i)
            x.push_back(0.1F * static_cast<float>(i) - 1);
        test::CompiledModel model;
        model.input("x", wire::Float, {4, 8}, x);
        model.input("flag", wire::Bool, {}, std::vector<std::uint8_t>{1});
        model.model().initializers = {wire::tensor("two", wire::Float, {}, wire::floats({2}))};
        model.model().nodes = {wire::node("Sigmoid", {"x"}, {"v"}, "before"),
                               wire::node("If", {"flag"}, {"r", "s"}, "fork",
                                          body("then_branch",
                                               {wire::node("Exp", {"v"}, {"r1"}, "first"),
                                                wire::node("ReduceMax", {"v"}, {"s1"}, "then", axes)},
                                               {"r1", "s1"})
                                              + body("else_branch",
                                                     {wire::node("Neg", {"v"}, {"r2"}, "last"),
                                                      wire::node("ReduceMax", {"x"}, {"s2"}, "other", axes)},
                                                     {"r2", "s2"})),
                               wire::node("Mul", {"r", "two"}, {"y"}, "twice"),
                               wire::node("Mul", {"s", "two"}, {"z"}, "also")};
        model.model().outputs = {wire::info("y", {}), wire::info("z", {})};
        must(model.compile());
        for (const std::string& name : {std::string("y"), std::string("z")}) {
            const auto got = test::valuesOf<float>(model.compiled(name)),
                       want = test::valuesOf<float>(model.evaluated(name));
            for (std::size_t i = 0; i < want.size(); ++i)
                QVERIFY2(std::abs(got[i] - want[i]) < 1e-5F,
                         qPrintable(QString("%1[%2] is %3, not %4").arg(name.c_str()).arg(i).arg(got[i]).arg(want[i])));
        }
    }

    void exportedModelsComputeTheSameAfterReimport_data()
    {
        QTest::addColumn<QString>("name");
        for (const char* const name :
             {"control/branches", "control/convolutions", "control/counted", "control/decoder", "control/decoder_rows",
              "control/nested", "control/scans", "control/trading", "control/until_small", "control/voice_detector"})
            QTest::newRow(name) << QString(name);
    }
    void exportedModelsComputeTheSameAfterReimport()
    {
        QFETCH(QString, name);
        const std::string file = std::string(LATHE_TEST_DATA) + "/" + name.toStdString();
        const graph::Graph network = must(frontend::importOnnx(file + ".onnx"));
        const std::vector<std::byte> bytes = must(frontend::exportOnnx(network));
        const graph::Graph again = must(frontend::importOnnx(bytes));
        QCOMPARE(again.outputs.size(), network.outputs.size());
        QCOMPARE(again.outputExtents.size(), network.outputExtents.size());
        for (std::size_t i = 0; i < network.inputs.size(); ++i)
            QCOMPARE(again.value(again.inputs[i]).name, network.value(network.inputs[i]).name);
        for (std::size_t i = 0; i < network.outputs.size(); ++i)
            QCOMPARE(again.outputName(i), network.outputName(i));
        for (const Run& run : runsOf(network, file + ".bin")) {
            const std::string off = difference(must(graph::interpret(again, run.inputs)), run.outputs, network);
            QVERIFY2(off.empty(), off.c_str());
        }
    }
};

LATHE_TEST_GUILESS(TestControlFlow)

} // namespace tst_control_flow

#include "tst_control_flow.moc"
