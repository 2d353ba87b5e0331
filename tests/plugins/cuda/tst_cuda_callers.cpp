#include "tests/plugins/cuda/cuda_fixture.h"
#include "tests/plugins/cuda/graph_network.h"
#include "tests/plugins/cuda/late_driver.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <atomic>
#include <thread>

namespace tst_cuda_callers {

using namespace lathe;
using namespace lathe::runtime;
using namespace lathe::test;
using namespace lathe::graph_network;
using Counts = DriverTable::Counts;

namespace {

constexpr int kGlobal = 0; ///< of captures: what could disturb them is forbidden to all threads

/// A stream of the caller's own on the first device, whose context is current here.
struct CallersStream
{
    CallersStream()
    {
        table->primaryContextRetain(&context, 0);
        table->contextSetCurrent(context);
        table->streamCreate(&handle, 0);
    }
    ~CallersStream()
    {
        table->streamDestroy(handle);
        table->contextSetCurrent(nullptr);
        table->primaryContextRelease(0);
    }
    CallersStream(const CallersStream&) = delete;
    CallersStream& operator=(const CallersStream&) = delete;

    /// Empty if it was a capture all the time, of nothing.
    QString endCapture() const { return endCapture(handle); }
    QString endCapture(cuda::Stream of) const
    {
        cuda::Graph graph = nullptr;
        const int code = DriverTable::before().endCapture(of, &graph);
        if (code != cuda::kSuccess || graph == nullptr)
            return QStringLiteral("the capture failed: %1").arg(code);
        table->graphDestroy(graph);
        return {};
    }

    DriverTable table;
    cuda::Context context = nullptr;
    cuda::Stream handle = nullptr;
};

} // namespace

/// Runs on what the caller's program has of CUDA: memory, streams, captures of its own.
class TestCudaCallers : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase()
    {
        qunsetenv("LATHE_CUDA_DEVICE");
        if (const std::string problem = noDevice(); !problem.empty()) {
            QVERIFY2(!isCudaDemanded(), problem.c_str());
            QSKIP(problem.c_str());
        }
    }

    /// What the caller has on the device is copied beside the graph, which does not depend on it.
    void theCallersMemoryOnTheDeviceIsTakenFromRunToRun()
    {
        const Network network(Between::Nothing);
        const CallersStream callers;
        const DriverTable& table = callers.table;
        cuda::Stream const stream = callers.handle;
        cuda::Address memory[4] = {};
        for (cuda::Address& one : memory)
            QCOMPARE(table->memAlloc(&one, kFloatBytes), int(cuda::kSuccess));
        {
            const ExecutorPtr executor = network.instance(stream);
            for (int i = 0; i < 5; ++i) {
                const cuda::Address x = memory[i % 2], y = memory[2 + i % 2];
                float values[kFloats];
                fill(values, static_cast<float>(i));
                QCOMPARE(table->copyToDevice(x, values, kFloatBytes, stream), int(cuda::kSuccess));
                QVERIFY(executor->bindDeviceInput(0, reinterpret_cast<void*>(x), kFloatBytes) == Status::Ok);
                QVERIFY(executor->bindDeviceOutput(0, reinterpret_cast<void*>(y), kFloatBytes) == Status::Ok);
                QVERIFY2(executor->run() == Status::Ok, executor->lastError().text);
                QCOMPARE(table->copyToHost(values, y, kFloatBytes, stream), int(cuda::kSuccess));
                QCOMPARE(table->streamSynchronize(stream), int(cuda::kSuccess));
                QCOMPARE(check(values, static_cast<float>(i), Between::Nothing), QString());
                const Counts counts = DriverTable::take();
                QCOMPARE(counts.graphs, i > 0 ? 1 : 0);
                QCOMPARE(counts.launches, i > 1 ? 0 : 2);
            }
        }
        for (const cuda::Address one : memory)
            table->memFree(one);
    }

