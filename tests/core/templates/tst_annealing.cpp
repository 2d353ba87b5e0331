#include "core/templates/annealing.h"
#include "core/templates/early_stopping.h"
#include "tests/core/templates/number_spaces.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <cmath>
#include <limits>
#include <set>

namespace tst_annealing {

using namespace lathe;
using namespace lathe::templates;
using namespace lathe::templates::test;

namespace {

/// 1 at the best, less the farther from it.
Annealing::Scores separable(const ConfigSpace& space, float offset = 0)
{
    return [&space, offset](std::span<const std::uint64_t> indices) {
        std::vector<float> scores;
        for (const std::uint64_t index : indices)
            scores.push_back(1 - 0.1F * static_cast<float>(distance(space, index)) + offset);
        return scores;
    };
}

std::set<std::uint64_t> indicesOf(std::span<const ScoredIndex> plan)
{
    std::set<std::uint64_t> indices;
    for (const ScoredIndex& one : plan)
        indices.insert(one.index);
    return indices;
}

} // namespace

class TestAnnealing : public QObject
{
    Q_OBJECT

private slots:
    void theBestOfASeparableScoreIsFound()
    {
        const ConfigSpace space = numberSpace({20, 20, 20, 20, 20, 20}); // 64 million
        for (std::uint64_t seed = 0; seed < 5; ++seed) {
            AnnealingOptions options;
            options.seed = seed;
            Annealing annealing(space, options);
            const auto plan = annealing.plan(64, separable(space));
            QCOMPARE(plan.size(), std::size_t{64});
            QCOMPARE(distance(space, plan[0].index), 0.0);
            QCOMPARE(indicesOf(plan).size(), std::size_t{64});
            for (std::size_t i = 0; i < plan.size(); ++i) {
                QCOMPARE(plan[i].score, separable(space)(std::span(&plan[i].index, 1))[0]);
                QVERIFY(i == 0 || plan[i].score <= plan[i - 1].score);
            }
        }
    }

    /// Ranks may all be below 0; the reference's plans are empty then.
    void scoresBelowZeroCount()
    {
        const ConfigSpace space = numberSpace({10, 10, 10});
        Annealing annealing(space);
        const auto plan = annealing.plan(20, separable(space, -100));
        QCOMPARE(plan.size(), std::size_t{20});
        QCOMPARE(distance(space, plan[0].index), 0.0);
    }

    void whatIsExcludedOrRefusedIsNotPlanned()
    {
        ConfigSpace space = numberSpace({10, 10, 10});
        refuseWhere(space, [](std::int64_t x) { return x == 1; }); // what the best has
        Annealing annealing(space);
        const auto plan = annealing.plan(30, separable(space), [](std::uint64_t index) { return index / 100 == 7; });
        QCOMPARE(plan.size(), std::size_t{30});
        for (const ScoredIndex& one : plan) {
            QVERIFY(space.digits(one.index)[0] != 1);
            QVERIFY(space.digits(one.index)[2] != 7);
        }
        QCOMPARE(distance(space, plan[0].index), 2.0); // a step aside in both
        QVERIFY(annealing.refused() > 0 && annealing.refused() <= 90);
    }

    void whereNothingIsAllowedThePlanIsEmpty()
    {
        ConfigSpace space = numberSpace({10, 10});
        refuseWhere(space, [](std::int64_t) { return true; });
        Annealing annealing(space);
        QVERIFY(annealing.plan(10, separable(space)).empty());
        QCOMPARE(annealing.iterations(), std::size_t{50}); // its patience
        QVERIFY(annealing.plan(0, separable(space)).empty());
    }

    void oneConfigurationIsAPlan()
    {
        for (const ConfigSpace& space : {ConfigSpace(), numberSpace({1, 1})}) {
            Annealing annealing(space);
            const auto plan = annealing.plan(64, separable(space));
            QCOMPARE(plan.size(), std::size_t{1});
            QCOMPARE(plan[0].index, std::uint64_t{0});
        }
    }

