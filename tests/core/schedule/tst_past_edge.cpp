#include "core/ir/padded_load.h"
#include "core/ir/substitute.h"
#include "kernel_check.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tst_past_edge {

using namespace lathe;
using namespace lathe::schedule;
using lathe::schedule::test::launches;
using lathe::schedule::test::replayed;
using lathe::test::must;

namespace {

/// Choices in what a kernel stores: all, and those that stand within another.
struct Choices
{
    int all = 0, nested = 0, joined = 0; ///< joined: under two conditions or more
};

void count(const ir::Expr& e, bool isInside, Choices& choices)
{
    const bool isChoice = e->kind == ir::ExprKind::IfThenElse;
    choices.all += isChoice ? 1 : 0;
    choices.nested += isChoice && isInside ? 1 : 0;
    choices.joined += ir::isPaddedLoad(e) && e->operands[0]->kind == ir::ExprKind::And ? 1 : 0;
    for (const ir::Expr& operand : e->operands)
        count(operand, isInside || isChoice, choices);
}

void count(const ir::Stmt& s, Choices& choices)
{
    if (!s)
        return;
    if (s->value)
        count(s->value, false, choices);
    for (const ir::Stmt& inner : s->body)
        count(inner, choices);
}

Choices choicesOf(const State& state)
{
    Choices choices;
    for (const ir::Launch& launch : must(lower(state, launches())).nest.launches)
        count(launch.body, choices);
    return choices;
}

} // namespace

/// Tiles that a thread has for itself and that go past the edge of their tensor.
class TestPastEdge : public QObject
{
    Q_OBJECT

private slots:
    /// C = A B: threads along the columns, which have several each, in every order of what a thread does. In some a
    /// step of the sum stands outside of the tile, which is loaded and stored in each of them.
    void sumsAreRightInEveryOrder()
    {
        int kernels = 0;
        for (const int columns : {5, 7, 8})
            for (const int each : {2, 3, 4}) {
                const compute::DagPtr dag = lathe::schedule::test::matmul(2, columns, 4);
                std::vector<int> order = {0, 2, 3, 4}; // i, columns of a thread, the sum's outer and inner loop
                do {
                    const auto place = [&order](int loop) {
                        return 1 + (std::ranges::find(order, loop) - order.begin());
                    };
                    const State state = must(
                        replayed(dag, fmt::format(R"([["SP", 2, 1, {}, [{}], 1], ["SP", 2, 3, 4, [2], 1],
                            ["RE", 2, [1, {}]], ["AN", 2, 0, 6], ["AN", 2, {}, 1]])",
                                                  columns, each, fmt::join(order, ", "), place(2))));
                    const std::string wrong = lathe::schedule::test::checkKernel(state, 3, launches());
                    QVERIFY2(wrong.empty(), fmt::format("{} columns, {} each, order {}: {}", columns, each,
                                                        fmt::join(order, " "), wrong)
                                                .c_str());
                    ++kernels;
                } while (std::ranges::next_permutation(order).found);
            }
        QCOMPARE(kernels, 3 * 3 * 24);
    }

    /// What lies past the edges of rows and of columns is one choice under both conditions, which code loads as a
    /// vector, and not a choice within another.
    void twoEdgesAreOneChoice()
    {
        compute::DagBuilder b;
        const compute::Tensor x = b.placeholder("X", {5, 7, 6}, DType::F32);
        const compute::Tensor c = b.reduce("C", {5, 7}, {"i", "j"}, "", ir::Combiner::Sum, {{"k", 6}},
                                           [&](const std::vector<ir::Expr>& i, const std::vector<ir::Expr>& r) {
                                               return b.at(x, {i[0], i[1], r[0]});
                                           });
        const State state = must(replayed(*std::move(b).finish({c}), R"([["SP", 1, 0, 5, [2], 1],
            ["SP", 1, 2, 7, [4], 1], ["RE", 1, [0, 2, 4, 1, 3]], ["FU", 1, [0, 1]], ["AN", 1, 0, 6], ["AN", 1, 2, 1],
            ["AN", 1, 3, 1]])"));
        QCOMPARE(QString::fromStdString(lathe::schedule::test::checkKernel(state, 3, launches())), QString());
        const Choices choices = choicesOf(state);
        QVERIFY(choices.joined > 0);
        QCOMPARE(choices.nested, 0);
    }

    /// What lies past an image's edge is a choice already, under which all exists that is loaded past that of a tile.
    void theEdgeOfAnImageIsChoiceEnough()
    {
        // data 0, pad 1, pool 2: channels by threads, rows and columns by tiles of a thread.
        const compute::DagPtr dag = lathe::schedule::test::maxPool(7, 5, 3, 3, 1, 1);
        const State state = must(replayed(dag, R"([["CI", 1], ["SP", 2, 1, 7, [4], 1], ["SP", 2, 3, 5, [2], 1],
            ["RE", 2, [5, 0, 1, 3, 6, 7, 2, 4]], ["AN", 2, 0, 6], ["AN", 2, 6, 1], ["AN", 2, 7, 1]])"));
        QCOMPARE(QString::fromStdString(lathe::schedule::test::checkKernel(state, 3, launches())), QString());
        const Choices choices = choicesOf(state);
        QVERIFY(choices.all > 0);
        QCOMPARE(choices.nested, 0);
    }
};

LATHE_TEST(TestPastEdge)

} // namespace tst_past_edge

#include "tst_past_edge.moc"
