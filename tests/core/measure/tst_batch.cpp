#include "core/measure/batch.h"
#include "core/wire/hash_field.h"
#include "tests/support/fake_port.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <nlohmann/json.hpp>

namespace tst_batch {

using namespace lathe;
using namespace lathe::measure;
using lathe::test::FakePort;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

TaskDataPtr task()
{
    auto data = std::make_shared<TaskData>();
    data->dagJson = "{}";
    data->dagHash = contentHash(data->dagJson);
    return data;
}

/// Requests, workers that the test plays, and a clock that it sets.
class Scene
{
public:
    explicit Scene(std::size_t requests)
    {
        m_options.target = "fake";
        m_options.candidatesPerBuild = 1;
        m_options.buildTimeoutSeconds = 20;
        m_options.runTimeoutSeconds = 10;
        m_options.onQuiet = [this](bool quiet) { m_quiet = quiet; };
        for (std::size_t i = 0; i < requests; ++i) {
            MeasureRequest request;
            request.trial = std::string(31, '0') + "123456789abcdef"[i];
            request.task = m_task;
            request.ordinal = static_cast<std::int64_t>(i);
            m_requests.push_back(request);
        }
    }

    FakePort::Seen& addBuilder()
    {
        EndpointTraits traits;
        traits.sharesMachine = true;
        return add(m_builders, traits, false);
    }
    FakePort::Seen& addRunner(EndpointTraits traits)
    {
        traits.device = DeviceSpec{"fake", "0", ""};
        return add(m_runners, traits, true);
    }

    BatchOptions& options() { return m_options; }
    Endpoint& runner(std::size_t i) { return *m_runners[i]; }

    Result<> turn()
    {
        if (!m_batch) {
            for (const auto& endpoint : m_builders)
                m_builderPointers.push_back(endpoint.get());
            for (const auto& endpoint : m_runners)
                m_runnerPointers.push_back(endpoint.get());
            m_lastRunner = m_runners.size() - 1;
            m_batch.emplace(m_options, m_builderPointers, m_runnerPointers, m_lastRunner, m_requests, m_onResult,
                            m_times, m_now);
        }
        // Workers that answer at once need more than one turn to be greeted and asked.
        for (int i = 0; i < 4; ++i)
            LATHE_TRY(m_batch->turn(m_now));
        return {};
    }
    void pass(Endpoint::Clock::duration time) { m_now += time; }
    Batch& batch() { return *m_batch; }
    Endpoint::Time now() const { return m_now; }
    void drop() { m_batch.reset(); }
    bool quiet() const { return m_quiet; }
    const std::vector<std::pair<std::size_t, TrialResult>>& results() const { return m_results; }

    /// What a builder answers to a job.
    static void built(FakePort::Seen& builder, const wire::Message& job)
    {
        const std::string bytes = "code of " + job.build_job().candidates(0).name();
        const Hash128 hash = contentHash(bytes);
        wire::Message blob;
        wire::toWire(hash, blob.mutable_blob()->mutable_hash());
        blob.mutable_blob()->set_total(bytes.size());
        blob.mutable_blob()->set_data(bytes);
        builder.answer(blob);
        ArtifactDescriptor descriptor = {"fake", "fake", {}};
        wire::Message answer;
        wire::BuildResult& result = *answer.mutable_build_result();
        result.set_id(job.build_job().id());
        for (const auto& candidate : job.build_job().candidates()) {
            KernelInfo kernel;
            kernel.name = candidate.name();
            kernel.phases = {candidate.name() + "_p0"};
            auto& row = *result.add_candidates();
            row.set_stage(static_cast<std::uint32_t>(TrialStage::Done));
            row.set_kernel(static_cast<std::int32_t>(descriptor.kernels.size()));
            descriptor.kernels.push_back(std::move(kernel));
        }
        wire::toWire(hash, result.mutable_product());
        result.set_descriptor(toJson(descriptor).dump());
        builder.answer(answer);
    }
    static void ran(FakePort::Seen& runner, const wire::Message& job, double ns)
    {
        wire::Message answer;
        wire::RunResult& result = *answer.mutable_run_result();
        result.set_id(job.run_job().id());
        result.set_stage(static_cast<std::uint32_t>(TrialStage::Done));
        result.add_costs_ns(ns);
        result.set_verified(true);
        runner.answer(answer);
    }
    static void progress(FakePort::Seen& runner, const wire::Message& job)
    {
        wire::Message note;
        note.mutable_progress()->set_id(job.run_job().id());
        note.mutable_progress()->set_stage(static_cast<std::uint32_t>(TrialStage::Run));
        note.mutable_progress()->set_what("running the kernel");
        runner.answer(note);
    }

