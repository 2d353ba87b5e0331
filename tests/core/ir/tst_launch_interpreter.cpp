#include "core/ir/interpret_launches.h"
#include "core/ir/verify.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cstring>

namespace tst_launch_interpreter {

using namespace lathe;
using namespace lathe::ir;

namespace {

constexpr std::int64_t kThreads = 4, kBlocks = 2;

/// Two blocks of four threads; each element of y becomes that of x of the thread's neighbour, through shared memory:
///     tile[thread] = x[block, thread]; barrier; y[block, thread] = tile[3 - thread]
struct Reversal
{
    LoopNest nest;
    Expr block = var("blockIdx.x"), thread = var("threadIdx.x");
    Stmt fill, use;

    Reversal()
    {
        nest.name = "reversal";
        const auto buffer = [&](const char* name, Scope scope, std::vector<std::int64_t> shape, bool readOnly) {
            Buffer made;
            made.name = name;
            made.scope = scope;
            made.strides.assign(shape.size(), 1);
            for (std::size_t d = shape.size(); d-- > 1;)
                made.strides[d - 1] = made.strides[d] * shape[d];
            made.shape = std::move(shape);
            made.readOnly = readOnly;
            nest.buffers.push_back(std::move(made));
        };
        buffer("x", Scope::Parameter, {kBlocks, kThreads}, true);
        buffer("y", Scope::Parameter, {kBlocks, kThreads}, false);
        buffer("tile", Scope::Shared, {kThreads}, false);
        buffer("own", Scope::Local, {2}, false);
        nest.parameters = {0, 1};
        fill = makeStore(2, {thread}, load(0, DType::F32, {block, thread}));
        use = makeStore(1, {block, thread}, load(2, DType::F32, {intImm(kThreads - 1) - thread}));
    }

    /// What is wrong with the body; empty if nothing is. y is compared where it should be right.
    std::string run(Stmt body, bool compares = true)
    {
        const std::vector<float> expected = {4, 3, 2, 1, 8, 7, 6, 5};
        return run(std::move(body), compares ? expected : std::vector<float>());
    }
    std::string run(Stmt body, const std::vector<float>& expected)
    {
        Launch launch;
        launch.name = "all";
        launch.grid = {kBlocks, 1, 1};
        launch.block = {kThreads, 1, 1};
        launch.blockIndex = {block, var("blockIdx.y"), var("blockIdx.z")};
        launch.threadIndex = {thread, var("threadIdx.y"), var("threadIdx.z")};
        launch.body = std::move(body);
        nest.launches = {launch};
        if (const auto verified = verify(nest); !verified)
            return verified.error().message;
        const auto interpreter = LaunchInterpreter::compile(nest);
        if (!interpreter)
            return interpreter.error().message;
        float x[kBlocks * kThreads], y[kBlocks * kThreads] = {};
        for (std::size_t i = 0; i < std::size(x); ++i)
            x[i] = static_cast<float>(i + 1);
        const std::vector<std::span<std::byte>> parameters = {std::as_writable_bytes(std::span(x)),
                                                              std::as_writable_bytes(std::span(y))};
        if (const auto ran = interpreter->run(parameters); !ran)
            return ran.error().message;
        return !expected.empty() && std::memcmp(y, expected.data(), sizeof y) != 0 ? "wrong numbers" : "";
    }
};

/// A warp of four lanes: own = x; own = own + own of lane ^ 2; own = own + own of lane ^ 1; y = own.
struct LaneSum
{
    Reversal r;
    Expr x = load(0, DType::F32, {r.block, r.thread}), own = load(3, DType::F32, {0});
    Stmt begin = makeStore(3, {0}, x), end = makeStore(1, {r.block, r.thread}, own);

