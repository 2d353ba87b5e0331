#include "core/graph/plan/solve_dynamic.h"
#include "core/graph/plan/solve_pbqp.h"
#include "core/support/random.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <limits>

namespace tst_pairwise_solvers {

using namespace lathe;
using namespace lathe::graph::plan;

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// Problems of whole seconds, so that sums are exact in whatever order they are made.
class Maker
{
public:
    explicit Maker(std::uint64_t seed)
        : m_random(seed)
    {
    }

    std::size_t below(std::size_t bound) { return m_random.below(bound); }

    void nodes(std::size_t count, std::size_t mostCandidates)
    {
        for (std::size_t n = 0; n < count; ++n)
            problem.nodes.push_back(costs(1 + m_random.below(mostCandidates), 0));
    }
    /// In one direction or the other.
    void edge(std::size_t a, std::size_t b, double forbidden)
    {
        if (m_random.below(2) == 0)
            std::swap(a, b);
        problem.edges.push_back({static_cast<std::int32_t>(a), static_cast<std::int32_t>(b),
                                 costs(problem.nodes[a].size() * problem.nodes[b].size(), forbidden)});
    }

    PairwiseProblem problem;

private:
    /// `forbidden`: the share of infinite ones.
    std::vector<double> costs(std::size_t count, double forbidden)
    {
        std::vector<double> result;
        for (std::size_t i = 0; i < count; ++i)
            result.push_back(m_random.uniform() < forbidden ? kNever : static_cast<double>(m_random.below(20)));
        return result;
    }

    Random m_random;
};

double bruteForce(const PairwiseProblem& problem)
{
    Choices choices(problem.nodes.size(), 0);
    double best = kNever;
    for (;;) {
        double sum = 0;
        for (std::size_t n = 0; n < choices.size(); ++n)
            sum += problem.nodes[n][static_cast<std::size_t>(choices[n])];
        for (const PairwiseEdge& e : problem.edges) {
            const auto row = static_cast<std::size_t>(choices[static_cast<std::size_t>(e.from)]);
            const auto column = static_cast<std::size_t>(choices[static_cast<std::size_t>(e.to)]);
            sum += e.seconds[row * problem.nodes[static_cast<std::size_t>(e.to)].size() + column];
        }
        best = std::min(best, sum);
        std::size_t n = 0;
        while (n < choices.size() && static_cast<std::size_t>(++choices[n]) == problem.nodes[n].size())
            choices[n++] = 0;
        if (n == choices.size())
            return best;
    }
}

enum Form
{
    Chain,
    Diamond, ///< a fork, two branches of any length, a join
    Residual, ///< a chain with shortcuts, each behind the end of the one before
    Nested, ///< a chain with shortcuts anywhere, twice between the same nodes too
    Complete
};

PairwiseProblem randomProblem(Form form, std::uint64_t seed, double forbidden)
{
    Maker m(seed);
    const std::size_t count = form == Diamond || form == Complete ? 4 + m.below(3) : 1 + m.below(6);
    m.nodes(count, 4);
    if (form == Diamond) {
        const std::size_t fork = 1 + m.below(count - 3); // nodes of the left branch
        for (std::size_t n = 1; n + 1 < count; ++n)
            m.edge(n == 1 || n == fork + 1 ? 0 : n - 1, n, forbidden);
        m.edge(fork, count - 1, forbidden);
        m.edge(count - 2, count - 1, forbidden);
        return m.problem;
    }
    for (std::size_t n = 0; n + 1 < count; ++n)
        m.edge(n, n + 1, forbidden);
    if (form == Residual) {
        for (std::size_t from = 0, to = 2 + m.below(2); to < count; from = to, to += 2 + m.below(2))
            m.edge(from, to, forbidden);
    }
    for (int i = 0; form == Nested && count > 1 && i < 4; ++i) {
        const std::size_t from = m.below(count - 1);
        m.edge(from, from + 1 + m.below(count - 1 - from), forbidden);
    }
    for (std::size_t a = 0; form == Complete && a < count; ++a) {
        for (std::size_t b = a + 2; b < count; ++b)
            m.edge(a, b, forbidden);
    }
    return m.problem;
}

/// `count` nodes of one number of candidates, each joined with each; all cost the same.
PairwiseProblem complete(std::size_t count, std::size_t candidates)
{
    PairwiseProblem problem;
    problem.nodes.assign(count, std::vector<double>(candidates, 1));
    for (std::size_t a = 0; a < count; ++a) {
        for (std::size_t b = a + 1; b < count; ++b)
            problem.edges.push_back({static_cast<std::int32_t>(a), static_cast<std::int32_t>(b),
                                     std::vector<double>(candidates * candidates, 1)});
    }
    return problem;
}

} // namespace

