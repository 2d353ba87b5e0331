#include "core/templates/feature_cache.h"
#include "core/templates/gaussian_tuner.h"
#include "core/templates/genetic_tuner.h"
#include "core/templates/grid_tuner.h"
#include "core/templates/random_tuner.h"
#include "core/templates/template_table.h"
#include "core/templates/xgb_tuner.h"
#include "tests/core/templates/resnet_tasks.h"
#include "tests/core/templates/tuner_runs.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>
#include <memory>
#include <tuple>

namespace tst_tuners {

using namespace lathe;
using namespace lathe::templates;
using namespace lathe::templates::test;
using lathe::test::must;

namespace {

std::unique_ptr<Tuner> make(const QString& name, const ConfigSpace& space, std::uint64_t seed = 1)
{
    if (name == "grid")
        return std::make_unique<GridTuner>(space);
    if (name == "random")
        return std::make_unique<RandomTuner>(space, RandomOptions{{}, seed});
    if (name == "gaussian") {
        GaussianOptions options;
        options.seed = seed;
        return std::make_unique<GaussianTuner>(space, options);
    }
    if (name == "xgb") {
        XgbOptions options;
        options.planSize = 16;
        options.seed = seed;
        return std::make_unique<XgbTuner>(space, options);
    }
    return std::make_unique<GeneticTuner>(space, GeneticOptions{20, 3, 0.1, seed});
}

void addTuners()
{
    QTest::addColumn<QString>("name");
    for (const char* name : {"grid", "random", "genetic", "xgb", "gaussian"})
        QTest::newRow(name) << name;
}

} // namespace

class TestTuners : public QObject
{
    Q_OBJECT

private slots:
    void eachGivesEveryConfigurationOnce_data() { addTuners(); }
    void eachGivesEveryConfigurationOnce()
    {
        QFETCH(QString, name);
        const ConfigSpace space = numberSpace({5, 1, 4, 7});
        const auto tuner = make(name, space);
        const Indices all = runAll(*tuner, space, 9);
        QVERIFY(sorted(all) == upTo(space.size()));
        QCOMPARE(all == upTo(space.size()), name == "grid"); // which alone is in order
        QVERIFY(ask(*tuner, 3).empty());
        QVERIFY(!tuner->gaveUp());
    }

    void whatIsRefusedIsSkippedAndCounted_data() { addTuners(); }
    void whatIsRefusedIsSkippedAndCounted()
    {
        QFETCH(QString, name);
        ConfigSpace space = numberSpace({6, 20});
        refuseWhere(space, [](std::int64_t x) { return x % 3 == 0; });
        const auto tuner = make(name, space);
        const Indices all = runAll(*tuner, space, 7);
        QCOMPARE(all.size(), std::size_t{80});
        QCOMPARE(sorted(all), [&] {
            Indices allowed;
            for (const std::uint64_t index : upTo(120))
                if (index % 6 % 3 != 0)
                    allowed.push_back(index);
            return allowed;
        }());
        QCOMPARE(tuner->refused(), std::uint64_t{40});
    }

    void whereAllIsRefusedItEnds_data() { addTuners(); }
    void whereAllIsRefusedItEnds()
    {
        QFETCH(QString, name);
        ConfigSpace space = numberSpace({10, 10});
        refuseWhere(space, [](std::int64_t) { return true; });
        const auto tuner = make(name, space);
        QVERIFY(ask(*tuner, 10).empty());
        QVERIFY(tuner->exhausted());
        QVERIFY(!tuner->gaveUp()); // all were looked at
        QCOMPARE(tuner->refused(), std::uint64_t{100});
    }

    void aHugeSpaceWhereAllIsRefusedIsGivenUp()
    {
        ConfigSpace space = numberSpace({1000, 1000, 1000});
        refuseWhere(space, [](std::int64_t) { return true; });
        GridTuner tuner(space);
        QVERIFY(ask(tuner, 1).empty());
        QVERIFY(tuner.gaveUp() && tuner.exhausted());
        QCOMPARE(tuner.refused(), Tuner::kMostRefusedInARow);
    }

