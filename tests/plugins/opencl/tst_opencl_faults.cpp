#include "tests/plugins/fault_runner.h"
#include "tests/plugins/opencl/opencl_fixture.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <nlohmann/json.hpp>

namespace tst_opencl_faults {

using namespace lathe;
using namespace lathe::test;

namespace {

/// A runner process on this machine's first OpenCL device.
class Runner : public FaultRunner
{
public:
    Runner()
        : FaultRunner("opencl")
    {
    }
    /// One trial of a kernel with the parameters of doubledAndOne(), whose source is all that there is of it.
    wire::RunResult measure(const KernelInfo& info, const std::string& source)
    {
        const OpenClArtifact artifact = artifactOf(info, {source, {}, {}});
        return FaultRunner::measure(info, artifact.bytes, artifact.descriptor);
    }
    wire::RunResult measureGood() override { return measure(doubledAndOne(), kDoubledAndOne); }
};

/// In one launch, with `body` in place of what each of the 64 threads does with its element `i`.
std::string oneLaunch(const std::string& body)
{
    return R"(
__kernel __attribute__((reqd_work_group_size(16, 1, 1))) void k_0(__global const float *restrict x, __global float *restrict y)
{
    const int i = get_global_id(0);
    )" + body
           + "\n}\n";
}

} // namespace

/// Kernels that go wrong on whatever OpenCL device is here: each costs its own trial, which says what happened, and the
/// next one is measured.
class TestOpenClFaults : public QObject
{
    Q_OBJECT

    std::unique_ptr<Runner> m_runner;

private slots:
    void initTestCase()
    {
        const auto device = openDevice();
        if (!device) {
            QVERIFY2(!isDeviceDemanded(), device.error().message.c_str());
            QSKIP(device.error().message.c_str());
        }
        m_runner = std::make_unique<Runner>();
    }
    void cleanupTestCase() { m_runner.reset(); }

    /// The runner compiles it, as where the builder has no compiler for the device: that is build.
    void aKernelOfSourceAloneIsBuiltByTheRunner()
    {
        wire::RunResult result = m_runner->measure(oneLaunchInfo(), oneLaunch("y[i] = 2 * x[i] + 1;"));
        QVERIFY2(result.stage() == LATHE_STAGE_DONE && result.verified(), result.failure().text().c_str());
        QVERIFY(result.build_ms() > 0);
        result = m_runner->measure(oneLaunchInfo(), oneLaunch("y[i] = 2 * x[i] + nonsense;"));
        m_runner->costsOneTrial(result, LATHE_STAGE_BUILD, Errc::BuildFailed, "nonsense");
        QVERIFY(result.build_ms() > 0);
        QCOMPARE(result.measure_ms(), 0.0);
    }

    void aKernelThatHangsIsKilledInTime()
    {
        if (!m_runner->isProcessor())
            QSKIP("a GPU that hangs may take the machine with it");
        const auto result = m_runner->measure(oneLaunchInfo(),
                                              oneLaunch("for (volatile int forever = 1; forever != 0;) y[i] += x[i];"));
        m_runner->costsOneTrial(result, LATHE_STAGE_RUN, Errc::RunTimeout, "longer than 8 s while running the kernel");
    }

    void aKernelThatWritesFarOutsideEndsItsProcess()
    {
        if (!m_runner->isProcessor())
            QSKIP("what a GPU does then is its driver's choice");
        const auto result = m_runner->measure(oneLaunchInfo(), oneLaunch("y[i + (1L << 44)] = x[i];"));
        m_runner->costsOneTrial(result, LATHE_STAGE_RUN, Errc::WorkerCrashed, "SIGSEGV");
    }

    void aWrongResultIsFound()
    {
        m_runner->costsOneTrial(m_runner->measure(oneLaunchInfo(), oneLaunch("y[i] = 2 * x[i] + (i == 17 ? 2 : 1);")),
                                LATHE_STAGE_VERIFY, Errc::WrongAnswer, "at [17]");
        // What is right the first time only, as it adds onto what the run before left behind, may not pass either: the
        // outputs hold no zeros before.
        m_runner->costsOneTrial(m_runner->measure(oneLaunchInfo(), oneLaunch("y[i] += 2 * x[i] + 1;")),
                                LATHE_STAGE_VERIFY, Errc::WrongAnswer, "output \"y\"");
    }

    void memoryThatTheDeviceDoesNotHaveIsRefused()
    {
        constexpr std::int64_t kMost = std::int64_t{1} << 36; // bytes of a trial's tensor or scratch
        const auto largest = m_runner->device()["hardware"]["max_buffer_bytes"]["value"].get<std::int64_t>();
        if (largest > kMost - 8192)
            QSKIP("no trial has a buffer that is too large for this device");
        KernelInfo info = doubledAndOne();
        info.scratch = {kMost};
        m_runner->costsOneTrial(m_runner->measure(info, kDoubledAndOne), LATHE_STAGE_RUN, Errc::Unsupported,
                                "is larger than the largest that");
        info = doubledAndOne();
        info.parameters[1].map = vectorOf(largest / 4 + 1024);
        m_runner->costsOneTrial(m_runner->measure(info, kDoubledAndOne), LATHE_STAGE_LOAD, Errc::Unsupported,
                                "is larger than the largest that");
    }

    void aLaunchThatTheDeviceDoesNotStartIsRefused()
    {
        KernelInfo info = doubledAndOne();
        info.launches[0].block = {256, 16, 16};
        m_runner->costsOneTrial(m_runner->measure(info, kDoubledAndOne), LATHE_STAGE_BUILD, Errc::Unsupported,
                                "65536 threads");
        info = doubledAndOne();
        info.launches[0].sharedBytes = std::int64_t{1} << 29;
        m_runner->costsOneTrial(m_runner->measure(info, kDoubledAndOne), LATHE_STAGE_BUILD, Errc::Unsupported,
                                "bytes of local memory");
        info = doubledAndOne();
        info.launches[0].block = {32, 1, 1}; // another than the source's: the driver itself refuses
        m_runner->costsOneTrial(m_runner->measure(info, kDoubledAndOne), LATHE_STAGE_RUN, Errc::Unsupported,
                                "OpenCL refuses kernel k: CL_INVALID_WORK_GROUP_SIZE");
    }
};

LATHE_TEST(TestOpenClFaults)

} // namespace tst_opencl_faults

#include "tst_opencl_faults.moc"
