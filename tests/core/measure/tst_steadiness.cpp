#include "core/measure/steadiness.h"
#include "core/wire/messages.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <limits>

namespace tst_steadiness {

using namespace lathe;
using namespace lathe::measure;

namespace {

wire::RunResult answer(const std::vector<double>& samples)
{
    wire::RunResult result;
    for (const double sample : samples)
        result.add_costs_ns(sample);
    return result;
}

} // namespace

class TestSteadiness : public QObject
{
    Q_OBJECT

private slots:
    void theMedianOfTheSamplesCounts()
    {
        QCOMPARE(*probeTime(answer({300, 100, 110})), 110.0);
        QCOMPARE(*probeTime(answer({100, 110})), 105.0);
        QVERIFY(!probeTime(answer({})));
        for (const double none :
             {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
            QVERIFY(!probeTime(answer({100, none})));
        wire::RunResult failed = answer({100});
        failed.mutable_failure()->set_code(static_cast<std::uint32_t>(Errc::DeviceLost));
        QVERIFY(!probeTime(failed));
    }

    void oneDeviceIsLikeItself()
    {
        Peers peers;
        QVERIFY(!peers.take("a", 100));
        QVERIFY(!peers.take("a", 300));
    }

    void ofTwoNobodyKnowsWhichOneStrays()
    {
        Peers peers;
        QVERIFY(!peers.take("a", 100));
        QVERIFY(!peers.take("b", 109));
        const auto stray = peers.take("b", 150);
        QVERIFY(stray);
        QCOMPARE(stray->other, std::string("a"));
        QCOMPARE(stray->ratio, 1.5);
    }

    void ofThreeTheOneThatDiffersStrays()
    {
        Peers peers;
        QVERIFY(!peers.take("slow", 150));
        QVERIFY(peers.take("b", 100));
        QVERIFY(!peers.take("c", 101)); // most are like it, though not the one that came first
        const auto stray = peers.take("slow", 150);
        QVERIFY(stray && stray->other.empty());
        QCOMPARE(stray->ratio, 150 / 101.0);
        peers.forget("slow");
        const auto fast = peers.take("fast", 80);
        QVERIFY(fast && fast->ratio < 1);
    }
};

LATHE_TEST(TestSteadiness)

} // namespace tst_steadiness

#include "tst_steadiness.moc"
