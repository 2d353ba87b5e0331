#include "tests/support/test_program.h"
#include "ui/bridge/jobs.h"

#include <QSemaphore>
#include <QThread>
#include <QtTest>

#include <atomic>
#include <memory>
#include <optional>

using lathe::ui::Job;
using lathe::ui::JobLane;
using lathe::ui::JobLink;

/// What blocks is done on threads, and what nobody waits for any more is not heard.
class TestJobs : public QObject
{
    Q_OBJECT

    /// Every job of every lane is through, and whatever it had to say was looked at.
    static void settle()
    {
        JobLane::waitForAll();
        QCoreApplication::processEvents();
    }

private slots:
    void theAnswerComesToTheGuiThread()
    {
        JobLane lane;
        QThread* worked = nullptr;
        std::optional<int> answer;
        const Job job = lane.run(
            [&worked](const JobLink&) {
                worked = QThread::currentThread();
                return 42;
            },
            [&answer](int value) {
                QCOMPARE(QThread::currentThread(), QCoreApplication::instance()->thread());
                answer = value;
            });
        QVERIFY(job.isRunning() && lane.isBusy());
        QVERIFY(!answer); // never before the event loop turns
        QTRY_COMPARE(answer, std::optional(42));
        QVERIFY(worked != nullptr && worked != QThread::currentThread());
        QVERIFY(!job.isRunning() && !lane.isBusy());
        QVERIFY(!Job().isRunning());
    }

    void anAnswerThatIsMovedNeedsNoCopy()
    {
        JobLane lane;
        std::unique_ptr<int> answer;
        lane.run([](const JobLink&) { return std::make_unique<int>(7); },
                 [&answer](std::unique_ptr<int> value) { answer = std::move(value); });
        QTRY_VERIFY(answer != nullptr);
        QCOMPARE(*answer, 7);
    }

    void jobsOfALaneKeepTheirOrder()
    {
        JobLane lane;
        std::vector<int> begun, answered; // begun: by one job at a time
        for (int i = 0; i < 50; ++i)
            lane.run(
                [&begun, i](const JobLink&) {
                    begun.push_back(i);
                    return i;
                },
                [&answered](int value) { answered.push_back(value); });
        QTRY_COMPARE(answered.size(), std::size_t(50));
        QVERIFY(std::is_sorted(begun.begin(), begun.end()) && begun.size() == 50);
        QVERIFY(std::is_sorted(answered.begin(), answered.end()));
    }

    void aWideLaneDoesAllAtOnce()
    {
        JobLane lane(JobLane::Width::AllAtOnce);
        QSemaphore met;
        int answers = 0;
        for (int i = 0; i < 8; ++i)
            lane.run(
                [&met](const JobLink&) {
                    met.release();
                    const bool all = met.tryAcquire(8, 20000); // all eight are here at the same time
                    met.release(8);
                    return all;
                },
                [&answers](bool all) { answers += all ? 1 : 0; });
        QTRY_COMPARE_WITH_TIMEOUT(answers, 8, 30000);
    }

    void aLongJobHoldsUpNoOtherLane()
    {
        QSemaphore goOn;
        std::vector<std::unique_ptr<JobLane>> busy;
        for (int i = 0; i < 12; ++i) { // more than there are cores
            busy.push_back(std::make_unique<JobLane>());
            busy.back()->run(
                [&goOn](const JobLink&) {
                    goOn.acquire();
                    return true;
                },
                [](bool) {});
        }
        JobLane lane;
        bool answered = false;
        lane.run([](const JobLink&) { return true; }, [&answered](bool) { answered = true; });
        QTRY_VERIFY(answered);
        goOn.release(12);
        settle();
    }

    void whatIsToldComesBeforeTheAnswer()
    {
        JobLane lane;
        QStringList heard;
        lane.run(
            [&heard](const JobLink& link) {
                for (int i = 0; i < 3; ++i)
                    link.tell([&heard, i] { heard << QString::number(i); });
                return QStringLiteral("done");
            },
            [&heard](const QString& answer) { heard << answer; });
        QTRY_COMPARE(heard, QStringList({"0", "1", "2", "done"}));
    }

