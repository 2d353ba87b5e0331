// If, Loop and Scan as files have them: names and scopes, and what is refused. What such models compute is in
// tests/values/tst_control_flow.

#include "core/frontend/onnx.h"
#include "core/graph/passes.h"
#include "tests/support/test_program.h"
#include "wire_writer.h"

#include <QElapsedTimer>
#include <QTest>

namespace tst_onnx_control {

using namespace lathe;

namespace {

using Texts = std::vector<std::string>;

std::string graphOf(const Texts& nodes, const Texts& inputs, const Texts& outputs, const Texts& initializers = {})
{
    std::string text = wire::bytes(2, "body");
    for (const std::string& node : nodes)
        text += wire::bytes(1, node);
    for (const std::string& initializer : initializers)
        text += wire::bytes(5, initializer);
    for (const std::string& input : inputs)
        text += wire::bytes(11, input);
    for (const std::string& output : outputs)
        text += wire::bytes(12, wire::info(output, {}));
    return text;
}

std::string graphAttribute(const std::string& name, const std::string& graph)
{
    return wire::bytes(5, wire::bytes(1, name) + wire::bytes(6, graph) + wire::number(20, 5));
}

std::string fork(const std::string& yes, const std::string& no, const std::string& output = "y")
{
    return wire::node("If", {"c"}, {output}, "fork",
                      graphAttribute("then_branch", yes) + graphAttribute("else_branch", no));
}

/// A loop that carries x and stacks rows.
std::string loop(const Texts& nodes, const Texts& outputs, const Texts& results = {"y"}, const char* trips = "n",
                 const char* condition = "")
{
    const Texts inputs = {wire::info("i", {}, wire::Int64), wire::info("go", {}, wire::Bool), wire::info("v", {})};
    return wire::node("Loop", {trips, condition, "x"}, results, "around",
                      graphAttribute("body", graphOf(nodes, inputs, outputs)));
}

Result<graph::Graph> import(const Texts& nodes, const Texts& initializers = {}, const Texts& outputs = {"y"},
                            std::int64_t opset = 17)
{
    wire::Model model;
    model.nodes = nodes;
    model.initializers = initializers;
    model.inputs = {wire::info("x", {2, 3}), wire::info("c", {1}, wire::Bool), wire::info("n", {1}, wire::Int64)};
    for (const std::string& output : outputs)
        model.outputs.push_back(wire::info(output, {}));
    model.opset = opset;
    const std::string text = model.write();
    return frontend::importOnnx(std::as_bytes(std::span(text)));
}

QString messageOf(const Result<graph::Graph>& result)
{
    return result ? QString("no error")
                  : QString::fromStdString(std::string(toString(result.error().code)) + ": " + result.error().message);
}

/// What comes out for x [2, 3] and the condition; nothing where it fails.
std::vector<float> run(const graph::Graph& g, std::vector<float> x, bool condition)
{
    std::vector<graph::HostTensor> inputs;
    for (const graph::ValueId id : g.inputs) {
        const graph::Value& value = g.value(id);
        inputs.push_back(graph::HostTensor::zeros({value.dtype, value.shape}));
        if (value.name == "x")
            std::ranges::copy(x, inputs.back().as<float>().begin());
        else if (value.name == "c")
            inputs.back().bytes[0] = std::byte{condition};
    }
    const auto results = graph::interpret(g, inputs);
    if (!results)
        return {};
    const auto values = (*results)[0].as<float>();
    return {values.begin(), values.end()};
}

const std::string kThree = wire::tensor("three", wire::Int64, {}, wire::ints({3}));
const std::string kTwo = wire::tensor("two", wire::Float, {}, wire::floats({2}));

} // namespace

class TestOnnxControl : public QObject
{
    Q_OBJECT

private slots:
    void bodiesSeeWhatIsAroundThem()
    {
        // A value of the network in a branch in a loop in a branch, a constant of each, each name once in each scope.
        const std::string inner = graphOf(
            {wire::node("Mul", {"v", "two"}, {"t"}), wire::node("Add", {"t", "outside"}, {"r"})}, {}, {"r"});
        const std::string other = graphOf({wire::node("Neg", {"v"}, {"r"})}, {}, {"r"});
        const std::string body = loop({fork(inner, other, "w"), wire::node("Identity", {"go"}, {"still"})},
                                      {"still", "w"}, {"z"}, "three");
        const std::string yes = graphOf({body}, {}, {"z"}, {kThree});
        const auto g = import(
            {wire::node("Relu", {"x"}, {"outside"}), fork(yes, graphOf({wire::node("Abs", {"x"}, {"z"})}, {}, {"z"}))},
            {kTwo});
        QVERIFY2(g, qPrintable(messageOf(g)));
        QCOMPARE(g->nodes.size(), std::size_t{2});
        const graph::Node& node = g->nodes[1];
        QCOMPARE(node.inputs.size(), std::size_t{4}); // the condition, x, the inner condition, relu(x)
        const graph::Graph& loopNode = *node.bodies[0];
        QCOMPARE(loopNode.nodes.size(), std::size_t{1});
        QCOMPARE(loopNode.nodes[0].bodies[0]->nodes[0].op, std::string("if"));
    }

