#include "core/runtime/codes.h"
#include "core/serve/child_runner.h"
#include "core/wire/failure.h"
#include "tests/support/fake_port.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <thread>

namespace tst_child_runner {

using namespace lathe;
using namespace lathe::serve;
using std::chrono::seconds;

class TestChildRunner : public QObject
{
    Q_OBJECT

private slots:
    void aMachineThatIsHotIsWaitedForButNotForEver()
    {
        std::optional<double> celsius = 80;
        ChildRunnerOptions options;
        options.hottest = 70;
        options.coolBy = seconds(100);
        options.temperature = [&] { return celsius; };
        wire::BlobStore blobs;
        ChildRunner runner(std::make_unique<test::FakePort>(std::make_shared<test::FakePort::Seen>()), blobs, options);
        ChildRunner::Time now = ChildRunner::Clock::now();
        wire::Message job;
        job.mutable_run_job()->set_id(7);
        const auto answersAfter = [&](seconds time) {
            now += time;
            runner.turn(now);
            return runner.takeAnswers();
        };
        QVERIFY(runner.take(job, now));
        QVERIFY(answersAfter(seconds(0)).empty());
        QVERIFY(answersAfter(seconds(99)).empty());
        auto answers = answersAfter(seconds(2));
        QCOMPARE(answers.size(), std::size_t(1));
        QCOMPARE(answers[0].run_result().id(), std::uint64_t(7));
        const Error hot = wire::errorOf(answers[0].run_result().failure());
        QCOMPARE(int(hot.code), int(Errc::DeviceLost));
        QVERIFY2(hot.message.find("70 °C for 100 s") != std::string::npos, hot.message.c_str());

        // Nobody has waited any more since the one who did is gone.
        QVERIFY(runner.take(job, now));
        QVERIFY(answersAfter(seconds(2)).empty());
        runner.dropWaiting();
        now += seconds(1000);
        QVERIFY(runner.take(job, now));
        QVERIFY(answersAfter(seconds(2)).empty());
        runner.dropWaiting();

        // The next one waits anew, and is begun once it is cool, or does not tell any more.
        for (const std::optional<double> then : {std::optional(69.0), std::optional<double>()}) {
            celsius = 80;
            QVERIFY(runner.take(job, now));
            QVERIFY(answersAfter(seconds(2)).empty());
            QVERIFY(answersAfter(seconds(98)).empty());
            celsius = then;
            // Other runners of this machine may have their turn meanwhile.
            answers.clear();
            for (int i = 0; i < 600 && answers.empty(); ++i) {
                answers = answersAfter(seconds(2));
                if (answers.empty())
                    std::this_thread::sleep_for(std::chrono::milliseconds(50));
            }
            QCOMPARE(answers.size(), std::size_t(1));
            const Error begun = wire::errorOf(answers[0].run_result().failure());
            QVERIFY2(begun.message.find("no device is open") != std::string::npos, begun.message.c_str());
        }
    }

    /// What the device compiles has a time of its own beside that of the job.
    void aDevicesCompilerHasATimeOfItsOwn()
    {
        const auto worker = std::make_shared<test::FakePort::Seen>();
        wire::BlobStore blobs;
        ChildRunner runner(std::make_unique<test::FakePort>(worker), blobs);
        ChildRunner::Time now = ChildRunner::Clock::now();
        wire::Message open, job;
        open.mutable_open_device()->set_kind("fake");
        job.mutable_run_job()->set_id(7);
        job.mutable_run_job()->mutable_plan()->set_deadline_ms(10'000);
        job.mutable_run_job()->mutable_plan()->set_build_deadline_ms(20'000);
        QVERIFY(runner.take(open, now));
        runner.turn(now);
        QCOMPARE(runner.takeAnswers().size(), std::size_t(1));
        const auto begin = [&] {
            QVERIFY(runner.take(job, now));
            for (int i = 0; i < 600; ++i) { // other runners of this machine may have their turn
                now += seconds(1);
                runner.turn(now);
                if (worker->channel != nullptr && !worker->takeJobs().empty())
                    return;
                std::this_thread::sleep_for(std::chrono::milliseconds(20));
            }
            QFAIL("the job was not begun");
        };
        const auto tell = [&](std::uint32_t stage, const char* what) {
            wire::Message note;
            note.mutable_progress()->set_id(7);
            note.mutable_progress()->set_stage(stage);
            note.mutable_progress()->set_what(what);
            worker->answer(note);
            runner.turn(now);
            QCOMPARE(runner.takeAnswers().size(), std::size_t(1)); // it is handed on
        };
        /// The failure that comes once more time has passed, and not before.
        const auto failureAfter = [&](std::chrono::milliseconds time) {
            now += time - std::chrono::milliseconds(1);
            runner.turn(now);
            if (!runner.takeAnswers().empty())
                return std::string("too early");
            now += std::chrono::milliseconds(1);
            runner.turn(now);
            const auto answers = runner.takeAnswers();
            if (answers.size() != 1 || !answers[0].has_run_result())
                return std::string("nothing");
            const wire::RunResult& result = answers[0].run_result();
            return std::to_string(result.stage()) + " " + std::to_string(result.failure().code()) + ": "
                   + result.failure().text();
        };
        begin();
        now += seconds(4);
        tell(LATHE_STAGE_BUILD, "compiling on the device");
        now += seconds(19);
        tell(LATHE_STAGE_RUN, "running the kernel");
        QCOMPARE(failureAfter(seconds(6)), std::string("4 8: the run took longer than 10 s while running the kernel"));

        begin();
        tell(LATHE_STAGE_BUILD, "compiling on the device");
        QCOMPARE(failureAfter(seconds(20)), std::string("2 7: the device's compiler did not finish within 20 s"));

        begin();
        tell(LATHE_STAGE_BUILD, "compiling on the device");
        worker->channel->ended = makeError(Errc::WorkerCrashed, "it was gone");
        runner.turn(now);
        const auto answers = runner.takeAnswers();
        QCOMPARE(answers.size(), std::size_t(1));
        QCOMPARE(answers[0].run_result().stage(), std::uint32_t{LATHE_STAGE_BUILD});
        const Error crash = wire::errorOf(answers[0].run_result().failure());
        QCOMPARE(int(crash.code), int(Errc::WorkerCrashed));
        QCOMPARE(crash.message, std::string("the device's compiler crashed: it was gone"));
    }
};

LATHE_TEST(TestChildRunner)

} // namespace tst_child_runner

#include "tst_child_runner.moc"
