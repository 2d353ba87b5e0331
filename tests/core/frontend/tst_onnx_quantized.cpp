#include "core/frontend/onnx.h"
#include "core/graph/operators/element.h"
#include "core/graph/passes.h"
#include "tests/support/test_program.h"
#include "wire_writer.h"

#include <QTest>

namespace tst_onnx_quantized {

using namespace lathe;

namespace {

using Ints = std::vector<std::int64_t>;

std::string scalar(const std::string& name, float value)
{
    return wire::tensor(name, wire::Float, {}, wire::floats({value}));
}

std::string bytesOf(const std::string& name, wire::DataType type, const Ints& shape, const std::vector<int>& values)
{
    std::string raw;
    for (const int value : values)
        raw.push_back(static_cast<char>(value));
    return wire::tensor(name, type, shape, raw);
}

Result<graph::Graph> import(const wire::Model& model)
{
    const std::string text = model.write();
    return frontend::importOnnx(std::as_bytes(std::span(text)));
}

QString refusal(const wire::Model& model)
{
    const auto g = import(model);
    return g ? QString("no error")
             : QString::fromStdString(std::string(toString(g.error().code)) + ": " + g.error().message);
}

/// "conv2d int8; requantize int8": operators and the types of their second operands.
QString operatorsOf(const wire::Model& model)
{
    const auto g = import(model);
    if (!g)
        return QString::fromStdString(g.error().message);
    QStringList list;
    for (const graph::Node& node : g->nodes) {
        const auto type = node.inputs.size() > 1 ? toString(g->value(node.inputs[1]).dtype) : std::string_view();
        list << QString::fromStdString(node.op + (type.empty() ? "" : " ") + std::string(type));
    }
    return list.join("; ");
}

wire::Model convolution(int dataZero, int weightZero)
{
    wire::Model model;
    model.nodes = {wire::node("QLinearConv", {"x", "xs", "xz", "w", "ws", "wz", "ys", "yz"}, {"y"}, "conv")};
    model.initializers = {scalar("xs", 0.1F),
                          bytesOf("xz", wire::Uint8, {}, {dataZero}),
                          bytesOf("w", wire::Int8, {1, 1, 1, 2}, {3, -4}),
                          scalar("ws", 0.2F),
                          bytesOf("wz", wire::Int8, {}, {weightZero}),
                          scalar("ys", 0.4F),
                          bytesOf("yz", wire::Uint8, {}, {10})};
    model.inputs = {wire::info("x", {1, 1, 2, 3}, wire::Uint8)};
    model.outputs = {wire::info("y", {}, wire::Uint8)};
    return model;
}

} // namespace

/// Quantized operators keep their integers, and their scales stay visible.
class TestOnnxQuantized : public QObject
{
    Q_OBJECT

private slots:
    /// Weights of 8 bits stay so where their zero point is 0, and activations too: fast kernels need that.
    void integersStayNarrowWhereTheirZeroPointIsZero()
    {
        QCOMPARE(operatorsOf(convolution(0, 0)), QString("conv2d int8; requantize float32"));
        QCOMPARE(operatorsOf(convolution(128, 0)), QString("cast; subtract int16; conv2d int8; requantize float32"));
        QCOMPARE(operatorsOf(convolution(0, 3)), QString("conv2d int16; requantize float32"));
    }

    void theScaleOfARequantizationIsOneNumber()
    {
        const auto g = import(convolution(0, 0));
        QVERIFY(g);
        const graph::Value& scale = g->value(g->nodes.back().inputs[1]);
        QVERIFY(scale.constant && scale.shape.empty());
        float value = 0;
        std::memcpy(&value, scale.constant->data, sizeof(value));
        QCOMPARE(value, 0.1F * 0.2F / 0.4F);
    }

    /// Outputs that ONNX Runtime's kernels cannot give either way, and halves at both ends of a row.
    void numbersOfAConvolution()
    {
        const auto g = import(convolution(1, 0));
        QVERIFY(g);
        graph::HostTensor x = graph::HostTensor::zeros({DType::U8, {1, 1, 2, 3}});
        graph::operators::writeInts(x, Ints{1, 2, 3, 255, 0, 91});
        const auto y = graph::interpret(*g, {x});
        QVERIFY(y);
        // 0.05 * (3 (a - 1) - 4 (b - 1)) + 10: sums -4, -5, 766, -363.
        QCOMPARE(graph::operators::readInts((*y)[0]), Ints({10, 10, 48, 0}));
    }

