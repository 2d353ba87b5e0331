#include "core/measure/measurer.h"
#include "core/runtime/nvidia_core.h"
#include "plugins/opencl/device/device_list.h"
#include "plugins/opencl/device/errors.h"
#include "plugins/opencl/device/limits.h"
#include "plugins/opencl/device/program.h"
#include "tests/plugins/opencl/opencl_fixture.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <CL/cl_icd.h>
#include <nlohmann/json.hpp>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>

namespace tst_opencl_device {

using namespace lathe;
using namespace lathe::test;

namespace {

/// What the driver of this machine's first device makes of a source.
opencl::PackedProgram binaryOf(const std::string& source, std::span<const opencl::LaunchShape> shapes = {})
{
    std::string problem;
    const opencl::Driver& driver = *opencl::findDriver(problem);
    const opencl::DeviceFacts device = opencl::listDevices(driver, problem).at(0);
    cl_int code = CL_SUCCESS;
    cl_context const context = driver.createContext(nullptr, 1, &device.id, nullptr, nullptr, &code);
    if (context == nullptr)
        qFatal("%s", opencl::errorText(code).c_str());
    opencl::PackedProgram made = {source, {}, device.identity};
    if (const auto program = opencl::Program::fromSource(driver, context, device.id, source, problem))
        made.binary = program.binary(shapes);
    driver.releaseContext(context);
    return made;
}

/// The table of functions through which the loader reaches the driver of the first platform (CL/cl_icd.h); it stands at
/// the begin of each of the driver's objects. May be written.
cl_icd_dispatch* tableOfDriver()
{
    std::string problem;
    cl_platform_id platform = nullptr;
    opencl::findDriver(problem)->getPlatformIds(1, &platform, nullptr);
    cl_icd_dispatch* const table = *reinterpret_cast<cl_icd_dispatch**>(platform);
    // A driver may keep it among its constants.
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const auto begin = reinterpret_cast<std::uintptr_t>(table) / page * page;
    const auto end = reinterpret_cast<std::uintptr_t>(table + 1);
    if (::mprotect(reinterpret_cast<void*>(begin), end - begin, PROT_READ | PROT_WRITE) != 0)
        qFatal("the driver's table of functions cannot be changed");
    return table;
}

/// Programs that the driver builds while it lives.
class CountedBuilds
{
public:
    CountedBuilds()
    {
        s_built = 0;
        s_build = m_table->clBuildProgram;
        m_table->clBuildProgram = [](cl_program program, cl_uint devices, const cl_device_id* list, const char* options,
                                     auto* notify, void* data) {
            ++s_built;
            return s_build(program, devices, list, options, notify, data);
        };
    }
    ~CountedBuilds() { m_table->clBuildProgram = s_build; }
    CountedBuilds(const CountedBuilds&) = delete;
    CountedBuilds& operator=(const CountedBuilds&) = delete;
    int built() const { return s_built; }

private:
    static inline int s_built = 0;
    static inline cl_api_clBuildProgram s_build = nullptr;
    cl_icd_dispatch* m_table = tableOfDriver();
};

/// What PoCL has made machine code of so far, which it keeps in files: it compiles a kernel when it is launched first,
/// unless it was asked before.
int machineCodeIn(const std::filesystem::path& folder)
{
    int files = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
        files += entry.path().extension() == ".so" ? 1 : 0;
    return files;
}

/// While it lives, launches or waits of the first platform fail with a code.
class FailingDriver
{
public:
    FailingDriver(bool isOfWait, cl_int code)
    {
        s_code = code;
        m_launch = m_table->clEnqueueNDRangeKernel;
        m_finish = m_table->clFinish;
        if (isOfWait)
            m_table->clFinish = [](cl_command_queue) { return s_code; };
        else
            m_table->clEnqueueNDRangeKernel = [](cl_command_queue, cl_kernel, cl_uint, const std::size_t*,
                                                 const std::size_t*, const std::size_t*, cl_uint, const cl_event*,
                                                 cl_event*) { return s_code; };
    }
    ~FailingDriver()
    {
        m_table->clEnqueueNDRangeKernel = m_launch;
        m_table->clFinish = m_finish;
    }
    FailingDriver(const FailingDriver&) = delete;
    FailingDriver& operator=(const FailingDriver&) = delete;

private:
    static inline cl_int s_code = CL_SUCCESS;
    cl_icd_dispatch* m_table = tableOfDriver();
    cl_api_clEnqueueNDRangeKernel m_launch = nullptr;
    cl_api_clFinish m_finish = nullptr;
};

} // namespace

/// The device half on whatever OpenCL device is here, mostly PoCL's, which is the processor.
class TestOpenClDevice : public QObject
{
    Q_OBJECT

