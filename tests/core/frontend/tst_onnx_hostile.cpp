#include "core/frontend/onnx.h"
#include "core/graph/passes.h"
#include "core/support/files.h"
#include "tests/support/test_program.h"
#include "wire_writer.h"

#include <QTest>

#include <cmath>
#include <functional>
#include <limits>

namespace tst_onnx_hostile {

using namespace lathe;

namespace {

constexpr std::int64_t kHuge = std::int64_t{1} << 40;
constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

Result<graph::Graph> import(const std::string& text)
{
    return frontend::importOnnx(std::as_bytes(std::span(text)));
}

wire::Model negatedProduct()
{
    return {{wire::node("Mul", {"x", "w"}, {"t"}), wire::node("Neg", {"t"}, {"y"})},
            {wire::tensor("w", wire::Float, {2}, wire::floats({2, 3}))},
            {wire::info("x", {2})},
            {wire::info("y", {})},
            17};
}

using Row = std::function<void(const char* name, const std::string& text, const char* part)>;

/// Convolutions and pools whose attributes or shapes make no sense.
void windowRows(const Row& row)
{
    wire::Model m = negatedProduct();
    m.inputs = {wire::info("x", {1, 1, 4, 4, 4})};
    m.initializers = {wire::tensor("w", wire::Float, {1, 1, 2, 2, 2}, wire::floats(std::vector<float>(8, 1)))};
    const auto with = [&](const char* op, std::vector<std::string> inputs, const std::string& attributes) {
        m.nodes = {wire::node(op, inputs, {"y"}, "window", attributes)};
        return m.write();
    };
    row("volume without step", with("Conv", {"x", "w"}, wire::intsAttribute("strides", {1, 0, 1})),
        "strides must hold values of at least 1");
    row("volume with too few steps", with("Conv", {"x", "w"}, wire::intsAttribute("strides", {1, 1})),
        "attribute strides must have 3 entries, but has 2");
    row("negative padding", with("Conv", {"x", "w"}, wire::intsAttribute("pads", {-1, 0, 0, 0, 0, 0})),
        "the negative value -1");
    row("padding beyond all", with("Conv", {"x", "w"}, wire::intsAttribute("pads", {kLargest, 0, 0, 0, 0, 0})),
        "which is out of range");
    row("steps beyond all", with("MaxPool", {"x"}, wire::intsAttribute("kernel_shape", {1, 1, kHuge})),
        "positive entries of at most 2^20");
    row("more groups than channels", with("Conv", {"x", "w"}, wire::intAttribute("group", kLargest)),
        "must divide the 1 channels");
    row("negative groups", with("Conv", {"x", "w"}, wire::intAttribute("group", -1)), "groups must be at least 1");
    row("kernel beyond the volume", with("Conv", {"x", "w"}, wire::intsAttribute("dilations", {1, 1, 1 << 19})),
        "the padded data has 4");
    const std::string far = wire::intsAttribute("strides", {1 << 20, 1 << 20, 1 << 20});
    row("spread beyond all memory", with("ConvTranspose", {"x", "w"}, far), "2^40 elements");
    m.initializers = {wire::tensor("w", wire::Int64, {1, 1, 4, 4, 4}, wire::ints(std::vector<std::int64_t>(64, 0)))};
    row("unpooled beyond all memory",
        with("MaxUnpool", {"x", "w"}, wire::intsAttribute("kernel_shape", {1 << 23, 1 << 23, 1 << 23})),
        "attribute kernel_shape");
    m.initializers = {wire::tensor("w", wire::Int64, {1, 1, 2, 2, 2}, wire::ints(std::vector<std::int64_t>(8, 1)))};
    row("weights of another type", with("Conv", {"x", "w"}, {}), "data is float32 and weight is int64");
    m.initializers = {wire::tensor("w", wire::Float, {1, 1, 0, 2, 2}, {})};
    row("empty kernel", with("Conv", {"x", "w"}, {}), "must not be empty");
    m.inputs = {wire::info("x", {1, 1, 2, 2, 2, 2})};
    m.initializers = {wire::tensor("w", wire::Float, {1, 1, 1, 1, 1, 1}, wire::floats({1}))};
    row("four dimensions", with("Conv", {"x", "w"}, {}), "4 spatial dimensions (only one to three)");
}

/// Shapes that are computed, and would be out of all proportion.
void shapeRows(const Row& row)
{
    wire::Model m = negatedProduct();
    const auto with = [&](const char* op, const std::vector<std::int64_t>& values) {
        m.initializers = {
            wire::tensor("w", wire::Int64, {static_cast<std::int64_t>(values.size())}, wire::ints(values))};
        m.nodes = {wire::node(op, {"x", "w"}, {"y"}, "shaped")};
        return m.write();
    };
    row("tiles without number", with("Tile", {kLargest}), "repeats 9223372036854775807 is out of range");
    row("negative tiles", with("Tile", {-1}), "repeats -1 is out of range");
    row("expanded beyond all", with("Expand", {kHuge, kHuge, 1}), "has more than 2^40 elements");
    row("expanded to less than nothing", with("Expand", {-2, 2}), "has a negative dimension");
    row("reshaped beyond all", with("Reshape", {kLargest, kLargest}), "has more than 2^40 elements");
    row("two unknown dimensions", with("Reshape", {-1, -1}), "may hold one -1 and no other negative number");
    row("less than nothing", with("Reshape", {-3, 2}), "may hold one -1 and no other negative number");
    row("cut away by padding", with("Pad", {-2, -1}), "crops more than the 2 entries of dimension 0");
    row("axis out of all", with("Unsqueeze", {kLargest}), "is outside of a tensor with 2 dimensions");
    const auto picking = [&](const char* op, std::vector<std::int64_t> shape, const std::vector<std::int64_t>& indices,
                             bool updates) {
        m.initializers = {wire::tensor("w", wire::Int64, shape, wire::ints(indices))};
        m.nodes = {wire::node(
            op, updates ? std::vector<std::string>{"x", "w", "x"} : std::vector<std::string>{"x", "w"}, {"y"}, "pick")};
        return m.write();
    };
    row("picked behind the end", picking("Gather", {1}, {2}, false), "index 2 is outside of 2 entries");
    row("picked before the front", picking("Gather", {2}, {0, -3}, false), "index -3 is outside of 2 entries");
    row("picked from nowhere", picking("Gather", {}, {kLargest}, false),
        "index 9223372036854775807 is outside of 2 entries");
    row("elements behind the end", picking("GatherElements", {1}, {5}, false), "index 5 is outside of 2 entries");
    row("places behind the end", picking("GatherND", {1, 1}, {9}, false), "index 9 is outside of 2 entries");
    row("updates behind the end", picking("ScatterElements", {2}, {0, 7}, true), "index 7 is outside of 2 entries");
    row("updates before the front", picking("ScatterND", {2, 1}, {1, -3}, true), "index -3 is outside of 2 entries");
    row("a grid beyond all", with("AffineGrid", {1, 1, kHuge, kHuge}), "which is out of range");
    m.initializers = {wire::tensor("w", wire::Int64, {}, wire::ints({kHuge}))};
    m.nodes = {wire::node("HannWindow", {"w"}, {"y"}, "window")};
    row("a window beyond all", m.write(), "which is out of range");
    m.nodes = {wire::node("STFT", {"x", "w"}, {"y"}, "spectrum")};
    row("frames beyond all", m.write(), "the signal must be");
    m.nodes = {wire::node("MelWeightMatrix", {"w", "w", "w", "w", "w"}, {"y"}, "mel")};
    row("bands beyond all", m.write(), "are out of range");
    m.nodes = {wire::node("Dropout", {"x", "", "w"}, {"y"}, "drop")};
    m.initializers = {wire::tensor("w", wire::Bool, {0}, {})};
    row("a switch without setting", m.write(), "training_mode of Dropout");
    m.initializers = {wire::tensor("w", wire::Int64, {}, wire::ints({0})),
                      wire::tensor("v", wire::Int64, {}, wire::ints({kLargest})),
                      wire::tensor("u", wire::Int64, {}, wire::ints({1}))};
    m.nodes = {wire::node("Range", {"w", "v", "u"}, {"y"}, "endless")};
    row("endless range", m.write(), "has no end or too many elements");
    m.initializers = {wire::tensor("w", static_cast<wire::DataType>(0), {2}, wire::floats({1, 2}))};
    m.nodes = {wire::node("Mul", {"x", "w"}, {"y"})};
    row("no element type", m.write(), "the element type UNDEFINED of tensor \"w\"");
    m.initializers = {wire::tensor("w", static_cast<wire::DataType>(14), {2}, wire::floats({1, 2}))};
    row("complex numbers", m.write(), "the element type COMPLEX");
    m.initializers = {wire::tensor("w", wire::Float, {2}, wire::floats({1, 2, 3}))};
    row("long data", m.write(), "holds 12 bytes where its shape asks for 8");
    m.initializers = {wire::tensor("w", wire::Int64, {2}, wire::ints({1, 2}))};
    row("product of two types", m.write(), "input 0 is float32 and input 1 is int64");
    m.initializers = {
        wire::external("w", {2}, {{"location", "weights"}, {"offset", "18446744073709551612"}, {"length", "8"}})};
    row("weights beside no file", m.write(), "was not read from a folder");
    std::string list;
    for (int i = 0; i < 200; ++i)
        list = wire::bytes(
            5, wire::bytes(1, "body")
                   + wire::bytes(11, wire::bytes(1, wire::node("If", {}, {}) + list))); // graphs of attributes
    m = negatedProduct();
    m.nodes = {wire::node("If", {"x"}, {"y"}, "deep", list)};
    row("deep lists of graphs", m.write(), "nested too deeply");
}

} // namespace

/// Files that are broken or mean harm: one clear error each, no crash, no memory beyond the file's own.
class TestOnnxHostile : public QObject
{
    Q_OBJECT

private slots:
    void theUntouchedModelImports() { QVERIFY(import(negatedProduct().write())); }

