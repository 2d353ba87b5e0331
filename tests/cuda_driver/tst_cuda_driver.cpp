#include "tests/cuda_driver/kernel_run.h"
#include "tests/cuda_driver/opened_driver.h"
#include "tests/support/test_program.h"

#include <QElapsedTimer>
#include <QJsonDocument>
#include <QJsonObject>

#include <atomic>
#include <thread>

using namespace lathe::cuda_driver;
using lathe::cuda_driver::testing::Environment;
using lathe::cuda_driver::testing::OpenedDriver;
using lathe::ptx::testing::kernelText;

namespace tst_cuda_driver {

const char* const kPlace =
    "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmad.lo.u32 %r4, %r2, %r3, %r1;\n"
    "ld.param.u64 %d1, [out];\nmul.wide.u32 %d2, %r4, 4;\nadd.s64 %d3, %d1, %d2;\n";

/// out[i] += by
std::string adding()
{
    return kernelText(".param .u64 out, .param .u32 by", std::string(kPlace)
                                                             + "ld.param.u32 %r5, [by];\nld.global.u32 %r6, [%d3];\n"
                                                               "add.u32 %r6, %r6, %r5;\nst.global.u32 [%d3], %r6;");
}

std::string withShared(unsigned bytes)
{
    return kernelText(".param .u64 out", std::string(kPlace) + ".shared .align 4 .b8 room[" + std::to_string(bytes)
                                             + "];\nmov.u32 %r9, room;\n");
}

class TestCudaDriver : public QObject
{
    Q_OBJECT

    static void* stream(const OpenedDriver& driver)
    {
        void* made = nullptr;
        driver.call("cuStreamCreate", &made, 1U);
        return made;
    }

    static int load(const OpenedDriver& driver, const void* image, char* log = nullptr, size_t logBytes = 0)
    {
        void* module = nullptr;
        int options[] = {kJitErrorLog, kJitErrorLogBytes};
        void* values[] = {log, reinterpret_cast<void*>(logBytes)};
        return driver.call("cuModuleLoadDataEx", &module, image, log ? 2U : 0U, static_cast<int*>(options),
                           static_cast<void**>(values));
    }

private slots:
    void nothingWorksBeforeInitAndWithoutAContext()
    {
        const OpenedDriver none(Environment{{"LATHE_CUDA_DRIVER_DEVICES", "0"}});
        QVERIFY(none.isOpen());
        QCOMPARE(none.started(), int(kNoDevice));
        int count = 7;
        QCOMPARE(none.call("cuDeviceGetCount", &count), int(kNotInitialized));
        const OpenedDriver driver;
        QCOMPARE(driver.started(), 0);
        QCOMPARE(driver.call("latheCudaDriverOnCpu"), 1);
        uint64_t address = 0;
        QCOMPARE(driver.call("cuMemAlloc_v2", &address, size_t(64)), int(kInvalidContext));
        QCOMPARE(driver.call("cuCtxSetCurrent", static_cast<void*>(&address)), int(kInvalidContext));
        driver.context();
        QCOMPARE(driver.call("cuMemAlloc_v2", &address, size_t(64)), 0);
        int other = -1; // a context is of a thread
        std::thread([&] { other = driver.call("cuMemFree_v2", address); }).join();
        QCOMPARE(other, int(kInvalidContext));
        QCOMPARE(driver.call("cuMemFree_v2", address), 0);
        QCOMPARE(driver.call("cuMemFree_v2", address), int(kInvalidValue));
        QCOMPARE(driver.call("cuDevicePrimaryCtxRelease_v2", 0), 0);
        QCOMPARE(driver.call("cuMemAlloc_v2", &address, size_t(64)), int(kInvalidContext));
    }

