#include "core/ir/async_copy.h"
#include "core/schedule/least_alive.h"
#include "core/schedule/live_values.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <functional>

namespace tst_live_values {

using namespace lathe;
using namespace lathe::schedule;
using ir::Expr;
using ir::LoopKind;
using ir::Scope;

namespace {

constexpr std::int32_t kA = 0, kB = 1, kC = 2, kSums = 3, kTile = 4;

ir::Buffer buffer(std::string name, Scope scope, std::vector<std::int64_t> shape)
{
    ir::Buffer made;
    made.name = std::move(name);
    made.scope = scope;
    made.strides = {shape[1], 1};
    made.shape = std::move(shape);
    return made;
}

ir::LoopNest nestOf(const std::function<ir::Stmt(const Expr& thread)>& body)
{
    ir::LoopNest nest;
    nest.buffers = {buffer("A", Scope::Parameter, {2, 64}), buffer("B", Scope::Parameter, {64, 64}),
                    buffer("C", Scope::Parameter, {2, 64}), buffer("sums", Scope::Register, {2, 2}),
                    buffer("tile", Scope::Shared, {1, 64})};
    ir::Launch launch;
    launch.block = {32, 1, 1};
    for (std::size_t d = 0; d < 3; ++d) {
        launch.blockIndex[d] = ir::var("block");
        launch.threadIndex[d] = ir::var("thread");
    }
    launch.body = body(launch.threadIndex[0]);
    nest.launches.push_back(launch);
    return nest;
}

Expr at(std::int32_t source, std::vector<Expr> indices)
{
    return ir::load(source, DType::F32, std::move(indices));
}

/// Two loops that are written out, the inner one by lanes or not.
ir::Stmt overSums(LoopKind inner, const std::function<ir::Stmt(const Expr& i, const Expr& j)>& body)
{
    const Expr i = ir::var("i"), j = ir::var("j");
    return ir::makeFor(i, 0, 2, LoopKind::Unrolled, ir::makeFor(j, 0, 2, inner, body(i, j)));
}

/// Two rows of A by two columns of B for each thread.
ir::LoopNest product(LoopKind inner)
{
    return nestOf([inner](const Expr& thread) {
        const Expr k = ir::var("k");
        const auto zero = [](const Expr& i, const Expr& j) { return ir::makeStore(kSums, {i, j}, ir::floatImm(0)); };
        const auto add = [&](const Expr& i, const Expr& j) {
            return ir::makeStore(kSums, {i, j}, at(kSums, {i, j}) + at(kA, {i, k}) * at(kB, {k, thread * 2 + j}));
        };
        const auto keep = [&](const Expr& i, const Expr& j) {
            return ir::makeStore(kC, {i, thread * 2 + j}, at(kSums, {i, j}));
        };
        return ir::makeBlock({overSums(inner, zero), ir::makeFor(k, 0, 64, LoopKind::Serial, overSums(inner, add)),
                              overSums(inner, keep)});
    });
}

} // namespace

class TestLiveValues : public QObject
{
    Q_OBJECT

private slots:
    void valuesOfAProduct_data()
    {
        QTest::addColumn<bool>("areLanes");
        QTest::newRow("written out") << false;
        QTest::newRow("by lanes") << true;
    }
    void valuesOfAProduct()
    {
        QFETCH(bool, areLanes);
        const ir::LoopNest nest = product(areLanes ? LoopKind::Vectorized : LoopKind::Unrolled);
        const auto pieces = piecesOf(nest, nest.launches[0], {});
        QCOMPARE(pieces.size(), std::size_t{3}); // zeros, sums, what is stored
        QCOMPARE(pieces[0].early, 0); // zeros are made in front of the loop
        const CodePiece& sums = pieces[1];
        QCOMPARE(sums.loops, 1);
        QCOMPARE(sums.statements, 8 * 4); // eight copies of the loop
        QCOMPARE(sums.least, 4 + 2 * 4 + 2); // of A two vectors, for four steps each, of B two at a time
        QVERIFY(sums.byResults > sums.least); // one sum after the other: what others need too stays
        QCOMPARE(sums.late, 4 + 2 * 4 + 2);
        QCOMPARE(sums.early, 4 + 8 * 4); // all loads at once
        QCOMPARE(sums.globalAddresses, 2); // all others are these and a constant, or counted on with the loop
        QCOMPARE(sums.outerAddresses, 1);
        QCOMPARE(pieces[2].globalAddresses, 1);
        QCOMPARE(pieces[2].late, 4);
    }