    /// Whoever gives up does not forget what it gave and nobody measured.
    void whatIsTakenBackComesAgainAfterGivingUp()
    {
        ConfigSpace space = numberSpace({1000, 1000, 1000});
        space.addConstraint({"all but the first", [](const Config& config) -> std::optional<Message> {
                                 if (config.index == std::uint64_t{0})
                                     return std::nullopt;
                                 return say(Msg::TemplateWrong, "the index", "0");
                             }});
        GridTuner tuner(space);
        QVERIFY(ask(tuner, 3) == Indices{0}); // and gave up on the way
        QVERIFY(tuner.gaveUp() && tuner.exhausted());
        tuner.takeBack(0);
        QVERIFY(!tuner.exhausted());
        QVERIFY(ask(tuner, 3) == Indices{0});
        QVERIFY(tuner.exhausted());
        tuner.takeBack(0);
        tuner.tell(0, 1); // a result of it came all the same
        QVERIFY(tuner.exhausted() && ask(tuner, 3).empty());
    }

    void aCallerCanGiveUp_data() { addTuners(); }
    void aCallerCanGiveUp()
    {
        QFETCH(QString, name);
        const ConfigSpace space = numberSpace({10, 10});
        const auto tuner = make(name, space);
        const Indices given = ask(*tuner, 4);
        QCOMPARE(given.size(), std::size_t{4});
        tuner->giveUp();
        QVERIFY(tuner->gaveUp() && tuner->exhausted() && ask(*tuner, 4).empty());
        tuner->takeBack(given[2]);
        QVERIFY(ask(*tuner, 4) == Indices{given[2]});
        QVERIFY(ask(*tuner, 4).empty());
    }

    /// Features of loops are long: what is kept of them is counted in bytes.
    void keptFeaturesHaveALimit()
    {
        const ConfigSpace space = numberSpace({100});
        int computed = 0;
        const ConfigFeatures features = [&computed](const Config&) -> Result<std::vector<float>> {
            ++computed;
            return std::vector<float>(100, 1.0F);
        };
        FeatureCache cache(space, features, 10 * 100 * sizeof(float)); // of ten configurations
        for (std::uint64_t i = 0; i < 10; ++i)
            QCOMPARE(must(cache.of(i))->size(), std::size_t{100});
        for (std::uint64_t i = 0; i < 10; ++i)
            QVERIFY(must(cache.of(i)) != nullptr);
        QCOMPARE(computed, 10);
        QVERIFY(must(cache.of(10)) != nullptr); // the others are dropped
        QVERIFY(must(cache.of(10)) != nullptr);
        QCOMPARE(computed, 11);
        QVERIFY(must(cache.of(0)) != nullptr);
        QCOMPARE(computed, 12);
        FeatureCache tiny(space, features, 1); // the latest is always there
        QCOMPARE(must(tiny.of(5))->size(), std::size_t{100});
        QCOMPARE(must(tiny.of(5))->size(), std::size_t{100});
        QCOMPARE(computed, 13);
    }

    void aStopIsHeard()
    {
        const ConfigSpace space = numberSpace({10});
        std::stop_source source;
        source.request_stop();
        GridTuner tuner(space);
        const auto stopped = tuner.next(5, source.get_token());
        QVERIFY(!stopped && stopped.error().code == Errc::Cancelled);
        QVERIFY(ask(tuner, 0).empty());
        QVERIFY(!tuner.exhausted());
        QCOMPARE(ask(tuner, 5).size(), std::size_t{5});
    }

    void oneConfigurationIsGivenOnce_data() { addTuners(); }
    void oneConfigurationIsGivenOnce()
    {
        QFETCH(QString, name);
        for (const ConfigSpace& space : {ConfigSpace(), numberSpace({1, 1})}) {
            const auto tuner = make(name, space);
            QVERIFY(ask(*tuner, 4) == Indices{0});
            QVERIFY(tuner->exhausted());
            tuner->tell(0, kFailed);
            QVERIFY(ask(*tuner, 4).empty());
        }
    }