    /// A run waits for the device: it says so instead of putting its commands into a graph of the caller's, which goes
    /// on as if nothing had been asked, whatever is done with instances meanwhile.
    void aStreamThatIsCapturedIsLeftAlone()
    {
        const Network network(Between::Step);
        const CallersStream stream;
        const DriverTable& table = stream.table;
        const auto says = [](Executor& executor) { return run(executor, 7, Between::Step); };
        for (const int runsBefore : {0, 1, 3}) {
            ExecutorPtr executor = network.instance(stream.handle);
            for (int i = 0; i < runsBefore; ++i)
                QCOMPARE(says(*executor), QString());
            QCOMPARE(table->beginCapture(stream.handle, kGlobal), int(cuda::kSuccess));
            for (const bool isProfiled : {false, true}) {
                executor->setProfiling(isProfiled);
                QVERIFY2(says(*executor).contains("the caller's CUDA stream is being captured"),
                         qPrintable(says(*executor)));
            }
            executor->setProfiling(false);
            ExecutorPtr other = network.instance(stream.handle); // allocates
            QCOMPARE(stream.endCapture(), QString());
            QCOMPARE(says(*executor), QString());
            QCOMPARE(says(*other), QString());
            QCOMPARE(table->beginCapture(stream.handle, kGlobal), int(cuda::kSuccess));
            executor.reset(); // waits for nothing
            QCOMPARE(stream.endCapture(), QString());
        }
        // The legacy stream waits for streams that are captured.
        const ExecutorPtr executor = network.instance(reinterpret_cast<void*>(1));
        QCOMPARE(says(*executor), QString());
        QCOMPARE(table->beginCapture(stream.handle, kGlobal), int(cuda::kSuccess));
        QVERIFY(says(*executor).contains("the caller's CUDA stream is being captured"));
        QCOMPARE(stream.endCapture(), QString());
        QCOMPARE(says(*executor), QString());
    }

    /// By default a capture forbids all threads to allocate, and fails if one tries.
    void graphsThatOthersCaptureAreNotDisturbed()
    {
        const Network network(Between::Step);
        const CallersStream stream;
        std::promise<void> hasBegun, mayEnd;
        QString ended;
        std::thread other([&] {
            stream.table->contextSetCurrent(stream.context);
            const int code = stream.table->beginCapture(stream.handle, kGlobal);
            hasBegun.set_value();
            mayEnd.get_future().wait();
            ended = code == cuda::kSuccess ? stream.endCapture() : QString::number(code);
        });
        hasBegun.get_future().wait();
        QString problem;
        {
            const ExecutorPtr executor = network.instance();
            for (int i = 0; i < 3 && problem.isEmpty(); ++i)
                problem = run(*executor, 5, Between::Step);
        }
        const int graphs = DriverTable::take().graphs;
        mayEnd.set_value();
        other.join();
        QCOMPARE(problem, QString());
        QCOMPARE(graphs, 4);
        QCOMPARE(ended, QString());
    }

    /// What other threads of the program do while a run is captured.
    void othersAllocateWhileARunIsCaptured()
    {
        const Network network(Between::Nothing);
        const CallersStream stream;
        static int allocated = 0;
        static cuda::Context context = nullptr;
        allocated = -1;
        context = stream.context;
        stream.table->endCapture = [](cuda::Stream captured, cuda::Graph* graph) {
            std::thread([] {
                const cuda::Driver& driver = DriverTable::before();
                cuda::Address address = 0;
                driver.contextSetCurrent(context);
                allocated = driver.memAlloc(&address, 16);
                driver.memFree(address);
            }).join();
            return DriverTable::before().endCapture(captured, graph);
        };
        const ExecutorPtr executor = network.instance();
        for (int i = 0; i < 3; ++i)
            QCOMPARE(run(*executor, 2, Between::Nothing), QString());
        QCOMPARE(allocated, int(cuda::kSuccess));
        QCOMPARE(DriverTable::take().graphs, 2);
    }

