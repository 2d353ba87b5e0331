// Control flow in graphs: bodies, their flat form, and how passes and the partition treat them.

#include "core/graph/flatten.h"
#include "core/graph/pass_runner.h"
#include "core/graph/task.h"
#include "graph_fixture.h"
#include "tests/support/test_program.h"

#include <algorithm>
#include <limits>

namespace tst_control {

using namespace lathe;
using namespace lathe::graph;
using test::GraphMaker;
using test::Shape;

namespace {

ValueId number(Graph& graph, const char* name, std::int64_t value)
{
    return graph.addConstant(name, DType::I64, {}, makeConst(&value, sizeof value));
}

ValueId truth(Graph& graph, const char* name, bool value)
{
    const std::uint8_t byte = value ? 1 : 0;
    return graph.addConstant(name, DType::Bool, {}, makeConst(&byte, 1));
}

/// x -> x * w + captured, of [4, 8] each, w of [8, 8].
Graph denseBody(const char* name)
{
    GraphMaker maker;
    const ValueId x = maker.input("x", {4, 8});
    const ValueId captured = maker.input("captured", {4, 8});
    const ValueId y = maker.node("dense", "dense", {x, maker.random("w", {8, 8})});
    Graph body = maker.finish({maker.node("sum", "add", {y, captured})});
    body.name = name;
    return body;
}

/// The body as that of a loop: (iteration, condition, x, captured) -> (condition, y, row).
std::shared_ptr<const Graph> loopBody(Graph body)
{
    const ValueId iteration = body.addValue("iteration", DType::I64, {});
    const ValueId condition = body.addValue("condition", DType::Bool, {});
    body.inputs.insert(body.inputs.begin(), {iteration, condition});
    body.outputs = {condition, body.outputs[0], body.outputs[0]};
    return std::make_shared<const Graph>(std::move(body));
}

/// relu(x) goes `trips` times through the body, then through a dense layer of the same shape: y, the rows.
Graph loopOf(std::int64_t trips, std::int64_t most)
{
    GraphMaker maker;
    const ValueId x = maker.input("x", {4, 8});
    const ValueId before = maker.node("before", "relu", {x});
    Graph g = maker.finish({before});
    Node loop;
    loop.name = "loop";
    loop.op = "loop";
    loop.attrs = {{"carried", std::int64_t{1}}, {"most", most}};
    loop.inputs = {number(g, "trips", trips), truth(g, "always", true), before, x};
    loop.outputs = {g.addValue("end", DType::F32, {4, 8}), g.addValue("rows", DType::F32, {most, 4, 8}),
                    g.addValue("count", DType::I64, {})};
    loop.bodies = {loopBody(denseBody("body"))};
    g.outputs = {loop.outputs[0], loop.outputs[1], loop.outputs[2]};
    g.addNode(std::move(loop));
    return g;
}

/// Carries x on and on.
Graph endlessLoop()
{
    Graph g;
    const ValueId x = g.addValue("x", DType::F32, {4, 8});
    g.inputs = {x};
    Graph body;
    body.inputs = {body.addValue("iteration", DType::I64, {}), body.addValue("condition", DType::Bool, {}),
                   body.addValue("x", DType::F32, {4, 8})};
    body.outputs = {body.inputs[1], body.inputs[2]};
    Node loop;
    loop.name = "loop";
    loop.op = "loop";
    loop.attrs = {{"carried", std::int64_t{1}}};
    loop.inputs = {number(g, "trips", std::numeric_limits<std::int64_t>::max()), truth(g, "always", true), x};
    loop.outputs = {g.addValue("end", DType::F32, {4, 8}), g.addValue("count", DType::I64, {})};
    loop.bodies = {std::make_shared<const Graph>(std::move(body))};
    g.outputs = {loop.outputs[0]};
    g.addNode(std::move(loop));
    return g;
}

/// A branch around the body: condition ? body(x, x) : x.
Graph branchOf(bool constant)
{
    GraphMaker maker;
    const ValueId x = maker.input("x", {4, 8});
    Graph g = maker.finish({x});
    const ValueId condition = constant ? truth(g, "c", true) : g.addValue("c", DType::Bool, {1});
    if (!constant)
        g.inputs.push_back(condition);
    Graph other;
    other.inputs = {other.addValue("x", DType::F32, {4, 8}), other.addValue("unused", DType::F32, {4, 8})};
    other.outputs = {other.inputs[0]};
    Node node;
    node.name = "fork";
    node.op = "if";
    node.inputs = {condition, x, x};
    node.outputs = {g.addValue("y", DType::F32, {4, 8})};
    node.bodies = {std::make_shared<const Graph>(denseBody("yes")), std::make_shared<const Graph>(std::move(other))};
    g.outputs = node.outputs;
    g.addNode(std::move(node));
    return g;
}

HostTensor someTensor(std::uint64_t seed = 3)
{
    HostTensor x = HostTensor::zeros({DType::F32, {4, 8}});
    Random random(seed, 0, 0);
    for (float& v : x.as<float>())
        v = static_cast<float>(random.uniform()) - 0.5F;
    return x;
}

QString errorOf(const Result<Graph>& graph)
{
    return graph ? QString() : QString::fromStdString(graph.error().message);
}

} // namespace

class TestControl : public QObject
{
    Q_OBJECT

private slots:
    void aLoopRunsItsBodyAndStacksRows()
    {
        const Graph g = loopOf(3, 3);
        QVERIFY2(verify(g) && inferTypes(g), qPrintable(errorOf(inferTypes(g))));
        const HostTensor x = someTensor();
        const auto result = interpret(g, {x});
        QVERIFY2(result, result ? "" : result.error().message.c_str());
        // By hand: three runs of the body.
        HostTensor value = x;
        for (float& v : value.as<float>())
            v = std::max(v, 0.0F);
        for (int i = 0; i < 3; ++i) {
            value = (*interpret(denseBody("body"), {value, x}))[0];
            QVERIFY(std::equal(value.bytes.begin(), value.bytes.end(),
                               (*result)[1].bytes.begin() + static_cast<std::ptrdiff_t>(i * value.bytes.size())));
        }
        QVERIFY((*result)[0].bytes == value.bytes);
        QCOMPARE((*result)[2].as<std::int64_t>()[0], std::int64_t{3});
        QVERIFY(!interpret(loopOf(4, 3), {x})); // more rows than there is room for
        const auto endless = interpret(endlessLoop(), {x});
        QVERIFY(!endless);
        QVERIFY(QString::fromStdString(endless.error().message).contains("is not at its end"));
        const auto none = interpret(loopOf(-1, 3), {x});
        QVERIFY(none);
        QCOMPARE((*none)[2].as<std::int64_t>()[0], std::int64_t{0});
    }