class TestPairwiseSolvers : public QObject
{
    Q_OBJECT

private slots:
    void theEnergyIsTheSumOfNodesAndEdges();
    void badProblemsAreRefusedByBothSolvers_data();
    void badProblemsAreRefusedByBothSolvers();
    void choicesThatAreNoneAreRefused();
    void edgesOfEqualEndsAreSummedInEitherDirection();
    void nothingToChooseIsSolved();
    void bothFindWhatBruteForceFinds_data();
    void bothFindWhatBruteForceFinds();
    void theReductionsGuessOnlyWhereTheyMust();
    void aGuessIsMadeAtTheHubAndTheRestIsExact();
    void edgesThatSayNothingForceNoGuess();
    void whatIsForbiddenIsSaid();
    void statesAreCountedBeforeTheyAreMade();
    void branchesOfOneForkAreNotOpenAtTheSameTime();
    void aLongChainTakesNoTime();
};

void TestPairwiseSolvers::theEnergyIsTheSumOfNodesAndEdges()
{
    const PairwiseProblem problem{{{1, 2}, {10, 20, 30}}, {{1, 0, {100, 200, 300, 400, 500, 600}}}};
    QCOMPARE(*energy(problem, {0, 0}), 111.0);
    QCOMPARE(*energy(problem, {1, 0}), 212.0);
    QCOMPARE(*energy(problem, {1, 2}), 632.0);
}

void TestPairwiseSolvers::badProblemsAreRefusedByBothSolvers_data()
{
    QTest::addColumn<PairwiseProblem>("problem");
    QTest::addColumn<QString>("message");
    const double nan = std::numeric_limits<double>::quiet_NaN();
    QTest::newRow("no candidate") << PairwiseProblem{{{1}, {}}, {}} << "node 1 has no candidate";
    QTest::newRow("NaN") << PairwiseProblem{{{1, nan}}, {}} << "candidate 1 of node 0 costs nan s";
    QTest::newRow("negative") << PairwiseProblem{{{-1}}, {}} << "candidate 0 of node 0 costs -1 s";
    QTest::newRow("no such node") << PairwiseProblem{{{1}, {1}}, {{0, 2, {1}}}} << "edge 0 ends at node 2 of 2 nodes";
    QTest::newRow("node -1") << PairwiseProblem{{{1}, {1}}, {{-1, 1, {1}}}} << "edge 0 ends at node -1 of 2 nodes";
    QTest::newRow("loop") << PairwiseProblem{{{1}, {1}}, {{0, 1, {1}}, {1, 1, {1}}}}
                          << "edge 1 leads from node 1 to itself";
    QTest::newRow("size") << PairwiseProblem{{{1, 1}, {1, 1, 1}}, {{0, 1, {1, 1, 1, 1, 1}}}}
                          << "edge 0 has 5 costs where its nodes have 2 x 3 candidates";
    QTest::newRow("NaN of an edge") << PairwiseProblem{{{1, 1}, {1, 1, 1}}, {{0, 1, {1, 1, 1, 1, nan, 1}}}}
                                    << "candidates 1 and 1 of edge 0 cost nan s";
    QTest::newRow("negative edge") << PairwiseProblem{{{1, 1}, {1, 1, 1}}, {{0, 1, {1, 1, -2, 1, 1, 1}}}}
                                   << "candidates 0 and 2 of edge 0 cost -2 s";
}

void TestPairwiseSolvers::badProblemsAreRefusedByBothSolvers()
{
    QFETCH(const PairwiseProblem, problem);
    QFETCH(const QString, message);
    for (const auto& result : {solveDynamic(problem), solvePbqp(problem)}) {
        QVERIFY(!result);
        QVERIFY(result.error().code == Errc::InvalidArgument);
        QCOMPARE(QString::fromStdString(result.error().message), message);
    }
}

void TestPairwiseSolvers::choicesThatAreNoneAreRefused()
{
    const PairwiseProblem problem{{{1, 2}, {10, 20, 30}}, {}};
    for (const Choices& choices : {Choices{0}, Choices{0, 3}, Choices{-1, 0}, Choices{0, 0, 0}})
        QVERIFY(energy(problem, choices).error().code == Errc::InvalidArgument);
}

void TestPairwiseSolvers::edgesOfEqualEndsAreSummedInEitherDirection()
{
    const PairwiseProblem problem{{{0, 0}, {0, 0, 0}}, {{0, 1, {1, 2, 3, 4, 5, 6}}, {1, 0, {10, 40, 20, 50, 30, 60}}}};
    const std::vector<PairwiseEdge> merged = mergedEdges(problem);
    QCOMPARE(merged.size(), std::size_t{1});
    QCOMPARE(merged[0].from, 0);
    QCOMPARE(merged[0].to, 1);
    QCOMPARE(merged[0].seconds, (std::vector<double>{11, 22, 33, 44, 55, 66}));
}

