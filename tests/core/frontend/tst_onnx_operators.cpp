#include "core/frontend/onnx.h"
#include "core/graph/operators/element.h"
#include "core/graph/passes.h"
#include "tests/support/test_program.h"
#include "wire_writer.h"

#include <QTest>

#include <limits>
#include <numeric>
#include <stdexcept>

namespace tst_onnx_operators {

using namespace lathe;

namespace {

using Numbers = std::vector<double>;
using Dims = std::vector<std::int64_t>;

struct Input
{
    std::string name;
    Dims shape;
    Numbers values;
    wire::DataType type = wire::Float;
};

Numbers counting(std::size_t count, double first = 1)
{
    Numbers values(count);
    std::iota(values.begin(), values.end(), first);
    return values;
}

/// What the nodes make of the inputs, by the reference executor: values of the output "y". Throws the error's text.
Numbers valuesOf(std::vector<std::string> nodes, const std::vector<Input>& inputs,
                 std::vector<std::string> constants = {}, std::int64_t opset = 22)
{
    wire::Model model;
    model.nodes = std::move(nodes);
    model.initializers = std::move(constants);
    model.outputs = {wire::info("y", {})};
    model.opset = opset;
    std::vector<graph::HostTensor> tensors;
    for (const Input& input : inputs) {
        model.inputs.push_back(
            wire::info(input.name, std::vector<wire::Dim>(input.shape.begin(), input.shape.end()), input.type));
        tensors.push_back(graph::HostTensor::zeros({input.type == wire::Int64 ? DType::I64 : DType::F32, input.shape}));
        graph::operators::writeFloats(tensors.back(), input.values);
    }
    const std::string text = model.write();
    const auto graph = frontend::importOnnx(std::as_bytes(std::span(text)));
    if (!graph)
        throw std::runtime_error(graph.error().message);
    const auto outputs = graph::interpret(*graph, tensors);
    if (!outputs)
        throw std::runtime_error(outputs.error().message);
    return graph::operators::readFloats((*outputs)[0]);
}

QString shown(const Numbers& values)
{
    QStringList words;
    for (const double value : values)
        words << QString::number(value, 'g', 6);
    return words.join(' ');
}

} // namespace

/// Operators that the importer writes out in others: small examples worked by hand.
class TestOnnxOperators : public QObject
{
    Q_OBJECT

private slots:
    void aLineIsResizedLinearly()
    {
        const Numbers y = valuesOf(
            {wire::node("Resize", {"x", "", "s"}, {"y"}, "r", wire::textAttribute("mode", "linear"))},
            {{"x", {1, 1, 1, 2}, {0, 4}}}, {wire::tensor("s", wire::Float, {4}, wire::floats({1, 1, 1, 2}))});
        QCOMPARE(shown(y), QString("0 1 3 4"));
    }

    void filesOfOldExportersAreRead()
    {
        // Up to opset 6 the second operand stands at an axis of the first.
        const std::string at = wire::intAttribute("broadcast", 1) + wire::intAttribute("axis", 1);
        const Input x{"x", {1, 2, 2, 1}, {1, 2, 3, 4}}, channels{"c", {2}, {10, 20}};
        QCOMPARE(shown(valuesOf({wire::node("Add", {"x", "c"}, {"y"}, "a", at)}, {x, channels}, {}, 6)),
                 QString("11 12 23 24"));
        QCOMPARE(shown(valuesOf({wire::node("PRelu", {"x", "c"}, {"y"}, "p")},
                                {{"x", {1, 2, 2, 1}, {-1, 2, -3, 4}}, channels}, {}, 6)),
                 QString("-10 2 -60 4"));
        QCOMPARE(shown(valuesOf({wire::node("Dropout", {"x"}, {"t"}, "d", wire::intAttribute("is_test", 1)),
                                 wire::node("Abs", {"t"}, {"y"}, "b")},
                                {x}, {}, 5)),
                 QString("1 2 3 4"));
        QCOMPARE(shown(valuesOf({wire::node("Cast", {"x"}, {"t"}, "c", wire::textAttribute("to", "INT32")),
                                 wire::node("Cast", {"t"}, {"y"}, "f", wire::textAttribute("to", "FLOAT"))},
                                {{"x", {2}, {1.5, -2.5}}}, {}, 5)),
                 QString("1 -2"));
    }

