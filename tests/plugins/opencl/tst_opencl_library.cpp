#include "core/compute/interpret.h"
#include "core/compute/json.h"
#include "core/measure/builder_client.h"
#include "core/wire/seeded.h"
#include "tests/plugins/library_cases.h"
#include "tests/plugins/opencl/library_fixture.h"
#include "tests/plugins/opencl/opencl_fixture.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QtTest>

#include <cmath>
#include <cstring>

namespace tst_opencl_library {

using namespace lathe;
using namespace lathe::test;
using runtime::Status;

namespace {

compute::DagPtr finish(compute::DagBuilder& b, compute::Tensor out)
{
    return test::must(std::move(b).finish({out}));
}

compute::DagPtr matmul()
{
    compute::DagBuilder b;
    const auto x = b.placeholder("A", {7, 9}, DType::F32), y = b.placeholder("B", {9, 16}, DType::F32);
    return finish(
        b, b.reduce("C", {7, 16}, {"i", "j"}, "", ir::Combiner::Sum, {{"k", 9}}, [&](const auto& a, const auto& r) {
            return b.at(x, {a[0], r[0]}) * b.at(y, {r[0], a[1]});
        }));
}

/// Several launches, which hand tensors over to each other.
compute::DagPtr convolution()
{
    compute::DagBuilder b;
    const auto x = b.placeholder("data", {7, 9, 5}, DType::F32);
    const auto w = b.placeholder("weight", {3, 3, 5, 6}, DType::F32);
    const auto padded = b.compute("pad", {9, 11, 5}, {}, "injective,pad", [&](const auto& i) {
        return ir::ifThenElse(i[0] >= ir::Expr(1) && i[0] < ir::Expr(8) && i[1] >= ir::Expr(1) && i[1] < ir::Expr(10),
                              b.at(x, {i[0] - ir::Expr(1), i[1] - ir::Expr(1), i[2]}), ir::floatImm(0));
    });
    return finish(
        b, b.reduce("conv", {7, 9, 6}, {"h", "w", "c"}, "", ir::Combiner::Sum, {{"ry", 3}, {"rx", 3}, {"rc", 5}},
                    [&](const auto& a, const auto& r) {
                        return b.at(padded, {a[0] + r[0], a[1] + r[1], r[2]}) * b.at(w, {r[0], r[1], r[2], a[2]});
                    }));
}

std::vector<std::byte> inputBytes(const compute::Dag& dag, std::size_t input)
{
    const compute::Op& op = dag.ops[static_cast<std::size_t>(dag.inputs[input])];
    std::int64_t count = 1;
    for (const std::int64_t extent : op.shape)
        count *= extent;
    std::vector<std::byte> bytes(static_cast<std::size_t>(count * sizeOf(op.dtype)));
    wire::fillSeeded(wire::inputSeed(11, input), op.dtype, {}, bytes);
    return bytes;
}

std::vector<float> expected(const compute::DagPtr& dag)
{
    std::vector<std::vector<std::byte>> inputs;
    for (std::size_t i = 0; i < dag->inputs.size(); ++i)
        inputs.push_back(inputBytes(*dag, i));
    const std::vector<std::span<const std::byte>> views(inputs.begin(), inputs.end());
    const auto outputs = test::must(test::must(compute::Interpreter::compile(dag)).run(views));
    std::vector<float> values(outputs[0].size() / sizeof(float));
    std::memcpy(values.data(), outputs[0].data(), outputs[0].size());
    return values;
}

} // namespace

/// The driver of exported libraries on whatever OpenCL device is here, mostly PoCL's, which is the processor.
class TestOpenClLibrary : public QObject
{
    Q_OBJECT

    QTemporaryDir m_cache;
    const opencl::Driver* m_driver = nullptr;
    std::vector<std::byte> m_code; ///< of kDoubledAndOne

