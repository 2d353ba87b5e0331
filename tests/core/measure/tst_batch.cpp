#include "core/measure/batch.h"
#include "core/wire/hash_field.h"
#include "tests/support/batch_scene.h"
#include "tests/support/test_program.h"

#include <QtTest>

namespace tst_batch {

using namespace lathe;
using namespace lathe::measure;
using namespace lathe::test::batch;
using lathe::test::FakePort;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

/// One trial, whose kernel the device's own compiler has at hand.
struct Compiling
{
    explicit Compiling(EndpointTraits device)
        : runner(scene.addRunner(device))
    {
        scene.buildAll(builder);
        Scene::progress(runner, runner.takeJobs().at(0), TrialStage::Build);
        turn();
    }

    void turn()
    {
        const auto turned = scene.turn();
        QVERIFY(turned);
    }
    /// Whether its process lives up to that time, and then no longer.
    void isGivenUpAfter(milliseconds time)
    {
        scene.pass(time - milliseconds(1));
        turn();
        QCOMPARE(runner.closed, 0);
        scene.pass(milliseconds(1));
        turn();
        QCOMPARE(runner.closed, 1);
    }

    Scene scene{1};
    FakePort::Seen& builder = scene.addBuilder();
    FakePort::Seen& runner;
};

/// Whether the scene's one trial ended so.
void endedWith(const Scene& scene, TrialStage stage, Errc code, const std::string& says)
{
    QCOMPARE(scene.results().size(), std::size_t(1));
    const TrialResult& result = scene.results()[0].second;
    QCOMPARE(int(result.stage), int(stage));
    QCOMPARE(int(result.code), int(code));
    QVERIFY2(says.empty() || result.text == says, result.text.c_str());
}

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

    /// What a later batch needs is built when builders have nothing else to do, and measured there.
    void whatIsAheadIsBuiltAndNotMeasured()
    {
        Scene scene(2);
        auto& builder = scene.addBuilder();
        auto& runner = scene.addRunner(elsewhere());
        Scene later(2);
        std::vector<MeasureRequest> ahead = later.requests();
        for (MeasureRequest& request : ahead)
            request.built = makeBuiltKernel();
        QVERIFY(scene.turn());
        QVERIFY(scene.batch().buildsMeanwhile());
        scene.batch().buildAhead(ahead);
        for (int own = 0; own < 2; ++own) { // its own come first
            const auto jobs = builder.takeJobs();
            QCOMPARE(jobs.size(), std::size_t(1));
            QVERIFY(!ahead[0].built->artifact);
            Scene::built(builder, jobs[0]);
            QVERIFY(scene.turn());
        }
        const auto first = builder.takeJobs();
        QCOMPARE(first.size(), std::size_t(1));
        Scene::built(builder, first[0]);
        QVERIFY(scene.turn());
        QVERIFY(ahead[0].built->artifact && !ahead[1].built->artifact);
        const auto second = builder.takeJobs();
        QCOMPARE(second.size(), std::size_t(1));
        for (int own = 0; own < 2; ++own) {
            const auto runs = runner.takeJobs();
            QCOMPARE(runs.size(), std::size_t(1));
            Scene::ran(runner, runs[0], 5);
            QVERIFY(scene.turn());
        }
        QCOMPARE(scene.results().size(), std::size_t(2));
        QVERIFY(!scene.batch().done()); // the builder has something in hand
        Scene::built(builder, second[0]);
        QVERIFY(scene.turn());
        QVERIFY(scene.batch().done());
        QVERIFY(ahead[1].built->artifact);
        QVERIFY(runner.takeJobs().empty());
    }

