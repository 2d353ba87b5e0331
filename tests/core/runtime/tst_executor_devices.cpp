// Networks of which a device beside the processor runs a part. The device does everything as late as it may.

#include "tests/core/runtime/late_network.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cstring>
#include <list>
#include <utility>

namespace tst_executor_devices {

using namespace lathe;
using namespace lathe::runtime;
using namespace lathe::test;

namespace {

void onThisThread(void*, std::uint32_t parts, void (*body)(void* context, std::uint32_t part), void* context)
{
    for (std::uint32_t part = parts; part > 0; --part)
        body(context, part - 1);
}

std::vector<float> runWith(Executor& executor, const std::vector<float>& input, std::vector<float>* z = nullptr)
{
    static std::list<std::vector<float>> bound; // buffers live as long as they are bound
    const std::vector<float>& x = bound.emplace_back(input);
    std::vector<float>&y = bound.emplace_back(kCells, -1), &ownZ = bound.emplace_back(kCells, -1);
    if (executor.bindInput(0, x.data(), kBytes) != Status::Ok || executor.bindOutput(0, y.data(), kBytes) != Status::Ok
        || executor.bindOutput(1, ownZ.data(), kBytes) != Status::Ok || executor.run() != Status::Ok)
        return {};
    if (z != nullptr)
        *z = ownZ;
    return y;
}

} // namespace

class TestExecutorDevices : public QObject
{
    Q_OBJECT
private slots:
    void runsOnDeviceAndProcessor_data()
    {
        QTest::addColumn<std::uint32_t>("threads");
        QTest::addColumn<bool>("callers");
        QTest::addColumn<bool>("shares");
        QTest::newRow("as usual") << 0U << false << false;
        QTest::newRow("one thread") << 1U << false << false;
        QTest::newRow("three threads") << 3U << false << false;
        QTest::newRow("the caller's") << 2U << true << false;
        QTest::newRow("shared memory") << 0U << false << true;
        QTest::newRow("shared memory, three threads") << 3U << false << true;
        QTest::newRow("shared memory, the caller's threads") << 2U << true << true;
    }
    void runsOnDeviceAndProcessor()
    {
        QFETCH(std::uint32_t, threads);
        QFETCH(bool, callers);
        QFETCH(bool, shares);
        const Network network = makeNetwork();
        late::device().sharesMemory = shares;
        {
            Model model;
            ErrorText error;
            QVERIFY2(model.open(network.source(), true, error) == Status::Ok, error.text);
            QCOMPARE(late::device().code, std::string("CODE"));
            const ExecutorPtr executor = makeExecutor(model, threads, error, callers ? &onThisThread : nullptr);
            QVERIFY2(executor != nullptr, error.text);
            if (threads == 0) // the device has the work
                QCOMPARE(executor->parts(), 1U);
            for (const float shift : {0.5F, 11.0F, -3.0F}) {
                std::vector<float> z;
                QCOMPARE(runWith(*executor, someInput(shift), &z), expected(someInput(shift)));
                QCOMPARE(z, scaled(someInput(shift)));
            }
        }
        QCOMPARE(late::device().contexts + late::device().queues + late::device().launches + late::device().pieces, 0);
    }

    /// Between two launches nobody waits; before a kernel of the processor and at the end somebody has to.
    void waitsNoMoreThanItMust()
    {
        const Network network = makeNetwork();
        Model model;
        ErrorText error;
        QVERIFY(model.open(network.source(), true, error) == Status::Ok);
        const ExecutorPtr executor = makeExecutor(model, 1, error);
        QVERIFY(executor);
        QVERIFY(!runWith(*executor, someInput(1)).empty());
        late::device().waits = 0;
        QVERIFY(!runWith(*executor, someInput(1)).empty());
        QCOMPARE(late::device().waits, 2); // for m, and at the end
    }

    void instancesShareWeights()
    {
        const Network network = makeNetwork();
        Model model;
        ErrorText error;
        QVERIFY(model.open(network.source(), true, error) == Status::Ok);
        const ExecutorPtr one = makeExecutor(model, 1, error), other = makeExecutor(model, 1, error);
        QCOMPARE(late::device().uploads, 1); // two tensors lie there
        QCOMPARE(runWith(*one, someInput(1)), expected(someInput(1)));
        QCOMPARE(runWith(*other, someInput(2)), expected(someInput(2)));
        QCOMPARE(runWith(*one, someInput(3)), expected(someInput(3)));
    }

