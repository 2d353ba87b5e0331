#include "tests/plugins/cuda/cuda_fixture.h"
#include "tests/plugins/cuda/graph_network.h"
#include "tests/plugins/cuda/late_driver.h"
#include "tests/plugins/cuda/library_fixture.h"
#include "tests/plugins/library_cases.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>
#include <atomic>
#include <future>
#include <thread>

namespace tst_cuda_graphs {

using namespace lathe;
using namespace lathe::runtime;
using namespace lathe::test;
using namespace lathe::graph_network;
using Counts = DriverTable::Counts;

/// Runs of a network as graphs of CUDA.
class TestCudaGraphs : public QObject
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

    /// Whatever is bound.
    void runsThatAreAlikeAreOneGraph()
    {
        const Network network(Between::Nothing);
        const DriverTable table;
        const ExecutorPtr executor = network.instance();
        QCOMPARE(run(*executor, 3, Between::Nothing), QString());
        QVERIFY((DriverTable::take() == Counts{2, 0, 0}));
        QCOMPARE(run(*executor, -8, Between::Nothing), QString());
        QVERIFY((DriverTable::take() == Counts{2, 1, 1})); // captured, and started
        for (const float first : {0.0F, 77.0F, 5.0F}) {
            QCOMPARE(run(*executor, first, Between::Nothing), QString());
            QVERIFY((DriverTable::take() == Counts{0, 0, 1}));
        }
    }

    void stepsOfTheProcessorAreBetweenGraphs()
    {
        const Network network(Between::Step);
        const DriverTable table;
        const ExecutorPtr executor = network.instance();
        QCOMPARE(run(*executor, 3, Between::Step), QString());
        QVERIFY((DriverTable::take() == Counts{4, 0, 0}));
        QCOMPARE(run(*executor, -8, Between::Step), QString());
        QVERIFY((DriverTable::take() == Counts{4, 2, 2}));
        for (const float first : {0.0F, 77.0F, 5.0F}) {
            QCOMPARE(run(*executor, first, Between::Step), QString());
            QVERIFY((DriverTable::take() == Counts{0, 0, 2}));
        }
    }

    /// Nobody but the device waits for it there.
    void whatTheDeviceLeavesInTheProcessorsMemoryIsTakenFromThere()
    {
        const Network network(Between::Memory);
        const DriverTable table;
        const ExecutorPtr executor = network.instance();
        for (const float first : {3.0F, -8.0F, 0.0F, 77.0F})
            QCOMPARE(run(*executor, first, Between::Memory), QString());
        QVERIFY((DriverTable::take() == Counts{8, 2, 6}));
    }

    void nobodyReliesOnWhatWasNotWaitedFor_data()
    {
        QTest::addColumn<int>("between");
        QTest::newRow("the device alone") << static_cast<int>(Between::Nothing);
        QTest::newRow("a step of the processor") << static_cast<int>(Between::Step);
        QTest::newRow("memory of the processor") << static_cast<int>(Between::Memory);
    }
    void nobodyReliesOnWhatWasNotWaitedFor()
    {
        QFETCH(int, between);
        const LateDriver driver;
        const Network network(static_cast<Between>(between));
        const ExecutorPtr executor = network.instance();
        for (const float first : {3.0F, -8.0F, 0.0F, 77.0F})
            QCOMPARE(run(*executor, first, static_cast<Between>(between)), QString());
        executor->setProfiling(true);
        QCOMPARE(run(*executor, 5, static_cast<Between>(between)), QString());
        executor->setProfiling(false);
        QCOMPARE(run(*executor, 6, static_cast<Between>(between)), QString());
    }

    /// Who profiles or looks on sees each step; then runs are graphs again.
    void profilesAndObserversAreNoRuns()
    {
        const Network network(Between::Step);
        const DriverTable table;
        const ExecutorPtr executor = network.instance();
        for (int i = 0; i < 3; ++i)
            QCOMPARE(run(*executor, 1, Between::Step), QString());
        DriverTable::take();
        static int seen = 0;
        seen = 0;
        executor->setObserver([](void*, std::uint32_t, const ImageTensor&, const void*) { ++seen; }, nullptr);
        QCOMPARE(run(*executor, 2, Between::Step), QString());
        QVERIFY((DriverTable::take() == Counts{4, 0, 0}));
        QCOMPARE(seen, 7);
        executor->setObserver(nullptr, nullptr);
        executor->setProfiling(true);
        QCOMPARE(run(*executor, 4, Between::Step), QString());
        QCOMPARE(DriverTable::take().graphs, 0);
        executor->setProfiling(false);
        QCOMPARE(run(*executor, 6, Between::Step), QString());
        QVERIFY((DriverTable::take() == Counts{0, 0, 2}));
    }