    QTemporaryDir m_pocl; ///< where it keeps what it compiles
    std::shared_ptr<serve::Device> m_device;
    Errc m_code = Errc::Ok; ///< of what run() says

    static std::vector<std::byte> floats(float first)
    {
        std::vector<float> values;
        for (int i = 0; i < 64; ++i)
            values.push_back(first + static_cast<float>(i));
        const auto bytes = std::as_bytes(std::span(values));
        return {bytes.begin(), bytes.end()};
    }

    /// Empty if the two launches compute what they should.
    QString run(serve::DeviceModule& module, std::uint32_t iterations = 1, LatheTiming* timing = nullptr,
                std::uint64_t coldBytes = 0)
    {
        const auto x = must(m_device->allocate(256)), y = must(m_device->allocate(256));
        must(m_device->copyIn(x, floats(3)));
        void* const buffers[] = {x.get(), y.get()};
        const LatheLaunch launch = {module.get(), 0, buffers, 2, 1};
        const auto ran = m_device->run({&launch, 1}, iterations, coldBytes);
        m_code = ran ? Errc::Ok : ran.error().code;
        if (!ran)
            return QString::fromStdString(ran.error().message);
        if (timing != nullptr)
            *timing = *ran;
        std::vector<float> out(64);
        must(m_device->copyOut(std::as_writable_bytes(std::span(out)), y));
        for (int i = 0; i < 64; ++i)
            if (out[static_cast<std::size_t>(i)] != 2 * (3.0f + static_cast<float>(i)) + 1)
                return QStringLiteral("y[%1] is %2").arg(i).arg(out[static_cast<std::size_t>(i)]);
        return {};
    }

private slots:
    void coresOfNvidiaGpusAreKnownByCapability()
    {
        const runtime::NvidiaCore* const h100 = runtime::findNvidiaCore(90);
        QVERIFY(h100 != nullptr && h100->lanes == 128 && h100->threads == 2048 && h100->sharedBytes == 228 * 1024);
        QVERIFY(std::abs(132 * h100->memoryBytesPerCycle - 3350 / 1.98) < 20); // 3.35 TB/s at 1.98 GHz
        QCOMPARE(runtime::findNvidiaCore(72)->lanes, std::uint64_t{64}); // between those of the table: the one before
        QCOMPARE(runtime::findNvidiaCore(999)->capability, std::uint64_t{120});
        QVERIFY(runtime::findNvidiaCore(0) == nullptr && runtime::findNvidiaCore(49) == nullptr);
    }

    void limitsAreCachesAndMemory()
    {
        using opencl::limitsText, nlohmann::json;
        const auto levels = [](const std::string& text) { return json::parse(text)["levels"]; };
        const json both = levels(limitsText(10, {{1, 90}, {2, 100}, {4, 95}, {8, 30}, {16, 20}, {32, 19}}));
        QCOMPARE(both.size(), std::size_t{2});
        QCOMPARE(both[0]["bytes"], 4);
        QCOMPARE(both[0]["gbytes_per_s"], 100.0);
        QCOMPARE(both[1]["bytes"], 0);
        QCOMPARE(both[1]["gbytes_per_s"], 19.0);
        QCOMPARE(levels(limitsText(10, {{1, 20}, {2, 21}, {4, 19}})).size(), std::size_t{1}); // no cache that one sees
        for (const std::string& text :
             {limitsText(0, {{1, 20}}), limitsText(10, {}), limitsText(10, {{1, 20}, {2, 0}})})
            QCOMPARE(text, std::string("{}"));
    }

    void limitsAreMeasured()
    {
        std::string problem;
        const opencl::Driver& driver = *opencl::findDriver(problem);
        opencl::DeviceFacts device = opencl::listDevices(driver, problem).at(0);
        cl_int code = CL_SUCCESS;
        cl_context const context = driver.createContext(nullptr, 1, &device.id, nullptr, nullptr, &code);
        QCOMPARE(code, CL_SUCCESS);
        cl_command_queue const queue = driver.createCommandQueue(context, device.id, CL_QUEUE_PROFILING_ENABLE, &code);
        QCOMPARE(code, CL_SUCCESS);
        device.memoryBytes = 8 * (16 << 20); // no set is larger than 16 MiB
        for (const bool hasEvents : {true, false}) {
            const auto limits = nlohmann::json::parse(opencl::measureLimits(driver, context, queue, device, hasEvents));
            QVERIFY2(limits.contains("gflops") && limits["gflops"] > 0.0, limits.dump().c_str());
            QVERIFY2(limits["levels"].back()["gbytes_per_s"] > 0.0, limits.dump().c_str());
        }
        device.mostThreads = 64; // fewer than the kernels need
        QCOMPARE(opencl::measureLimits(driver, context, queue, device, true), std::string("{}"));
        driver.releaseCommandQueue(queue);
        driver.releaseContext(context);
    }

