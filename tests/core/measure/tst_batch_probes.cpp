#include "core/measure/batch.h"
#include "core/wire/hash_field.h"
#include "tests/support/batch_scene.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <nlohmann/json.hpp>

#include <functional>

namespace tst_batch_probes {

using namespace lathe;
using namespace lathe::measure;
using namespace lathe::test::batch;
using lathe::test::FakePort;

namespace {

/// A probe that has been built, and what the batch says of it.
class Probe
{
public:
    explicit Probe(BatchOptions& options)
    {
        auto artifact = std::make_shared<BuiltArtifact>();
        artifact->bytes = "code of the probe";
        artifact->hash = contentHash(artifact->bytes);
        KernelInfo kernel;
        kernel.name = "probe";
        kernel.phases = {"probe_p0"};
        artifact->descriptor = {"fake", "fake", {kernel}};
        artifact->descriptorJson = toJson(artifact->descriptor).dump();
        m_request.trial = std::string(32, 'f');
        m_request.task = task();
        m_request.built = std::make_shared<BuiltKernel>(BuiltKernel{artifact, 0, {}});
        options.probe = &m_request;
        options.onProbed = [this](const Endpoint&, const Result<double>& took) {
            times.push_back(took ? *took : -1);
            return why;
        };
        options.onRejected = [this](const Endpoint&, std::size_t candidates, double) { rejected += candidates; };
    }
    bool is(const wire::Message& job) const
    {
        return job.run_job().artifacts(0).blob().high() == m_request.built->artifact->hash.high;
    }

    std::vector<double> times; ///< -1: it did not run
    std::size_t rejected = 0;
    std::optional<Message> why; ///< the device is set aside

private:
    MeasureRequest m_request;
};

/// The test answers all that the devices are asked, until it is over. `answer` gets the device and the job.
void play(Scene& scene, const std::vector<FakePort::Seen*>& devices,
          const std::function<void(FakePort::Seen&, const wire::Message&)>& answer)
{
    for (int i = 0; i < 20 && !scene.batch().done(); ++i) {
        for (FakePort::Seen* device : devices)
            for (const wire::Message& job : device->takeJobs())
                answer(*device, job);
        QVERIFY(scene.turn());
    }
    QVERIFY(scene.batch().done());
}

nlohmann::json conditionsOf(const TrialResult& result)
{
    return nlohmann::json::parse(result.conditions);
}

} // namespace

/// Devices behind a supervisor that are looked at before and after they measure.
class TestBatchProbes : public QObject
{
    Q_OBJECT

private slots:
    void whatADeviceMeasuredCountsOnceItWasAsBefore()
    {
        Scene scene(2);
        Probe probe(scene.options());
        auto& builder = scene.addBuilder();
        auto& runner = scene.addRunner(elsewhere(2));
        scene.buildAll(builder);
        auto jobs = runner.takeJobs();
        QCOMPARE(jobs.size(), std::size_t(2)); // a probe, and behind it a candidate
        QVERIFY(probe.is(jobs[0]) && !probe.is(jobs[1]));
        Scene::ran(runner, jobs[0], 1000);
        Scene::ran(runner, jobs[1], 50);
        QVERIFY(scene.turn());
        QVERIFY(scene.results().empty());
        jobs = runner.takeJobs();
        QCOMPARE(jobs.size(), std::size_t(1));
        Scene::ran(runner, jobs[0], 60);
        QVERIFY(scene.turn());
        QVERIFY(scene.results().empty());
        jobs = runner.takeJobs(); // nothing is left to measure
        QCOMPARE(jobs.size(), std::size_t(1));
        QVERIFY(probe.is(jobs[0]));
        Scene::ran(runner, jobs[0], 1029);
        QVERIFY(scene.turn());
        QVERIFY(scene.batch().done());
        QCOMPARE(scene.results().size(), std::size_t(2));
        QVERIFY(scene.results()[0].second.ok());
        QCOMPARE(scene.results()[1].second.meanNs(), 60.0);
        const auto conditions = conditionsOf(scene.results()[0].second);
        QVERIFY(qAbs(conditions["probe_drift"].get<double>() - 0.029) < 1e-9);
        QVERIFY(!conditions.contains("rejected"));
        QCOMPARE(probe.rejected, std::size_t(0));
    }