    void whereNoGraphIsMadeCommandsAreStartedOneByOne_data()
    {
        QTest::addColumn<QString>("what");
        for (const char* what :
             {"no graphs", "no capture", "the capture fails", "not made executable", "no pinned memory"})
            QTest::newRow(what) << what;
    }
    void whereNoGraphIsMadeCommandsAreStartedOneByOne()
    {
        QFETCH(QString, what);
        const Network network(Between::Step);
        DriverTable table;
        if (what == "no graphs")
            table->hasGraphs = false;
        else if (what == "no capture")
            table->beginCapture = [](cuda::Stream, int) { return int(cuda::kInvalidValue); };
        else if (what == "the capture fails")
            table->endCapture = [](cuda::Stream stream, cuda::Graph* graph) {
                DriverTable::before().endCapture(stream, graph);
                DriverTable::before().graphDestroy(*graph);
                *graph = nullptr;
                return 901; // invalidated
            };
        else if (what == "not made executable")
            table->graphInstantiate = [](cuda::GraphExec*, cuda::Graph, unsigned long long) {
                return int(cuda::kOutOfMemory);
            };
        else
            table->memHostAlloc = [](void**, std::size_t, unsigned) { return int(cuda::kOutOfMemory); };
        const ExecutorPtr executor = network.instance();
        for (const float first : {1.0F, 9.0F, 4.0F, 2.0F})
            QCOMPARE(run(*executor, first, Between::Step), QString());
        const Counts counts = DriverTable::take();
        QCOMPARE(counts.graphs, 0);
        QVERIFY(counts.captures <= 1); // it is tried once
        QVERIFY(counts.launches >= 16);
    }

    void aFailureIsToldAndTheNextRunIsWell()
    {
        const Network network(Between::Step);
        DriverTable table;
        const ExecutorPtr executor = network.instance();
        static int left = 0;
        table->graphLaunch = [](cuda::GraphExec graph, cuda::Stream stream) {
            return left-- > 0 ? DriverTable::before().graphLaunch(graph, stream) : int(cuda::kUnknown);
        };
        static const auto launch = DriverTable::before().launch;
        for (int run = 0; run < 3; ++run) {
            left = 2;
            QCOMPARE(tst_cuda_graphs::run(*executor, 1, Between::Step), QString());
        }
        for (const int which : {0, 1}) { // the stretch before the processor's step, and the one behind
            left = which;
            const QString says = run(*executor, 1, Between::Step);
            QVERIFY2(says.contains("CUDA refuses a graph of ") && says.contains("999)"), qPrintable(says));
            left = 2;
            QCOMPARE(run(*executor, 5, Between::Step), QString());
        }
        table->launch = [](cuda::Function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                           unsigned bz, unsigned shared, cuda::Stream stream, void** parameters, void** extra) {
            return left-- > 0 ? launch(function, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra)
                              : int(cuda::kLaunchOutOfResources);
        };
        const ExecutorPtr other = network.instance();
        left = 3;
        const QString says = run(*other, 1, Between::Step);
        QVERIFY2(says.contains("CUDA refuses kernel k_1: "), qPrintable(says));
        left = 1000;
        for (int i = 0; i < 3; ++i)
            QCOMPARE(run(*other, 2, Between::Step), QString());
    }

