#include "core/frontend/onnx.h"
#include "core/graph/passes.h"
#include "core/support/files.h"
#include "tests/support/test_program.h"
#include "wire_writer.h"

#include <QTest>

#include <fstream>

namespace tst_onnx_import {

using namespace lathe;
using frontend::importOnnx;
using frontend::ImportOptions;

namespace {

using Shape = std::vector<std::int64_t>;

Result<graph::Graph> import(const std::string& text, const ImportOptions& options = {},
                            const std::filesystem::path& folder = {})
{
    return importOnnx(std::as_bytes(std::span(text)), options, folder);
}

QString messageOf(const Result<graph::Graph>& result)
{
    return result ? QString("no error")
                  : QString::fromStdString(std::string(toString(result.error().code)) + ": " + result.error().message);
}

wire::Model relu(std::vector<wire::Dim> dims)
{
    return {{wire::node("Relu", {"x"}, {"y"})}, {}, {wire::info("x", dims)}, {wire::info("y", {})}, 17};
}

/// y = x * w with w of [2, 2] in an external file.
wire::Model withExternal(const std::vector<std::pair<std::string, std::string>>& entries)
{
    return {{wire::node("Mul", {"x", "w"}, {"y"})},
            {wire::external("w", {2, 2}, entries)},
            {wire::info("x", {2, 2})},
            {wire::info("y", {})},
            17};
}

} // namespace

class TestOnnxImport : public QObject
{
    Q_OBJECT

private slots:
    void openBatchBecomesOneWithANote()
    {
        std::vector<Message> notes;
        ImportOptions options;
        options.notes = &notes;
        const auto g = import(relu({"N", 3}).write(), options);
        QVERIFY2(g, qPrintable(messageOf(g)));
        QCOMPARE(g->value(g->inputs[0]).shape, (Shape{1, 3}));
        QCOMPARE(notes.size(), std::size_t{1});
        QCOMPARE(notes[0].id, Msg::BatchSetToOne);
        QCOMPARE(notes[0].text("input"), std::string("x"));
    }

    void batchOptionSetsTheOpenBatchAlone()
    {
        ImportOptions options;
        options.batch = 4;
        const auto g = import(relu({"N", 3}).write(), options);
        QVERIFY2(g, qPrintable(messageOf(g)));
        QCOMPARE(g->value(g->outputs[0]).shape, (Shape{4, 3}));
        QVERIFY(messageOf(import(relu({1, 3}).write(), options)).contains("the batch is fixed at 1"));
    }

    void otherOpenDimensionsMustBeSetAndAreNamed()
    {
        const QString message = messageOf(import(relu({"N", "height"}).write()));
        QVERIFY2(message.startsWith("InvalidArgument") && message.contains("height") && message.contains("\"x\""),
                 qPrintable(message));
        ImportOptions options;
        options.shapes["x"] = {2, 5};
        const auto g = import(relu({"N", "height"}).write(), options);
        QVERIFY2(g, qPrintable(messageOf(g)));
        QCOMPARE(g->value(g->outputs[0]).shape, (Shape{2, 5}));
    }

    void shapesThatContradictTheModelAreRefused()
    {
        for (const auto& [name, shape] :
             std::vector<std::pair<std::string, Shape>>{{"x", {2, 4}}, {"x", {2}}, {"z", {2, 3}}, {"x", {-1, 3}}}) {
            ImportOptions options;
            options.shapes[name] = shape;
            QVERIFY(messageOf(import(relu({"N", 3}).write(), options)).startsWith("InvalidArgument"));
        }
    }

    void aBatchMayHaveNoSamples()
    {
        ImportOptions options;
        options.shapes["x"] = {0, 3};
        const auto g = import(relu({"N", 3}).write(), options);
        QVERIFY2(g, qPrintable(messageOf(g)));
        QCOMPARE(g->value(g->outputs[0]).shape, (Shape{0, 3}));
    }

