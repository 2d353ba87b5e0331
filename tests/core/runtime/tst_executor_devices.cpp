// Networks of which a device beside the processor runs a part. The device does everything as late as it may.

#include "core/deploy/image_writer.h"
#include "core/runtime/executor.h"
#include "tests/support/late_device.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <list>
#include <memory>

namespace tst_executor_devices {

using namespace lathe;
using namespace lathe::runtime;
using deploy::ImageWriter;

namespace {

constexpr std::int64_t kCells = 24;
constexpr std::size_t kBytes = kCells * sizeof(float);

IndexMap plain(std::vector<std::int64_t> shape)
{
    return IndexMap::plain(shape.data(), static_cast<int>(shape.size()));
}

float* floats(std::byte* bytes)
{
    return reinterpret_cast<float*>(bytes);
}

/// y = x reversed, on the processor.
std::int32_t reverse(const LatheArgs* args, void*, std::uint32_t part, std::uint32_t)
{
    const auto* const x = static_cast<const float*>(args->tensors[0]);
    for (std::int64_t i = 0; part == 0 && i < kCells; ++i)
        static_cast<float*>(args->tensors[1])[i] = x[kCells - 1 - i];
    return 0;
}

struct Network
{
    std::vector<std::uint64_t> description;
    std::size_t descriptionBytes = 0;
    alignas(64) float weights[32] = {};
    std::vector<LathePhase> phases = {reverse};
    const DeviceDriver* drivers[1] = {&late::driver()};
    alignas(8) char code[8] = "CODE";

