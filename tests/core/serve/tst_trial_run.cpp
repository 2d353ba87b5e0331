#include "core/serve/trial_run.h"
#include "core/wire/artifact.h"
#include "core/wire/hash_field.h"
#include "core/wire/messages.h"
#include "core/wire/seeded.h"
#include "tests/support/memory_device.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstring>
#include <vector>

namespace tst_trial_run {

using namespace lathe;

namespace {

/// Iterations that the device was asked for, one entry a call, and what a run takes by the number of those before.
std::vector<std::uint32_t> g_calls;
double (*g_runNs)(std::uint64_t before) = nullptr;
std::uint64_t g_runs = 0;

int count(LatheDevice*, const LatheLaunch*, std::uint32_t, std::uint32_t iterations, std::uint64_t, LatheTiming* timing,
          LatheDeviceError*)
{
    g_calls.push_back(iterations);
    double total = 0;
    for (std::uint32_t i = 0; i < iterations; ++i)
        total += g_runNs(g_runs + i);
    g_runs += iterations;
    if (timing != nullptr)
        *timing = {static_cast<std::uint64_t>(total), 0, 0};
    return 0;
}

const LatheDeviceApi kDevice = [] {
    LatheDeviceApi api = test::memoryDevice("counting");
    api.run = count;
    return api;
}();

/// Bytes that were copied to the device, and the run of all at the end of which its kernel spoils its constants; 0:
/// none does.
std::size_t g_copied = 0;
std::uint64_t g_spoils = 0;

/// Its kernels copy one constant number into an output.
const LatheDeviceApi kCopying = [] {
    LatheDeviceApi api = test::memoryDevice("copying");
    api.copyIn = [](LatheDevice*, void* buffer, std::size_t offset, const void* host, std::size_t bytes,
                    LatheDeviceError*) {
        std::memcpy(static_cast<char*>(buffer) + offset, host, bytes);
        g_copied += bytes;
        return 0;
    };
    api.copyOut = [](LatheDevice*, void* host, const void* buffer, std::size_t offset, std::size_t bytes,
                     LatheDeviceError*) {
        std::memcpy(host, static_cast<const char*>(buffer) + offset, bytes);
        return 0;
    };
    api.run = [](LatheDevice*, const LatheLaunch* launches, std::uint32_t, std::uint32_t iterations, std::uint64_t,
                 LatheTiming* timing, LatheDeviceError*) {
        for (std::uint32_t i = 0; i < iterations; ++i) {
            auto* const constant = static_cast<float*>(launches[0].buffers[0]);
            *static_cast<float*>(launches[0].buffers[1]) = *constant;
            if (++g_runs == g_spoils)
                *constant = 99;
        }
        if (timing != nullptr)
            *timing = {1000, 0, 0};
        return 0;
    };
    return api;
}();

/// What the device was asked to compile and to run, in order ("build 0", "run"), and whether its compiler refuses.
std::vector<std::string> g_asked;
bool g_refuses = false;

const LatheDeviceApi kCompiling = [] {
    LatheDeviceApi api = test::memoryDevice("compiling");
    api.build = [](LatheDevice*, LatheModule*, std::uint32_t kernel, LatheDeviceError* error) {
        g_asked.push_back("build " + std::to_string(kernel));
        if (g_refuses)
            *error = {LATHE_ERRC_BUILD_FAILED, "line 1: nonsense"};
        return g_refuses ? 1 : 0;
    };
    api.run = [](LatheDevice*, const LatheLaunch*, std::uint32_t, std::uint32_t, std::uint64_t, LatheTiming* timing,
                 LatheDeviceError*) {
        g_asked.emplace_back("run");
        if (timing != nullptr)
            *timing = {1000, 0, 0};
        return 0;
    };
    return api;
}();

} // namespace

class TestTrialRun : public QObject
{
    Q_OBJECT

private:
    /// A kernel without parameters, timed by `plan`.
    static wire::RunResult timed(const wire::RunPlan& plan, double (*runNs)(std::uint64_t))
    {
        g_calls.clear();
        g_runs = 0;
        g_runNs = runNs;
        const auto device = serve::Device::open(&kDevice, "one", "");
        if (!device)
            qFatal("%s", device.error().message.c_str());
        ArtifactDescriptor descriptor{"counted", "sim", {KernelInfo{"k", {"k_0"}, 0, 0, {}}}};
        wire::BlobStore blobs;
        wire::RunJob job;
        auto* artifact = job.add_artifacts();
        wire::toWire(blobs.put(std::string("x")), artifact->mutable_blob());
        artifact->set_descriptor(toJson(descriptor).dump());
        job.add_launches()->set_timed(true);
        *job.mutable_plan() = plan;
        serve::TrialRunner runner(*device);
        return runner.run(job, blobs, [](std::uint32_t, const std::string&) {});
    }
    static wire::RunPlan plan(std::uint32_t number, double minRepeatMs)
    {
        wire::RunPlan p;
        p.set_number(number);
        p.set_repeat(1);
        p.set_min_repeat_ms(minRepeatMs);
        return p;
    }
    static double millisecond(std::uint64_t) { return 1e6; }
    /// Of kCopying, whose constant comes from a seed.
    static wire::RunJob copyingJob(wire::BlobStore& blobs, std::uint64_t seed)
    {
        ArgSpec constant{"w", ArgRole::Constant, DType::F32, {}}, output{"y", ArgRole::Output, DType::F32, {}};
        for (ArgSpec* spec : {&constant, &output}) {
            const std::int64_t shape[] = {1};
            spec->map = IndexMap::plain(shape, 1);
        }
        const ArtifactDescriptor descriptor{"copying", "sim", {KernelInfo{"k", {"k_0"}, 0, 0, {constant, output}}}};
        wire::RunJob job;
        auto* artifact = job.add_artifacts();
        wire::toWire(blobs.put(std::string("x")), artifact->mutable_blob());
        artifact->set_descriptor(toJson(descriptor).dump());
        auto* from = job.add_buffers();
        from->set_spec(toJson(constant).dump());
        from->set_fill(wire::Buffer::SEED);
        from->set_seed(seed);
        job.add_buffers()->set_spec(toJson(output).dump());
        auto* launch = job.add_launches();
        launch->set_timed(true);
        launch->add_buffers(0);
        launch->add_buffers(1);
        auto* check = job.add_checks();
        check->set_buffer(1);
        check->add_points(0);
        check->add_values(wire::seededValue(seed, 0, DType::F32));
        check->set_tolerance(1e-6);
        job.mutable_plan()->set_number(1);
        job.mutable_plan()->set_repeat(1);
        return job;
    }

private slots:
    void runsAreAddedUntilTheyTakeLongEnough()
    {
        const wire::RunResult result = timed(plan(3, 20), millisecond);
        QVERIFY2(result.stage() == 0, result.failure().text().c_str());
        QCOMPARE(result.costs_ns_size(), 1);
        QCOMPARE(result.costs_ns(0), 1e6);
        QVERIFY(result.number() == 20 || result.number() == 21);
        QCOMPARE(g_calls.size(), std::size_t(3)); // a warm-up, what was asked for, what was missing
        QCOMPARE(g_calls[1], 3u);
        QCOMPARE(g_runs, std::uint64_t(1 + result.number()));
    }

