#include "core/deploy/image_writer.h"
#include "core/runtime/executor.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cstring>
#include <memory>
#include <thread>

namespace tst_executor {

using namespace lathe;
using namespace lathe::runtime;
using deploy::ImageWriter;

namespace {

constexpr std::uint32_t kRows = 6, kColumns = 10, kCells = kRows * kColumns;

IndexMap plain(std::vector<std::int64_t> shape)
{
    return IndexMap::plain(shape.data(), static_cast<int>(shape.size()));
}

// The kernels of a little network, written by hand: m = x * w (per column) in two phases, then the sum of both
// neighbours.
std::int32_t clearTotal(const LatheArgs* args, void*, std::uint32_t part, std::uint32_t)
{
    if (part == 0)
        *static_cast<float*>(args->teamScratch) = 0;
    return 0;
}
std::int32_t scale(const LatheArgs* args, void* scratch, std::uint32_t part, std::uint32_t parts)
{
    const auto* const x = static_cast<const float*>(args->tensors[0]);
    const auto* const w = static_cast<const float*>(args->tensors[1]);
    auto* const m = static_cast<float*>(args->tensors[2]);
    auto* const line = static_cast<float*>(scratch);
    for (std::uint32_t r = kRows * part / parts; r < kRows * (part + 1) / parts; ++r) {
        for (std::uint32_t c = 0; c < kColumns; ++c)
            line[c] = x[r * kColumns + c] * w[c];
        std::memcpy(m + r * kColumns, line, kColumns * sizeof(float));
    }
    return *static_cast<const float*>(args->teamScratch) == 0 ? 0 : 5;
}
std::int32_t neighbours(const LatheArgs* args, void*, std::uint32_t part, std::uint32_t parts)
{
    const auto* const m = static_cast<const float*>(args->tensors[0]);
    auto* const y = static_cast<float*>(args->tensors[1]);
    for (std::uint32_t i = kCells * part / parts; i < kCells * (part + 1) / parts; ++i)
        y[i] = m[i] + m[(i + 7) % kCells];
    return 0;
}
/// y [2, 3, 4] counts up; n is what x says.
std::int32_t countUp(const LatheArgs* args, void*, std::uint32_t part, std::uint32_t)
{
    if (part != 0)
        return 0;
    *static_cast<std::int64_t*>(args->tensors[2]) = *static_cast<const std::int64_t*>(args->tensors[0]);
    for (int i = 0; i < 24; ++i)
        static_cast<float*>(args->tensors[1])[i] = static_cast<float>(i);
    return 0;
}
std::int32_t failing(const LatheArgs*, void*, std::uint32_t part, std::uint32_t)
{
    return part == 0 ? 77 : 0;
}

struct Network
{
    std::vector<std::uint64_t> description;
    std::size_t descriptionBytes = 0;
    alignas(64) float weights[16] = {};
    std::vector<LathePhase> phases;

