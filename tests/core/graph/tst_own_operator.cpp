// Operators of one's own, one registry entry each, go through every pass: what the passes know of them is in their
// traits.

#include "core/compute/definitions/dense.h"
#include "core/compute/definitions/elementwise.h"
#include "core/compute/definitions/transform.h"
#include "core/graph/fuse.h"
#include "core/graph/operator.h"
#include "core/graph/pass_runner.h"
#include "core/graph/task.h"
#include "dag_executor.h"
#include "tests/examples/operator/cube.h"
#include "tests/support/test_program.h"

#include <functional>
#include <map>

namespace tst_own_operator {

using namespace lathe;
using namespace lathe::test;
using examples::cube;
using graph::ConstData;
using graph::Graph;
using graph::HostTensor;
using graph::Node;
using graph::NodeId;
using graph::OpDef;
using graph::Pattern;
using graph::TensorType;
using graph::ValueId;

namespace {

using Types = std::vector<TensorType>;
using InputTypes = std::span<const TensorType>;
using Constants = std::span<const ConstData* const>;
using Operands = std::span<const HostTensor* const>;
using Tensors = std::span<const compute::Tensor>;

Result<Types> asFirst(const Node&, InputTypes inputs, Constants)
{
    return Types{inputs[0]};
}

/// A function of one float32, element by element.
OpDef ownUnary(std::string_view name, float (*function)(float),
               compute::Tensor (*definition)(compute::DagBuilder&, compute::Tensor), graph::OpTraits traits)
{
    return {name,
            Pattern::Elementwise,
            1,
            1,
            asFirst,
            [definition](const Node&, Tensors inputs, graph::ComputeContext& context) -> Result<compute::Tensor> {
                return definition(context.builder, inputs[0]);
            },
            [function](const Node&, Operands inputs, std::span<HostTensor> outputs) -> Result<> {
                const auto from = inputs[0]->as<float>();
                std::transform(from.begin(), from.end(), outputs[0].as<float>().begin(), function);
                return {};
            },
            std::move(traits)};
}

/// f(x s) = f(x) s for s > 0.
OpDef gate()
{
    return ownUnary(
        "own_gate", [](float x) { return x > 0 ? x : 0.25f * x; },
        [](compute::DagBuilder& b, compute::Tensor x) { return compute::leakyRelu(b, x, 0.25); },
        {.layout = graph::LayoutRule::Elementwise, .scale = graph::ScaleRule::Positive});
}

/// Passes its operand on, and says so.
OpDef watch()
{
    return ownUnary(
        "own_watch", [](float x) { return x; },
        [](compute::DagBuilder& b, compute::Tensor x) { return compute::cast(b, x, DType::F32); },
        {.layout = graph::LayoutRule::Elementwise,
         .simplify = [](Graph& g, NodeId id) { return g.node(id).inputs[0]; }});
}

/// x + y, which has a plain form.
OpDef plus()
{
    return {"own_plus",
            Pattern::Broadcast,
            2,
            2,
            asFirst,
            [](const Node&, Tensors inputs, graph::ComputeContext& context) -> Result<compute::Tensor> {
                return compute::binary(context.builder, compute::Binary::Add, inputs[0], inputs[1]);
            },
            [](const Node&, Operands inputs, std::span<HostTensor> outputs) -> Result<> {
                Node sum;
                sum.op = "add";
                return graph::findOperator(sum.op)->evaluate(sum, inputs, outputs);
            },
            {.layout = graph::LayoutRule::Elementwise,
             .mergesConstants = true,
             .neutral = 0,
             .canonicalize = [](Graph& g, NodeId id) { g.node(id).op = "add"; }}};
}

/// The first two dimensions as one.
OpDef lump()
{
    return {"own_lump",
            Pattern::Injective,
            1,
            1,
            [](const Node&, InputTypes inputs, Constants) -> Result<Types> {
                Shape shape(inputs[0].shape.begin() + 1, inputs[0].shape.end());
                shape[0] *= inputs[0].shape[0];
                return Types{{inputs[0].dtype, shape}};
            },
            [](const Node&, Tensors inputs, graph::ComputeContext& context) -> Result<compute::Tensor> {
                return compute::reshape(context.builder, inputs[0], context.outputTypes[0].shape);
            },
            [](const Node&, Operands inputs, std::span<HostTensor> outputs) -> Result<> {
                outputs[0].bytes = inputs[0]->bytes;
                return {};
            },
            {.layout = graph::LayoutRule::Reshape, .cost = graph::Cost::Free}};
}

/// Zeros: one row and column around an image in NCHW.
OpDef frame()
{
    const auto width = [](const Node&) { return std::optional(Shape{0, 0, 0, 0, 1, 1, 1, 1}); };
    const auto asPad = [](const Node& node) {
        Node pad = node;
        pad.op = "pad";
        pad.attrs = {{"pad_width", Shape{0, 0, 0, 0, 1, 1, 1, 1}}};
        return pad;
    };
    return {"own_frame",
            Pattern::Injective,
            1,
            1,
            [asPad](const Node& node, InputTypes inputs, Constants constants) {
                return graph::findOperator("pad")->inferTypes(asPad(node), inputs, constants);
            },
            [asPad](const Node& node, Tensors inputs, graph::ComputeContext& context) {
                return graph::findOperator("pad")->compute(asPad(node), inputs, context);
            },
            [asPad](const Node& node, Operands inputs, std::span<HostTensor> outputs) {
                return graph::findOperator("pad")->evaluate(asPad(node), inputs, outputs);
            },
            {.zeroPadding = width}};
}

/// data [m, k] times weight [n, k], with weights that take scales and a name of its own.
OpDef project()
{
    return {
        "own_project",
        Pattern::OutElementwiseFusable,
        2,
        2,
        [](const Node&, InputTypes inputs, Constants) -> Result<Types> {
            return Types{{inputs[0].dtype, {inputs[0].shape[0], inputs[1].shape[0]}}};
        },
        [](const Node&, Tensors inputs, graph::ComputeContext& context) -> Result<compute::Tensor> {
            return compute::dense(context.builder, inputs[0], inputs[1], context.era);
        },
        [](const Node&, Operands inputs, std::span<HostTensor> outputs) -> Result<> {
            Node dense;
            dense.op = "dense";
            return graph::findOperator(dense.op)->evaluate(dense, inputs, outputs);
        },
        {.sums = true,
         .label = [](const Graph& g,
                     const Node& node) { return "project to " + std::to_string(g.value(node.outputs[0]).shape[1]); },
         .weights =
             [](const Node&, std::span<const std::int64_t>, std::span<const std::int64_t>) {
                 return std::optional(graph::WeightAxes{1, 1, 0});
             }}};
}

/// A product by channel that foldScaleAxis and scaleWeights know as one.
OpDef times()
{
    OpDef entry = *graph::findOperator("multiply");
    entry.name = "own_times";
    entry.traits = {.layout = graph::LayoutRule::Elementwise, .scale = graph::ScaleRule::Product};
    return entry;
}

/// dimensions of an image in reverse: a permutation.
OpDef turn()
{
    OpDef entry = *graph::findOperator("transpose");
    entry.name = "own_turn";
    return entry;
}

/// Adds up rows.
OpDef total()
{
    OpDef entry = *graph::findOperator("sum");
    entry.name = "own_total";
    return entry;
}

const graph::Attrs kNhwc{{"strides", Shape{1, 1}},        {"padding", Shape{0, 0, 0, 0}},
                         {"dilations", Shape{1, 1}},      {"groups", std::int64_t{1}},
                         {"layout", std::string("NHWC")}, {"kernel_layout", std::string("HWIO")}};

/// A graph on which one pass has something to do with operators of our own, and what must be true afterwards.
struct Case
{
    std::function<Graph(GraphMaker&)> make;
    std::function<bool(const Graph& after)> done;
};

const Node& producerOf(const Graph& g, ValueId id)
{
    return g.node(g.value(id).producer);
}

/// By the name of the pass. Those that fuse are tested on partitions, below.
std::map<std::string, Case> cases()
{
    std::map<std::string, Case> all;
    all["convert-layout"] = {[](GraphMaker& m) {
                                 const ValueId x = m.conv("first", m.input("x", {1, 3, 6, 6}), {4, 3, 3, 3});
                                 return m.finish({m.conv("second", m.node("own", "own_cube", {x}), {2, 4, 3, 3})});
                             },
                             [](const Graph& g) { // it adopts its operand's layout: copies at the borders alone
                                 return count(g, "transpose") == 2
                                        && g.value(producerOf(g, g.outputs[0]).inputs[0]).shape == Shape({1, 6, 6, 2});
                             }};
    all["simplify-inference"] = {
        [](GraphMaker& m) {
            return m.finish({m.node("out", "own_cube", {m.node("own", "own_watch", {m.input("x", {4})})})});
        },
        [](const Graph& g) { return g.nodes.size() == 1; }};
    all["eliminate-common-subexpressions"] = {
        [](GraphMaker& m) {
            const ValueId x = m.input("x", {4});
            return m.finish({m.node("sum", "add", {m.node("a", "own_cube", {x}), m.node("b", "own_cube", {x})})});
        },
        [](const Graph& g) { return count(g, "own_cube") == 1; }};
    all["fold-constants"] = {
        [](GraphMaker& m) {
            return m.finish(
                {m.node("sum", "add", {m.input("x", {2}), m.node("own", "own_cube", {m.constant("c", {2}, {2, 3})})})});
        },
        [](const Graph& g) {
            return count(g, "own_cube") == 0
                   && *graph::constNumbers(g.value(g.nodes[0].inputs[1])) == std::vector<double>{8, 27};
        }};
    all["fold-scale-axis"] = {
        [](GraphMaker& m) {
            const ValueId product = m.node("own", "own_project", {m.input("x", {3, 5}), m.random("w", {2, 5})});
            return m.finish({m.node("scaled", "own_times",
                                    {m.node("gate", "own_gate", {product}), m.constant("s", {2}, {2, 0.5f})})});
        },
        [](const Graph& g) { return count(g, "own_times") == 0 && count(g, "own_project") == 1; }};
    all["simplify-expressions"] = {
        [](GraphMaker& m) {
            const ValueId lumped = m.node("b", "own_lump", {m.node("a", "own_lump", {m.input("x", {2, 3, 4})})});
            const ValueId same = m.node("none", "own_plus", {lumped, m.constant("zero", {}, {0})});
            const ValueId one = m.node("one", "own_plus", {same, m.constant("one_", {}, {1})});
            return m.finish({m.node("two", "own_plus", {one, m.constant("two_", {}, {2})})});
        },
        [](const Graph& g) {
            return count(g, "own_lump") == 0 && count(g, "reshape") == 1 && count(g, "own_plus") == 1;
        }};
    all["canonicalize-operators"] = {
        [](GraphMaker& m) {
            const ValueId sum = m.node("own", "own_plus", {m.input("x", {2, 3}), m.random("b", {3})});
            return m.finish({m.node("product", "own_times", {sum, m.random("c", {3})})});
        },
        [](const Graph& g) { // the plain form, and constants of full rank
            return count(g, "own_plus") == 0 && g.value(g.nodes[0].inputs[1]).shape == Shape({1, 3})
                   && g.value(g.nodes[1].inputs[1]).shape == Shape({1, 3});
        }};
    all["fold-padding"] = {
        [](GraphMaker& m) {
            return m.finish({m.conv("conv", m.node("own", "own_frame", {m.input("x", {1, 2, 5, 5})}), {3, 2, 3, 3})});
        },
        [](const Graph& g) {
            return g.nodes.size() == 1 && graph::attrInts(g.nodes[0], "padding") == Shape({2, 2, 2, 2});
        }};
    all["sink-reshapes"] = {
        [](GraphMaker& m) {
            const ValueId rows = m.node("rows", "own_lump", {m.input("x", {2, 5, 4})});
            const ValueId product = m.node("product", "own_project", {rows, m.random("w", {6, 4})});
            return m.finish(
                {m.node("act", "own_cube", {m.node("back", "reshape", {product}, {{"newshape", Shape{2, 5, 6}}})})});
        },
        [](const Graph& g) {
            return g.nodes.back().op == "reshape" && producerOf(g, g.nodes.back().inputs[0]).op == "own_cube";
        }};
    all["scale-weights"] = {
        [](GraphMaker& m) {
            const ValueId scale = m.node("gate", "own_cube", {m.input("scale", {1, 1, 1, 6})});
            const ValueId product = m.node("product", "own_times", {m.input("image", {1, 8, 8, 6}), scale});
            return m.finish({m.node("conv", "conv2d", {product, m.random("w", {1, 1, 6, 4})}, kNhwc)});
        },
        [](const Graph& g) {
            return count(g, "own_times") == 0 && !g.value(g.nodes.back().inputs[0]).producer.valid();
        }};
    return all;
}

Result<Graph> runAlone(const std::string& pass, Graph g)
{
    using Pass = Result<Graph> (*)(Graph);
    const std::map<std::string, Pass> passes = {
        {"convert-layout", [](Graph old) { return graph::convertLayout(std::move(old), "NHWC"); }},
        {"simplify-inference", graph::simplifyInference},
        {"eliminate-common-subexpressions", graph::eliminateCommonSubexpressions},
        {"fold-constants", graph::foldConstants},
        {"fold-scale-axis", graph::foldScaleAxis},
        {"simplify-expressions", graph::simplifyExpressions},
        {"canonicalize-operators", graph::canonicalizeOperators},
        {"fold-padding", graph::foldPadding},
        {"sink-reshapes", graph::sinkReshapes},
        {"scale-weights", graph::scaleWeights}};
    return passes.at(pass)(std::move(g));
}

} // namespace

class TestOwnOperator : public QObject
{
    Q_OBJECT

