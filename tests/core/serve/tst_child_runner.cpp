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
};

LATHE_TEST(TestChildRunner)

} // namespace tst_child_runner

#include "tst_child_runner.moc"