    /// What is true of each back end's.
    LibraryCases<lathe_driver_opencl> cases() const { return {"opencl", "OpenCL", m_code}; }
    cl_context callersContext() const
    {
        const opencl::DeviceFacts device = firstDevice();
        cl_int code = CL_SUCCESS;
        return m_driver->createContext(nullptr, 1, &device.id, nullptr, nullptr, &code);
    }
    cl_command_queue callersQueue(cl_context context, cl_command_queue_properties properties) const
    {
        cl_int code = CL_SUCCESS;
        return m_driver->createCommandQueue(context, firstDevice().id, properties, &code);
    }

private slots:
    void initTestCase()
    {
        if (const std::string problem = noDevice(); !problem.empty())
            QSKIP(problem.c_str());
        qputenv("XDG_CACHE_HOME", m_cache.path().toUtf8());
        qunsetenv("LATHE_OPENCL_DEVICE");
        std::string problem;
        m_driver = opencl::findDriver(problem);
        const opencl::PackedProgram kernel = {kDoubledAndOne, {}, {}, "k_0\nk_1\n"};
        m_code = opencl::pack({&kernel, 1});
    }

    void aDeviceIsHere()
    {
        runtime::ErrorText missing;
        QVERIFY2(kLibrary.isHere("opencl -device=mali", missing), missing.text);
        QCOMPARE(QString(kLibrary.kind), QStringLiteral("opencl"));
        const Context context = must(openLibrary(m_code));
        QVERIFY(kLibrary.name(context.get())[0] != '\0');
    }

    void builtKernelsComputeWhatTheirDagsSay()
    {
        const std::vector<std::pair<compute::DagPtr, std::string>> cases = {
            {matmul(), R"([["SP", 2, 1, 16, [8], 1], ["AN", 2, 0, 5], ["AN", 2, 2, 6]])"},
            {convolution(), "[]"},
        };
        // Each case is compiled by itself: packages stand one behind the other.
        const auto builder = test::must(measure::BuilderClient::start("opencl"));
        std::string code;
        std::vector<KernelInfo> infos;
        for (const auto& [dag, steps] : cases) {
            const measure::KernelJob job = {
                "case" + std::to_string(infos.size()), compute::toJson(*dag).dump(), steps, {}};
            const auto product = test::must(
                builder->build({&job, 1}, measure::Product::Object, Deadline::inSeconds(60)));
            code += product.bytes;
            infos.push_back(product.descriptor.kernels.at(0));
        }
        std::vector<std::uint64_t> aligned(code.size() / 8);
        QCOMPARE(aligned.size() * 8, code.size());
        std::memcpy(aligned.data(), code.data(), code.size());
        const Context context = must(openLibrary(std::as_bytes(std::span(aligned))));
        const Queue queue = must(start(context));
        for (std::size_t c = 0; c < cases.size(); ++c) {
            const compute::DagPtr& dag = cases[c].first;
            std::vector<Memory> memory;
            std::vector<std::vector<std::byte>> host;
            for (std::size_t p = 0; p < infos[c].parameters.size(); ++p) {
                const ArgSpec& spec = infos[c].parameters[p];
                const auto bytes = static_cast<std::size_t>(spec.map.elementCount() * sizeOf(spec.dtype));
                if (spec.role == ArgRole::Output) {
                    memory.push_back(must(allocate(context, bytes)));
                } else {
                    host.push_back(inputBytes(*dag, p));
                    QCOMPARE(host.back().size(), bytes);
                    memory.push_back(must(allocate(context, bytes, host.back().data())));
                }
            }
            runtime::DeviceMemory* const output = memory.back().get();
            for (const std::int64_t bytes : infos[c].scratch)
                memory.push_back(must(allocate(context, static_cast<std::size_t>(bytes))));
            std::vector<Launch> launches;
            for (const LaunchInfo& info : infos[c].launches) {
                std::vector<runtime::DeviceMemory*> buffers;
                for (const std::int32_t buffer : info.buffers)
                    buffers.push_back(memory[static_cast<std::size_t>(buffer)].get());
                launches.push_back(must(prepare(queue, info, buffers)));
            }
            for (const Launch& launch : launches)
                QCOMPARE(problemOf(kLibrary.launch, queue.get(), launch.get()), std::string());
            const std::vector<float> want = expected(dag);
            std::vector<float> have(want.size());
            QCOMPARE(
                problemOf(kLibrary.read, queue.get(), static_cast<void*>(have.data()), output, have.size() * 4, true),
                std::string());
            for (std::size_t i = 0; i < want.size(); ++i)
                QVERIFY2(std::fabs(have[i] - want[i]) <= 1e-5f * std::max(1.0f, std::fabs(want[i])),
                         qPrintable(QStringLiteral("case %1, element %2: %3 instead of %4")
                                        .arg(c)
                                        .arg(i)
                                        .arg(have[i])
                                        .arg(want[i])));
        }
        QVERIFY2(infos[1].launches.size() > 1, "the convolution is one of several launches");
    }