    void rangesIncludeBothEnds()
    {
        const ConfigSpace space = numberSpace({10, 10});
        for (const auto& [range, first, last] :
             {std::tuple(IndexRange{30, 39}, 30, 39), {IndexRange{95, 1000}, 95, 99}, {IndexRange{7, 7}, 7, 7}}) {
            Indices expected;
            for (int i = first; i <= last; ++i)
                expected.push_back(static_cast<std::uint64_t>(i));
            GridTuner grid(space, {range});
            QVERIFY(runAll(grid, space, 4) == expected);
            RandomTuner random(space, {range, 5});
            random.tell(50, 1); // outside: no matter
            QVERIFY(sorted(runAll(random, space, 4)) == expected);
        }
    }

    void anEmptyRangeGivesNothing()
    {
        const ConfigSpace space = numberSpace({10, 10});
        for (const IndexRange range : {IndexRange{5, 4}, IndexRange{100, 200}}) {
            GridTuner grid(space, {range});
            QVERIFY(grid.exhausted() && ask(grid, 3).empty());
            RandomTuner random(space, {range});
            QVERIFY(random.exhausted() && ask(random, 3).empty());
        }
    }

    void equalSeedsGiveEqualSequences_data() { addTuners(); }
    void equalSeedsGiveEqualSequences()
    {
        QFETCH(QString, name);
        const ConfigSpace space = numberSpace({30, 30, 30});
        const auto run = [&](std::uint64_t seed) { return runAll(*make(name, space, seed), space, 8, 200); };
        QVERIFY(run(3) == run(3));
        QCOMPARE(run(3) == run(4), name == "grid");
    }

    /// The same on every machine, computed apart from the program, from the rules. Whoever changes these numbers
    /// changes what the runs of users repeat.
    void theRandomSequenceIsThis()
    {
        const ConfigSpace space = numberSpace({10, 10, 10});
        RandomTuner random(space, {{}, 1});
        QCOMPARE(runAll(random, space, 8, 6), (Indices{566, 745, 969, 443, 442, 759}));
    }

    void randomTakesNoNoteOfTheSizeOfTheSpace()
    {
        const ConfigSpace space = numberSpace(std::vector<std::int64_t>(18, 10)); // 10^18
        RandomTuner tuner(space, {{}, 9});
        Indices all = sorted(runAll(tuner, space, 64, 5000));
        QCOMPARE(all.size(), std::size_t{5000});
        QVERIFY(std::adjacent_find(all.begin(), all.end()) == all.end());
        QVERIFY(all[500] < space.size() / 5 && all[4500] > space.size() / 5 * 4); // from everywhere
    }

    void resultsOfEarlierRunsAreNotMeasuredAgain_data() { addTuners(); }
    void resultsOfEarlierRunsAreNotMeasuredAgain()
    {
        QFETCH(QString, name);
        const ConfigSpace space = numberSpace({10, 10});
        const auto tuner = make(name, space);
        for (std::uint64_t i = 0; i < 90; ++i)
            tuner->tell(i, 1 + distance(space, i));
        tuner->tell(12345, 1); // of no such space
        const Indices all = runAll(*tuner, space, 4);
        QVERIFY(sorted(all) == (Indices{90, 91, 92, 93, 94, 95, 96, 97, 98, 99}));
    }

    void templatesAreTuned()
    {
        const ConfigSpace space = must(spaceOf(convWorkload("conv2d_NCHWc.x86", argsOf(kResnetTasks[1]))));
        RandomTuner tuner(space, {{}, 2});
        std::size_t given = 0;
        while (!tuner.exhausted())
            given += ask(tuner, 64).size();
        QCOMPARE(given + tuner.refused(), space.size());
    }
};

LATHE_TEST(TestTuners)

} // namespace tst_tuners
#include "tst_tuners.moc"
