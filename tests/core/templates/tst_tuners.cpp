#include "core/templates/genetic_tuner.h"
#include "core/templates/grid_tuner.h"
#include "core/templates/random_tuner.h"
#include "core/templates/template_table.h"
#include "tests/core/templates/number_spaces.h"
#include "tests/core/templates/resnet_tasks.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <set>

namespace tst_tuners {

using namespace lathe;
using namespace lathe::templates;
using namespace lathe::templates::test;
using lathe::test::must;

namespace {

using Indices = std::vector<std::uint64_t>;

constexpr double kFailed = std::numeric_limits<double>::infinity();

std::unique_ptr<Tuner> make(const QString& name, const ConfigSpace& space, std::uint64_t seed = 1)
{
    if (name == "grid")
        return std::make_unique<GridTuner>(space);
    if (name == "random")
        return std::make_unique<RandomTuner>(space, RandomOptions{{}, seed});
    return std::make_unique<GeneticTuner>(space, GeneticOptions{20, 3, 0.1, seed});
}

/// Asks and answers until it is exhausted, or `most` were given. Each round must bring something.
Indices runAll(Tuner& tuner, const ConfigSpace& space, std::size_t batch,
               std::size_t most = std::numeric_limits<std::size_t>::max())
{
    Indices all;
    while (!tuner.exhausted() && all.size() < most) {
        const Indices round = tuner.next(std::min(batch, most - all.size()));
        if (round.empty() && !tuner.exhausted())
            qFatal("a round without anything");
        for (const std::uint64_t index : round)
            tuner.tell(index, 1 + distance(space, index));
        all.insert(all.end(), round.begin(), round.end());
    }
    return all;
}

Indices upTo(std::uint64_t size)
{
    Indices indices(size);
    std::iota(indices.begin(), indices.end(), 0);
    return indices;
}

Indices sorted(Indices indices)
{
    std::sort(indices.begin(), indices.end());
    return indices;
}

std::size_t trialsToBest(Tuner& tuner, const ConfigSpace& space)
{
    std::size_t trials = 0;
    while (!tuner.exhausted())
        for (const std::uint64_t index : tuner.next(8)) {
            ++trials;
            const double far = distance(space, index);
            if (far == 0)
                return trials;
            tuner.tell(index, 1 + far);
        }
    return trials;
}

void addTuners()
{
    QTest::addColumn<QString>("name");
    for (const char* name : {"grid", "random", "genetic"})
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
        QVERIFY(tuner->next(3).empty());
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
        QVERIFY(tuner->next(10).empty());
        QVERIFY(tuner->exhausted());
        QVERIFY(!tuner->gaveUp()); // all were looked at
        QCOMPARE(tuner->refused(), std::uint64_t{100});
    }

    void aHugeSpaceWhereAllIsRefusedIsGivenUp()
    {
        ConfigSpace space = numberSpace({1000, 1000, 1000});
        refuseWhere(space, [](std::int64_t) { return true; });
        GridTuner tuner(space);
        QVERIFY(tuner.next(1).empty());
        QVERIFY(tuner.gaveUp() && tuner.exhausted());
        QCOMPARE(tuner.refused(), Tuner::kMostRefusedInARow);
    }

    void aStopIsHeard()
    {
        const ConfigSpace space = numberSpace({10});
        std::stop_source source;
        source.request_stop();
        GridTuner tuner(space);
        QVERIFY(tuner.next(5, source.get_token()).empty());
        QVERIFY(!tuner.exhausted());
        QCOMPARE(tuner.next(5).size(), std::size_t{5});
    }