    void equalSeedsGiveEqualPlans()
    {
        const ConfigSpace space = numberSpace({30, 30, 30, 30});
        const auto run = [&](std::uint64_t seed) {
            AnnealingOptions options;
            options.seed = seed;
            options.iterations = 10;
            Annealing annealing(space, options);
            auto plan = annealing.plan(16, separable(space));
            const auto more = annealing.plan(16, separable(space));
            plan.insert(plan.end(), more.begin(), more.end());
            return plan;
        };
        QVERIFY(run(1) == run(1));
        QVERIFY(run(1) != run(2));
    }

    /// The same on every machine, computed apart from the program, from the rules. The second plan is of walkers that
    /// went on.
    void thePlansAreThese()
    {
        const ConfigSpace space = numberSpace({10, 12, 14});
        const auto scores = [&](std::span<const std::uint64_t> indices) {
            std::vector<float> values;
            for (const std::uint64_t index : indices)
                values.push_back(-static_cast<float>(distance(space, index)));
            return values;
        };
        AnnealingOptions options;
        options.walkers = 5;
        options.iterations = 12;
        options.seed = 1;
        Annealing annealing(space, options);
        for (const std::vector<std::uint64_t>& expected :
             {std::vector<std::uint64_t>{882, 1001, 991, 521}, {881, 880, 882, 891}}) {
            std::vector<std::uint64_t> indices;
            for (const ScoredIndex& one : annealing.plan(4, scores))
                indices.push_back(one.index);
            QCOMPARE(indices, expected);
        }
    }

    /// A second call goes on from where the first ended, or starts anew.
    void walkersPersist()
    {
        const ConfigSpace space = numberSpace({100, 100, 100});
        for (const bool persistent : {true, false}) {
            AnnealingOptions options;
            options.persistent = persistent;
            options.endTemperature = options.startTemperature = 0.01;
            Annealing annealing(space, options);
            annealing.plan(1, separable(space));
            float mean = 0;
            const auto spy = [&](std::span<const std::uint64_t> indices) {
                const std::vector<float> scores = separable(space)(indices);
                if (mean == 0)
                    for (const float score : scores)
                        mean += score / static_cast<float>(scores.size());
                return scores;
            };
            annealing.plan(1, spy);
            QCOMPARE(mean > -1, persistent); // at random: -8 or so
        }
    }

    void itEndsWhenTheBestDoNotChange()
    {
        const ConfigSpace space = numberSpace({4, 4}); // all are found at once
        AnnealingOptions options;
        options.patience = 7;
        Annealing annealing(space, options);
        QCOMPARE(annealing.plan(99, separable(space)).size(), std::size_t{16});
        QCOMPARE(annealing.iterations(), std::size_t{7});
        options.iterations = 3;
        Annealing shorter(space, options);
        shorter.plan(99, separable(space));
        QCOMPARE(shorter.iterations(), std::size_t{3});
        std::stop_source source;
        source.request_stop();
        QVERIFY(!annealing.plan(99, separable(space), {}, source.get_token()).empty()); // where walkers stand
        QCOMPARE(annealing.iterations(), std::size_t{0});
    }

    void scoresThatAreNoNumberAreNotPlanned()
    {
        const ConfigSpace space = numberSpace({10, 10});
        const auto scores = [](std::span<const std::uint64_t> indices) {
            std::vector<float> values;
            for (const std::uint64_t index : indices)
                values.push_back(index % 3 == 0   ? std::numeric_limits<float>::quiet_NaN()
                                 : index % 3 == 1 ? -std::numeric_limits<float>::infinity()
                                                  : static_cast<float>(index));
            return values;
        };
        Annealing annealing(space);
        const auto plan = annealing.plan(100, scores);
        QCOMPARE(plan.size(), std::size_t{66});
        QCOMPARE(plan[0].index, std::uint64_t{98});
        for (const ScoredIndex& one : plan)
            QVERIFY(one.index % 3 != 0);
    }

