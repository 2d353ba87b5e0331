#include "core/session/run/forecast.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>

namespace tst_forecast {

using namespace lathe::session;

/// Where runs are likely to end, from tasks that are easy to reckon with.
class TestForecast : public QObject
{
    Q_OBJECT

    static ForecastTask searched(double firstMs, double bestMs, double weight = 1)
    {
        return {weight, firstMs, bestMs, 10, true};
    }
    static ForecastTask fresh(double ms, double weight = 1) { return {weight, ms, ms, 10, false}; }

private slots:
    void isAsComputedByHand()
    {
        // Two searched tasks that won a factor of e each, one fresh one of half of the network; all of it can be
        // searched.
        const std::vector<ForecastTask> tasks = {searched(std::exp(1.0), 1), searched(std::exp(1.0), 1), fresh(2)};
        const double won = (2 * 0.35 + 2) / 4;
        const double gain = -std::log(1 - 0.5 * (1 - std::exp(-won)) - 0.5 * (1 - std::pow(2.0, -0.05)));
        const Forecast f = forecast(tasks, 100, 200);
        QVERIFY(std::abs(f.ms - 4 * std::exp(-gain)) < 1e-12);
        const double band = std::exp(1.28 * std::hypot(0.12, gain / 2));
        QVERIFY(std::abs(f.low - f.ms / band) < 1e-12);
        QVERIFY(std::abs(f.high - f.ms * band) < 1e-12);
    }

    void isTheEstimateWhereNoTimeIsLeft()
    {
        for (const double end : {100.0, 50.0}) {
            const Forecast f = forecast(std::vector<ForecastTask>{searched(9, 3), fresh(5)}, 100, end);
            QVERIFY(std::abs(f.ms - 8) < 1e-12);
            QVERIFY(f.low < f.ms && f.ms < f.high);
        }
    }

    void movesWithTimeLeftAndNarrowsTowardsTheEnd()
    {
        const std::vector<ForecastTask> tasks = {searched(9, 3), fresh(5, 2), fresh(5)};
        double likely = 0, width = 1e9;
        for (const double now : {5.0, 50.0, 185.0, 195.0, 200.0}) {
            const Forecast f = forecast(tasks, now, 200);
            QVERIFY(f.ms > likely); // less time, less gain
            QVERIFY(f.high / f.low < width);
            likely = f.ms;
            width = f.high / f.low;
        }
    }

    void weighsTasks()
    {
        const Forecast heavy = forecast(std::vector<ForecastTask>{searched(9, 3), fresh(1, 3)}, 10, 1000);
        const Forecast light = forecast(std::vector<ForecastTask>{searched(9, 3), fresh(3, 1)}, 10, 1000);
        QVERIFY(std::abs(heavy.ms - light.ms) < 1e-12);
    }

    void unknownStaysUnknown()
    {
        for (const Forecast& f :
             {forecast(std::vector<ForecastTask>{searched(9, 3), {}}, 10, 100), forecast({}, 10, 100),
              forecast(std::vector<ForecastTask>{searched(9, 3)}, 10, kUnknown),
              forecast(std::vector<ForecastTask>{fresh(INFINITY)}, 10, 100)}) {
            QVERIFY(std::isnan(f.ms));
            QVERIFY(std::isnan(f.low) && std::isnan(f.high));
        }
    }
};

LATHE_TEST_GUILESS(TestForecast)

} // namespace tst_forecast

#include "tst_forecast.moc"