    void launchesComputeWhatTheyShould() { cases().launchesComputeWhatTheyShould(); }
    void memoryOfNoBytesIsNull() { cases().memoryOfNoBytesIsNull(); }
    void memoryBeginsWithWhatItIsGiven() { cases().memoryBeginsWithWhatItIsGiven(); }
    void launchesHoldTheMemoryOfTheirBuffers() { cases().launchesHoldTheMemoryOfTheirBuffers(); }
    void aCopyBeyondItsMemoryIsRefused() { cases().aCopyBeyondItsMemoryIsRefused(); }

    void aKernelSeesThatMemoryOfNoBytesIsNull()
    {
        const char* const source = "__kernel void k_0(__global float *x, __global float *y) { if (x) y[0] = 7; else "
                                   "y[0] = 8; }";
        const opencl::PackedProgram kernel = {source, {}, {}, "k_0\n"};
        const std::vector<std::byte> code = opencl::pack({&kernel, 1});
        const Context context = must(openLibrary(code));
        const Queue queue = must(start(context));
        const Memory result = must(allocate(context, 4));
        const Launch launch = must(prepare(queue, {"k_0", {}, {1, 1, 1}, {1, 1, 1}, 0}, {nullptr, result.get()}));
        QCOMPARE(problemOf(kLibrary.launch, queue.get(), launch.get()), std::string());
        float value = 1;
        QCOMPARE(problemOf(kLibrary.read, queue.get(), static_cast<void*>(&value), result.get(), std::size_t{4}, true),
                 std::string());
        QCOMPARE(value, 8.0f);
    }

    void whatTheDeviceCannotStartIsRefusedBeforeItIsBuilt_data()
    {
        QTest::addColumn<QString>("what");
        QTest::addColumn<int>("status");
        QTest::addColumn<QString>("says");
        const auto add = [](const char* what, Status status, const char* says) {
            QTest::newRow(what) << what << static_cast<int>(status) << says;
        };
        add("threads", Status::KernelFailed, "65536 threads; this device starts at most");
        add("along", Status::KernelFailed, "65536 threads along axis 2");
        add("local", Status::KernelFailed, "536870912 bytes of local memory");
        add("nothing", Status::InvalidArgument, "cannot have 0 work-groups");
        add("symbol", Status::InvalidArgument, "no OpenCL code for kernel k_9");
        add("required", Status::InvalidArgument, "needs work-groups of 16 x 1 x 1 threads, not of 32 x 1 x 1");
        add("buffers", Status::InvalidArgument, "has 2 parameters, and a launch of it 1 buffers");
    }
    void whatTheDeviceCannotStartIsRefusedBeforeItIsBuilt()
    {
        QFETCH(QString, what);
        QFETCH(int, status);
        QFETCH(QString, says);
        runtime::LaunchRequest request = doubledLaunch(what == "symbol" ? "k_9" : "k_0");
        if (what == "threads") {
            request.block[0] = 256;
            request.block[1] = request.block[2] = 16;
        } else if (what == "along") {
            request.block[0] = 1;
            request.block[2] = 65536;
        } else if (what == "local")
            request.sharedBytes = std::uint64_t{1} << 29;
        else if (what == "nothing")
            request.grid[0] = 0;
        else if (what == "required")
            request.block[0] = 32;
        cases().refuses(request, what == "buffers" ? 1 : 2, static_cast<Status>(status), says);
    }

