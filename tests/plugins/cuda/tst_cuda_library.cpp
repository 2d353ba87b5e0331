#include "tests/plugins/cuda/cuda_fixture.h"
#include "tests/plugins/cuda/library_fixture.h"
#include "tests/plugins/library_cases.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <utility>

namespace tst_cuda_library {

using namespace lathe;
using namespace lathe::test;
using runtime::Status;

/// The driver of exported libraries on whatever driver of CUDA is here, mostly the one on the processor.
class TestCudaLibrary : public QObject
{
    Q_OBJECT

    const cuda::Driver* m_driver = nullptr;
    std::vector<std::byte> m_code; ///< of doubledAndOnePtx()

    /// What is true of each back end's.
    LibraryCases<lathe_driver_cuda> cases() const { return {"cuda -arch=sm_50", "CUDA", m_code}; }
    /// The primary context of a device, as a program of the caller's has it.
    cuda::Context callersContext(int ordinal = 0) const
    {
        cuda::Context context = nullptr;
        m_driver->primaryContextRetain(&context, ordinal);
        return context;
    }
    static void has(const std::string& text, const QString& part)
    {
        QVERIFY2(QString::fromStdString(text).contains(part), text.c_str());
    }

private slots:
    void initTestCase()
    {
        qputenv("LATHE_CUDA_DRIVER_DEVICES", "2"); // of the one on the processor
        qunsetenv("LATHE_CUDA_DEVICE");
        if (const std::string problem = noDevice(); !problem.empty()) {
            QVERIFY2(!isCudaDemanded(), problem.c_str());
            QSKIP(problem.c_str());
        }
        const char* problem = "";
        m_driver = cuda::openDriver(problem);
        m_code = packed({doubledAndOnePtx(), {}, {}, "k_0\nk_1\n"});
    }

    void aDeviceIsHere()
    {
        runtime::ErrorText missing;
        QVERIFY2(kLibrary.isHere("cuda -arch=sm_50 -host=x86_64-linux-gnu", missing), missing.text);
        QVERIFY(!kLibrary.isHere("cuda -arch=sm_990", missing));
        has(missing.text, "the code is for sm_990 and later, and cuda0 (");
        QCOMPARE(QString(kLibrary.kind), QStringLiteral("cuda"));
        const Context context = must(openLibrary(m_code));
        QVERIFY(kLibrary.name(context.get())[0] != '\0');
        const auto refused = openLibrary(m_code, {.target = "cuda -arch=sm_990"});
        QVERIFY(refused.status == Status::InvalidArgument);
    }

    void launchesComputeWhatTheyShould() { cases().launchesComputeWhatTheyShould(); }
    void memoryOfNoBytesIsNull() { cases().memoryOfNoBytesIsNull(); }
    void memoryBeginsWithWhatItIsGiven() { cases().memoryBeginsWithWhatItIsGiven(); }
    void launchesHoldTheMemoryOfTheirBuffers() { cases().launchesHoldTheMemoryOfTheirBuffers(); }
    void aCopyBeyondItsMemoryIsRefused() { cases().aCopyBeyondItsMemoryIsRefused(); }

    void whatCannotBeStartedIsRefused_data()
    {
        QTest::addColumn<QString>("what");
        QTest::addColumn<int>("status");
        QTest::addColumn<QString>("says");
        const auto add = [](const char* what, Status status, const char* says) {
            QTest::newRow(what) << what << static_cast<int>(status) << says;
        };
        add("threads", Status::KernelFailed, "a block of kernel k_0 has 4096 threads; this device starts at most 1024");
        add("along", Status::KernelFailed, "has 65 threads of a block along z; this device starts at most 64");
        add("shared", Status::KernelFailed, "needs 536870912 bytes of shared memory; this device has ");
        add("nothing", Status::InvalidArgument, "cannot have 0 blocks");
        add("symbol", Status::InvalidArgument, "no CUDA code for kernel k_9");
        add("buffers", Status::InvalidArgument, "has 2 parameters, and a launch of it 1 buffers");
    }
    void whatCannotBeStartedIsRefused()
    {
        QFETCH(QString, what);
        QFETCH(int, status);
        QFETCH(QString, says);
        runtime::LaunchRequest request = doubledLaunch(what == "symbol" ? "k_9" : "k_0");
        if (what == "threads")
            request.block[1] = 256;
        else if (what == "along")
            request.block[2] = 65;
        else if (what == "shared")
            request.sharedBytes = std::uint64_t{1} << 29;
        else if (what == "nothing")
            request.grid[0] = 0;
        cases().refuses(request, what == "buffers" ? 1 : 2, static_cast<Status>(status), says);
    }