    void devicesAreAsTheEnvironmentSays()
    {
        const OpenedDriver driver(Environment{{"LATHE_CUDA_DRIVER_CAPABILITY", "7.5,9.0"},
                                              {"LATHE_CUDA_DRIVER_DEVICES", "3"},
                                              {"LATHE_CUDA_DRIVER_MEMORY", "1000000"},
                                              {"CUDA_VISIBLE_DEVICES", "2,0,9,1"}});
        int count = 0;
        QCOMPARE(driver.call("cuDeviceGetCount", &count), 0);
        QCOMPARE(count, 2); // the list ends at the first that is none
        char name[100];
        QCOMPARE(driver.call("cuDeviceGetName", static_cast<char*>(name), 100, 0), 0);
        QCOMPARE(QString::fromLatin1(name), QStringLiteral("Lathe driver on the CPU (sm_90, modelled times)"));
        const auto attribute = [&](int which, int device) {
            int value = -1;
            driver.call("cuDeviceGetAttribute", &value, which, device);
            return value;
        };
        QCOMPARE(attribute(kCapabilityMajor, 1), 7);
        QCOMPARE(attribute(kCapabilityMinor, 1), 5);
        QCOMPARE(attribute(kMaxSharedPerBlockOptin, 0), 227 << 10);
        QCOMPARE(attribute(kMaxThreadsPerMultiprocessor, 1), 1024);
        QCOMPARE(attribute(kMaxSharedPerBlockOptin, 2), -1);
        int device = 0;
        QCOMPARE(driver.call("cuDeviceGet", &device, 2), int(kInvalidDevice));
        Uuid first{}, second{};
        driver.call("cuDeviceGetUuid_v2", &first, 0);
        driver.call("cuDeviceGetUuid_v2", &second, 1);
        QVERIFY(std::memcmp(&first, &second, sizeof(Uuid)) != 0);
        driver.context();
        uint64_t address = 0;
        QCOMPARE(driver.call("cuMemAlloc_v2", &address, size_t(1000001)), int(kOutOfMemory));
        QCOMPARE(driver.call("cuMemAlloc_v2", &address, size_t(600000)), 0);
        uint64_t another = 0;
        QCOMPARE(driver.call("cuMemAlloc_v2", &another, size_t(600000)), int(kOutOfMemory));
        QCOMPARE(driver.call("cuMemFree_v2", address), 0);
        QCOMPARE(driver.call("cuMemAlloc_v2", &another, size_t(600000)), 0);
    }

    void copiesStayWithinAnAllocation()
    {
        const OpenedDriver driver;
        driver.context();
        const uint64_t a = driver.put(std::vector<uint32_t>{1, 2, 3, 4});
        uint32_t four[4] = {};
        QCOMPARE(driver.call("cuMemcpyDtoHAsync_v2", static_cast<void*>(four), a + 4, size_t(12),
                             static_cast<void*>(nullptr)),
                 0);
        QCOMPARE(four[2], 4u);
        QCOMPARE(driver.call("cuMemcpyDtoHAsync_v2", static_cast<void*>(four), a + 4, size_t(16),
                             static_cast<void*>(nullptr)),
                 int(kInvalidValue));
        QCOMPARE(driver.call("cuMemcpyHtoDAsync_v2", a - 4, static_cast<const void*>(four), size_t(4),
                             static_cast<void*>(nullptr)),
                 int(kInvalidValue));
        QCOMPARE(driver.call("cuMemcpyDtoHAsync_v2", static_cast<void*>(four), a, size_t(4), static_cast<void*>(four)),
                 int(kInvalidHandle));
        QCOMPARE(driver.call("cuMemsetD32Async", a, 9U, size_t(2), static_cast<void*>(nullptr)), 0);
        QCOMPARE(driver.get<uint32_t>(a, 4), (std::vector<uint32_t>{9, 9, 3, 4}));
        QCOMPARE(driver.call("cuMemsetD32Async", a + 2, 9U, size_t(1), static_cast<void*>(nullptr)),
                 int(kInvalidValue));
        QCOMPARE(driver.call("cuMemsetD32Async", a, 9U, size_t(5), static_cast<void*>(nullptr)), int(kInvalidValue));
    }

    void modulesAreRefusedWithTheRightCode()
    {
        const OpenedDriver driver(
            Environment{{"LATHE_CUDA_DRIVER_CAPABILITY", "7.5"}, {"LATHE_CUDA_DRIVER_VERSION", "12020"}});
        driver.context();
        const auto edited = [](std::string text, const std::string& from, const std::string& to) {
            return text.replace(text.find(from), from.size(), to);
        };
        const std::string good = edited(edited(adding(), "8.4", "8.2"), "sm_80", "sm_75");
        QCOMPARE(load(driver, good.c_str()), 0);
        QCOMPARE(load(driver, edited(good, "8.2", "8.3").c_str()), int(kUnsupportedPtxVersion));
        QCOMPARE(load(driver, edited(good, "sm_75", "sm_80").c_str()), int(kInvalidPtx));
        QCOMPARE(load(driver, "\x7f"
                              "ELF and so on"),
                 int(kNoBinaryForGpu));
        QCOMPARE(load(driver, "hello"), int(kInvalidImage));
        char log[300];
        QCOMPARE(load(driver, edited(good, "add.u32 %r6, %r6, %r5", "mma.sync.aligned.m16n8k8.row %r6, %r5").c_str(),
                      log, sizeof(log)),
                 int(kInvalidPtx));
        QVERIFY2(std::strstr(log, "PTX line") && std::strstr(log, "mma.sync.aligned.m16n8k8.row"), log);
        const std::string large = edited(edited(withShared(49153), "8.4", "8.2"), "sm_80", "sm_75");
        QCOMPARE(load(driver, large.c_str()), int(kInvalidPtx));
        void *module = nullptr, *function = nullptr;
        QCOMPARE(driver.call("cuModuleLoadData", &module, static_cast<const void*>(good.c_str())), 0);
        QCOMPARE(driver.call("cuModuleGetFunction", &function, module, "tset"), int(kNotFound));
        QCOMPARE(driver.call("cuModuleGetFunction", &function, static_cast<void*>(&function), "test"),
                 int(kInvalidHandle));
        QCOMPARE(driver.call("cuModuleGetFunction", &function, module, "test"), 0);
        QCOMPARE(driver.call("cuModuleUnload", module), 0);
        QCOMPARE(driver.launch(function, {1, 1, 1}, {1, 1, 1}, {}), int(kInvalidHandle));
    }