    void aNameFromAroundMayNotBeMadeAgain()
    {
        const std::string again = graphOf({wire::node("Neg", {"x"}, {"outside"})}, {}, {"outside"});
        const auto g = import({wire::node("Relu", {"x"}, {"outside"}), fork(again, again)});
        QVERIFY2(messageOf(g).startsWith("BadFile") && messageOf(g).contains("\"outside\" is defined twice"),
                 qPrintable(messageOf(g)));
    }

    void bodiesReadWhatIsMadeFurtherDown()
    {
        const std::string yes = graphOf({wire::node("Neg", {"late"}, {"r"})}, {}, {"r"});
        const std::string no = graphOf({}, {}, {"late"});
        const auto g = import({fork(yes, no), wire::node("Relu", {"x"}, {"late"})});
        QVERIFY2(g, qPrintable(messageOf(g)));
        QCOMPARE(g->nodes.back().op, std::string("if"));
        const auto cycle = import({fork(yes, no), wire::node("Relu", {"y"}, {"late"})});
        QVERIFY2(messageOf(cycle).contains("cycle"), qPrintable(messageOf(cycle)));
        // The branches call their result as the node does its.
        const std::string same = graphOf({wire::node("Neg", {"x"}, {"y"})}, {}, {"y"});
        QVERIFY2(import({fork(same, same)}), qPrintable(messageOf(import({fork(same, same)}))));
    }

    void namesOfABodyAreItsOwn()
    {
        const std::string yes = graphOf({wire::node("Neg", {"x"}, {"inside"})}, {}, {"inside"});
        QVERIFY(import({fork(yes, yes)}));
        const auto outside = import({fork(yes, yes), wire::node("Abs", {"inside"}, {"z"})}, {}, {"z"});
        QVERIFY2(messageOf(outside).contains("\"inside\", which nothing produces"), qPrintable(messageOf(outside)));
    }