    void scalesCountAsFloats()
    {
        // 100 by 0.29 is 28.99999 for the scale as f32 holds it, and 29 as a product of f32, which others take.
        const Numbers y = valuesOf({wire::node("Resize", {"x", "", "s"}, {"y"}, "r")},
                                   {{"x", {1, 1, 1, 100}, counting(100)}},
                                   {wire::tensor("s", wire::Float, {4}, wire::floats({1, 1, 1, 0.29F}))});
        QCOMPARE(y.size(), std::size_t{29});
    }

    void cornersAreAlignedByTheWholeLength()
    {
        // 3 by 1.5 is 4 pixels: 0, 2/3, 4/3, 2 of the line, as ONNX Runtime has it.
        const std::string linear = wire::textAttribute("mode", "linear")
                                   + wire::textAttribute("coordinate_transformation_mode", "align_corners");
        const Numbers y = valuesOf({wire::node("Resize", {"x", "", "s"}, {"y"}, "r", linear)},
                                   {{"x", {1, 1, 1, 3}, {0, 3, 6}}},
                                   {wire::tensor("s", wire::Float, {4}, wire::floats({1, 1, 1, 1.5F}))});
        QCOMPARE(shown(y), QString("0 2 4 6"));
    }

    void wholeFactorsRepeatEachPixel()
    {
        const Numbers y = valuesOf({wire::node("Resize", {"x", "", "s"}, {"y"}, "r")}, {{"x", {1, 1, 1, 2}, {1, 2}}},
                                   {wire::tensor("s", wire::Float, {4}, wire::floats({1, 1, 2, 3}))});
        QCOMPARE(shown(y), QString("1 1 1 2 2 2 1 1 1 2 2 2"));
    }

    void antialiasingAveragesWhatItShrinks()
    {
        const std::string attributes = wire::textAttribute("mode", "linear") + wire::intAttribute("antialias", 1);
        const Numbers y = valuesOf({wire::node("Resize", {"x", "", "s"}, {"y"}, "r", attributes)},
                                   {{"x", {1, 1, 1, 4}, {4, 4, 0, 0}}},
                                   {wire::tensor("s", wire::Float, {4}, wire::floats({1, 1, 1, 0.5F}))});
        // Weights 1, 3, 3, 1 eighths around each centre, beyond the edge the edge.
        QCOMPARE(shown(y), QString("3.5 0.5"));
    }

    void einsumMultipliesTransposesAndTakesDiagonals()
    {
        const auto einsum = [](const char* equation, const std::vector<std::string>& names) {
            return wire::node("Einsum", names, {"y"}, "e", wire::textAttribute("equation", equation));
        };
        const Input a{"a", {2, 2}, {1, 2, 3, 4}}, b{"b", {2, 2}, {5, 6, 7, 8}};
        QCOMPARE(shown(valuesOf({einsum("ij,jk->ki", {"a", "b"})}, {a, b})), QString("19 43 22 50"));
        QCOMPARE(shown(valuesOf({einsum("ii->i", {"a"})}, {a})), QString("1 4"));
        QCOMPARE(shown(valuesOf({einsum("...ij->...", {"a"})}, {a})), QString("10"));
        QVERIFY_THROWS_EXCEPTION(std::runtime_error, valuesOf({einsum("ij->k", {"a"})}, {a}));
    }