    /// A program whose threads have default streams of their own gives that handle for all of them.
    void theStreamOfTheThreadThatRunsIsTaken()
    {
        const Network network(Between::Step);
        const CallersStream stream;
        const auto ofThread = reinterpret_cast<cuda::Stream>(2);
        const ExecutorPtr executor = network.instance(ofThread);
        const auto inThread = [&] {
            QString problem;
            std::thread([&] { problem = run(*executor, 4, Between::Step); }).join();
            return problem;
        };
        for (int i = 0; i < 3; ++i) {
            QCOMPARE(run(*executor, 3, Between::Step), QString());
            QCOMPARE(inThread(), QString());
        }
        QCOMPARE(stream.table->beginCapture(ofThread, kGlobal), int(cuda::kSuccess));
        QVERIFY(run(*executor, 3, Between::Step).contains("the caller's CUDA stream is being captured"));
        QCOMPARE(inThread(), QString()); // that thread's is not
        QCOMPARE(stream.endCapture(ofThread), QString());
        QCOMPARE(run(*executor, 3, Between::Step), QString());
    }

    /// What stays bound is in the graph itself; what begins between vectors, or overlaps, is copied.
    void theCallersMemoryOnTheDeviceIsUsedInPlace_data()
    {
        QTest::addColumn<std::size_t>("inputAt");
        QTest::addColumn<std::size_t>("outputAt");
        QTest::addColumn<bool>("inputInPlace");
        QTest::addColumn<bool>("outputInPlace");
        constexpr std::size_t kFar = 2 * kFloatBytes;
        QTest::newRow("both") << std::size_t{0} << kFar << true << true;
        QTest::newRow("the input begins between vectors") << std::size_t{4} << kFar << false << true;
        QTest::newRow("the output begins between vectors") << std::size_t{0} << kFar + 8 << true << false;
        QTest::newRow("they are one") << std::size_t{0} << std::size_t{0} << false << false;
        QTest::newRow("they overlap") << std::size_t{0} << kFloatBytes - 16 << false << false;
    }
    void theCallersMemoryOnTheDeviceIsUsedInPlace()
    {
        QFETCH(std::size_t, inputAt);
        QFETCH(std::size_t, outputAt);
        QFETCH(bool, inputInPlace);
        QFETCH(bool, outputInPlace);
        const Network network(Between::Nothing);
        const CallersStream callers;
        const DriverTable& table = callers.table;
        cuda::Stream const stream = callers.handle;
        cuda::Address memory = 0;
        QCOMPARE(table->memAlloc(&memory, 4 * kFloatBytes), int(cuda::kSuccess));
        {
            const ExecutorPtr executor = network.instance(stream);
            const cuda::Address x = memory + inputAt, y = memory + outputAt;
            QVERIFY(executor->bindDeviceInput(0, reinterpret_cast<void*>(x), kFloatBytes) == Status::Ok);
            QVERIFY(executor->bindDeviceOutput(0, reinterpret_cast<void*>(y), kFloatBytes) == Status::Ok);
            for (int i = 0; i < 5; ++i) {
                float values[kFloats];
                fill(values, static_cast<float>(i));
                QCOMPARE(table->copyToDevice(x, values, kFloatBytes, stream), int(cuda::kSuccess));
                QVERIFY2(executor->run() == Status::Ok, executor->lastError().text);
                QCOMPARE(table->copyToHost(values, y, kFloatBytes, stream), int(cuda::kSuccess));
                QCOMPARE(table->streamSynchronize(stream), int(cuda::kSuccess));
                QCOMPARE(check(values, static_cast<float>(i), Between::Nothing), QString());
                const Counts counts = DriverTable::take();
                if (i > 3) { // one graph, in which the first run that is like the one before it was captured
                    QCOMPARE(counts.graphs, 1);
                    QCOMPARE(counts.launches, 0);
                }
                QCOMPARE(executor->isInPlace(0), i > 0 && inputInPlace);
                QCOMPARE(executor->isInPlace(2), i > 0 && outputInPlace);
            }
        }
        table->memFree(memory);
    }
};

LATHE_TEST_GUILESS(TestCudaCallers)

} // namespace tst_cuda_callers

#include "tst_cuda_callers.moc"