    void whatDoesNotWorkIsNamed_data()
    {
        QTest::addColumn<QString>("error");
        QTest::addColumn<QString>("words");
        const auto row = [](const char* name, const Result<graph::Graph>& result, const char* words) {
            QTest::newRow(name) << messageOf(result) << QString(words);
        };
        const std::string keep = wire::node("Identity", {"go"}, {"still"});
        const std::string neg = graphOf({wire::node("Neg", {"x"}, {"r"})}, {}, {"r"});
        row("branches of two shapes", import({fork(neg, graphOf({wire::node("Transpose", {"x"}, {"r"})}, {}, {"r"}))}),
            "Unsupported: the model uses unsupported features: branches that return float32 [2, 3] and float32 [3, 2] "
            "for \"y\" of If (node \"fork\")");
        row("no branch", import({wire::node("If", {"c"}, {"y"}, "fork", graphAttribute("then_branch", neg))}),
            "has no else_branch");
        row("a branch that gives too little", import({fork(neg, graphOf({}, {}, {}))}),
            "returns 0 values, but at least 1 are expected");
        row("a branch that does not compute its result", import({fork(neg, graphOf({}, {}, {"nothing"}))}),
            "does not compute \"nothing\"");
        row("a condition of numbers",
            import({wire::node("If", {"x"}, {"y"}, "fork",
                               graphAttribute("then_branch", neg) + graphAttribute("else_branch", neg))}),
            "the condition must be a single bool, not float32 [2, 3]");
        row("an operator of a body that is not known",
            import({fork(neg, graphOf({wire::node("Strange", {"x"}, {"r"}, "odd")}, {}, {"r"}))}),
            "operator Strange (node \"fork/odd\")");
        row("a loop-carried value that grows",
            import({loop({wire::node("Concat", {"v", "x"}, {"w"}, "", wire::intAttribute("axis", 0)), keep},
                         {"still", "w"})}),
            "a loop-carried value \"v\" that enters as float32 [2, 3] and leaves as float32 [4, 3] of Loop (node "
            "\"around\")");
        row("rows without a bound",
            import({loop({wire::node("Neg", {"v"}, {"w"}), wire::node("Abs", {"v"}, {"row"}), keep},
                         {"still", "w", "row"}, {"y", "rows"})}),
            "scan output \"row\" without a bound (a constant trip count gives one) of Loop (node \"around\")");
        row("a body that takes too little",
            import({wire::node("Loop", {"n", "", "x", "x"}, {"y"}, "around",
                               graphAttribute("body", graphOf({}, {}, {})))}),
            "takes 0 values, but gets 4");
        row("a loop without a body", import({wire::node("Loop", {"n", "", "x"}, {"y"}, "around")}), "has no body");
        row("trips of floats", import({loop({keep}, {"still", "v"}, {"y"}, "x")}),
            "the trip count must be a single int64, not float32 [2, 3]");
        row("a condition of the body that is none", import({loop({keep}, {"i", "v"})}),
            "the body's condition must be a single bool, not int64 []");
        row("more results than the body has", import({loop({keep}, {"still", "v"}, {"y", "z"})}), "output 1 of Loop");
        row("Scan along an axis that is not there",
            import({wire::node("Scan", {"x"}, {"y"}, "s",
                               wire::intAttribute("num_scan_inputs", 1) + wire::intsAttribute("scan_input_axes", {2})
                                   + graphAttribute("body", graphOf({wire::node("Neg", {"v"}, {"r"})},
                                                                    {wire::info("v", {})}, {"r"})))}),
            "axis is 2");
        row("Scan of opset 8 with a batch",
            import({wire::node(
                       "Scan", {"", "x", "x"}, {"y", "z"}, "s",
                       wire::intAttribute("num_scan_inputs", 1)
                           + graphAttribute("body", graphOf({wire::node("Add", {"s", "v"}, {"r"})},
                                                            {wire::info("s", {}), wire::info("v", {})}, {"r", "r"})))},
                   {}, {"y"}, 8),
            "a batch of 2 sequences");
    }
    void whatDoesNotWorkIsNamed()
    {
        QFETCH(QString, error);
        QFETCH(QString, words);
        QVERIFY2(error.contains(words), qPrintable(error));
    }

    void bodiesAreNotReadWithoutEnd()
    {
        std::string inner = graphOf({wire::node("Neg", {"x"}, {"r"})}, {}, {"r"});
        for (int i = 0; i < 18; ++i)
            inner = graphOf({fork(inner, graphOf({wire::node("Abs", {"x"}, {"r2"})}, {}, {"r2"}), "r")}, {}, {"r"});
        const QString error = messageOf(import({fork(inner, inner)}));
        QVERIFY2(error.contains("bodies nested 16 deep") || error.startsWith("BadFile"), qPrintable(error));
    }

