// Branches and loops, with kernels that were written by hand.

#include "core/deploy/image_writer.h"
#include "core/runtime/executor.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cstring>
#include <functional>
#include <memory>

namespace tst_executor_control {

using namespace lathe;
using namespace lathe::runtime;
using deploy::ImageWriter;

namespace {

constexpr std::uint32_t kCells = 40;
constexpr std::int64_t kRows = 5;

/// acc, t: t = acc + 1
std::int32_t increase(const LatheArgs* args, void*, std::uint32_t part, std::uint32_t parts)
{
    const auto* const in = static_cast<const float*>(args->tensors[0]);
    auto* const out = static_cast<float*>(args->tensors[1]);
    for (std::uint32_t i = kCells * part / parts; i < kCells * (part + 1) / parts; ++i)
        out[i] = in[i] + 1;
    return 0;
}
/// acc, t: t = 2 acc
std::int32_t twice(const LatheArgs* args, void*, std::uint32_t part, std::uint32_t parts)
{
    const auto* const in = static_cast<const float*>(args->tensors[0]);
    auto* const out = static_cast<float*>(args->tensors[1]);
    for (std::uint32_t i = kCells * part / parts; i < kCells * (part + 1) / parts; ++i)
        out[i] = in[i] * 2;
    return 0;
}
/// acc, condition: whether all are below 100; the last part may decide alone.
std::int32_t below(const LatheArgs* args, void*, std::uint32_t part, std::uint32_t parts)
{
    if (part + 1 == parts)
        *static_cast<std::uint8_t*>(args->tensors[1]) = static_cast<const float*>(args->tensors[0])[kCells - 1] < 100;
    return 0;
}
/// iteration, t: fails in the fourth
std::int32_t failsLater(const LatheArgs* args, void*, std::uint32_t part, std::uint32_t parts)
{
    return *static_cast<const std::int64_t*>(args->tensors[0]) == 3 && part + 1 == parts ? 42 : 0;
}

const std::vector<LathePhase> kPhases = {increase, twice, below, failsLater};

struct Network
{
    std::vector<std::uint64_t> description;
    std::size_t bytes = 0;
    alignas(64) std::byte weights[64] = {};

