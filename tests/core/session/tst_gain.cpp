#include "core/session/exports/timed_pairs.h"
#include "core/session/verdict/gain.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <nlohmann/json.hpp>

#include <cmath>
#include <string>
#include <vector>

namespace tst_gain {

using namespace lathe;
using namespace lathe::session;
using lathe::test::must;

/// How much faster a tuned network is, and whether that is proven.
class TestGain : public QObject
{
    Q_OBJECT

    /// Pairs whose ratios are these.
    static Gain ofRatios(const std::vector<double>& ratios)
    {
        return gainOf(std::vector<double>(ratios.size(), 2.0), [&] {
            std::vector<double> untuned;
            for (const double ratio : ratios)
                untuned.push_back(2 * ratio);
            return untuned;
        }());
    }
    static std::vector<double> upTo(int n)
    {
        std::vector<double> ratios;
        for (int i = n; i > 0; --i)
            ratios.push_back(i);
        return ratios;
    }

private slots:
    void theIntervalIsThatOfTheSignTest_data()
    {
        QTest::addColumn<int>("pairs");
        QTest::addColumn<double>("low");
        QTest::addColumn<double>("high");
        // Ranks as tables of the sign test have them, for 5 % on both sides together.
        QTest::newRow("6") << 6 << 1.0 << 6.0;
        QTest::newRow("8") << 8 << 1.0 << 8.0;
        QTest::newRow("9") << 9 << 2.0 << 8.0;
        QTest::newRow("10") << 10 << 2.0 << 9.0;
        QTest::newRow("12") << 12 << 3.0 << 10.0;
        QTest::newRow("15") << 15 << 4.0 << 12.0;
        QTest::newRow("20") << 20 << 6.0 << 15.0;
        QTest::newRow("25") << 25 << 8.0 << 18.0;
    }
    void theIntervalIsThatOfTheSignTest()
    {
        QFETCH(int, pairs);
        QFETCH(double, low);
        QFETCH(double, high);
        const Gain gain = ofRatios(upTo(pairs));
        QCOMPARE(gain.pairs, pairs);
        QCOMPARE(gain.low, low);
        QCOMPARE(gain.high, high);
        QCOMPARE(gain.ratio, (1.0 + pairs) / 2);
    }

    void fewPairsGiveNoInterval()
    {
        for (int n = 1; n < kLeastPairsForInterval; ++n) {
            const Gain gain = ofRatios(std::vector<double>(static_cast<std::size_t>(n), 3.0));
            QVERIFY(std::isnan(gain.low) && std::isnan(gain.high));
            QCOMPARE(gain.ratio, 3.0);
            QVERIFY(gain.verdict() == Verdict::NotProven);
        }
    }

    void whatHoldsOneIsNotProven()
    {
        QVERIFY(ofRatios({1.1, 1.2, 1.3, 1.2, 1.1, 1.4}).verdict() == Verdict::Faster);
        QVERIFY(ofRatios({1.1, 1.2, 0.9, 1.2, 1.1, 1.4}).verdict() == Verdict::NotProven);
        QVERIFY(ofRatios({0.6, 0.7, 0.9, 0.6, 0.5, 0.6}).verdict() == Verdict::Slower);
        QVERIFY(ofRatios({1.0, 1.0, 1.0, 1.0, 1.0, 1.0}).verdict() == Verdict::NotProven);
        QVERIFY(Gain().verdict() == Verdict::Unknown);
        // One bad moment in twenty pairs changes nothing.
        std::vector<double> ratios(20, 1.5);
        ratios[7] = 0.1;
        QVERIFY(ofRatios(ratios).verdict() == Verdict::Faster);
    }

    void whatWasNotMeasuredIsLeftOut()
    {
        const Gain gain = gainOf(std::vector<double>{1, std::nan(""), 2, 0, 4}, std::vector<double>{2, 2, 4, 4});
        QCOMPARE(gain.pairs, 2);
        QCOMPARE(gain.ms, 1.5);
        QCOMPARE(gain.untunedMs, 3.0);
        QVERIFY(gainOf({}, {}).verdict() == Verdict::Unknown);
    }