    ModelSource source() const
    {
        return {reinterpret_cast<const std::byte*>(description.data()),
                descriptionBytes,
                reinterpret_cast<const std::byte*>(weights),
                sizeof weights,
                phases.data(),
                phases.size()};
    }
};

/// x -> scale -> m -> transform to a transposed, padded form -> transform back -> neighbours -> y; and y is copied to
/// z.
Network makeNetwork(bool broken = false)
{
    Network network;
    for (int c = 0; c < 10; ++c)
        network.weights[c] = static_cast<float>(c) + 0.5F;
    network.phases = {clearTotal, scale, neighbours};
    ImageWriter writer("little");
    IndexMap turned = plain({kRows, kColumns});
    std::swap(turned.axes[0], turned.axes[1]);
    turned.axes[0].extent = 12; // padding
    turned.makeDense();
    const auto x = writer.addTensor({"x", DType::F32, Storage::Input, 0, plain({kRows, kColumns})});
    const auto w = writer.addTensor({"w", DType::F32, Storage::Weights, 0, plain({kColumns})});
    const auto m = writer.addTensor({"m", DType::F32, Storage::Arena, 0, plain({kRows, kColumns})});
    const auto t = writer.addTensor({"t", DType::F32, Storage::Arena, 256, turned});
    const auto n = writer.addTensor({"n", DType::F32, Storage::Arena, 576, plain({kRows, kColumns})});
    const auto y = writer.addTensor({"y", DType::F32, Storage::Output, 0, plain({kRows, kColumns})});
    const auto z = writer.addTensor({"z", DType::F32, Storage::Output, 1, plain({kCells})});
    const std::uint32_t scaleArgs[] = {x, w, m}, neighbourArgs[] = {n, y};
    writer.addKernel("scale", scaleArgs, 1, 0, 2);
    writer.addTransform("turn", m, t);
    writer.addTransform("turn back", t, n);
    if (broken) {
        network.phases.push_back(failing);
        writer.addKernel("broken", neighbourArgs, 1, 3, 1);
    }
    writer.addKernel("neighbours", neighbourArgs, 1, 2, 1);
    writer.addCopy("copy", y, z);
    writer.addInput(x, "RC");
    writer.addOutput(y, "RC");
    writer.addOutput(z, "");
    const std::vector<std::byte> bytes = writer.finish(
        {.arena = 1024, .weights = 64, .teamScratch = 64, .partScratch = 40, .phases = network.phases.size()});
    network.description.resize(bytes.size() / 8 + 1);
    network.descriptionBytes = bytes.size();
    std::memcpy(network.description.data(), bytes.data(), bytes.size());
    return network;
}

/// y [2, at most 3, 4], as many as x says.
Network makeCountingNetwork()
{
    Network network;
    network.phases = {countUp};
    ImageWriter writer("counting");
    const auto x = writer.addTensor({"x", DType::I64, Storage::Input, 0, plain({1})});
    const auto y = writer.addTensor({"y", DType::F32, Storage::Output, 0, plain({2, 3, 4})});
    const auto n = writer.addTensor({"n", DType::I64, Storage::Arena, 0, plain({})});
    const std::uint32_t arguments[] = {x, y, n};
    writer.addKernel("count", arguments, 2, 0, 1);
    writer.addInput(x, "");
    writer.addOutput(y, "");
    writer.addExtent(0, 1, n);
    const std::vector<std::byte> bytes = writer.finish({.arena = 64, .phases = 1});
    network.description.resize(bytes.size() / 8 + 1);
    network.descriptionBytes = bytes.size();
    std::memcpy(network.description.data(), bytes.data(), bytes.size());
    return network;
}

std::vector<float> expected(const std::vector<float>& x)
{
    std::vector<float> m(kCells), y(kCells);
    for (std::uint32_t i = 0; i < kCells; ++i)
        m[i] = x[i] * (static_cast<float>(i % kColumns) + 0.5F);
    for (std::uint32_t i = 0; i < kCells; ++i)
        y[i] = m[i] + m[(i + 7) % kCells];
    return y;
}

std::vector<float> someInput(float shift)
{
    std::vector<float> x(kCells);
    for (std::uint32_t i = 0; i < kCells; ++i)
        x[i] = static_cast<float>(i * i % 23) - shift;
    return x;
}

struct ExecutorDeleter
{
    void operator()(Executor* e) const { Executor::destroy(e); }
};
using ExecutorPtr = std::unique_ptr<Executor, ExecutorDeleter>;

ExecutorPtr makeExecutor(const Model& model, std::uint32_t threads, ParallelFor parallelFor = nullptr,
                         void* user = nullptr)
{
    Status status = Status::Ok;
    ErrorText error;
    return ExecutorPtr(Executor::create(model, {{threads, false, 50}, parallelFor, user}, status, error));
}

/// 64-byte aligned, or deliberately not.
struct Buffer
{
    explicit Buffer(bool aligned, const std::vector<float>& values = std::vector<float>(kCells, -1.0F))
        : m_offset(aligned ? 0 : 4)
    {
        std::memcpy(data(), values.data(), kCells * sizeof(float));
    }
    float* data() { return reinterpret_cast<float*>(m_bytes + m_offset); }
    std::vector<float> values() { return {data(), data() + kCells}; }

private:
    alignas(64) char m_bytes[kCells * sizeof(float) + 64] = {};
    std::size_t m_offset;
};

void reverseParallelFor(void* user, std::uint32_t parts, void (*body)(void* context, std::uint32_t part), void* context)
{
    ++*static_cast<int*>(user);
    for (std::uint32_t part = parts; part > 0; --part)
        body(context, part - 1);
}

} // namespace

class TestExecutor : public QObject
{
    Q_OBJECT
private slots:
    void runsOnAnyNumberOfThreads_data()
    {
        QTest::addColumn<unsigned>("threads");
        QTest::addColumn<bool>("aligned");
        QTest::addColumn<bool>("copyWeights");
        for (const unsigned n : {1U, 2U, 3U, 7U})
            for (const bool aligned : {true, false})
                QTest::addRow("%u threads, %s", n, aligned ? "aligned" : "unaligned") << n << aligned << (n % 2 == 0);
    }
    void runsOnAnyNumberOfThreads()
    {
        QFETCH(unsigned, threads);
        QFETCH(bool, aligned);
        QFETCH(bool, copyWeights);
        const Network network = makeNetwork();
        Model model;
        ErrorText error;
        QVERIFY2(model.open(network.source(), copyWeights, error) == Status::Ok, error.text);
        const ExecutorPtr executor = makeExecutor(model, threads);
        QVERIFY(executor);
        QCOMPARE(executor->parts(), threads);
        Buffer x(aligned, someInput(3)), y(aligned), z(aligned);
        QVERIFY(executor->bindInput(0, x.data(), kCells * 4) == Status::Ok);
        QVERIFY(executor->bindOutput(0, y.data(), kCells * 4) == Status::Ok);
        QVERIFY(executor->bindOutput(1, z.data(), kCells * 4) == Status::Ok);
        for (int round = 0; round < 10; ++round) {
            const std::vector<float> input = someInput(static_cast<float>(round));
            std::memcpy(x.data(), input.data(), kCells * 4);
            QVERIFY(executor->run() == Status::Ok);
            QCOMPARE(y.values(), expected(input));
            QCOMPARE(z.values(), expected(input));
        }
    }