    void oneSymbolHasOneValueInAllInputs()
    {
        wire::Model model{{wire::node("Add", {"a", "b"}, {"y"})},
                          {},
                          {wire::info("a", {"N", "L"}), wire::info("b", {"N", "L"})},
                          {wire::info("y", {})},
                          17};
        ImportOptions options;
        options.shapes["b"] = {3, 7};
        const auto g = import(model.write(), options);
        QVERIFY2(g, qPrintable(messageOf(g)));
        QCOMPARE(g->value(g->inputs[0]).shape, (Shape{3, 7}));
    }

    void allThatIsUnsupportedIsNamedAtOnceWithItsNodes()
    {
        wire::Model model = relu({1, 3, 8, 8});
        model.nodes.push_back(wire::node("ImageDecoder", {"x"}, {"h1"}, "first"));
        model.nodes.push_back(wire::node("ImageDecoder", {"x"}, {"h2"}, "second"));
        model.nodes.push_back(wire::node("Relu", {"h1"}, {"behind"}));
        model.nodes.push_back(wire::node("SequenceErase", {"behind"}, {"e"}, "deep"));
        model.nodes.push_back(wire::node("Attention", {"x"}, {"a"}, "foreign", {}, "com.vendor"));
        model.nodes.push_back(wire::node("Elu", {"x"}, {"q"}, "odd", wire::intAttribute("turbo", 1)));
        model.nodes.push_back(wire::node("Abs", {"x"}, {"m", "signs"}, "split"));
        model.nodes.push_back(wire::node("StringConcat", {"x", "x"}, {"s"}, "joined"));
        const QString message = messageOf(import(model.write()));
        QVERIFY2(message.startsWith("Unsupported"), qPrintable(message));
        for (const char* part :
             {"operator ImageDecoder (nodes \"first\", \"second\")", "operator SequenceErase (node \"deep\")",
              "operator Attention of the domain com.vendor", "\"foreign\"", "attribute turbo of Elu (node \"odd\")",
              "output 1 of Abs (node \"split\")", "operator StringConcat, which works on strings (node \"joined\")"})
            QVERIFY2(message.contains(part), qPrintable(message + " lacks " + part));
    }

    void wrongShapesNameNodeInputsAndRule()
    {
        wire::Model model{{wire::node("Conv", {"x", "w"}, {"y"}, "stem")},
                          {wire::tensor("w", wire::Float, {4, 2, 1, 1}, wire::floats(std::vector<float>(8)))},
                          {wire::info("x", {1, 3, 8, 8})},
                          {wire::info("y", {})},
                          17};
        const QString message = messageOf(import(model.write()));
        QVERIFY2(message.contains("\"stem\"") && message.contains("[1, 3, 8, 8]") && message.contains("[4, 2, 1, 1]")
                     && message.contains("channels"),
                 qPrintable(message));
    }

    void inputsOfStringsAreNamedWithTheOperatorsOnThem()
    {
        wire::Model model{{wire::node("StringNormalizer", {"t"}, {"u"}, "lower"), wire::node("Relu", {"x"}, {"y"})},
                          {},
                          {wire::info("t", {2}, wire::String), wire::info("x", {2})},
                          {wire::info("y", {})},
                          17};
        const QString message = messageOf(import(model.write()));
        QVERIFY2(message.startsWith("Unsupported") && message.contains("StringNormalizer, which works on strings")
                     && message.contains("\"t\""),
                 qPrintable(message));
    }

    void everyOpsetIsReadButMustBeSaid()
    {
        wire::Model model = relu({1, 3});
        model.opset = 1;
        QVERIFY(import(model.write()));
        model.opset = 0;
        QVERIFY(messageOf(import(model.write())).startsWith("BadFile"));
    }

    void weightsListedAsInputsAreConstants()
    {
        wire::Model model{{wire::node("Mul", {"x", "w"}, {"y"})},
                          {wire::tensor("w", wire::Float, {2}, wire::floats({2, 3}))},
                          {wire::info("x", {2}), wire::info("w", {2})},
                          {wire::info("y", {})},
                          8};
        const auto g = import(model.write());
        QVERIFY2(g, qPrintable(messageOf(g)));
        QCOMPARE(g->inputs.size(), std::size_t{1});
    }