    ModelSource source() const
    {
        return {reinterpret_cast<const std::byte*>(description.data()),
                bytes,
                weights,
                sizeof weights,
                kPhases.data(),
                kPhases.size()};
    }
    void take(const ImageWriter& writer)
    {
        const std::vector<std::byte> made = writer.finish(
            {.arena = 1024, .weights = 64, .teamScratch = 0, .partScratch = 0, .phases = kPhases.size()});
        description.assign(made.size() / 8 + 1, 0);
        bytes = made.size();
        std::memcpy(description.data(), made.data(), made.size());
    }
};

IndexMap plain(std::vector<std::int64_t> shape)
{
    return IndexMap::plain(shape.data(), static_cast<int>(shape.size()));
}

struct Tensors
{
    std::uint32_t trips, outer, flag, x, acc, t, iteration, condition, again, inner, rows, y, count;
};

Tensors addTensors(ImageWriter& w)
{
    Tensors t{};
    t.trips = w.addTensor({"trips", DType::I64, Storage::Input, 0, plain({})});
    t.outer = w.addTensor({"outer", DType::I64, Storage::Input, 1, plain({})});
    t.flag = w.addTensor({"flag", DType::Bool, Storage::Input, 2, plain({})});
    t.x = w.addTensor({"x", DType::F32, Storage::Input, 3, plain({kCells})});
    t.acc = w.addTensor({"acc", DType::F32, Storage::Arena, 0, plain({kCells})});
    t.t = w.addTensor({"t", DType::F32, Storage::Arena, 192, plain({kCells})});
    t.iteration = w.addTensor({"iteration", DType::I64, Storage::Arena, 384, plain({})});
    t.inner = w.addTensor({"inner", DType::I64, Storage::Arena, 448, plain({})});
    t.condition = w.addTensor({"condition", DType::Bool, Storage::Arena, 512, plain({})});
    t.again = w.addTensor({"always", DType::Bool, Storage::Weights, 0, plain({})});
    t.rows = w.addTensor({"rows", DType::F32, Storage::Output, 0, plain({kRows, kCells})});
    t.y = w.addTensor({"y", DType::F32, Storage::Output, 1, plain({kCells})});
    t.count = w.addTensor({"count", DType::I64, Storage::Output, 2, plain({})});
    for (const auto input : {t.trips, t.outer, t.flag, t.x})
        w.addInput(input, "");
    for (const auto output : {t.rows, t.y, t.count})
        w.addOutput(output, "");
    return t;
}

void kernel(ImageWriter& w, const char* name, std::uint32_t in, std::uint32_t out, std::uint32_t phase)
{
    const std::uint32_t args[] = {in, out};
    w.addKernel(name, args, 1, phase, 1);
}

enum class Kind
{
    Counted, ///< trips times: acc = flag ? acc + 1 : 2 acc, a row of it
    WhileBelow, ///< as long as acc is below 100, doubled
    Nested, ///< outer times, if flag: trips times + 1; else doubled
    Trading, ///< trips times: a row of acc, then acc + 1 from the other of two tensors that trade places
    Failing
};

Network makeNetwork(Kind kind)
{
    Network network;
    network.weights[0] = std::byte{1};
    ImageWriter w("controlled");
    const Tensors t = addTensors(w);
    w.addCopy("begin", t.x, t.acc);
    switch (kind) {
    case Kind::Counted:
        w.addLoop("loop", t.trips, t.again, t.iteration, 7);
        w.addBranch("choice", t.flag, 2, 2);
        kernel(w, "increase", t.acc, t.t, 0);
        w.addCopy("keep", t.t, t.acc);
        kernel(w, "twice", t.acc, t.t, 1);
        w.addCopy("keep", t.t, t.acc);
        w.addRow("rows", t.acc, t.iteration, t.rows);
        w.addCopy("nothing", t.acc, t.t);
        break;
    case Kind::WhileBelow:
        kernel(w, "below", t.acc, t.condition, 2);
        w.addLoop("loop", t.trips, t.condition, t.iteration, 3);
        kernel(w, "twice", t.acc, t.t, 1);
        w.addCopy("keep", t.t, t.acc);
        kernel(w, "below", t.acc, t.condition, 2);
        break;
    case Kind::Nested:
        w.addLoop("outer", t.outer, t.again, t.iteration, 6);
        w.addBranch("choice", t.flag, 3, 2);
        w.addLoop("inner", t.trips, t.again, t.inner, 2);
        kernel(w, "increase", t.acc, t.t, 0);
        w.addCopy("keep", t.t, t.acc);
        kernel(w, "twice", t.acc, t.t, 1);
        w.addCopy("keep", t.t, t.acc);
        break;
    case Kind::Trading:
        w.addLoop("loop", t.trips, t.again, t.iteration, 3);
        kernel(w, "increase", t.acc, t.t, 0);
        w.addRow("rows", t.acc, t.iteration, t.rows);
        w.addSwap("next", t.acc, t.t);
        break;
    case Kind::Failing:
        w.addLoop("loop", t.trips, t.again, t.iteration, 3);
        kernel(w, "increase", t.acc, t.t, 0);
        kernel(w, "late", t.iteration, t.t, 3);
        w.addCopy("keep", t.t, t.acc);
        break;
    }
    w.addCopy("end", t.acc, t.y);
    w.addCopy("count", t.iteration, t.count);
    network.take(w);
    return network;
}

struct Delete
{
    void operator()(Executor* e) const { Executor::destroy(e); }
};

/// A network with the executor that runs it.
struct Ready
{
    explicit Ready(Kind kind, std::uint32_t threads, ParallelFor parallelFor = nullptr)
        : network(makeNetwork(kind))
    {
        ErrorText error;
        Status status = model.open(network.source(), false, error);
        if (status == Status::Ok)
            executor.reset(Executor::create(model, {{threads, false, 50}, parallelFor, nullptr}, status, error));
        if (!executor)
            qFatal("%s", error.text);
    }
    Status run(std::int64_t trips, std::int64_t outer, bool flag, float x)
    {
        *static_cast<std::int64_t*>(executor->inputBuffer(0)) = trips;
        *static_cast<std::int64_t*>(executor->inputBuffer(1)) = outer;
        *static_cast<std::uint8_t*>(executor->inputBuffer(2)) = flag ? 1 : 0;
        std::fill_n(static_cast<float*>(executor->inputBuffer(3)), kCells, x);
        return executor->run();
    }
    float result() const
    {
        const auto* const y = static_cast<const float*>(executor->outputBuffer(1));
        return std::all_of(y, y + kCells, [y](float v) { return v == y[0]; }) ? y[0] : -1.0F;
    }
    std::int64_t count() const { return *static_cast<const std::int64_t*>(executor->outputBuffer(2)); }