    /// All that a builder is asked for.
    void buildAll(FakePort::Seen& builder)
    {
        QVERIFY(turn());
        for (auto jobs = builder.takeJobs(); !jobs.empty(); jobs = builder.takeJobs()) {
            for (const wire::Message& job : jobs)
                built(builder, job);
            QVERIFY(turn());
        }
    }

private:
    FakePort::Seen& add(std::vector<std::unique_ptr<Endpoint>>& where, const EndpointTraits& traits, bool device)
    {
        const auto& seen = m_seen.emplace_back(std::make_shared<FakePort::Seen>());
        if (!device)
            seen->device.clear();
        where.push_back(std::make_unique<Endpoint>(std::make_unique<FakePort>(seen), traits));
        if (traits.supervised && !where.back()->waitUntilReady())
            qFatal("a fake does not open");
        return *seen;
    }

    TaskDataPtr m_task = task();
    BatchOptions m_options;
    std::vector<MeasureRequest> m_requests;
    std::vector<std::shared_ptr<FakePort::Seen>> m_seen;
    std::vector<std::unique_ptr<Endpoint>> m_builders, m_runners;
    std::vector<Endpoint*> m_builderPointers, m_runnerPointers;
    std::size_t m_lastRunner = 0;
    MeasureTimes m_times;
    bool m_quiet = false;
    std::vector<std::pair<std::size_t, TrialResult>> m_results;
    Measurer::ResultCallback m_onResult = [this](std::size_t index, TrialResult result) {
        m_results.emplace_back(index, std::move(result));
    };
    Endpoint::Time m_now = Endpoint::Clock::now();
    std::optional<Batch> m_batch; ///< ends first
};

EndpointTraits here()
{
    EndpointTraits traits;
    traits.sharesMachine = true;
    return traits;
}

EndpointTraits elsewhere(std::size_t capacity = 1)
{
    EndpointTraits traits;
    traits.supervised = true;
    traits.capacity = capacity;
    return traits;
}

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

} // namespace

class TestBatch : public QObject
{
    Q_OBJECT

private slots:
    void buildersStandStillWhileThisMachineMeasures()
    {
        Scene scene(3);
        auto& first = scene.addBuilder();
        auto& second = scene.addBuilder();
        auto& runner = scene.addRunner(here());
        QVERIFY(scene.turn());
        const auto firstJobs = first.takeJobs();
        QCOMPARE(firstJobs.size(), std::size_t(1));
        QCOMPARE(second.takeJobs().size(), std::size_t(1));
        Scene::built(first, firstJobs[0]);
        QVERIFY(scene.turn());
        QVERIFY(runner.channel == nullptr || runner.takeJobs().empty()); // the other one may soon be done
        first.takeJobs();
        scene.pass(seconds(2));
        QVERIFY(scene.turn());
        QCOMPARE(runner.takeJobs().size(), std::size_t(1));
        QVERIFY(scene.quiet());
        QVERIFY(second.suspended);
        scene.drop();
        QVERIFY(!scene.quiet());
        QVERIFY(!second.suspended);
        QCOMPARE(runner.closed, 1); // in the middle of a job
    }