    void theFlatFormKeepsRegionsTogether()
    {
        const Graph flat = *flatten(loopOf(3, 3));
        QCOMPARE(flat.regions.size(), std::size_t{1});
        QCOMPARE(flat.regions[0].trips, std::int64_t{3});
        QStringList ops;
        for (const Node& node : flat.nodes)
            ops << QString("%1:%2").arg(QString::fromStdString(node.op)).arg(node.region);
        QCOMPARE(ops, (QStringList{"relu:-1", "loop_begin:-1", "dense:0", "add:0", "loop_end:-1"}));
        QVERIFY(inferTypes(flat));
        const Graph forked = *flatten(branchOf(false));
        QCOMPARE(forked.regions.size(), std::size_t{2});
        QCOMPARE(forked.nodes.back().op, std::string("branch_end"));
        QVERIFY(inferTypes(forked));
        // Without control flow nothing changes.
        QCOMPARE(print(*flatten(denseBody("b"))), print(denseBody("b")));
    }

    void whatBodiesCaptureInVainIsNotComputed()
    {
        // Both branches capture exp(x): in the one nothing needs what reads it, the other has it as an unused input.
        GraphMaker maker;
        const ValueId x = maker.input("x", {4, 8});
        Graph g = maker.finish({maker.node("vain", "exp", {x})});
        const ValueId vain = g.outputs[0], condition = g.addValue("condition", DType::Bool, {});
        g.inputs.push_back(condition);
        std::vector<std::shared_ptr<const Graph>> bodies;
        for (const bool reads : {true, false}) {
            GraphMaker inside;
            const ValueId data = inside.input("data", {4, 8}), captured = inside.input("captured", {4, 8});
            if (reads)
                inside.node("dead", "negative", {captured});
            bodies.push_back(
                std::make_shared<const Graph>(inside.finish({inside.node("kept", reads ? "exp" : "relu", {data})})));
        }
        Node node;
        node.name = "fork";
        node.op = "if";
        node.inputs = {condition, x, vain};
        node.outputs = {g.addValue("y", DType::F32, {4, 8})};
        node.bodies = bodies;
        g.outputs = node.outputs;
        g.addNode(std::move(node));
        const Graph flat = *flatten(g);
        QStringList ops;
        for (const Node& each : flat.nodes)
            ops << QString("%1:%2").arg(QString::fromStdString(each.op)).arg(each.region);
        QCOMPARE(ops, (QStringList{"branch_begin:-1", "exp:0", "relu:1", "branch_end:-1"}));
        QVERIFY(inferTypes(flat));
        QVERIFY(partition(flat, *Target::parse("cpu"), "lathe"));
    }