    void runsOnTheCallersParallelFor()
    {
        const Network network = makeNetwork();
        Model model;
        ErrorText error;
        QVERIFY(model.open(network.source(), true, error) == Status::Ok);
        int calls = 0;
        const ExecutorPtr executor = makeExecutor(model, 5, reverseParallelFor, &calls);
        QVERIFY(executor);
        const std::vector<float> input = someInput(1);
        std::memcpy(executor->inputBuffer(0), input.data(), kCells * 4);
        QVERIFY(executor->run() == Status::Ok);
        // clearTotal, scale, zero and move of the padded transform, the way back, neighbours, copy
        QCOMPARE(calls, 7);
        const auto* const y = static_cast<const float*>(executor->outputBuffer(0));
        QCOMPARE(std::vector<float>(y, y + kCells), expected(input));
    }

    void instancesOfSeveralThreadsShareOneModel()
    {
        const Network network = makeNetwork();
        Model model;
        ErrorText error;
        QVERIFY(model.open(network.source(), true, error) == Status::Ok);
        std::atomic<int> wrong = 0;
        std::vector<std::thread> users;
        for (int user = 0; user < 4; ++user)
            users.emplace_back([&model, &wrong, user] {
                const ExecutorPtr executor = makeExecutor(model, 2);
                const std::vector<float> input = someInput(static_cast<float>(user));
                std::memcpy(executor->inputBuffer(0), input.data(), kCells * 4);
                for (int round = 0; round < 50; ++round) {
                    if (executor->run() != Status::Ok)
                        ++wrong;
                    const auto* const y = static_cast<const float*>(executor->outputBuffer(0));
                    if (std::vector<float>(y, y + kCells) != expected(input))
                        ++wrong;
                }
            });
        for (std::thread& user : users)
            user.join();
        QCOMPARE(wrong.load(), 0);
    }