    /// What the compiler does not take with its size is asked for when the kernel is made ready.
    void muchSharedMemoryIsAskedFor()
    {
        const Context context = must(openLibrary(m_code));
        const Queue queue = must(start(context));
        const Memory x = must(allocate(context, kFloatBytes)), y = must(allocate(context, kFloatBytes));
        DriverTable table;
        static int asked = 0;
        static unsigned given = 0;
        table->functionSetAttribute = [](cuda::Function, int attribute, int value) {
            asked = attribute == 8 ? value : -1;
            return int(cuda::kSuccess);
        };
        table->launch = [](cuda::Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned shared,
                           cuda::Stream, void**, void**) {
            given = shared;
            return int(cuda::kSuccess);
        };
        runtime::LaunchRequest request = doubledLaunch("k_0");
        for (const std::uint64_t bytes : {std::uint64_t{48} << 10, std::uint64_t{64} << 10, std::uint64_t{50} << 10}) {
            request.sharedBytes = bytes;
            const Launch launch = must(prepare(queue, request, {x.get(), y.get()}));
            QCOMPARE(problemOf(kLibrary.launch, queue.get(), launch.get()), std::string());
            QCOMPARE(given, bytes > (48 << 10) ? unsigned(bytes) : 0u);
        }
        QCOMPARE(asked, 64 << 10); // the last one needs less
    }

    void codeIsTakenInTheFormThatRuns_data()
    {
        QTest::addColumn<std::string>("text");
        QTest::addColumn<std::string>("binary");
        QTest::addColumn<std::string>("madeFor");
        QTest::addColumn<QString>("says"); ///< empty: it runs
        const std::string good = doubledAndOnePtx(),
                          cubin = "\x7f" + std::string("ELF").append(4093, '\0'); // of another machine
        QTest::newRow("text") << good << std::string() << std::string() << QString();
        QTest::newRow("a cubin that the driver refuses") << good << cubin << std::string("sm_80") << QString();
        QTest::newRow("a cubin of another generation") << good << cubin << std::string("sm_50") << QString();
        QTest::newRow("no text") << std::string() << cubin << std::string("sm_50")
                                 << "kernel k_0 was compiled for sm_50, and this device, of sm_";
        QTest::newRow("text for a later driver") << doubledAndOnePtx("99.0") << std::string() << std::string()
                                                 << "the NVIDIA driver is too old for the library: it supports CUDA ";
        QTest::newRow("no text of PTX") << std::string(".version 7.0\n.target sm_50\nnonsense") << std::string()
                                        << std::string() << "the NVIDIA driver refuses kernel k_0: ";
    }
    void codeIsTakenInTheFormThatRuns()
    {
        QFETCH(std::string, text);
        QFETCH(std::string, binary);
        QFETCH(std::string, madeFor);
        QFETCH(QString, says);
        const std::vector<std::byte> code = packed({text, binary, madeFor, "k_0\nk_1\n"});
        const Context context = must(openLibrary(code));
        const Queue queue = must(start(context));
        if (says.isEmpty()) {
            QCOMPARE(run(queue, doubled(context, queue)), QString());
            return;
        }
        const Memory x = must(allocate(context, kFloatBytes)), y = must(allocate(context, kFloatBytes));
        for (int time = 0; time < 2; ++time) { // the second is told the same, without another try
            const auto refused = prepare(queue, doubledLaunch("k_0"), {x.get(), y.get()});
            QVERIFY(refused.status == Status::KernelFailed);
            has(refused.says, says);
        }
    }

