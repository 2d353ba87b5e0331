#include "layout_fixture.h"
#include "tests/support/test_program.h"

#include <limits>

namespace tst_layout_problem {

using namespace lathe;
using namespace lathe::test;
using namespace lathe::test::layouts;

class TestLayoutProblem : public QObject
{
    Q_OBJECT

private slots:
    void theFastestOfEachPairOfLayoutsRemain();
    void groupsWithoutARecordAreNamed();
    void candidatesThatDoNotFitAreRefused();
    void aPlainResultLeavesPlainCandidates();
    void conversionsAreListedOnce();
    void unknownAndImpossibleCostsAreNamed();
};

void TestLayoutProblem::theFastestOfEachPairOfLayoutsRemain()
{
    std::vector<LayoutCandidate> all{
        candidate("NCHW", "NCHW8c", 3, "slow"),      candidate("NCHW4c", "NCHW", 2, "b"),
        candidate("NCHW", "NCHW8c", 1, "fast"),      candidate("NCHW", "NCHW8c", 1, "late"),
        candidate("NCHW", "NCHW", kNever, "failed"), candidate("NCHW", "NCHW", 2, "a")};
    QStringList ids;
    for (const LayoutCandidate& c : fastestByLayouts(all))
        ids << QString::fromStdString(c.id);
    QCOMPARE(ids.join(' '), QString("fast a b"));
    QCOMPARE(fastestByLayouts(all, 2).back().id, std::string("a"));
    std::vector<LayoutCandidate> many;
    for (int block = 1; block <= 30; ++block)
        many.push_back(candidate("NCHW", "NCHW" + std::to_string(block) + "c", 31 - block));
    QCOMPARE(fastestByLayouts(many).size(), std::size_t{20});
    QCOMPARE(fastestByLayouts(many).front().output.text(), std::string("NCHW30c"));
    std::vector<LayoutCandidate> equal;
    for (int i = 0; i < 100; ++i)
        equal.push_back(candidate("NCHW", i % 2 ? "NCHW8c" : "NCHW", 1, std::to_string(i)));
    QCOMPARE(fastestByLayouts(equal)[0].id, std::string("0"));
    QCOMPARE(fastestByLayouts(equal)[1].id, std::string("1"));
}

void TestLayoutProblem::groupsWithoutARecordAreNamed()
{
    GraphMaker m;
    const LayoutGraph layouts = reducedOf(m.finish({m.conv("a", m.input("x", {1, 8, 4, 4}), {8, 8, 3, 3})}));
    for (const TaskCandidates& tasks :
         {TaskCandidates{}, TaskCandidates{{0, {}}}, TaskCandidates{{0, {candidate("NCHW", "NCHW", kNever)}}}}) {
        const auto missing = candidatesOf(layouts, tasks);
        QVERIFY(missing.error().code == Errc::NotFound);
        QCOMPARE(missing.error().message, std::string("a: there is no record to choose a layout from"));
    }
}

void TestLayoutProblem::candidatesThatDoNotFitAreRefused()
{
    GraphMaker m;
    const LayoutGraph layouts = reducedOf(m.finish({m.conv("a", m.input("x", {1, 8, 4, 4}), {8, 8, 3, 3})}));
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const LayoutCandidate& bad : {candidate("NCW", "NCHW", 1), candidate("NCHW", "NCDHW", 1),
                                       candidate("NCHW", "NCHW", -1), candidate("NCHW", "NCHW", nan)}) {
        const auto refused = candidatesOf(layouts, {{0, {candidate("NHWC", "NHWC", 1), bad}}});
        QVERIFY(!refused);
        QVERIFY(refused.error().code == Errc::InvalidArgument);
        QVERIFY(refused.error().message.starts_with("a: candidate"));
    }
}

void TestLayoutProblem::aPlainResultLeavesPlainCandidates()
{
    GraphMaker m;
    LayoutGraph layouts = reducedOf(m.finish({m.conv("a", m.input("x", {1, 8, 4, 4}), {8, 8, 3, 3})}));
    layouts.nodes[0].plainResult = true;
    const TaskCandidates tasks{{0, {candidate("NCHW", "NCHW8c", 1), candidate("NCHW8c", "NCHW", 2)}}};
    const auto candidates = take(candidatesOf(layouts, tasks));
    QCOMPARE(candidates[0].size(), std::size_t{1});
    QCOMPARE(candidates[0][0].input.text(), std::string("NCHW8c"));
}

void TestLayoutProblem::conversionsAreListedOnce()
{
    // x -> a -> b -> c of 8 channels. a gives NCHW or NCHW8c; b reads NCHW8c, NCHW4c and gives NCHW8c; c takes b's as
    // NCHW. From x, a reads what x is.
    GraphMaker m;
    const ValueId a = m.conv("a", m.input("x", {1, 8, 4, 4}), {8, 8, 3, 3});
    const ValueId b = m.conv("b", a, {8, 8, 3, 3});
    const LayoutProblem problem = problemOf(
        m.finish({m.conv("c", b, {16, 8, 3, 3})}),
        {{"a", {candidate("NCHW", "NCHW", 1), candidate("NCHW", "NCHW8c", 1)}},
         {"b", {candidate("NCHW8c", "NCHW8c", 1), candidate("NCHW4c", "NCHW8c", 1)}},
         {"c", {candidate("NCHW", "NCHW8c", 1)}}},
        each(1));
    QStringList texts;
    for (const Conversion& c : conversionsOf(problem.graph, problem.candidates))
        texts << QString::fromStdString(graph::plan::textOf(c));
    QCOMPARE(texts, QStringList({"float32[1, 8, 4, 4] of NCHW from NCHW to NCHW4c",
                                 "float32[1, 8, 4, 4] of NCHW from NCHW to NCHW8c",
                                 "float32[1, 8, 4, 4] of NCHW from NCHW8c to NCHW",
                                 "float32[1, 8, 4, 4] of NCHW from NCHW8c to NCHW4c",
                                 "float32[1, 16, 4, 4] of NCHW from NCHW8c to NCHW"}));
    std::map<std::string, int> asked;
    take(makeLayoutProblem(problem.graph, problem.candidates, [&](const Conversion& c) {
        ++asked[graph::plan::textOf(c)];
        return 1.0;
    }));
    QCOMPARE(static_cast<qsizetype>(asked.size()), texts.size());
    QVERIFY(std::ranges::all_of(asked, [](const auto& entry) { return entry.second == 1; }));
}

void TestLayoutProblem::unknownAndImpossibleCostsAreNamed()
{
    const LayoutProblem known = pair();
    const auto unknown = makeLayoutProblem(known.graph, known.candidates, costFrom({}));
    QVERIFY(unknown.error().code == Errc::NotFound);
    QCOMPARE(unknown.error().message,
             std::string("the conversion of float32[1, 8, 4, 4] of NCHW from NCHW to NCHW8c costs nan s"));
    QVERIFY(makeLayoutProblem(known.graph, known.candidates, each(-1)).error().code == Errc::InvalidArgument);
}

LATHE_TEST(TestLayoutProblem)

} // namespace tst_layout_problem

#include "tst_layout_problem.moc"
