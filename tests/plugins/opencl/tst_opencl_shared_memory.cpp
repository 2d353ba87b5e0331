// Networks in the memory that the first OpenCL device shares with this process: which commands they enqueue, and what
// comes out whatever is bound.

#include "core/deploy/image_writer.h"
#include "core/runtime/executor.h"
#include "tests/plugins/opencl/library_fixture.h"
#include "tests/plugins/opencl/opencl_fixture.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QtTest>

#include <array>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace tst_opencl_shared_memory {

using namespace lathe;
using namespace lathe::test;
using namespace lathe::runtime;

namespace {

constexpr std::size_t kFloats = 64; ///< in each buffer of kDoubledAndOne
constexpr std::size_t kBytes = kFloats * sizeof(float);

std::vector<float> counting(float first)
{
    std::vector<float> values(kFloats);
    for (std::size_t i = 0; i < kFloats; ++i)
        values[i] = first + static_cast<float>(i);
    return values;
}

/// Some floats, so many bytes behind the begin of a page.
class Buffer
{
public:
    explicit Buffer(std::size_t offset, float first = -1)
        : m_block(static_cast<std::byte*>(std::aligned_alloc(4096, 8192)))
        , m_offset(offset)
    {
        fill(first);
    }
    float* data() const { return reinterpret_cast<float*>(m_block.get() + m_offset); }
    void fill(float first) const { std::ranges::copy(counting(first), data()); }

private:
    struct Free
    {
        void operator()(std::byte* block) const { std::free(block); }
    };
    std::unique_ptr<std::byte, Free> m_block;
    std::size_t m_offset;
};

/// While it lives, counts what is enqueued.
class CommandCounter
{
public:
    CommandCounter()
    {
        s_before = &m_table.before();
        reset();
        m_table->clEnqueueWriteBuffer = [](cl_command_queue queue, cl_mem memory, cl_bool wait, std::size_t offset,
                                           std::size_t bytes, const void* host, cl_uint events, const cl_event* behind,
                                           cl_event* event) {
            ++s_copies;
            return s_before->clEnqueueWriteBuffer(queue, memory, wait, offset, bytes, host, events, behind, event);
        };
        m_table->clEnqueueReadBuffer = [](cl_command_queue queue, cl_mem memory, cl_bool wait, std::size_t offset,
                                          std::size_t bytes, void* host, cl_uint events, const cl_event* behind,
                                          cl_event* event) {
            ++s_copies;
            return s_before->clEnqueueReadBuffer(queue, memory, wait, offset, bytes, host, events, behind, event);
        };
        m_table->clEnqueueCopyBuffer = [](cl_command_queue queue, cl_mem from, cl_mem to, std::size_t first,
                                          std::size_t second, std::size_t bytes, cl_uint events, const cl_event* behind,
                                          cl_event* event) {
            ++s_copies;
            return s_before->clEnqueueCopyBuffer(queue, from, to, first, second, bytes, events, behind, event);
        };
        m_table->clEnqueueMapBuffer = [](cl_command_queue queue, cl_mem memory, cl_bool wait, cl_map_flags flags,
                                         std::size_t offset, std::size_t bytes, cl_uint events, const cl_event* behind,
                                         cl_event* event, cl_int* code) {
            ++s_maps;
            return s_before->clEnqueueMapBuffer(queue, memory, wait, flags, offset, bytes, events, behind, event, code);
        };
        m_table->clEnqueueUnmapMemObject = [](cl_command_queue queue, cl_mem memory, void* host, cl_uint events,
                                              const cl_event* behind, cl_event* event) {
            ++s_unmaps;
            return s_before->clEnqueueUnmapMemObject(queue, memory, host, events, behind, event);
        };
        m_table->clFinish = [](cl_command_queue queue) {
            ++s_waits;
            return s_before->clFinish(queue);
        };
    }
    static void reset() { s_copies = s_maps = s_unmaps = s_waits = 0; }
    static std::array<int, 4> counts() { return {s_copies, s_maps, s_unmaps, s_waits}; }

private:
    static inline std::atomic<int> s_copies = 0, s_maps = 0, s_unmaps = 0, s_waits = 0;
    static inline const cl_icd_dispatch* s_before = nullptr;
    DriverTable m_table;
};
using Counts = std::array<int, 4>; ///< copies, maps, unmaps, waits

struct Destroy
{
    void operator()(Executor* executor) const { Executor::destroy(executor); }
};
using ExecutorPtr = std::unique_ptr<Executor, Destroy>;

/// A new instance; all that is bound to it outlives it.
ExecutorPtr instanceOf(const Model& model)
{
    Status status = Status::Ok;
    ErrorText error;
    ExecutorPtr executor(Executor::create(model, {}, status, error));
    if (executor == nullptr)
        qFatal("%s", error.text);
    return executor;
}

/// Empty: 2 x + 1 is in y.
QString run(Executor& executor, const float* x, const float* y)
{
    if (executor.run() != Status::Ok)
        return executor.lastError().text;
    for (std::size_t i = 0; i < kFloats; ++i)
        if (y[i] != 2 * x[i] + 1)
            return QStringLiteral("y[%1] is %2, x[%1] %3").arg(i).arg(y[i]).arg(x[i]);
    return {};
}
QString bindAndRun(Executor& executor, const Buffer& x, const Buffer& y)
{
    if (executor.bindInput(0, x.data(), kBytes) != Status::Ok || executor.bindOutput(0, y.data(), kBytes) != Status::Ok)
        return executor.lastError().text;
    return run(executor, x.data(), y.data());
}

} // namespace