    /// Nothing else would wake who waits for the batch.
    void buildersGoOnOnceNothingIsLeftToMeasure()
    {
        Scene scene(2);
        auto& builder = scene.addBuilder();
        auto& runner = scene.addRunner(here());
        QVERIFY(scene.turn());
        Scene::built(builder, builder.takeJobs().at(0));
        QVERIFY(scene.turn());
        const auto jobs = runner.takeJobs();
        QCOMPARE(jobs.size(), std::size_t(1));
        QVERIFY(builder.takeJobs().empty());
        Scene::ran(runner, jobs[0], 5);
        QVERIFY(scene.batch().turn(scene.now())); // one turn alone
        QVERIFY(!scene.quiet());
        QCOMPARE(builder.takeJobs().size(), std::size_t(1));
    }

    void elsewhereBuildingAndMeasuringOverlap()
    {
        Scene scene(3);
        auto& builder = scene.addBuilder();
        auto& runner = scene.addRunner(elsewhere());
        QVERIFY(scene.turn());
        Scene::built(builder, builder.takeJobs().at(0));
        QVERIFY(scene.turn());
        QCOMPARE(runner.takeJobs().size(), std::size_t(1));
        QCOMPARE(builder.takeJobs().size(), std::size_t(1)); // the next one, meanwhile
        QVERIFY(!builder.suspended && !scene.quiet());
        QVERIFY(scene.batch().activity() == Batch::Activity::Measuring);
    }

    void aDeviceHoldsAsManyRequestsAsItTakes()
    {
        Scene scene(4);
        auto& builder = scene.addBuilder();
        auto& runner = scene.addRunner(elsewhere(2));
        scene.buildAll(builder);
        auto jobs = runner.takeJobs();
        QCOMPARE(jobs.size(), std::size_t(2));
        Scene::ran(runner, jobs[0], 5);
        QVERIFY(scene.turn());
        QCOMPARE(runner.takeJobs().size(), std::size_t(1));
        QCOMPARE(scene.results().size(), std::size_t(1));
    }

    void resultsComeInRequestOrderWhoeverMeasured()
    {
        Scene scene(2);
        auto& builder = scene.addBuilder();
        auto& slow = scene.addRunner(elsewhere());
        auto& quick = scene.addRunner(elsewhere());
        scene.buildAll(builder);
        const auto slowJobs = slow.takeJobs();
        const auto quickJobs = quick.takeJobs();
        QCOMPARE(slowJobs.size(), std::size_t(1));
        QCOMPARE(quickJobs.size(), std::size_t(1));
        Scene::ran(quick, quickJobs[0], 7);
        QVERIFY(scene.turn());
        QVERIFY(scene.results().empty());
        Scene::ran(slow, slowJobs[0], 5);
        QVERIFY(scene.turn());
        QCOMPARE(scene.results().size(), std::size_t(2));
        QCOMPARE(scene.results()[0].second.meanNs(), 5.0);
        QCOMPARE(scene.results()[1].second.meanNs(), 7.0);
        QVERIFY(scene.batch().done());
    }

    void whatALostDeviceHadIsGivenToAnother()
    {
        Scene scene(2);
        auto& builder = scene.addBuilder();
        auto& lost = scene.addRunner(elsewhere(2));
        scene.buildAll(builder);
        const auto jobs = lost.takeJobs();
        QCOMPARE(jobs.size(), std::size_t(2));
        Scene::progress(lost, jobs[0]);
        lost.channel->ended = makeError(Errc::DeviceLost, "the board says nothing any more");
        QVERIFY(scene.turn());
        QVERIFY(scene.results().empty());
        QCOMPARE(lost.closed, 1);
        QVERIFY(scene.runner(0).waitUntilReady()); // it is there again
        scene.batch().addRunner(scene.runner(0));
        QVERIFY(scene.turn());
        const auto again = lost.takeJobs();
        QCOMPARE(again.size(), std::size_t(2));
        QVERIFY(again[0].run_job().trial().low() == jobs[0].run_job().trial().low());
        Scene::ran(lost, again[0], 5);
        Scene::ran(lost, again[1], 7);
        QVERIFY(scene.turn());
        QCOMPARE(scene.results().size(), std::size_t(2));
        QVERIFY(scene.results()[0].second.ok() && scene.results()[1].second.ok());
    }