    void oneConfigurationIsGivenOnce_data() { addTuners(); }
    void oneConfigurationIsGivenOnce()
    {
        QFETCH(QString, name);
        for (const ConfigSpace& space : {ConfigSpace(), numberSpace({1, 1})}) {
            const auto tuner = make(name, space);
            QVERIFY(tuner->next(4) == Indices{0});
            QVERIFY(tuner->exhausted());
            tuner->tell(0, kFailed);
            QVERIFY(tuner->next(4).empty());
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
            QVERIFY(grid.exhausted() && grid.next(3).empty());
            RandomTuner random(space, {range});
            QVERIFY(random.exhausted() && random.next(3).empty());
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
    void theSequencesAreThese()
    {
        const ConfigSpace space = numberSpace({10, 10, 10});
        RandomTuner random(space, {{}, 1});
        QCOMPARE(runAll(random, space, 8, 6), (Indices{566, 745, 969, 443, 442, 759}));
        GeneticTuner genetic(space, {4, 1, 0.1, 1});
        QCOMPARE(runAll(genetic, space, 4, 8), (Indices{566, 745, 969, 443, 543, 563, 903, 943}));
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
            given += tuner.next(64).size();
        QCOMPARE(given + tuner.refused(), space.size());
    }

    // Genetic alone

    void geneticFindsTheBestMuchEarlierThanRandom()
    {
        const ConfigSpace space = numberSpace({16, 16, 16, 16});
        std::size_t genetic = 0;
        std::size_t random = 0;
        for (std::uint64_t seed = 0; seed < 10; ++seed) {
            GeneticTuner one(space, {100, 3, 0.1, seed});
            genetic += trialsToBest(one, space);
            RandomTuner other(space, {{}, seed});
            random += trialsToBest(other, space);
        }
        qInfo("trials to the best, mean of 10 seeds: genetic %zu, random %zu, of %llu", genetic / 10, random / 10,
              static_cast<unsigned long long>(space.size()));
        QVERIFY(genetic * 10 < random);
    }

    void aGenerationIsAwaited()
    {
        const ConfigSpace space = numberSpace({10, 10, 10});
        GeneticTuner tuner(space, {8, 2, 0.1, 1});
        Indices first = tuner.next(20);
        QCOMPARE(first.size(), std::size_t{8});
        for (std::size_t i = 1; i < first.size(); ++i)
            tuner.tell(first[i], 1);
        QVERIFY(tuner.next(20).empty()); // one is missing
        QVERIFY(!tuner.exhausted());
        tuner.tell(first[0], kFailed);
        QCOMPARE(tuner.next(3).size(), std::size_t{3});
        QCOMPARE(tuner.next(20).size(), std::size_t{5});
    }

    void theOrderOfResultsDoesNotMatter()
    {
        const ConfigSpace space = numberSpace({20, 20, 20});
        GeneticTuner forth(space, {30, 3, 0.1, 1});
        GeneticTuner back(space, {30, 3, 0.1, 1});
        for (int generation = 0; generation < 4; ++generation) {
            Indices indices = forth.next(30);
            QVERIFY(back.next(30) == indices);
            for (const std::uint64_t index : indices)
                forth.tell(index, 1 + distance(space, index));
            std::reverse(indices.begin(), indices.end());
            for (const std::uint64_t index : indices)
                back.tell(index, 1 + distance(space, index));
        }
    }

    /// Without mutation children have only choices that their parents have, and parents that failed hardly any.
    void childrenHaveTheChoicesOfTheirParents()
    {
        const ConfigSpace space = numberSpace({50, 50, 50});
        GeneticTuner tuner(space, {10, 0, 0, 4});
        std::set<std::uint32_t> choices[3];
        for (const std::uint64_t index : tuner.next(10)) {
            const bool works = index % 2 == 0;
            tuner.tell(index, works ? 1 : kFailed);
            for (std::size_t j = 0; works && j < 3; ++j)
                choices[j].insert(space.digits(index)[j]);
        }
        QVERIFY(choices[0].size() > 1);
        int inherited = 0;
        for (const std::uint64_t index : tuner.next(10)) // where a child is not new, one choice is another
            for (std::size_t j = 0; j < 3; ++j)
                inherited += choices[j].contains(space.digits(index)[j]) ? 1 : 0;
        QVERIFY2(inherited >= 25, qPrintable(QString::number(inherited)));
    }

    /// Of those that worked the last choice is 9: most children have it too, by chance 1 in 50 would.
    void earlierResultsAreParents()
    {
        const ConfigSpace space = numberSpace({50, 50, 50});
        int similar = 0;
        for (std::uint64_t seed = 0; seed < 10; ++seed) {
            GeneticTuner tuner(space, {10, 3, 0, seed});
            for (std::uint32_t i = 0; i < 20; ++i) {
                const std::uint32_t worked[] = {i, 2 * i, 9};
                tuner.tell(space.indexOf(worked), 1 + i);
                const std::uint32_t failed[] = {i, 2 * i, 10 + i};
                tuner.tell(space.indexOf(failed), kFailed);
            }
            for (const std::uint64_t index : tuner.next(10))
                similar += space.digits(index)[2] == 9 ? 1 : 0;
        }
        QVERIFY2(similar >= 70, qPrintable(QString::number(similar)));
    }

    void optionsThatMakeNoSenseDoNoHarm()
    {
        const ConfigSpace space = numberSpace({3, 3});
        for (const GeneticOptions options :
             {GeneticOptions{0, 0, 0, 1}, GeneticOptions{1, 9, 2, 1}, GeneticOptions{1000, 1000, -1, 1}}) {
            GeneticTuner tuner(space, options);
            QVERIFY(sorted(runAll(tuner, space, 5)) == upTo(9));
        }
    }

    void allMayFail()
    {
        const ConfigSpace space = numberSpace({9, 9});
        GeneticTuner tuner(space, {10, 3, 0.1, 1});
        std::size_t given = 0;
        while (!tuner.exhausted())
            for (const std::uint64_t index : tuner.next(6)) {
                tuner.tell(index, given % 2 == 0 ? kFailed : std::numeric_limits<double>::quiet_NaN());
                ++given;
            }
        QCOMPARE(given, std::size_t{81});
    }
};

LATHE_TEST(TestTuners)

} // namespace tst_tuners
#include "tst_tuners.moc"
