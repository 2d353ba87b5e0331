#include "core/frontend/zoo.h"
#include "core/graph/pass_runner.h"
#include "core/graph/plan/layout_plan.h"
#include "random_layouts.h"
#include "tests/support/test_program.h"

#include <cmath>
#include <numeric>
#include <set>

namespace tst_layout_plan {

using namespace lathe;
using namespace lathe::test;
using namespace lathe::test::layouts;

class TestLayoutPlan : public QObject
{
    Q_OBJECT

private slots:
    void groupsOfOneTaskHaveItsCandidates();
    void aPlanSaysWhatItCosts();
    void whatIsReadPlainlyIsConvertedBack();
    void joinsFollowTheirLeader();
    void joinsWhoseBlocksWouldCrossASeamArePlain();
    void loopsPayForEachRun();
    void randomNetworksArePlannedAsByBruteForce();
    void pinsChangeWhatTheyMust();
    void pinsThatCannotBeAreRefused();
    void theReductionsStepInForTooManyStates();
    void whatCannotBeConvertedAtAllIsSaid();
    void resnet18IsPlannedExactly();
};

void TestLayoutPlan::groupsOfOneTaskHaveItsCandidates()
{
    GraphMaker m;
    const ValueId a = m.conv("a", m.input("x", {1, 8, 4, 4}), {8, 8, 3, 3});
    const LayoutGraph layouts = reducedOf(m.finish({m.conv("b", a, {8, 8, 3, 3})}));
    QCOMPARE(layouts.nodes[0].task, layouts.nodes[1].task);
    const auto all = take(candidatesOf(layouts, {{0, {candidate("NCHW", "NCHW8c", 1, "one")}}}));
    QCOMPARE(all[0][0].id, all[1][0].id);
    // They choose apart: what the first cannot do pays for the second.
    const LayoutProblem problem = take(makeLayoutProblem(
        layouts,
        take(candidatesOf(layouts, {{0,
                                     {candidate("NCHW", "NCHW8c", 3, "first"), candidate("NCHW8c", "NCHW", 3, "second"),
                                      candidate("NCHW", "NCHW", 4, "plain")}}})),
        each(2)));
    const LayoutPlan plan = take(planLayouts(problem));
    QCOMPARE(plan.nodes[0].id, std::string("first"));
    QCOMPARE(plan.nodes[1].id, std::string("second"));
}

void TestLayoutPlan::aPlanSaysWhatItCosts()
{
    const LayoutProblem problem = pair();
    for (const Solver solver : {Solver::Auto, Solver::Dynamic, Solver::Pbqp}) {
        const LayoutPlan plan = take(planLayouts(problem, {.solver = solver}));
        QCOMPARE(plan.seconds, 11.0);
        QCOMPARE(plan.kernelSeconds, 11.0);
        QVERIFY(plan.optimal);
        QCOMPARE(plan.solver, solver == Solver::Pbqp ? Solver::Pbqp : Solver::Dynamic);
        QCOMPARE(plan.nodes[0].id, std::string("a1"));
        QCOMPARE(plan.nodes[0].seconds, 6.0);
        QCOMPARE(plan.nodes[0].output.text(), std::string("NCHW8c"));
        QCOMPARE(plan.nodes[1].id, std::string("b0"));
        QCOMPARE(plan.edges.size(), std::size_t{3});
        QCOMPARE(plan.edges[1].written.text(), std::string("NCHW8c"));
        QVERIFY(std::ranges::none_of(plan.edges, [](const PlannedEdge& e) { return e.converts() || e.seconds != 0; }));
    }
    // Where conversions are as good as free, each takes its fastest kernel; where they are dear, nobody converts.
    const auto with = [&](double seconds) {
        GraphMaker m;
        const ValueId a = m.conv("a", m.input("x", {1, 8, 4, 4}), {8, 8, 3, 3});
        return problemOf(m.finish({m.conv("b", a, {8, 8, 3, 3})}),
                         {{"a", {candidate("NCHW", "NCHW4c", 1), candidate("NCHW", "NCHW", 9)}},
                          {"b", {candidate("NCHW8c", "NCHW8c", 1), candidate("NCHW", "NCHW", 9)}}},
                         each(seconds));
    };
    const LayoutPlan cheap = take(planLayouts(with(1)));
    QCOMPARE(cheap.seconds, 4.0);
    QCOMPARE(cheap.kernelSeconds, 2.0);
    QVERIFY(cheap.edges[1].converts() && cheap.edges[2].converts() && !cheap.edges[0].converts());
    QCOMPARE(cheap.edges[2].read.text(), std::string("NCHW"));
    const LayoutPlan dear = take(planLayouts(with(100)));
    QCOMPARE(dear.seconds, 18.0);
    QCOMPARE(dear.kernelSeconds, 18.0);
    QCOMPARE(take(planFastestKernels(with(100))).seconds, 202.0);
    QCOMPARE(take(planFastestKernels(with(100))).kernelSeconds, 2.0);
}

void TestLayoutPlan::whatIsReadPlainlyIsConvertedBack()
{
    GraphMaker m;
    const ValueId scale = m.conv("scale", m.input("s", {1, 8, 1, 1}), {8, 8, 1, 1});
    const ValueId b = m.conv("b", m.input("x", {1, 8, 4, 4}), {8, 8, 3, 3});
    const LayoutProblem problem = problemOf(
        m.finish({m.node("scaled", "multiply", {b, scale})}),
        {{"scale", {candidate("NCHW", "NCHW8c", 1)}}, {"b+multiply", {candidate("NCHW", "NCHW8c", 1)}}}, each(5));
    const LayoutPlan plan = take(planLayouts(problem));
    QCOMPARE(plan.seconds, 2.0 + 5 + 5); // the scale, and the network's output
    QCOMPARE(std::ranges::count_if(plan.edges, [](const PlannedEdge& e) { return e.converts(); }), 2);
    // An edge that is pinned asks its reader for nothing that that one cannot choose.
    const auto edge = std::ranges::find_if(
        problem.graph.edges, [](const LayoutEdge& e) { return e.from >= 0 && e.to >= 0 && e.reads == Reads::Plain; });
    QVERIFY(edge != problem.graph.edges.end());
    const auto index = static_cast<std::int32_t>(edge - problem.graph.edges.begin());
    QCOMPARE(take(planPinned(problem, plan, {{Pin::What::Edge, index, layout("NCHW8c")}})).difference, 0.0);
}

void TestLayoutPlan::joinsFollowTheirLeader()
{
    GraphMaker m;
    const ValueId x = m.input("x", {1, 8, 4, 4});
    const ValueId a = m.conv("a", x, {8, 8, 3, 3}), b = m.conv("b", x, {8, 8, 3, 3});
    const ValueId joined = m.node("join", "concatenate", {a, b}, {{"axis", std::int64_t{1}}});
    const LayoutProblem problem = problemOf(m.finish({m.conv("c", joined, {8, 16, 3, 3})}),
                                            {{"a", {candidate("NCHW", "NCHW4c", 5), candidate("NCHW", "NCHW8c", 6)}},
                                             {"b", {candidate("NCHW", "NCHW", 1)}},
                                             {"c", {candidate("NCHW", "NCHW", 1)}}},
                                            [](const Conversion& c) { return c.from.text() == "NCHW4c" ? 10.0 : 1.0; });
    // A join in the plain layout would cost one conversion: its leader's is what counts. The join has no costs itself,
    // so that no kernel is counted twice.
    const LayoutPlan plan = take(planLayouts(problem));
    QCOMPARE(plan.nodes[2].output.text(), std::string("NCHW8c"));
    QCOMPARE(plan.nodes[2].seconds, 0.0);
    QCOMPARE(plan.kernelSeconds, 6.0 + 1 + 1);
    QCOMPARE(plan.seconds, 8.0 + 1 + 1);
}

void TestLayoutPlan::joinsWhoseBlocksWouldCrossASeamArePlain()
{
    GraphMaker m;
    const ValueId x = m.input("x", {1, 8, 4, 4});
    const ValueId a = m.conv("a", x, {16, 8, 3, 3}), b = m.conv("b", x, {8, 8, 3, 3});
    const ValueId joined = m.node("join", "concatenate", {a, b}, {{"axis", std::int64_t{1}}});
    const LayoutProblem problem = problemOf(m.finish({m.conv("c", joined, {8, 24, 3, 3})}),
                                            {{"a", {candidate("NCHW", "NCHW16c", 1), candidate("NCHW", "NCHW8c", 9)}},
                                             {"b", {candidate("NCHW", "NCHW8c", 1)}},
                                             {"c", {candidate("NCHW", "NCHW", 1)}}},
                                            each(2));
    QCOMPARE(problem.candidates[2].size(), std::size_t{2}); // plain for NCHW16c, and NCHW8c
    const LayoutPlan plan = take(planLayouts(problem));
    QCOMPARE(plan.nodes[2].output.text(), std::string("NCHW"));
    QCOMPARE(plan.kernelSeconds, 3.0);
    QCOMPARE(plan.seconds, 7.0);
    const PinnedPlan pinned = take(planPinned(problem, plan, {{Pin::What::Node, 0, layout("NCHW8c")}}));
    QCOMPARE(pinned.plan.nodes[2].output.text(), std::string("NCHW8c"));
    QCOMPARE(pinned.plan.seconds, 11.0 + 2);
}

void TestLayoutPlan::loopsPayForEachRun()
{
    LayoutProblem problem = pair();
    problem.graph.nodes[1].runs = 10;
    problem.graph.edges[1].runs = 10;
    problem = take(makeLayoutProblem(problem.graph, problem.candidates, each(3)));
    const LayoutPlan plan = take(planPinned(problem, {}, {{Pin::What::Node, 0, layout("NCHW")}})).plan;
    QCOMPARE(plan.nodes[1].id, std::string("b1"));
    QCOMPARE(plan.nodes[1].seconds, 70.0);
    QCOMPARE(plan.seconds, 80.0);
    QCOMPARE(take(planPinned(problem, {}, {{Pin::What::Edge, 0, layout("NCHW")}})).plan.seconds, 6.0 + 50);
    problem.graph.edges[1].runs = problem.graph.nodes[1].runs = 0; // a loop that never runs
    problem = take(makeLayoutProblem(problem.graph, problem.candidates, each(kNever)));
    QCOMPARE(take(planLayouts(problem)).seconds, 6.0);
}

void TestLayoutPlan::randomNetworksArePlannedAsByBruteForce()
{
    int sums = 0, conversions = 0;
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        const RandomNetwork network(seed);
        const LayoutProblem problem = network.problem();
        const std::string place = "seed " + std::to_string(seed);
        const double best = network.bruteForce();
        const LayoutPlan exact = take(planLayouts(problem, {.solver = Solver::Dynamic}));
        const LayoutPlan reducedPlan = take(planLayouts(problem, {.solver = Solver::Pbqp}));
        QVERIFY2(exact.seconds == best, (place + ": " + std::to_string(exact.seconds - best)).c_str());
        QVERIFY2(exact.optimal, place.c_str());
        QVERIFY2(reducedPlan.optimal ? reducedPlan.seconds == best : reducedPlan.seconds >= best, place.c_str());
        double sum = exact.kernelSeconds;
        for (const PlannedEdge& edge : exact.edges) {
            sum += edge.seconds;
            conversions += edge.converts();
            QVERIFY2(edge.converts() == (edge.seconds > 0), place.c_str());
        }
        QVERIFY2(sum == exact.seconds, place.c_str());
        sums += network.sums();

        // The first convolution is the first node. Pinned to each layout that it can give:
        std::set<Layout> results;
        for (const LayoutCandidate& c : network.candidates()[0])
            results.insert(c.output);
        for (const Layout& result : results) {
            const PinnedPlan pinned = take(planPinned(problem, exact, {{Pin::What::Node, 0, result}}));
            QVERIFY2(pinned.plan.seconds == network.bruteForce(0, result), place.c_str());
            QVERIFY2(pinned.difference == pinned.plan.seconds - best && pinned.difference >= 0, place.c_str());
        }
    }
    QVERIFY2(sums > 50 && conversions > 100, "the networks are too simple");
}

