#include "core/templates/random_tuner.h"
#include "core/templates/recall.h"
#include "core/templates/xgb_tuner.h"
#include "tests/core/templates/tuner_runs.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace tst_xgb_tuner {

using namespace lathe;
using namespace lathe::templates;
using namespace lathe::templates::test;
using lathe::test::must;

namespace {

XgbOptions seeded(std::uint64_t seed)
{
    XgbOptions options;
    options.seed = seed;
    return options;
}

/// Gives and tells this many, 1 + distance each, in batches of 8.
Indices play(Tuner& tuner, const ConfigSpace& space, std::size_t count)
{
    return runAll(tuner, space, 8, count);
}

double meanDistance(const ConfigSpace& space, std::span<const std::uint64_t> indices)
{
    double sum = 0;
    for (const std::uint64_t index : indices)
        sum += distance(space, index);
    return sum / static_cast<double>(indices.size());
}

/// The first `count` configurations of a space in steps, with the times that distance() gives them.
ForeignRecords recordsOf(const ConfigSpace& space, std::size_t count)
{
    ForeignRecords records;
    records.space = &space;
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t index = i * 7919 % space.size();
        records.seconds.emplace_back(index, 1 + distance(space, index));
    }
    return records;
}

} // namespace

/// What is of this tuner alone; tst_tuners has what is of all.
class TestXgbTuner : public QObject
{
    Q_OBJECT

private slots:
    // The measure that rounds are judged by

    /// Computed apart from the program, from the rules.
    void recallIsThis()
    {
        const std::vector<float> labels = {0.1F, 0.9F, 0.5F, 0.7F, 0.3F, 1.0F, 0.0F, 0.2F};
        const std::vector<float> predicted = {0.3F, 0.8F, 0.9F, 0.1F, 0.2F, 0.6F, 0.0F, 0.25F};
        // By prediction the true ranks are 3, 1, 0, 6, 5, 4, 2, 7; r: 0, 0, 1/3, 3/4, 3/5, 4/6, 6/7, 7/8.
        const double r[] = {0, 0, 1.0 / 3, 3.0 / 4, 3.0 / 5, 4.0 / 6, 6.0 / 7, 7.0 / 8};
        double sum = 0;
        for (std::size_t n = 1; n <= 8; ++n) {
            sum += r[n - 1];
            QCOMPARE(averageRecall(predicted, labels, n), sum / static_cast<double>(n));
        }
        QCOMPARE(averageRecall(predicted, labels, 16), sum / 16); // missing rows count as 0
        // Who predicts all has i of i + 1 each.
        QCOMPARE(averageRecall(labels, labels, 4), (1.0 / 2 + 2.0 / 3 + 3.0 / 4) / 4);
        QCOMPARE(averageRecall({}, {}, 4), 0.0);
        QCOMPARE(averageRecall(labels, labels, 0), 0.0);
    }

    void ofEqualsTheFirstRanksFirst()
    {
        const std::vector<float> same(4, 0.5F);
        const std::vector<float> falling = {4, 3, 2, 1};
        const std::vector<float> rising = {1, 2, 3, 4};
        QCOMPARE(averageRecall(same, falling, 4), averageRecall(falling, falling, 4));
        QCOMPARE(averageRecall(same, rising, 4), (0 + 0 + 1.0 / 3 + 3.0 / 4) / 4);
    }

    // The trees

    void marginsStandInTheOrderOfTheRows()
    {
        ThroughputTrees::Rows rows;
        std::vector<float> labels;
        Random random(1);
        for (int i = 0; i < 200; ++i) {
            rows.push_back({static_cast<float>(random.uniform())});
            labels.push_back(static_cast<float>(random.uniform())); // which nothing tells but the margins
        }
        const auto trees = must(ThroughputTrees::train(rows, labels, labels, {}, {}));
        const std::vector<float> guesses = must(trees.predict(rows, labels));
        for (std::size_t i = 0; i < rows.size(); ++i)
            QVERIFY(std::abs(guesses[i] - labels[i]) < 1e-5F);
    }