    void aShareIsMeasuredAgainWhereTheDeviceChanged()
    {
        Scene scene(1);
        Probe probe(scene.options());
        auto& builder = scene.addBuilder();
        auto& runner = scene.addRunner(elsewhere(1));
        scene.buildAll(builder);
        double took = 1000;
        int candidates = 0;
        play(scene, {&runner}, [&](FakePort::Seen& device, const wire::Message& job) {
            Scene::ran(device, job, probe.is(job) ? took *= 1.04 : 50 + ++candidates); // never steady
        });
        QCOMPARE(candidates, 3); // then it is what it is
        QCOMPARE(probe.rejected, std::size_t(3));
        const TrialResult& result = scene.results().front().second;
        QCOMPARE(result.meanNs(), 53.0);
        const auto conditions = conditionsOf(result);
        QCOMPARE(conditions["rejected"].size(), std::size_t(2));
        QCOMPARE(conditions["rejected"][0]["costs_ns"][0].get<double>(), 51.0);
        QVERIFY(conditions["probe_drift"].get<double>() > 0.03);
    }

    void whatADeviceThatStraysMeasuredIsMeasuredByOthers()
    {
        Scene scene(1);
        Probe probe(scene.options());
        auto& builder = scene.addBuilder();
        auto& stray = scene.addRunner(elsewhere(1));
        auto& other = scene.addRunner(elsewhere(1));
        scene.buildAll(builder);
        std::string lost;
        scene.options().onLost = [&](const Endpoint&, const Error& why) { lost = why.message; };
        play(scene, {&stray, &other}, [&](FakePort::Seen& device, const wire::Message& job) {
            if (!lost.empty())
                probe.why.reset();
            else if (!probe.is(job) && &device == &stray)
                probe.why = say(Msg::DeviceStrays, 1.5, "board"); // seen by the probe that follows
            Scene::ran(device, job, probe.is(job) ? 1000 : &device == &stray ? 999 : 50);
        });
        QVERIFY2(lost.find("1.50 times") != std::string::npos, lost.c_str());
        const TrialResult& result = scene.results().front().second;
        QVERIFY(result.ok());
        QCOMPARE(result.meanNs(), 50.0);
        QCOMPARE(conditionsOf(result)["rejected"][0]["costs_ns"][0].get<double>(), 999.0);
    }

    void whatWasHeldIsNotLostWhenItIsStopped()
    {
        Scene scene(1);
        Probe probe(scene.options());
        auto& builder = scene.addBuilder();
        auto& runner = scene.addRunner(elsewhere(2));
        scene.buildAll(builder);
        const auto jobs = runner.takeJobs();
        QCOMPARE(jobs.size(), std::size_t(2));
        Scene::ran(runner, jobs[0], 1000);
        Scene::ran(runner, jobs[1], 50);
        QVERIFY(scene.turn());
        QVERIFY(scene.results().empty());
        scene.batch().giveHeld();
        QCOMPARE(scene.results().size(), std::size_t(1));
        QCOMPARE(scene.results()[0].second.meanNs(), 50.0);
        QVERIFY(!scene.batch().done()); // the probe is still awaited, but not for ever
        scene.pass(Batch::kProbeWait);
        QVERIFY(scene.turn());
        QVERIFY(scene.batch().done());
    }

    void whatADeviceSaidBeforeItLiedIsNotBelieved()
    {
        Scene scene(1);
        Probe probe(scene.options());
        auto& builder = scene.addBuilder();
        auto& liar = scene.addRunner(elsewhere(2));
        scene.buildAll(builder);
        const auto jobs = liar.takeJobs();
        Scene::ran(liar, jobs[0], 1000);
        Scene::ran(liar, jobs[1], 50);
        QVERIFY(scene.turn());
        const auto last = liar.takeJobs();
        QCOMPARE(last.size(), std::size_t(1));
        Scene::ran(liar, last[0], -1); // no time
        QVERIFY(scene.turn());
        QVERIFY(scene.results().empty());
        QVERIFY(!scene.batch().done());
        QVERIFY(!scene.batch().has(scene.runner(0)));
    }

    void aProbeThatDoesNotRunHoldsNothingUp()
    {
        Scene scene(1);
        Probe probe(scene.options());
        auto& builder = scene.addBuilder();
        auto& runner = scene.addRunner(elsewhere(1));
        scene.buildAll(builder);
        play(scene, {&runner}, [&](FakePort::Seen& device, const wire::Message& job) {
            if (!probe.is(job)) {
                Scene::ran(device, job, 50);
                return;
            }
            wire::Message failed;
            failed.mutable_run_result()->set_id(job.run_job().id());
            failed.mutable_run_result()->set_stage(static_cast<std::uint32_t>(TrialStage::Run));
            failed.mutable_run_result()->mutable_failure()->set_code(static_cast<std::uint32_t>(Errc::RunTimeout));
            device.answer(failed);
        });
        QCOMPARE(probe.times, std::vector<double>{-1});
        QVERIFY(!conditionsOf(scene.results().front().second).contains("probe_drift"));
    }
};

LATHE_TEST(TestBatchProbes)

} // namespace tst_batch_probes

#include "tst_batch_probes.moc"
