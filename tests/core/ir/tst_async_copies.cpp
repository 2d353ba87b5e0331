#include "core/ir/async_copy.h"
#include "core/ir/interpret_launches.h"
#include "core/ir/print.h"
#include "core/ir/simplify.h"
#include "core/ir/verify.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <array>
#include <cstring>
#include <functional>

namespace tst_async_copies {

using namespace lathe;
using namespace lathe::ir;

namespace {

/// One block of two threads, each of which copies four elements of x [2, 4] to a tile and stores those of the other to
/// y [2, 4].
struct Exchange
{
    LoopNest nest;
    Expr thread = var("threadIdx.x"), lane = var("lane");
    Stmt copy, use;

    Exchange()
    {
        nest.name = "exchange";
        const auto buffer = [&](const char* name, Scope scope, bool readOnly) {
            nest.buffers.push_back({name, DType::F32, scope, {2, 4}, {4, 1}, readOnly, false});
        };
        buffer("x", Scope::Parameter, true);
        buffer("y", Scope::Parameter, false);
        buffer("tile", Scope::Shared, false);
        nest.parameters = {0, 1};
        copy = makeAsyncCopy(2, {thread, 0}, load(0, DType::F32, {thread, 0}), 4);
        use = useOf(intImm(1) - thread);
    }

    Stmt useOf(const Expr& row) const
    {
        return makeFor(lane, 0, 4, LoopKind::Serial, makeStore(1, {thread, lane}, load(2, DType::F32, {row, lane})));
    }

    /// What is wrong with the body; empty if nothing is.
    std::string run(Stmt body)
    {
        Launch launch;
        launch.name = "all";
        launch.block = {2, 1, 1};
        for (std::size_t d = 0; d < 3; ++d)
            launch.blockIndex[d] = var("block"), launch.threadIndex[d] = d == 0 ? thread : var("thread");
        launch.body = std::move(body);
        nest.launches = {launch};
        if (const auto verified = verify(nest); !verified)
            return verified.error().message;
        const auto interpreter = LaunchInterpreter::compile(nest);
        if (!interpreter)
            return interpreter.error().message;
        std::array<float, 8> x = {1, 2, 3, 4, 5, 6, 7, 8}, y = {};
        const std::vector<std::span<std::byte>> parameters = {std::as_writable_bytes(std::span(x)),
                                                              std::as_writable_bytes(std::span(y))};
        if (const auto ran = interpreter->run(parameters); !ran)
            return ran.error().message;
        return y == std::array<float, 8>{5, 6, 7, 8, 1, 2, 3, 4} ? "" : "wrong numbers";
    }
};

} // namespace

/// Asynchronous copies: what waiting and barriers make of them, and what of them no device could run.
class TestAsyncCopies : public QObject
{
    Q_OBJECT

private slots:
    void groupsArriveInTheirOrder()
    {
        Exchange e;
        QCOMPARE(e.run(makeBlock({e.copy, makeAsyncCommit(), makeAsyncWait(0), makeBarrier(), e.use})), std::string());
        // Others may still be on their way: later ones, and empty ones count as well.
        QCOMPARE(
            e.run(makeBlock({e.copy, makeAsyncCommit(), makeAsyncCommit(), makeAsyncWait(1), makeBarrier(), e.use})),
            std::string());
        // Each thread has what it waited for before others have it.
        QVERIFY(e.run(makeBlock({e.copy, makeAsyncCommit(), makeAsyncWait(0), e.useOf(e.thread)})) == "wrong numbers");
    }