    void barriersAndCopies()
    {
        const auto copied = [](bool isAsynchronous) {
            const ir::LoopNest nest = nestOf([](const Expr& thread) {
                return ir::makeBlock(
                    {ir::makeAsyncCopy(kTile, {0, thread * 2}, at(kA, {0, thread * 2}), 2), ir::makeAsyncCommit(),
                     ir::makeAsyncWait(0), ir::makeBarrier(),
                     ir::makeStore(kC, {0, thread}, at(kTile, {0, thread}) + at(kTile, {0, thread + 32}))});
            });
            return piecesOf(nest, nest.launches[0], {isAsynchronous});
        };
        const auto past = copied(true), through = copied(false);
        QCOMPARE(past.size(), std::size_t{2});
        QCOMPARE(past[0].late, 0);
        QCOMPARE(past[0].globalAddresses, 1);
        QCOMPARE(past[0].sharedAddresses, 1);
        QCOMPARE(past[1].late, 2);
        QCOMPARE(past[1].sharedAddresses, 1); // the other one is a constant further
        QCOMPARE(through[0].late, 2);
    }

    void placesThatAreNotLinear()
    {
        // (thread + 16 * i) / 32 and its rest: each copy has an address of its own, but for what simplifies.
        const ir::LoopNest nest = nestOf([](const Expr& thread) {
            const Expr i = ir::var("i");
            const Expr far = thread + i * 16;
            return ir::makeFor(i, 0, 4, LoopKind::Unrolled,
                               ir::makeStore(kC, {0, i}, at(kB, {ir::floorDiv(far, 32), ir::floorMod(far, 32)})));
        });
        const auto pieces = piecesOf(nest, nest.launches[0], {});
        QCOMPARE(pieces.size(), std::size_t{1});
        QCOMPARE(pieces[0].early, 4);
        QVERIFY2(pieces[0].globalAddresses == 2, // i = 0 and 2 differ by a constant, so do 1 and 3; of C it is one
                 qPrintable(QString::number(pieces[0].globalAddresses)));
    }

    void whatIsStoredIsNotLoadedAgain()
    {
        // A sum in shared memory: with a loop of 64 steps, eight copies of which stand there.
        const auto sumIn = [](const std::function<Expr(const Expr& thread)>& place, bool isOverwritten) {
            const ir::LoopNest nest = nestOf([&](const Expr& thread) {
                const Expr k = ir::var("k");
                const ir::Stmt add = ir::makeStore(
                    kTile, {0, place(thread)}, at(kTile, {0, place(thread)}) + at(kA, {0, k}) * at(kB, {k, thread}));
                const ir::Stmt other = ir::makeStore(kTile, {0, thread * 2}, ir::floatImm(0));
                return ir::makeFor(k, 0, 64, LoopKind::Serial,
                                   isOverwritten ? ir::makeBlock({add, other}) : ir::makeBlock({add}));
            });
            const auto pieces = piecesOf(nest, nest.launches[0], {});
            return pieces.at(0);
        };
        const CodePiece kept = sumIn([](const Expr& thread) { return thread; }, false);
        QCOMPARE(kept.early, 1 + 2 * 8);
        QCOMPARE(kept.sharedAddresses, 1);
        // What lies elsewhere may be the same, and no address is needed where it is a constant.
        QVERIFY(sumIn([](const Expr& thread) { return thread; }, true).early > kept.early);
        QCOMPARE(sumIn([](const Expr&) { return Expr(0); }, false).sharedAddresses, 0);
    }

    void neighboursInSharedMemoryAreVectors()
    {
        const auto late = [](int apart) {
            const ir::LoopNest nest = nestOf([apart](const Expr& thread) {
                const Expr i = ir::var("i");
                return ir::makeFor(i, 0, 4, LoopKind::Unrolled,
                                   ir::makeStore(kC, {i, thread}, at(kTile, {0, thread * apart + i})));
            });
            return piecesOf(nest, nest.launches[0], {}).at(0).late;
        };
        QCOMPARE(late(4), 4); // a vector of four
        QCOMPARE(late(2), 2); // two of two
        QCOMPARE(late(3), 1); // nothing is aligned
    }

    void branchesArePiecesWhereTheyStore()
    {
        const auto countOf = [](std::int32_t to) {
            const ir::LoopNest nest = nestOf([to](const Expr& thread) {
                return ir::makeBlock({ir::makeStore(kSums, {0, 0}, at(kB, {0, thread})),
                                      ir::makeIf(thread < 8, ir::makeStore(to, {0, thread}, at(kB, {1, thread}))),
                                      ir::makeStore(kC, {0, thread}, at(kSums, {0, 0}) + at(kB, {0, thread}))});
            });
            return piecesOf(nest, nest.launches[0], {});
        };
        const auto apart = countOf(kTile), together = countOf(kC);
        QCOMPARE(apart.size(), std::size_t{3});
        QCOMPARE(together.size(), std::size_t{1});
        QCOMPARE(together[0].early, 2);
        QCOMPARE(apart[1].early, 2); // what was loaded before is still there, and behind it too
        QCOMPARE(apart[2].early, 1);
    }