class TestOpenClSharedMemory : public QObject
{
    Q_OBJECT

    QTemporaryDir m_cache;
    std::vector<std::byte> m_code; ///< of kDoubledAndOne
    std::vector<std::uint64_t> m_description;
    std::unique_ptr<Model> m_model;

private slots:
    void initTestCase()
    {
        if (const std::string problem = noDevice(); !problem.empty())
            QSKIP(problem.c_str());
        if (!firstDevice().sharesMemory)
            QSKIP("the first OpenCL device has memory of its own");
        qputenv("XDG_CACHE_HOME", m_cache.path().toUtf8());
        qunsetenv("LATHE_OPENCL_DEVICE");
        const opencl::PackedProgram kernel = {kDoubledAndOne, {}, {}, "k_0\nk_1\n"};
        m_code = opencl::pack({&kernel, 1});

        deploy::ImageWriter writer("doubled");
        const std::uint32_t device = writer.addDevice("opencl", 1024, 64);
        const std::int64_t shape[] = {kFloats};
        const IndexMap map = IndexMap::plain(shape, 1);
        const auto x = writer.addTensor({"x", DType::F32, Storage::Input, 0, map});
        const auto y = writer.addTensor({"y", DType::F32, Storage::Output, 0, map});
        const auto dx = writer.addTensor({"x", DType::F32, Storage::Arena, 0, map, device, x + 1});
        const auto dy = writer.addTensor({"y", DType::F32, Storage::Arena, 512, map, device, y + 1});
        const std::uint32_t arguments[] = {dx, dy};
        writer.addCopy("write x", x, dx);
        writer.addDeviceKernel("doubled", device, arguments, 1, writer.addLaunches(device, doubledAndOne()));
        writer.addCopy("read y", dy, y);
        writer.addInput(x, "");
        writer.addOutput(y, "");
        const std::vector<std::byte> bytes = writer.finish({});
        m_description.resize(bytes.size() / 8 + 1);
        std::memcpy(m_description.data(), bytes.data(), bytes.size());

        static const DeviceDriver* const drivers[] = {&kLibrary};
        ModelSource source;
        source.description = reinterpret_cast<const std::byte*>(m_description.data());
        source.descriptionBytes = bytes.size();
        source.drivers = drivers;
        source.driverCount = 1;
        source.code = m_code.data();
        source.codeBytes = m_code.size();
        m_model = std::make_unique<Model>();
        ErrorText error;
        QVERIFY2(m_model->open(source, true, error) == Status::Ok, error.text);
    }

    void alignedBuffersAreMappedAndNotCopied()
    {
        const Buffer x(0, 3), y(0);
        const ExecutorPtr executor = instanceOf(*m_model);
        const CommandCounter counter;
        QCOMPARE(bindAndRun(*executor, x, y), QString());
        QCOMPARE(CommandCounter::counts(), (Counts{0, 2, 0, 1}));
        for (const float first : {10.0F, -7.0F}) {
            CommandCounter::reset();
            x.fill(first);
            QCOMPARE(run(*executor, x.data(), y.data()), QString());
            QCOMPARE(CommandCounter::counts(), (Counts{0, 2, 2, 1}));
        }
        QVERIFY(executor->isInPlace(0) && !executor->isInPlace(1) && executor->isInPlace(2));
    }

