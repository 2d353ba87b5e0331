#include "core/serve/device.h"
#include "core/support/files.h"
#include "plugins/cuda/device/architecture.h"
#include "plugins/cuda/device/artifact.h"
#include "tests/plugins/cuda/cuda_fixture.h"
#include "tests/plugins/fault_runner.h"
#include "tests/support/cuda_driver.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <nlohmann/json.hpp>

namespace tst_cuda_faults {

using namespace lathe;
using namespace lathe::test;

namespace {

constexpr const char* kGood = "y[i] = 2 * x[i] + 1;";

/// PTX of oneLaunchInfo(), with what each thread does with its element `i`.
std::string ptxOf(const std::string& body, int capability)
{
    const std::string source = "extern \"C\" __global__ void k_0(const float* x, float* y)\n{\n"
                               "    const int i = blockIdx.x * 16 + threadIdx.x;\n    "
                               + body + "\n}\n";
    return must(must(cuda::Nvrtc::find(capability))->compile(source, capability)).ptx;
}

/// A runner process on this machine's first GPU.
class Runner : public FaultRunner
{
public:
    Runner()
        : FaultRunner("cuda")
    {
    }
    int capability() const { return cuda::capabilityOf(device()["architecture"].get<std::string>()).value_or(0); }

    /// One trial of a kernel of that PTX.
    wire::RunResult measure(const KernelInfo& info, const std::string& ptx)
    {
        const runtime::PackedProgram packed = {ptx, {}, {}, "k_0\n"};
        ArtifactDescriptor descriptor;
        descriptor.format = cuda::kFormat;
        descriptor.target = "cuda";
        descriptor.kernels = {info};
        return FaultRunner::measure(info, runtime::pack({&packed, 1}), toJson(descriptor).dump());
    }
    wire::RunResult measure(const std::string& body) { return measure(oneLaunchInfo(), ptxOf(body, capability())); }
    wire::RunResult measureGood() override { return measure(kGood); }
};

} // namespace

/// Kernels that go wrong on whatever GPU is here, or on the driver that stands in for one: each costs its own trial,
/// which says what happened, and the next one is measured, in another process where the context is gone.
class TestCudaFaults : public QObject
{
    Q_OBJECT

    std::unique_ptr<Runner> m_runner;

private slots:
    void initTestCase()
    {
        LATHE_NEEDS_NVRTC();
        findCudaDriver();
        const auto api = must(serve::loadDeviceApi(pluginDir(), "cuda"));
        const auto devices = nlohmann::json::parse(api->enumerate());
        if (devices.size() == 1 && devices[0].contains("error"))
            QSKIP(devices[0]["error"].get<std::string>().c_str());
        m_runner = std::make_unique<Runner>();
    }
    void cleanupTestCase() { m_runner.reset(); }

    void aGoodKernelIsMeasured()
    {
        const wire::RunResult result = m_runner->measure(kGood);
        QVERIFY2(result.stage() == LATHE_STAGE_DONE && result.verified(), result.failure().text().c_str());
        QVERIFY(result.costs_ns_size() == 1 && result.costs_ns(0) > 0);
        QCOMPARE(result.clock(), std::uint32_t(m_runner->isProcessor() ? LATHE_CLOCK_MODEL : LATHE_CLOCK_DEVICE));
    }

    void faultsOfTheKernelAreTold_data()
    {
        QTest::addColumn<QString>("body");
        QTest::addColumn<QString>("says");
        QTest::newRow("illegal address") << "y[i + (1LL << 40)] = x[i];"
                                         << "CUDA_ERROR_ILLEGAL_ADDRESS";
        QTest::newRow("misaligned address") << "*reinterpret_cast<double*>(y + i) = x[i];"
                                            << "CUDA_ERROR_MISALIGNED_ADDRESS";
        QTest::newRow("trap") << "if (i == 5) asm(\"trap;\"); y[i] = x[i];"
                              << "CUDA failed at kernel k";
    }
    void faultsOfTheKernelAreTold()
    {
        QFETCH(QString, body);
        QFETCH(QString, says);
        m_runner->costsOneTrial(m_runner->measure(body.toStdString()), LATHE_STAGE_RUN, Errc::WorkerCrashed,
                                says.toStdString());
    }