    /// That is, those that are shorter end in zeros; what is longer than all of training is not looked at.
    void rowsAreFilledWithZeros()
    {
        const ThroughputTrees::Rows ragged = {{1}, {1, 5}, {2, 0}, {2, 7}, {}};
        const ThroughputTrees::Rows filled = {{1, 0}, {1, 5}, {2, 0}, {2, 7}, {0, 0}};
        const std::vector<float> labels = {0.1F, 0.9F, 0.2F, 1.0F, 0.4F};
        TreeOptions options;
        options.minChildWeight = 0; // so that five rows are enough to grow on
        const auto one = must(ThroughputTrees::train(ragged, labels, {}, options, {}));
        const auto other = must(ThroughputTrees::train(filled, labels, {}, options, {}));
        const std::vector<float> guesses = must(one.predict(ragged));
        QVERIFY(guesses == must(other.predict(filled)));
        QVERIFY(std::set<float>(guesses.begin(), guesses.end()).size() > 2);
        QVERIFY(must(one.predict({{1, 5, 99}})) == must(one.predict({{1, 5}})));
        QVERIFY(must(one.predict({{std::numeric_limits<float>::infinity(), 5}})).size() == 1);
    }

    void roundsEndWhenTheRecallIsNotBetter()
    {
        ThroughputTrees::Rows rows;
        std::vector<float> labels;
        for (int i = 0; i < 100; ++i) {
            rows.push_back({static_cast<float>(i)});
            labels.push_back(static_cast<float>(i) / 99);
        }
        TreeOptions options;
        options.patience = 20;
        const std::int32_t rounds = must(ThroughputTrees::train(rows, labels, {}, options, {})).rounds();
        QVERIFY2(rounds > 20 && rounds < 1000, qPrintable(QString::number(rounds)));
        options.patience = 6;
        QVERIFY(must(ThroughputTrees::train(rows, labels, {}, options, {})).rounds() < rounds);
        options.rounds = 3;
        QCOMPARE(must(ThroughputTrees::train(rows, labels, {}, options, {})).rounds(), 3);
        std::stop_source source;
        source.request_stop();
        const auto stopped = ThroughputTrees::train(rows, labels, {}, options, source.get_token());
        QVERIFY(!stopped && stopped.error().code == Errc::Cancelled);
    }

    // Plans

    /// The first 64 are those of the random tuner; of the next, 61 are the model's, and 3 what is random next.
    void theLastThreeOfAPlanAreRandom()
    {
        const ConfigSpace space = numberSpace({16, 16, 16, 16});
        XgbTuner tuner(space, seeded(5));
        RandomTuner random(space, {{}, 5});
        const Indices first = play(tuner, space, 64);
        QVERIFY(first == play(random, space, 64));
        QCOMPARE(tuner.models(), std::size_t{0});
        const Indices second = play(tuner, space, 64);
        QCOMPARE(tuner.models(), std::size_t{1});
        const std::span<const std::uint64_t> planned = std::span(second).first(61);
        for (const std::uint64_t index : planned)
            random.tell(index, 1);
        QVERIFY(Indices(second.begin() + 61, second.end()) == play(random, space, 3));
        QVERIFY2(meanDistance(space, planned) < 0.5 * meanDistance(space, first),
                 qPrintable(QString::number(meanDistance(space, planned))));
    }

    /// As long as no results come, more than a plan is random.
    void whatIsAskedBeyondAPlanIsRandom()
    {
        const ConfigSpace space = numberSpace({16, 16, 16});
        XgbTuner tuner(space, seeded(5));
        RandomTuner random(space, {{}, 5});
        QVERIFY(ask(tuner, 200) == ask(random, 200));
        QCOMPARE(tuner.models(), std::size_t{0});
    }

    void nothingIsGivenTwice()
    {
        const ConfigSpace space = numberSpace({9, 9, 9});
        for (const double ratio : {0.0, 2.0}) {
            XgbOptions options = seeded(3);
            options.annealing.diversityRatio = ratio;
            XgbTuner tuner(space, options);
            for (std::uint64_t i = 0; i < 40; ++i)
                tuner.tell(13 * i, 1 + distance(space, 13 * i));
            const Indices all = sorted(play(tuner, space, 400));
            QCOMPARE(all.size(), std::size_t{400});
            QVERIFY(std::adjacent_find(all.begin(), all.end()) == all.end());
            for (std::uint64_t i = 0; i < 40; ++i)
                QVERIFY(!std::binary_search(all.begin(), all.end(), 13 * i));
            QCOMPARE(tuner.models(), std::size_t{6}); // at 64, 128, ... results, 40 of which are told
        }
    }

