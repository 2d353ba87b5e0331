#include "core/search/task_scheduler.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>

namespace tst_task_scheduler {

using namespace lathe;
using namespace lathe::search;

namespace {

std::unique_ptr<TaskScheduler> make(const char* strategy, std::vector<ScheduledTask> tasks,
                                    SchedulerOptions options = {})
{
    auto scheduler = TaskScheduler::create(strategy, std::move(tasks), options);
    return scheduler ? *std::move(scheduler) : nullptr;
}

ScheduledTask task(const char* name, double weight = 1, double flop = 1e6, const char* tag = "", double floor = 0)
{
    return {name, weight, flop, tag, floor};
}

RoundOutcome outcome(double bestMs, std::int64_t trials = 64, double seconds = 1)
{
    return {trials, bestMs * 1e-3, seconds, false};
}

} // namespace

class TestTaskScheduler : public QObject
{
    Q_OBJECT

private slots:
    void warmUpVisitsEveryTaskInOrder()
    {
        for (const char* strategy : {"gradient", "reference", "round-robin"}) {
            const auto scheduler = make(strategy, {task("a"), task("b"), task("c")});
            for (int i = 0; i < 3; ++i) {
                QCOMPARE(scheduler->next(), i);
                scheduler->tell(i, outcome(1 + i));
            }
            QVERIFY(scheduler->next() >= 0);
        }
    }

    /// One task after another by their places, each until it is exhausted, has its cap or gets no faster.
    void sequentialGoesThroughPlaces()
    {
        SchedulerOptions options;
        options.trialsPerRound = 64;
        options.earlyStopPerTask = 128;
        std::vector<ScheduledTask> tasks = {task("a"), task("b"), task("c")};
        tasks[0].place = 2;
        tasks[1].place = 0;
        tasks[2].place = 1;
        const auto scheduler = make("sequential", tasks, options);
        for (int i = 0; i < 3; ++i) // each has its first round, so that the network has an estimate
            scheduler->tell(scheduler->next(), outcome(10, 1));
        QCOMPARE(scheduler->next(), 1);
        scheduler->tell(1, outcome(5));
        QCOMPARE(scheduler->next(), 1);
        scheduler->tell(1, {0, std::numeric_limits<double>::infinity(), 1, true}); // exhausted
        QCOMPARE(scheduler->next(), 2);
        scheduler->setTrialCap(2, 65);
        scheduler->tell(2, outcome(5));
        QCOMPARE(scheduler->next(), 0);
        scheduler->tell(0, outcome(5));
        for (int round = 0; round < 2; ++round) {
            QCOMPARE(scheduler->next(), 0);
            scheduler->tell(0, outcome(6));
        }
        QCOMPARE(scheduler->next(), 0); // 128 trials without gain are allowed
        scheduler->tell(0, outcome(6));
        QCOMPARE(scheduler->next(), -1);
    }

    void theReferencesGradientIsAsComputedByHand()
    {
        const auto scheduler = make("reference", {task("a", 2, 1e6), task("b", 1, 1e6)});
        for (const double best : {10.0, 8.0, 7.0, 6.0, 6.5})
            scheduler->tell(0, outcome(best));
        scheduler->tell(1, outcome(4));
        const auto terms = scheduler->terms();
        // a: history 10 8 7 6 6 ms, t = 5, window 3: backward (6 - 8) / 3, forward -6 / 5.
        QCOMPARE(terms[0].at("chain"), 2.0);
        QVERIFY(std::abs(terms[0].at("backward") - (6e-3 - 8e-3) / 3) < 1e-15);
        QVERIFY(std::abs(terms[0].at("forward") + 6e-3 / 5) < 1e-15);
        QVERIFY(std::abs(terms[0].at("gradient") - 2 * (0.2 * (-2e-3 / 3) + 0.8 * (-1.2e-3))) < 1e-15);
        // b: no history, forward -4 / 1: it promises more.
        QVERIFY(std::abs(terms[1].at("gradient") + 0.8 * 4e-3) < 1e-15);
        QCOMPARE(scheduler->next(), 1);
    }