    void initTestCase()
    {
        QVERIFY(m_pocl.isValid());
        qputenv("POCL_CACHE_DIR", m_pocl.path().toUtf8());
        qputenv("POCL_KERNEL_CACHE", "0");
        auto device = openDevice();
        if (!device) {
            QVERIFY2(!isDeviceDemanded(), device.error().message.c_str());
            QSKIP(device.error().message.c_str());
        }
        m_device = *std::move(device);
    }

    void theDriverIsPartOfTheDevicesName()
    {
        const auto about = nlohmann::json::parse(m_device->description());
        QCOMPARE(QString::fromStdString(about["key"]), QStringLiteral("cl0"));
        for (const char* what : {"name", "platform", "version", "driver"})
            QVERIFY2(!about[what].get<std::string>().empty(), what);
        for (const char* limit :
             {"num_cores", "max_threads_per_block", "max_shared_memory_per_block", "max_buffer_bytes"})
            QVERIFY2(about["hardware"][limit]["value"].get<std::int64_t>() > 0, limit);
    }

    void withoutAPlatformOneSentenceNamesThePackage()
    {
        measure::WorkerPrograms programs;
        programs.environment = {{"OCL_ICD_VENDORS", "/nowhere"}};
        const auto list = nlohmann::json::parse(must(measure::listDevices(programs)));
        std::string problem;
        for (const auto& device : list)
            if (device["kind"] == "opencl")
                problem += device.value("error", "a device");
        QVERIFY2(problem.find("pocl-opencl-icd") != std::string::npos, problem.c_str());
    }

    void launchesHandOverScratchAndAreTimedByTheDevice()
    {
        auto module = must(load(*m_device, doubledAndOne(), {kDoubledAndOne, {}, {}}));
        LatheTiming once = {}, often = {}, cold = {};
        QCOMPARE(run(module, 1, &once), QString());
        QCOMPARE(run(module, 2000, &often), QString()); // more than one queue full
        QCOMPARE(run(module, 20, &cold, 1 << 20), QString());
        QVERIFY(once.nanoseconds > 0 && cold.nanoseconds > 0);
        QCOMPARE(once.clock, std::uint32_t{LATHE_CLOCK_DEVICE});
        QVERIFY2(often.nanoseconds > 1'000'000, "the time is that of all launches: none takes less than 250 ns");
    }

    void whatIsWrongCostsOneRun_data()
    {
        QTest::addColumn<QString>("what");
        QTest::addColumn<int>("code");
        QTest::addColumn<QString>("says");
        QTest::newRow("source") << "source" << int(Errc::BuildFailed) << "nonsense";
        QTest::newRow("no such function") << "symbol" << int(Errc::BuildFailed) << "k_9";
        QTest::newRow("work-group") << "threads" << int(Errc::Unsupported) << "65536 threads";
        QTest::newRow("work-group along z") << "along" << int(Errc::Unsupported) << "axis 2";
        QTest::newRow("local memory") << "local" << int(Errc::Unsupported) << "bytes of local memory";
        QTest::newRow("other work-group than the source's")
            << "required" << int(Errc::Unsupported) << "OpenCL refuses kernel k: CL_INVALID_WORK_GROUP_SIZE";
    }
    void whatIsWrongCostsOneRun()
    {
        QFETCH(QString, what);
        QFETCH(int, code);
        QFETCH(QString, says);
        KernelInfo info = doubledAndOne();
        std::string source = kDoubledAndOne;
        if (what == "source")
            source += "void f() { nonsense; }";
        else if (what == "symbol")
            info.launches[1].symbol = "k_9";
        else if (what == "threads")
            info.launches[0].block = {256, 16, 16};
        else if (what == "along")
            info.launches[0].block = {1, 1, 65536};
        else if (what == "local")
            info.launches[0].sharedBytes = std::int64_t{1} << 29;
        else
            info.launches[0].block = {32, 1, 1}; // the driver itself refuses
        auto module = load(*m_device, info, {source, {}, {}});
        QVERIFY2(module, module ? "" : module.error().message.c_str());
        const auto x = must(m_device->allocate(256)), y = must(m_device->allocate(256));
        void* const buffers[] = {x.get(), y.get()};
        const LatheLaunch launch = {module->get(), 0, buffers, 2, 1};
        const auto ran = m_device->run({&launch, 1}, 1, 0);
        QVERIFY(!ran);
        QVERIFY2(ran.error().message.find(says.toStdString()) != std::string::npos, ran.error().message.c_str());
        QCOMPARE(int(ran.error().code), code);
        // The device lives.
        auto good = must(load(*m_device, doubledAndOne(), {kDoubledAndOne, {}, {}}));
        QCOMPARE(run(good), QString());
    }