    void launchesAreCheckedBeforeTheyRun()
    {
        const OpenedDriver driver;
        driver.context();
        void* const function = driver.function(adding(), "test");
        uint64_t out = driver.put(std::vector<uint32_t>(1024));
        uint32_t by = 3;
        const std::vector<void*> parameters = {&out, &by};
        QCOMPARE(driver.launch(function, {0, 1, 1}, {32, 1, 1}, parameters), int(kInvalidValue));
        QCOMPARE(driver.launch(function, {1, 1, 1}, {1025, 1, 1}, parameters), int(kInvalidValue));
        QCOMPARE(driver.launch(function, {1, 1, 1}, {1, 1, 65}, parameters), int(kInvalidValue));
        QCOMPARE(driver.launch(function, {1, 65536, 1}, {1, 1, 1}, parameters), int(kInvalidValue));
        QCOMPARE(driver.launch(function, {1, 1, 1}, {32, 1, 1}, parameters, 0, &by), int(kInvalidHandle));
        QCOMPARE(driver.call("cuLaunchKernel", function, 1U, 1U, 1U, 1U, 1U, 1U, 0U, static_cast<void*>(nullptr),
                             static_cast<void**>(nullptr), static_cast<void**>(nullptr)),
                 int(kInvalidValue));
        QCOMPARE(driver.launch(function, {1, 1, 1}, {1024, 1, 1}, parameters), 0);
        QCOMPARE(driver.get<uint32_t>(out, 1024)[1023], 3u);
        // Parameters in a buffer: of the size that the kernel has.
        uint8_t buffer[16] = {};
        std::memcpy(buffer, &out, 8);
        std::memcpy(buffer + 8, &by, 4);
        for (const auto& [bytes, code] : {std::pair<size_t, int>(12, 0), {11, kInvalidValue}, {24, kInvalidValue}}) {
            size_t size = bytes;
            void* extra[] = {reinterpret_cast<void*>(1), buffer, reinterpret_cast<void*>(2), &size, nullptr};
            QCOMPARE(driver.call("cuLaunchKernel", function, 1U, 1U, 1U, 1024U, 1U, 1U, 0U, static_cast<void*>(nullptr),
                                 static_cast<void**>(nullptr), static_cast<void**>(extra)),
                     code);
        }
        QCOMPARE(driver.get<uint32_t>(out, 1024)[1023], 6u);
        QCOMPARE(driver.log(), QString());
    }

    void sharedMemoryBeyondTheUsualIsAskedFor()
    {
        const OpenedDriver driver;
        driver.context();
        void* const function = driver.function(withShared(1024), "test");
        uint64_t out = 0;
        QCOMPARE(driver.launch(function, {1, 1, 1}, {32, 1, 1}, {&out}, 47 << 10), 0);
        QCOMPARE(driver.launch(function, {1, 1, 1}, {32, 1, 1}, {&out}, 48 << 10), int(kInvalidValue));
        QCOMPARE(driver.call("cuFuncSetAttribute", function, int(kFunctionMaxDynamicShared), 163 << 10),
                 int(kInvalidValue));
        QCOMPARE(driver.call("cuFuncSetAttribute", function, int(kFunctionMaxDynamicShared), 162 << 10), 0);
        QCOMPARE(driver.launch(function, {1, 1, 1}, {32, 1, 1}, {&out}, 162 << 10), 0);
        int blocks = -1;
        QCOMPARE(driver.call("cuOccupancyMaxActiveBlocksPerMultiprocessor", &blocks, function, 256, size_t(40 << 10)),
                 0);
        QCOMPARE(blocks, 3); // 164 KiB hold three of 42
        QCOMPARE(driver.call("cuOccupancyMaxActiveBlocksPerMultiprocessor", &blocks, function, 1024, size_t(0)), 0);
        QCOMPARE(blocks, 2);
    }

