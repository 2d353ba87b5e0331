#include "core/runtime/clock.h"
#include "tests/support/test_program.h"

#include <QTest>

namespace tst_clock {

using namespace lathe::runtime;

class TestClock : public QObject
{
    Q_OBJECT
private slots:
    void statisticsOfAnEvenCount()
    {
        double values[] = {4, 1, 3, 2};
        const Statistics s = summarize(values, 4);
        QCOMPARE(s.median, 2.5);
        QCOMPARE(s.mean, 2.5);
        QCOMPARE(s.min, 1.0);
        QCOMPARE(s.max, 4.0);
        QVERIFY(qAbs(s.std - 1.1180339887498949) < 1e-12); // of the population, not of a sample
        QVERIFY(qAbs(s.p95 - 3.85) < 1e-12);
    }
    void statisticsOfNothingAndOfOne()
    {
        QCOMPARE(summarize(nullptr, 0).mean, 0.0);
        double one[] = {7};
        const Statistics s = summarize(one, 1);
        QCOMPARE(s.median, 7.0);
        QCOMPARE(s.p95, 7.0);
        QCOMPARE(s.std, 0.0);
    }
    void sortsLongerRows()
    {
        double values[101];
        for (int i = 0; i < 101; ++i)
            values[i] = i * 37 % 101;
        const Statistics s = summarize(values, 101);
        QCOMPARE(s.median, 50.0);
        QCOMPARE(s.p95, 95.0);
        for (int i = 0; i < 101; ++i)
            QCOMPARE(values[i], static_cast<double>(i));
    }
    void callsOnceToWarmUpAndThenNumberTimesRepeat()
    {
        int calls = 0;
        double results[4] = {};
        QCOMPARE(timeRepeats(
                     {.number = 10, .repeat = 4},
                     [](void* c) {
                         ++*static_cast<int*>(c);
                         return std::int32_t{0};
                     },
                     &calls, results),
                 0);
        QCOMPARE(calls, 41);
    }
    void growsTheNumberUntilARepeatIsLongEnough()
    {
        int calls = 0;
        double results[2] = {};
        QCOMPARE(timeRepeats(
                     {.number = 1, .repeat = 2, .minRepeatMs = 0.2},
                     [](void* c) {
                         ++*static_cast<int*>(c);
                         return std::int32_t{0};
                     },
                     &calls, results),
                 0);
        QVERIFY(calls > 3);
        QVERIFY(results[0] > 0 && results[1] > 0);
    }
    void aFailingCallEndsIt()
    {
        int calls = 0;
        double results[3] = {};
        QCOMPARE(timeRepeats(
                     {.number = 2, .repeat = 3}, [](void* c) { return ++*static_cast<int*>(c) == 4 ? 9 : 0; }, &calls,
                     results),
                 9);
        QCOMPARE(calls, 4);
    }
};

LATHE_TEST(TestClock)

} // namespace tst_clock

#include "tst_clock.moc"