    void nodesMayStandInAnyOrder()
    {
        wire::Model model{{wire::node("Neg", {"t"}, {"y"}), wire::node("Relu", {"x"}, {"t"})},
                          {},
                          {wire::info("x", {2})},
                          {wire::info("y", {})},
                          17};
        const auto g = import(model.write());
        QVERIFY2(g, qPrintable(messageOf(g)));
        QCOMPARE(g->nodes[0].op, std::string("relu"));
    }

    void nodesOfEqualNamesGetNamesOfTheirOwn()
    {
        wire::Model model{{wire::node("Relu", {"x"}, {"t"}, "same"), wire::node("Neg", {"t"}, {"y"}, "same")},
                          {},
                          {wire::info("x", {2})},
                          {wire::info("y", {})},
                          17};
        const auto g = import(model.write());
        QVERIFY2(g, qPrintable(messageOf(g)));
        QVERIFY(g->nodes[0].name != g->nodes[1].name);
        QCOMPARE(g->nodes[1].origin, std::string("same"));
    }

    void spaceToDepthIsUndoneByDepthToSpaceOfTheSameMode()
    {
        graph::HostTensor x = graph::HostTensor::zeros({DType::F32, {1, 2, 4, 6}});
        for (std::size_t i = 0; i < x.as<float>().size(); ++i)
            x.as<float>()[i] = static_cast<float>(i);
        for (const char* mode : {"DCR", "CRD"}) {
            const std::string attributes = wire::intAttribute("blocksize", 2) + wire::textAttribute("mode", mode);
            wire::Model model{{wire::node("SpaceToDepth", {"x"}, {"d"}, "deep", attributes),
                               wire::node("DepthToSpace", {"d"}, {"y"}, "wide", attributes)},
                              {},
                              {wire::info("x", {1, 2, 4, 6})},
                              {wire::info("y", {}), wire::info("d", {})},
                              28};
            const auto g = import(model.write());
            QVERIFY2(g, qPrintable(messageOf(g)));
            const auto out = graph::interpret(*g, {x});
            QVERIFY(out);
            QVERIFY((*out)[0].bytes == x.bytes);
            QVERIFY((*out)[1].bytes != x.bytes);
            // Channel 1 holds the neighbour to the right of channel 0 of the image (CRD), or its second channel (DCR).
            QCOMPARE((*out)[1].as<float>()[6], mode == std::string("DCR") ? 24.0F : 1.0F);
        }
    }

    void indicesThatAreKnownCountFromTheBack()
    {
        wire::Model model{{wire::node("Gather", {"x", "i"}, {"y"})},
                          {wire::tensor("i", wire::Int64, {4}, wire::ints({-3, 2, -1, 0}))},
                          {wire::info("x", {3})},
                          {wire::info("y", {})},
                          17};
        const auto g = import(model.write());
        QVERIFY2(g, qPrintable(messageOf(g)));
        graph::HostTensor x = graph::HostTensor::zeros({DType::F32, {3}});
        for (std::size_t i = 0; i < 3; ++i)
            x.as<float>()[i] = static_cast<float>(i + 1);
        const auto outputs = graph::interpret(*g, {x});
        QVERIFY(outputs);
        const auto y = (*outputs)[0].as<float>();
        QCOMPARE(std::vector<float>(y.begin(), y.end()), (std::vector<float>{1, 3, 3, 1}));
    }

