#include "core/record/record.h"
#include "core/serve/child_runner.h"
#include "core/serve/device.h"
#include "core/support/deadline.h"
#include "core/support/files.h"
#include "core/wire/artifact.h"
#include "core/wire/failure.h"
#include "core/wire/hash_field.h"
#include "core/wire/process_port.h"
#include "core/wire/seeded.h"
#include "plugins/cuda/device/architecture.h"
#include "plugins/cuda/device/artifact.h"
#include "tests/plugins/cuda/cuda_fixture.h"
#include "tests/support/cuda_driver.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <nlohmann/json.hpp>
#include <poll.h>

#include <csignal>
#include <utility>

namespace tst_cuda_faults {

using namespace lathe;
using namespace lathe::test;
using serve::ChildRunner;

namespace {

constexpr std::uint64_t kSeed = 3;

IndexMap vectorOf(std::int64_t elements)
{
    return IndexMap::plain(&elements, 1);
}

/// One launch of 64 threads on two vectors.
KernelInfo oneLaunch()
{
    KernelInfo info;
    info.name = "k";
    info.form = KernelForm::Launches;
    info.parameters = {{"x", ArgRole::Input, DType::F32, vectorOf(64)},
                       {"y", ArgRole::Output, DType::F32, vectorOf(64)}};
    info.launches = {{"k_0", {0, 1}, {4, 1, 1}, {16, 1, 1}, 0}};
    return info;
}

/// PTX of that, with what each thread does with its element `i`.
std::string ptxOf(const std::string& body, int capability)
{
    const std::string source = "extern \"C\" __global__ void k_0(const float* x, float* y)\n{\n"
                               "    const int i = blockIdx.x * 16 + threadIdx.x;\n    "
                               + body + "\n}\n";
    return must(must(cuda::Nvrtc::find(capability))->compile(source, capability)).ptx;
}

/// A runner process on this machine's first GPU, under its supervisor.
class Runner
{
public:
    Runner()
    {
        wire::Message open;
        open.mutable_open_device()->set_kind("cuda");
        must(m_runner.take(open, ChildRunner::Clock::now()));
        const wire::Message opened = answer();
        if (opened.device_opened().failure().code() != 0)
            qFatal("%s", opened.device_opened().failure().text().c_str());
        m_device = nlohmann::json::parse(opened.device_opened().json());
    }

    /// As its driver describes it.
    const nlohmann::json& device() const { return m_device; }
    bool isProcessor() const { return m_device.value("shares_cores", false); }
    int capability() const { return cuda::capabilityOf(m_device["architecture"].get<std::string>()).value_or(0); }

    /// One trial of a kernel of that PTX. What it writes is compared with y = 2 x + 1.
    wire::RunResult measure(const KernelInfo& info, const std::string& ptx)
    {
        const runtime::PackedProgram packed = {ptx, {}, {}, "k_0\n"};
        const std::vector<std::byte> bytes = runtime::pack({&packed, 1});
        ArtifactDescriptor descriptor;
        descriptor.format = cuda::kFormat;
        descriptor.target = "cuda";
        descriptor.kernels = {info};
        wire::Message message;
        wire::RunJob& job = *message.mutable_run_job();
        job.set_id(++m_jobs);
        auto& ref = *job.add_artifacts();
        wire::toWire(m_blobs.put(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())),
                     ref.mutable_blob());
        ref.set_descriptor(toJson(descriptor).dump());
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
    wire::RunResult measure(const std::string& body) { return measure(oneLaunch(), ptxOf(body, capability())); }

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

constexpr const char* kGood = "y[i] = 2 * x[i] + 1;";

} // namespace

/// Kernels that go wrong on whatever GPU is here, or on the driver that stands in for one: each costs its own trial,
/// which says what happened, and the next one is measured, in another process where the context is gone.
class TestCudaFaults : public QObject
{
    Q_OBJECT

    std::unique_ptr<Runner> m_runner;

    /// Whether the trial failed like that, and a good one succeeds after it.
    void costsOneTrial(const wire::RunResult& result, std::uint32_t stage, Errc code, const std::string& says)
    {
        const Error failure = wire::errorOf(result.failure());
        const std::string told = std::string(toString(static_cast<TrialStage>(result.stage()))) + " "
                                 + std::string(toString(failure.code)) + ": " + failure.message;
        QVERIFY2(result.stage() == stage && failure.code == code && failure.message.find(says) != std::string::npos,
                 told.c_str());
        QCOMPARE(result.costs_ns_size(), 0);
        const wire::RunResult next = m_runner->measure(kGood);
        QVERIFY2(next.stage() == LATHE_STAGE_DONE && next.verified(), next.failure().text().c_str());
    }

private slots:
    void initTestCase()
    {
        std::signal(SIGPIPE, SIG_IGN);
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
        costsOneTrial(m_runner->measure(body.toStdString()), LATHE_STAGE_RUN, Errc::WorkerCrashed, says.toStdString());
    }

    void aKernelThatHangsIsStoppedInTime()
    {
        if (!m_runner->isProcessor())
            QSKIP("a GPU that hangs may take the machine with it");
        const auto result = m_runner->measure("for (volatile int forever = 1; forever != 0;) y[i] += x[i];");
        costsOneTrial(result, LATHE_STAGE_RUN, Errc::RunTimeout, "");
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
        costsOneTrial(m_runner->measure("y[i] = 2 * x[i] + (i == 17 ? 2 : 1);"), LATHE_STAGE_VERIFY, Errc::WrongAnswer,
                      "at [17]");
    }

    void whatTheDriverDoesNotCompileIsABuildThatFailed()
    {
        const std::string good = ptxOf(kGood, m_runner->capability());
        std::string bad = good;
        bad.insert(bad.find("ret;"), "nonsense.f32 %f1, %f1;\n");
        costsOneTrial(m_runner->measure(oneLaunch(), bad), LATHE_STAGE_BUILD, Errc::BuildFailed, "driver refuses");
        std::string newer = good;
        newer.replace(newer.find(".version "), 12, ".version 99.0");
        costsOneTrial(m_runner->measure(oneLaunch(), newer), LATHE_STAGE_BUILD, Errc::Incompatible, "PTX 99.0");
    }

    void whatTheDeviceDoesNotHaveIsRefused()
    {
        const std::string good = ptxOf(kGood, m_runner->capability());
        KernelInfo info = oneLaunch();
        info.launches[0].block = {256, 16, 16};
        costsOneTrial(m_runner->measure(info, good), LATHE_STAGE_BUILD, Errc::Unsupported, "65536 threads");
        info = oneLaunch();
        info.launches[0].sharedBytes = std::int64_t{1} << 29;
        costsOneTrial(m_runner->measure(info, good), LATHE_STAGE_BUILD, Errc::Unsupported, "bytes of shared memory");
        constexpr std::int64_t kMost = std::int64_t{1} << 36; // bytes of a trial's tensor
        const auto memory = m_runner->device()["hardware"]["global_memory_bytes"]["value"].get<std::int64_t>();
        if (memory > kMost - 8192)
            return; // no trial has a buffer that is too large for this device
        info = oneLaunch();
        info.parameters[1].map = vectorOf(memory / 4 + 1024);
        costsOneTrial(m_runner->measure(info, good), LATHE_STAGE_LOAD, Errc::Unsupported, "larger than the memory");
    }
};

LATHE_TEST(TestCudaFaults)

} // namespace tst_cuda_faults

#include "tst_cuda_faults.moc"