    void takesMemoryOnTheDevice()
    {
        const Network network = makeNetwork();
        Model model;
        ErrorText error;
        QVERIFY(model.open(network.source(), true, error) == Status::Ok);
        const ExecutorPtr executor = makeExecutor(model, 1, error);
        QVERIFY(executor);
        std::vector<std::byte> x = bytesOf(someInput(4)), y(x.size()), small(8);
        QVERIFY(executor->bindDeviceInput(0, &small, small.size()) == Status::InvalidArgument);
        QVERIFY(executor->bindDeviceInput(0, &small, x.size()) == Status::InvalidArgument);
        QVERIFY2(QString(executor->lastError().text).contains("none of 96 bytes"), executor->lastError().text);
        QVERIFY(executor->bindDeviceInput(1, &x, x.size()) == Status::InvalidArgument);
        QVERIFY(executor->bindDeviceInput(0, &x, x.size()) == Status::Ok);
        QVERIFY(executor->bindDeviceOutput(0, &y, y.size()) == Status::Ok);
        std::vector<float> z(kCells);
        QVERIFY(executor->bindOutput(1, z.data(), x.size()) == Status::Ok);
        QVERIFY2(executor->run() == Status::Ok, executor->lastError().text);
        QCOMPARE(y, bytesOf(expected(someInput(4))));
        QCOMPARE(z, scaled(someInput(4)));
        std::ranges::copy(bytesOf(someInput(5)), x.begin());
        QVERIFY(executor->run() == Status::Ok);
        QCOMPARE(y, bytesOf(expected(someInput(5))));
        // Memory of the processor takes their place again.
        QCOMPARE(runWith(*executor, someInput(6)), expected(someInput(6)));
        QCOMPARE(y, bytesOf(expected(someInput(5))));
    }

    void memoryOnADeviceIsRefusedWithoutOne()
    {
        Network network;
        ImageWriter writer("none");
        const auto x = writer.addTensor({"x", DType::F32, Storage::Input, 0, plain({kCells})});
        const auto y = writer.addTensor({"y", DType::F32, Storage::Output, 0, plain({kCells})});
        const std::uint32_t arguments[] = {x, y};
        writer.addKernel("reverse", arguments, 1, 0, 1);
        writer.addInput(x, "");
        writer.addOutput(y, "");
        const std::vector<std::byte> bytes = writer.finish({.phases = 1});
        network.description.resize(bytes.size() / 8 + 1);
        network.descriptionBytes = bytes.size();
        std::memcpy(network.description.data(), bytes.data(), bytes.size());
        Model model;
        ErrorText error;
        QVERIFY2(model.open(network.source(), true, error) == Status::Ok, error.text);
        const ExecutorPtr executor = makeExecutor(model, 1, error);
        std::vector<std::byte> memory(kCells * 4);
        QVERIFY(executor->bindDeviceInput(0, &memory, memory.size()) == Status::InvalidArgument);
    }

    void observerSeesWhatIsOnTheDevice_data()
    {
        QTest::addColumn<bool>("shares");
        QTest::newRow("memory of its own") << false;
        QTest::newRow("shared memory") << true;
    }
    void observerSeesWhatIsOnTheDevice()
    {
        QFETCH(bool, shares);
        const Network network = makeNetwork();
        late::device().sharesMemory = shares;
        Model model;
        ErrorText error;
        QVERIFY(model.open(network.source(), true, error) == Status::Ok);
        std::map<std::string, std::vector<float>> seen;
        const std::vector<float> x = someInput(2);
        std::vector<std::byte> y(kCells * 4);
        std::vector<float> z(kCells);
        const ExecutorPtr executor = makeExecutor(model, 2, error);
        executor->setObserver(
            [](void* user, std::uint32_t instruction, const ImageTensor&, const void* data) {
                const auto* const values = static_cast<const float*>(data);
                (*static_cast<std::map<std::string, std::vector<float>>*>(user))[std::to_string(instruction)] = {
                    values, values + kCells};
            },
            &seen);
        QVERIFY(executor->bindInput(0, x.data(), kCells * 4) == Status::Ok);
        QVERIFY(executor->bindDeviceOutput(0, &y, y.size()) == Status::Ok);
        QVERIFY(executor->bindOutput(1, z.data(), kCells * 4) == Status::Ok);
        QVERIFY2(executor->run() == Status::Ok, executor->lastError().text);
        QCOMPARE(seen.size(), 8U);
        QCOMPARE(seen["0"], x);
        QCOMPARE(seen["1"], scaled(x));
        QCOMPARE(seen["2"], scaled(x));
        QCOMPARE(seen["5"], expected(x));
        QCOMPARE(seen["6"], expected(x)); // in the caller's memory on the device
        QCOMPARE(seen["7"], scaled(x));
        QCOMPARE(late::device().misuses, 0);
    }

    /// A step is timed by a row of them, unless it takes so long that waiting for it does not count.
    void aRowOfLaunchesIsTimed()
    {
        const Network network = makeNetwork();
        int calls = 0, sleepMs = 0;
        late::device().functions["add_0"] = [&, add = late::device().functions["add_0"]](
                                                const std::vector<std::byte*>& b, const LaunchRequest& request) {
            ++calls;
            QTest::qSleep(sleepMs);
            return add(b, request);
        };
        Model model;
        ErrorText error;
        QVERIFY(model.open(network.source(), true, error) == Status::Ok);
        const ExecutorPtr executor = makeExecutor(model, 1, error);
        executor->setProfiling(true);
        QCOMPARE(runWith(*executor, someInput(1)), expected(someInput(1)));
        QVERIFY2(calls == 10 || calls == 1, qPrintable(QString::number(calls))); // 1: this machine was held up
        QVERIFY(executor->profile(1).totalNs > 0 && executor->profile(5).totalNs > 0);
        calls = 0;
        sleepMs = 2;
        executor->setProfiling(true);
        QVERIFY(executor->runChain(1, 5) == Status::Ok);
        QCOMPARE(calls, 1);
        QCOMPARE(executor->profile(1).calls, 0U);
        QVERIFY(executor->profile(5).totalNs >= 2'000'000);
    }