    void faultsAreNamed()
    {
        Exchange e;
        const auto words = [&](std::vector<Stmt> body) { return QString::fromStdString(e.run(makeBlock(body))); };
        const QString early = QStringLiteral("launch all of kernel exchange: thread (0, 0, 0) of block (0, 0, 0) reads "
                                             "tile at 4 before the asynchronous "
                                             "copy of thread (1, 0, 0) of block (0, 0, 0) was waited for: "
                                             "y[threadIdx.x, lane] = tile[(1 - threadIdx.x), "
                                             "lane]");
        QCOMPARE(words({e.copy, makeAsyncCommit(), makeAsyncWait(1), makeBarrier(), e.use}), early);
        QCOMPARE(words({e.copy, makeAsyncWait(0), makeBarrier(), e.use}), early); // of no group
        QCOMPARE(words({e.copy, makeAsyncCommit(), makeBarrier(), e.use}), early);
        QVERIFY(words({e.copy, makeAsyncCommit(), makeBarrier(), makeAsyncWait(0), e.use})
                    .contains("reads tile at 4, and thread (1, 0, 0) of block (0, 0, 0) stores to it with no barrier"));
        QVERIFY(
            words({e.copy, makeAsyncCommit(), e.copy}).contains("stores to tile at 0 before the asynchronous copy"));
        QVERIFY(words({e.copy, makeAsyncCommit(), makeAsyncWait(0), makeBarrier(), e.use, e.copy})
                    .contains("reads it with no barrier between: async tile[threadIdx.x, 0] = x[threadIdx.x, 0] x4"));
    }

    void onlyWhatADeviceCopies()
    {
        const auto refused = [](const std::function<Stmt(Exchange&)>& statement, const char* words) {
            Exchange e;
            const std::string said = e.run(statement(e));
            QVERIFY2(said.find(words) != std::string::npos, said.c_str());
        };
        const auto copyOf = [](std::int32_t to, std::int32_t from, const Expr& at, std::int32_t count) {
            return makeAsyncCopy(to, {0, at}, load(from, DType::F32, {0, at}), count);
        };
        refused([&](Exchange&) { return copyOf(1, 0, 0, 4); }, "goes from x to y, not from global to shared memory");
        refused([&](Exchange&) { return copyOf(2, 2, 0, 4); }, "goes from tile to tile");
        refused([&](Exchange&) { return copyOf(2, 0, 0, 3); }, "is of 3 elements of float32, not of 4, 8 or 16 bytes");
        refused([&](Exchange&) { return copyOf(2, 0, 1, 2); }, "which is no multiple of 2 elements");
        refused([&](Exchange&) { return copyOf(2, 0, 2, 4); }, "4 elements of which the last are beyond its dimension");
        refused(
            [&](Exchange& e) {
                e.nest.buffers[2].strides = {1, 2};
                return copyOf(2, 0, 0, 2);
            },
            "is of elements that lie apart");
        refused([](Exchange&) { return makeAsyncWait(-1); }, "waits for fewer groups of copies than none");
    }

    void asOtherStatements()
    {
        Exchange e;
        Ranges ranges;
        const Stmt simplified = simplify(
            makeAsyncCopy(2, {e.thread, intImm(1) - intImm(1)}, load(0, DType::F32, {e.thread, 0}), 4), ranges);
        QCOMPARE(firstLine(e.nest, *simplified), std::string("async tile[threadIdx.x, 0] = x[threadIdx.x, 0] x4"));
        QCOMPARE(firstLine(e.nest, *makeAsyncWait(2)), std::string("async wait 2"));
        QCOMPARE(firstLine(e.nest, *makeAsyncCommit()), std::string("async commit"));
        // The same by the thread itself.
        QCOMPARE(e.run(makeBlock({synchronously(e.nest, *e.copy), makeBarrier(), e.use})), std::string());
        QCOMPARE(firstLine(e.nest, *synchronously(e.nest, *makeAsyncCopy(2, {e.thread, 0}, e.copy->value, 1))),
                 std::string("tile[threadIdx.x, 0] = x[threadIdx.x, 0]"));
    }
};

LATHE_TEST(TestAsyncCopies)

} // namespace tst_async_copies

#include "tst_async_copies.moc"
