#include "core/serve/trial_run.h"
#include "core/wire/artifact.h"
#include "core/wire/connection.h"
#include "core/wire/messages.h"
#include "tests/support/memory_device.h"

#include <QTest>
#include <nlohmann/json.hpp>

#include <cmath>
#include <vector>

using namespace lathe;

namespace {

/// Iterations that the device was asked for, one entry a call, and what a run takes by the number of those before.
std::vector<std::uint32_t> g_calls;
double (*g_runNs)(std::uint64_t before) = nullptr;
std::uint64_t g_runs = 0;

int count(LatheDevice*, const LatheLaunch*, std::uint32_t, std::uint32_t iterations, std::uint64_t, LatheTiming* timing, LatheDeviceError*)
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

    void oneRunThatWasHeldUpDoesNotMakeALoser()
    {
        wire::RunPlan p = plan(3, 20);
        p.set_stop_above_ns(2e6);
        p.set_settle_above_ns(1.5e6);
        const wire::RunResult result = timed(p, [](std::uint64_t before) { return before == 1 ? 30e6 : 1e6; }); // the one after the warm-up
        QVERIFY(!result.stopped_early());
        QVERIFY(std::abs(result.costs_ns(0) - 1e6) < 1);
    }
};

QTEST_APPLESS_MAIN(TestTrialRun)
#include "tst_trial_run.moc"