    void anOutputIsCutToWhatTheRunFound_data()
    {
        QTest::addColumn<bool>("aligned");
        QTest::newRow("in place") << true;
        QTest::newRow("copied") << false;
    }
    void anOutputIsCutToWhatTheRunFound()
    {
        QFETCH(bool, aligned);
        const Network network = makeCountingNetwork();
        Model model;
        ErrorText error;
        QVERIFY2(model.open(network.source(), true, error) == Status::Ok, error.text);
        const ExecutorPtr executor = makeExecutor(model, 2);
        QVERIFY(executor);
        Buffer y(aligned);
        QVERIFY(executor->bindOutput(0, y.data(), 24 * 4) == Status::Ok);
        const auto shape = [&] {
            std::int64_t extents[kMaxRank] = {};
            executor->outputShape(0, extents);
            return std::vector<std::int64_t>(extents, extents + 3);
        };
        auto& wanted = *static_cast<std::int64_t*>(executor->inputBuffer(0));
        QCOMPARE(shape(), (std::vector<std::int64_t>{2, 3, 4}));
        wanted = 2;
        QVERIFY(executor->run() == Status::Ok);
        QCOMPARE(shape(), (std::vector<std::int64_t>{2, 2, 4}));
        std::vector<float> values = y.values();
        values.resize(16);
        QCOMPARE(values, (std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7, 12, 13, 14, 15, 16, 17, 18, 19}));
        wanted = 0;
        QVERIFY(executor->run() == Status::Ok);
        QCOMPARE(shape(), (std::vector<std::int64_t>{2, 0, 4}));
        wanted = 3;
        QVERIFY(executor->run() == Status::Ok);
        QCOMPARE(shape(), (std::vector<std::int64_t>{2, 3, 4}));
        QCOMPARE(y.values()[23], 23.0F);
        for (const std::int64_t impossible : {std::int64_t{-1}, std::int64_t{4}}) {
            wanted = 1;
            QVERIFY(executor->run() == Status::Ok);
            wanted = impossible;
            QVERIFY(executor->run() == Status::KernelFailed);
            QCOMPARE(shape(), (std::vector<std::int64_t>{2, 1, 4})); // that of no other run
            QVERIFY(std::string(executor->lastError().text).find("\"y\"") != std::string::npos);
        }
        std::int64_t extents[kMaxRank];
        QVERIFY(executor->outputShape(1, extents) == Status::InvalidArgument);
    }

    void profileCountsEveryInstruction()
    {
        const Network network = makeNetwork();
        Model model;
        ErrorText error;
        QVERIFY(model.open(network.source(), true, error) == Status::Ok);
        const ExecutorPtr executor = makeExecutor(model, 2);
        std::memset(executor->inputBuffer(0), 0, kCells * 4);
        QVERIFY(executor->run() == Status::Ok);
        QCOMPARE(executor->profile(0).calls, 0U);
        executor->setProfiling(true);
        for (int i = 0; i < 3; ++i)
            QVERIFY(executor->run() == Status::Ok);
        for (std::uint32_t i = 0; i < 5; ++i) {
            QCOMPARE(executor->profile(i).calls, 3U);
            QVERIFY(executor->profile(i).minNs * 3 <= executor->profile(i).totalNs);
        }
        executor->setProfiling(false);
        QVERIFY(executor->run() == Status::Ok);
        QCOMPARE(executor->profile(4).calls, 3U);
    }

    void aChainRunsItsInstructionsAndCountsTheLast()
    {
        const Network network = makeNetwork();
        Model model;
        ErrorText error;
        QVERIFY(model.open(network.source(), true, error) == Status::Ok);
        int calls = 0;
        for (const ExecutorPtr& executor :
             {makeExecutor(model, 2), makeExecutor(model, 2, reverseParallelFor, &calls)}) {
            const std::vector<float> input = someInput(3);
            std::memcpy(executor->inputBuffer(0), input.data(), kCells * 4);
            QVERIFY(executor->run() == Status::Ok);
            auto* const y = static_cast<float*>(executor->outputBuffer(0));
            auto* const z = static_cast<float*>(executor->outputBuffer(1));
            std::fill(y, y + kCells, -1.0F);
            std::fill(z, z + kCells, -1.0F);
            executor->setProfiling(true);
            calls = 0;
            // The way back and the sum of neighbours, not the copy behind them.
            QVERIFY(executor->runChain(2, 3) == Status::Ok);
            QCOMPARE(std::vector<float>(y, y + kCells), expected(input));
            QCOMPARE(z[0], -1.0F);
            for (std::uint32_t i = 0; i < 5; ++i)
                QCOMPARE(executor->profile(i).calls, i == 3 ? 1U : 0U);
            QVERIFY(executor->runChain(4, 4) == Status::Ok);
            QCOMPARE(std::vector<float>(z, z + kCells), expected(input));
            QCOMPARE(executor->profile(4).calls, 1U);
            for (const auto& [first, last] : {std::pair(3U, 2U), std::pair(0U, 5U), std::pair(7U, 7U)}) {
                QVERIFY(executor->runChain(first, last) == Status::InvalidArgument);
                QVERIFY(std::string(executor->lastError().text).find("the network has 5") != std::string::npos);
            }
        }
        QCOMPARE(calls, 3);
    }