    void threadsAreLimitedByTheKernelAndByRegisters()
    {
        const OpenedDriver driver;
        driver.context();
        std::string limited = adding();
        limited.insert(limited.find("\n{") + 1, ".maxntid 64, 2, 1\n");
        uint64_t out = driver.put(std::vector<uint32_t>(1024));
        uint32_t by = 1;
        void* const function = driver.function(limited, "test");
        QCOMPARE(driver.launch(function, {1, 1, 1}, {128, 1, 1}, {&out, &by}), 0);
        QCOMPARE(driver.launch(function, {1, 1, 1}, {129, 1, 1}, {&out, &by}), int(kInvalidValue));
        // A hundred values that live at once.
        std::string body = std::string(kPlace) + ".reg .f32 %v<100>;\n";
        for (int i = 0; i < 100; ++i)
            body += "cvt.rn.f32.u32 %v" + std::to_string(i) + ", %r4;\n";
        body += "mov.f32 %f1, 0f00000000;\n";
        for (int i = 0; i < 100; ++i)
            body += "add.f32 %f1, %f1, %v" + std::to_string(i) + ";\n";
        std::string text = kernelText(".param .u64 out", body + "st.global.f32 [%d3], %f1;");
        void* const many = driver.function(text, "test");
        int registers = 0;
        QCOMPARE(driver.call("cuFuncGetAttribute", &registers, int(kFunctionRegisters), many), 0);
        QVERIFY(registers > 100 && registers < 128);
        QCOMPARE(driver.launch(many, {1, 1, 1}, {512, 1, 1}, {&out}), 0);
        QCOMPARE(driver.launch(many, {1, 1, 1}, {1024, 1, 1}, {&out}), int(kLaunchOutOfResources));
        // Told how many threads there are, a compiler leaves each warp what it needs, the last one, too, that is not
        // full.
        text.insert(text.find("\n{") + 1, ".maxntid 616, 1, 1\n");
        QCOMPARE(driver.launch(driver.function(text, "test"), {1, 1, 1}, {616, 1, 1}, {&out}), 0);
    }

    void aFaultStaysUntilTheContextIsReleased()
    {
        const OpenedDriver driver;
        driver.context();
        uint64_t out = driver.put(std::vector<uint32_t>(32));
        uint32_t by = 1;
        QCOMPARE(driver.launch(driver.function(adding(), "test"), {1, 1, 1}, {33, 1, 1}, {&out, &by}), 0);
        QCOMPARE(driver.synchronize(), int(kIllegalAddress));
        uint64_t more = 0;
        QCOMPARE(driver.call("cuMemAlloc_v2", &more, size_t(4)), int(kIllegalAddress));
        QCOMPARE(driver.call("cuMemFree_v2", out), int(kIllegalAddress));
        QVERIFY(driver.log().contains(QStringLiteral("fault in kernel test, PTX line")));
        QVERIFY(driver.log().contains(QStringLiteral("thread (32,0,0) of block (0,0,0)")));
        QCOMPARE(driver.call("cuDevicePrimaryCtxRelease_v2", 0), 0);
        driver.context();
        QCOMPARE(driver.synchronize(), 0);
        QCOMPARE(driver.call("cuMemFree_v2", out), int(kInvalidValue)); // it went with the context
    }

    void findingsAreErrorsIfAsked()
    {
        const std::string racing = kernelText(".param .u64 out", std::string(kPlace) + "st.global.u32 [%d1], %r4;");
        for (const bool strict : {false, true}) {
            const OpenedDriver driver(Environment{{"LATHE_CUDA_DRIVER_STRICT", strict ? "1" : "0"}});
            driver.context();
            uint64_t out = driver.put(std::vector<uint32_t>(32));
            QCOMPARE(driver.launch(driver.function(racing, "test"), {2, 1, 1}, {1, 1, 1}, {&out}), 0);
            QCOMPARE(driver.synchronize(), strict ? int(kAssert) : 0);
            QVERIFY(driver.log().startsWith(QStringLiteral("race in kernel test, PTX line ")));
        }
        const OpenedDriver unchecked(Environment{{"LATHE_CUDA_DRIVER_CHECKS", "0"}});
        unchecked.context();
        uint64_t out = unchecked.put(std::vector<uint32_t>(32));
        QCOMPARE(unchecked.launch(unchecked.function(racing, "test"), {2, 1, 1}, {1, 1, 1}, {&out}), 0);
        QCOMPARE(unchecked.log(), QString());
    }