    void resultsOfAnEarlierRunMakeTheFirstPlan()
    {
        const ConfigSpace space = numberSpace({16, 16, 16, 16});
        XgbTuner tuner(space, seeded(3));
        for (std::uint64_t i = 0; i < 200; ++i)
            tuner.tell(i * 7919 % space.size(), 1 + distance(space, i * 7919 % space.size()));
        const Indices first = play(tuner, space, 61);
        QVERIFY2(meanDistance(space, first) < 10, qPrintable(QString::number(meanDistance(space, first)))); // of 22
        QCOMPARE(tuner.models(), std::size_t{1}); // not one for each 64 that were told
        play(tuner, space, 3);
        ask(tuner, 1);
        QCOMPARE(tuner.models(), std::size_t{2});
    }

    /// What walkers found to be refused counts too, and is never looked at again.
    void whatIsRefusedHasNoPlaceInAPlan()
    {
        ConfigSpace space = numberSpace({16, 16, 16, 16});
        refuseWhere(space, [](std::int64_t x) { return x < 4; }); // where the best is
        XgbTuner tuner(space, seeded(5));
        play(tuner, space, 64);
        const std::uint64_t refused = tuner.refused();
        const Indices second = ask(tuner, 61);
        QCOMPARE(second.size(), std::size_t{61});
        QVERIFY(meanDistance(space, second) < 12);
        QVERIFY2(tuner.refused() > refused + 20, qPrintable(QString::number(tuner.refused())));
        for (const std::uint64_t index : second)
            QVERIFY(space.digits(index)[0] >= 4);
    }

    void eachLossFindsTheBestMuchEarlierThanRandom_data()
    {
        QTest::addColumn<int>("loss");
        QTest::newRow("reg") << static_cast<int>(TreeLoss::Reg);
        QTest::newRow("rank") << static_cast<int>(TreeLoss::Rank);
        QTest::newRow("rank-binary") << static_cast<int>(TreeLoss::RankBinary);
    }
    void eachLossFindsTheBestMuchEarlierThanRandom()
    {
        QFETCH(int, loss);
        const ConfigSpace space = numberSpace({12, 12, 12, 12});
        double best = 0;
        double randomBest = 0;
        for (std::uint64_t seed = 0; seed < 4; ++seed) {
            XgbOptions options = seeded(seed);
            options.trees.loss = static_cast<TreeLoss>(loss);
            XgbTuner tuner(space, options);
            RandomTuner random(space, {{}, seed});
            const auto bestOf = [&](const Indices& indices) {
                double least = std::numeric_limits<double>::infinity();
                for (const std::uint64_t index : indices)
                    least = std::min(least, distance(space, index));
                return least;
            };
            best += bestOf(play(tuner, space, 192)) / 4;
            randomBest += bestOf(play(random, space, 192)) / 4;
        }
        qInfo("distance of the best of 192 of %llu, mean of 4 seeds: %g, random %g",
              static_cast<unsigned long long>(space.size()), best, randomBest);
        QVERIFY(best <= 0.5 * randomBest);
    }

    /// Half of all fail: of the model's choices hardly any do.
    void failuresCountAsNoThroughput()
    {
        const ConfigSpace space = numberSpace({10, 10, 10});
        XgbTuner tuner(space, seeded(2));
        const auto fails = [&](std::uint64_t index) { return space.digits(index)[1] >= 5; };
        for (int i = 0; i < 8; ++i)
            for (const std::uint64_t index : ask(tuner, 8))
                tuner.tell(index, fails(index) ? kFailed : 1);
        const Indices second = ask(tuner, 61);
        const auto failed = std::count_if(second.begin(), second.end(), fails);
        QVERIFY2(failed <= 3, qPrintable(QString::number(failed)));
    }

    void whereAllFailAllIsRandom()
    {
        const ConfigSpace space = numberSpace({10, 10, 10});
        XgbTuner tuner(space, seeded(2));
        RandomTuner random(space, {{}, 2});
        for (int i = 0; i < 20; ++i) {
            const Indices indices = ask(tuner, 8);
            QVERIFY(indices == ask(random, 8));
            for (const std::uint64_t index : indices)
                tuner.tell(index, kFailed);
        }
        QCOMPARE(tuner.models(), std::size_t{0});
    }

    void theOrderOfResultsDoesNotMatter()
    {
        const ConfigSpace space = numberSpace({20, 20, 20});
        XgbOptions options = seeded(1);
        options.trees.loss = TreeLoss::Rank; // which draws pairs of rows by their places
        XgbTuner forth(space, options);
        XgbTuner back(space, options);
        for (int round = 0; round < 3; ++round) {
            Indices indices = ask(forth, 64);
            QVERIFY(ask(back, 64) == indices);
            for (const std::uint64_t index : indices)
                forth.tell(index, 1 + distance(space, index));
            std::reverse(indices.begin(), indices.end());
            for (const std::uint64_t index : indices)
                back.tell(index, 1 + distance(space, index));
        }
    }

