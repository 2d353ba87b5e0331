#include "../frontend/wire_writer.h"
#include "core/frontend/onnx.h"
#include "core/graph/passes.h"
#include "core/session/loaded_model.h"
#include "core/session/options/options_json.h"
#include "core/support/files.h"
#include "tests/support/own_bytes.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>

namespace tst_loaded_model {

using namespace lathe;
using test::ownBytes;

namespace {

constexpr std::int64_t kSide = 1024;

/// Initializers that follow one another in "w.bin", a file that takes no room on the disk.
struct Weights
{
    std::int64_t end = 0;
    int count = 0;

    std::string next(const std::vector<std::int64_t>& shape, wire::DataType type, std::int64_t elementBytes)
    {
        std::int64_t bytes = elementBytes;
        for (const std::int64_t extent : shape)
            bytes *= extent;
        end += bytes;
        return wire::external("w" + std::to_string(count++), shape,
                              {{"location", "w.bin"}, {"offset", std::to_string(end - bytes)}}, type);
    }
    std::string last() const { return "w" + std::to_string(count - 1); }
};

std::vector<float> filled(std::size_t count, float value)
{
    return std::vector<float>(count, value);
}

/// All ways that weights take: a convolution with a batch norm, products of matrices stored either way, of batches, of
/// half floats, of integers with a scale, and parts of one matrix. `repeat` times, one after the other.
wire::Model manyWays(Weights& weights, int repeat)
{
    wire::Model m;
    m.inputs = {wire::info("image", {1, kSide, 2, 2}), wire::info("text", {1, 4, kSide})};
    const auto vectorOf = [&](const char* name, float value) {
        m.initializers.push_back(wire::tensor(name, wire::Float, {kSide}, wire::floats(filled(kSide, value))));
    };
    vectorOf("scale", 2);
    vectorOf("shift", 1);
    vectorOf("variance", 1);
    m.initializers.push_back(wire::tensor("step", wire::Float, {}, wire::floats({0.5F})));
    m.initializers.push_back(wire::tensor("halves", wire::Int64, {2}, wire::ints({kSide / 2, kSide / 2})));
    int made = 0;
    const auto op = [&](const char* name, std::vector<std::string> inputs, const std::string& attributes = {}) {
        std::string output = "v" + std::to_string(made++);
        m.nodes.push_back(wire::node(name, inputs, {output}, {}, attributes));
        return output;
    };
    const auto weight = [&](wire::DataType type = wire::Float, std::int64_t bytes = 4) {
        m.initializers.push_back(weights.next({kSide, kSide}, type, bytes));
        return weights.last();
    };
    std::string image = "image", text = "text";
    for (int i = 0; i < repeat; ++i) {
        m.initializers.push_back(weights.next({kSide, kSide, 1, 1}, wire::Float, 4));
        image = op("Relu", {op("BatchNormalization",
                               {op("Conv", {image, weights.last()}), "scale", "shift", "shift", "variance"})});
        text = op("Tanh", {op("Add", {op("MatMul", {text, weight()}), "shift"})});
        text = op("MatMul", {text, op("Cast", {weight(wire::Float16, 2)}, wire::intAttribute("to", 1))});
        text = op("MatMul", {text, op("DequantizeLinear", {weight(wire::Int8, 1), "step"})});
        const std::string whole = weight();
        const std::string left = "left" + std::to_string(i), right = "right" + std::to_string(i);
        m.nodes.push_back(wire::node("Split", {whole, "halves"}, {left, right}, {}, wire::intAttribute("axis", 1)));
        text = op("Concat", {op("MatMul", {text, right}), op("MatMul", {text, left})}, wire::intAttribute("axis", -1));
    }
    const std::string rows = op("Flatten", {op("GlobalAveragePool", {image})});
    m.outputs = {wire::info(op("Gemm", {rows, weight(), "shift"}, wire::intAttribute("transB", 1)), {}),
                 wire::info(text, {})};
    return m;
}

} // namespace

/// What every command on a model begins with.
class TestLoadedModel : public QObject
{
    Q_OBJECT

private slots:
    void weightsInFilesAreCopiedByNoPass_data()
    {
        QTest::addColumn<QString>("partition");
        QTest::newRow("lathe") << "lathe";
        QTest::newRow("reference") << "reference";
    }
    void weightsInFilesAreCopiedByNoPass()
    {
        QFETCH(QString, partition);
        auto dir = TempDir::create();
        QVERIFY(dir);
        Weights weights;
        const std::string model = manyWays(weights, 8).write();
        QVERIFY(writeFileAtomically(dir->path() / "m.onnx", model));
        std::ofstream(dir->path() / "w.bin", std::ios::binary).close();
        std::filesystem::resize_file(dir->path() / "w.bin",
                                     frontend::ImportOptions().mapFrom); // smaller ones are copied
        const std::int64_t before = ownBytes();
        QVERIFY(before > 0);
        session::ModelSpec spec;
        spec.source = (dir->path() / "m.onnx").string();
        spec.partition = partition.toStdString();
        const auto loaded = session::loadModel(spec, "cpu");
        QVERIFY2(loaded, loaded ? "" : loaded.error().message.c_str());
        int large = 0;
        for (const graph::Value& value : (*loaded)->graph.values) {
            if (!value.constant || value.constant->bytes < graph::kLargeConstant)
                continue;
            large += 1;
            QVERIFY2(value.constant->inFile(), value.name.c_str());
        }
        QCOMPARE(large, 8 * 6 + 1);
        const std::int64_t grown = ownBytes() - before;
        QVERIFY2(grown < weights.end / 4, qPrintable(QString("%1 MiB of %2").arg(grown >> 20).arg(weights.end >> 20)));
    }

