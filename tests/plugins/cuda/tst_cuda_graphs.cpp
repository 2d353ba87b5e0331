#include "core/deploy/image_writer.h"
#include "core/runtime/executor.h"
#include "tests/plugins/cuda/cuda_fixture.h"
#include "tests/plugins/cuda/late_driver.h"
#include "tests/plugins/cuda/library_fixture.h"
#include "tests/plugins/library_cases.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <future>
#include <list>
#include <thread>

namespace tst_cuda_graphs {

using namespace lathe;
using namespace lathe::runtime;
using namespace lathe::test;
using Counts = DriverTable::Counts;

namespace {

struct Destroy
{
    void operator()(Executor* executor) const { Executor::destroy(executor); }
};
using ExecutorPtr = std::unique_ptr<Executor, Destroy>;

/// b = 10 a, on the processor.
std::int32_t tenfold(const LatheArgs* args, void*, std::uint32_t part, std::uint32_t)
{
    for (std::size_t i = 0; part == 0 && i < kFloats; ++i)
        static_cast<float*>(args->tensors[1])[i] = 10 * static_cast<const float*>(args->tensors[0])[i];
    return 0;
}

/// What lies between the two parts of a network on the device.
enum class Between
{
    Nothing, ///< there is one part
    Step, ///< of the processor
    Memory ///< of the processor's, from which the second part takes what the first has left there
};

/// y = 2 x + 1 on the device. With something between: that twice, and tenfold between the two if there is a step.
struct Network
{
    explicit Network(Between between)
        : code(packed({doubledAndOnePtx(), {}, {}, "k_0\nk_1\n"}))
    {
        deploy::ImageWriter writer("doubled");
        const std::uint32_t device = writer.addDevice("cuda -arch=sm_50", 2048, 512);
        const std::int64_t shape[] = {kFloats};
        const IndexMap map = IndexMap::plain(shape, 1);
        KernelInfo info;
        info.name = "k";
        info.form = KernelForm::Launches;
        info.parameters = {{"x", ArgRole::Input, DType::F32, map}, {"y", ArgRole::Output, DType::F32, map}};
        info.scratch = {kFloatBytes};
        info.launches = {{"k_0", {0, 2}, {4, 1, 1}, {16, 1, 1}, 0}, {"k_1", {2, 1}, {4, 1, 1}, {16, 1, 1}, 0}};
        const auto x = writer.addTensor({"x", DType::F32, Storage::Input, 0, map});
        const auto y = writer.addTensor({"y", DType::F32, Storage::Output, 0, map});
        const auto dx = writer.addTensor({"x", DType::F32, Storage::Arena, 0, map, device, x + 1});
        const auto dy = writer.addTensor({"y", DType::F32, Storage::Arena, 512, map, device, y + 1});
        const auto launches = writer.addLaunches(device, info);
        const auto add = [&](std::uint32_t from, std::uint32_t to) {
            const std::uint32_t arguments[] = {from, to};
            writer.addDeviceKernel("doubled", device, arguments, 1, launches);
        };
        writer.addCopy("write x", x, dx);
        if (between != Between::Nothing) {
            const auto da = writer.addTensor({"a", DType::F32, Storage::Arena, 1024, map, device});
            const auto a = writer.addTensor({"a", DType::F32, Storage::Arena, 0, map});
            const auto b = writer.addTensor({"b", DType::F32, Storage::Arena, 512, map});
            const auto db = writer.addTensor({"b", DType::F32, Storage::Arena, 1536, map, device});
            add(dx, da);
            writer.addCopy("read a", da, a);
            const std::uint32_t arguments[] = {a, b};
            if (between == Between::Step)
                writer.addKernel("tenfold", arguments, 1, 0, 1);
            writer.addCopy("write b", between == Between::Step ? b : a, db);
            add(db, dy);
        } else {
            add(dx, dy);
        }
        writer.addCopy("read y", dy, y);
        writer.addInput(x, "");
        writer.addOutput(y, "");
        deploy::ImageWriter::Sizes sizes;
        sizes.arena = between != Between::Nothing ? 1024 : 0;
        sizes.phases = between == Between::Step ? 1 : 0;
        const std::vector<std::byte> bytes = writer.finish(sizes);
        description.resize(bytes.size() / 8 + 1);
        std::memcpy(description.data(), bytes.data(), bytes.size());
        ModelSource source;
        source.description = reinterpret_cast<const std::byte*>(description.data());
        source.descriptionBytes = bytes.size();
        source.phases = phases;
        source.phaseCount = between == Between::Step ? 1 : 0;
        source.drivers = drivers;
        source.driverCount = 1;
        source.code = code.data();
        source.codeBytes = code.size();
        ErrorText error;
        if (model.open(source, true, error) != Status::Ok)
            qFatal("%s", error.text);
    }