    void whatIsStoppedStillAnswers()
    {
        JobLane lane;
        std::atomic<bool> begun = false;
        std::optional<bool> stopped;
        Job job = lane.run(
            [&begun](const JobLink& link) {
                begun = true;
                while (!link.stopToken().stop_requested())
                    QThread::msleep(1);
                return link.stopToken().stop_requested();
            },
            [&stopped](bool answer) { stopped = answer; });
        QTRY_VERIFY(begun);
        job.stop();
        QVERIFY(job.isRunning()); // until it has said how far it got
        QTRY_COMPARE(stopped, std::optional(true));
    }

    /// The race that matters: the answer is already on its way when it is dropped.
    void whatIsDroppedIsNotHeardHoweverLate()
    {
        JobLane lane;
        QSemaphore through;
        bool heard = false;
        Job job = lane.run(
            [&](const JobLink& link) {
                link.tell([&heard] { heard = true; });
                through.release();
                return true;
            },
            [&heard](bool) { heard = true; });
        QVERIFY(through.tryAcquire(1, 20000));
        JobLane::waitForAll(); // the answer is posted
        job.drop();
        QVERIFY(!job.isRunning());
        settle();
        QVERIFY(!heard);
    }

    void whatIsDroppedIsAskedToEndOrNeverBegins()
    {
        JobLane lane;
        QSemaphore begun;
        std::atomic<bool> ended = false, second = false;
        int answers = 0;
        Job first = lane.run(
            [&](const JobLink& link) {
                begun.release();
                while (!link.stopToken().stop_requested())
                    QThread::msleep(1);
                ended = true;
                return true;
            },
            [&answers](bool) { ++answers; });
        Job waiting = lane.run([&second](const JobLink&) { return second = true; }, [&answers](bool) { ++answers; });
        QVERIFY(begun.tryAcquire(1, 20000));
        waiting.drop();
        first.drop();
        settle();
        QVERIFY(ended && !second);
        QCOMPARE(answers, 0);
    }

    void aLaneThatGoesTakesItsAnswersWithIt()
    {
        QSemaphore begun, goOn;
        bool heard = false;
        {
            JobLane lane;
            lane.run(
                [&](const JobLink&) {
                    begun.release();
                    goOn.acquire();
                    return true;
                },
                [&heard](bool) { heard = true; });
            QVERIFY(begun.tryAcquire(1, 20000));
        } // here it ends, though its job waits for what comes below
        goOn.release();
        settle();
        QVERIFY(!heard);
    }

    void whatMustBeDoneIsDoneUnheard()
    {
        QSemaphore begun, goOn;
        std::vector<int> written; // by one job at a time
        bool heard = false;
        {
            JobLane lane(JobLane::Width::OneByOne, JobLane::Work::IsAlwaysDone);
            for (int i = 0; i < 3; ++i)
                lane.run(
                    [&, i](const JobLink& link) {
                        begun.release();
                        goOn.acquire();
                        written.push_back(link.stopToken().stop_requested() ? -1 : i);
                        return true;
                    },
                    [&heard](bool) { heard = true; });
            QVERIFY(begun.tryAcquire(1, 20000));
        }
        goOn.release(3);
        settle();
        QCOMPARE(written, std::vector<int>({0, 1, 2}));
        QVERIFY(!heard);
    }

    void allOfALaneIsStoppedAtOnce()
    {
        JobLane lane;
        std::vector<bool> answers;
        for (int i = 0; i < 3; ++i)
            lane.run(
                [](const JobLink& link) {
                    QElapsedTimer clock;
                    clock.start();
                    while (!link.stopToken().stop_requested() && clock.elapsed() < 20000)
                        QThread::msleep(1);
                    return link.stopToken().stop_requested();
                },
                [&answers](bool stopped) { answers.push_back(stopped); });
        lane.stopAll();
        QTRY_COMPARE(answers, std::vector<bool>({true, true, true}));
        QVERIFY(!lane.isBusy());
    }
};

LATHE_TEST_GUI(TestJobs)
#include "tst_jobs.moc"