    Stmt step(std::int32_t distance, std::int32_t warp = kThreads) const
    {
        return makeBlock({makeShuffle(3, {1}, own, distance, warp), makeStore(3, {0}, own + load(3, DType::F32, {1}))});
    }
};

} // namespace

/// What happens on a device by chance is found each time, and named.
class TestLaunchInterpreter : public QObject
{
    Q_OBJECT

private slots:
    void rightKernelsRun()
    {
        Reversal r;
        QCOMPARE(r.run(makeBlock({r.fill, makeBarrier(), r.use})), std::string());
        // A barrier in a loop that all threads walk alike, and a tile that is filled anew behind another.
        const Stmt twice = makeFor(var("i"), 0, 2, LoopKind::Serial,
                                   makeBlock({makeBarrier(), r.fill, makeBarrier(), r.use}));
        QCOMPARE(r.run(twice), std::string());
        // What one thread alone writes and reads needs none.
        const Stmt own = makeBlock(
            {makeStore(3, {intImm(1)}, load(0, DType::F32, {r.block, r.thread})), r.fill, makeBarrier(), r.use});
        QCOMPARE(r.run(own), std::string());
    }

    /// Each lane gives what it had before any took.
    void lanesExchangeWhatTheyHave()
    {
        LaneSum sum;
        const std::vector<float> sums = {10, 10, 10, 10, 26, 26, 26, 26};
        QCOMPARE(sum.r.run(makeBlock({sum.begin, sum.step(2), sum.step(1), sum.end}), sums), std::string());
        // Two warps of two lanes in a block of four.
        const std::vector<float> pairs = {3, 3, 7, 7, 11, 11, 15, 15};
        QCOMPARE(sum.r.run(makeBlock({sum.begin, sum.step(1, 2), sum.end}), pairs), std::string());
        // Whole warps may stay away: here the second of two.
        const std::vector<float> first = {3, 3, 3, 4, 11, 11, 7, 8};
        QCOMPARE(sum.r.run(makeBlock({sum.begin, makeIf(sum.r.thread < intImm(2), sum.step(1, 2)), sum.end}), first),
                 std::string());
        QCOMPARE(QString::fromStdString(print(sum.r.nest)).count("shuffle own[1] = own[0] of lane ^ 1 of 2"), 1);
    }

    void divergentShufflesAreNamed_data()
    {
        QTest::addColumn<int>("fault");
        QTest::addColumn<QByteArray>("words");
        const auto row = [](int fault, const char* words) { QTest::newRow(words) << fault << QByteArray(words); };
        row(0,
            "launch all of kernel reversal: divergent shuffle: 3 of 4 lanes of the warp of thread (0, 0, 0) of block "
            "(0, 0, 0) come to it: shuffle own[1] = own[0] of lane ^ 1 of 4");
        row(1, "divergent shuffle: 2 of 4 lanes of the warp of thread (2, 0, 0)"); // the others' turn
        row(2, "divergent shuffle: 1 of 4 lanes of the warp of thread (3, 0, 0)"); // a loop that others have left
        row(3, "divergent shuffle: thread (0, 0, 0) of block (0, 0, 0) takes from lane 4 of 4");
        row(4, "thread (0, 0, 0) of block (0, 0, 0) reads own at 0, which nobody has written");
        row(5, "a shuffle goes from lane ^ 3 of 4");
        row(6, "a shuffle stores to tile, which is no thread's own");
        row(7, "a shuffle goes from lane ^ 4 of 4");
    }
    void divergentShufflesAreNamed()
    {
        QFETCH(int, fault);
        QFETCH(QByteArray, words);
        LaneSum sum;
        const Expr i = var("i");
        Stmt middle;
        switch (fault) {
        case 0: middle = makeIf(sum.r.thread < intImm(3), sum.step(1)); break;
        case 1: middle = makeIf(sum.r.thread >= intImm(2), sum.step(1)); break;
        case 2:
            middle = makeFor(i, 0, sum.r.thread + intImm(1), LoopKind::Serial, makeIf(i >= intImm(3), sum.step(1)));
            break;
        case 3: middle = sum.step(4, 8); break;
        case 4: sum.begin = makeStore(3, {1}, sum.x), middle = sum.step(1); break;
        case 5: middle = sum.step(3); break;
        case 6: middle = makeShuffle(2, {0}, sum.own, 1, 4); break;
        default: middle = sum.step(4); break;
        }
        const std::string wrong = sum.r.run(makeBlock({sum.begin, middle, sum.end}), false);
        QVERIFY2(wrong.find(words.toStdString()) != std::string::npos, wrong.c_str());
    }