    /// Commands that are others than in the last run, by the table itself.
    void otherCommandsAreStartedAsTheyCome()
    {
        const std::vector<std::byte> code = packed({doubledAndOnePtx(), {}, {}, "k_0\nk_1\n"});
        const DriverTable table;
        const Context context = must(openLibrary(code));
        const Queue queue = must(start(context));
        const Memory x = must(allocate(context, kFloatBytes)), y = must(allocate(context, kFloatBytes)),
                     z = must(allocate(context, kFloatBytes));
        const Launch twice = must(prepare(queue, doubledLaunch("k_0"), {x.get(), y.get()}));
        const Launch andOne = must(prepare(queue, doubledLaunch("k_1"), {y.get(), z.get()}));
        const Launch oneOnly = must(prepare(queue, doubledLaunch("k_1"), {x.get(), z.get()}));
        const auto run = [&](const std::vector<runtime::DeviceLaunch*>& launches, float in) -> float {
            std::vector<float> values(kFloats, in);
            std::string problem = problemOf(kLibrary.beginRun, queue.get());
            problem += problemOf(kLibrary.write, queue.get(), x.get(), static_cast<const void*>(values.data()),
                                 kFloatBytes, false);
            std::ranges::fill(values, -5.0F); // it was read
            for (runtime::DeviceLaunch* const launch : launches)
                problem += problemOf(kLibrary.launch, queue.get(), launch);
            problem += problemOf(kLibrary.read, queue.get(), static_cast<void*>(values.data()), z.get(), kFloatBytes,
                                 false);
            problem += problemOf(kLibrary.endRun, queue.get()) + problemOf(kLibrary.finish, queue.get());
            if (!problem.empty())
                qFatal("%s", problem.c_str());
            return values[kFloats - 1];
        };
        const std::vector<runtime::DeviceLaunch*> both = {twice.get(), andOne.get()}, one = {oneOnly.get()},
                                                  prefix = {twice.get()};
        for (int i = 0; i < 3; ++i)
            QCOMPARE(run(both, 4), 9.0F);
        QVERIFY((DriverTable::take() == Counts{4, 1, 2}));
        QCOMPARE(run(one, 4), 5.0F); // another one in its place
        QVERIFY((DriverTable::take() == Counts{1, 0, 0}));
        QCOMPARE(run(both, 6), 13.0F);
        QCOMPARE(run(both, 7), 15.0F); // made anew
        QVERIFY((DriverTable::take() == Counts{4, 1, 1}));
        QCOMPARE(run(prefix, 1), 15.0F); // fewer: z is as it was
        QCOMPARE(run(both, 8), 17.0F); // more
        QCOMPARE(run(both, 9), 19.0F);
        DriverTable::take();
        // Pointed elsewhere, a launch is another one: no graph has the old buffer.
        QCOMPARE(problemOf(kLibrary.point, andOne.get(), 0u, x.get()), std::string());
        QCOMPARE(run(both, 2), 3.0F);
        QVERIFY((DriverTable::take() == Counts{2, 0, 0}));
        // Runs that are always others are not written down for ever, and stay right.
        for (int i = 0; i < 200; ++i)
            QCOMPARE(run(i % 2 == 0 ? one : both, 3), 4.0F);
        DriverTable::take();
        for (int i = 0; i < 3; ++i)
            QCOMPARE(run(both, 5), 6.0F);
        QVERIFY((DriverTable::take() == Counts{6, 0, 0}));
    }

    /// Large ones go past the memory that is locked, whatever lies before and behind them.
    void largeCopiesAreNotRecorded()
    {
        const std::size_t floats = cuda::Recorder::kMostStaged / sizeof(float) + 1, bytes = floats * sizeof(float);
        const std::vector<std::byte> code = packed({doubledAndOnePtx(), {}, {}, "k_0\nk_1\n"});
        LateDriver driver;
        static std::size_t mostLocked = 0;
        driver.table()->memHostAlloc = [](void** host, std::size_t asked, unsigned flags) {
            mostLocked = std::max(mostLocked, asked);
            return DriverTable::before().memHostAlloc(host, asked, flags);
        };
        const Context context = must(openLibrary(code));
        const Queue queue = must(start(context));
        const Memory x = must(allocate(context, bytes)), y = must(allocate(context, bytes));
        const Launch twice = must(prepare(queue, doubledLaunch("k_0"), {x.get(), y.get()}));
        for (int run = 0; run < 4; ++run) {
            std::vector<float> in(floats, static_cast<float>(run)), between(floats), out(floats);
            std::string problem = problemOf(kLibrary.beginRun, queue.get());
            problem += problemOf(kLibrary.write, queue.get(), x.get(), static_cast<const void*>(in.data()), bytes,
                                 false);
            problem += problemOf(kLibrary.copy, queue.get(), x.get(), y.get(), bytes);
            problem += problemOf(kLibrary.launch, queue.get(), twice.get());
            problem += problemOf(kLibrary.read, queue.get(), static_cast<void*>(between.data()), y.get(), bytes, false);
            problem += problemOf(kLibrary.write, queue.get(), x.get(), static_cast<const void*>(between.data()),
                                 kFloatBytes, false);
            problem += problemOf(kLibrary.read, queue.get(), static_cast<void*>(out.data()), x.get(), bytes, false);
            problem += problemOf(kLibrary.endRun, queue.get()) + problemOf(kLibrary.finish, queue.get());
            QCOMPARE(problem, std::string());
            QCOMPARE(between[kFloats - 1], static_cast<float>(2 * run));
            QCOMPARE(between[kFloats], static_cast<float>(run));
            QCOMPARE(out[kFloats - 1], static_cast<float>(2 * run));
            QCOMPARE(out[floats - 1], static_cast<float>(run));
        }
        QCOMPARE(mostLocked, kFloatBytes);
    }