    void aChainThatFailsNamesTheKernel()
    {
        const Network network = makeNetwork(true);
        Model model;
        ErrorText error;
        QVERIFY(model.open(network.source(), true, error) == Status::Ok);
        const ExecutorPtr executor = makeExecutor(model, 2);
        QVERIFY(executor->inputBuffer(0) != nullptr);
        QVERIFY(executor->runChain(3, 4) == Status::KernelFailed);
        QVERIFY(executor->runChain(4, 4) == Status::Ok);
    }

    void observerSeesEveryTensorInPlainForm()
    {
        const Network network = makeNetwork();
        Model model;
        ErrorText error;
        QVERIFY(model.open(network.source(), true, error) == Status::Ok);
        const ExecutorPtr executor = makeExecutor(model, 3);
        const std::vector<float> input = someInput(2);
        std::memcpy(executor->inputBuffer(0), input.data(), kCells * 4);
        struct Seen
        {
            const Model& model;
            std::vector<std::string> names;
            std::vector<std::vector<float>> values;
        } seen{model, {}, {}};
        executor->setObserver(
            [](void* user, std::uint32_t, const ImageTensor& tensor, const void* data) {
                auto& s = *static_cast<Seen*>(user);
                s.names.emplace_back(s.model.image().string(tensor.name));
                const auto* const v = static_cast<const float*>(data);
                s.values.emplace_back(v, v + kCells);
            },
            &seen);
        QVERIFY(executor->run() == Status::Ok);
        QCOMPARE(seen.names, (std::vector<std::string>{"m", "t", "n", "y", "z"}));
        QCOMPARE(seen.values[1], seen.values[0]); // the padded, transposed form of the same tensor
        QCOMPARE(seen.values[3], expected(input));
    }

    void aKernelThatFailsIsNamed()
    {
        const Network network = makeNetwork(true);
        Model model;
        ErrorText error;
        QVERIFY(model.open(network.source(), true, error) == Status::Ok);
        int calls = 0;
        for (const bool pool : {true, false}) {
            const ExecutorPtr executor = pool ? makeExecutor(model, 3)
                                              : makeExecutor(model, 3, reverseParallelFor, &calls);
            std::memset(executor->inputBuffer(0), 0, kCells * 4);
            for (int round = 0; round < 3; ++round) {
                QVERIFY(executor->run() == Status::KernelFailed);
                QCOMPARE(QByteArray(executor->lastError().text), QByteArray("kernel \"broken\" failed with code 77"));
            }
        }
    }

    void wrongBindingsAreRefused()
    {
        const Network network = makeNetwork();
        Model model;
        ErrorText error;
        QVERIFY(model.open(network.source(), true, error) == Status::Ok);
        const ExecutorPtr executor = makeExecutor(model, 1);
        QVERIFY(executor->run() == Status::InvalidArgument);
        QCOMPARE(QByteArray(executor->lastError().text), QByteArray("input \"x\" is not bound"));
        Buffer x(true);
        QVERIFY(executor->bindInput(1, x.data(), kCells * 4) == Status::InvalidArgument);
        QVERIFY(executor->bindInput(0, nullptr, kCells * 4) == Status::InvalidArgument);
        QVERIFY(executor->bindInput(0, x.data(), kCells * 4 - 1) == Status::InvalidArgument);
        QVERIFY(executor->bindOutput(2, x.data(), kCells * 4) == Status::InvalidArgument);
        QVERIFY(executor->inputBuffer(1) == nullptr);
        QVERIFY(executor->bindInput(0, x.data(), kCells * 4) == Status::Ok);
        QVERIFY(executor->run() == Status::Ok);
    }

    void weightsOrKernelsOfAnotherLibraryAreRefused()
    {
        const Network network = makeNetwork();
        ErrorText error;
        ModelSource source = network.source();
        source.weightsBytes = 32;
        Model model;
        QVERIFY(model.open(source, true, error) == Status::Damaged);
        source = network.source();
        source.phaseCount = 2;
        Model other;
        QVERIFY(other.open(source, true, error) == Status::Damaged);
    }

    void tooManyThreadsAreRefused()
    {
        const Network network = makeNetwork();
        Model model;
        ErrorText error;
        QVERIFY(model.open(network.source(), true, error) == Status::Ok);
        Status status = Status::Ok;
        QVERIFY(Executor::create(model, {{1U << 20, false, 0}, nullptr, nullptr}, status, error) == nullptr);
        QVERIFY(status == Status::NoMemory);
        QVERIFY(QByteArray(error.text).contains("1048576 threads"));
    }