    /// The one on the processor takes no cubins: here something else is loaded for them.
    void aCubinOfItsGenerationIsLoaded()
    {
        DriverTable table;
        static int binaries = 0, texts = 0;
        binaries = texts = 0;
        table->moduleLoad = [](cuda::LoadedModule* module, const void* image, unsigned count, int* options,
                               void** values) {
            const bool isBinary = std::strncmp(static_cast<const char*>(image), "cubin", 5) == 0;
            ++(isBinary ? binaries : texts);
            const std::string text = doubledAndOnePtx();
            return DriverTable::before().moduleLoad(module, isBinary ? text.c_str() : image, count, options, values);
        };
        const int device = must(openLibrary(m_code))->gpu.capability;
        const auto generation = [device](int minor) { return "sm_" + std::to_string(device / 10 * 10 + minor); };
        int loaded = 0, compiled = 0;
        for (const auto& [madeFor, isTaken] : {std::pair{generation(0), true},
                                               {"sm_" + std::to_string(device), true},
                                               {generation(9), device % 10 == 9},
                                               {std::string("sm_50"), device < 60}}) {
            const std::vector<std::byte> code = packed({doubledAndOnePtx(), "cubin", madeFor, "k_0\nk_1\n"});
            const Context context = must(openLibrary(code));
            const Queue one = must(start(context)), other = must(start(context));
            QCOMPARE(run(one, doubled(context, one)), QString());
            QCOMPARE(run(other, doubled(context, other)), QString()); // the same module
            ++(isTaken ? loaded : compiled);
            QVERIFY2(binaries == loaded && texts == compiled, madeFor.c_str());
        }
    }

    void damagedCodeIsRefused()
    {
        std::vector<std::byte> cut(m_code.begin(), m_code.end() - 8);
        has(openLibrary(cut).says, "the library's CUDA code is damaged: its packages do not hold together");
        std::vector<std::byte> twice = m_code;
        const std::vector<std::byte> other = packed({doubledAndOnePtx("7.1"), {}, {}, "k_0\n"});
        twice.insert(twice.end(), other.begin(), other.end());
        has(openLibrary(twice).says, "two of its programs have a launch of the same name");
        const std::vector<std::byte> nameless = packed({doubledAndOnePtx(), {}, {}, "\n"});
        has(openLibrary(nameless).says, "it names a launch as no function can be named");
    }

    /// When there is memory again, the next instance is made.
    void memoryThatLacksForCodeMayBeThereLater_data()
    {
        QTest::addColumn<bool>("isBinary");
        QTest::newRow("a cubin") << true;
        QTest::newRow("text") << false;
    }
    void memoryThatLacksForCodeMayBeThereLater()
    {
        QFETCH(bool, isBinary);
        const std::string madeFor = "sm_" + std::to_string(must(openLibrary(m_code))->gpu.capability / 10 * 10);
        const std::vector<std::byte> code = packed(
            {doubledAndOnePtx(), isBinary ? "cubin" : "", isBinary ? madeFor : "", "k_0\nk_1\n"});
        const Context context = must(openLibrary(code));
        const Queue queue = must(start(context));
        const Memory x = must(allocate(context, kFloatBytes)), y = must(allocate(context, kFloatBytes));
        {
            DriverTable table;
            table->moduleLoad = [](cuda::LoadedModule*, const void*, unsigned, int*, void**) {
                return int(cuda::kOutOfMemory);
            };
            const auto refused = prepare(queue, doubledLaunch("k_0"), {x.get(), y.get()});
            QVERIFY(refused.status == Status::NoMemory);
            has(refused.says, "CUDA refuses kernel k_0: ");
            has(refused.says, "CUDA_ERROR_OUT_OF_MEMORY, 2)");
        }
        QVERIFY(prepare(queue, doubledLaunch("k_0"), {x.get(), y.get()}).status == Status::Ok);
    }

    void theDriversOwnRefusalIsNamed()
    {
        const Context context = must(openLibrary(m_code));
        const Queue queue = must(start(context));
        const auto d = doubled(context, queue);
        {
            DriverTable table;
            table->launch = [](cuda::Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                               cuda::Stream, void**, void**) { return int(cuda::kLaunchOutOfResources); };
            table->streamSynchronize = [](cuda::Stream) { return int(cuda::kIllegalAddress); };
            table->memAlloc = [](cuda::Address*, std::size_t) { return int(cuda::kOutOfMemory); };
            const std::string launched = problemOf(kLibrary.launch, queue.get(), d.first.get());
            has(launched, "CUDA refuses kernel k_0: ");
            has(launched, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, 701)");
            const std::string finished = problemOf(kLibrary.finish, queue.get());
            has(finished, "CUDA failed at what was in the stream: ");
            has(finished, "CUDA_ERROR_ILLEGAL_ADDRESS, 700)");
            const auto refused = allocate(context, 16);
            QVERIFY(refused.status == Status::NoMemory);
            has(refused.says, "CUDA refuses 16 bytes of memory on ");
        }
        QCOMPARE(run(queue, d), QString());
    }