    // Features of the caller's own

    void whatHasNoFeaturesIsNeitherLearnedNorPlanned()
    {
        const ConfigSpace space = numberSpace({10, 10, 10});
        XgbOptions options = seeded(4);
        options.features = [&](const Config& config) -> Result<std::vector<float>> {
            if (config.number("x1").value_or(0) == 4) // what the best has
                return makeError(Errc::Unsupported, "no such loop nest");
            return space.features(config);
        };
        XgbTuner tuner(space, options);
        play(tuner, space, 64);
        const Indices second = ask(tuner, 61);
        QCOMPARE(tuner.models(), std::size_t{1});
        for (const std::uint64_t index : second)
            QVERIFY(space.digits(index)[1] != 4);
        QVERIFY(meanDistance(space, second) < 8); // at random: 10
    }

    void nothingMayHaveFeatures()
    {
        const ConfigSpace space = numberSpace({10, 10});
        XgbOptions options = seeded(4);
        options.features = [](const Config&) -> Result<std::vector<float>> {
            return makeError(Errc::Unsupported, "no such loop nest");
        };
        XgbTuner tuner(space, options);
        QVERIFY(sorted(play(tuner, space, 100)) == upTo(100));
    }

    /// A stop that comes while features are computed, of the model's rows or of walkers: nothing is lost, the next call
    /// gives what the twin has that was not stopped.
    void whatIsStoppedGoesOnAsIfItHadNotBeen_data()
    {
        QTest::addColumn<int>("calls");
        for (const int calls : {10, 70, 300})
            QTest::addRow("%d", calls) << calls;
    }
    void whatIsStoppedGoesOnAsIfItHadNotBeen()
    {
        QFETCH(int, calls);
        const ConfigSpace space = numberSpace({20, 20, 20});
        XgbTuner twin(space, seeded(7));
        play(twin, space, 64);

        std::stop_source source;
        int left = std::numeric_limits<int>::max();
        XgbOptions options = seeded(7);
        options.features = [&](const Config& config) -> Result<std::vector<float>> {
            if (--left == 0)
                source.request_stop();
            return space.features(config);
        };
        XgbTuner tuner(space, options);
        play(tuner, space, 64);
        left = calls;
        const auto stopped = tuner.next(64, source.get_token());
        QVERIFY(!stopped && stopped.error().code == Errc::Cancelled);
        QCOMPARE(tuner.models(), std::size_t{0});
        QVERIFY(ask(tuner, 64) == ask(twin, 64));
    }

    void aFeatureThatIsCancelledEndsTheRound()
    {
        const ConfigSpace space = numberSpace({20, 20, 20});
        bool cancels = false;
        XgbOptions options = seeded(7);
        options.features = [&](const Config& config) -> Result<std::vector<float>> {
            if (cancels)
                return makeError(Errc::Cancelled, "stopped");
            return space.features(config);
        };
        XgbTuner tuner(space, options);
        play(tuner, space, 64);
        cancels = true;
        const auto stopped = tuner.next(64);
        QVERIFY(!stopped && stopped.error().code == Errc::Cancelled);
        cancels = false;
        XgbTuner twin(space, seeded(7));
        play(twin, space, 64);
        QVERIFY(ask(tuner, 64) == ask(twin, 64));
    }

    // Other tasks

    void fewRecordsOfOtherTasksAreOfNoUse()
    {
        const ConfigSpace space = numberSpace({16, 16, 16, 16});
        const ConfigSpace other = numberSpace({16, 16, 16, 14});
        XgbTuner plain(space, seeded(1));
        const Indices random = ask(plain, 64);
        ForeignRecords records = recordsOf(other, 499);
        records.seconds.emplace_back(other.size(), 1); // of no configuration
        XgbTuner tuner(space, seeded(1));
        QCOMPARE(must(tuner.transfer(std::span(&records, 1))), std::size_t{0});
        QVERIFY(ask(tuner, 64) == random);

        records.seconds.emplace_back(5, kFailed); // the 500th
        const ForeignRecords nothing;
        const ForeignRecords both[] = {nothing, records};
        XgbTuner taught(space, seeded(1));
        QCOMPARE(must(taught.transfer(both)), std::size_t{500});
        const Indices first = ask(taught, 64);
        QVERIFY(Indices(first.begin() + 61, first.end()) == Indices(random.begin(), random.begin() + 3));
        QVERIFY2(meanDistance(space, std::span(first).first(61)) < 0.5 * meanDistance(space, random),
                 qPrintable(QString::number(meanDistance(space, std::span(first).first(61)))));
    }