    /// Variants of a library have their weights in one section.
    void onlyWeightsThatAreNamedAreCopied()
    {
        constexpr std::uint64_t kFar = std::uint64_t{1} << 20;
        ImageWriter writer("two");
        const auto x = writer.addTensor({"x", DType::F32, Storage::Input, 0, plain({1})});
        const auto y = writer.addTensor({"y", DType::F32, Storage::Output, 0, plain({1})});
        writer.addTensor({"far", DType::F32, Storage::Weights, kFar, plain({3})});
        writer.addTensor({"near", DType::F32, Storage::Weights, 64, plain({5})});
        writer.addTensor({"beside", DType::F32, Storage::Weights, 128, plain({5})});
        writer.addTensor({"again", DType::F32, Storage::Weights, 64, plain({5})});
        writer.addTensor({"nothing", DType::F32, Storage::Weights, 0, plain({0})});
        writer.addCopy("copy", x, y);
        writer.addInput(x, "");
        writer.addOutput(y, "");
        const std::vector<std::byte> bytes = writer.finish({.weights = kFar + 64});
        std::vector<std::uint64_t> description(bytes.size() / 8 + 1);
        std::memcpy(description.data(), bytes.data(), bytes.size());
        std::vector<std::uint32_t> memory(kFar / 4 + 32);
        auto* const weights = reinterpret_cast<std::uint32_t*>((reinterpret_cast<std::uintptr_t>(memory.data()) + 63)
                                                               / 64 * 64);
        for (std::uint32_t i = 0; i < kFar / 4 + 16; ++i)
            weights[i] = i;
        const ModelSource source{reinterpret_cast<const std::byte*>(description.data()),
                                 bytes.size(),
                                 reinterpret_cast<const std::byte*>(weights),
                                 kFar + 64,
                                 nullptr,
                                 0};
        for (const bool copied : {true, false}) {
            Model model;
            ErrorText error;
            QVERIFY2(model.open(source, copied, error) == Status::Ok, error.text);
            for (const std::uint64_t offset : {std::uint64_t{64}, std::uint64_t{128}, kFar})
                QCOMPARE(*reinterpret_cast<const std::uint32_t*>(model.weightsAt(offset)),
                         static_cast<std::uint32_t>(offset / 4));
            const std::ptrdiff_t apart = model.weightsAt(kFar) - model.weightsAt(64);
            QCOMPARE(apart, copied ? std::ptrdiff_t{128} : static_cast<std::ptrdiff_t>(kFar - 64));
        }
    }

    void outputsThatOverlapAreRefused()
    {
        const Network network = makeNetwork();
        Model model;
        ErrorText error;
        QVERIFY(model.open(network.source(), false, error) == Status::Ok);
        Status status = Status::Ok;
        ExecutorOptions options;
        options.pool.threads = 1;
        const ExecutorPtr executor(Executor::create(model, options, status, error));
        QVERIFY(executor);
        constexpr std::size_t kBytes = kCells * sizeof(float);
        alignas(64) float block[4 * 64] = {};
        const auto bind = [&](std::size_t x, std::size_t y, std::size_t z) {
            return executor->bindInput(0, block + x, kBytes) == Status::Ok
                   && executor->bindOutput(0, block + y, kBytes) == Status::Ok
                   && executor->bindOutput(1, block + z, kBytes) == Status::Ok;
        };
        QVERIFY(bind(0, 64, 128));
        QVERIFY(executor->run() == Status::Ok);
        QVERIFY(bind(0, 59, 128)); // the last of the input's floats; also buffers that are not aligned
        QVERIFY(executor->run() == Status::InvalidArgument);
        QCOMPARE(executor->lastError().text, "the buffer of output \"y\" overlaps that of input \"x\"");
        QVERIFY(executor->run() == Status::InvalidArgument); // still
        QVERIFY(bind(0, 64, 64));
        QVERIFY(executor->run() == Status::InvalidArgument);
        QCOMPARE(executor->lastError().text, "the buffer of output \"z\" overlaps that of output \"y\"");
        QVERIFY(bind(128, 64, 0)); // changed round, one by one
        QVERIFY2(executor->run() == Status::Ok, executor->lastError().text);
        QVERIFY(bind(0, 60, 128)); // side by side
        QVERIFY2(executor->run() == Status::Ok, executor->lastError().text);
    }
};

LATHE_TEST(TestExecutor)

} // namespace tst_executor

#include "tst_executor.moc"