    /// The device's driver, with one of its functions replaced by one that fails.
    void resourcesThatAreMissingAreALimitUntilTheLaunchIsAccepted_data()
    {
        QTest::addColumn<bool>("isOfWait");
        QTest::addColumn<int>("says");
        QTest::addColumn<int>("code");
        QTest::newRow("launch: resources") << false << CL_OUT_OF_RESOURCES << int(Errc::Unsupported);
        QTest::newRow("launch: memory") << false << CL_MEM_OBJECT_ALLOCATION_FAILURE << int(Errc::Unsupported);
        QTest::newRow("launch: device") << false << CL_DEVICE_NOT_AVAILABLE << int(Errc::DeviceLost);
        QTest::newRow("wait: resources") << true << CL_OUT_OF_RESOURCES << int(Errc::DeviceLost);
        QTest::newRow("wait: device") << true << CL_DEVICE_NOT_AVAILABLE << int(Errc::DeviceLost);
    }
    void resourcesThatAreMissingAreALimitUntilTheLaunchIsAccepted()
    {
        QFETCH(bool, isOfWait);
        QFETCH(int, says);
        QFETCH(int, code);
        auto module = must(load(*m_device, doubledAndOne(), {kDoubledAndOne, {}, {}}));
        QCOMPARE(run(module), QString());
        const auto x = must(m_device->allocate(256)), y = must(m_device->allocate(256));
        void* const buffers[] = {x.get(), y.get()};
        const LatheLaunch launch = {module.get(), 0, buffers, 2, 1};
        const auto ran = [&] {
            const FailingDriver failing(isOfWait, says);
            return m_device->run({&launch, 1}, 1, 0);
        }();
        QVERIFY(!ran);
        QCOMPARE(int(ran.error().code), code);
        const std::string words = (isOfWait ? "OpenCL failed at kernel k: " : "OpenCL refuses kernel k: ")
                                  + opencl::errorText(says);
        QCOMPARE(QString::fromStdString(ran.error().message), QString::fromStdString(words));
        QCOMPARE(run(module), QString());
    }

    void aBufferThatNoDeviceHasIsRefused()
    {
        const auto buffer = m_device->allocate(std::size_t{1} << 46);
        QVERIFY(!buffer);
        QCOMPARE(int(buffer.error().code), int(Errc::Unsupported));
        QVERIFY2(buffer.error().message.find("larger than the largest") != std::string::npos,
                 buffer.error().message.c_str());
    }

    void aBinaryThatTheDriverRefusesIsBuiltFromSource()
    {
        std::string problem;
        const auto devices = opencl::listDevices(*opencl::findDriver(problem), problem);
        auto module = must(load(*m_device, doubledAndOne(), {kDoubledAndOne, "of yesterday", devices.at(0).identity}));
        QCOMPARE(run(module), QString());
    }

    /// A module that came as source alone.
    void nothingIsLeftToCompileForRunsOnceAKernelIsBuilt()
    {
        auto module = must(load(*m_device, doubledAndOne(), {kDoubledAndOne, {}, {}}));
        const std::filesystem::path folder = m_pocl.path().toStdString();
        const CountedBuilds builds;
        const int codeBefore = machineCodeIn(folder);
        QVERIFY(m_device->builds());
        must(m_device->build(module.get(), 0));
        QCOMPARE(builds.built(), 1);
        const int code = machineCodeIn(folder);
        if (nlohmann::json::parse(m_device->description())["platform"] == "Portable Computing Language")
            QVERIFY(code > codeBefore);
        must(m_device->build(module.get(), 0)); // has been done
        QCOMPARE(run(module, 3), QString());
        QCOMPARE(builds.built(), 1);
        QCOMPARE(machineCodeIn(folder), code);
        QVERIFY(!qEnvironmentVariableIsSet("POCL_BINARY_SPECIALIZE_WG")); // what the driver was told by
    }