    void copiesThatArriveAtTwoTimesAreCompared()
    {
        // Reads the place of the copy before it waits: what comes out depends on when it arrives.
        const std::string text = kernelText(
            ".param .u64 out",
            std::string(kPlace)
                + ".shared .align 4 .b8 room[128];\nmov.u32 %r8, room;\nshl.b32 %r9, %r1, 2;\nadd.s32 %r9, %r9, %r8;\n"
                  "st.shared.u32 [%r9], 5;\ncp.async.ca.shared.global [%r9], [%d3], 4;\nld.shared.u32 %r10, "
                  "[%r9];\ncp.async.wait_all;\nst.global.u32 [%d3+128], %r10;");
        for (const auto& [how, wanted] : {std::pair<const char*, uint32_t>("eager", 7), {"lazy", 5}, {"both", 5}}) {
            const OpenedDriver driver(Environment{{"LATHE_CUDA_DRIVER_COPIES", how}});
            driver.context();
            uint64_t out = driver.put(std::vector<uint32_t>(64, 7));
            QCOMPARE(driver.launch(driver.function(text, "test"), {1, 1, 1}, {32, 1, 1}, {&out}), 0);
            QCOMPARE(driver.get<uint32_t>(out, 64)[40], wanted);
            QCOMPARE(driver.log().contains(QStringLiteral("depend on when cp.async brings its data")),
                     std::string(how) == "both");
        }
    }

    void capturesRecordAndRunNothing()
    {
        const OpenedDriver driver;
        driver.context();
        void* const function = driver.function(adding(), "test");
        uint64_t out = driver.put(std::vector<uint32_t>(32));
        uint32_t by = 2;
        void* const s = stream(driver);
        QCOMPARE(driver.call("cuStreamBeginCapture_v2", s, int(kCaptureThreadLocal)), 0);
        QCOMPARE(driver.call("cuStreamBeginCapture_v2", s, int(kCaptureThreadLocal)), int(kIllegalState));
        QCOMPARE(driver.call("cuMemsetD32Async", out, 10U, size_t(32), s), 0);
        QCOMPARE(driver.launch(function, {1, 1, 1}, {32, 1, 1}, {&out, &by}, 0, s), 0);
        by = 5; // parameters were taken at the launch
        QCOMPARE(driver.launch(function, {1, 1, 1}, {32, 1, 1}, {&out, &by}, 0, s), 0);
        int status = -1;
        QCOMPARE(driver.call("cuStreamIsCapturing", s, &status), 0);
        QCOMPARE(status, int(kCaptureActive));
        void *graph = nullptr, *exec = nullptr;
        QCOMPARE(driver.call("cuStreamEndCapture", s, &graph), 0);
        QCOMPARE(driver.get<uint32_t>(out, 1)[0], 0u);
        QCOMPARE(driver.call("cuGraphInstantiateWithFlags", &exec, graph, 0ULL), 0);
        size_t nodes = 0;
        QCOMPARE(driver.call("cuGraphGetNodes", graph, static_cast<void**>(nullptr), &nodes), 0);
        QCOMPARE(nodes, size_t(3));
        QCOMPARE(driver.call("cuGraphDestroy", graph), 0);
        QCOMPARE(driver.call("cuGraphLaunch", exec, s), 0);
        QCOMPARE(driver.call("cuStreamSynchronize", s), 0);
        QCOMPARE(driver.get<uint32_t>(out, 32)[31], 17u);
        QCOMPARE(driver.call("cuGraphExecDestroy", exec), 0);
        QCOMPARE(driver.call("cuGraphLaunch", exec, s), int(kInvalidValue));
    }