    /// Passes put transposes where they are read: those of what a loop only reads need not be made again and again.
    void ordersOfDimensionsThatALoopOnlyReadsAreMadeInFront()
    {
        GraphMaker maker;
        const ValueId x = maker.input("x", {4, 8}), other = maker.input("other", {8, 4});
        Graph g = maker.finish({x});
        Graph body;
        body.inputs = {body.addValue("iteration", DType::I64, {}), body.addValue("condition", DType::Bool, {}),
                       body.addValue("x", DType::F32, {4, 8}), body.addValue("other", DType::F32, {8, 4})};
        const ValueId turned = body.addValue("turned", DType::F32, {4, 8}),
                      back = body.addValue("back", DType::F32, {8, 4}),
                      again = body.addValue("again", DType::F32, {4, 8}),
                      sum = body.addValue("sum", DType::F32, {4, 8});
        const Attrs axes = {{"axes", std::vector<std::int64_t>{1, 0}}};
        body.addNode({"turn_captured", "transpose", axes, {body.inputs[3]}, {turned}, {}});
        body.addNode({"turn_carried", "transpose", axes, {body.inputs[2]}, {back}, {}});
        body.addNode({"turn_back", "transpose", axes, {back}, {again}, {}});
        body.addNode({"add", "add", {}, {again, turned}, {sum}, {}});
        body.outputs = {body.inputs[1], sum};
        Node loop;
        loop.name = "loop";
        loop.op = "loop";
        loop.attrs = {{"carried", std::int64_t{1}}};
        loop.inputs = {number(g, "trips", 3), truth(g, "always", true), x, other};
        loop.outputs = {g.addValue("end", DType::F32, {4, 8}), g.addValue("count", DType::I64, {})};
        loop.bodies = {std::make_shared<const Graph>(std::move(body))};
        g.outputs = {loop.outputs[0]};
        g.addNode(std::move(loop));
        const auto flat = flatten(g);
        QVERIFY2(flat, errorOf(flat).toUtf8().constData());
        std::vector<std::string> order;
        for (const Node& node : flat->nodes)
            order.push_back(node.name + " " + std::to_string(node.region));
        QCOMPARE(order, (std::vector<std::string>{"turn_captured -1", "loop -1", "turn_carried 0", "turn_back 0",
                                                  "add 0", "loop_end -1"}));
    }

    void aTaskInALoopWeighsItsTrips()
    {
        const Target target = *Target::parse("cpu");
        for (const char* const kind : {"lathe", "reference"}) {
            PassRunner passes;
            const Graph flat = *flatten(*prepare(loopOf(5, 5), target, {}, kind, passes));
            const Partition p = *partition(flat, target, kind);
            QCOMPARE(p.tasks.size(), std::size_t{1});
            QCOMPARE(p.tasks[0].weight, 5);
            QCOMPARE(p.tasks[0].occurrences.size(), std::size_t{1});
            QVERIFY(p.tasks[0].inLoop && !p.tasks[0].inBranch);
            const Graph forked = *flatten(*prepare(branchOf(false), target, {}, kind, passes));
            const Partition q = *partition(forked, target, kind);
            QCOMPARE(q.tasks.size(), std::size_t{1});
            QCOMPARE(q.tasks[0].weight, 1);
            QVERIFY(q.tasks[0].inBranch && !q.tasks[0].inLoop);
            for (const Partition* each : {&p, &q})
                for (const Subgraph& s : each->subgraphs)
                    for (const NodeId id : s.nodes)
                        QCOMPARE((each == &p ? flat : forked).node(id).region, s.region);
        }
    }

    void nothingIsFusedAcrossARegion()
    {
        // relu(x) is read in the loop alone: as elementwise work it would join what reads it.
        const Target target = *Target::parse("cpu");
        const Graph flat = *flatten(loopOf(3, 3));
        const Partition p = *partition(flat, target, "lathe");
        QCOMPARE(p.subgraphs.size(), std::size_t{4}); // relu, the beginning, the body, the end
        QVERIFY(p.subgraphs[1].control && p.subgraphs[3].control);
        QCOMPARE(p.subgraphs[2].nodes.size(), std::size_t{2});
        QVERIFY(!p.subgraphs[1].reason.empty());
    }