    void buffersThatDoNotFitAreMovedOnce_data()
    {
        QTest::addColumn<std::size_t>("offset");
        QTest::newRow("at 64 bytes") << std::size_t{64};
        QTest::newRow("at 4 bytes") << std::size_t{4};
    }
    void buffersThatDoNotFitAreMovedOnce()
    {
        QFETCH(std::size_t, offset);
        const Buffer x(offset, 3), y(offset);
        const ExecutorPtr executor = instanceOf(*m_model);
        const CommandCounter counter;
        QCOMPARE(bindAndRun(*executor, x, y), QString());
        CommandCounter::reset();
        x.fill(8);
        QCOMPARE(run(*executor, x.data(), y.data()), QString());
        QCOMPARE(CommandCounter::counts(), (Counts{0, 2, 2, 1}));
        QVERIFY(!executor->isInPlace(0) && !executor->isInPlace(2));
    }

    void otherBuffersMayBeBoundAndTheFirstFreed()
    {
        std::unique_ptr<Buffer> x, y; // of the last run
        const ExecutorPtr executor = instanceOf(*m_model);
        float first = 0;
        for (const std::size_t offset : {0, 0, 4, 64, 4, 0, 128, 0}) {
            auto newX = std::make_unique<Buffer>(offset, ++first), newY = std::make_unique<Buffer>(offset);
            QCOMPARE(bindAndRun(*executor, *newX, *newY), QString());
            if (y != nullptr)
                QCOMPARE(y->data()[0], 2 * (first - 1) + 1);
            x = std::move(newX);
            y = std::move(newY);
        }
        QCOMPARE(bindAndRun(*executor, *x, *y), QString()); // the same ones once more
        QVERIFY(executor->bindOutput(0, x->data(), kBytes) == Status::Ok);
        QVERIFY(executor->run() == Status::InvalidArgument); // as ever: it is the input
        QCOMPARE(bindAndRun(*executor, *x, *y), QString());
    }

    /// What a buffer of a driver lies around no other may lie around: the second instance has its own.
    void instancesMayShareAnInputAndHandBuffersOn()
    {
        const Buffer x(0, 5), y(0), z(0);
        const ExecutorPtr one = instanceOf(*m_model), other = instanceOf(*m_model);
        QCOMPARE(bindAndRun(*one, x, y), QString());
        QCOMPARE(bindAndRun(*other, x, z), QString());
        QVERIFY(one->isInPlace(0) && !other->isInPlace(0) && other->isInPlace(2));
        QCOMPARE(bindAndRun(*other, y, z), QString()); // what the first has made
        for (const float first : {1.0F, 2.0F}) {
            x.fill(first);
            QCOMPARE(run(*one, x.data(), y.data()), QString());
            QCOMPARE(run(*other, y.data(), z.data()), QString());
        }
    }

    void instancesRunOnThreads()
    {
        const Buffer x(0, 5);
        std::vector<std::thread> threads;
        std::atomic<int> good = 0;
        for (int t = 0; t < 4; ++t)
            threads.emplace_back([&] {
                const Buffer y(0), ownX(0, 9), other(4);
                const ExecutorPtr executor = instanceOf(*m_model);
                for (int i = 0; i < 20; ++i) {
                    good += bindAndRun(*executor, x, y).isEmpty() ? 1 : 0;
                    good += bindAndRun(*executor, ownX, other).isEmpty() ? 1 : 0;
                }
            });
        for (std::thread& thread : threads)
            thread.join();
        QCOMPARE(good.load(), 160);
    }

    void theExecutorsOwnBuffersAreMapped()
    {
        const ExecutorPtr executor = instanceOf(*m_model);
        auto* const x = static_cast<float*>(executor->inputBuffer(0));
        auto* const y = static_cast<float*>(executor->outputBuffer(0));
        const CommandCounter counter;
        std::ranges::copy(counting(4), x);
        QCOMPARE(run(*executor, x, y), QString());
        std::ranges::copy(counting(6), x);
        QCOMPARE(run(*executor, x, y), QString());
        QCOMPARE(CommandCounter::counts(), (Counts{0, 4, 2, 2}));
        QVERIFY(executor->isInPlace(0) && executor->isInPlace(2));
    }
};

LATHE_TEST_GUILESS(TestOpenClSharedMemory)

} // namespace tst_opencl_shared_memory

#include "tst_opencl_shared_memory.moc"