    void aKernelThatHangsIsStoppedInTime()
    {
        if (!m_runner->isProcessor())
            QSKIP("a GPU that hangs may take the machine with it");
        const auto result = m_runner->measure("for (volatile int forever = 1; forever != 0;) y[i] += x[i];");
        m_runner->costsOneTrial(result, LATHE_STAGE_RUN, Errc::RunTimeout, "");
    }

    void aDeviceWhoseMemoryFailsIsLost()
    {
        if (!m_runner->isProcessor())
            QSKIP("the memory of a GPU does not fail when it is asked to");
        qputenv("LATHE_CUDA_DRIVER_ECC_AT", "1");
        const auto unset = qScopeGuard([] { qunsetenv("LATHE_CUDA_DRIVER_ECC_AT"); });
        Runner sick;
        const wire::RunResult result = sick.measure(kGood);
        const Error failure = wire::errorOf(result.failure());
        QCOMPARE(int(failure.code), int(Errc::DeviceLost));
        QVERIFY2(failure.message.find("CUDA_ERROR_ECC_UNCORRECTABLE") != std::string::npos, failure.message.c_str());
    }

    void aWrongResultIsFound()
    {
        m_runner->costsOneTrial(m_runner->measure("y[i] = 2 * x[i] + (i == 17 ? 2 : 1);"), LATHE_STAGE_VERIFY,
                                Errc::WrongAnswer, "at [17]");
    }

    void whatTheDriverDoesNotCompileIsABuildThatFailed()
    {
        const std::string good = ptxOf(kGood, m_runner->capability());
        std::string bad = good;
        bad.insert(bad.find("ret;"), "nonsense.f32 %f1, %f1;\n");
        m_runner->costsOneTrial(m_runner->measure(oneLaunchInfo(), bad), LATHE_STAGE_BUILD, Errc::BuildFailed,
                                "driver refuses");
        std::string newer = good;
        newer.replace(newer.find(".version "), 12, ".version 99.0");
        m_runner->costsOneTrial(m_runner->measure(oneLaunchInfo(), newer), LATHE_STAGE_BUILD, Errc::Incompatible,
                                "PTX 99.0");
    }

    void whatTheDeviceDoesNotHaveIsRefused()
    {
        const std::string good = ptxOf(kGood, m_runner->capability());
        KernelInfo info = oneLaunchInfo();
        info.launches[0].block = {256, 16, 16};
        m_runner->costsOneTrial(m_runner->measure(info, good), LATHE_STAGE_BUILD, Errc::Unsupported, "65536 threads");
        info = oneLaunchInfo();
        info.launches[0].sharedBytes = std::int64_t{1} << 29;
        m_runner->costsOneTrial(m_runner->measure(info, good), LATHE_STAGE_BUILD, Errc::Unsupported,
                                "bytes of shared memory");
        constexpr std::int64_t kMost = std::int64_t{1} << 36; // bytes of a trial's tensor
        const auto memory = m_runner->device()["hardware"]["global_memory_bytes"]["value"].get<std::int64_t>();
        if (memory > kMost - 8192)
            return; // no trial has a buffer that is too large for this device
        info = oneLaunchInfo();
        const std::int64_t floats = memory / 4 + 1024;
        info.parameters[1].map = IndexMap::plain(&floats, 1);
        m_runner->costsOneTrial(m_runner->measure(info, good), LATHE_STAGE_LOAD, Errc::Unsupported,
                                "larger than the memory");
    }
};

LATHE_TEST(TestCudaFaults)

} // namespace tst_cuda_faults

#include "tst_cuda_faults.moc"