    void namesOfAllLanguagesImport()
    {
        wire::Model m = negatedProduct();
        for (const char* name : {"caf\u00e9", "\u5377\u79ef", "\U0001f600", "\U0010ffff"}) {
            m.nodes[1] = wire::node("Neg", {"t"}, {"y"}, name);
            QVERIFY2(import(m.write()), name);
        }
    }

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
        row("text", "hello, this is no model at all", "not a valid ONNX file");
        row("no graph", wire::number(1, 8), "does not contain a model");

        wire::Model m = negatedProduct();
        m.nodes = {wire::node("Add", {"x", "b"}, {"a"}, "one"), wire::node("Neg", {"a"}, {"b"}, "two"),
                   wire::node("Neg", {"b"}, {"y"})};
        row("cycle", m.write(), "cycle");
        m.nodes = {wire::node("Neg", {"y"}, {"y"}, "self")};
        row("self", m.write(), "cycle through node \"self\"");
        m.nodes = {wire::node("Neg", {"nowhere"}, {"y"}, "lost")};
        row("missing value", m.write(), "\"nowhere\", which nothing produces");
        m.nodes = {wire::node("Neg", {"x"}, {"y"}), wire::node("Relu", {"x"}, {"y"})};
        row("defined twice", m.write(), "defined twice");
        m.nodes = {wire::node("Neg", {"x"}, {"w"})};
        row("initializer overwritten", m.write(), "defined twice");
        for (const char* name : {"caf\xe9", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82"}) {
            m.nodes = {wire::node("Neg", {"x"}, {"y"}, name)};
            row(QByteArray(name).toHex(), m.write(), "a name is no UTF-8 text");
        }
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
        row("huge input", m.write(), "from 0 to 2^31");
        m.inputs = {wire::info("x", {1 << 30, 1 << 30, 1 << 30, 2})};
        row("huge product", m.write(), "2^40 elements");

        m = negatedProduct();
        m.nodes = {wire::node("Flatten", {"x"}, {"y"}, "confused", wire::textAttribute("axis", "one"))};
        row("type confusion", m.write(), "attribute axis must be an integer");
        m.nodes = {wire::node("Neg", {}, {"y"}, "bare")};
        row("input absent", m.write(), "input 0 is missing");
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
        row("made too often", m.write(), "far larger than the file");

        m = negatedProduct();
        const float nan = std::numeric_limits<float>::quiet_NaN();
        const auto resize = [&](float scale) {
            m.initializers = {wire::tensor("w", wire::Float, {1}, wire::floats({scale}))};
            m.nodes = {wire::node("Resize", {"x", "", "w"}, {"y"}, "resize")};
            return m.write();
        };
        row("NaN scale", resize(nan), "the scale nan of an axis with 2 entries is out of range");
        row("infinite scale", resize(std::numeric_limits<float>::infinity()),
            "the scale inf of an axis with 2 entries is out of range");
        row("absurd scale", resize(1e30F), "is out of range");
        row("negative scale", resize(-2), "is out of range");
        m.initializers = {wire::tensor("w", wire::Float, {1}, wire::floats({1e18F})),
                          wire::tensor("v", wire::Float, {2}, wire::floats({0, 1}))};
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

        windowRows(row);
        shapeRows(row);

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
        QVERIFY2(!part.isEmpty() && QString::fromStdString(result.error().message).contains(part),
                 result.error().message.c_str());
        QVERIFY2(result.error().code == Errc::BadFile || result.error().code == Errc::Unsupported
                     || result.error().code == Errc::InvalidArgument,
                 result.error().message.c_str());
    }
};

LATHE_TEST(TestOnnxHostile)

} // namespace tst_onnx_hostile

#include "tst_onnx_hostile.moc"
