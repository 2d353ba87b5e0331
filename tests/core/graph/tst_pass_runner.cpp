// Passes by name: listed, timed, left out; and what each says that it changed.

#include "core/graph/pass_runner.h"
#include "dag_executor.h"
#include "tests/support/test_program.h"

#include <algorithm>

namespace tst_pass_runner {

using namespace lathe;
using namespace lathe::test;
using graph::Graph;
using graph::PassRun;
using graph::PassRunner;
using graph::ValueId;

namespace {

/// Something for every pass: batch norms, equal nodes, constants, scales, chains of reshapes, padding, excitation,
/// rows, a photo.
Graph busyNetwork()
{
    GraphMaker m;
    const ValueId y = m.node("relu", "relu",
                             {m.batchNorm("bn", m.conv("stem", m.input("x", {1, 3, 10, 10}), {8, 3, 3, 3}), 8)});
    const ValueId padded = m.node("pad", "pad", {y}, {{"pad_width", Shape{0, 0, 0, 0, 1, 1, 1, 1}}});
    const ValueId inner = m.conv("inner", padded, {8, 8, 3, 3});
    const ValueId twice = m.node("twice", "add", {m.node("a", "tanh", {inner}), m.node("b", "tanh", {inner})});
    const ValueId shifted = m.node("shifted", "add", {twice, m.node("folded", "negative", {m.random("c", {8, 1, 1})})});
    const ValueId mean = m.node("mean", "global_avg_pool2d", {shifted}, {{"layout", std::string("NCHW")}});
    const ValueId excited = m.node("excited", "multiply", {shifted, m.node("gate", "sigmoid", {mean})});
    const ValueId dropped = m.node("drop", "dropout", {m.conv("point", excited, {4, 8, 1, 1})});
    const ValueId halves = m.node("halves", "reshape", {dropped}, {{"newshape", Shape{4, 144}}});
    const ValueId rows = m.node("rows", "reshape", {halves}, {{"newshape", Shape{24, 24}}});
    const ValueId product = m.node("product", "matmul", {rows, m.random("w", {24, 32})});
    const ValueId wide = m.node("wide", "reshape", {product}, {{"newshape", Shape{2, 12, 32}}});
    const ValueId power = m.node("exp", "exp", {m.node("biased", "add", {wide, m.random("bias", {32})})});
    const ValueId sum = m.node("sum", "sum", {power}, {{"axes", Shape{-1}}, {"keepdims", std::int64_t{1}}});
    return m.finish({m.node("out", "divide", {power, sum})});
}

graph::Partition partitioned(const Graph& g, PassRunner& passes, const char* layout, Graph& prepared)
{
    const Target target = *Target::parse("cpu");
    prepared = take(graph::prepare(g, target, layout, "lathe", passes));
    return take(graph::partition(prepared, target, "lathe", passes));
}

const PassRun* firstRun(const PassRunner& passes, std::string_view name)
{
    for (const PassRun& one : passes.runs())
        if (one.pass == name)
            return &one;
    return nullptr;
}

} // namespace

class TestPassRunner : public QObject
{
    Q_OBJECT

private slots:
    void everyPassRunsIsTimedAndCounted();
    void thePassesSayWhatTheyChanged();
    void withoutAPassTheNetworkComputesTheSame_data();
    void withoutAPassTheNetworkComputesTheSame();
    void aPassThatOthersNeedIsNotLeftOut();
    void withoutFusionEveryNodeIsAFunction();
    void aNameThatIsNoPassIsRefused();
    void whatAPassBreaksIsNamed();
    void changesAreToldByNameAndOperands();
};

void TestPassRunner::everyPassRunsIsTimedAndCounted()
{
    PassRunner passes;
    Graph prepared;
    partitioned(busyNetwork(), passes, "NHWC", prepared);
    for (const graph::PassInfo& pass : graph::allPasses()) {
        const PassRun* const one = firstRun(passes, pass.name);
        QVERIFY2(one, std::string(pass.name).c_str());
        QVERIFY(!one->leftOut);
        QVERIFY(one->seconds > 0 && one->seconds < 60);
        QVERIFY(one->before > 0 && one->after > 0);
        QVERIFY(QString::fromStdString(graph::describe(*one))
                    .startsWith(QString::fromStdString(std::string(pass.name) + ": ")));
    }
    // One begins with what the one before it left.
    for (std::size_t i = 1; i < passes.runs().size(); ++i)
        QCOMPARE(passes.runs()[i].before, passes.runs()[i - 1].after);
}

void TestPassRunner::thePassesSayWhatTheyChanged()
{
    GraphMaker m;
    const ValueId product = m.node(
        "scaled", "multiply", {m.conv("conv", m.input("x", {1, 3, 5, 5}), {4, 3, 1, 1}), m.random("s", {4, 1, 1})});
    PassRunner passes;
    auto g = passes.run("fold-scale-axis", m.finish({product}), graph::foldScaleAxis);
    g = passes.run("fold-padding", std::move(g), graph::foldPadding);
    QVERIFY(g);
    const PassRun& fold = passes.runs()[0];
    QCOMPARE(fold.changes.size(), std::size_t{2});
    QCOMPARE(fold.changes[0].op, std::string("conv2d"));
    QCOMPARE(fold.changes[0].changed, 1);
    QCOMPARE(fold.changes[1].op, std::string("multiply"));
    QCOMPARE(fold.changes[1].removed, 1);
    QVERIFY(QString::fromStdString(graph::describe(fold))
                .endsWith("1 nodes of 2 before: removed 1 multiply; changed 1 conv2d"));
    QVERIFY(passes.runs()[1].changes.empty());
    QVERIFY(QString::fromStdString(graph::describe(passes.runs()[1])).endsWith("1 nodes: nothing changed"));
}

void TestPassRunner::withoutAPassTheNetworkComputesTheSame_data()
{
    QTest::addColumn<QString>("pass");
    for (const graph::PassInfo& pass : graph::allPasses())
        if (!pass.needed)
            QTest::newRow(std::string(pass.name).c_str()) << QString::fromStdString(std::string(pass.name));
}

void TestPassRunner::withoutAPassTheNetworkComputesTheSame()
{
    QFETCH(QString, pass);
    const Graph g = busyNetwork();
    Graph whole, prepared;
    PassRunner all;
    partitioned(g, all, "NHWC", whole);
    auto some = PassRunner::without({pass.toStdString()});
    QVERIFY(some);
    const graph::Partition p = partitioned(g, *some, "NHWC", prepared);
    const PassRun* const left = firstRun(*some, pass.toStdString());
    QVERIFY(left && left->leftOut);
    QCOMPARE(left->before, left->after);
    QCOMPARE(graph::describe(*left), pass.toStdString() + ": left out");
    QCOMPARE(disagreement(g, prepared), QString());
    // It was there for something.
    QVERIFY(std::ranges::any_of(all.runs(), [&](const PassRun& one) {
        return one.pass == pass.toStdString() && (!one.changes.empty() || one.before != one.after);
    }));
    QVERIFY(
        std::ranges::all_of(p.subgraphs, [](const graph::Subgraph& s) { return s.task >= 0 || s.noop || s.untuned; }));
    QCOMPARE(disagreement(g, DagExecutor(prepared, p, "direct").run()), QString());
}

void TestPassRunner::aPassThatOthersNeedIsNotLeftOut()
{
    int needed = 0;
    for (const graph::PassInfo& pass : graph::allPasses()) {
        if (!pass.needed)
            continue;
        ++needed;
        const auto passes = PassRunner::without({std::string(pass.name)});
        QVERIFY(!passes && passes.error().code == Errc::InvalidArgument);
        QVERIFY2(passes.error().message.find("no kernels") != std::string::npos, passes.error().message.c_str());
    }
    QCOMPARE(needed, 2);
}

void TestPassRunner::withoutFusionEveryNodeIsAFunction()
{
    auto passes = PassRunner::without({"fuse", "fuse-rows", "fuse-inputs"});
    QVERIFY(passes);
    Graph prepared;
    const graph::Partition p = partitioned(busyNetwork(), *passes, "", prepared);
    QCOMPARE(p.subgraphs.size(), prepared.nodes.size());
}

void TestPassRunner::aNameThatIsNoPassIsRefused()
{
    const auto passes = PassRunner::without({"fuse", "fold-everything"});
    QVERIFY(!passes);
    QVERIFY(passes.error().code == Errc::InvalidArgument);
    for (const char* word : {"'fold-everything'", "fold-scale-axis", "fuse-rows"})
        QVERIFY2(QString::fromStdString(passes.error().message).contains(word), passes.error().message.c_str());
}

void TestPassRunner::whatAPassBreaksIsNamed()
{
    PassRunner passes;
    const auto broken = passes.run("fold-padding", busyNetwork(), [](Graph g) -> Result<Graph> {
        g.nodes[1].inputs[0] = ValueId(9999);
        return g;
    });
    QVERIFY(!broken);
    QVERIFY(broken.error().code == Errc::Internal);
    QVERIFY(QString::fromStdString(broken.error().message).contains("fold-padding"));
}

void TestPassRunner::changesAreToldByNameAndOperands()
{
    GraphMaker m;
    const ValueId x = m.input("x", {4});
    const Graph before = m.finish({m.node("c", "add", {m.node("a", "exp", {x}), m.node("b", "tanh", {x})})});
    QVERIFY(graph::changesOf(before, before).empty());
    Graph after = before;
    after.nodes[0].op = "log"; // a
    std::swap(after.nodes[2].inputs[0], after.nodes[2].inputs[1]);
    const auto changes = graph::changesOf(before, after);
    QCOMPARE(changes.size(), std::size_t{3});
    QCOMPARE(changes[0].op, std::string("add"));
    QCOMPARE(changes[0].changed, 1);
    QCOMPARE(changes[1].removed, 1); // exp
    QCOMPARE(changes[2].added, 1); // log
}

LATHE_TEST(TestPassRunner)

} // namespace tst_pass_runner

#include "tst_pass_runner.moc"