    void allRunsCountInTheMean()
    {
        // The warm-up and the first five take twice as long as the rest.
        const wire::RunResult result = timed(plan(5, 20), [](std::uint64_t before) { return before < 6 ? 2e6 : 1e6; });
        QCOMPARE(result.stage(), 0u);
        const double runs = result.number();
        QVERIFY(runs >= 15);
        QCOMPARE(result.costs_ns(0), (5 * 2e6 + (runs - 5) * 1e6) / runs);
    }

    void enoughAtOnceIsNotRepeated()
    {
        const wire::RunResult result = timed(plan(30, 20), millisecond);
        QCOMPARE(result.number(), 30u);
        QCOMPARE(g_calls.size(), std::size_t(2));
    }

    void aClockThatStandsEnds()
    {
        const wire::RunResult result = timed(plan(1, 20), [](std::uint64_t) { return 0.0; });
        QCOMPARE(result.stage(), 0u);
        QCOMPARE(result.number(), 1u << 24);
        QCOMPARE(result.costs_ns(0), 0.0);
    }

    void eachRepeatIsACost()
    {
        wire::RunPlan p = plan(3, 20);
        p.set_repeat(4);
        const wire::RunResult result = timed(p, millisecond);
        QCOMPARE(result.costs_ns_size(), 4);
        QCOMPARE(g_calls.size(), std::size_t(6)); // later ones know how many it takes
    }

    void losersEndAfterTwoRunsAndOthersAfterAGlance()
    {
        wire::RunPlan p = plan(3, 20);
        p.set_stop_above_ns(0.5e6);
        p.set_settle_above_ns(0.4e6);
        wire::RunResult result = timed(p, millisecond);
        QVERIFY(result.stopped_early());
        QCOMPARE(result.number(), 2u);
        QCOMPARE(g_runs, std::uint64_t(3)); // with the warm-up
        p.set_stop_above_ns(2e6);
        p.set_settle_above_ns(0.9e6);
        result = timed(p, millisecond);
        QVERIFY(result.stopped_early());
        QCOMPARE(result.number(), 3u); // of three milliseconds
        p.set_settle_above_ns(1.1e6);
        result = timed(p, millisecond);
        QVERIFY(!result.stopped_early());
        QVERIFY(result.number() >= 20);
    }