    /// A loop that the processor runs, for instance.
    void manyStretchesAreNotAllRecorded()
    {
        const std::vector<std::byte> code = packed({doubledAndOnePtx(), {}, {}, "k_0\nk_1\n"});
        LateDriver driver;
        static int graphs = 0;
        graphs = 0;
        static const auto launch = driver.table()->graphLaunch;
        driver.table()->graphLaunch = [](cuda::GraphExec graph, cuda::Stream stream) {
            ++graphs;
            return launch(graph, stream);
        };
        const Context context = must(openLibrary(code));
        const Queue queue = must(start(context));
        const Memory x = must(allocate(context, kFloatBytes)), y = must(allocate(context, kFloatBytes)),
                     z = must(allocate(context, kFloatBytes));
        const Launch twice = must(prepare(queue, doubledLaunch("k_0"), {x.get(), y.get()}));
        const Launch andOne = must(prepare(queue, doubledLaunch("k_1"), {y.get(), z.get()}));
        for (const int iterations : {40, 40, 40, 3, 40}) {
            graphs = 0;
            std::vector<float> values(kFloats, 1.0F);
            std::string problem = problemOf(kLibrary.beginRun, queue.get());
            for (int i = 0; i < iterations; ++i) {
                problem += problemOf(kLibrary.write, queue.get(), x.get(), static_cast<const void*>(values.data()),
                                     kFloatBytes, true);
                problem += problemOf(kLibrary.launch, queue.get(), twice.get());
                problem += problemOf(kLibrary.launch, queue.get(), andOne.get());
                problem += problemOf(kLibrary.read, queue.get(), static_cast<void*>(values.data()), z.get(),
                                     kFloatBytes, true);
                for (float& value : values)
                    value = value > 1000 ? 1 : value;
            }
            problem += problemOf(kLibrary.endRun, queue.get()) + problemOf(kLibrary.finish, queue.get());
            QCOMPARE(problem, std::string());
            float want = 1;
            for (int i = 0; i < iterations; ++i)
                want = 2 * want + 1 > 1000 ? 1 : 2 * want + 1;
            QCOMPARE(values[kFloats - 1], want);
        }
        QCOMPARE(graphs, 16);
    }

    void instancesRunOnThreads()
    {
        const Network network(Between::Step);
        std::vector<std::thread> threads;
        std::atomic<int> good = 0;
        for (int t = 0; t < 4; ++t)
            threads.emplace_back([&, t] {
                const ExecutorPtr executor = network.instance();
                std::vector<float> x(kFloats), y(kFloats);
                executor->bindInput(0, x.data(), kFloatBytes);
                executor->bindOutput(0, y.data(), kFloatBytes);
                for (int i = 0; i < 10; ++i) {
                    const auto first = static_cast<float>(10 * t + i);
                    fill(x.data(), first);
                    good += executor->run() == Status::Ok && check(y.data(), first, Between::Step).isEmpty() ? 1 : 0;
                }
            });
        for (std::thread& thread : threads)
            thread.join();
        QCOMPARE(good.load(), 40);
    }
};

LATHE_TEST_GUILESS(TestCudaGraphs)

} // namespace tst_cuda_graphs

#include "tst_cuda_graphs.moc"