    void passesGoIntoBodiesAndConstantsToo()
    {
        // What is captured turns out to be a constant: it goes into the body, where it is folded.
        GraphMaker maker;
        const ValueId x = maker.input("x", {4, 8});
        const ValueId c = maker.node("doubled", "add", {maker.random("c", {4, 8}), maker.random("d", {4, 8})});
        Graph g = maker.finish({c});
        const ValueId condition = g.addValue("condition", DType::Bool, {});
        g.inputs.push_back(condition);
        GraphMaker inside;
        const ValueId data = inside.input("data", {4, 8});
        const ValueId captured = inside.input("captured", {4, 8});
        const ValueId negative = inside.node("negative", "negative", {captured});
        auto body = std::make_shared<const Graph>(inside.finish({inside.node("sum", "add", {data, negative})}));
        Node node;
        node.name = "fork";
        node.op = "if";
        node.inputs = {condition, x, c};
        node.outputs = {g.addValue("y", DType::F32, {4, 8})};
        node.bodies = {body, body};
        g.outputs = node.outputs;
        g.addNode(std::move(node));
        PassRunner passes;
        const auto o = optimize(g, *Target::parse("cpu"), passes);
        QVERIFY2(o, qPrintable(errorOf(o)));
        QCOMPARE(o->nodes.size(), std::size_t{1});
        QCOMPARE(o->nodes[0].inputs.size(), std::size_t{2});
        for (const auto& branch : o->nodes[0].bodies) {
            QCOMPARE(branch->nodes.size(), std::size_t{1});
            QCOMPARE(branch->inputs.size(), std::size_t{1});
        }
        std::vector<HostTensor> inputs = {someTensor(), HostTensor::zeros({DType::Bool, {}})};
        QVERIFY((*interpret(*o, inputs))[0].bytes == (*interpret(g, inputs))[0].bytes);
        // The runner counts nodes of bodies: what was folded is gone in both.
        const auto folded = std::ranges::find_if(
            passes.runs(), [](const PassRun& run) { return run.pass == "fold-constants" && run.after < run.before; });
        QVERIFY(folded != passes.runs().end());
        QCOMPARE(folded->before - folded->after, std::int64_t{3});
    }

    void unsoundBodiesAreRefused()
    {
        Graph deep = branchOf(false);
        for (int i = 0; i < kDeepestBodies + 1; ++i) {
            Graph around = branchOf(false);
            Graph inner = deep;
            inner.inputs = {inner.inputs[0], inner.addValue("unused", DType::F32, {4, 8})};
            around.nodes[0].bodies[1] = std::make_shared<const Graph>(std::move(deep));
            deep = std::move(around);
        }
        const auto sound = verify(deep);
        QVERIFY(!sound);
        QVERIFY(QString::fromStdString(sound.error().message).contains("more than 16 deep"));

        const auto refuses = [](Graph g, const char* words) {
            const QString error = errorOf(inferTypes(std::move(g)));
            QVERIFY2(error.contains(words), qPrintable(error));
        };
        Graph one = branchOf(false);
        one.nodes[0].bodies.pop_back();
        refuses(one, "1 branches instead of 2");
        Graph other = branchOf(false);
        Graph body = *other.nodes[0].bodies[1];
        body.outputs = {body.addConstant("c", DType::F32, {2}, makeConst("12345678", 8))};
        other.nodes[0].bodies[1] = std::make_shared<const Graph>(body);
        refuses(other, "its branches give float32 [4, 8] and float32 [2]");
        Graph count = loopOf(3, 3);
        count.nodes[1].inputs[0] = count.inputs[0];
        refuses(count, "the number of trips must be one int64");
        Graph carried = loopOf(3, 3);
        carried.nodes[1].attrs["carried"] = std::int64_t{9};
        refuses(carried, "cannot carry 9");
        Graph rows = loopOf(3, 3);
        rows.nodes[1].attrs.erase("most");
        refuses(rows, "how many there are at most");
        Graph inputs = loopOf(3, 3);
        inputs.nodes[1].inputs.pop_back();
        refuses(inputs, "takes 4 values, it is given 3");
        Graph condition = branchOf(false);
        condition.nodes[0].inputs[0] = condition.inputs[0];
        refuses(condition, "the condition must be one bool");
    }
};

LATHE_TEST(TestControl)

} // namespace tst_control

#include "tst_control.moc"