    void theBranchOfAKnownConditionStandsInPlaceOfIf()
    {
        const auto branch = [](const char* name, const char* op) {
            return wire::bytes(1, wire::node(op, {"x"}, {std::string("inner_") + name}))
                   + wire::bytes(12, wire::info(std::string("inner_") + name, {}));
        };
        for (const char taken : {'\1', '\0'}) {
            std::string attributes;
            for (const auto& [name, op] : {std::pair{"then_branch", "Neg"}, std::pair{"else_branch", "Abs"}})
                attributes += wire::bytes(5, wire::bytes(1, name) + wire::bytes(6, branch(name, op))
                                                 + wire::number(20, 5));
            const Numbers y = valuesOf({wire::node("If", {"c"}, {"y"}, "fork", attributes)}, {{"x", {1}, {3}}},
                                       {wire::tensor("c", wire::Bool, {}, std::string(1, taken))});
            QCOMPARE(shown(y), QString(taken == '\1' ? "-3" : "3"));
        }
    }

    void twoBranchesMayUseTheSameNames()
    {
        const auto fork = [](const char* op, const char* output) {
            const std::string branch = wire::bytes(1, wire::node(op, {"x"}, {"inner"}))
                                       + wire::bytes(12, wire::info("inner", {}));
            std::string attributes;
            for (const char* name : {"then_branch", "else_branch"})
                attributes += wire::bytes(5, wire::bytes(1, name) + wire::bytes(6, branch) + wire::number(20, 5));
            return wire::node("If", {"c"}, {output}, output, attributes);
        };
        const std::vector<std::string> condition = {wire::tensor("c", wire::Bool, {}, std::string(1, '\1'))};
        const Numbers y = valuesOf({fork("Neg", "a"), fork("Abs", "b"), wire::node("Sub", {"a", "b"}, {"y"})},
                                   {{"x", {1}, {3}}}, condition);
        QCOMPARE(shown(y), QString("-6"));
        // Outside of the branch the name is nobody's.
        QVERIFY_THROWS_EXCEPTION(std::runtime_error, valuesOf({fork("Neg", "a"), wire::node("Abs", {"inner"}, {"y"})},
                                                              {{"x", {1}, {3}}}, condition));
    }

    void attentionIgnoresWhatComesLater()
    {
        // Equal keys: every query takes the mean of the values that it may see.
        const Numbers y = valuesOf(
            {wire::node("Attention", {"x", "x", "v"}, {"y"}, "a", wire::intAttribute("is_causal", 1))},
            {{"x", {1, 1, 3, 1}, {1, 1, 1}}, {"v", {1, 1, 3, 1}, {3, 6, 12}}}, {}, 23);
        QCOMPARE(shown(y), QString("3 4.5 7"));
    }

    void aRecurrentLayerKeepsItsState()
    {
        // h = relu(x + 2 h).
        const std::string relu = wire::bytes(5, wire::bytes(1, "activations") + wire::bytes(9, "Relu")
                                                    + wire::number(20, 8));
        const Numbers y = valuesOf(
            {wire::node("RNN", {"x", "w", "r"}, {"y"}, "rnn", relu + wire::intAttribute("hidden_size", 1))},
            {{"x", {3, 1, 1}, {1, 1, -20}}},
            {wire::tensor("w", wire::Float, {1, 1, 1}, wire::floats({1})),
             wire::tensor("r", wire::Float, {1, 1, 1}, wire::floats({2}))});
        QCOMPARE(shown(y), QString("1 3 0"));
    }

    void sequencesMayEndEarly()
    {
        // h = x + h without a nonlinearity to speak of: sums of what came so far, zeros behind the end.
        const std::vector<std::string> weights = {wire::tensor("w", wire::Float, {1, 1, 1}, wire::floats({1})),
                                                  wire::tensor("r", wire::Float, {1, 1, 1}, wire::floats({1}))};
        const auto rnn = [&](const char* direction) {
            std::string relu = wire::bytes(1, "activations") + wire::bytes(9, "Relu") + wire::number(20, 8);
            return valuesOf({wire::node("RNN", {"x", "w", "r", "", "lens"}, {"y", "h"}, "rnn",
                                        wire::intAttribute("hidden_size", 1)
                                            + wire::textAttribute("direction", direction) + wire::bytes(5, relu))},
                            {{"x", {3, 2, 1}, {1, 10, 2, 20, 4, 40}}, {"lens", {2}, {3, 2}, wire::Int64}}, weights);
        };
        QCOMPARE(shown(rnn("forward")), QString("1 10 3 30 7 0"));
        QCOMPARE(shown(rnn("reverse")), QString("7 30 6 20 4 0"));
    }