    void anExhaustedTaskIsNeverAskedAgain()
    {
        SchedulerOptions options;
        options.earlyStopPerTask = 64;
        const auto scheduler = make("gradient", {task("a"), task("b")}, options);
        scheduler->tell(0, outcome(5));
        scheduler->tell(1, outcome(1));
        scheduler->tell(0, {0, std::numeric_limits<double>::infinity(), 0.1, true});
        QVERIFY(scheduler->progress(0).exhausted);
        for (int i = 0; i < 3; ++i) { // without gain: stopped, yet revived, since it has candidates left
            QCOMPARE(scheduler->next(), 1);
            scheduler->tell(1, outcome(1));
        }
        QVERIFY(scheduler->progress(1).dead && !scheduler->progress(1).exhausted);
        QCOMPARE(scheduler->next(), 1);
        scheduler->tell(1, {0, std::numeric_limits<double>::infinity(), 0.1, true});
        QCOMPARE(scheduler->next(), -1);
    }

    void aLeapPromisesNoOther()
    {
        // Four times as fast at its first search, as a schedule that was never searched leaves it.
        const auto scheduler = make("gradient", {task("a"), task("b")});
        scheduler->tell(0, outcome(12, 1, 0.05));
        scheduler->tell(1, outcome(4, 1, 0.05));
        scheduler->tell(0, outcome(3));
        QCOMPARE(scheduler->next(), 1); // which was never searched
        scheduler->tell(1, outcome(3.9));
        scheduler->tell(0, outcome(2));
        QCOMPARE(scheduler->next(), 0); // who has just won goes on
        scheduler->tell(0, outcome(2));
        scheduler->tell(0, outcome(2));
        scheduler->tell(0, outcome(2));
        QCOMPARE(scheduler->next(), 1);
    }

    void aFirstRoundsOneTrialDoesNotTellWhatARoundTakes()
    {
        SchedulerOptions options;
        options.trialsPerRound = 10;
        const auto scheduler = make("gradient", {task("a"), task("b")}, options);
        scheduler->tell(0, outcome(5, 1, 1.0));
        scheduler->tell(1, outcome(5, 1, 1.0)); // a second, for data that is made once
        QCOMPARE(scheduler->terms()[1].at("round_seconds"), 10.0); // no other speed is known
        scheduler->tell(0, outcome(4, 9, 0.0)); // a: ten trials in a second
        QVERIFY(std::abs(scheduler->terms()[1].at("round_seconds") - 10 * (1.0 + 8 * 0.1) / 9) < 1e-12);
        for (int i = 0; i < 10; ++i)
            scheduler->tell(1, outcome(4, 100, 20.0)); // b: five a second, by its own thousand
        QVERIFY(std::abs(scheduler->terms()[1].at("round_seconds") - 2.0) < 0.05);
    }

    void similarTasksBoundEachOther()
    {
        const auto scheduler = make("reference",
                                    {task("a", 1, 1e6, "conv"), task("b", 1, 1e6, "conv"), task("c", 1, 1e6, "")});
        scheduler->tell(0, outcome(1)); // 1e9 FLOP/s
        scheduler->tell(1, outcome(10));
        scheduler->tell(2, outcome(10));
        // b: its like does 1e9, so twice 1 ms is expected: forward = 2 - 10; c has no like: 0 - 10.
        QVERIFY(std::abs(scheduler->terms()[1].at("forward") + 10e-3) < 1e-15); // min(0, 2): c - c/1 = 0 wins at t = 1
        for (int i = 0; i < 3; ++i)
            scheduler->tell(1, outcome(10));
        // t = 4: c - c/4 = 7.5 against 2.
        QVERIFY(std::abs(scheduler->terms()[1].at("forward") - (2e-3 - 10e-3)) < 1e-12);
        // It stays behind: after more than 5 rounds over the others' it is no longer alike.
        for (int i = 0; i < 3; ++i)
            scheduler->tell(1, outcome(10));
        QVERIFY(std::abs(scheduler->terms()[1].at("forward") + 10e-3 / 7) < 1e-12);
    }

    void deadTasksGetNothingMore()
    {
        SchedulerOptions options;
        options.earlyStopPerTask = 100;
        const auto scheduler = make("reference", {task("a", 100, 1e6), task("b", 1, 1e6)}, options);
        scheduler->tell(0, outcome(5));
        scheduler->tell(1, outcome(1));
        QCOMPARE(scheduler->next(), 0);
        scheduler->tell(0, outcome(6));
        scheduler->tell(0, outcome(6)); // 128 trials since the best
        QVERIFY(scheduler->progress(0).dead);
        QCOMPARE(scheduler->terms()[0].at("gradient"), 0.0);
        QCOMPARE(scheduler->next(), 1);
        scheduler->tell(1, {0, std::numeric_limits<double>::infinity(), 0, true});
        QCOMPARE(scheduler->next(), -1);
    }