    ExecutorPtr instance(void* stream = nullptr) const
    {
        ExecutorOptions options;
        options.pool.threads = 1;
        options.deviceQueue = stream;
        Status status = Status::Ok;
        ErrorText error;
        ExecutorPtr made(Executor::create(model, options, status, error));
        if (made == nullptr)
            qFatal("%s", error.text);
        return made;
    }

    const DeviceDriver* drivers[1] = {&kLibrary};
    LathePhase phases[1] = {tenfold};
    std::vector<std::byte> code;
    std::vector<std::uint64_t> description;
    Model model;
};

float expected(float x, Between between)
{
    const float once = 2 * x + 1;
    return between == Between::Nothing ? once : 2 * (between == Between::Step ? 10 * once : once) + 1;
}

/// Empty if y is what it should be.
QString check(const float* y, float first, Between between)
{
    for (std::size_t i = 0; i < kFloats; ++i)
        if (y[i] != expected(first + static_cast<float>(i), between))
            return QStringLiteral("y[%1] is %2").arg(i).arg(y[i]);
    return {};
}

void fill(float* x, float first)
{
    for (std::size_t i = 0; i < kFloats; ++i)
        x[i] = first + static_cast<float>(i);
}

/// Binds new buffers of the caller's, and runs.
QString run(Executor& executor, float first, Between between)
{
    static std::list<std::vector<float>> bound; // buffers live as long as they are bound
    std::vector<float>&x = bound.emplace_back(kFloats), &y = bound.emplace_back(kFloats, -1.0F);
    fill(x.data(), first);
    if (executor.bindInput(0, x.data(), kFloatBytes) != Status::Ok
        || executor.bindOutput(0, y.data(), kFloatBytes) != Status::Ok || executor.run() != Status::Ok)
        return QString::fromUtf8(executor.lastError().text);
    return check(y.data(), first, between);
}

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

    /// What the caller has on the device is copied beside the graph, which does not depend on it.
    void theCallersMemoryOnTheDeviceIsTakenFromRunToRun()
    {
        const Network network(Between::Nothing);
        const DriverTable table;
        cuda::Context primary = nullptr;
        QCOMPARE(table->primaryContextRetain(&primary, 0), int(cuda::kSuccess));
        table->contextSetCurrent(primary);
        cuda::Stream stream = nullptr;
        QCOMPARE(table->streamCreate(&stream, 1), int(cuda::kSuccess));
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
        table->streamDestroy(stream);
        table->contextSetCurrent(nullptr);
        table->primaryContextRelease(0);
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
        const DriverTable table;
        cuda::Context primary = nullptr;
        QCOMPARE(table->primaryContextRetain(&primary, 0), int(cuda::kSuccess));
        table->contextSetCurrent(primary);
        cuda::Stream stream = nullptr;
        QCOMPARE(table->streamCreate(&stream, 1), int(cuda::kSuccess));
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
        table->streamDestroy(stream);
        table->contextSetCurrent(nullptr);
        table->primaryContextRelease(0);
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