    void eightBitFloatsAndFourBitIntegersAreRefusedByName()
    {

        for (const auto& [type, name] :
             {std::pair{wire::Float8E4M3FN, "FLOAT8E4M3FN"}, std::pair{wire::Int4, "INT4"}}) {
            wire::Model model;
            model.opset = 21;
            model.nodes = {wire::node("QuantizeLinear", {"x", "s", "z"}, {"y"}, "q")};
            model.initializers = {scalar("s", 0.1F), bytesOf("z", type, {}, {0})};
            model.inputs = {wire::info("x", {2, 3})};
            model.outputs = {wire::info("y", {})};
            QString text = refusal(model);
            QVERIFY2(text.startsWith("Unsupported") && text.contains(name), qPrintable(text));
            model.nodes = {
                wire::node("QuantizeLinear", {"x", "s"}, {"y"}, "q", wire::intAttribute("output_dtype", type))};
            model.initializers.pop_back();
            text = refusal(model);
            QVERIFY2(text.contains(QString("attribute output_dtype %1 of QuantizeLinear").arg(name)), qPrintable(text));
        }
    }

    void scalesThatDoNotFitAreTold()
    {
        wire::Model model;
        model.opset = 21;
        model.nodes = {wire::node("QuantizeLinear", {"x", "s"}, {"y"}, "q", wire::intAttribute("axis", 0))};
        model.initializers = {wire::tensor("s", wire::Float, {3}, wire::floats({1, 2, 3}))};
        model.inputs = {wire::info("x", {2, 3})};
        model.outputs = {wire::info("y", {})};
        QVERIFY2(refusal(model).contains("one for each entry of the axis"), qPrintable(refusal(model)));
        model.nodes = {wire::node("QuantizeLinear", {"x", "s"}, {"y"}, "q", wire::intAttribute("axis", 2))};
        QVERIFY2(refusal(model).contains("axis is out of range"), qPrintable(refusal(model)));
        model.nodes = {wire::node("QuantizeLinear", {"x", "s"}, {"y"}, "q",
                                  wire::intAttribute("axis", 1) + wire::intAttribute("block_size", 2))};
        QVERIFY2(refusal(model).contains("block of 2 entries"), qPrintable(refusal(model)));
    }

    /// Options of com.microsoft that no converter has are told by attribute or input.
    void optionsOfOnnxRuntimeThatAreMissingAreNamed()
    {
        const auto attention = [](const std::string& attributes, const std::vector<std::string>& inputs) {
            wire::Model model;
            model.nodes = {wire::node("Attention", inputs, {"y"}, "a", wire::intAttribute("num_heads", 2) + attributes,
                                      "com.microsoft")};
            model.inputs = {wire::info("x", {1, 3, 4}), wire::info("w", {4, 12}),
                            wire::info("m", {1, 1, 8, 8}, wire::Int32), wire::info("n", {1}, wire::Int32)};
            model.outputs = {wire::info("y", {})};
            return model;
        };
        QString text = refusal(attention(wire::intAttribute("do_rotary", 1), {"x", "w"}));
        QVERIFY2(text.contains("attribute do_rotary 1 of com.microsoft::Attention (node \"a\")"), qPrintable(text));
        text = refusal(attention({}, {"x", "w", "", "m"}));
        QVERIFY2(text.contains("a mask of shape [1, 1, 8, 8] of com.microsoft::Attention"), qPrintable(text));
        text = refusal(attention({}, {"x", "w", "", "", "", "", "n"}));
        QVERIFY2(text.contains("input 6 (past_sequence_length)"), qPrintable(text));
        text = refusal(attention(wire::intAttribute("window", 1), {"x", "w"}));
        QVERIFY2(text.contains("attribute window"), qPrintable(text));
    }
};

LATHE_TEST(TestOnnxQuantized)

} // namespace tst_onnx_quantized

#include "tst_onnx_quantized.moc"