    Network network;
    Model model;
    std::unique_ptr<Executor, Delete> executor;
};

void oneByOne(void*, std::uint32_t parts, void (*body)(void* context, std::uint32_t part), void* context)
{
    for (std::uint32_t part = parts; part > 0; --part)
        body(context, part - 1);
}

} // namespace

class TestExecutorControl : public QObject
{
    Q_OBJECT
private slots:
    void loopsAndBranchesRun_data()
    {
        QTest::addColumn<unsigned>("threads");
        QTest::addColumn<bool>("own");
        for (const unsigned n : {1U, 2U, 3U, 7U})
            QTest::addRow("%u threads", n) << n << false;
        QTest::newRow("the caller's parallel-for") << 3U << true;
    }
    void loopsAndBranchesRun()
    {
        QFETCH(unsigned, threads);
        QFETCH(bool, own);
        Ready counted(Kind::Counted, threads, own ? oneByOne : nullptr);
        for (int round = 0; round < 20; ++round) { // of different lengths, one behind the other
            const std::int64_t trips = round % 6;
            QVERIFY(counted.run(trips, 0, round % 2 == 0, 3) == Status::Ok);
            QCOMPARE(counted.result(),
                     round % 2 == 0 ? 3.0F + static_cast<float>(trips) : 3.0F * static_cast<float>(1 << trips));
            QCOMPARE(counted.count(), trips);
            const auto* const rows = static_cast<const float*>(counted.executor->outputBuffer(0));
            for (std::int64_t r = 0; r < trips; ++r)
                for (std::uint32_t c = 0; c < kCells; ++c)
                    QCOMPARE(rows[r * kCells + c],
                             round % 2 == 0 ? 4.0F + static_cast<float>(r) : 3.0F * static_cast<float>(2 << r));
        }
        QVERIFY(counted.run(-3, 0, true, 3) == Status::Ok); // none
        QCOMPARE(counted.result(), 3.0F);
        QCOMPARE(counted.count(), std::int64_t{0});

        Ready below(Kind::WhileBelow, threads, own ? oneByOne : nullptr);
        QVERIFY(below.run(1000, 0, true, 3) == Status::Ok);
        QCOMPARE(below.result(), 192.0F);
        QCOMPARE(below.count(), std::int64_t{6});
        QVERIFY(below.run(2, 0, true, 3) == Status::Ok);
        QCOMPARE(below.result(), 12.0F);
        QVERIFY(below.run(1000, 0, true, 100) == Status::Ok); // false at once
        QCOMPARE(below.result(), 100.0F);
        QCOMPARE(below.count(), std::int64_t{0});

        Ready nested(Kind::Nested, threads, own ? oneByOne : nullptr);
        QVERIFY(nested.run(4, 3, true, 1) == Status::Ok);
        QCOMPARE(nested.result(), 13.0F);
        QVERIFY(nested.run(0, 3, true, 1) == Status::Ok);
        QCOMPARE(nested.result(), 1.0F);
        QVERIFY(nested.run(4, 3, false, 1) == Status::Ok);
        QCOMPARE(nested.result(), 8.0F);
    }

    void twoTensorsTradePlaces_data() { loopsAndBranchesRun_data(); }
    void twoTensorsTradePlaces()
    {
        QFETCH(unsigned, threads);
        QFETCH(bool, own);
        Ready trading(Kind::Trading, threads, own ? oneByOne : nullptr);
        for (int round = 0; round < 20; ++round) { // after an odd number they stay where they are
            const std::int64_t trips = round % 6;
            QVERIFY(trading.run(trips, 0, true, 3) == Status::Ok);
            QCOMPARE(trading.result(), 3.0F + static_cast<float>(trips));
            const auto* const rows = static_cast<const float*>(trading.executor->outputBuffer(0));
            for (std::int64_t r = 0; r < trips; ++r)
                for (std::uint32_t c = 0; c < kCells; ++c)
                    QCOMPARE(rows[r * kCells + c], 3.0F + static_cast<float>(r));
            if (round == 10) // buffers are bound anew between two runs
                QVERIFY(trading.executor->bindOutput(1, trading.executor->outputBuffer(1), kCells * sizeof(float))
                        == Status::Ok);
            if (round == 12)
                QVERIFY(trading.executor->runChain(1, 4) == Status::Ok);
        }
        // Not to be seen behind a run that failed.
        QVERIFY(trading.run(7, 0, true, 3) == Status::KernelFailed);
        QVERIFY(trading.run(2, 0, true, 3) == Status::Ok);
        QCOMPARE(trading.result(), 5.0F);
    }

