#include "core/frontend/onnx.h"
#include "core/graph/operators/element.h"
#include "core/graph/passes.h"
#include "tests/support/test_program.h"
#include "wire_writer.h"

#include <QTest>

namespace tst_onnx_functions {

using namespace lathe;

namespace {

using Floats = std::vector<double>;

Result<graph::Graph> import(const wire::Model& model)
{
    const std::string text = model.write();
    return frontend::importOnnx(std::as_bytes(std::span(text)));
}

/// x [2, 3] -> y.
wire::Model network(std::vector<std::string> nodes, std::vector<wire::Function> functions)
{
    wire::Model model;
    model.nodes = std::move(nodes);
    model.inputs = {wire::info("x", {2, 3})};
    model.outputs = {wire::info("y", {})};
    model.functions = std::move(functions);
    return model;
}

/// y for x = -3, -1, 0, 1, 2, 4; empty, with a warning, where the network is refused.
Floats valuesOf(const wire::Model& model)
{
    const auto g = import(model);
    if (!g) {
        qWarning("%s", g.error().message.c_str());
        return {};
    }
    graph::HostTensor x = graph::HostTensor::zeros({DType::F32, {2, 3}});
    graph::operators::writeFloats(x, Floats{-3, -1, 0, 1, 2, 4});
    const auto outputs = graph::interpret(*g, {x});
    return outputs ? graph::operators::readFloats((*outputs)[0]) : Floats();
}

QString refusal(const wire::Model& model)
{
    const auto g = import(model);
    return g ? QString("no error")
             : QString::fromStdString(std::string(toString(g.error().code)) + ": " + g.error().message);
}

std::string call(const std::string& function, const std::vector<std::string>& inputs, const std::string& output,
                 const std::string& name, const std::string& attributes = {}, const std::string& domain = "pkg.torch")
{
    return wire::node(function, inputs, {output}, name, attributes, domain);
}

std::string floatAttribute(const std::string& name, float value)
{
    std::string bits(reinterpret_cast<const char*>(&value), sizeof(value));
    return wire::bytes(5, wire::bytes(1, name) + wire::varint(2 << 3 | 5) + bits + wire::number(20, 1));
}

std::string floatBody(const std::string& name, float value)
{
    const std::string attribute = floatAttribute(name, value);
    return attribute.substr(2); // field and length, a byte each
}

/// LeakyRelu whose slope is the function's attribute.
wire::Function leaky(std::vector<std::string> defaults = {})
{
    return {.domain = "pkg.torch",
            .name = "leaky",
            .inputs = {"a"},
            .outputs = {"b"},
            .nodes = {wire::node("LeakyRelu", {"a"}, {"b"}, "act", wire::reference("alpha", "slope", 1))},
            .attributes = {"slope"},
            .defaults = std::move(defaults),
            .overload = {}};
}

wire::Function twice()
{
    return {.domain = "pkg.torch",
            .name = "twice",
            .inputs = {"a"},
            .outputs = {"b"},
            .nodes = {wire::node("Relu", {"a"}, {"x"}, "first"), wire::node("Add", {"x", "x"}, {"b"}, "second")},
            .attributes = {},
            .defaults = {},
            .overload = {}};
}

} // namespace

/// Functions of a model are written out where they are called.
class TestOnnxFunctions : public QObject
{
    Q_OBJECT

private slots:
    void theBodyStandsInThePlaceOfEachCall()
    {
        // "x" of the function is not the network's, and each call has its own.
        const wire::Model model = network({call("twice", {"x"}, "t", "layer1"), call("twice", {"t"}, "y", "layer2")},
                                          {twice()});
        QCOMPARE(valuesOf(model), Floats({0, 0, 0, 4, 8, 16}));
        const auto g = import(model);
        std::vector<std::string> origins, names;
        for (const graph::Node& node : g->nodes)
            origins.push_back(node.origin);
        QCOMPARE(origins, std::vector<std::string>({"layer1/first", "layer1/second", "layer2/first", "layer2/second"}));
        QCOMPARE(g->value(g->outputs[0]).name, std::string("y"));
        for (const graph::Value& value : g->values)
            names.push_back(value.name);
        std::ranges::sort(names);
        QVERIFY2(std::ranges::adjacent_find(names) == names.end(), "two values have one name");
    }