void TestLayoutPlan::pinsChangeWhatTheyMust()
{
    // 10 + 7, 10 + 3 + 5, 6 + 5 and 6 + 3 + 7.
    const LayoutProblem problem = pair();
    const LayoutPlan best = take(planLayouts(problem));
    using Numbers = std::vector<std::int32_t>;
    const PinnedPlan plain = take(planPinned(problem, best, {{Pin::What::Node, 0, layout("NCHW")}}));
    QCOMPARE(plain.plan.seconds, 17.0);
    QCOMPARE(plain.difference, 6.0);
    QCOMPARE(plain.nodes, (Numbers{0, 1}));
    QCOMPARE(plain.edges, (Numbers{1}));
    const PinnedPlan edge = take(planPinned(problem, best, {{Pin::What::Edge, 1, layout("NCHW")}}));
    QCOMPARE(edge.plan.seconds, 17.0);
    QCOMPARE(edge.plan.edges[1].written.text(), std::string("NCHW"));
    QCOMPARE(edge.plan.edges[1].read.text(), std::string("NCHW"));
    // The ends that can choose do so already.
    for (const std::int32_t index : {0, 2}) {
        const PinnedPlan same = take(planPinned(problem, best, {{Pin::What::Edge, index, layout("NCHW")}}));
        QCOMPARE(same.difference, 0.0);
        QVERIFY(same.nodes.empty() && same.edges.empty());
    }
    const PinnedPlan none = take(planPinned(problem, plain.plan, {}));
    QCOMPARE(none.difference, -6.0);
    QCOMPARE(none.nodes, (Numbers{0, 1}));
    // A residual is pinned where it is read: with the result of its reader.
    GraphMaker m;
    const ValueId a = m.conv("a", m.input("x", {1, 8, 4, 4}), {8, 8, 3, 3});
    const ValueId sum = m.node("sum", "add", {m.conv("b", a, {8, 8, 3, 3}), a});
    const LayoutProblem residual = problemOf(
        m.finish({sum}),
        {{"a", {candidate("NCHW", "NCHW", 1), candidate("NCHW", "NCHW8c", 2)}},
         {"b+add", {candidate("NCHW", "NCHW", 1), candidate("NCHW", "NCHW8c", 2)}}},
        each(1));
    QCOMPARE(residual.graph.edges[2].reads, Reads::Result);
    const PinnedPlan blocked = take(
        planPinned(residual, take(planLayouts(residual)), {{Pin::What::Edge, 2, layout("NCHW8c")}}));
    QCOMPARE(blocked.plan.nodes[0].output.text(), std::string("NCHW8c"));
    QCOMPARE(blocked.plan.nodes[1].output.text(), std::string("NCHW8c"));
    QCOMPARE(blocked.plan.seconds, 2.0 + 2 + 1 + 1); // b's data and the network's output are plain
    QCOMPARE(blocked.difference, 4.0);
}