    /// It may be what brings them down; the one that waited behind it is innocent.
    void aCandidateThatLosesDeviceAfterDeviceIsGivenUp()
    {
        Scene scene(2);
        auto& builder = scene.addBuilder();
        auto& board = scene.addRunner(elsewhere(2));
        scene.buildAll(builder);
        for (int i = 0; i < 3; ++i) {
            const auto jobs = board.takeJobs();
            QCOMPARE(jobs.size(), std::size_t(2));
            Scene::progress(board, jobs[0]);
            QVERIFY(scene.turn());
            board.channel->ended = makeError(Errc::DeviceLost, "the board went down");
            QVERIFY(scene.turn());
            QVERIFY(scene.runner(0).waitUntilReady());
            scene.batch().addRunner(scene.runner(0));
            QVERIFY(scene.turn());
        }
        QCOMPARE(scene.results().size(), std::size_t(1));
        QCOMPARE(int(scene.results()[0].second.code), int(Errc::DeviceLost));
        QVERIFY(scene.results()[0].second.text.find("went down") != std::string::npos);
        const auto jobs = board.takeJobs();
        QCOMPARE(jobs.size(), std::size_t(1));
        Scene::ran(board, jobs[0], 7);
        QVERIFY(scene.turn());
        QVERIFY(scene.results()[1].second.ok());
    }

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
        const auto conditions = nlohmann::json::parse(scene.results()[0].second.conditions);
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
        for (int i = 0; i < 20 && !scene.batch().done(); ++i) {
            for (const wire::Message& job : runner.takeJobs()) {
                if (probe.is(job))
                    Scene::ran(runner, job, took *= 1.04); // never steady
                else
                    Scene::ran(runner, job, 50 + ++candidates);
            }
            QVERIFY(scene.turn());
        }
        QVERIFY(scene.batch().done());
        QCOMPARE(candidates, 3); // then it is what it is
        QCOMPARE(probe.rejected, std::size_t(3));
        const TrialResult& result = scene.results().front().second;
        QCOMPARE(result.meanNs(), 53.0);
        const auto conditions = nlohmann::json::parse(result.conditions);
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
        bool told = false;
        for (int i = 0; i < 20 && !scene.batch().done(); ++i) {
            for (auto* runner : {&stray, &other})
                for (const wire::Message& job : runner->takeJobs()) {
                    if (!probe.is(job)) {
                        Scene::ran(*runner, job, runner == &stray ? 999 : 50);
                        if (runner == &stray)
                            probe.why = say(Msg::DeviceStrays, 1.5, "board"); // seen by the probe that follows
                        continue;
                    }
                    Scene::ran(*runner, job, 1000);
                }
            QVERIFY(scene.turn());
            if (!lost.empty() && !told) {
                told = true;
                probe.why.reset();
            }
        }
        QVERIFY(scene.batch().done());
        QVERIFY(told);
        QVERIFY2(lost.find("1.50 times") != std::string::npos, lost.c_str());
        const TrialResult& result = scene.results().front().second;
        QVERIFY(result.ok());
        QCOMPARE(result.meanNs(), 50.0);
        QCOMPARE(nlohmann::json::parse(result.conditions)["rejected"][0]["costs_ns"][0].get<double>(), 999.0);
    }

    void aProbeThatDoesNotRunHoldsNothingUp()
    {
        Scene scene(1);
        Probe probe(scene.options());
        auto& builder = scene.addBuilder();
        auto& runner = scene.addRunner(elsewhere(1));
        scene.buildAll(builder);
        for (int i = 0; i < 20 && !scene.batch().done(); ++i) {
            for (const wire::Message& job : runner.takeJobs()) {
                if (probe.is(job))
                    Scene::ran(runner, job, -1); // no time
                else
                    Scene::ran(runner, job, 50);
            }
            QVERIFY(scene.turn());
        }
        QVERIFY(scene.batch().done());
        QCOMPARE(probe.times, std::vector<double>{-1});
        QVERIFY(!nlohmann::json::parse(scene.results().front().second.conditions).contains("probe_drift"));
    }

    void aSupervisorThatFallsSilentCountsAsLost()
    {
        Scene scene(1);
        auto& builder = scene.addBuilder();
        auto& board = scene.addRunner(elsewhere());
        scene.buildAll(builder);
        const auto jobs = board.takeJobs();
        scene.pass(std::chrono::hours(1)); // an upload takes as long as it takes
        QVERIFY(scene.turn());
        QCOMPARE(board.closed, 0);
        Scene::progress(board, jobs.at(0));
        QVERIFY(scene.turn());
        scene.pass(seconds(19));
        QVERIFY(scene.turn());
        QCOMPARE(board.closed, 0);
        scene.pass(seconds(1));
        QVERIFY(scene.turn());
        QCOMPARE(board.closed, 1);
        QVERIFY(scene.results().empty());
    }

    void aKernelThatHangsHereIsKilledInTime()
    {
        Scene scene(1);
        auto& builder = scene.addBuilder();
        auto& runner = scene.addRunner(here());
        scene.buildAll(builder);
        const auto jobs = runner.takeJobs();
        Scene::progress(runner, jobs.at(0));
        QVERIFY(scene.turn());
        scene.pass(milliseconds(9999));
        QVERIFY(scene.turn());
        QCOMPARE(runner.closed, 0);
        QVERIFY(scene.batch().wake(scene.now()) <= scene.now() + milliseconds(1));
        scene.pass(milliseconds(1));
        QVERIFY(scene.turn());
        QCOMPARE(runner.closed, 1);
        QCOMPARE(scene.results().size(), std::size_t(1));
        QCOMPARE(int(scene.results()[0].second.code), int(Errc::RunTimeout));
        QCOMPARE(int(scene.results()[0].second.stage), int(TrialStage::Run));
    }

    void theFirstOfSeveralIsMeasuredAloneOnThisMachine()
    {
        Scene scene(2);
        auto& builder = scene.addBuilder();
        auto& first = scene.addRunner(here());
        auto& second = scene.addRunner(here());
        scene.buildAll(builder);
        QCOMPARE(first.takeJobs().size(), std::size_t(1));
        QVERIFY(second.channel == nullptr || second.takeJobs().empty());
    }

    void aWorkerThatAnswersAnotherJobIsReplaced()
    {
        Scene scene(1);
        auto& builder = scene.addBuilder();
        auto& runner = scene.addRunner(here());
        scene.buildAll(builder);
        auto job = runner.takeJobs().at(0);
        job.mutable_run_job()->set_id(job.run_job().id() + 1000);
        Scene::ran(runner, job, 5);
        QVERIFY(scene.turn());
        QCOMPARE(runner.closed, 1);
        const auto again = runner.takeJobs();
        QCOMPARE(again.size(), std::size_t(1));
        Scene::ran(runner, again[0], 5);
        QVERIFY(scene.turn());
        QVERIFY(scene.results().at(0).second.ok());
    }

    void aProgramThatIsNotThereEndsTheBatch()
    {
        Scene scene(1);
        auto& builder = scene.addBuilder();
        scene.addRunner(here());
        builder.refused = makeError(Errc::NotFound, "no such program");
        const auto turned = scene.turn();
        QVERIFY(!turned);
        QCOMPARE(int(turned.error().code), int(Errc::NotFound));
    }

    void whatNobodyHasIsAskedForAndSentAgain()
    {
        Scene scene(1);
        auto& builder = scene.addBuilder();
        auto& board = scene.addRunner(elsewhere());
        scene.buildAll(builder);
        const auto jobs = board.takeJobs();
        wire::Message missing;
        missing.mutable_missing()->set_id(jobs.at(0).run_job().id());
        *missing.mutable_missing()->add_blobs() = jobs[0].run_job().artifacts(0).blob();
        board.answer(missing);
        QVERIFY(scene.turn());
        const auto sent = board.channel->sent;
        QCOMPARE(sent.size(), std::size_t(2));
        QVERIFY(sent[0].has_blob());
        QVERIFY(sent[1].has_run_job());
    }
};

LATHE_TEST(TestBatch)

} // namespace tst_batch

#include "tst_batch.moc"
