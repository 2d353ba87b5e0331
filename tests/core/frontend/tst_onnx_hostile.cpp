#include "core/frontend/onnx.h"
#include "core/graph/passes.h"
#include "core/support/files.h"

#include "wire_writer.h"

#include <QTest>

#include <cmath>
#include <limits>

using namespace lathe;

namespace {

Result<graph::Graph> import(const std::string& text)
{
    return frontend::importOnnx(std::as_bytes(std::span(text)));
}

wire::Model negatedProduct()
{
    return {{wire::node("Mul", {"x", "w"}, {"t"}), wire::node("Neg", {"t"}, {"y"})}, {wire::tensor("w", wire::Float, {2}, wire::floats({2, 3}))},
            {wire::info("x", {2})}, {wire::info("y", {})}, 17};
}

} // namespace

/// Files that are broken or mean harm: one clear error each, no crash, no memory beyond the file's own.
class TstOnnxHostile : public QObject
{
    Q_OBJECT

private slots:
    void theUntouchedModelImports() { QVERIFY(import(negatedProduct().write())); }

    void filesCutAnywhereGiveAnError()
    {
        auto whole = readFile(std::filesystem::path(LATHE_TEST_DATA) / "onnx" / "network_opset7.onnx");
        QVERIFY(whole);
        for (std::size_t size = 0; size < whole->size(); size += 64)
            QVERIFY2(!import(whole->substr(0, size)), qPrintable(QString::number(size)));
    }

    void changedBytesNeverCrash()
    {
        auto whole = readFile(std::filesystem::path(LATHE_TEST_DATA) / "onnx" / "shapes_opset11.onnx");
        QVERIFY(whole);
        std::uint32_t state = 12345;
        for (int round = 0; round < 400; ++round) {
            std::string text = *whole;
            for (int i = 0; i < 3; ++i) {
                state = state * 1664525 + 1013904223;
                text[state / 16 % text.size()] = static_cast<char>(state >> 24);
            }
            const auto result = import(text); // right or wrong, but an answer
            if (!result)
                QVERIFY(!result.error().message.empty());
        }
    }

    void scalesOfNanAreCarriedAlong()
    {
        wire::Model m = negatedProduct();
        m.initializers = {wire::tensor("w", wire::Float, {}, wire::floats({std::numeric_limits<float>::quiet_NaN()}))};
        m.nodes = {wire::node("QuantizeLinear", {"x", "w"}, {"q"}), wire::node("DequantizeLinear", {"q", "w"}, {"y"})};
        const auto graph = import(m.write());
        QVERIFY2(graph, graph ? "" : graph.error().message.c_str());
        const auto outputs = graph::interpret(*graph, {graph::HostTensor::zeros({DType::F32, {2}})});
        QVERIFY2(outputs, outputs ? "" : outputs.error().message.c_str());
        for (const float value : (*outputs)[0].as<float>())
            QVERIFY(std::isnan(value));
    }