    /// As builders make them.
    void nothingIsLeftToCompileOfABinary()
    {
        const opencl::LaunchShape shapes[] = {{{64, 1, 1}, {16, 1, 1}}, {{64, 1, 1}, {8, 1, 1}}};
        const opencl::PackedProgram made = binaryOf(kDoubledAndOne, shapes);
        auto module = must(load(*m_device, doubledAndOne(), made));
        const std::filesystem::path folder = m_pocl.path().toStdString();
        must(m_device->build(module.get(), 0));
        const int code = machineCodeIn(folder);
        QCOMPARE(run(module, 3), QString());
        QCOMPARE(machineCodeIn(folder), code);
    }

    /// As it was before there was a build of its own: who runs a kernel that was not built waits for it.
    void aKernelThatWasNotBuiltIsBuiltWhenItIsRun()
    {
        auto module = must(load(*m_device, doubledAndOne(), {kDoubledAndOne, {}, {}}));
        const CountedBuilds builds;
        QCOMPARE(run(module, 3), QString());
        QCOMPARE(builds.built(), 1);
    }

    void whatCannotBeBuiltIsToldByTheBuild()
    {
        auto refused = must(load(*m_device, doubledAndOne(), {"nonsense", {}, {}}));
        for (int i = 0; i < 2; ++i) {
            const auto built = m_device->build(refused.get(), 0);
            QVERIFY(!built);
            QCOMPARE(int(built.error().code), int(Errc::BuildFailed));
            QVERIFY2(built.error().message.find("nonsense") != std::string::npos, built.error().message.c_str());
        }
        KernelInfo info = doubledAndOne();
        info.launches[0].block = {256, 16, 16};
        auto large = must(load(*m_device, info, {kDoubledAndOne, {}, {}}));
        const auto limit = m_device->build(large.get(), 0);
        QVERIFY(!limit);
        QCOMPARE(int(limit.error().code), int(Errc::Unsupported));
        const auto absent = m_device->build(large.get(), 1);
        QVERIFY(!absent);
        QCOMPARE(int(absent.error().code), int(Errc::InvalidArgument));
    }

    /// Sources that cannot be built tell which of the two was run.
    void aBinaryIsRunOnTheDeviceThatItIsFor()
    {
        const opencl::PackedProgram made = binaryOf(kDoubledAndOne);
        QVERIFY(!made.binary.empty());
        auto here = must(load(*m_device, doubledAndOne(), {"nonsense", made.binary, made.madeFor}));
        QCOMPARE(run(here), QString());
        auto elsewhere = must(load(*m_device, doubledAndOne(), {"nonsense", made.binary, made.madeFor + " of yore"}));
        const QString problem = run(elsewhere);
        QCOMPARE(int(m_code), int(Errc::BuildFailed));
        QVERIFY2(problem.startsWith("the OpenCL compiler refuses the source: ") && problem.contains("nonsense"),
                 qPrintable(problem));
    }

    void aBinaryWithoutTheFunctionIsBuiltFromSource()
    {
        std::string other = kDoubledAndOne;
        other.replace(other.find("k_1"), 3, "k_7");
        const opencl::PackedProgram made = binaryOf(other);
        auto module = must(load(*m_device, doubledAndOne(), {kDoubledAndOne, made.binary, made.madeFor}));
        QCOMPARE(run(module), QString());
        auto neither = must(load(*m_device, doubledAndOne(), {other, made.binary, made.madeFor}));
        const QString problem = run(neither);
        QCOMPARE(int(m_code), int(Errc::BuildFailed));
        QVERIFY2(problem.startsWith("the program has no kernel k_1: "), qPrintable(problem));
    }

    void aDamagedArtifactIsRefused()
    {
        const std::string cut = "LATHECL1 and no more than this";
        ArtifactDescriptor descriptor;
        descriptor.format = opencl::kFormat;
        descriptor.target = "opencl";
        descriptor.kernels = {doubledAndOne()};
        const auto module = m_device->load(std::as_bytes(std::span(cut)), toJson(descriptor).dump());
        QVERIFY(!module);
        QCOMPARE(int(module.error().code), int(Errc::BadFile));
    }
};

LATHE_TEST(TestOpenClDevice)

} // namespace tst_opencl_device

#include "tst_opencl_device.moc"
