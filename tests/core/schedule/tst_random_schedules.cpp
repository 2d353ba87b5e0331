#include "kernel_check.h"
#include "random_scheduler.h"
#include "tests/support/test_program.h"

#include <QTest>

namespace tst_random_schedules {

using namespace lathe;
using namespace lathe::schedule;

namespace {

/// The first seed of a kind of DAG; a seed that a failure printed comes first when it is given back.
std::uint64_t firstSeed(int kind)
{
    bool given = false;
    const qulonglong seed = qEnvironmentVariable("LATHE_TEST_SEED").toULongLong(&given);
    return given ? seed : 20240 + 1000 * static_cast<std::uint64_t>(kind);
}

} // namespace

class TestRandomSchedules : public QObject
{
    Q_OBJECT

private slots:
    void randomSchedulesComputeWhatTheDagSays_data();
    void randomSchedulesComputeWhatTheDagSays();
};

void TestRandomSchedules::randomSchedulesComputeWhatTheDagSays_data()
{
    QTest::addColumn<int>("kind");
    QTest::newRow("matmul") << 0;
    QTest::newRow("padded convolution") << 1;
    QTest::newRow("strided convolution") << 2;
    QTest::newRow("pointwise convolution") << 3;
    QTest::newRow("max pool") << 4;
}

void TestRandomSchedules::randomSchedulesComputeWhatTheDagSays()
{
    QFETCH(int, kind);
    const compute::DagPtr dag = kind == 0   ? lathe::schedule::test::matmul(7, 10, 6)
                                : kind == 1 ? lathe::schedule::test::convBiasRelu(6, 7, 3, 5, 3, 1, 1)
                                : kind == 2 ? lathe::schedule::test::convBiasRelu(7, 9, 2, 4, 3, 2, 1)
                                : kind == 3 ? lathe::schedule::test::convBiasRelu(5, 4, 6, 7, 1, 1, 0)
                                            : lathe::schedule::test::maxPool(9, 7, 5, 3, 2, 1);
    int lowered = 0;
    const int rounds = qEnvironmentVariableIntValue("LATHE_TEST_ROUNDS") > 0
                           ? qEnvironmentVariableIntValue("LATHE_TEST_ROUNDS")
                           : 40;
    for (int i = 0; i < rounds; ++i) {
        const std::uint64_t seed = firstSeed(kind) + static_cast<std::uint64_t>(i);
        const State state = lathe::schedule::test::RandomScheduler(dag, seed).run();
        if (const auto legal = lower(state, {}); !legal) {
            QVERIFY2(legal.error().code == Errc::IllegalSchedule || legal.error().code == Errc::Unsupported,
                     legal.error().message.c_str());
            continue;
        }
        ++lowered;
        const std::string wrong = lathe::schedule::test::checkKernel(state, seed);
        if (!wrong.empty())
            qWarning("LATHE_TEST_SEED=%llu, kind %d\n%s", static_cast<unsigned long long>(seed), kind,
                     state.print().c_str());
        QCOMPARE(QString::fromStdString(wrong), QString());
    }
    QVERIFY2(lowered * 3 > rounds, qPrintable(QString("only %1 of %2 schedules were legal").arg(lowered).arg(rounds)));
}

LATHE_TEST(TestRandomSchedules)

} // namespace tst_random_schedules

#include "tst_random_schedules.moc"