    void tensorsThatCannotTradePlacesAreRefused_data()
    {
        QTest::addColumn<int>("what");
        QTest::newRow("an output") << 0;
        QTest::newRow("another size") << 1;
        QTest::newRow("the same tensor") << 2;
        QTest::newRow("another tensor reaches out of it") << 3;
        QTest::newRow("weights") << 4;
    }
    void tensorsThatCannotTradePlacesAreRefused()
    {
        QFETCH(int, what);
        ImageWriter w("controlled");
        const Tensors t = addTensors(w);
        if (what == 3) {
            const std::uint32_t across = w.addTensor({"across", DType::F32, Storage::Arena, 128, plain({kCells})});
            w.addCopy("use", t.x, across);
        }
        const std::uint32_t others[] = {t.y, t.iteration, t.acc, t.t, t.again};
        w.addSwap("next", t.acc, others[what]);
        Network network;
        network.take(w);
        Model model;
        ErrorText error;
        QVERIFY(model.open(network.source(), false, error) == Status::Damaged);
        QVERIFY2(QByteArray(error.text).contains("instruction"), error.text);
    }

    void moreIterationsThanRowsAreAnError()
    {
        for (const unsigned threads : {1U, 3U}) {
            Ready counted(Kind::Counted, threads);
            QVERIFY(counted.run(6, 0, true, 3) == Status::KernelFailed);
            QVERIFY(QByteArray(counted.executor->lastError().text).contains("more often than its result \"rows\""));
            QVERIFY(counted.run(5, 0, true, 3) == Status::Ok);
            QCOMPARE(counted.result(), 8.0F);
        }
    }

    void aKernelThatFailsInALaterIterationIsNamed()
    {
        for (const unsigned threads : {1U, 2U, 5U}) {
            Ready failing(Kind::Failing, threads);
            for (int round = 0; round < 10; ++round) {
                QVERIFY(failing.run(100, 0, true, 3) == Status::KernelFailed);
                QCOMPARE(QByteArray(failing.executor->lastError().text), "kernel \"late\" failed with code 42");
                QVERIFY(failing.run(3, 0, true, 3) == Status::Ok);
            }
        }
    }

    void profileCountsEachIteration()
    {
        Ready counted(Kind::Counted, 2);
        counted.executor->setProfiling(true);
        QVERIFY(counted.run(4, 0, true, 3) == Status::Ok);
        const auto calls = [&](std::uint32_t instruction) { return counted.executor->profile(instruction).calls; };
        QCOMPARE(calls(0), std::uint64_t{1});
        QCOMPARE(calls(1), std::uint64_t{5}); // enters, and looks behind each iteration
        QCOMPARE(calls(2), std::uint64_t{4});
        QCOMPARE(calls(3), std::uint64_t{4}); // the branch that is taken
        QCOMPARE(calls(5), std::uint64_t{0}); // the other
        QCOMPARE(calls(7), std::uint64_t{4});
        QCOMPARE(calls(9), std::uint64_t{1});
    }

    void aChainRunsBothBranchesAndALoopOnce()
    {
        for (const auto parallelFor : {ParallelFor(nullptr), ParallelFor(oneByOne)}) {
            Ready nested(Kind::Nested, 2, parallelFor);
            QVERIFY(nested.run(4, 3, false, 1) == Status::Ok);
            for (std::uint32_t i = 0; i < 10; ++i) {
                nested.executor->setProfiling(true);
                QVERIFY(nested.executor->runChain(i > 0 ? i - 1 : 0, std::min(i, 9U)) == Status::Ok);
                for (std::uint32_t other = 0; other < 10; ++other)
                    QCOMPARE(nested.executor->profile(other).calls > 0, other == i);
            }
            QVERIFY(nested.executor->runChain(0, 9) == Status::Ok); // (1 + 1) * 2
            QCOMPARE(nested.result(), 4.0F);
            Ready counted(Kind::Counted, 2, parallelFor);
            QVERIFY(counted.run(5, 0, true, 1) == Status::Ok); // leaves an iteration without a row
            QVERIFY(counted.executor->runChain(6, 7) == Status::Ok);
        }
    }