    void passesAreLeftOutByName()
    {
        session::ModelSpec spec;
        spec.source = "zoo:mlp";
        const auto usual = session::loadModel(spec, "cpu");
        QVERIFY(usual);
        QVERIFY((*usual)->partition.subgraphs.size() < (*usual)->graph.nodes.size());
        spec.withoutPasses = {"fuse", "fuse-rows", "fuse-inputs"};
        const auto apart = session::loadModel(spec, "cpu");
        QVERIFY(apart);
        QCOMPARE((*apart)->partition.subgraphs.size(), (*apart)->graph.nodes.size());
        spec.withoutPasses = {"fuse-everything"};
        const auto refused = session::loadModel(spec, "cpu");
        QVERIFY(!refused);
        QVERIFY(refused.error().code == Errc::InvalidArgument);
        QVERIFY(QString::fromStdString(refused.error().message).contains("fold-constants"));
    }

    void aPassLogIsAmongTheNoticesWhereItIsWanted()
    {
        session::ModelSpec spec;
        spec.source = "zoo:mlp";
        spec.withoutPasses = {"fuse-rows"};
        const auto silent = session::loadModel(spec, "cpu");
        QVERIFY(silent);
        QVERIFY((*silent)->notices.empty());
        spec.passLog = true;
        const auto told = session::loadModel(spec, "cpu");
        QVERIFY(told);
        QCOMPARE((*told)->notices.size(), (*told)->passes.size());
        QVERIFY(textOf((*told)->notices.front()).starts_with("pass convert-layout: "));
        const auto saysLeftOut = [](const Message& notice) { return textOf(notice) == "pass fuse-rows: left out"; };
        QVERIFY(std::ranges::any_of((*told)->notices, saysLeftOut));
    }

    void aSoftmaxIsAppendedWhereItIsWanted()
    {
        const auto dir = TempDir::create();
        QVERIFY(dir);
        session::ModelSpec spec;
        spec.softmax = true;
        const auto load = [&](const std::vector<std::string>& nodes, const std::vector<std::string>& outputs,
                              wire::DataType type = wire::Float) {
            wire::Model m{nodes, {}, {wire::info("x", {2, 3}, type), wire::info("v", {3})}, {}, 17};
            for (const std::string& output : outputs)
                m.outputs.push_back(wire::info(output, {}));
            spec.source = (dir->path() / "m.onnx").string();
            std::ofstream(spec.source, std::ios::binary) << m.write();
            return session::loadModel(spec, "cpu");
        };
        const auto softmaxes = [](const graph::Graph& network) {
            return std::ranges::count(network.nodes, std::string("softmax"), &graph::Node::op);
        };
        const auto one = load({wire::node("Neg", {"x"}, {"y"})}, {"y"});
        QVERIFY2(one, one ? "" : one.error().message.c_str());
        QCOMPARE((*one)->imported.outputName(0), std::string("y"));
        QCOMPARE(softmaxes((*one)->imported), 1);
        QCOMPARE((*one)->graph.outputName(0), std::string("y"));
        QVERIFY((*one)->notices.empty());
        const auto values = graph::interpret((*one)->imported, {graph::HostTensor::zeros({DType::F32, {2, 3}}),
                                                                graph::HostTensor::zeros({DType::F32, {3}})});
        QVERIFY(values);
        QCOMPARE((*values)[0].as<float>()[4], 1.0F / 3);

        const auto half = load({wire::node("Neg", {"x"}, {"y"})}, {"y"}, wire::Float16);
        QVERIFY2(half, half ? "" : half.error().message.c_str());
        QCOMPARE((*half)->imported.value((*half)->imported.outputs[0]).dtype, DType::F16);
        QCOMPARE(softmaxes((*half)->imported), 1);

        // Of several outputs those of two dimensions; what is already a softmax stays one.
        const auto several = load(
            {wire::node("Neg", {"x"}, {"y"}), wire::node("Abs", {"v"}, {"w"}), wire::node("Softmax", {"x"}, {"p"})},
            {"y", "w", "p"});
        QVERIFY2(several, several ? "" : several.error().message.c_str());
        QCOMPARE(softmaxes((*several)->imported), 2);
        QCOMPARE((*several)->notices.size(), std::size_t{1});
        QVERIFY(textOf((*several)->notices[0]).find("\"p\" is already a softmax") != std::string::npos);
        QCOMPARE((*several)->imported.outputName(1), std::string("w"));

        const auto none = load({wire::node("Abs", {"v"}, {"w"}), wire::node("Neg", {"v"}, {"u"})}, {"w", "u"});
        QVERIFY(!none && none.error().code == Errc::InvalidArgument);

        const auto read = session::modelSpecFromJson(session::toJson(spec).dump());
        QVERIFY(read && read->softmax);
        spec.softmax = false;
        QVERIFY(session::toJson(spec).dump().find("softmax")
                == std::string::npos); // projects of before stay as they are
    }

    void projectsHoldPassesThatAreLeftOutAndNothingElse()
    {
        session::ModelSpec spec;
        spec.source = "zoo:mlp";
        const std::string usual = session::toJson(spec).dump();
        spec.passLog = true;
        QCOMPARE(session::toJson(spec).dump(), usual); // projects of before stay as they are
        spec.withoutPasses = {"fuse-rows", "fold-padding"};
        const auto read = session::modelSpecFromJson(session::toJson(spec).dump());
        QVERIFY(read);
        QVERIFY(read->withoutPasses == spec.withoutPasses);
        QVERIFY(!read->passLog);
    }
};

LATHE_TEST(TestLoadedModel)

} // namespace tst_loaded_model

#include "tst_loaded_model.moc"