    void aValueOfTwoNamesIsCapturedOnce()
    {
        const std::string yes = graphOf({wire::node("Add", {"x", "same"}, {"r"})}, {}, {"r"});
        const std::string no = graphOf({wire::node("Neg", {"same"}, {"r"})}, {}, {"r"});
        const auto g = import({wire::node("Identity", {"x"}, {"same"}), fork(yes, no)});
        QVERIFY2(g, qPrintable(messageOf(g)));
        QCOMPARE(run(*g, {1, 2, 3, 4, 5, 6}, true), (std::vector<float>{2, 4, 6, 8, 10, 12}));
        QCOMPARE(run(*g, {1, 2, 3, 4, 5, 6}, false), (std::vector<float>{-1, -2, -3, -4, -5, -6}));
    }

    void bodiesKnowWhatCountsWhatTheyCapture()
    {
        const std::string flat = wire::intAttribute("keepdims", 0);
        const Texts before = {wire::node("NonZero", {"x"}, {"p"}), wire::node("Transpose", {"p"}, {"at"}),
                              wire::node("GatherND", {"x", "at"}, {"one"}), wire::node("Neg", {"x"}, {"minus"}),
                              wire::node("GatherND", {"minus", "at"}, {"other"})};
        // Two tensors of one size are of one size inside of a branch too.
        Texts nodes = before;
        nodes.push_back(
            fork(graphOf({wire::node("Mul", {"one", "other"}, {"t"}), wire::node("ReduceSum", {"t"}, {"r"}, {}, flat)},
                         {}, {"r"}),
                 graphOf({wire::node("ReduceSum", {"one"}, {"r"}, {}, flat)}, {}, {"r"})));
        auto g = import(nodes);
        QVERIFY2(g, qPrintable(messageOf(g)));
        QCOMPARE(run(*g, {1, 0, 3, 0, 0, 0}, true), (std::vector<float>{-10}));
        QCOMPARE(run(*g, {1, 0, 3, 0, 0, 0}, false), (std::vector<float>{4}));
        // So are the numbers that a shape is made of.
        const std::string shaped = graphOf({wire::node("Reshape", {"x", "s"}, {"r"})}, {}, {"r"});
        nodes = before;
        nodes.push_back(wire::node("Shape", {"p"}, {"s"}));
        nodes.push_back(fork(shaped, shaped));
        g = import(nodes);
        QVERIFY2(g, qPrintable(messageOf(g)));
        QCOMPARE(run(*g, {1, 0, 3, 0, 5, 0}, true), (std::vector<float>{1, 0, 3, 0, 5, 0}));
    }

    /// Names are looked up, not copied, for each of many bodies in a large one: else this takes minutes.
    void manyBodiesInALargeOneAreReadAtOnce()
    {
        constexpr int kNodes = 40000, kForks = 8000;
        Texts nodes;
        for (int i = 0; i < kNodes; ++i)
            nodes.push_back(wire::node("Neg", {"x"}, {"unused" + std::to_string(i)}));
        const std::string same = graphOf({}, {}, {"x"});
        for (int i = 0; i < kForks; ++i)
            nodes.push_back(fork(same, same, "forked" + std::to_string(i)));
        nodes.push_back(wire::node("Neg", {"x"}, {"r"}));
        const std::string large = graphOf(nodes, {}, {"r"});
        QElapsedTimer timer;
        timer.start();
        const auto g = import({fork(large, graphOf({wire::node("Abs", {"x"}, {"r"})}, {}, {"r"}))});
        QVERIFY2(g, qPrintable(messageOf(g)));
        QVERIFY2(timer.elapsed() < 20000, qPrintable(QString::number(timer.elapsed())));
    }

    void aLoopThatNeverRunsIsGone()
    {
        const std::string none = wire::tensor("none", wire::Int64, {}, wire::ints({0}));
        const auto g = import({loop({wire::node("Neg", {"v"}, {"w"}), wire::node("Identity", {"go"}, {"still"})},
                                    {"still", "w"}, {"z"}, "none"),
                               wire::node("Abs", {"z"}, {"y"})},
                              {none});
        QVERIFY2(g, qPrintable(messageOf(g)));
        QCOMPARE(g->nodes.size(), std::size_t{1});
    }
};

LATHE_TEST(TestOnnxControl)

} // namespace tst_onnx_control

#include "tst_onnx_control.moc"
