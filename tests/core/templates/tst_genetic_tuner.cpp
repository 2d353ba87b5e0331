#include "core/templates/genetic_tuner.h"
#include "core/templates/random_tuner.h"
#include "tests/core/templates/tuner_runs.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>
#include <limits>
#include <set>

namespace tst_genetic_tuner {

using namespace lathe;
using namespace lathe::templates;
using namespace lathe::templates::test;

namespace {

std::size_t trialsToBest(Tuner& tuner, const ConfigSpace& space)
{
    std::size_t trials = 0;
    while (!tuner.exhausted())
        for (const std::uint64_t index : ask(tuner, 8)) {
            ++trials;
            const double far = distance(space, index);
            if (far == 0)
                return trials;
            tuner.tell(index, 1 + far);
        }
    return trials;
}

} // namespace

/// What is of this tuner alone; tst_tuners has what is of all.
class TestGeneticTuner : public QObject
{
    Q_OBJECT

private slots:
    /// The same on every machine, computed apart from the program, from the rules.
    void theSequenceIsThis()
    {
        const ConfigSpace space = numberSpace({10, 10, 10});
        GeneticTuner genetic(space, {4, 1, 0.1, 1});
        QCOMPARE(runAll(genetic, space, 4, 8), (Indices{566, 745, 969, 443, 543, 563, 903, 943}));
    }

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
        Indices first = ask(tuner, 20);
        QCOMPARE(first.size(), std::size_t{8});
        for (std::size_t i = 1; i < first.size(); ++i)
            tuner.tell(first[i], 1);
        QVERIFY(ask(tuner, 20).empty()); // one is missing
        QVERIFY(!tuner.exhausted());
        tuner.tell(first[0], kFailed);
        QCOMPARE(ask(tuner, 3).size(), std::size_t{3});
        QCOMPARE(ask(tuner, 20).size(), std::size_t{5});
    }

    void theOrderOfResultsDoesNotMatter()
    {
        const ConfigSpace space = numberSpace({20, 20, 20});
        GeneticTuner forth(space, {30, 3, 0.1, 1});
        GeneticTuner back(space, {30, 3, 0.1, 1});
        for (int generation = 0; generation < 4; ++generation) {
            Indices indices = ask(forth, 30);
            QVERIFY(ask(back, 30) == indices);
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
        for (const std::uint64_t index : ask(tuner, 10)) {
            const bool works = index % 2 == 0;
            tuner.tell(index, works ? 1 : kFailed);
            for (std::size_t j = 0; works && j < 3; ++j)
                choices[j].insert(space.digits(index)[j]);
        }
        QVERIFY(choices[0].size() > 1);
        int inherited = 0;
        for (const std::uint64_t index : ask(tuner, 10)) // where a child is not new, one choice is another
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
            for (const std::uint64_t index : ask(tuner, 10))
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
        const double notTimes[] = {kFailed, std::numeric_limits<double>::quiet_NaN(), -1, 0};
        GeneticTuner tuner(space, {10, 3, 0.1, 1});
        std::size_t given = 0;
        while (!tuner.exhausted())
            for (const std::uint64_t index : ask(tuner, 6)) {
                tuner.tell(index, notTimes[given % std::size(notTimes)]);
                ++given;
            }
        QCOMPARE(given, std::size_t{81});
    }

    /// Times whose inverse is no number any more.
    void timesMayBeTiny()
    {
        const ConfigSpace space = numberSpace({9, 9});
        GeneticTuner tuner(space, {10, 3, 0.1, 1});
        std::size_t given = 0;
        while (!tuner.exhausted())
            for (const std::uint64_t index : ask(tuner, 6))
                tuner.tell(index, ++given % 2 == 0 ? 1 : std::numeric_limits<double>::denorm_min());
        QCOMPARE(given, std::size_t{81});
    }
};

LATHE_TEST(TestGeneticTuner)

} // namespace tst_genetic_tuner
#include "tst_genetic_tuner.moc"