void TestPairwiseSolvers::nothingToChooseIsSolved()
{
    for (const auto& result : {solveDynamic({}), solvePbqp({})}) {
        QVERIFY(result);
        QVERIFY(result->choices.empty() && result->optimal);
        QCOMPARE(result->seconds, 0.0);
    }
    const PairwiseProblem alone{{{3, 1, 2}}, {}};
    for (const auto& result : {solveDynamic(alone), solvePbqp(alone)})
        QCOMPARE(result->choices, Choices{1});
}

void TestPairwiseSolvers::bothFindWhatBruteForceFinds_data()
{
    QTest::addColumn<int>("form");
    QTest::addColumn<double>("forbidden");
    QTest::newRow("chains") << int(Chain) << 0.0;
    QTest::newRow("diamonds") << int(Diamond) << 0.0;
    QTest::newRow("residual nets") << int(Residual) << 0.0;
    QTest::newRow("nested shortcuts") << int(Nested) << 0.0;
    QTest::newRow("complete graphs") << int(Complete) << 0.0;
    QTest::newRow("residual nets, a third forbidden") << int(Residual) << 0.33;
    QTest::newRow("complete graphs, a third forbidden") << int(Complete) << 0.33;
}

void TestPairwiseSolvers::bothFindWhatBruteForceFinds()
{
    QFETCH(const int, form);
    QFETCH(const double, forbidden);
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        const PairwiseProblem problem = randomProblem(static_cast<Form>(form), seed, forbidden);
        const double best = bruteForce(problem);
        const auto exact = solveDynamic(problem);
        const auto reduced = solvePbqp(problem);
        const std::string place = "seed " + std::to_string(seed);
        QVERIFY2(exact && reduced, place.c_str());
        QVERIFY2(exact->seconds == best && exact->optimal, place.c_str());
        QVERIFY2(*energy(problem, exact->choices) == exact->seconds, place.c_str());
        QVERIFY2(*energy(problem, reduced->choices) == reduced->seconds, place.c_str());
        QVERIFY2(reduced->seconds >= best, place.c_str());
        QVERIFY2(!reduced->optimal || reduced->seconds == best, place.c_str());
        // What has no four nodes that hang together in all ways is reduced without a guess.
        QVERIFY2(reduced->optimal || form == Nested || form == Complete, place.c_str());
    }
}

void TestPairwiseSolvers::theReductionsGuessOnlyWhereTheyMust()
{
    int guesses = 0, worse = 0;
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        const PairwiseProblem problem = randomProblem(Complete, seed, 0);
        const auto reduced = solvePbqp(problem);
        guesses += !reduced->optimal;
        worse += reduced->seconds > bruteForce(problem);
    }
    // Nodes of one candidate drop out, so that some of the graphs are simple.
    QVERIFY2(guesses > 100 && guesses < 300, qPrintable(QString::number(guesses)));
    QVERIFY2(worse > 0 && worse < guesses, qPrintable(QString::number(worse)));
}

/// A wheel: each node of the rim has three neighbours, the hub has five, and without it the rim is a ring.
void TestPairwiseSolvers::aGuessIsMadeAtTheHubAndTheRestIsExact()
{
    constexpr std::size_t kHub = 2;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        Random random(seed);
        PairwiseProblem problem;
        for (int n = 0; n < 6; ++n)
            problem.nodes.push_back({double(random.below(9)), double(random.below(9)), double(random.below(9))});
        // Nothing in a row or a column that would be a cost of its node alone, so that what the hub looks at is what
        // stands here.
        const auto connect = [&](std::size_t a, std::size_t b) {
            std::vector<double> seconds(9, 0);
            for (std::size_t i = 0; i < 9; ++i)
                seconds[i] = i % 4 == 0 ? 0 : static_cast<double>(1 + random.below(9));
            problem.edges.push_back({static_cast<std::int32_t>(a), static_cast<std::int32_t>(b), seconds});
        };
        const std::size_t rim[] = {0, 1, 3, 4, 5};
        for (std::size_t i = 0; i < 5; ++i)
            connect(rim[i], rim[(i + 1) % 5]);
        std::vector<double> looks = problem.nodes[kHub];
        for (const std::size_t node : rim) {
            connect(kHub, node);
            for (std::size_t c = 0; c < 3; ++c) {
                double least = kNever;
                for (std::size_t i = 0; i < 3; ++i)
                    least = std::min(least, problem.edges.back().seconds[3 * c + i] + problem.nodes[node][i]);
                looks[c] += least;
            }
        }
        const auto reduced = solvePbqp(problem);
        const auto guess = static_cast<std::int32_t>(std::ranges::min_element(looks) - looks.begin());
        const std::string place = "seed " + std::to_string(seed);
        QVERIFY2(!reduced->optimal, place.c_str());
        QVERIFY2(reduced->choices[kHub] == guess, place.c_str());
        for (std::int32_t c = 0; c < 3; ++c) {
            if (c != guess)
                problem.nodes[kHub][static_cast<std::size_t>(c)] = kNever;
        }
        QVERIFY2(reduced->seconds == bruteForce(problem), place.c_str());
    }
}

