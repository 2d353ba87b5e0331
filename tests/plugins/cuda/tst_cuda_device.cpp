#include "core/wire/artifact.h"
#include "plugins/cuda/device/architecture.h"
#include "plugins/cuda/device/run.h"
#include "tests/plugins/cuda/fake_driver.h"
#include "tests/plugins/cuda/fake_management.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <dlfcn.h>
#include <nlohmann/json.hpp>

#include <optional>
#include <utility>

namespace tst_cuda_device {

using namespace lathe;
using namespace lathe::test;

namespace {

/// "y = 2 x + 1" of 64 floats as two launches, which hand the half of it over in scratch.
KernelInfo doubledAndOne()
{
    const std::int64_t elements = 64;
    KernelInfo info;
    info.name = "k";
    info.form = KernelForm::Launches;
    info.parameters = {{"x", ArgRole::Input, DType::F32, IndexMap::plain(&elements, 1)},
                       {"y", ArgRole::Output, DType::F32, IndexMap::plain(&elements, 1)}};
    info.scratch = {256};
    info.launches = {{"k_0", {0, 2}, {4, 1, 1}, {16, 1, 1}, 0}, {"k_1", {2, 1}, {8, 1, 1}, {8, 1, 1}, 0}};
    return info;
}

/// The fake driver with that kernel, a device of it, and what is on that.
class Machine
{
public:
    Machine()
    {
        fake.add("k_0", [](const auto& b) { each([&](int i) { b[1][i] = 2 * b[0][i]; }); });
        fake.add("k_1", [](const auto& b) { each([&](int i) { b[1][i] = b[0][i] + 1; }); });
    }

    /// A sentence; empty: it is open.
    std::string open()
    {
        std::string problem;
        const auto devices = cuda::listDevices(fake.driver, problem);
        if (devices.empty())
            return problem;
        device.emplace(fake.driver, devices[0]);
        return device->start(&error) != 0 || device->allocate(256, &x, &error) != 0
                       || device->allocate(256, &y, &error) != 0
                   ? error.text
                   : "";
    }

    std::string load(const KernelInfo& info, const runtime::PackedProgram& program, const char* format = cuda::kFormat)
    {
        runtime::PackedProgram packed = program;
        for (const LaunchInfo& launch : info.launches)
            packed.symbols += launch.symbol + '\n';
        ArtifactDescriptor descriptor;
        descriptor.format = format;
        descriptor.target = "cuda";
        descriptor.kernels = {info};
        const std::vector<std::byte> bytes = runtime::pack({&packed, 1});
        return load({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, toJson(descriptor).dump());
    }
    std::string load(std::string_view bytes, const std::string& descriptor)
    {
        module.reset(new LatheModule{{fake.driver, device->facts()}});
        return module->module.load(bytes, descriptor.c_str(), &error) != 0 ? error.text : "";
    }

    /// Empty if it computed what it should.
    std::string run(std::uint32_t iterations = 1, std::uint64_t coldBytes = 0, bool isTimed = true)
    {
        std::vector<float> in(64), out(64);
        each([&](int i) { in[static_cast<std::size_t>(i)] = static_cast<float>(i); });
        error = {};
        void* const buffers[] = {x, y};
        const LatheLaunch launch = {module.get(), 0, buffers, 2, isTimed ? 1u : 0u};
        if (device->enter(&error) != 0 || device->copy(x, 0, in.data(), 256, true, &error) != 0
            || cuda::run(*device, {&launch, 1}, iterations, coldBytes, &timing, &error) != 0
            || device->copy(y, 0, out.data(), 256, false, &error) != 0)
            return error.text;
        for (int i = 0; i < 64; ++i)
            if (out[static_cast<std::size_t>(i)] != 2 * static_cast<float>(i) + 1)
                return "y[" + std::to_string(i) + "] is " + std::to_string(out[static_cast<std::size_t>(i)]);
        return {};
    }

    FakeDriver fake;
    LatheDeviceError error = {};
    LatheTiming timing = {};
    std::optional<cuda::OpenedDevice> device;
    std::unique_ptr<LatheModule> module; ///< ends before the device
    void *x = nullptr, *y = nullptr;

private:
    template<typename Body>
    static void each(Body body)
    {
        for (int i = 0; i < 64; ++i)
            body(i);
    }
};

const runtime::PackedProgram kBoth = {".version 8.2 text", "cubin", "sm_80"};

} // namespace

/// The device half with a driver that is not there: what it asks of one, and what it makes of its answers.
class TestCudaDevice : public QObject
{
    Q_OBJECT

