#include "core/record/record.h"
#include "core/serve/child_runner.h"
#include "core/support/deadline.h"
#include "core/wire/failure.h"
#include "core/wire/hash_field.h"
#include "core/wire/process_port.h"
#include "core/wire/seeded.h"
#include "tests/plugins/opencl/opencl_fixture.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <nlohmann/json.hpp>
#include <poll.h>

#include <csignal>
#include <utility>

namespace tst_opencl_faults {

using namespace lathe;
using namespace lathe::test;
using serve::ChildRunner;

namespace {

constexpr std::uint64_t kSeed = 3;

/// A runner process on this machine's first OpenCL device, under its supervisor.
class Runner
{
public:
    Runner()
    {
        wire::Message open;
        open.mutable_open_device()->set_kind("opencl");
        must(m_runner.take(open, ChildRunner::Clock::now()));
        const wire::Message opened = answer();
        if (opened.device_opened().failure().code() != 0)
            qFatal("%s", opened.device_opened().failure().text().c_str());
        m_device = nlohmann::json::parse(opened.device_opened().json());
    }

    /// As its driver describes it.
    const nlohmann::json& device() const { return m_device; }

    /// One trial of a kernel with the parameters of doubledAndOne(), whose source is all that there is of it. What it
    /// writes is compared with y = 2 x + 1.
    wire::RunResult measure(const KernelInfo& info, const std::string& source)
    {
        const OpenClArtifact artifact = artifactOf(info, {source, {}, {}});
        wire::Message message;
        wire::RunJob& job = *message.mutable_run_job();
        job.set_id(++m_jobs);
        auto& ref = *job.add_artifacts();
        wire::toWire(
            m_blobs.put(std::string(reinterpret_cast<const char*>(artifact.bytes.data()), artifact.bytes.size())),
            ref.mutable_blob());
        ref.set_descriptor(artifact.descriptor);
        auto& launch = *job.add_launches();
        launch.set_timed(true);
        for (std::uint32_t i = 0; i < 2; ++i) {
            auto& buffer = *job.add_buffers();
            buffer.set_spec(toJson(info.parameters[i]).dump());
            buffer.set_fill(i == 0 ? wire::Buffer::SEED : wire::Buffer::POISON);
            buffer.set_seed(kSeed);
            launch.add_buffers(i);
        }
        auto& check = *job.add_checks();
        check.set_buffer(1);
        check.set_tolerance(1e-5);
        for (std::uint64_t point = 0; point < 64; ++point) {
            check.add_points(point);
            check.add_values(2 * wire::seededValue(kSeed, static_cast<std::int64_t>(point), DType::F32) + 1);
        }
        wire::RunPlan& plan = *job.mutable_plan();
        plan.set_number(3);
        plan.set_repeat(1);
        plan.set_deadline_ms(8'000);
        plan.set_build_deadline_ms(120'000);
        must(m_runner.take(message, ChildRunner::Clock::now()));
        return answer().run_result();
    }

private:
    /// The next that is no progress.
    wire::Message answer()
    {
        for (const Deadline end = Deadline::inSeconds(250); !end.passed();) {
            m_runner.turn(ChildRunner::Clock::now());
            for (wire::Message& message : m_runner.takeAnswers())
                if (!message.has_progress())
                    return std::move(message);
            std::vector<pollfd> fds;
            m_runner.watch(fds);
            ::poll(fds.data(), fds.size(), std::min(100, Deadline::at(m_runner.wake()).pollMs()));
        }
        qFatal("the supervisor says nothing");
    }

    wire::BlobStore m_blobs;
    ChildRunner m_runner{std::make_unique<wire::ProcessPort>(wire::WorkerProgram{"lathe-runner"}), m_blobs};
    nlohmann::json m_device;
    std::uint64_t m_jobs = 0;
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

KernelInfo oneLaunchInfo()
{
    KernelInfo info = doubledAndOne();
    info.scratch.clear();
    info.launches = {{"k_0", {0, 1}, {4, 1, 1}, {16, 1, 1}, 0}};
    return info;
}

} // namespace

/// Kernels that go wrong on whatever OpenCL device is here: each costs its own trial, which says what happened, and the
/// next one is measured.
class TestOpenClFaults : public QObject
{
    Q_OBJECT

    std::unique_ptr<Runner> m_runner;

    bool isProcessor() const { return m_runner->device().value("shares_cores", false); }

    /// Whether the trial failed like that, and a good one succeeds after it.
    void costsOneTrial(const wire::RunResult& result, std::uint32_t stage, Errc code, const std::string& says)
    {
        const Error failure = wire::errorOf(result.failure());
        const std::string told = std::string(toString(static_cast<TrialStage>(result.stage()))) + " "
                                 + std::string(toString(failure.code)) + ": " + failure.message;
        QVERIFY2(result.stage() == stage && failure.code == code && failure.message.find(says) != std::string::npos,
                 told.c_str());
        QCOMPARE(result.costs_ns_size(), 0);
        const wire::RunResult next = m_runner->measure(doubledAndOne(), kDoubledAndOne);
        QVERIFY2(next.stage() == LATHE_STAGE_DONE && next.verified(), next.failure().text().c_str());
    }

private slots:
    void initTestCase()
    {
        std::signal(SIGPIPE, SIG_IGN);
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
        costsOneTrial(result, LATHE_STAGE_BUILD, Errc::BuildFailed, "nonsense");
        QVERIFY(result.build_ms() > 0);
        QCOMPARE(result.measure_ms(), 0.0);
    }

    void aKernelThatHangsIsKilledInTime()
    {
        if (!isProcessor())
            QSKIP("a GPU that hangs may take the machine with it");
        const auto result = m_runner->measure(oneLaunchInfo(),
                                              oneLaunch("for (volatile int forever = 1; forever != 0;) y[i] += x[i];"));
        costsOneTrial(result, LATHE_STAGE_RUN, Errc::RunTimeout, "longer than 8 s while running the kernel");
    }

    void aKernelThatWritesFarOutsideEndsItsProcess()
    {
        if (!isProcessor())
            QSKIP("what a GPU does then is its driver's choice");
        const auto result = m_runner->measure(oneLaunchInfo(), oneLaunch("y[i + (1L << 44)] = x[i];"));
        costsOneTrial(result, LATHE_STAGE_RUN, Errc::WorkerCrashed, "SIGSEGV");
    }

    void aWrongResultIsFound()
    {
        costsOneTrial(m_runner->measure(oneLaunchInfo(), oneLaunch("y[i] = 2 * x[i] + (i == 17 ? 2 : 1);")),
                      LATHE_STAGE_VERIFY, Errc::WrongAnswer, "at [17]");
        // What is right the first time only, as it adds onto what the run before left behind, may not pass either: the
        // outputs hold no zeros before.
        costsOneTrial(m_runner->measure(oneLaunchInfo(), oneLaunch("y[i] += 2 * x[i] + 1;")), LATHE_STAGE_VERIFY,
                      Errc::WrongAnswer, "output \"y\"");
    }

    void memoryThatTheDeviceDoesNotHaveIsRefused()
    {
        constexpr std::int64_t kMost = std::int64_t{1} << 36; // bytes of a trial's tensor or scratch
        const auto largest = m_runner->device()["hardware"]["max_buffer_bytes"]["value"].get<std::int64_t>();
        if (largest > kMost - 8192)
            QSKIP("no trial has a buffer that is too large for this device");
        KernelInfo info = doubledAndOne();
        info.scratch = {kMost};
        costsOneTrial(m_runner->measure(info, kDoubledAndOne), LATHE_STAGE_RUN, Errc::Unsupported,
                      "is larger than the largest that");
        info = doubledAndOne();
        info.parameters[1].map = vectorOf(largest / 4 + 1024);
        costsOneTrial(m_runner->measure(info, kDoubledAndOne), LATHE_STAGE_LOAD, Errc::Unsupported,
                      "is larger than the largest that");
    }

    void aLaunchThatTheDeviceDoesNotStartIsRefused()
    {
        KernelInfo info = doubledAndOne();
        info.launches[0].block = {256, 16, 16};
        costsOneTrial(m_runner->measure(info, kDoubledAndOne), LATHE_STAGE_BUILD, Errc::Unsupported, "65536 threads");
        info = doubledAndOne();
        info.launches[0].sharedBytes = std::int64_t{1} << 29;
        costsOneTrial(m_runner->measure(info, kDoubledAndOne), LATHE_STAGE_BUILD, Errc::Unsupported,
                      "bytes of local memory");
        info = doubledAndOne();
        info.launches[0].block = {32, 1, 1}; // another than the source's: the driver itself refuses
        costsOneTrial(m_runner->measure(info, kDoubledAndOne), LATHE_STAGE_RUN, Errc::Unsupported,
                      "OpenCL refuses kernel k: CL_INVALID_WORK_GROUP_SIZE");
    }
};

LATHE_TEST(TestOpenClFaults)

} // namespace tst_opencl_faults

#include "tst_opencl_faults.moc"