void TestPairwiseSolvers::edgesThatSayNothingForceNoGuess()
{
    // Every edge is a sum of what its ends cost on their own: of six nodes that are joined in all ways, none remains.
    Random random(7);
    PairwiseProblem problem = complete(6, 3);
    for (PairwiseEdge& edge : problem.edges) {
        const auto left = random.below(9), right = random.below(9);
        for (std::size_t i = 0; i < 9; ++i)
            edge.seconds[i] = static_cast<double>(left * (i / 3) + right * ((5 * (i % 3)) % 3));
    }
    const auto reduced = solvePbqp(problem);
    QVERIFY(reduced->optimal);
    QCOMPARE(reduced->seconds, bruteForce(problem));
}

void TestPairwiseSolvers::whatIsForbiddenIsSaid()
{
    const PairwiseProblem nothing{{{1, 2}, {1}}, {{0, 1, {kNever, kNever}}}};
    const PairwiseProblem one{{{1, 2}, {1}}, {{0, 1, {kNever, 5}}}};
    for (const auto solve : {+[](const PairwiseProblem& p) { return solveDynamic(p); },
                             +[](const PairwiseProblem& p) { return solvePbqp(p); }}) {
        QCOMPARE(solve(nothing)->seconds, kNever);
        QVERIFY(solve(nothing)->optimal);
        QCOMPARE(solve(one)->seconds, 8.0);
        QCOMPARE(solve(one)->choices, (Choices{1, 0}));
    }
}

void TestPairwiseSolvers::statesAreCountedBeforeTheyAreMade()
{
    // Of 8 nodes of 4 candidates, each joined with each, the first takes 4^8 states, the next 4^7 ... the last 4.
    const PairwiseProblem problem = complete(8, 4);
    QVERIFY(solveDynamic(problem, 87380));
    const auto refused = solveDynamic(problem, 87379);
    QVERIFY(refused.error().code == Errc::Unsupported);
    QCOMPARE(QString::fromStdString(refused.error().message),
             QString("the exact plan needs at least 87380 states, more than 87379 states"));
    QVERIFY(!solveDynamic(problem, 65536)); // what the first alone takes
    // A ring of 5 nodes of 3 candidates: the first brings its neighbours together. 3 x 27, then a pair, then one.
    Maker ring(1);
    ring.problem.nodes.assign(5, {1, 1, 1});
    for (std::size_t n = 0; n < 5; ++n)
        ring.edge(n, (n + 1) % 5, 0);
    QVERIFY(solveDynamic(ring.problem, 93));
    QVERIFY(!solveDynamic(ring.problem, 92));
    // Far more than there is memory for, and than a number holds.
    QCOMPARE(QString::fromStdString(solveDynamic(complete(10, 20)).error().message),
             QString("the exact plan needs at least 10240000000000 states, more than 67108864 states"));
    QCOMPARE(QString::fromStdString(solveDynamic(complete(40, 20)).error().message),
             QString("the exact plan needs at least 18446744073709551615 states, more than 67108864 states"));
    QVERIFY(solvePbqp(complete(40, 20)));
}

void TestPairwiseSolvers::branchesOfOneForkAreNotOpenAtTheSameTime()
{
    // In the order of the nodes the reference would keep the choices of all 30 branches, 10^30 states. Here each branch
    // leaves for itself, with 10 x 10, and the fork alone.
    Maker m(3);
    m.problem.nodes.assign(31, std::vector<double>(10, 1));
    for (std::size_t branch = 1; branch <= 30; ++branch)
        m.edge(0, branch, 0);
    QVERIFY(solveDynamic(m.problem, 30 * 100 + 10));
    QVERIFY(!solveDynamic(m.problem, 30 * 100 + 9));
    QCOMPARE(solveDynamic(m.problem)->seconds, solvePbqp(m.problem)->seconds);
}

void TestPairwiseSolvers::aLongChainTakesNoTime()
{
    Maker m(5);
    m.problem.nodes.assign(2000, std::vector<double>(20, 1));
    for (std::size_t n = 0; n + 1 < m.problem.nodes.size(); ++n)
        m.edge(n, n + 1, 0.1);
    const auto exact = solveDynamic(m.problem);
    const auto reduced = solvePbqp(m.problem);
    QVERIFY(exact && reduced && reduced->optimal);
    QCOMPARE(exact->seconds, reduced->seconds);
}

LATHE_TEST(TestPairwiseSolvers)

} // namespace tst_pairwise_solvers

#include "tst_pairwise_solvers.moc"