    std::unique_ptr<Machine> m_machine;

    Machine& machine() { return *m_machine; }

    void has(const std::string& text, const QString& part)
    {
        QVERIFY2(QString::fromStdString(text).contains(part), text.c_str());
    }

private slots:
    void init()
    {
        m_machine = std::make_unique<Machine>();
        QCOMPARE(machine().open(), std::string());
    }
    void cleanup()
    {
        m_machine->module.reset();
        m_machine->device.reset();
        QCOMPARE(m_machine->fake.buffers, 0); // all were freed
        m_machine.reset();
    }

    void architecturesAreNumbers()
    {
        using namespace cuda;
        QCOMPARE(capabilityOf("sm_90"), std::optional(90));
        QCOMPARE(capabilityOf("sm_121"), std::optional(121));
        for (const char* wrong : {"sm_", "sm_9", "sm_122", "sm_90a", "compute_90", "90", ""})
            QVERIFY2(!capabilityOf(wrong), wrong);
        QCOMPARE(deviceCapabilityOf("sm_130"), std::optional(130)); // of a device to come
        QVERIFY(!deviceCapabilityOf("sm_90a") && !deviceCapabilityOf("sm_49"));
        QVERIFY(runsOn(80, 86) && runsOn(86, 86) && !runsOn(86, 80) && !runsOn(80, 90));
        const auto since = [](std::string_view name) {
            for (const Feature& feature : kFeatures)
                if (name == feature.name)
                    return feature.since;
            return 0;
        };
        for (const char* later : {"async_copies", "bfloat16", "tf32"}) // not on Turing
            QCOMPARE(since(later), 80);
    }

    void theDriverTellsTheDevice()
    {
        const cuda::DeviceFacts& facts = machine().device->facts();
        QCOMPARE(facts.key, std::string("cuda0"));
        QCOMPARE(facts.capability, 86);
        QCOMPARE(facts.sharedBytes, std::uint64_t{101376}); // more than without asking
        QCOMPARE(facts.processors, std::uint64_t{84});
    }