    void predicatesAreFew()
    {
        // Sixteen loads, each by a condition of its own: a load comes no earlier than there is a predicate for it.
        const auto early = [](bool isDecided, bool isOne) {
            const ir::LoopNest nest = nestOf([=](const Expr& thread) {
                const Expr i = ir::var("i");
                const Expr least = isOne ? Expr(1) : i + (isDecided ? -16 : 1);
                return ir::makeFor(
                    i, 0, 16, LoopKind::Unrolled,
                    ir::makeIf(thread >= least, ir::makeStore(kSums, {0, 0}, at(kSums, {0, 0}) + at(kB, {i, thread}))));
            });
            return piecesOf(nest, nest.launches[0], {}).at(0).early;
        };
        QCOMPARE(early(true, false), 16);
        QCOMPARE(early(false, true), 16);
        const std::int32_t few = early(false, false);
        QVERIFY2(few >= 6 && few < 12, qPrintable(QString::number(few)));
    }

    void sumsOfLoadsAndGuardsInBranches()
    {
        const ir::LoopNest nest = nestOf([](const Expr& thread) {
            const Expr i = ir::var("i"), j = ir::var("j");
            const auto add = [&](const Expr& k, const Expr& more) {
                return ir::makeStore(kSums, {0, 0}, at(kSums, {0, 0}) + more * at(kB, {k, thread}));
            };
            return ir::makeBlock(
                {ir::makeFor(i, 0, 8, LoopKind::Unrolled,
                             ir::makeStore(kSums, {0, 1}, at(kSums, {0, 1}) + at(kB, {i, thread}))),
                 ir::makeIf(thread < 16, ir::makeFor(j, 0, 4, LoopKind::Unrolled,
                                                     add(j, ir::ifThenElse(thread > j, at(kA, {1, thread + j}),
                                                                           ir::floatImm(0)))))});
        });
        const auto pieces = piecesOf(nest, nest.launches[0], {});
        QCOMPARE(pieces.size(), std::size_t{1});
        QCOMPARE(pieces[0].addends, 8 - 4); // four are for the products as well
        QCOMPARE(pieces[0].guardedInBranches, 4);
    }

    void orderKeepsValuesFew()
    {
        // r0 = x0 + x2, r1 = x1 + x3, r2 = x0 - x2, r3 = x1 - x3: by columns five are alive at once, as written six.
        std::vector<OrderedValue> values(8);
        for (std::size_t r = 4; r < 8; ++r)
            values[r].isBehind = true;
        const std::vector<OrderedStatement> statements = {
            {{0, 2}, 4, 0}, {{1, 3}, 5, 0}, {{0, 2}, 6, 0}, {{1, 3}, 7, 0}};
        QCOMPARE(leastAlive(statements, values), 5);
    }

    void resultsOneAfterTheOther()
    {
        // t0 = f(x0), t1 = f(x1), memory = g(t0), memory = g(t1): each result with what it needs, one value at a time,
        // where the written order holds two.
        const std::vector<OrderedValue> values = {
            {1, false, false}, {1, false, false}, {1, false, false}, {1, false, false}};
        const std::vector<OrderedStatement> statements = {{{0}, 2, 0}, {{1}, 3, 0}, {{2}, -1, 1}, {{3}, -1, 1}};
        QCOMPARE(aliveByResults(statements, values), 1);
        // What the next result needs as well stays: eight words for both, and one of each.
        const std::vector<OrderedValue> shared = {{8, false, false}, {1, false, false}, {1, false, false}};
        const std::vector<OrderedStatement> both = {{{0, 1}, -1, 0}, {{0, 2}, -1, 0}};
        QCOMPARE(aliveByResults(both, shared), 9);
    }

    void sumsGoOnInTheirRegister()
    {
        // Four loads into one sum, one after the other; what passes by is alive beside it.
        std::vector<OrderedValue> values(5);
        std::vector<OrderedStatement> statements;
        for (std::int32_t x = 0; x < 4; ++x)
            statements.push_back({{4, x}, 4, 0});
        QCOMPARE(leastAlive(statements, values), 2);
        values.push_back({8, true, true});
        QCOMPARE(leastAlive(statements, values), 10);
    }

    void whatReadsComesBehindWhatWrites()
    {
        // v1 = f(v0), memory = v1, v1 = g(v1), memory = v1: no order but this one.
        const std::vector<OrderedValue> values = {{1, true, false}, {2, false, false}, {4, false, false}};
        const std::vector<OrderedStatement> statements = {{{0}, 1, 0}, {{1}, -1, 1}, {{1, 2}, 1, 2}, {{1}, -1, 3}};
        QCOMPARE(leastAlive(statements, values), 2 + 4);
    }
};

LATHE_TEST(TestLiveValues)

} // namespace tst_live_values

#include "tst_live_values.moc"