    void aCaptureIsInvalidAfterWhatItForbids()
    {
        const OpenedDriver driver;
        driver.context();
        void* const s = stream(driver);
        void* graph = nullptr;
        QCOMPARE(driver.call("cuStreamEndCapture", s, &graph), int(kIllegalState));
        const auto forbids = [&](int code, int wanted) {
            QCOMPARE(code, wanted);
            QCOMPARE(driver.call("cuStreamEndCapture", s, &graph), int(kStreamCaptureInvalidated));
            QVERIFY(!graph);
        };
        uint64_t address = 0;
        driver.call("cuStreamBeginCapture_v2", s, int(kCaptureGlobal));
        forbids(driver.call("cuMemAlloc_v2", &address, size_t(4)), kStreamCaptureUnsupported);
        driver.call("cuStreamBeginCapture_v2", s, int(kCaptureGlobal));
        forbids(driver.call("cuStreamSynchronize", s), kStreamCaptureUnsupported);
        driver.call("cuStreamBeginCapture_v2", s, int(kCaptureRelaxed));
        QCOMPARE(driver.call("cuMemAlloc_v2", &address, size_t(4)), 0);
        QCOMPARE(driver.call("cuStreamEndCapture", s, &graph), 0);
        // Another stream joins by an event, and has to be waited for.
        void *other = stream(driver), *event = nullptr;
        driver.call("cuEventCreate", &event, 0U);
        for (const bool joined : {false, true}) {
            driver.call("cuStreamBeginCapture_v2", s, int(kCaptureGlobal));
            QCOMPARE(driver.call("cuEventRecord", event, s), 0);
            QCOMPARE(driver.call("cuStreamWaitEvent", other, event, 0U), 0);
            QCOMPARE(driver.call("cuMemsetD32Async", address, 1U, size_t(1), other), 0);
            if (joined) {
                driver.call("cuEventRecord", event, other);
                driver.call("cuStreamWaitEvent", s, event, 0U);
            }
            QCOMPARE(driver.call("cuStreamEndCapture", s, &graph), joined ? 0 : int(kStreamCaptureUnjoined));
        }
    }

    void aCaptureForbidsWhatItsModeAndThatOfTheThreadSay()
    {
        const OpenedDriver driver;
        void* const context = driver.context();
        void* const s = stream(driver);
        const auto allocated = [&] {
            uint64_t address = 0;
            const int code = driver.call("cuMemAlloc_v2", &address, size_t(4));
            return code != 0 ? code : driver.call("cuMemFree_v2", address);
        };
        const auto allocatedElsewhere = [&](int mode) {
            int code = -1;
            std::thread([&] {
                driver.call("cuCtxSetCurrent", context);
                code = driver.call("cuThreadExchangeStreamCaptureMode", &mode);
                code = code != 0 ? code : allocated();
            }).join();
            return code;
        };
        const auto ends = [&] {
            void* graph = nullptr;
            return driver.call("cuStreamEndCapture", s, &graph);
        };
        driver.call("cuStreamBeginCapture_v2", s, int(kCaptureThreadLocal));
        QCOMPARE(allocatedElsewhere(kCaptureGlobal), 0);
        int mode = kCaptureRelaxed;
        QCOMPARE(driver.call("cuThreadExchangeStreamCaptureMode", &mode), 0);
        QCOMPARE(mode, int(kCaptureGlobal));
        QCOMPARE(allocated(), 0);
        void* memory = nullptr;
        QCOMPARE(driver.call("cuMemHostAlloc", &memory, size_t(4), 0U), 0);
        QCOMPARE(driver.call("cuMemFreeHost", memory), 0);
        QCOMPARE(driver.call("cuThreadExchangeStreamCaptureMode", &mode), 0);
        QCOMPARE(mode, int(kCaptureRelaxed));
        QCOMPARE(ends(), 0);
        driver.call("cuStreamBeginCapture_v2", s, int(kCaptureGlobal));
        QCOMPARE(allocatedElsewhere(kCaptureThreadLocal), 0);
        QCOMPARE(allocatedElsewhere(kCaptureRelaxed), 0);
        QCOMPARE(ends(), 0);
        driver.call("cuStreamBeginCapture_v2", s, int(kCaptureGlobal));
        QCOMPARE(allocatedElsewhere(kCaptureGlobal), int(kStreamCaptureUnsupported));
        QCOMPARE(ends(), int(kStreamCaptureInvalidated));
        mode = 7;
        QCOMPARE(driver.call("cuThreadExchangeStreamCaptureMode", &mode), int(kInvalidValue));
    }

    void threadsHaveDefaultStreamsBesideTheLegacyOne()
    {
        const OpenedDriver driver;
        void* const context = driver.context();
        void* const legacy = reinterpret_cast<void*>(1);
        void* const ofThread = reinterpret_cast<void*>(2);
        void* found = nullptr;
        QCOMPARE(driver.call("cuStreamGetCtx", ofThread, &found), 0);
        QCOMPARE(found, context);
        QCOMPARE(driver.call("cuStreamGetCtx", static_cast<void*>(&found), &found), int(kInvalidHandle));
        QCOMPARE(driver.call("cuStreamBeginCapture_v2", legacy, int(kCaptureGlobal)), int(kStreamCaptureUnsupported));
        QCOMPARE(driver.call("cuStreamBeginCapture_v2", ofThread, int(kCaptureGlobal)), 0);
        int status = -1, elsewhere = -1;
        QCOMPARE(driver.call("cuStreamIsCapturing", ofThread, &status), 0);
        std::thread([&] {
            driver.call("cuCtxSetCurrent", context);
            driver.call("cuStreamIsCapturing", ofThread, &elsewhere);
        }).join();
        QCOMPARE(status, int(kCaptureActive));
        QCOMPARE(elsewhere, int(kCaptureNone));
        QCOMPARE(driver.call("cuStreamIsCapturing", legacy, &status), int(kStreamCaptureImplicit));
        void* graph = nullptr;
        QCOMPARE(driver.call("cuStreamEndCapture", ofThread, &graph), 0); // to ask did it no harm
        QCOMPARE(driver.call("cuStreamIsCapturing", legacy, &status), 0);
        QCOMPARE(status, int(kCaptureNone));
    }