void TestLayoutPlan::pinsThatCannotBeAreRefused()
{
    const LayoutProblem problem = pair();
    const LayoutPlan best = take(planLayouts(problem));
    for (const Pin& pin : {Pin{Pin::What::Node, 0, layout("NCHW4c")}, Pin{Pin::What::Node, 2, layout("NCHW")},
                           Pin{Pin::What::Node, -1, layout("NCHW")}, Pin{Pin::What::Edge, 3, layout("NCHW")},
                           Pin{Pin::What::Edge, 0, layout("NCHW8c")}, Pin{Pin::What::Edge, 2, layout("NCHW8c")}}) {
        const auto refused = planPinned(problem, best, {pin});
        QVERIFY(!refused);
        QVERIFY(refused.error().code == Errc::NotFound);
    }
    // Two wishes that exclude one another.
    const auto both = planPinned(problem, best,
                                 {{Pin::What::Node, 0, layout("NCHW")}, {Pin::What::Node, 0, layout("NCHW8c")}});
    QVERIFY(both.error().code == Errc::Unsupported);
}

void TestLayoutPlan::theReductionsStepInForTooManyStates()
{
    const LayoutProblem problem = pair(); // 2 x 2 states, then 2
    QCOMPARE(take(planLayouts(problem, {.mostStates = 6})).solver, Solver::Dynamic);
    const LayoutPlan reducedPlan = take(planLayouts(problem, {.mostStates = 5}));
    QCOMPARE(reducedPlan.solver, Solver::Pbqp);
    QCOMPARE(reducedPlan.seconds, 11.0);
    QVERIFY(planLayouts(problem, {.solver = Solver::Dynamic, .mostStates = 5}).error().code == Errc::Unsupported);
}