    void refusals_data()
    {
        QTest::addColumn<QByteArray>("model");
        QTest::addColumn<QString>("part");
        const auto row = [](const char* name, const std::string& text, const char* part) {
            QTest::newRow(name) << QByteArray(text.data(), static_cast<qsizetype>(text.size())) << QString(part);
        };
        row("empty", {}, "empty");
        row("text", "hello, this is no model at all", "no valid ONNX file");
        row("no graph", wire::number(1, 8), "do not make a model");

        wire::Model m = negatedProduct();
        m.nodes = {wire::node("Add", {"x", "b"}, {"a"}, "one"), wire::node("Neg", {"a"}, {"b"}, "two"), wire::node("Neg", {"b"}, {"y"})};
        row("cycle", m.write(), "cycle");
        m.nodes = {wire::node("Neg", {"y"}, {"y"}, "self")};
        row("self", m.write(), "cycle through node \"self\"");
        m.nodes = {wire::node("Neg", {"nowhere"}, {"y"}, "lost")};
        row("missing value", m.write(), "\"nowhere\", which nothing produces");
        m.nodes = {wire::node("Neg", {"x"}, {"y"}), wire::node("Relu", {"x"}, {"y"})};
        row("defined twice", m.write(), "defined twice");
        m.nodes = {wire::node("Neg", {"x"}, {"w"})};
        row("initializer overwritten", m.write(), "defined twice");
        m = negatedProduct();
        m.initializers.push_back(m.initializers[0]);
        row("initializer twice", m.write(), "defined twice");
        m = negatedProduct();
        m.inputs.push_back(m.inputs[0]);
        row("input twice", m.write(), "defined twice");
        m = negatedProduct();
        m.outputs = {wire::info("other", {})};
        row("output missing", m.write(), "\"other\" is not computed");
        m.outputs = {};
        row("no outputs", m.write(), "no outputs");

        m = negatedProduct();
        constexpr std::int64_t kHuge = std::int64_t{1} << 40;
        m.initializers = {wire::tensor("w", wire::Float, {kHuge, kHuge}, wire::floats({1}))};
        row("overflowing dims", m.write(), "larger than any memory");
        m.initializers = {wire::tensor("w", wire::Float, {kHuge}, wire::floats({1}))};
        row("huge dims", m.write(), "holds 4 bytes where its shape asks for");
        m.initializers = {wire::tensor("w", wire::Float, {-2}, wire::floats({1, 2}))};
        row("negative dims", m.write(), "negative dimension");
        m.initializers = {wire::tensor("w", wire::Float, {3}, wire::floats({1, 2}))};
        row("short data", m.write(), "holds 8 bytes where its shape asks for 12");
        m.initializers = {wire::bytes(8, "w") + wire::number(1, kHuge) + wire::number(2, wire::Float)};
        row("huge typed data", m.write(), "has 0 values");
        m.initializers = {wire::tensor("w", wire::String, {1}, "abcd")};
        row("strings", m.write(), "element type STRING");
        m = negatedProduct();
        m.inputs = {wire::info("x", {kHuge, kHuge})};
        row("huge input", m.write(), "from 1 to 2^31");
        m.inputs = {wire::info("x", {1 << 30, 1 << 30, 1 << 30, 2})};
        row("huge product", m.write(), "2^40 elements");

        m = negatedProduct();
        m.nodes = {wire::node("Flatten", {"x"}, {"y"}, "confused", wire::textAttribute("axis", "one"))};
        row("type confusion", m.write(), "attribute axis must be an integer");
        m.nodes = {wire::node("Neg", {}, {"y"}, "bare")};
        row("input absent", m.write(), "input 0 is absent");
        m.nodes = {wire::node("MaxPool", {"x"}, {"y"}, "pool", wire::intsAttribute("kernel_shape", {1, 1, 1}))};
        row("wrong rank", m.write(), "spatial dimensions");
        m.nodes = {wire::node("Reshape", {"x", "w"}, {"y"})};
        row("float shape", m.write(), "shape must be integers");

        m = negatedProduct();
        m.initializers = {wire::tensor("w", wire::Int64, {2}, wire::ints({1 << 20, 1 << 20}))};
        m.nodes = {wire::node("ConstantOfShape", {"w"}, {"y"})};
        row("made of thin air", m.write(), "more than");
        m.initializers = {wire::tensor("w", wire::Int64, {1}, wire::ints({1 << 24}))};
        m.nodes.clear();
        for (int i = 0; i < 20; ++i)
            m.nodes.push_back(wire::node("ConstantOfShape", {"w"}, {"c" + std::to_string(i)}));
        m.outputs = {wire::info("c0", {})};
        row("made too often", m.write(), "out of proportion");

        m = negatedProduct();
        const float nan = std::numeric_limits<float>::quiet_NaN();
        const auto resize = [&](float scale) {
            m.initializers = {wire::tensor("w", wire::Float, {1}, wire::floats({scale}))};
            m.nodes = {wire::node("Resize", {"x", "", "w"}, {"y"}, "resize")};
            return m.write();
        };
        row("NaN scale", resize(nan), "the scale nan of 2 entries is out of range");
        row("infinite scale", resize(std::numeric_limits<float>::infinity()), "the scale inf of 2 entries is out of range");
        row("absurd scale", resize(1e30F), "is out of range");
        row("negative scale", resize(-2), "is out of range");
        m.initializers = {wire::tensor("w", wire::Float, {1}, wire::floats({1e18F})), wire::tensor("v", wire::Float, {2}, wire::floats({0, 1}))};
        m.nodes = {wire::node("OneHot", {"x", "w", "v"}, {"y"}, "hot")};
        row("absurd depth", m.write(), "the depth must be one positive number");
        m.initializers = {wire::tensor("w", wire::Int64, {1}, wire::ints({kHuge}))};
        m.nodes = {wire::node("TopK", {"x", "w"}, {"y", "z"}, "top")};
        row("absurd k", m.write(), "the axis has 2 entries");
        m.nodes = {wire::node("CumSum", {"x", "w"}, {"y"}, "sum")};
        row("absurd axis", m.write(), "is outside of a tensor with 1 dimensions");
        m.nodes = {wire::node("Trilu", {"x", "w"}, {"y"}, "half")};
        row("half of a vector", m.write(), "at least 2 dimensions");
        m.nodes = {wire::node("ScatterND", {"x", "w", "x"}, {"y"}, "scatter")};
        row("updates that do not fit", m.write(), "newshape [1] has 1 elements, input [2] has 2");
        m.initializers = {wire::tensor("w", wire::Int64, {2}, wire::ints({kHuge, 0}))};
        m.nodes = {wire::node("Pad", {"x", "w"}, {"y"}, "wide")};
        row("absurd padding", m.write(), "pad_width must hold values");
        m.inputs = {wire::info("x", {1, 4, 4})};
        m.nodes = {wire::node("Attention", {"x", "x", "x"}, {"y"}, "blind")};
        row("attention without heads", m.write(), "0 heads do not divide the width 4");
        m.inputs = {wire::info("x", {1 << 20, 1, 1})};
        m.initializers = {wire::tensor("w", wire::Float, {1, 4, 1}, wire::floats({1, 1, 1, 1}))};
        m.nodes = {wire::node("LSTM", {"x", "w", "w"}, {"y"}, "endless")};
        row("endless sequence", m.write(), "a sequence of 1048576 steps");

        std::string deep;
        for (int i = 0; i < 200; ++i)
            deep = wire::bytes(1, wire::node("If", {}, {}) + wire::bytes(5, wire::bytes(6, deep)));
        row("deep nesting", wire::bytes(7, deep), "nested too deeply");
        std::string many;
        for (int i = 0; i < 2'100'000; ++i)
            many += "\x0a" + std::string(1, 0); // an empty node each
        row("too many objects", wire::bytes(7, many), "objects");
    }
    void refusals()
    {
        QFETCH(QByteArray, model);
        QFETCH(QString, part);
        const auto result = import(model.toStdString());
        QVERIFY(!result);
        QVERIFY2(QString::fromStdString(result.error().message).contains(part), result.error().message.c_str());
        QVERIFY2(result.error().code == Errc::BadFile || result.error().code == Errc::Unsupported || result.error().code == Errc::InvalidArgument,
                 result.error().message.c_str());
    }
};

QTEST_APPLESS_MAIN(TstOnnxHostile)
#include "tst_onnx_hostile.moc"