    void attributesAreTheCallsOrTheirDefaultsOrTheOperators()
    {
        const auto y = [](const std::string& attributes, std::vector<std::string> defaults) {
            return valuesOf(network({call("leaky", {"x"}, "y", "n", attributes)}, {leaky(std::move(defaults))}));
        };
        QCOMPARE(y(floatAttribute("slope", 0.5F), {}), Floats({-1.5, -0.5, 0, 1, 2, 4}));
        QCOMPARE(y(floatAttribute("slope", 0.5F), {floatBody("slope", 0.25F)}), Floats({-1.5, -0.5, 0, 1, 2, 4}));
        QCOMPARE(y({}, {floatBody("slope", 0.25F)}), Floats({-0.75, -0.25, 0, 1, 2, 4}));
        const Floats plain = y({}, {}); // LeakyRelu's own 0.01
        QVERIFY(plain.size() == 6 && std::abs(plain[0] + 0.03) < 1e-6);
        const QString text = refusal(
            network({call("leaky", {"x"}, "y", "n", wire::intAttribute("slope", 1))}, {leaky()}));
        QVERIFY2(text.contains("is used with another type"), qPrintable(text));
    }

    void inputsThatACallLeavesOutAreAbsent()
    {
        wire::Function clip = twice();
        clip.inputs = {"a", "low", "high"};
        clip.nodes = {wire::node("Clip", {"a", "low", "high"}, {"b"}, "clip")};
        wire::Model model = network({call("twice", {"x", "", "one"}, "y", "n")}, {clip});
        model.initializers = {wire::tensor("one", wire::Float, {}, wire::floats({1}))};
        QCOMPARE(valuesOf(model), Floats({-3, -1, 0, 1, 1, 1}));
        model.nodes = {call("twice", {"x", "one"}, "y", "n")};
        QCOMPARE(valuesOf(model), Floats({1, 1, 1, 1, 2, 4}));
    }

    void functionsCallOthersAcrossDomainsAndOverloads()
    {
        // One name in two domains, and two overloads of one.
        wire::Function outer = twice();
        outer.name = "outer";
        outer.nodes = {call("twice", {"a"}, "s", "in"), call("twice", {"s"}, "t", "in", {}, "other"),
                       call("twice", {"t"}, "b", "in", wire::bytes(8, "half"))};
        wire::Function other = twice(), half = twice();
        other.domain = "other";
        other.nodes = {wire::node("Neg", {"a"}, {"b"}, "neg")};
        half.overload = "half";
        half.nodes = {wire::node("Abs", {"a"}, {"b"}, "abs")};
        const wire::Model model = network({call("outer", {"x"}, "y", "top")}, {outer, twice(), other, half});
        QCOMPARE(valuesOf(model), Floats({0, 0, 0, 2, 4, 8}));
        QCOMPARE(import(model)->nodes.back().origin, std::string("top/in/abs"));
    }

    /// Up to opset 12 Softmax takes all dimensions from the second on as one.
    void aFunctionHasTheOpsetThatItImports()
    {
        wire::Function f = twice();
        f.nodes = {wire::node("Softmax", {"a"}, {"b"}, "soft", wire::intAttribute("axis", 0))};
        f.opset = 11;
        wire::Model model = network({call("twice", {"x"}, "y", "n")}, {f});
        Floats y = valuesOf(model);
        QVERIFY(y.size() == 6 && std::abs(y[5] - 0.8257) < 1e-3); // of all six
        model.functions[0].opset = 13;
        y = valuesOf(model);
        QVERIFY(y.size() == 6 && std::abs(y[5] - 0.9820) < 1e-3); // of its column
    }

    void whatABodyDoesNotDefineItDoesNotSee()
    {
        wire::Function f = twice();
        f.nodes = {wire::node("Add", {"a", "t"}, {"b"}, "sum")};
        const QString text = refusal(
            network({wire::node("Relu", {"x"}, {"t"}, "r"), call("twice", {"t"}, "y", "n")}, {f}));
        QVERIFY2(text.contains("node \"n/sum\" reads the value \"t\", which nothing produces"), qPrintable(text));
        f.nodes = {wire::node("Relu", {"a"}, {"c"}, "r")};
        const QString missing = refusal(network({call("twice", {"x"}, "y", "n")}, {f}));
        QVERIFY2(missing.contains("does not compute its output \"b\""), qPrintable(missing));
    }