    void chancesAreThoseOfExp()
    {
        for (const double x : {0.0, 0.1, 0.7, 1.0, 1.5, 3.2}) {
            Random random(11);
            int accepted = 0;
            for (int i = 0; i < 100'000; ++i)
                accepted += drawExpMinus(x, random) ? 1 : 0;
            const double share = accepted / 100'000.0;
            QVERIFY2(std::abs(share - std::exp(-x)) < 0.006, qPrintable(QString("%1: %2").arg(x).arg(share)));
        }
        Random random(11);
        QVERIFY(!drawExpMinus(std::numeric_limits<double>::infinity(), random));
    }

    // The diversity filter

    void whatIsDifferentIsPicked()
    {
        const ConfigSpace space = numberSpace({4, 4});
        // By score: (0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (3, 3)
        const std::vector<ScoredIndex> candidates = {{0, 6}, {1, 5}, {2, 4}, {4, 3}, {5, 2}, {15, 1}};
        const auto picked = pickDiverse(space, candidates, 4);
        // The best; (1, 1) and (3, 3) bring two new choices each; then one: (2, 0).
        QVERIFY(picked == (std::vector<ScoredIndex>{{0, 6}, {5, 2}, {15, 1}, {2, 4}}));
        // If scores weigh much, they alone decide.
        QVERIFY(pickDiverse(space, candidates, 2, 100) == (std::vector<ScoredIndex>{{0, 6}, {1, 5}}));
        QCOMPARE(pickDiverse(space, candidates, 99).size(), candidates.size());
        QVERIFY(pickDiverse(space, {}, 3).empty());
    }

    void aDiversePlanHasMoreChoices()
    {
        const ConfigSpace space = numberSpace({20, 20, 20, 20});
        const auto choices = [&](double ratio) {
            AnnealingOptions options;
            options.diversityRatio = ratio;
            Annealing annealing(space, options);
            const auto plan = annealing.plan(16, separable(space));
            std::set<std::pair<std::size_t, std::uint32_t>> different;
            for (const ScoredIndex& one : plan)
                for (std::size_t j = 0; j < 4; ++j)
                    different.insert({j, space.digits(one.index)[j]});
            return plan.size() == 16 ? different.size() : 0;
        };
        QVERIFY(choices(0) > 0);
        QVERIFY2(choices(8) > choices(0), qPrintable(QString("%1, %2").arg(choices(8)).arg(choices(0))));
    }

    // Early stopping

    void stoppingCountsTrialsSinceTheBest()
    {
        EarlyStopping stopping(3);
        QVERIFY(!stopping.reached());
        for (const double seconds : {5.0, 4.0, 4.0})
            stopping.add(seconds);
        QVERIFY(!stopping.reached()); // 3 trials, the best has the place 1
        stopping.add(std::numeric_limits<double>::infinity());
        QVERIFY(stopping.reached());
        QCOMPARE(stopping.trials(), std::uint64_t{4});
        QCOMPARE(stopping.bestPlace(), std::uint64_t{1});
        QCOMPARE(stopping.best(), 4.0);
        stopping.add(3); // of the same batch: looked at too early
        QVERIFY(!stopping.reached());
    }

    void stoppingCountsFromTheFirstWhereAllFail()
    {
        EarlyStopping stopping(2);
        stopping.add(std::numeric_limits<double>::infinity());
        QVERIFY(!stopping.reached());
        stopping.add(std::numeric_limits<double>::quiet_NaN());
        QVERIFY(stopping.reached());
    }

    void withoutPatienceItNeverStops()
    {
        EarlyStopping stopping(std::nullopt);
        for (int i = 0; i < 5000; ++i)
            stopping.add(1);
        QVERIFY(!stopping.reached());
    }
};

LATHE_TEST(TestAnnealing)

} // namespace tst_annealing
#include "tst_annealing.moc"