    void isTheSameFromJson()
    {
        const Gain gain = ofRatios(upTo(12)), again = gainIn(toJson(gain));
        QCOMPARE(again.pairs, gain.pairs);
        QCOMPARE(again.ratio, gain.ratio);
        QCOMPARE(again.low, gain.low);
        QCOMPARE(toJson(gain)["verdict"], nlohmann::json("faster"));
        QVERIFY(gainIn(toJson(Gain())).verdict() == Verdict::Unknown);
        QVERIFY(gainIn(nlohmann::json::parse(R"({"pairs": "x", "ratio": []})")).verdict() == Verdict::Unknown);
    }

    void slowNetworksHaveFewerTurns()
    {
        PairPlan plan = pairPlan(2, 4, 1.5, 5);
        QCOMPARE(plan.pairs, 20U);
        QCOMPARE(plan.tunedRuns, 36U);
        QCOMPARE(plan.untunedRuns, 17U);
        plan = pairPlan(100, 200, 1.5, 5); // 0.4 s a turn
        QCOMPARE(plan.pairs, 12U);
        QCOMPARE(plan.untunedRuns, 1U);
        QCOMPARE(pairPlan(100, 250, 1.5, 5).pairs, 10U);
        plan = pairPlan(100, 450, 1.5, 5); // the run that is not told elsewhere is the turn: 11 of them in 5 s
        QCOMPARE(plan.pairs, 11U);
        QCOMPARE(plan.tunedRuns, 0U);
        QCOMPARE(plan.untunedRuns, 0U);
        QVERIFY(std::abs(plannedSeconds(plan, 100, 450) - 11 * 0.55) < 1e-9);
        QCOMPARE(pairPlan(400, 800, 1.5, 5).pairs, 6U); // which the verdict says
        QCOMPARE(pairPlan(3000, 9000, 1.5, 5).pairs, 1U);
        QCOMPARE(pairPlan(1e-9, 1e-9, 1.5, 5).tunedRuns, 50U);
    }

    void turnsAlternate()
    {
        std::string order;
        double ms = 1;
        const auto turn = [&](char name) {
            return [&order, &ms, name](std::uint32_t runs) -> Result<Turn> {
                order += name;
                return Turn{ms++ * runs, 100};
            };
        };
        const TimedPairs pairs = must(timeInTurns(turn('t'), turn('u'), {3, 1, 2}, measure::MachineReader(), {}));
        QCOMPARE(order, std::string("tuuttu"));
        QCOMPARE(pairs.tunedMs, (std::vector<double>{1, 4, 5}));
        QCOMPARE(pairs.untunedMs, (std::vector<double>{4, 6, 12}));
        QCOMPARE(pairs.machine.controlNs, 100.0);
        QCOMPARE(pairs.machine.controlSpread, 1.0);
    }

    void aTurnThatFailsEndsThem()
    {
        const TimeTurn good = [](std::uint32_t) -> Result<Turn> { return Turn{1, 1}; };
        const TimeTurn bad = [](std::uint32_t) -> Result<Turn> { return makeError(Errc::WorkerCrashed, "gone"); };
        const auto failed = timeInTurns(good, bad, {3, 1, 1}, measure::MachineReader(), {});
        QVERIFY(!failed && failed.error().code == Errc::WorkerCrashed);
        std::stop_source stop;
        stop.request_stop();
        const auto stopped = timeInTurns(good, good, {3, 1, 1}, measure::MachineReader(), stop.get_token());
        QVERIFY(!stopped && stopped.error().code == Errc::Cancelled);
    }
};

LATHE_TEST(TestGain)

} // namespace tst_gain

#include "tst_gain.moc"