    void moreMemoryThanThereIsIsRefusedWithBothFigures()
    {
        const Context context = must(openLibrary(m_code));
        const auto refused = allocate(context, std::size_t{1} << 46);
        QVERIFY(refused.status == Status::NoMemory);
        QVERIFY2(refused.says.find("70368744177664") != std::string::npos
                     && refused.says.find(std::to_string(firstDevice().largestBuffer)) != std::string::npos,
                 refused.says.c_str());
    }

    void theDriversOwnRefusalIsNamed()
    {
        const Context context = must(openLibrary(m_code));
        const Queue queue = must(start(context));
        const auto d = doubled(context, queue);
        {
            DriverTable table;
            table->clEnqueueNDRangeKernel = [](cl_command_queue, cl_kernel, cl_uint, const std::size_t*,
                                               const std::size_t*, const std::size_t*, cl_uint, const cl_event*,
                                               cl_event*) { return cl_int{CL_OUT_OF_RESOURCES}; };
            table->clFinish = [](cl_command_queue) { return cl_int{CL_DEVICE_NOT_AVAILABLE}; };
            table->clCreateBuffer = [](cl_context, cl_mem_flags, std::size_t, void*, cl_int* code) {
                *code = CL_OUT_OF_RESOURCES;
                return cl_mem{nullptr};
            };
            QCOMPARE(QString::fromStdString(problemOf(kLibrary.launch, queue.get(), d.first.get())),
                     QStringLiteral("OpenCL refuses kernel k_0: CL_OUT_OF_RESOURCES (-5)"));
            QCOMPARE(QString::fromStdString(problemOf(kLibrary.finish, queue.get())),
                     QStringLiteral("OpenCL failed at what was in the queue: CL_DEVICE_NOT_AVAILABLE (-2)"));
            const auto refused = allocate(context, 16);
            QVERIFY(refused.status == Status::NoMemory);
            QCOMPARE(QString::fromStdString(refused.says),
                     QStringLiteral("OpenCL refuses a buffer of 16 bytes: CL_OUT_OF_RESOURCES (-5)"));
        }
        QCOMPARE(run(queue, d), QString());
    }

    void theCallersContextQueueAndMemoryAreTaken()
    {
        cl_context const callers = callersContext();
        cl_command_queue const ownQueue = callersQueue(callers, 0);
        cl_int code = CL_SUCCESS;
        cl_mem const own = m_driver->createBuffer(callers, CL_MEM_READ_WRITE, 256, nullptr, &code);
        {
            const Context context = must(openLibrary(m_code, {.context = callers}));
            const Queue queue = must(start(context, ownQueue));
            auto d = doubled(context, queue);
            const Memory adopted = must(adopt(context, static_cast<void*>(own), 256));
            d.second = must(prepare(queue, doubledLaunch("k_1"), {d.scratch.get(), adopted.get()}));
            d.y = must(adopt(context, static_cast<void*>(own), 256));
            QCOMPARE(run(queue, d), QString());

            const auto small = adopt(context, static_cast<void*>(own), 257);
            QVERIFY(small.status == Status::InvalidArgument);
            QCOMPARE(QString::fromStdString(small.says),
                     QStringLiteral("the caller's OpenCL buffer has 256 bytes, and 257 are needed"));
            QVERIFY(adopt(context, static_cast<void*>(nullptr), 4).status == Status::InvalidArgument);
            QVERIFY(lathe_driver_opencl.fits(adopted.get(), false));
            QVERIFY(lathe_driver_opencl.overlaps(adopted.get(), d.y.get()));
            QVERIFY(!lathe_driver_opencl.overlaps(adopted.get(), d.scratch.get()));
        }
        // What is the caller's is still there.
        std::vector<float> values(kFloats);
        QCOMPARE(m_driver->enqueueReadBuffer(ownQueue, own, CL_TRUE, 0, 256, values.data(), 0, nullptr, nullptr),
                 CL_SUCCESS);
        QCOMPARE(values[0], 7.0f);
        for (const auto& [what, status] : {std::pair{"context", m_driver->releaseContext(callers)},
                                           std::pair{"queue", m_driver->releaseCommandQueue(ownQueue)},
                                           std::pair{"buffer", m_driver->releaseMemObject(own)}})
            QVERIFY2(status == CL_SUCCESS, what);
    }

