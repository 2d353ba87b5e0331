#include "core/search/task_scheduler.h"
#include "core/session/run/budget_clock.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <cmath>

namespace tst_budget_clock {

using namespace lathe;
using namespace lathe::session;

/// What is used of a run's budget, on a clock that the test turns.
class TestBudgetClock : public QObject
{
    Q_OBJECT

    double m_now = 0;
    TimeAccount::Clock now()
    {
        m_now = 0;
        return [this] { return m_now; };
    }

private slots:
    void timeCountsOverAllLivesWithoutPauses()
    {
        const TuneOptions options;
        BudgetClock clock(options, now());
        m_now = 100; // before it began
        clock.begin();
        clock.continueFrom(30);
        m_now += 5;
        QCOMPARE(clock.atSeconds(), 35.0);
        {
            const auto pause = clock.account().in({});
            m_now += 1000;
        }
        m_now += 1;
        QCOMPARE(clock.atSeconds(), 36.0);
    }

    void theSearchLeavesWhatIsReserved()
    {
        TuneOptions options;
        BudgetClock clock(options, now());
        clock.reserveForFinals(8);
        QVERIFY(std::isinf(clock.searchSeconds()) && clock.left()); // no budget in time
        options.seconds = 100;
        clock.reserveForNetwork(20);
        QCOMPARE(clock.searchSeconds(), 72.0);
        m_now = 71.9;
        QVERIFY(clock.left());
        m_now = 72;
        QVERIFY(!clock.left());
    }

    void trialsAreABudgetToo()
    {
        TuneOptions options;
        options.trials = 2;
        BudgetClock clock(options, now());
        clock.countTrial();
        QVERIFY(clock.left());
        clock.countTrial();
        QVERIFY(!clock.left());
        QCOMPARE(clock.trials(), std::int64_t{2});
    }

    void trialsWithoutAGainEndItOnceAllIsKnown()
    {
        TuneOptions options;
        options.earlyStop = 3;
        BudgetClock clock(options, now());
        const auto trials = [&clock](int count) {
            for (int i = 0; i < count; ++i)
                clock.countTrial();
        };
        trials(10);
        clock.noteObjective(std::numeric_limits<double>::infinity());
        QVERIFY(clock.left()); // some task has nothing yet
        clock.noteObjective(2);
        trials(2);
        clock.noteObjective(3); // no gain
        QVERIFY(clock.left());
        trials(1);
        QVERIFY(!clock.left());
        clock.noteObjective(1.9);
        QVERIFY(clock.left());
    }

    void theLatestWindowsGainIsHeldAgainstWhatWasAskedFor()
    {
        TuneOptions options;
        options.minGainPercent = 1;
        options.gainWindowSeconds = 60;
        BudgetClock clock(options, now());
        clock.noteGain(0, std::numeric_limits<double>::infinity()); // says nothing
        clock.noteGain(10, 0.100);
        m_now = 50;
        QVERIFY(!clock.gainedTooLittle()); // not known for a window
        clock.noteGain(60, 0.090);
        m_now = 75;
        QVERIFY(!clock.gainedTooLittle()); // 10 % in the last minute
        clock.noteGain(110, 0.0895);
        m_now = 125;
        QCOMPARE(textOf(clock.gainedTooLittle().value()), std::string("the last 1 min gained 0.56 %, less than 1 %"));
        options.minGainPercent = 0.5;
        QVERIFY(!clock.gainedTooLittle());
    }

    void aRoundTakesNoMoreThanIsLeftAndLessWhereTrialsAreSlow()
    {
        TuneOptions options;
        options.trialsPerRound = 64;
        BudgetClock clock(options, now());
        search::TaskProgress progress;
        QCOMPARE(clock.roundTrials(progress, 10), 64);
        progress.trialCap = 40;
        progress.trials = 30;
        QCOMPARE(clock.roundTrials(progress, 10), 10);
        options.trials = 5;
        QCOMPARE(clock.roundTrials(progress, 10), 5);
        options.trials = 0;
        progress.trialCap = 0;
        options.seconds = 400; // a quarter of the even share of ten tasks: 10 s
        progress.elapsedSeconds = 15; // half a second a trial
        QCOMPARE(clock.roundTrials(progress, 10), 20);
        progress.elapsedSeconds = 3000;
        QCOMPARE(clock.roundTrials(progress, 10), 8); // never fewer for that
        progress.trialCap = 30; // used up: one that could not be cut off
        QCOMPARE(clock.roundTrials(progress, 10), 1);
    }

    void firstRoundsTakeNoMoreThanAQuarterOfASmallBudget()
    {
        TuneOptions options;
        BudgetClock clock(options, now());
        QCOMPARE(clock.firstRoundTrials(64, 10), 64);
        options.trials = 200; // a quarter of an even share: 5
        QCOMPARE(clock.firstRoundTrials(64, 10), 5);
        QCOMPARE(clock.firstRoundTrials(3, 10), 3);
        QCOMPARE(clock.firstRoundTrials(64, 1000), 1);
    }

    void roundsAreSmallWhereTheBudgetIs()
    {
        TuneOptions options;
        QCOMPARE(roundSize(options, 10, 2), 64);
        options.trials = 1000;
        QCOMPARE(roundSize(options, 10, 2), 25);
        QCOMPARE(roundSize(options, 1000, 2), 8);
        QCOMPARE(roundSize(options, 1000, 16), 16); // builders do not wait for each other
        QCOMPARE(roundSize(options, 1000, 200), 64);
        options.trialsPerRound = 3;
        QCOMPARE(roundSize(options, 10, 2), 3);
    }

    void aTrialTakesWhatBuildingMeasuringAndStoringTook()
    {
        const TuneOptions options;
        BudgetClock clock(options, now());
        QCOMPARE(clock.secondsPerTrial(), 0.05); // nothing is known
        for (const char* activity : {"build", "measure", "store", "train"}) {
            const auto scope = clock.account().in(activity);
            m_now += 2;
        }
        clock.countMeasured(12);
        QCOMPARE(clock.secondsPerTrial(), 0.5);
    }
};

LATHE_TEST(TestBudgetClock)

} // namespace tst_budget_clock

#include "tst_budget_clock.moc"