    void eventsTellTheTimeOfTheModel()
    {
        const OpenedDriver driver(Environment{{"LATHE_CUDA_DRIVER_COUNTERS", "1"}});
        driver.context();
        void* const function = driver.function(adding(), "test");
        uint64_t out = driver.put(std::vector<uint32_t>(256));
        uint32_t by = 2;
        void *start = nullptr, *end = nullptr, *untimed = nullptr;
        driver.call("cuEventCreate", &start, 0U);
        driver.call("cuEventCreate", &end, 0U);
        driver.call("cuEventCreate", &untimed, 2U);
        float first = 0, second = 0;
        QCOMPARE(driver.call("cuEventElapsedTime", &first, start, end), int(kInvalidHandle)); // not recorded
        const auto timed = [&](unsigned blocks, float& into) {
            QCOMPARE(driver.call("cuEventRecord", start, static_cast<void*>(nullptr)), 0);
            for (unsigned i = 0; i < blocks; ++i)
                QCOMPARE(driver.launch(function, {1, 1, 1}, {256, 1, 1}, {&out, &by}), 0);
            QCOMPARE(driver.call("cuEventRecord", end, static_cast<void*>(nullptr)), 0);
            QCOMPARE(driver.call("cuEventElapsedTime", &into, start, end), 0);
        };
        timed(1, first);
        timed(4, second);
        QVERIFY(first > 4e-3F); // the gap of a launch, in milliseconds
        QVERIFY(std::abs(second - 4 * first) < 1e-6F);
        driver.call("cuEventRecord", untimed, static_cast<void*>(nullptr));
        QCOMPARE(driver.call("cuEventElapsedTime", &first, start, untimed), int(kInvalidHandle));
        const QJsonObject counters =
            QJsonDocument::fromJson(driver.log().split(QLatin1Char('\n'))[0].toUtf8()).object();
        QCOMPARE(counters[QStringLiteral("kernel")].toString(), QStringLiteral("test"));
        QCOMPARE(counters[QStringLiteral("global_sectors")].toInt(), 64);
        QCOMPARE(counters[QStringLiteral("global_sectors_ideal")].toInt(), 64);
        QCOMPARE(counters[QStringLiteral("global_written_bytes")].toInt(), 1024);
        QVERIFY(counters[QStringLiteral("model_seconds")].toDouble() > 4e-6);
    }

    void faultsComeOnDemand()
    {
        uint32_t by = 1;
        for (const auto& [name, code] : {std::pair<const char*, int>("LATHE_CUDA_DRIVER_ECC_AT", kEccUncorrectable),
                                         {"LATHE_CUDA_DRIVER_LOST_AT", kUnknown}}) {
            const OpenedDriver driver(Environment{{name, "2"}});
            driver.context();
            uint64_t out = driver.put(std::vector<uint32_t>(32));
            void* const function = driver.function(adding(), "test");
            QCOMPARE(driver.launch(function, {1, 1, 1}, {32, 1, 1}, {&out, &by}), 0);
            QCOMPARE(driver.synchronize(), 0);
            QCOMPARE(driver.launch(function, {1, 1, 1}, {32, 1, 1}, {&out, &by}), 0);
            QCOMPARE(driver.synchronize(), code);
            driver.call("cuDevicePrimaryCtxRelease_v2", 0);
            void* context = nullptr;
            QCOMPARE(driver.call("cuDevicePrimaryCtxRetain", &context, 0),
                     code == kUnknown ? int(kDeviceUnavailable) : 0);
        }
    }