    void branchesInsideOfFunctionsAndCallsInsideOfBranches()
    {
        const auto branch = [](const std::string& node) {
            return wire::bytes(1, node) + wire::bytes(2, "branch") + wire::bytes(12, wire::info("r", {}));
        };
        const auto graphAttribute = [](const std::string& name, const std::string& graph) {
            return wire::bytes(5, wire::bytes(1, name) + wire::bytes(6, graph) + wire::number(20, 5));
        };
        wire::Function choose = twice();
        choose.name = "choose";
        choose.inputs = {"a", "which"};
        choose.nodes = {
            wire::node("If", {"which"}, {"b"}, "if",
                       graphAttribute("then_branch", branch(call("twice", {"a"}, "r", "both")))
                           + graphAttribute("else_branch", branch(wire::node("LeakyRelu", {"a"}, {"r"}, "leak",
                                                                             wire::reference("alpha", "slope", 1)))))};
        choose.attributes = {"slope"};
        for (const bool which : {true, false}) {
            wire::Model model = network({call("choose", {"x", "w"}, "y", "n", floatAttribute("slope", 0.5F))},
                                        {choose, twice()});
            model.initializers = {wire::tensor("w", wire::Bool, {}, std::string(1, which ? '\1' : '\0'))};
            QCOMPARE(valuesOf(model), which ? Floats({0, 0, 0, 2, 4, 8}) : Floats({-1.5, -0.5, 0, 1, 2, 4}));
            QCOMPARE(import(model)->nodes.back().origin,
                     which ? std::string("n/if/both/second") : std::string("n/if/leak"));
        }
    }

    void hostileFunctionsAreRefused()
    {
        wire::Function f = twice();
        f.nodes = {call("twice", {"a"}, "b", "again")};
        QString text = refusal(network({call("twice", {"x"}, "y", "n")}, {f}));
        QVERIFY2(text.startsWith("BadFile") && text.contains("calls itself"), qPrintable(text));

        text = refusal(network({call("twice", {"x"}, "y", "n")}, {twice(), twice()}));
        QVERIFY2(text.contains("the function pkg.torch::twice is defined twice"), qPrintable(text));

        text = refusal(network({call("twice", {"x", "x"}, "y", "n")}, {twice()}));
        QVERIFY2(text.contains("has 1 inputs and 1 outputs"), qPrintable(text));

        // 40 functions, each of which calls the next one twice: 2^40 calls.
        std::vector<wire::Function> chain;
        for (int i = 0; i < 40; ++i) {
            wire::Function link = twice();
            const std::string next = "f" + std::to_string(i + 1);
            link.name = "f" + std::to_string(i);
            link.nodes = {call(next, {"a"}, "t", "l"), call(next, {"t"}, "b", "r")};
            chain.push_back(link);
        }
        text = refusal(network({call("f0", {"x"}, "y", "n")}, chain));
        QVERIFY2(text.startsWith("BadFile") && text.contains("is called more than 32 calls deep"), qPrintable(text));
        chain.resize(25);
        chain.back().nodes = {wire::node("Relu", {"a"}, {"b"}, "r")};
        text = refusal(network({call("f0", {"x"}, "y", "n")}, chain));
        QVERIFY2(text.startsWith("BadFile") && text.contains("would be far larger than the file"), qPrintable(text));
    }

    void operatorsOfUnknownDomainsAreNamedWithTheirNodes()
    {
        wire::Function f = twice();
        f.nodes = {call("Warp", {"a"}, "t", "w", {}, "com.acme"), wire::node("Relu", {"t"}, {"b"}, "r")};
        const QString text = refusal(network({call("twice", {"x"}, "t", "one"), call("twice", {"t"}, "s", "two"),
                                              call("Warp", {"x"}, "u", "three", {}, "com.acme"),
                                              call("Warp", {"u"}, "y", "four", {}, "com.other")},
                                             {f}));
        QCOMPARE(
            text,
            QString("Unsupported: the model uses unsupported features: operator Warp of the domain com.acme "
                    "(nodes \"one/w\", \"two/w\", \"three\"); operator Warp of the domain com.other (node \"four\")"));
    }
};

LATHE_TEST(TestOnnxFunctions)

} // namespace tst_onnx_functions

#include "tst_onnx_functions.moc"