    void theObserverSeesEachIteration()
    {
        Ready counted(Kind::Counted, 3);
        std::vector<float> seen;
        counted.executor->setObserver(
            [](void* user, std::uint32_t instruction, const ImageTensor&, const void* data) {
                if (instruction == 3)
                    static_cast<std::vector<float>*>(user)->push_back(*static_cast<const float*>(data));
            },
            &seen);
        QVERIFY(counted.run(3, 0, true, 3) == Status::Ok);
        QCOMPARE(seen, (std::vector<float>{4, 5, 6}));
    }

    void whatIsNotNestedIsRefused_data()
    {
        using Add = std::function<void(ImageWriter&, const Tensors&)>;
        QTest::addColumn<Add>("add");
        const auto row = [](const char* name, Add add) { QTest::newRow(name) << add; };
        row("a branch beyond the end", [](auto& w, auto& t) { w.addBranch("b", t.flag, 1, 2); });
        row("a count that wraps around", [](auto& w, auto& t) { w.addBranch("b", t.flag, 1, UINT32_MAX); });
        row("a loop beyond the end", [](auto& w, auto& t) { w.addLoop("l", t.trips, t.flag, t.iteration, 3); });
        row("a branch out of its loop", [](auto& w, auto& t) {
            w.addLoop("l", t.trips, t.flag, t.iteration, 2);
            w.addBranch("b", t.flag, 1, 1);
        });
        row("a loop out of its branch", [](auto& w, auto& t) {
            w.addBranch("b", t.flag, 1, 1);
            w.addLoop("l", t.trips, t.flag, t.iteration, 1);
        });
        row("too deep", [](auto& w, auto& t) {
            for (std::uint32_t i = 40; i > 0; --i)
                w.addLoop("l", t.trips, t.flag, t.iteration, i);
        });
        row("a condition of integers", [](auto& w, auto& t) { w.addBranch("b", t.trips, 1, 1); });
        row("a condition of many", [](auto& w, auto& t) { w.addLoop("l", t.trips, t.x, t.iteration, 1); });
        row("trips of another type", [](auto& w, auto& t) { w.addLoop("l", t.flag, t.flag, t.iteration, 1); });
        row("an iteration of another type", [](auto& w, auto& t) { w.addLoop("l", t.trips, t.flag, t.acc, 1); });
        row("an iteration that is an input", [](auto& w, auto& t) { w.addLoop("l", t.trips, t.flag, t.outer, 1); });
        row("a row that does not fit", [](auto& w, auto& t) { w.addRow("r", t.rows, t.iteration, t.acc); });
        row("a row of another type", [](auto& w, auto& t) { w.addRow("r", t.flag, t.iteration, t.acc); });
        row("a row at no number", [](auto& w, auto& t) { w.addRow("r", t.acc, t.flag, t.rows); });
        row("a row onto itself", [](auto& w, auto& t) { w.addRow("r", t.acc, t.iteration, t.acc); });
    }
    void whatIsNotNestedIsRefused()
    {
        QFETCH(std::function<void(ImageWriter&, const Tensors&)>, add);
        const auto open = [&](const std::function<void(ImageWriter&, const Tensors&)>& first, ErrorText& error) {
            ImageWriter w("hostile");
            const Tensors t = addTensors(w);
            first(w, t);
            w.addCopy("one", t.x, t.acc);
            w.addCopy("two", t.acc, t.t);
            Network network;
            network.take(w);
            Model model;
            return model.open(network.source(), false, error) == Status::Ok;
        };
        ErrorText error;
        QVERIFY2(open([](auto& w, auto& t) { w.addBranch("b", t.flag, 1, 1); }, error), error.text);
        QVERIFY2(open([](auto& w, auto& t) { w.addLoop("l", t.trips, t.flag, t.iteration, 2); }, error), error.text);
        QVERIFY(!open(add, error));
        QVERIFY(QByteArray(error.text).contains("instruction"));
    }
};

LATHE_TEST(TestExecutorControl)

} // namespace tst_executor_control

#include "tst_executor_control.moc"
