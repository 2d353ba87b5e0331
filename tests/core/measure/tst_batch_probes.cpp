#include "core/measure/batch.h"
#include "core/measure/steadiness.h"
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
        options.steadiness = &m_steadiness;
    }
    bool is(const wire::Message& job) const
    {
        return job.run_job().artifacts(0).blob().high() == m_request.built->artifact->hash.high;
    }

    std::vector<std::string> told;

private:
    MeasureRequest m_request;
    Steadiness m_steadiness{"board", [this](const Message& message) { told.push_back(textOf(message)); }};
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
        QCOMPARE(conditions["runner"].get<std::string>(), std::string("lathe-fake"));
        QVERIFY(probe.told.empty());
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
        QCOMPARE(probe.told.size(), std::size_t(1)); // not each time
        QVERIFY2(probe.told[0].starts_with("1 trial of lathe-fake"), probe.told[0].c_str());
        const TrialResult& result = scene.results().front().second;
        QCOMPARE(result.meanNs(), 53.0);
        const auto conditions = conditionsOf(result);
        QCOMPARE(conditions["rejected"].size(), std::size_t(2));
        QCOMPARE(conditions["rejected"][0]["costs_ns"][0].get<double>(), 51.0);
        QVERIFY(conditions["probe_drift"].get<double>() > 0.03);
    }

    void whatADeviceThatStraysMeasuredIsMeasuredByOthers()
    {
        Scene scene(3);
        Probe probe(scene.options());
        auto& builder = scene.addBuilder();
        std::vector<FakePort::Seen*> devices;
        for (const char* name : {"stray", "second", "third"}) {
            devices.push_back(&scene.addRunner(elsewhere(1)));
            devices.back()->name = name;
        }
        scene.buildAll(builder);
        std::vector<std::string> lost;
        bool isOfNoUse = false;
        scene.options().onLost = [&](const Endpoint&, const Error& why, bool gone) {
            lost.push_back(why.message);
            isOfNoUse = gone;
        };
        bool hasMeasured = false;
        play(scene, devices, [&](FakePort::Seen& device, const wire::Message& job) {
            const bool isStray = &device == devices[0];
            hasMeasured = hasMeasured || (isStray && !probe.is(job));
            Scene::ran(device, job, !probe.is(job) ? isStray ? 999 : 50 : isStray && hasMeasured ? 1500 : 1000);
        });
        QCOMPARE(lost.size(), std::size_t(1));
        QVERIFY2(lost[0].find("1.50 times") != std::string::npos, lost[0].c_str());
        QVERIFY(isOfNoUse);
        std::size_t rejected = 0;
        for (const auto& [index, result] : scene.results()) {
            QCOMPARE(result.meanNs(), 50.0);
            if (const auto conditions = conditionsOf(result); conditions.contains("rejected")) {
                ++rejected;
                QCOMPARE(conditions["rejected"][0]["costs_ns"][0].get<double>(), 999.0);
            }
        }
        QCOMPARE(rejected, std::size_t(1));
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

    void aDeviceThatIsLostDuringEachProbeIsOfNoUse()
    {
        Scene scene(1);
        Probe probe(scene.options());
        auto& builder = scene.addBuilder();
        std::vector<FakePort::Seen*> boards = {&scene.addRunner(elsewhere(1))};
        scene.buildAll(builder);
        std::vector<bool> lost;
        scene.options().onLost = [&](const Endpoint&, const Error&, bool isOfNoUse) { lost.push_back(isOfNoUse); };
        for (std::size_t i = 0; i < 3; ++i) {
            if (i > 0) { // it is there again
                boards.push_back(&scene.addRunner(elsewhere(1)));
                scene.batch().addRunner(scene.runner(i));
                QVERIFY(scene.turn());
            }
            FakePort::Seen& board = *boards[i];
            const auto jobs = board.takeJobs();
            QVERIFY(jobs.size() == 1 && probe.is(jobs[0]));
            Scene::progress(board, jobs[0]);
            QVERIFY(scene.turn());
            board.channel->ended = makeError(Errc::DeviceLost, "the board went down");
            QVERIFY(scene.turn());
        }
        QCOMPARE(lost, (std::vector<bool>{false, false, true}));
        QVERIFY(!scene.batch().done());
    }

    void aProbeThatDoesNotRunHoldsNothingUp()
    {
        Scene scene(1);
        Probe probe(scene.options());
        auto& builder = scene.addBuilder();
        auto& runner = scene.addRunner(elsewhere(1));
        scene.buildAll(builder);
        int probes = 0;
        play(scene, {&runner}, [&](FakePort::Seen& device, const wire::Message& job) {
            if (!probe.is(job)) {
                Scene::ran(device, job, 50);
                return;
            }
            ++probes;
            wire::Message failed;
            failed.mutable_run_result()->set_id(job.run_job().id());
            failed.mutable_run_result()->set_stage(static_cast<std::uint32_t>(TrialStage::Run));
            failed.mutable_run_result()->mutable_failure()->set_code(static_cast<std::uint32_t>(Errc::RunTimeout));
            device.answer(failed);
        });
        QCOMPARE(probes, 1);
        QCOMPARE(probe.told.size(), std::size_t(1));
        QVERIFY(!conditionsOf(scene.results().front().second).contains("probe_drift"));
    }
};

LATHE_TEST(TestBatchProbes)

} // namespace tst_batch_probes

#include "tst_batch_probes.moc"