void TestLayoutPlan::whatCannotBeConvertedAtAllIsSaid()
{
    GraphMaker m;
    const LayoutProblem problem = problemOf(m.finish({m.conv("a", m.input("x", {1, 8, 4, 4}), {8, 8, 3, 3})}),
                                            {{"a", {candidate("NCHW8c", "NCHW", 1)}}}, each(kNever));
    const auto refused = planLayouts(problem);
    QVERIFY(refused.error().code == Errc::Unsupported);
    QCOMPARE(refused.error().message, std::string("every choice of layouts needs a conversion that cannot be done"));
}

void TestLayoutPlan::resnet18IsPlannedExactly()
{
    graph::PassRunner passes;
    const graph::Graph g = take(graph::prepare(take(frontend::buildZoo("resnet-18", {.weights = false})),
                                               *Target::parse("cpu"), "", "lathe", passes));
    const LayoutGraph layouts = reducedOf(g);
    Random random(18);
    TaskCandidates tasks;
    for (const LayoutNode& node : layouts.nodes) {
        for (const char* input : {"NCHW", "NCHW4c", "NCHW8c", "NCHW16c", "NCHW32c"}) {
            for (const char* output : {"NCHW", "NCHW4c", "NCHW8c", "NCHW16c", "NCHW32c"})
                tasks[node.task].push_back(candidate(input, output, 1e-4 + 1e-4 * random.uniform()));
        }
    }
    const LayoutProblem problem = take(
        makeLayoutProblem(layouts, take(candidatesOf(layouts, tasks)), [](const Conversion& c) {
            return 1e-9
                   * static_cast<double>(
                       std::accumulate(c.shape.begin(), c.shape.end(), std::int64_t{1}, std::multiplies<>()));
        }));
    const LayoutPlan exact = take(planLayouts(problem));
    const LayoutPlan reducedPlan = take(planLayouts(problem, {.solver = Solver::Pbqp}));
    const LayoutPlan fastest = take(planFastestKernels(problem));
    // Shortcuts that lie behind one another never keep three branches open.
    QCOMPARE(exact.solver, Solver::Dynamic);
    QVERIFY(reducedPlan.optimal);
    QVERIFY(std::abs(exact.seconds - reducedPlan.seconds) < 1e-12);
    QVERIFY(exact.seconds < fastest.seconds && exact.kernelSeconds > fastest.kernelSeconds);
}

LATHE_TEST(TestLayoutPlan)

} // namespace tst_layout_plan

#include "tst_layout_plan.moc"