    /// Devices are not to wait for what is ahead of them.
    void nothingIsBegunAheadOnceAllIsMeasured()
    {
        Scene scene(1);
        auto& builder = scene.addBuilder();
        auto& runner = scene.addRunner(elsewhere());
        QVERIFY(scene.turn());
        Scene::built(builder, builder.takeJobs().at(0));
        QVERIFY(scene.turn());
        Scene::ran(runner, runner.takeJobs().at(0), 5);
        QVERIFY(scene.turn());
        Scene later(1);
        scene.batch().buildAhead(later.requests());
        QVERIFY(scene.turn());
        QVERIFY(builder.takeJobs().empty());
        QVERIFY(scene.batch().done());
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

    /// The last answer before another's turn may be lost on its way, as often as there are turns.
    void aDeviceThatIsTakenBackSpeaksAgainstNoCandidate()
    {
        Scene scene(1);
        auto& builder = scene.addBuilder();
        auto& board = scene.addRunner(elsewhere());
        scene.buildAll(builder);
        for (int i = 0; i < 5; ++i) {
            const auto jobs = board.takeJobs();
            QCOMPARE(jobs.size(), std::size_t(1));
            Scene::progress(board, jobs[0]);
            QVERIFY(scene.turn());
            board.channel->ended = makeError(Errc::DeviceLost, phrase("it is another user's turn on the device"));
            QVERIFY(scene.turn());
            QVERIFY(scene.results().empty());
            QVERIFY(scene.runner(0).waitUntilReady());
            scene.batch().addRunner(scene.runner(0));
            QVERIFY(scene.turn());
        }
        Scene::ran(board, board.takeJobs().at(0), 7);
        QVERIFY(scene.turn());
        QVERIFY(scene.results().at(0).second.ok());
    }

    void aSupervisorThatFallsSilentCountsAsLost()
    {
        Scene scene(1);
        auto& builder = scene.addBuilder();
        auto& board = scene.addRunner(elsewhere());
        scene.buildAll(builder);
        const auto jobs = board.takeJobs();
        board.channel->isUploading = true;
        scene.pass(std::chrono::hours(1)); // an upload takes as long as it takes
        QVERIFY(scene.turn());
        QCOMPARE(board.closed, 0);
        board.channel->isUploading = false;
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

    /// It tells others that it is there, and its link acknowledges what comes.
    void aDeviceThatNeverBeginsCountsAsLost()
    {
        Scene scene(1);
        auto& builder = scene.addBuilder();
        auto& board = scene.addRunner(elsewhere());
        scene.buildAll(builder);
        QCOMPARE(board.takeJobs().size(), std::size_t(1));
        scene.pass(std::chrono::minutes(9));
        QVERIFY(scene.turn());
        QCOMPARE(board.closed, 0);
        scene.pass(std::chrono::minutes(1));
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
        endedWith(scene, TrialStage::Run, Errc::RunTimeout, "");
    }

    /// The time-outs of the scene: 20 s of a build, 10 s of a run.
    void whatADeviceCompilesHasTheTimeOfABuildBesideThatOfTheRun()
    {
        Scene scene(1);
        auto& builder = scene.addBuilder();
        auto& runner = scene.addRunner(here());
        scene.buildAll(builder);
        const auto jobs = runner.takeJobs();
        QCOMPARE(jobs.at(0).run_job().plan().deadline_ms(), 10'000.0);
        QCOMPARE(jobs.at(0).run_job().plan().build_deadline_ms(), 20'000.0);
        QCOMPARE(int(scene.batch().activity()), int(Batch::Activity::Measuring));
        scene.pass(seconds(4)); // it loads
        Scene::progress(runner, jobs[0], TrialStage::Build);
        QVERIFY(scene.turn());
        QCOMPARE(int(scene.batch().activity()), int(Batch::Activity::Building));
        scene.pass(milliseconds(19'999));
        QVERIFY(scene.turn());
        QCOMPARE(runner.closed, 0);
        Scene::progress(runner, jobs[0], TrialStage::Run);
        QVERIFY(scene.turn());
        QCOMPARE(int(scene.batch().activity()), int(Batch::Activity::Measuring));
        scene.pass(milliseconds(5'999));
        QVERIFY(scene.turn());
        QCOMPARE(runner.closed, 0);
        // There and back gets no more of either.
        Scene::progress(runner, jobs[0], TrialStage::Build);
        Scene::progress(runner, jobs[0], TrialStage::Run);
        QVERIFY(scene.turn());
        scene.pass(milliseconds(1));
        QVERIFY(scene.turn());
        QCOMPARE(runner.closed, 1);
        endedWith(scene, TrialStage::Run, Errc::RunTimeout, "");
    }

    void aDevicesCompilerThatHangsHereIsKilledInTheTimeOfABuild()
    {
        Compiling compiling(here());
        compiling.isGivenUpAfter(seconds(20));
        endedWith(compiling.scene, TrialStage::Build, Errc::BuildTimeout,
                  "the device's compiler did not finish within 20 s");
    }

    void aDevicesCompilerThatCrashesCostsOneTrial()
    {
        Compiling compiling(here());
        compiling.runner.channel->ended = makeError(Errc::WorkerCrashed, "it was gone");
        compiling.turn();
        endedWith(compiling.scene, TrialStage::Build, Errc::WorkerCrashed,
                  "the device's compiler crashed: it was gone");
    }

    /// Its own supervisor looks at the clock; if that says nothing any more, it is lost ten seconds later.
    void aDeviceElsewhereMayCompileAsLong()
    {
        Compiling compiling(elsewhere());
        compiling.isGivenUpAfter(seconds(30));
    }

    void whatADeviceCompiledCountsAsBuild()
    {
        Scene scene(1);
        auto& builder = scene.addBuilder();
        auto& runner = scene.addRunner(here());
        scene.buildAll(builder);
        Scene::ran(runner, runner.takeJobs().at(0), 5, [](auto& result) {
            result.set_build_ms(1500);
            result.set_measure_ms(7);
        });
        QVERIFY(scene.turn());
        const TrialResult& result = scene.results().at(0).second;
        QVERIFY2(result.ok(), result.text.c_str());
        QCOMPARE(result.durationsMs.at("build"), 1500.0);
        QCOMPARE(result.durationsMs.at("measure"), 7.0);
        QVERIFY2(result.conditions.find("\"device_build_ms\":1500.0") != std::string::npos, result.conditions.c_str());
        QCOMPARE(scene.times().workers.at("device build").seconds, 1.5);
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