    const graph::AddedOperator m_added[10] = {graph::AddedOperator(cube()),    graph::AddedOperator(gate()),
                                              graph::AddedOperator(watch()),   graph::AddedOperator(plus()),
                                              graph::AddedOperator(lump()),    graph::AddedOperator(frame()),
                                              graph::AddedOperator(project()), graph::AddedOperator(times()),
                                              graph::AddedOperator(turn()),    graph::AddedOperator(total())};

private slots:
    void everyPassHasACase();
    void passesKnowIt_data();
    void passesKnowIt();
    void itIsFusedCutAndNamed();
    void rowsOfItAreJoined();
    void itsTranspositionJoinsAConvolution();
    void itGoesThroughTheWholePipeline_data();
    void itGoesThroughTheWholePipeline();
    void anOperatorOfWhichNothingIsSaidStaysRight();
    void itIsGoneAfterwards();
};

void TestOwnOperator::everyPassHasACase()
{
    const auto known = cases();
    for (const graph::PassInfo& pass : graph::allPasses())
        QVERIFY2(known.contains(std::string(pass.name)) || pass.name.starts_with("fuse"),
                 std::string(pass.name).c_str());
}

void TestOwnOperator::passesKnowIt_data()
{
    QTest::addColumn<QString>("pass");
    for (const auto& [name, unused] : cases())
        QTest::newRow(name.c_str()) << QString::fromStdString(name);
}

void TestOwnOperator::passesKnowIt()
{
    QFETCH(QString, pass);
    const Case one = cases().at(pass.toStdString());
    GraphMaker m;
    const Graph before = one.make(m);
    QVERIFY(!one.done(before));
    const Graph after = take(graph::inferTypes(take(runAlone(pass.toStdString(), before))));
    QVERIFY2(one.done(after), graph::print(after).c_str());
    QVERIFY(isNear(run(before), run(after)));
}

void TestOwnOperator::itIsFusedCutAndNamed()
{
    GraphMaker m;
    const ValueId product = m.node("product", "own_project", {m.input("x", {3, 5}), m.random("w", {2, 5})});
    const Graph g = m.finish({m.node("act", "own_cube", {product})});
    const auto p = take(graph::partition(g, *Target::parse("cpu"), "lathe"));
    QCOMPARE(p.tasks.size(), std::size_t{1});
    QCOMPARE(QString::fromStdString(p.tasks[0].name), QString("project to 2 batch 3 +own_cube"));
    QCOMPARE(QString::fromStdString(p.tasks[0].description), QString("vm_mod_fused_own_project_own_cube"));
    QCOMPARE(p.subgraphs.size(), std::size_t{1});
    QVERIFY(isNear(run(g), DagExecutor(g, p, "direct").run()));
}

void TestOwnOperator::rowsOfItAreJoined()
{
    GraphMaker m;
    const ValueId x = m.input("x", {20, 32});
    const ValueId sum = m.node("sum", "own_total", {x}, {{"axes", Shape{1}}, {"keepdims", std::int64_t{1}}});
    const Graph g = m.finish({m.node("out", "own_cube", {m.node("difference", "subtract", {x, sum})})});
    QVERIFY(graph::fuse(g).size() > 1);
    QCOMPARE(take(graph::partition(g, *Target::parse("cpu"), "lathe")).subgraphs.size(), std::size_t{1});
}

void TestOwnOperator::itsTranspositionJoinsAConvolution()
{
    GraphMaker m;
    const ValueId photo = m.node("turned", "own_turn", {m.input("x", {1, 3, 8, 8})}, {{"axes", Shape{0, 2, 3, 1}}});
    const Graph g = m.finish({m.node("conv", "conv2d", {photo, m.random("w", {3, 3, 3, 4})}, kNhwc)});
    QCOMPARE(take(graph::partition(g, *Target::parse("cpu"), "lathe")).subgraphs.size(), std::size_t{1});
    QCOMPARE(take(graph::partition(g, *Target::parse("cpu"), "reference")).subgraphs.size(), std::size_t{2});
}

void TestOwnOperator::itGoesThroughTheWholePipeline_data()
{
    QTest::addColumn<QString>("layout");
    QTest::addColumn<QString>("partition");
    for (const char* layout : {"", "NHWC"})
        for (const char* partition : {"reference", "lathe"})
            QTest::addRow("%s %s", *layout ? layout : "as written", partition) << layout << partition;
}

void TestOwnOperator::itGoesThroughTheWholePipeline()
{
    QFETCH(QString, layout);
    QFETCH(QString, partition);
    GraphMaker m;
    ValueId y = m.conv("conv", m.node("frame", "own_frame", {m.input("x", {1, 3, 6, 6})}), {4, 3, 3, 3});
    y = m.node("act", "own_cube", {m.node("watched", "own_watch", {m.batchNorm("bn", y, 4)})});
    y = m.node("scaled", "own_times",
               {m.node("gated", "own_gate", {m.conv("second", y, {4, 4, 1, 1})}), m.random("s", {4, 1, 1}, 0.5f, 2)});
    y = m.node("flat", "batch_flatten", {m.node("pool", "global_avg_pool2d", {y}, {{"layout", std::string("NCHW")}})});
    const Graph g = m.finish({m.node(
        "sum", "own_plus", {m.node("product", "own_project", {y, m.random("w", {5, 4})}), m.random("b", {5})})});
    graph::PassRunner passes;
    const Target target = *Target::parse("cpu");
    const Graph prepared = take(graph::prepare(g, target, layout.toStdString(), partition.toStdString(), passes));
    QVERIFY(isNear(run(g), run(prepared)));
    QCOMPARE(count(prepared, "own_frame"),
             layout.isEmpty() ? 0 : 1); // it says nothing of layouts: a copy lies between it and the convolution
    QCOMPARE(count(prepared, "own_watch") + count(prepared, "own_times") + count(prepared, "own_plus"), 0);
    QCOMPARE(count(prepared, "own_cube") + count(prepared, "own_gate") + count(prepared, "own_project"), 3);
    const auto p = take(graph::partition(prepared, target, partition.toStdString(), passes));
    QCOMPARE(p.tasks.size(), std::size_t{4}); // two convolutions, the pool, the product: all else is in them
    QVERIFY(p.tasks[0].name.starts_with("project to 5"));
    QVERIFY(isNear(run(g), DagExecutor(prepared, p, "direct").run()));
}

void TestOwnOperator::anOperatorOfWhichNothingIsSaidStaysRight()
{
    OpDef silent = cube();
    silent.name = "own_silent";
    silent.traits = {};
    const graph::AddedOperator added(silent);
    GraphMaker m;
    const ValueId x = m.conv("first", m.input("x", {1, 3, 6, 6}), {4, 3, 3, 3});
    const Graph g = m.finish({m.batchNorm("bn", m.conv("second", m.node("own", "own_silent", {x}), {2, 4, 3, 3}), 2)});
    graph::PassRunner passes;
    const Graph prepared = take(graph::prepare(g, *Target::parse("cpu"), "NHWC", "lathe", passes));
    QCOMPARE(count(prepared, "own_silent"), 1);
    QVERIFY(isNear(run(g), run(prepared)));
    QVERIFY(graph::partition(prepared, *Target::parse("cpu"), "lathe"));
}

void TestOwnOperator::itIsGoneAfterwards()
{
    const std::size_t before = graph::allOperators().size();
    {
        OpDef other = cube();
        other.name = "own_guest";
        const graph::AddedOperator added(other);
        QVERIFY(graph::findOperator("own_guest"));
        QCOMPARE(graph::allOperators().size(), before + 1);
    }
    QVERIFY(!graph::findOperator("own_guest"));
    QCOMPARE(graph::allOperators().size(), before);
}

LATHE_TEST(TestOwnOperator)

} // namespace tst_own_operator

#include "tst_own_operator.moc"