    void whatIsKnownIsNotRunAgain()
    {
        const std::string text =
            ".version 8.4\n.target sm_80\n.address_size 64\n.visible .entry test(.param .u64 out, .param .u64 in)\n{\n"
            ".reg .b32 %r<4>;\n.reg .b64 %d<6>;\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %d1, %r1, 4;\nld.param.u64 %d2, "
            "[in];\nadd.s64 %d2, %d2, %d1;\nld.global.u32 %r2, [%d2];\nadd.u32 %r2, %r2, 1;\nld.param.u64 %d3, "
            "[out];\nadd.s64 %d3, %d3, %d1;\nst.global.u32 [%d3], %r2;\nret;\n}\n";
        for (const char* const switched : {"1", "0"}) {
            const OpenedDriver driver(
                Environment{{"LATHE_CUDA_DRIVER_COUNTERS", "1"}, {"LATHE_CUDA_DRIVER_REUSE", switched}});
            driver.context();
            void* const function = driver.function(text, "test");
            QVERIFY(function);
            uint64_t out = driver.put(std::vector<uint32_t>(32)), in = driver.put(std::vector<uint32_t>(32, 7));
            uint64_t other = driver.put(std::vector<uint32_t>(32, 9)), beside = driver.put(std::vector<uint32_t>(32));
            std::vector<bool> reused;
            const auto launch = [&](uint64_t to, uint64_t from) {
                QCOMPARE(driver.launch(function, {1, 1, 1}, {32, 1, 1}, {&to, &from}), 0);
                const QStringList lines = driver.log().split(QLatin1Char('\n'), Qt::SkipEmptyParts);
                const QJsonObject counters = QJsonDocument::fromJson(lines.last().toUtf8()).object();
                QCOMPARE(counters[QStringLiteral("launch")].toInt(), lines.size());
                QCOMPARE(counters[QStringLiteral("thread_instructions")].toInt(), 32 * 10);
                QVERIFY(counters[QStringLiteral("model_seconds")].toDouble() > 0);
                reused.push_back(counters[QStringLiteral("reused")].toInt() == 1);
            };
            const std::vector<uint32_t> five(32, 5);
            const auto write = [&](uint64_t to) {
                QCOMPARE(driver.call("cuMemcpyHtoD_v2", to, static_cast<const void*>(five.data()), size_t(128)), 0);
            };
            launch(out, in);
            launch(out, in); // nothing has changed
            write(beside);
            launch(out, in); // nor does what it has nothing to do with
            QCOMPARE(driver.get<uint32_t>(out, 32), std::vector<uint32_t>(32, 8));
            write(in);
            launch(out, in);
            QCOMPARE(driver.get<uint32_t>(out, 32), std::vector<uint32_t>(32, 6));
            write(out);
            launch(out, in);
            QCOMPARE(driver.get<uint32_t>(out, 32), std::vector<uint32_t>(32, 6));
            launch(out, other); // another parameter
            launch(out, in); // written by another launch meanwhile
            QCOMPARE(driver.get<uint32_t>(out, 32), std::vector<uint32_t>(32, 6));
            launch(in, in); // in place: each time another result
            launch(in, in);
            QCOMPARE(driver.get<uint32_t>(in, 32), std::vector<uint32_t>(32, 7));
            std::vector<bool> expected(9, false);
            expected[1] = expected[2] = switched[0] == '1';
            QCOMPARE(reused, expected);
            // A place that was released and given out again is another one.
            launch(beside, other);
            QCOMPARE(driver.call("cuMemFree_v2", other), 0);
            QVERIFY(driver.put(std::vector<uint32_t>(32, 1)) != 0);
            QCOMPARE(driver.launch(function, {1, 1, 1}, {32, 1, 1}, {&beside, &other}), 0);
            QCOMPARE(driver.synchronize(), int(kIllegalAddress));
        }
    }

    void aKernelThatHangsIsNeverDone()
    {
        const OpenedDriver driver(Environment{{"LATHE_CUDA_DRIVER_HANG_AT", "1"}});
        void* const context = driver.context();
        uint64_t out = driver.put(std::vector<uint32_t>(32));
        uint32_t by = 1;
        QCOMPARE(driver.launch(driver.function(adding(), "test"), {1, 1, 1}, {32, 1, 1}, {&out, &by}), 0);
        QCOMPARE(driver.call("cuStreamQuery", static_cast<void*>(nullptr)), int(kNotReady));
        static std::atomic<bool> isDone{false};
        std::thread([&driver, context] {
            driver.call("cuCtxSetCurrent", context);
            driver.call("cuStreamSynchronize", static_cast<void*>(nullptr));
            isDone = true;
        }).detach();
        QTest::qWait(200);
        QVERIFY(!isDone);
        driver.call("cuDevicePrimaryCtxReset_v2", 0); // lets the thread go
        QTRY_VERIFY(isDone);
    }
};

LATHE_TEST_GUILESS(TestCudaDriver)

} // namespace tst_cuda_driver

#include "tst_cuda_driver.moc"