    void externalWeightsAreReadAtTheirOffset()
    {
        auto dir = TempDir::create();
        QVERIFY(dir);
        std::ofstream(dir->path() / "w.bin", std::ios::binary) << std::string(12, 'x') << wire::floats({1, 2, 3, 4});
        const auto g = import(withExternal({{"location", "w.bin"}, {"offset", "12"}, {"length", "16"}}).write(), {},
                              dir->path());
        QVERIFY2(g, qPrintable(messageOf(g)));
        graph::HostTensor ones = graph::HostTensor::zeros({DType::F32, {2, 2}});
        for (float& value : ones.as<float>())
            value = 1;
        const auto outputs = graph::interpret(*g, {ones});
        QVERIFY(outputs);
        QCOMPARE((*outputs)[0].as<float>()[3], 4.0F);
    }

    void externalWeightsThatOverlapAreReadEachByItself()
    {
        auto dir = TempDir::create();
        QVERIFY(dir);
        std::ofstream(dir->path() / "w.bin", std::ios::binary) << wire::floats({1, 2, 3, 4, 5, 6});
        wire::Model model = withExternal({{"location", "w.bin"}, {"offset", "0"}, {"length", "16"}});
        model.initializers.push_back(
            wire::external("v", {2, 2}, {{"location", "./w.bin"}, {"offset", "8"}, {"length", "16"}}));
        const std::string last = model.nodes.empty() ? "x" : "y";
        model.nodes.push_back(wire::node("Add", {last, "v"}, {"z"}));
        model.outputs = {wire::info("z", {})};
        const auto g = import(model.write(), {}, dir->path());
        QVERIFY2(g, qPrintable(messageOf(g)));
        graph::HostTensor ones = graph::HostTensor::zeros({DType::F32, {2, 2}});
        for (float& value : ones.as<float>())
            value = 1;
        const auto outputs = graph::interpret(*g, {ones});
        QVERIFY(outputs);
        for (std::size_t i = 0; i < 4; ++i) // [1 2 3 4] once, and [3 4 5 6]
            QCOMPARE((*outputs)[0].as<float>()[i], static_cast<float>(i + 1) + static_cast<float>(i + 3));
    }

    void externalWeightsOutsideOfTheFolderAreRefused()
    {
        auto dir = TempDir::create();
        QVERIFY(dir);
        std::filesystem::create_directory(dir->path() / "model");
        std::ofstream(dir->path() / "secret", std::ios::binary) << wire::floats({1, 2, 3, 4});
        std::filesystem::create_symlink(dir->path() / "secret", dir->path() / "model" / "link");
        const std::string absolute = (dir->path() / "secret").string();
        for (const std::string& location :
             {std::string("../secret"), std::string("a/../../secret"), absolute, std::string("link"), std::string()}) {
            const QString message = messageOf(
                import(withExternal({{"location", location}}).write(), {}, dir->path() / "model"));
            QVERIFY2(message.startsWith("BadFile") || (location == "a/../../secret" && message.startsWith("BadFile")),
                     qPrintable(message));
        }
        QVERIFY(messageOf(import(withExternal({{"location", "missing"}}).write(), {}, dir->path() / "model"))
                    .startsWith("NotFound"));
        QVERIFY(messageOf(import(withExternal({{"location", "w.bin"}}).write())).startsWith("BadFile"));
    }

    void externalWeightsBeyondTheFileAreRefused()
    {
        auto dir = TempDir::create();
        QVERIFY(dir);
        std::ofstream(dir->path() / "w.bin", std::ios::binary) << wire::floats({1, 2, 3, 4});
        using Entries = std::vector<std::pair<std::string, std::string>>;
        for (const Entries& entries :
             {Entries{{"location", "w.bin"}, {"offset", "4"}},
              Entries{{"location", "w.bin"}, {"offset", "18446744073709551615"}},
              Entries{{"location", "w.bin"}, {"length", "12"}}, Entries{{"location", "w.bin"}, {"offset", "-1"}},
              Entries{{"location", "w.bin"}, {"offset", "99999999999999999999999"}}})
            QVERIFY(messageOf(import(withExternal(entries).write(), {}, dir->path())).startsWith("BadFile"));
    }
};

LATHE_TEST(TestOnnxImport)

} // namespace tst_onnx_import

#include "tst_onnx_import.moc"