    /// A driver that knows where a run begins and ends may make one thing of all that is in it.
    void wholeRunsAreToldToTheDevice()
    {
        const Network network = makeNetwork();
        Model model;
        ErrorText error;
        QVERIFY(model.open(network.source(), true, error) == Status::Ok);
        for (const bool callers : {false, true}) {
            const ExecutorPtr executor = makeExecutor(model, 2, error, callers ? &onThisThread : nullptr);
            const auto told = [] { return std::pair(late::device().runs, late::device().endedRuns); };
            const auto before = told();
            for (int run = 1; run <= 2; ++run) {
                QCOMPARE(runWith(*executor, someInput(1)), expected(someInput(1)));
                QCOMPARE(told(), std::pair(before.first + run, before.first + run));
            }
            const auto twice = told();
            executor->setProfiling(true); // here each step is waited for
            QCOMPARE(runWith(*executor, someInput(2)), expected(someInput(2)));
            executor->setProfiling(false);
            executor->setObserver([](void*, std::uint32_t, const ImageTensor&, const void*) {}, nullptr);
            QCOMPARE(runWith(*executor, someInput(3)), expected(someInput(3)));
            executor->setObserver(nullptr, nullptr);
            QVERIFY(executor->runChain(0, 3) == Status::Ok); // and here parts are run
            QCOMPARE(told(), twice);
            late::device().failsAtEnd = true;
            QVERIFY(runWith(*executor, someInput(4)).empty());
            QCOMPARE(QString(executor->lastError().text), QStringLiteral("the device refused a run"));
            late::device().failsAtEnd = false;
            const auto scale = std::exchange(late::device().functions["scale_0"],
                                             [](const auto&, const auto&) { return false; });
            const ExecutorPtr failing = makeExecutor(model, 1, error);
            QVERIFY(runWith(*failing, someInput(4)).empty());
            late::device().functions["scale_0"] = scale;
            QCOMPARE(told(), std::pair(twice.first + 2, twice.first + 2)); // however it went
            QCOMPARE(runWith(*executor, someInput(5)), expected(someInput(5)));
        }
        QCOMPARE(late::device().misuses, 0);
    }

    void aLaunchThatFailsIsNamed()
    {
        const Network network = makeNetwork();
        Model model;
        ErrorText error;
        QVERIFY(model.open(network.source(), true, error) == Status::Ok);
        bool fails = true;
        late::device().functions["add_0"] = [&fails, add = late::device().functions["add_0"]](
                                                const std::vector<std::byte*>& b, const LaunchRequest& request) {
            return add(b, request) && !fails;
        };
        const ExecutorPtr executor = makeExecutor(model, 1, error);
        QVERIFY(executor);
        QVERIFY(runWith(*executor, someInput(1)).empty());
        QCOMPARE(QString(executor->lastError().text), QString("the device refused a command"));
        fails = false;
        QCOMPARE(runWith(*executor, someInput(1)), expected(someInput(1)));
    }

    void whatIsMissingIsSaid()
    {
        const Network network = makeNetwork();
        ErrorText error;
        {
            Model model;
            ModelSource source = network.source();
            source.driverCount = 0;
            QVERIFY(model.open(source, true, error) == Status::Damaged);
            QVERIFY2(QString(error.text).contains("\"late -fast\""), error.text);
        }
        {
            Model model;
            QVERIFY(model.open(network.source(), true, error) == Status::Ok);
            late::device().mostPieces = late::device().pieces + 1; // the weights have room, not all of the arena has
            QVERIFY(!makeExecutor(model, 1, error));
            QVERIFY2(QString(error.text).contains("no room for another"), error.text);
            QCOMPARE(late::device().pieces, late::device().mostPieces - 1); // nothing is left of it
            late::device().mostPieces = INT_MAX;
            late::device().most = 50;
            Model without;
            QVERIFY(without.open(network.source(), true, error) == Status::NoMemory);
            late::device().most = SIZE_MAX;
        }
        {
            Model model;
            QVERIFY(model.open(network.source(), true, error) == Status::Ok);
            late::device().functions.erase("scale_1");
            QVERIFY(!makeExecutor(model, 1, error));
            QCOMPARE(QString(error.text), QString("there is no such function"));
        }
        QCOMPARE(late::device().contexts + late::device().queues + late::device().launches + late::device().pieces, 0);
    }
};

LATHE_TEST(TestExecutorDevices)

} // namespace tst_executor_devices

#include "tst_executor_devices.moc"