    void faultsAreNamed_data()
    {
        QTest::addColumn<int>("fault");
        QTest::addColumn<QByteArray>("words");
        const auto row = [](int fault, const char* words) { QTest::newRow(words) << fault << QByteArray(words); };
        row(0, "launch all of kernel reversal: thread (0, 0, 0) of block (0, 0, 0) reads tile at 3, and thread (3, 0, "
               "0) of "
               "block (0, 0, 0) stores to it with no barrier between: y[blockIdx.x, threadIdx.x] = tile[(3 - "
               "threadIdx.x)]");
        row(1, "thread (0, 0, 0) of block (0, 0, 0) stores to tile at 0, and thread (3, 0, 0) of block (0, 0, 0) reads "
               "it with no "
               "barrier between: tile[threadIdx.x] = x[blockIdx.x, threadIdx.x]");
        row(2, "2 of 4 threads come to a barrier: barrier");
        row(3, "thread (0, 0, 0) of block (0, 0, 0) reads tile at 3, which nobody has written");
        row(4, "thread (0, 0, 0) of block (1, 0, 0) stores to y at 0, and thread (0, 0, 0) of block (0, 0, 0) stores "
               "to it in "
               "the same launch");
        row(5, "stores to tile at index 0 = 4, outside of [0, 4)");
        row(6, "thread (0, 0, 0) of block (0, 0, 0) reads own at 0, which nobody has written");
        row(7, "thread (1, 0, 0) of block (0, 0, 0) stores to tile at 0, and thread (0, 0, 0) of block (0, 0, 0) "
               "stores to it "
               "with no barrier between");
        row(8, "thread (0, 0, 0) of block (0, 0, 0) reads y at 0, which nobody has written");
        row(9, "1 of 4 threads come to a barrier: barrier");
    }
    void faultsAreNamed()
    {
        QFETCH(int, fault);
        QFETCH(QByteArray, words);
        Reversal r;
        const Expr first = r.thread < intImm(2), i = var("i");
        Stmt body;
        switch (fault) {
        case 0: body = makeBlock({r.fill, r.use}); break; // no barrier
        case 1: // none before the tile is filled again
            body = makeFor(i, 0, 2, LoopKind::Serial, makeBlock({r.fill, makeBarrier(), r.use}));
            break;
        case 2: body = makeBlock({r.fill, makeIf(first, makeBarrier()), r.use}); break;
        case 3: body = makeBlock({makeIf(first, r.fill), makeBarrier(), r.use}); break; // half a tile
        case 4: body = makeStore(1, {intImm(0), r.thread}, load(0, DType::F32, {r.block, r.thread})); break;
        case 5: body = makeStore(2, {r.thread + 1}, floatImm(0)); break;
        case 6: body = makeStore(1, {r.block, r.thread}, load(3, DType::F32, {intImm(0)})); break;
        case 7: body = makeStore(2, {intImm(0)}, floatImm(0)); break;
        case 8: body = makeStore(1, {r.block, r.thread}, load(1, DType::F32, {r.block, r.thread}) + floatImm(1)); break;
        default: // thread t comes to t barriers
            body = makeBlock({r.fill, makeFor(i, 0, r.thread, LoopKind::Serial, makeBarrier()), r.use});
            words = "3 of 4 threads come to a barrier: barrier";
            break;
        }
        const std::string wrong = r.run(body, false);
        QVERIFY2(wrong.find(words.toStdString()) != std::string::npos, wrong.c_str());
    }

    void launchesSeeWhatEarlierOnesHaveWritten()
    {
        Reversal r;
        QCOMPARE(r.run(makeBlock({r.fill, makeBarrier(), r.use})), std::string());
        Launch second = r.nest.launches[0];
        second.body = makeStore(1, {r.block, r.thread}, load(1, DType::F32, {r.block, r.thread}) * floatImm(2));
        r.nest.launches.push_back(second);
        const auto interpreter = LaunchInterpreter::compile(r.nest);
        QVERIFY(interpreter);
        float x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, y[8] = {};
        const std::vector<std::span<std::byte>> parameters = {std::as_writable_bytes(std::span(x)),
                                                              std::as_writable_bytes(std::span(y))};
        QVERIFY(interpreter->run(parameters));
        QCOMPARE(y[0], 8.0F);
        QVERIFY(!interpreter->run(std::span(parameters).first(1)));
    }
};

LATHE_TEST(TestLaunchInterpreter)

} // namespace tst_launch_interpreter

#include "tst_launch_interpreter.moc"