    void launchesHandOverScratchAndAreTimedByEvents()
    {
        QCOMPARE(machine().load(doubledAndOne(), kBoth), std::string());
        QCOMPARE(machine().run(), std::string());
        QCOMPARE(machine().timing.nanoseconds, std::uint64_t{20'000}); // two launches
        QCOMPARE(machine().timing.clock, std::uint32_t{LATHE_CLOCK_DEVICE});
        machine().fake.launchMs = 1; // nothing that a graph would help, as soon as that is known
        QCOMPARE(machine().run(), std::string());
        QCOMPARE(machine().run(2000), std::string()); // more than the stream takes at once
        QCOMPARE(machine().timing.nanoseconds / 1000, std::uint64_t{4'000'000});
        QCOMPARE(machine().fake.graphs, 0);
    }

    void shortLaunchesAreStartedAsGraphs()
    {
        QCOMPARE(machine().load(doubledAndOne(), kBoth), std::string());
        QCOMPARE(machine().run(1000), std::string()); // how long they take is not known yet
        QCOMPARE(machine().fake.graphs, 0);
        machine().fake.launched.clear();
        machine().fake.leads = 0;
        QCOMPARE(machine().run(1000), std::string());
        QCOMPARE(machine().fake.graphs, 8); // 125 passes each
        // Before the clock starts the graph is on the device, and the device has something to do until its first start.
        QCOMPARE(machine().fake.uploads, 1);
        QCOMPARE(machine().fake.leads, 1);
        QCOMPARE(machine().fake.launched.size(), std::size_t{2000});
        QCOMPARE(machine().timing.nanoseconds / 1000, std::uint64_t{20'000});
        machine().fake.fails["upload"] = cuda::kInvalidValue; // of no account: graphs can be started without
        QCOMPARE(machine().run(1021), std::string());
        QCOMPARE(machine().fake.graphs, 16); // 127 passes each, and 5 one by one
        machine().fake.fails["capture"] = cuda::kInvalidValue; // a driver that cannot: all the same
        machine().fake.launched.clear();
        QCOMPARE(machine().run(1000), std::string());
        QCOMPARE(machine().fake.launched.size(), std::size_t{2000});
        QCOMPARE(machine().fake.graphs, 16);
    }

    /// The device has something to do until a stretch is in the stream whole: for longer where more is put in.
    void theHostIsNotTimedWithShortLaunches()
    {
        QCOMPARE(machine().load(doubledAndOne(), kBoth), std::string());
        machine().fake.leads = 0;
        machine().fake.leadCycles = 0;
        QCOMPARE(machine().run(1), std::string());
        QCOMPARE(machine().fake.leads, 1);
        const std::uint64_t few = machine().fake.leadCycles;
        QVERIFY(few >= std::uint64_t{4 * 5 * 1800}); // two launches and two events, 5 us each at 1.8 GHz
        machine().fake.launchMs = 1; // too long for graphs, once that is known
        QCOMPARE(machine().run(1), std::string());
        machine().fake.leads = 0;
        machine().fake.leadCycles = 0;
        QCOMPARE(machine().run(10), std::string());
        QCOMPARE(machine().fake.leads, 1);
        QVERIFY(machine().fake.leadCycles > 3 * few && machine().fake.leadCycles < 20 * few);
        QCOMPARE(machine().timing.nanoseconds / 1000, std::uint64_t{20'000}); // untimed
        machine().fake.leads = 0;
        QCOMPARE(machine().run(20, 32 << 20), std::string());
        QCOMPARE(machine().fake.leads, 20); // ahead of each pass with cold caches
        machine().module.reset();
        machine().device.reset();
        QCOMPARE(machine().open(), std::string());
        QCOMPARE(machine().load(doubledAndOne(), kBoth), std::string());
        machine().fake.fails["lead"] = cuda::kNoJitCompiler; // a driver that does not compile it: all the same
        machine().fake.leads = 0;
        QCOMPARE(machine().run(10), std::string());
        QCOMPARE(machine().fake.leads, 0);
    }

    /// Where the driver is none of a GPU's: a thousand runs of an interpreter would take longer than a trial may.
    void aModelIsAskedOnce()
    {
        QCOMPARE(machine().load(doubledAndOne(), kBoth), std::string());
        machine().fake.driver.isOnProcessor = true;
        machine().fake.launched.clear();
        QCOMPARE(machine().run(1000), std::string());
        QCOMPARE(machine().fake.launched.size(), std::size_t{2});
        QCOMPARE(machine().timing.nanoseconds, std::uint64_t{20'000'000});
        QCOMPARE(machine().timing.clock, std::uint32_t{LATHE_CLOCK_MODEL});
        QCOMPARE(machine().run(20, 32 << 20), std::string());
        QCOMPARE(machine().fake.launched.size(), std::size_t{4});
        QCOMPARE(machine().timing.nanoseconds, std::uint64_t{400'000});
    }

    void coldCachesAreWrittenOverBeforeEachPass()
    {
        QCOMPARE(machine().load(doubledAndOne(), kBoth), std::string());
        machine().fake.filledWords = 0;
        QCOMPARE(machine().run(20, 32 << 20), std::string());
        QVERIFY(machine().fake.filledWords >= std::size_t{20} * (8 << 20));
        QCOMPARE(machine().timing.nanoseconds / 1000, std::uint64_t{400}); // without the writes
        QCOMPARE(machine().run(20, 32 << 20, false), std::string());
        QCOMPARE(machine().timing.nanoseconds, std::uint64_t{0}); // nothing is timed
    }

    void aCubinServesItsOwnKindOfDeviceElsePtxDoes_data()
    {
        QTest::addColumn<QString>("madeFor");
        QTest::addColumn<int>("refusal");
        QTest::addColumn<QString>("loaded");
        QTest::newRow("equal") << "sm_86" << 0 << "binary";
        QTest::newRow("older of the generation") << "sm_80" << 0 << "binary";
        QTest::newRow("newer of the generation") << "sm_89" << 0 << "text";
        QTest::newRow("another generation") << "sm_75" << 0 << "text";
        QTest::newRow("refused") << "sm_86" << int(cuda::kNoBinaryForDevice) << "text";
    }
    void aCubinServesItsOwnKindOfDeviceElsePtxDoes()
    {
        QFETCH(QString, madeFor);
        QFETCH(int, refusal);
        QFETCH(QString, loaded);
        if (refusal != 0)
            machine().fake.fails["binary"] = refusal;
        QCOMPARE(machine().load(doubledAndOne(), {"text", "cubin", madeFor.toStdString()}), std::string());
        QCOMPARE(machine().run(), std::string());
        QCOMPARE(machine().fake.loaded, std::vector<std::string>{loaded.toStdString()});
    }

    void aDriverOlderThanTheCompilerIsTold()
    {
        machine().fake.fails = {{"binary", cuda::kInvalidImage}, {"text", cuda::kUnsupportedPtxVersion}};
        QCOMPARE(machine().load(doubledAndOne(), {"// made\n.version 9.5\n.target sm_80", "cubin", "sm_80"}),
                 std::string());
        const std::string problem = machine().run();
        QCOMPARE(machine().error.code, std::uint32_t{LATHE_ERRC_INCOMPATIBLE});
        has(problem, "supports CUDA 12.2 and does not take PTX 9.5");
    }

    void aDriverWithoutItsCompilerIsTold()
    {
        machine().fake.fails = {{"binary", cuda::kNoBinaryForDevice}, {"text", cuda::kNoJitCompiler}};
        QCOMPARE(machine().load(doubledAndOne(), {"text", "cubin", "sm_80"}), std::string());
        const std::string problem = machine().run();
        QCOMPARE(machine().error.code, std::uint32_t{LATHE_ERRC_INCOMPATIBLE});
        has(problem,
            "compiled for sm_80, and this device, sm_86, runs nothing of it: the NVIDIA driver's compiler of PTX");
    }

    void whatIsWrongCostsOneTrial_data()
    {
        QTest::addColumn<QString>("what");
        QTest::addColumn<int>("code");
        QTest::addColumn<QString>("says");
        QTest::newRow("text") << "text" << int(LATHE_ERRC_BUILD_FAILED) << "ptxas fatal: unknown opcode";
        QTest::newRow("no such function") << "symbol" << int(LATHE_ERRC_BUILD_FAILED) << "k_9";
        QTest::newRow("block") << "threads" << int(LATHE_ERRC_UNSUPPORTED) << "65536 threads";
        QTest::newRow("block along z") << "along" << int(LATHE_ERRC_UNSUPPORTED) << "65 threads of a block along z";
        QTest::newRow("grid") << "grid" << int(LATHE_ERRC_UNSUPPORTED) << "70000 blocks along y";
        QTest::newRow("shared memory") << "shared" << int(LATHE_ERRC_UNSUPPORTED) << "120000 bytes of shared memory";
        QTest::newRow("registers") << "registers" << int(LATHE_ERRC_UNSUPPORTED) << "200 registers a thread";
        QTest::newRow("resources") << "resources" << int(LATHE_ERRC_UNSUPPORTED) << "CUDA refuses kernel k";
        QTest::newRow("memory") << "memory" << int(LATHE_ERRC_UNSUPPORTED) << "CUDA refuses a buffer";
    }
    void whatIsWrongCostsOneTrial()
    {
        QFETCH(QString, what);
        QFETCH(int, code);
        QFETCH(QString, says);
        KernelInfo info = doubledAndOne();
        FakeDriver& fake = machine().fake;
        if (what == "text") {
            fake.fails = {{"binary", cuda::kInvalidImage}, {"text", cuda::kInvalidPtx}};
            fake.log = "ptxas fatal: unknown opcode";
        } else if (what == "symbol") {
            info.launches[1].symbol = "k_9";
        } else if (what == "threads") {
            info.launches[0].block = {256, 16, 16};
        } else if (what == "along") {
            info.launches[0].block = {1, 1, 65};
        } else if (what == "grid") {
            info.launches[0].grid = {1, 70000, 1};
        } else if (what == "shared") {
            info.launches[0].sharedBytes = 120000;
        } else if (what == "registers") {
            info.launches[0].block = {512, 1, 1};
            fake.mostThreadsOfFunction = 256;
        } else if (what == "resources") {
            fake.fails["launch"] = cuda::kLaunchOutOfResources;
        } else {
            fake.fails["memAlloc"] = cuda::kOutOfMemory;
        }
        QCOMPARE(machine().load(info, kBoth), std::string());
        const std::string problem = machine().run();
        QCOMPARE(int(machine().error.code), code);
        has(problem, says);
        // The device lives.
        fake.fails.clear();
        fake.mostThreadsOfFunction = 1024;
        QCOMPARE(machine().load(doubledAndOne(), kBoth), std::string());
        QCOMPARE(machine().run(), std::string());
    }

    void sharedMemoryBeyondWhatCompilersTakeIsAskedFor()
    {
        KernelInfo info = doubledAndOne();
        info.launches[1].sharedBytes = 49152;
        QCOMPARE(machine().load(info, kBoth), std::string());
        QCOMPARE(machine().run(), std::string());
        QCOMPARE(machine().fake.askedShared, 0);
        QCOMPARE(machine().fake.sharedBytes, 0u);
        info.launches[1].sharedBytes = 65536;
        QCOMPARE(machine().load(info, kBoth), std::string());
        QCOMPARE(machine().run(), std::string());
        QCOMPARE(machine().fake.askedShared, 65536);
        QCOMPARE(machine().fake.sharedBytes, 65536u);
    }

    /// What a kernel does wrong is told when it is waited for, and ends all that the process can do.
    void faultsOfKernelsEndTheirProcess_data()
    {
        QTest::addColumn<int>("says");
        QTest::addColumn<int>("code");
        QTest::newRow("illegal address") << int(cuda::kIllegalAddress) << int(LATHE_ERRC_WORKER_CRASHED);
        QTest::newRow("misaligned address") << int(cuda::kMisalignedAddress) << int(LATHE_ERRC_WORKER_CRASHED);
        QTest::newRow("illegal instruction") << int(cuda::kIllegalInstruction) << int(LATHE_ERRC_WORKER_CRASHED);
        QTest::newRow("launch failed") << int(cuda::kLaunchFailed) << int(LATHE_ERRC_WORKER_CRASHED);
        QTest::newRow("time-out") << int(cuda::kLaunchTimeout) << int(LATHE_ERRC_RUN_TIMEOUT);
        QTest::newRow("memory error") << int(cuda::kUncorrectableEcc) << int(LATHE_ERRC_DEVICE_LOST);
        QTest::newRow("link error") << int(cuda::kNvlinkUncorrectable) << int(LATHE_ERRC_DEVICE_LOST);
        QTest::newRow("contained") << int(cuda::kContained) << int(LATHE_ERRC_DEVICE_LOST);
        QTest::newRow("server gone") << int(cuda::kMpsRpcFailure) << int(LATHE_ERRC_DEVICE_LOST);
        QTest::newRow("ended by the server") << int(cuda::kMpsClientTerminated) << int(LATHE_ERRC_DEVICE_LOST);
        QTest::newRow("unknown") << int(cuda::kUnknown) << int(LATHE_ERRC_DEVICE_LOST);
    }
    void faultsOfKernelsEndTheirProcess()
    {
        QFETCH(int, says);
        QFETCH(int, code);
        QCOMPARE(machine().load(doubledAndOne(), kBoth), std::string());
        QCOMPARE(machine().run(), std::string());
        // Not the wait of the copy before it.
        FakeDriver& fake = machine().fake;
        fake.add("k_1", [&fake, says](const auto&) { fake.fails["wait"] = says; });
        QCOMPARE(machine().load(doubledAndOne(), kBoth), std::string());
        const std::string problem = machine().run();
        QCOMPARE(int(machine().error.code), code);
        has(problem, "CUDA failed at kernel k: CUDA error " + QString::number(says));
        fake.fails.clear(); // the driver would go on saying it
        const std::string behind = machine().run();
        QCOMPARE(machine().error.code, std::uint32_t{LATHE_ERRC_DEVICE_LOST});
        has(behind, "CUDA failed before, at kernel k");
        has(machine().device->health(), "CUDA failed before");
    }

    /// A device that goes while a kernel is loaded is no fault of the kernel's.
    void aDeviceThatGoesWhileAKernelIsLoadedEndsItsProcess_data()
    {
        QTest::addColumn<QString>("call");
        for (const char* const call : {"binary", "function", "shared"})
            QTest::newRow(call) << call;
    }
    void aDeviceThatGoesWhileAKernelIsLoadedEndsItsProcess()
    {
        QFETCH(QString, call);
        KernelInfo info = doubledAndOne();
        info.launches[1].sharedBytes = 65536; // is asked for
        machine().fake.fails[call.toStdString()] = cuda::kUnknown;
        QCOMPARE(machine().load(info, kBoth), std::string());
        QVERIFY(!machine().run().empty());
        QCOMPARE(machine().error.code, std::uint32_t{LATHE_ERRC_DEVICE_LOST});
        machine().fake.fails.clear();
        has(machine().run(), "CUDA failed before, at the loading of a kernel");
        QCOMPARE(machine().error.code, std::uint32_t{LATHE_ERRC_DEVICE_LOST});
    }

    void messagesOfTheDriverAreTheHardwaresOrAKernels()
    {
        for (const std::uint64_t xid : {48, 64, 74, 79, 95})
            QVERIFY2(cuda::isOfHardware(xid), std::to_string(xid).c_str());
        for (const std::uint64_t xid :
             {13, 31, 43, 45, 63, 92, 94}) // faults of programs; what was repaired or contained
            QVERIFY2(!cuda::isOfHardware(xid), std::to_string(xid).c_str());
    }

    /// With a library of the tests in the place of the driver's.
    void troubleOfTheHardwareIsToldAndEndsAll()
    {
        qputenv("LATHE_CUDA_MANAGEMENT", LATHE_FAKE_MANAGEMENT);
        const auto unset = qScopeGuard([] { qunsetenv("LATHE_CUDA_MANAGEMENT"); });
        void* const library = ::dlopen(LATHE_FAKE_MANAGEMENT, RTLD_NOW | RTLD_LOCAL);
        QVERIFY2(library != nullptr, ::dlerror());
        FakeManagement& gpu = *reinterpret_cast<FakeManagementFn>(::dlsym(library, "fakeManagement"))();
        machine().fake.driver.deviceGetUuid = [](cuda::Uuid* uuid, cuda::DeviceNumber) {
            for (unsigned char i = 0; i < 16; ++i)
                uuid->bytes[i] = i;
            return int(cuda::kSuccess);
        };
        const auto reopen = [&] {
            machine().module.reset();
            machine().device.reset();
            return machine().open();
        };
        QCOMPARE(reopen(), std::string());
        const auto health = nlohmann::json::parse(machine().device->health());
        QCOMPARE(health["uuid"].get<std::string>(), std::string(gpu.uuid));
        QCOMPARE(health["clock_mhz"].get<int>(), 1410);
        QCOMPARE(health["memory_clock_mhz"].get<int>(), 1593);
        QCOMPARE(health["temperature_c"].get<int>(), 61);
        QCOMPARE(health["watts"].get<double>(), 212.5);
        QCOMPARE(health["slowed_by"].get<int>(), 4);
        QVERIFY(!health.contains("sick"));

        // The driver's interface tells a MIG instance no name of its kind, and the library no figures of it.
        const char* const whole = std::exchange(gpu.uuid, "MIG-00010203-0405-0607-0809-0a0b0c0d0e0f");
        gpu.tellsFigures = false;
        QCOMPARE(reopen(), std::string());
        const auto instance = nlohmann::json::parse(machine().device->health());
        QCOMPARE(instance["uuid"].get<std::string>(), std::string(gpu.uuid));
        for (const char* const figure : {"clock_mhz", "memory_clock_mhz", "temperature_c", "watts", "slowed_by"})
            QVERIFY2(!instance.contains(figure), figure);
        gpu.uuid = whole;
        gpu.tellsFigures = true;
        QCOMPARE(reopen(), std::string());

        gpu.xid = 31; // a kernel's own
        QVERIFY(!nlohmann::json::parse(machine().device->health()).contains("sick"));
        gpu.xid = 79;
        has(nlohmann::json::parse(machine().device->health())["sick"], "Xid 79");
        QVERIFY(machine().device->enter(&machine().error) != 0);
        QCOMPARE(machine().error.code, std::uint32_t{LATHE_ERRC_DEVICE_LOST});

        QCOMPARE(reopen(), std::string());
        gpu.uncorrectedErrors = 2;
        has(nlohmann::json::parse(machine().device->health())["sick"], "since the device was opened: 2");
        QCOMPARE(reopen(), std::string()); // the driver has set aside what had them, and counts on
        QVERIFY(!nlohmann::json::parse(machine().device->health()).contains("sick"));
        gpu.uncorrectedErrors = 3;
        has(nlohmann::json::parse(machine().device->health())["sick"], "since the device was opened: 1");
        gpu.tellsErrors = false; // when it is opened: what was before is not known, and no trouble
        QCOMPARE(reopen(), std::string());
        gpu.tellsErrors = true;
        QVERIFY(!nlohmann::json::parse(machine().device->health()).contains("sick"));
        gpu.uncorrectedErrors = 4;
        has(nlohmann::json::parse(machine().device->health())["sick"], "since the device was opened: 1");
        gpu.uncorrectedErrors = 0;
        gpu.rowsFailed = 1;
        has(reopen(), "rows that cannot be replaced");
        gpu.rowsFailed = 0;
    }

    void aKernelWithoutLaunchesTakesNoTime()
    {
        KernelInfo info = doubledAndOne();
        info.launches.clear();
        runtime::PackedProgram program = kBoth;
        program.symbols = "k_0\n";
        QCOMPARE(machine().load(info, program), std::string());
        void* const buffers[] = {machine().x, machine().y};
        const LatheLaunch launch = {machine().module.get(), 0, buffers, 2, 1};
        LatheTiming timing = {7, 0, 0};
        QCOMPARE(cuda::run(*machine().device, {&launch, 1}, 10, 0, &timing, &machine().error), 0);
        QCOMPARE(timing.nanoseconds, std::uint64_t{0});
    }

    void buffersAreHeldAgainstTheirSizes()
    {
        void* out = nullptr;
        LatheDeviceError error = {};
        QVERIFY(machine().device->allocate(std::size_t{1} << 46, &out, &error) != 0);
        QCOMPARE(error.code, std::uint32_t{LATHE_ERRC_UNSUPPORTED});
        has(error.text, "larger than the memory of Fake GPU");
        char bytes[8] = {};
        QVERIFY(machine().device->copy(machine().x, 250, bytes, 8, true, &error) != 0);
        QCOMPARE(error.code, std::uint32_t{LATHE_ERRC_INVALID_ARGUMENT});
        machine().device->release(machine().y);
        QVERIFY(machine().device->allocate(128, &machine().y, &error) == 0);
        QCOMPARE(machine().load(doubledAndOne(), kBoth), std::string());
        has(machine().run(), "the buffer for \"y\" of k is too small");
    }

    void damagedArtifactsAreRefused()
    {
        KernelInfo endless = doubledAndOne();
        const std::int64_t elements[] = {std::int64_t{1} << 40, std::int64_t{1} << 40};
        endless.parameters[0].map = IndexMap::plain(elements, 2);
        has(machine().load(endless, kBoth), "larger than any memory");
        ArtifactDescriptor descriptor;
        descriptor.format = cuda::kFormat;
        descriptor.kernels = {doubledAndOne()};
        has(machine().load("LATHECL2 and no more than this", toJson(descriptor).dump()), "damaged");
        QCOMPARE(machine().error.code, std::uint32_t{LATHE_ERRC_BAD_FILE});
        has(machine().load(doubledAndOne(), kBoth, "opencl-c"), "format cubin, not opencl-c");
        KernelInfo other = doubledAndOne();
        runtime::PackedProgram without = kBoth;
        const std::vector<std::byte> bytes = runtime::pack({&without, 1});
        has(machine().load({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, toJson(descriptor).dump()),
            "no program with the launch k_0");
    }
};

LATHE_TEST(TestCudaDevice)

} // namespace tst_cuda_device

#include "tst_cuda_device.moc"