    ModelSource source() const
    {
        ModelSource s{reinterpret_cast<const std::byte*>(description.data()),
                      descriptionBytes,
                      reinterpret_cast<const std::byte*>(weights),
                      sizeof weights,
                      phases.data(),
                      phases.size()};
        s.drivers = drivers;
        s.driverCount = 1;
        s.code = reinterpret_cast<const std::byte*>(code);
        s.codeBytes = 4;
        return s;
    }
};

/// m = x * w in two launches, through scratch; n = m reversed on the processor; y = n + w; z = m. All but the reversal
/// on the device.
Network makeNetwork()
{
    Network network;
    for (std::int64_t i = 0; i < kCells; ++i)
        network.weights[i] = static_cast<float>(i) - 3.5F;
    late::device() = {};
    late::device().functions["scale_0"] = [](const std::vector<std::byte*>& b, const LaunchRequest& request) {
        for (std::int64_t i = 0; i < kCells; ++i) // x, w, scratch
            floats(b[2])[i] = floats(b[0])[i] * floats(b[1])[i];
        return request.grid[0] == 3 && request.block[1] == 8;
    };
    late::device().functions["scale_1"] = [](const std::vector<std::byte*>& b, const LaunchRequest&) {
        std::memcpy(b[1], b[0], kCells * sizeof(float)); // scratch, m
        return true;
    };
    late::device().functions["add_0"] = [](const std::vector<std::byte*>& b, const LaunchRequest&) {
        for (std::int64_t i = 0; i < kCells; ++i)
            floats(b[2])[i] = floats(b[0])[i] + floats(b[1])[i];
        return true;
    };
    ImageWriter writer("beside");
    const std::uint32_t device = writer.addDevice("late -fast", 2048, 512);
    const IndexMap map = plain({kCells});
    const auto x = writer.addTensor({"x", DType::F32, Storage::Input, 0, map});
    const auto dx = writer.addTensor({"x", DType::F32, Storage::Arena, 0, map, device, x + 1});
    const auto y = writer.addTensor({"y", DType::F32, Storage::Output, 0, map});
    const auto z = writer.addTensor({"z", DType::F32, Storage::Output, 1, map});
    const auto w = writer.addTensor({"w", DType::F32, Storage::Weights, 0, map, device});
    const auto again = writer.addTensor({"w again", DType::F32, Storage::Weights, 0, map, device});
    const auto dm = writer.addTensor({"m", DType::F32, Storage::Arena, 512, map, device, z + 1});
    const auto m = writer.addTensor({"m", DType::F32, Storage::Arena, 0, map});
    const auto n = writer.addTensor({"n", DType::F32, Storage::Arena, 128, map});
    const auto dn = writer.addTensor({"n", DType::F32, Storage::Arena, 1024, map, device});
    const auto dy = writer.addTensor({"y", DType::F32, Storage::Arena, 0, map, device, y + 1}); // x is dead
    KernelInfo scale;
    scale.form = KernelForm::Launches;
    scale.parameters.resize(3);
    scale.scratch = {kCells * 4};
    scale.launches = {{"scale_0", {0, 1, 3}, {3, 1, 1}, {1, 8, 1}, 0}, {"scale_1", {3, 2}, {1, 1, 1}, {1, 1, 1}, 0}};
    KernelInfo add;
    add.form = KernelForm::Launches;
    add.parameters.resize(3);
    add.launches = {{"add_0", {0, 1, 2}, {1, 1, 1}, {1, 1, 1}, 0}};
    const ImageWriter::Launches ofScale = writer.addLaunches(device, scale), ofAdd = writer.addLaunches(device, add);
    const std::uint32_t scaleArgs[] = {dx, w, dm}, reverseArgs[] = {m, n}, addArgs[] = {dn, again, dy};
    writer.addCopy("write x", x, dx);
    writer.addDeviceKernel("scale", device, scaleArgs, 1, ofScale);
    writer.addCopy("read m", dm, m);
    writer.addKernel("reverse", reverseArgs, 1, 0, 1);
    writer.addCopy("write n", n, dn);
    writer.addDeviceKernel("add", device, addArgs, 1, ofAdd);
    writer.addCopy("read y", dy, y);
    writer.addCopy("read z", dm, z);
    writer.addInput(x, "");
    writer.addOutput(y, "");
    writer.addOutput(z, "");
    const std::vector<std::byte> bytes = writer.finish({.arena = 256, .weights = 128, .phases = 1});
    network.description.resize(bytes.size() / 8 + 1);
    network.descriptionBytes = bytes.size();
    std::memcpy(network.description.data(), bytes.data(), bytes.size());
    return network;
}

std::vector<float> someInput(float shift)
{
    std::vector<float> x;
    for (std::int64_t i = 0; i < kCells; ++i)
        x.push_back(static_cast<float>(i * i % 23) - shift);
    return x;
}

std::vector<float> scaled(const std::vector<float>& x)
{
    std::vector<float> m;
    for (std::int64_t i = 0; i < kCells; ++i)
        m.push_back(x[static_cast<std::size_t>(i)] * (static_cast<float>(i) - 3.5F));
    return m;
}

std::vector<float> expected(const std::vector<float>& x)
{
    const std::vector<float> m = scaled(x);
    std::vector<float> y;
    for (std::int64_t i = 0; i < kCells; ++i)
        y.push_back(m[static_cast<std::size_t>(kCells - 1 - i)] + (static_cast<float>(i) - 3.5F));
    return y;
}

struct ExecutorDeleter
{
    void operator()(Executor* e) const { Executor::destroy(e); }
};
using ExecutorPtr = std::unique_ptr<Executor, ExecutorDeleter>;

void onThisThread(void*, std::uint32_t parts, void (*body)(void* context, std::uint32_t part), void* context)
{
    for (std::uint32_t part = parts; part > 0; --part)
        body(context, part - 1);
}

ExecutorPtr makeExecutor(const Model& model, std::uint32_t threads, ErrorText& error, ParallelFor parallelFor = nullptr)
{
    Status status = Status::Ok;
    ExecutorOptions options;
    options.pool.threads = threads;
    options.pool.idleSpinMicroseconds = 50;
    options.parallelFor = parallelFor;
    return ExecutorPtr(Executor::create(model, options, status, error));
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

std::vector<std::byte> bytesOf(const std::vector<float>& values)
{
    const auto* const first = reinterpret_cast<const std::byte*>(values.data());
    return {first, first + values.size() * sizeof(float)};
}

/// A buffer of the caller's, at a multiple of 64 bytes or 4 bytes behind one.
class Buffer
{
public:
    explicit Buffer(bool isAligned, const std::vector<float>& values = std::vector<float>(kCells, -1))
        : m_block(static_cast<float*>(std::aligned_alloc(64, 192)))
        , m_first(isAligned ? 0 : 1)
    {
        std::ranges::copy(values, data());
    }
    float* data() const { return m_block.get() + m_first; }
    std::vector<float> values() const { return {data(), data() + kCells}; }

private:
    struct Free
    {
        void operator()(float* block) const { std::free(block); }
    };
    std::unique_ptr<float, Free> m_block;
    std::size_t m_first = 0;
};

/// An executor with the buffers that are bound to its ports, which outlive it.
struct Bound
{
    std::unique_ptr<Buffer> x, y, z;
    ExecutorPtr executor;

    explicit Bound(ExecutorPtr made)
        : executor(std::move(made))
    {
    }

    /// What was bound before is freed at once.
    bool bind(bool isAligned, float shift)
    {
        auto newX = std::make_unique<Buffer>(isAligned, someInput(shift));
        auto newY = std::make_unique<Buffer>(isAligned), newZ = std::make_unique<Buffer>(isAligned);
        const bool good = executor->bindInput(0, newX->data(), kBytes) == Status::Ok
                          && executor->bindOutput(0, newY->data(), kBytes) == Status::Ok
                          && executor->bindOutput(1, newZ->data(), kBytes) == Status::Ok;
        x = std::move(newX);
        y = std::move(newY);
        z = std::move(newZ);
        return good;
    }
    /// Empty: the outputs are as they should be.
    QString run() const
    {
        if (executor->run() != Status::Ok)
            return executor->lastError().text;
        return check();
    }
    QString check() const
    {
        if (late::device().misuses > 0)
            return "memory was touched by the one while it was the other's";
        if (y->values() != expected(x->values()))
            return "y is wrong";
        return z->values() == scaled(x->values()) ? "" : "z is wrong";
    }
};

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

    /// All that is left to copy is what goes from the device to the kernel of the processor and back.
    void callersBuffersAreUsedInPlace()
    {
        const Network network = makeNetwork();
        late::device().sharesMemory = true;
        ErrorText error;
        {
            Model model;
            QVERIFY(model.open(network.source(), true, error) == Status::Ok);
            Bound bound(makeExecutor(model, 1, error));
            QVERIFY(bound.executor);
            QVERIFY(bound.bind(true, 1));
            QCOMPARE(bound.run(), QString());
            QCOMPARE(late::device().wraps, 3);
            late::device().maps = late::device().unmaps = late::device().copies = late::device().waits = 0;
            std::ranges::copy(someInput(7), bound.x->data());
            QCOMPARE(bound.run(), QString());
            QCOMPARE(late::device().copies, 2);
            QCOMPARE(late::device().unmaps, 3);
            QCOMPARE(late::device().maps, 3);
            QCOMPARE(late::device().waits, 2); // for m, and at the end
            QCOMPARE(late::device().wraps, 3);
            for (const std::uint32_t instruction : {0U, 6U, 7U})
                QVERIFY(bound.executor->isInPlace(instruction));
            for (const std::uint32_t instruction : {1U, 2U, 3U, 4U, 5U})
                QVERIFY(!bound.executor->isInPlace(instruction));
        }
        QCOMPARE(late::device().misuses, 0);
        QCOMPARE(late::device().contexts + late::device().queues + late::device().launches + late::device().pieces, 0);
    }

    void theExecutorsOwnBuffersAreUsedInPlace()
    {
        const Network network = makeNetwork();
        late::device().sharesMemory = true;
        late::device().alignment = 4096;
        Model model;
        ErrorText error;
        QVERIFY(model.open(network.source(), true, error) == Status::Ok);
        const ExecutorPtr executor = makeExecutor(model, 1, error);
        for (const float shift : {2.0F, 3.0F}) {
            std::ranges::copy(someInput(shift), static_cast<float*>(executor->inputBuffer(0)));
            QVERIFY2(executor->run() == Status::Ok, executor->lastError().text);
            const auto* const y = static_cast<const float*>(executor->outputBuffer(0));
            QCOMPARE(std::vector<float>(y, y + kCells), expected(someInput(shift)));
        }
        QCOMPARE(late::device().wraps, 3);
        QCOMPARE(late::device().copies, 4);
        QCOMPARE(late::device().misuses, 0);
    }

    /// The device has its tensors in memory of the driver's for both; the host moves the bytes, and no command does.
    void buffersThatTheDeviceCannotUseAreMovedByTheHost()
    {
        const Network network = makeNetwork();
        late::device().sharesMemory = true;
        Model model;
        ErrorText error;
        QVERIFY(model.open(network.source(), true, error) == Status::Ok);
        Bound bound(makeExecutor(model, 1, error));
        QVERIFY(bound.executor);
        QVERIFY(bound.bind(false, 1));
        QCOMPARE(bound.run(), QString());
        const int pieces = late::device().pieces;
        late::device().copies = late::device().waits = 0;
        QVERIFY(bound.bind(false, 4));
        QCOMPARE(bound.run(), QString());
        QCOMPARE(late::device().copies, 2);
        QCOMPARE(late::device().waits, 2);
        QCOMPARE(late::device().wraps, 0);
        QCOMPARE(late::device().pieces, pieces); // they are there for the next ones
        QVERIFY(!bound.executor->isInPlace(0) && !bound.executor->isInPlace(6));
    }

    /// What is bound may be anything from run to run, and what was bound is the caller's to free.
    void buffersMayBeOthersInEachRun()
    {
        const Network network = makeNetwork();
        late::device().sharesMemory = true;
        ErrorText error;
        {
            Model model;
            QVERIFY(model.open(network.source(), true, error) == Status::Ok);
            Bound bound(makeExecutor(model, 2, error));
            QVERIFY(bound.executor);
            float shift = 0;
            for (const bool isAligned : {true, true, false, false, true, false, true}) {
                QVERIFY(bound.bind(isAligned, ++shift));
                QCOMPARE(bound.run(), QString());
            }
            // The same buffers again, and once without a run between.
            const Buffer other(true);
            for (float* const y : {other.data(), bound.y->data(), bound.y->data()})
                QVERIFY(bound.executor->bindOutput(0, y, kBytes) == Status::Ok);
            QCOMPARE(bound.check(), QString()); // as the last run left them
            QCOMPARE(bound.run(), QString());
            // Memory of the device's own, and back.
            std::vector<std::byte> x = bytesOf(someInput(5)), y(x.size());
            QVERIFY(bound.executor->bindDeviceInput(0, &x, x.size()) == Status::Ok);
            QVERIFY(bound.executor->bindDeviceOutput(0, &y, y.size()) == Status::Ok);
            QVERIFY(bound.executor->run() == Status::Ok);
            QCOMPARE(y, bytesOf(expected(someInput(5))));
            QCOMPARE(bound.z->values(), scaled(someInput(5)));
            QVERIFY(bound.bind(true, 6));
            QCOMPARE(bound.run(), QString());
        }
        QCOMPARE(late::device().misuses, 0);
        QCOMPARE(late::device().pieces, 0);
    }

    /// However a run ends, the buffers are the caller's again.
    void buffersComeBackFromRunsThatFail()
    {
        const Network network = makeNetwork();
        late::device().sharesMemory = true;
        Model model;
        ErrorText error;
        QVERIFY(model.open(network.source(), true, error) == Status::Ok);
        bool fails = true;
        late::device().functions["add_0"] = [&fails, add = late::device().functions["add_0"]](
                                                const std::vector<std::byte*>& b, const LaunchRequest& request) {
            return add(b, request) && !fails;
        };
        Bound bound(makeExecutor(model, 1, error));
        QVERIFY(bound.executor);
        for (const bool isAligned : {true, false}) {
            QVERIFY(bound.bind(isAligned, 3));
            QVERIFY(bound.executor->run() == Status::KernelFailed);
            QCOMPARE(bound.x->values(), someInput(3));
            fails = false;
            QCOMPARE(bound.run(), QString());
            fails = true;
        }
        QVERIFY(bound.bind(true, 2));
        late::device().mostPieces = late::device().pieces + 1; // there is room for x, not for y
        QVERIFY(bound.executor->run() == Status::NoMemory);
        QCOMPARE(bound.x->values(), someInput(2));
        late::device().mostPieces = INT_MAX;
        fails = false;
        QCOMPARE(bound.run(), QString());
    }

    void chainsLeaveSharedBuffersToTheirOwners()
    {
        const Network network = makeNetwork();
        late::device().sharesMemory = true;
        Model model;
        ErrorText error;
        QVERIFY(model.open(network.source(), true, error) == Status::Ok);
        Bound bound(makeExecutor(model, 1, error));
        QVERIFY(bound.executor);
        for (const bool isAligned : {true, false}) {
            QVERIFY(bound.bind(isAligned, 3));
            QCOMPARE(bound.run(), QString());
            bound.executor->setProfiling(true);
            for (std::uint32_t last = 0; last < 8; ++last) {
                QVERIFY(bound.executor->runChain(last > 0 ? last - 1 : 0, last) == Status::Ok);
                QCOMPARE(bound.executor->profile(last).calls, 1U);
            }
            bound.executor->setProfiling(false);
            QCOMPARE(late::device().misuses, 0);
            QCOMPARE(bound.x->values(), someInput(3));
            QCOMPARE(bound.run(), QString());
        }
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
        QVERIFY2(calls == 9 || calls == 1, qPrintable(QString::number(calls))); // 1: this machine was held up
        QVERIFY(executor->profile(1).totalNs > 0 && executor->profile(5).totalNs > 0);
        calls = 0;
        sleepMs = 2;
        executor->setProfiling(true);
        QVERIFY(executor->runChain(1, 5) == Status::Ok);
        QCOMPARE(calls, 1);
        QCOMPARE(executor->profile(1).calls, 0U);
        QVERIFY(executor->profile(5).totalNs >= 2'000'000);
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