    /// Kernels may use what they may read and, as an output, write.
    void theCallersMemoryFitsByItsFlags()
    {
        cl_context const callers = callersContext();
        {
            const Context context = must(openLibrary(m_code, {.context = callers}));
            for (const auto& [flags, asInput, asOutput] : {std::tuple{cl_mem_flags{CL_MEM_READ_WRITE}, true, true},
                                                           {CL_MEM_READ_ONLY, true, false},
                                                           {CL_MEM_WRITE_ONLY, false, false}}) {
                cl_int code = CL_SUCCESS;
                cl_mem const own = m_driver->createBuffer(callers, flags, 256, nullptr, &code);
                {
                    const Memory adopted = must(adopt(context, static_cast<void*>(own), 256));
                    QCOMPARE(lathe_driver_opencl.fits(adopted.get(), true), asInput);
                    QCOMPARE(lathe_driver_opencl.fits(adopted.get(), false), asOutput);
                }
                m_driver->releaseMemObject(own);
            }
        }
        m_driver->releaseContext(callers);
    }

    void whatIsOfAnotherContextIsRefused()
    {
        cl_context const callers = callersContext();
        cl_command_queue const ownQueue = callersQueue(callers, 0);
        cl_int code = CL_SUCCESS;
        cl_mem const own = m_driver->createBuffer(callers, CL_MEM_READ_WRITE, 256, nullptr, &code);
        {
            const Context context = must(openLibrary(m_code));
            const auto queue = start(context, ownQueue);
            QVERIFY(queue.status == Status::InvalidArgument);
            QVERIFY2(queue.says.find("of another context") != std::string::npos, queue.says.c_str());
            const auto memory = adopt(context, static_cast<void*>(own), 256);
            QVERIFY(memory.status == Status::InvalidArgument);
            QVERIFY2(memory.says.find("of another context") != std::string::npos, memory.says.c_str());
        }
        cl_command_queue const unordered = callersQueue(callers, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
        if (unordered != nullptr) { // not every device has one
            const Context context = must(openLibrary(m_code, {.context = callers}));
            const auto queue = start(context, unordered);
            QVERIFY(queue.status == Status::InvalidArgument);
            QVERIFY2(queue.says.find("in order") != std::string::npos, queue.says.c_str());
            m_driver->releaseCommandQueue(unordered);
        }
        m_driver->releaseMemObject(own);
        m_driver->releaseCommandQueue(ownQueue);
        m_driver->releaseContext(callers);
    }

    void devicesAreNamedByKeyOrByThePersonWhoRunsTheProgram()
    {
        QCOMPARE(QString(kLibrary.name(must(openLibrary(m_code, {.key = "cl0"})).get())),
                 QString::fromUtf8(firstDevice().name));
        cases().devicesAreNamedByKeyOrByThePersonWhoRunsTheProgram("LATHE_OPENCL_DEVICE", "cl0", "cl77");
    }
};

LATHE_TEST_GUILESS(TestOpenClLibrary)

} // namespace tst_opencl_library

#include "tst_opencl_library.moc"