    void theCallersContextStreamAndMemoryAreTaken()
    {
        cuda::Context const callers = callersContext();
        m_driver->contextSetCurrent(callers);
        cuda::Stream own = nullptr;
        cuda::Address memory = 0;
        QCOMPARE(m_driver->streamCreate(&own, 0), int(cuda::kSuccess));
        QCOMPARE(m_driver->memAlloc(&memory, kFloatBytes), int(cuda::kSuccess));
        {
            const Context context = must(openLibrary(m_code, {.context = callers}));
            const Queue queue = must(start(context, own));
            auto d = doubled(context, queue);
            Memory adopted = must(adopt(context, memory, kFloatBytes));
            d.second = must(prepare(queue, doubledLaunch("k_1"), {d.scratch.get(), adopted.get()}));
            d.y = std::move(adopted);
            QCOMPARE(run(queue, d), QString());

            const auto small = adopt(context, memory, kFloatBytes + 1);
            QVERIFY(small.status == Status::InvalidArgument);
            QCOMPARE(QString::fromStdString(small.says),
                     QStringLiteral("the caller's CUDA memory has 256 bytes, and 257 are needed"));
            const auto behind = adopt(context, memory + 8, kFloatBytes - 4);
            QCOMPARE(QString::fromStdString(behind.says),
                     QStringLiteral("the caller's CUDA memory has 248 bytes, and 252 are needed"));
            QVERIFY(adopt(context, memory + 8, kFloatBytes - 8).status == Status::Ok);
            float onHost = 0;
            for (const cuda::Address wrong : {cuda::Address{0}, reinterpret_cast<cuda::Address>(&onHost)}) {
                const auto refused = adopt(context, wrong, 4);
                QVERIFY(refused.status == Status::InvalidArgument);
                QCOMPARE(QString::fromStdString(refused.says),
                         QStringLiteral("the caller's CUDA memory is no memory of a device"));
            }
        }
        // What is the caller's is still there.
        std::vector<float> values(kFloats);
        QCOMPARE(m_driver->copyToHost(values.data(), memory, kFloatBytes, own), int(cuda::kSuccess));
        QCOMPARE(m_driver->streamSynchronize(own), int(cuda::kSuccess));
        QCOMPARE(values[0], 7.0F);
        for (const auto& [what, code] :
             {std::pair{"stream", m_driver->streamDestroy(own)}, std::pair{"memory", m_driver->memFree(memory)},
              std::pair{"context", m_driver->primaryContextRelease(0)}})
            QVERIFY2(code == cuda::kSuccess, what);
        m_driver->contextSetCurrent(nullptr);
    }

    void whatIsOfAnotherContextIsRefused()
    {
        int devices = 0;
        m_driver->deviceGetCount(&devices);
        if (devices < 2)
            QSKIP("there is one device");
        cuda::Context const other = callersContext(1);
        m_driver->contextSetCurrent(other);
        cuda::Stream stream = nullptr;
        cuda::Address memory = 0;
        QCOMPARE(m_driver->streamCreate(&stream, 0), int(cuda::kSuccess));
        QCOMPARE(m_driver->memAlloc(&memory, kFloatBytes), int(cuda::kSuccess));
        {
            const Context context = must(openLibrary(m_code, {.key = "cuda0"}));
            QVERIFY(adopt(context, memory, 4).status == Status::InvalidArgument);
            const auto refused = start(context, stream);
            QVERIFY(refused.status == Status::InvalidArgument);
            has(refused.says, "the caller's CUDA stream is of another context");
            const auto wrongKey = openLibrary(m_code, {.key = "cuda0", .context = other});
            has(wrongKey.says, "the caller's CUDA context is on cuda1 (");
            QVERIFY(openLibrary(m_code, {.key = "cuda1", .context = other}).status == Status::Ok);
        }
        m_driver->streamDestroy(stream);
        m_driver->memFree(memory);
        m_driver->contextSetCurrent(nullptr);
        m_driver->primaryContextRelease(1);
    }