    void constantsStayOnTheDevice()
    {
        const auto device = serve::Device::open(&kCopying, "one", "");
        QVERIFY(device);
        wire::BlobStore blobs;
        serve::TrialRunner runner(*device);
        const auto run = [&](std::uint64_t seed) {
            return runner.run(copyingJob(blobs, seed), blobs, [](std::uint32_t, const std::string&) {});
        };
        g_copied = 0;
        g_spoils = 0;
        for (const std::uint64_t seed : {1, 2, 1, 1, 2}) {
            const wire::RunResult result = run(seed);
            QVERIFY2(result.stage() == 0 && result.verified(), result.failure().text().c_str());
        }
        QCOMPARE(g_copied, (2 + 5) * sizeof(float)); // each constant once, the poison every time
        // A kernel that spoils them at its end, unseen, is not the next one's fault.
        g_runs = 0;
        g_spoils = 2; // the one after the warm-up
        QVERIFY(run(1).verified());
        QCOMPARE(g_runs, std::uint64_t{2});
        g_copied = 0;
        const wire::RunResult after = run(1);
        QVERIFY2(after.stage() == 0 && after.verified(), after.failure().text().c_str());
        QVERIFY(g_copied > sizeof(float)); // written anew
        // Who is wrong with constants of its own is wrong.
        wire::RunJob wrong = copyingJob(blobs, 1);
        wrong.mutable_checks(0)->set_values(0, 5);
        QCOMPARE(runner.run(wrong, blobs, [](std::uint32_t, const std::string&) {}).failure().code(),
                 static_cast<std::uint32_t>(Errc::WrongAnswer));
    }

    /// Its own stage, of which is told before, and whose time counts in no other.
    void whatADeviceCompilesIsBuiltBeforeItRuns()
    {
        const auto device = serve::Device::open(&kCompiling, "one", "");
        QVERIFY(device);
        const ArtifactDescriptor descriptor{
            "compiled", "sim", {KernelInfo{"k", {"k_0"}, 0, 0, {}}, KernelInfo{"l", {"l_0"}, 0, 0, {}}}};
        wire::BlobStore blobs;
        wire::RunJob job;
        auto* artifact = job.add_artifacts();
        wire::toWire(blobs.put(std::string("x")), artifact->mutable_blob());
        artifact->set_descriptor(toJson(descriptor).dump());
        job.add_launches()->set_kernel(1);
        job.add_launches()->set_timed(true);
        *job.mutable_plan() = plan(1, 0);
        serve::TrialRunner runner(*device);
        std::vector<std::uint32_t> stages;
        const auto run = [&] {
            g_asked.clear();
            stages.clear();
            return runner.run(job, blobs, [&](std::uint32_t stage, const std::string&) {
                stages.push_back(stage);
                g_asked.push_back("stage " + std::to_string(stage));
            });
        };
        g_refuses = false;
        wire::RunResult result = run();
        QVERIFY2(result.stage() == LATHE_STAGE_DONE, result.failure().text().c_str());
        QCOMPARE(stages, (std::vector<std::uint32_t>{LATHE_STAGE_LOAD, LATHE_STAGE_BUILD, LATHE_STAGE_RUN}));
        QCOMPARE(std::vector(g_asked.begin() + 1, g_asked.begin() + 6),
                 (std::vector<std::string>{"stage 2", "build 1", "build 0", "stage 4", "run"}));
        QVERIFY(result.build_ms() > 0);
        g_refuses = true;
        result = run();
        QCOMPARE(result.stage(), std::uint32_t{LATHE_STAGE_BUILD});
        QCOMPARE(result.failure().code(), std::uint32_t{LATHE_ERRC_BUILD_FAILED});
        QVERIFY2(result.failure().text().find("nonsense") != std::string::npos, result.failure().text().c_str());
        QCOMPARE(stages.back(), std::uint32_t{LATHE_STAGE_BUILD});
        QCOMPARE(g_asked.back(), std::string("build 1")); // and nothing was run
    }

    void nobodyIsToldOfABuildWhereLoadingLeavesNothingToCompile()
    {
        const wire::RunResult result = timed(plan(1, 0), millisecond);
        QCOMPARE(result.stage(), std::uint32_t{LATHE_STAGE_DONE});
        QCOMPARE(result.build_ms(), 0.0);
    }

    void oneRunThatWasHeldUpDoesNotMakeALoser()
    {
        wire::RunPlan p = plan(3, 20);
        p.set_stop_above_ns(2e6);
        p.set_settle_above_ns(1.5e6);
        const wire::RunResult result = timed(
            p, [](std::uint64_t before) { return before == 1 ? 30e6 : 1e6; }); // the one after the warm-up
        QVERIFY(!result.stopped_early());
        QVERIFY(std::abs(result.costs_ns(0) - 1e6) < 1);
    }
};

LATHE_TEST(TestTrialRun)

} // namespace tst_trial_run

#include "tst_trial_run.moc"