    void topKGivesTheFirstOfEquals()
    {
        const Numbers y = valuesOf({wire::node("TopK", {"x", "k"}, {"v", "y"}, "top")}, {{"x", {5}, {2, 9, 9, 1, 5}}},
                                   {wire::tensor("k", wire::Int64, {1}, wire::ints({3}))});
        QCOMPARE(shown(y), QString("1 2 4"));
    }

    void ignoredClassesDoNotCountInALoss()
    {
        const Numbers y = valuesOf(
            {wire::node("NegativeLogLikelihoodLoss", {"x", "t"}, {"y"}, "loss", wire::intAttribute("ignore_index", 7))},
            {{"x", {3, 2}, {-1, -2, -3, -4, -5, -6}}, {"t", {3}, {0, 7, 1}, wire::Int64}});
        QCOMPARE(shown(y), QString("3.5"));
        // Whatever stands there: a class that is impossible has the logarithm -infinity.
        const double low = -std::numeric_limits<double>::infinity();
        const auto rows = valuesOf(
            {wire::node("NegativeLogLikelihoodLoss", {"x", "t"}, {"y"}, "loss",
                        wire::intAttribute("ignore_index", 7) + wire::textAttribute("reduction", "none"))},
            {{"x", {3, 2}, {-1, -2, low, -4, -5, -6}}, {"t", {3}, {0, 7, 1}, wire::Int64}});
        QCOMPARE(shown(rows), QString("1 0 6"));
    }

    void boxesArePooledInThreeDimensions()
    {
        const Numbers y = valuesOf(
            {wire::node("AveragePool", {"x"}, {"y"}, "pool", wire::intsAttribute("kernel_shape", {2, 2, 2}))},
            {{"x", {1, 1, 2, 2, 3}, counting(12)}});
        QCOMPARE(shown(y), QString("6 7"));
    }

    void quantizedValuesSaturateAndRoundToEven()
    {
        const Numbers y = valuesOf({wire::node("QuantizeLinear", {"x", "s"}, {"q"}, "q"),
                                    wire::node("DequantizeLinear", {"q", "s"}, {"y"}, "d")},
                                   {{"x", {4}, {5, 3, -1, 1000}}},
                                   {wire::tensor("s", wire::Float, {}, wire::floats({2}))});
        QCOMPARE(shown(y), QString("4 4 0 510"));
    }

    void halvesAreSummedInFullPrecision()
    {
        // 2048 + 1 is no half float: summed in halves, every 1 would be lost.
        const Numbers ones(64, 1.0);
        Numbers x = ones;
        x[0] = 2048;
        const std::string toHalf = wire::intAttribute("to", 10), toFloat = wire::intAttribute("to", 1);
        const Numbers y = valuesOf(
            {wire::node("Cast", {"x"}, {"a"}, "1", toHalf), wire::node("Cast", {"w"}, {"b"}, "2", toHalf),
             wire::node("MatMul", {"a", "b"}, {"c"}, "product"), wire::node("Cast", {"c"}, {"y"}, "3", toFloat)},
            {{"x", {1, 64}, x}, {"w", {64, 1}, ones}});
        QCOMPARE(shown(y), QString("2112")); // 2111, rounded once
    }

    void wrappedPadsRepeatTheOtherEnd()
    {
        const Numbers y = valuesOf({wire::node("Pad", {"x", "p"}, {"y"}, "pad", wire::textAttribute("mode", "wrap"))},
                                   {{"x", {3}, {1, 2, 3}}}, {wire::tensor("p", wire::Int64, {2}, wire::ints({2, 1}))});
        QCOMPARE(shown(y), QString("2 3 1 2 3 1"));
    }
};

LATHE_TEST(TestOnnxOperators)

} // namespace tst_onnx_operators

#include "tst_onnx_operators.moc"