    /// A program of the caller's has a context of its own at hand, which it finds again.
    void theThreadsContextIsLeftAsItWas()
    {
        const auto current = [this] {
            cuda::Context found = nullptr;
            m_driver->contextGetCurrent(&found);
            return found;
        };
        int devices = 0;
        m_driver->deviceGetCount(&devices);
        for (cuda::Context const before : {cuda::Context{nullptr}, callersContext(devices > 1 ? 1 : 0)}) {
            m_driver->contextSetCurrent(before);
            {
                const Context context = must(openLibrary(m_code));
                QVERIFY(current() == before);
                const Queue queue = must(start(context));
                const auto d = doubled(context, queue);
                QVERIFY(current() == before);
                for (int i = 0; i < 3; ++i) {
                    QCOMPARE(problemOf(kLibrary.beginRun, queue.get()), std::string());
                    QCOMPARE(run(queue, d), QString());
                    QCOMPARE(problemOf(kLibrary.endRun, queue.get()), std::string());
                    QVERIFY(current() == before);
                }
            }
            QVERIFY(current() == before);
        }
        m_driver->contextSetCurrent(nullptr);
        m_driver->primaryContextRelease(devices > 1 ? 1 : 0);
    }

    /// There the driver would only say that it was not initialized.
    void aForkedProcessIsTold()
    {
        const pid_t child = ::fork();
        if (child == 0) {
            runtime::ErrorText missing;
            const bool isHere = kLibrary.isHere("cuda", missing);
            ::_exit(!isHere && std::strstr(missing.text, "before this process was forked off") != nullptr ? 0 : 1);
        }
        int status = -1;
        QCOMPARE(::waitpid(child, &status, 0), child);
        QCOMPARE(status, 0);
        runtime::ErrorText missing;
        QVERIFY2(kLibrary.isHere("cuda", missing), missing.text);
    }

    void devicesAreNamedByKeyOrByThePersonWhoRunsTheProgram()
    {
        has(openLibrary(m_code, {.key = "cuda77"}).says, "no NVIDIA GPU has the key cuda77; there are cuda0 (");
        cases().devicesAreNamedByKeyOrByThePersonWhoRunsTheProgram("LATHE_CUDA_DEVICE", "cuda0", "cuda77");
    }

    /// A device whose memory is the processor's gives both the same bytes; what the caller has is copied.
    void integratedDevicesShareMemory()
    {
        DriverTable table;
        const Context apart = must(openLibrary(m_code));
        const auto share = [](const Context& context, void* host) {
            return madeBy<runtime::DeviceMemory, lathe_driver_cuda>([&](auto** memory, auto& error) {
                return kLibrary.share(context.get(), host, kFloatBytes, true, memory, error);
            });
        };
        QVERIFY(must(share(apart, nullptr)) == nullptr);
        table->deviceGetAttribute = [](int* value, int attribute, cuda::DeviceNumber device) {
            const bool isAsked = attribute == cuda::kIsIntegrated || attribute == cuda::kMapsHostMemory;
            return isAsked ? (*value = 1, int(cuda::kSuccess))
                           : DriverTable::before().deviceGetAttribute(value, attribute, device);
        };
        static unsigned flags = 0;
        table->memHostAlloc = [](void** host, std::size_t bytes, unsigned asked) {
            flags = asked;
            return DriverTable::before().memHostAlloc(host, bytes, asked);
        };
        table->memHostGetDevicePointer = [](cuda::Address* address, void* host, unsigned) {
            *address = reinterpret_cast<cuda::Address>(host) + 1;
            return int(cuda::kSuccess);
        };
        const Context context = must(openLibrary(m_code));
        const Queue queue = must(start(context));
        float callers[kFloats];
        QVERIFY(must(share(context, callers)) == nullptr);
        const Memory both = must(share(context, nullptr));
        QVERIFY(both != nullptr);
        QCOMPARE(flags, 2u);
        void* host = nullptr;
        QCOMPARE(problemOf(kLibrary.map, queue.get(), both.get(), &host), std::string());
        QCOMPARE(reinterpret_cast<cuda::Address>(host) + 1, both->address);
        QCOMPARE(problemOf(kLibrary.unmap, queue.get(), both.get()), std::string());
    }
};

LATHE_TEST_GUILESS(TestCudaLibrary)

} // namespace tst_cuda_library

#include "tst_cuda_library.moc"