    /// Where the task's own results tell nothing, what others tell is what is left of it.
    void theBaseModelFadesAway()
    {
        QCOMPARE(XgbTuner::baseShare(0), 1.0);
        QCOMPARE(XgbTuner::baseShare(64), 0.5);
        QCOMPARE(XgbTuner::baseShare(128), 0.25);
        QVERIFY(XgbTuner::baseShare(276) > 0.05);
        QCOMPARE(XgbTuner::baseShare(277), 0.0);

        const ConfigSpace space = numberSpace({16, 16, 16, 16});
        const ForeignRecords records = recordsOf(space, 3000);
        XgbTuner tuner(space, seeded(1));
        must(tuner.transfer(std::span(&records, 1)));
        double near[6];
        for (int round = 0; round < 6; ++round) {
            const Indices indices = ask(tuner, 64);
            near[round] = meanDistance(space, std::span(indices).first(61));
            for (const std::uint64_t index : indices)
                tuner.tell(index, 1);
        }
        qInfo("mean distance of six plans: %g %g %g %g %g %g", near[0], near[1], near[2], near[3], near[4], near[5]);
        QVERIFY(near[0] < 8); // all of the space: 22
        QVERIFY(*std::max_element(near + 1, near + 5) < 16);
        QVERIFY(near[5] > 18); // 320 results: forgotten
    }

    /// Results that are as the base model says leave little to be learned beside it, and its best stay the best.
    /// Margins of other rows would teach trees to put right what is not wrong.
    void marginsAreThoseOfTheirConfigurations()
    {
        const ConfigSpace space = numberSpace({800});
        const auto seconds = [](std::uint64_t index) { return 1 / (1 - 0.05 * static_cast<double>(index / 100)); };
        ForeignRecords records;
        records.space = &space;
        for (std::uint64_t i = 0; i < 800; ++i)
            records.seconds.emplace_back(i, seconds(i));
        for (std::uint64_t seed = 0; seed < 5; ++seed) {
            XgbOptions options = seeded(seed);
            options.planSize = 8; // of which the base model's share is 0.92
            options.trees.eta = 1; // learns by heart what it is told
            options.trees.minChildWeight = 0;
            XgbTuner tuner(space, options);
            must(tuner.transfer(std::span(&records, 1)));
            for (std::uint64_t i = 50; i < 800; i += 100)
                tuner.tell(i, seconds(i));
            const Indices planned = ask(tuner, 8);
            QCOMPARE(tuner.models(), std::size_t{1});
            QVERIFY(std::all_of(planned.begin(), planned.end(), [](std::uint64_t index) { return index < 100; }));
        }
    }

    /// Shapes of other tasks are of other sizes: their times count against the best of their own.
    void timesOfOtherTasksDoNotCompare()
    {
        const ConfigSpace space = numberSpace({16, 16, 16});
        ForeignRecords tasks[] = {recordsOf(space, 700), recordsOf(space, 700)};
        for (auto& record : tasks[1].seconds)
            record.second *= 1000;
        XgbTuner tuner(space, seeded(1));
        QCOMPARE(must(tuner.transfer(tasks)), std::size_t{1400});
        const Indices both = ask(tuner, 61);
        const Indices nearest(both.begin(), both.begin() + 10);
        QVERIFY2(meanDistance(space, nearest) < 3, qPrintable(QString::number(meanDistance(space, nearest))));
    }

    void optionsThatMakeNoSenseDoNoHarm()
    {
        const ConfigSpace space = numberSpace({3, 3});
        for (const std::size_t planSize : {0, 1, 5, 1000})
            for (const double share : {-1.0, 0.0, 7.0}) {
                XgbOptions options = seeded(1);
                options.planSize = planSize;
                options.randomShare = share;
                XgbTuner tuner(space, options);
                QVERIFY(sorted(runAll(tuner, space, 5)) == upTo(9));
            }
    }
};

LATHE_TEST(TestXgbTuner)

} // namespace tst_xgb_tuner
#include "tst_xgb_tuner.moc"