    void lathesOwnComesBackToStoppedTasks()
    {
        SchedulerOptions options;
        options.earlyStopPerTask = 64;
        const auto scheduler = make("gradient", {task("a", 1, 1e6)}, options);
        for (int i = 0; i < 4; ++i)
            scheduler->tell(0, outcome(5));
        QVERIFY(scheduler->progress(0).dead);
        QCOMPARE(scheduler->next(), 0);
        scheduler->tell(0, outcome(4));
        QVERIFY(!scheduler->progress(0).dead);
    }

    void gainIsPerSecondAndKnowsTheFloor()
    {
        // Equal in all but the time that a round takes.
        const auto slow = make("gradient", {task("a", 1, 1e6), task("b", 1, 1e6)});
        slow->tell(0, outcome(5, 64, 10));
        slow->tell(1, outcome(5, 64, 1));
        QCOMPARE(slow->next(), 1);
        // A first round of one trial takes less time and says nothing of what a whole one takes.
        const auto shorter = make("gradient", {task("a", 1, 1e6), task("b", 1, 1e6)});
        shorter->tell(0, outcome(5, 1, 0.5));
        shorter->tell(1, outcome(5, 64, 1));
        QCOMPARE(shorter->next(), 1);
        // Equal in all but how much is left to win.
        const auto bound = make("gradient", {task("a", 1, 1e6, "", 4.9e-3), task("b", 1, 1e6, "", 1e-3)});
        bound->tell(0, outcome(5));
        bound->tell(1, outcome(5));
        QCOMPARE(bound->next(), 1);
    }

    void pinMuteAndCapAreObeyed()
    {
        const auto scheduler = make("gradient", {task("a", 1, 1e6), task("b", 100, 1e6), task("c", 1, 1e6)});
        for (int i = 0; i < 3; ++i)
            scheduler->tell(i, outcome(5));
        QCOMPARE(scheduler->next(), 1);
        scheduler->setPinned(2, true);
        QCOMPARE(scheduler->next(), 2);
        scheduler->setPinned(2, false);
        scheduler->setMuted(1, true);
        QVERIFY(scheduler->next() != 1);
        scheduler->setMuted(1, false);
        scheduler->setTrialCap(1, 64);
        QVERIFY(scheduler->next() != 1);
    }

    void restoredRoundsAreNotWarmedUpAgain()
    {
        const auto scheduler = make("reference", {task("a", 1, 1e6), task("b", 1, 1e6)});
        scheduler->restore(0, 130, 2e-3);
        QCOMPARE(scheduler->progress(0).rounds, 2);
        QCOMPARE(scheduler->next(), 1);
        QVERIFY(std::isinf(scheduler->estimatedLatency()));
        scheduler->tell(1, outcome(3));
        QCOMPARE(scheduler->estimatedLatency(), 5e-3);
        QCOMPARE(scheduler->totalTrials(), 194);
    }

    void refusals()
    {
        const auto code = [](const char* strategy, std::vector<ScheduledTask> tasks, SchedulerOptions options = {}) {
            const auto scheduler = TaskScheduler::create(strategy, std::move(tasks), options);
            return scheduler ? Errc::Ok : scheduler.error().code;
        };
        QVERIFY(code("gradient", {}) == Errc::InvalidArgument);
        QVERIFY(code("gradient", {task("a", 0)}) == Errc::InvalidArgument);
        QVERIFY(code("gradient", {task("a", std::nan(""))}) == Errc::InvalidArgument);
        QVERIFY(code("magic", {task("a", 1)}) == Errc::InvalidArgument);
        SchedulerOptions options;
        options.trialsPerRound = 0;
        QVERIFY(code("gradient", {task("a", 1)}, options) == Errc::InvalidArgument);
    }
};

LATHE_TEST(TestTaskScheduler)

} // namespace tst_task_scheduler

#include "tst_task_scheduler.moc"
