#include "core/templates/gaussian_tuner.h"
#include "core/templates/random_tuner.h"
#include "core/templates/template_table.h"
#include "tests/core/templates/resnet_tasks.h"
#include "tests/core/templates/tuner_runs.h"
#include "tests/support/test_program.h"

#include <QElapsedTimer>
#include <QtTest>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace tst_gaussian_tuner {

using namespace lathe;
using namespace lathe::templates;
using namespace lathe::templates::test;
using lathe::test::must;

namespace {

GaussianOptions seeded(std::uint64_t seed)
{
    GaussianOptions options;
    options.seed = seed;
    return options;
}

std::vector<double> placeOf(const KnobCoordinates& coordinates, std::uint64_t index)
{
    std::vector<double> place;
    coordinates.append(index, place);
    return place;
}

Observations observe(const KnobCoordinates& coordinates, const std::vector<std::pair<std::uint64_t, double>>& values)
{
    Observations observations;
    for (const auto& [index, value] : values) {
        coordinates.append(index, observations.places);
        observations.values.push_back(value);
    }
    return observations;
}

/// Matern 5/2, written down once more.
double kernel(double distance)
{
    const double r = std::sqrt(5.0) * distance;
    return (1 + r + r * r / 3) * std::exp(-r);
}

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

bool near(double a, double b)
{
    return std::abs(a - b) < 1e-9 * (1 + std::abs(b));
}

} // namespace

/// What is of this tuner alone; tst_tuners has what is of all.
class TestGaussianTuner : public QObject
{
    Q_OBJECT

private slots:
    // Coordinates

    void powersOfTwoLieAsFarApartAsTheirLogarithms()
    {
        ConfigSpace space;
        must(space.addSplit("tile", {16, 2})); // [-1, 1], [-1, 2], ... [-1, 16]
        must(space.addOption("one", {7})); // no choice, no place
        must(space.addOption("flag", std::vector<JsonValue>{{true}, {false}}));
        const KnobCoordinates coordinates(space);
        QCOMPARE(coordinates.dimensions(), std::size_t{2}); // they are aligned as they are large, and leave no edge
        QCOMPARE(coordinates.groups(), std::size_t{2});
        QCOMPARE(placeOf(coordinates, 0), (std::vector<double>{0, 1}));
        QCOMPARE(placeOf(coordinates, 3), (std::vector<double>{0.75, 1}));
        QCOMPARE(placeOf(coordinates, 4 + 5), (std::vector<double>{1, 0}));
    }

    /// 1, 2, 4, 8 and 3, 6, 12 of 12: aligned, beyond the edge.
    void alignmentAndEdgesAreSeen()
    {
        SplitRule rule{12, 2, SplitPolicy::Verbose};
        ConfigSpace space;
        must(space.addSplit("tile", rule));
        const KnobCoordinates coordinates(space);
        QCOMPARE(coordinates.dimensions(), std::size_t{3});
        QCOMPARE(coordinates.groups(), std::size_t{3});
        std::size_t looked = 0;
        for (std::uint64_t index = 0; index < space.size(); ++index) {
            const std::int64_t size = must(space.at(index)).sizes("tile")->back();
            const std::vector<double> place = placeOf(coordinates, index);
            QVERIFY(std::abs(place[0] - std::log2(static_cast<double>(size)) / std::log2(12.0)) < 1e-6);
            if (size == 8) {
                QVERIFY(place[1] == 1 && place[2] == 1); // 16 instead of 12 are computed
                ++looked;
            } else if (size == 12) {
                QVERIFY(std::abs(place[1] - 2.0 / 3) < 1e-6 && place[2] == 0);
                ++looked;
            } else if (size == 3) {
                QVERIFY(place[1] == 0 && place[2] == 0);
                ++looked;
            }
        }
        QCOMPARE(looked, std::size_t{3});
    }

    void ordersMarksAndTextsAreGroups()
    {
        ConfigSpace space;
        ReorderRule order;
        order.axes = 3;
        order.policy = ReorderPolicy::All;
        must(space.addReorder("order", order));
        must(space.addOption("text",
                             std::vector<JsonValue>{{std::string("a")}, {std::string("b")}, {std::string("c")}}));
        const KnobCoordinates coordinates(space);
        QCOMPARE(coordinates.dimensions(), std::size_t{6});
        QCOMPARE(coordinates.groups(), std::size_t{2});
        QCOMPARE(coordinates.groupOf(2), std::size_t{0});
        QCOMPARE(coordinates.groupOf(3), std::size_t{1});
        // The place of each axis, halved, and the one of the text.
        const Config config = must(space.at(0));
        const auto& axes = std::get<ReorderEntity>(*config.find("order")).order;
        const std::vector<double> place = placeOf(coordinates, 0);
        for (std::size_t i = 0; i < 3; ++i)
            QCOMPARE(place[static_cast<std::size_t>(axes[i])], static_cast<double>(i) / 2);
        QVERIFY(std::vector<double>(place.begin() + 3, place.end()) == (std::vector<double>{1, 0, 0}));
    }

    void neighboursDifferInOneKnobAndAreNear()
    {
        const ConfigSpace space = numberSpace({100, 100, 100});
        const KnobCoordinates coordinates(space);
        Random random(1);
        double sum = 0;
        for (int i = 0; i < 300; ++i) {
            const std::uint64_t index = random.below(space.size());
            const std::vector<std::uint32_t> from = space.digits(index);
            const std::vector<std::uint32_t> to = space.digits(coordinates.nearby(index, random));
            int differ = 0;
            for (std::size_t j = 0; j < 3; ++j) {
                differ += from[j] != to[j] ? 1 : 0;
                sum += std::abs(static_cast<double>(from[j]) - static_cast<double>(to[j]));
            }
            QCOMPARE(differ, 1);
        }
        QVERIFY2(sum / 300 < 14, qPrintable(QString::number(sum / 300))); // any other: 33
        QCOMPARE(KnobCoordinates(ConfigSpace()).nearby(0, random), std::uint64_t{0});
    }

    // The process

    /// Two results, solved by hand.
    void whatIsExpectedIsThis()
    {
        const ConfigSpace space = numberSpace({1024});
        const KnobCoordinates coordinates(space);
        const auto at = [&](std::uint64_t index) { return placeOf(coordinates, index)[0]; };
        const double length = 0.7, own = 0.1;
        Expectations expectations(coordinates, observe(coordinates, {{10, 4}, {200, 2}}), {{length}, own});
        std::vector<double> places;
        const std::vector<std::uint64_t> asked = {0, 10, 37, 200, 1000};
        for (const std::uint64_t index : asked)
            coordinates.append(index, places);
        QCOMPARE(expectations.addCandidates(places, asked.size()), std::size_t{0});
        const double a = 1 + own, k = kernel(std::abs(at(10) - at(200)) / length);
        const double variance = (2 / (a - k) + 2) / 4;
        for (std::size_t i = 0; i < asked.size(); ++i) {
            const double one = kernel(std::abs(at(asked[i]) - at(10)) / length);
            const double two = kernel(std::abs(at(asked[i]) - at(200)) / length);
            QVERIFY(near(expectations.mean(i), 3 + (one - two) / (a - k)));
            const double explained = (a * (one * one + two * two) - 2 * k * one * two) / (a * a - k * k);
            QVERIFY(near(expectations.deviation(i), std::sqrt(variance * (1 + 0.3 * own - explained))));
        }
    }

    /// More candidates than a pack, in two goes, are what each is alone.
    void candidatesDoNotMixWithEachOther()
    {
        const ConfigSpace space = numberSpace({30, 30});
        const KnobCoordinates coordinates(space);
        std::vector<std::pair<std::uint64_t, double>> values;
        for (std::uint64_t i = 0; i < 20; ++i)
            values.emplace_back(i * 41, std::sin(static_cast<double>(i)));
        const Observations observations = observe(coordinates, values);
        const KernelScales scales{{0.4, 0.8}, 0.05};
        Expectations all(coordinates, observations, scales);
        std::vector<std::size_t> numbers;
        for (const std::uint64_t from : {0, 11}) {
            std::vector<double> places;
            for (std::uint64_t i = from; i < from + 11; ++i)
                coordinates.append(i * 29, places);
            const std::size_t first = all.addCandidates(places, 11);
            for (std::size_t i = 0; i < 11; ++i)
                numbers.push_back(first + i);
        }
        for (std::uint64_t i = 0; i < 22; ++i) {
            Expectations alone(coordinates, observations, scales);
            alone.addCandidates(placeOf(coordinates, i * 29), 1);
            QCOMPARE(all.mean(numbers[i]), alone.mean(0));
            QCOMPARE(all.deviation(numbers[i]), alone.deviation(0));
        }
    }

    void whatIsAssumedIsAsGoodAsMeasured()
    {
        const ConfigSpace space = numberSpace({1000});
        const KnobCoordinates coordinates(space);
        Expectations expectations(coordinates, observe(coordinates, {{10, 4}, {200, 2}, {300, 2}}), {{0.3}, 0.01});
        std::vector<double> places;
        for (const std::uint64_t index : {30, 31, 999})
            coordinates.append(index, places);
        expectations.addCandidates(places, 3);
        const double mean = expectations.mean(1), deviation = expectations.deviation(1),
                     far = expectations.deviation(2);
        expectations.assume(0);
        QVERIFY(near(expectations.mean(1), mean));
        QVERIFY(expectations.deviation(1) < 0.7 * deviation);
        QVERIFY(expectations.deviation(2) > 0.99 * far);
    }

    void scalesTellWhichKnobsMatter()
    {
        const ConfigSpace space = numberSpace({20, 20});
        const KnobCoordinates coordinates(space);
        std::vector<std::pair<std::uint64_t, double>> smooth, wild;
        Random random(3);
        for (int i = 0; i < 60; ++i) {
            const std::uint64_t index = random.below(space.size());
            smooth.emplace_back(index, std::sin(static_cast<double>(index % 20) / 3));
            wild.emplace_back(index, smooth.back().second + 2 * random.uniform());
        }
        const KernelScales found = fitScales(coordinates, observe(coordinates, smooth), {}, 60);
        QVERIFY2(found.lengths[1] > 5 * found.lengths[0],
                 qPrintable(QString("%1, %2").arg(found.lengths[0]).arg(found.lengths[1])));
        QVERIFY(found.own < 0.01);
        const double own = fitScales(coordinates, observe(coordinates, wild), {}, 60).own;
        QVERIFY2(own > 0.1, qPrintable(QString::number(own)));
        // Further steps change little: it has arrived.
        const KernelScales more = fitScales(coordinates, observe(coordinates, smooth), found, 60);
        QVERIFY(std::abs(std::log(more.lengths[0] / found.lengths[0])) < 0.1);
    }

    // The tuner

    void theFirstAreRandom()
    {
        const ConfigSpace space = numberSpace({16, 16, 16});
        GaussianTuner tuner(space, seeded(5));
        RandomTuner random(space, {{}, 5});
        QVERIFY(runAll(tuner, space, 8, 16) == runAll(random, space, 8, 16));
        QCOMPARE(tuner.models(), std::size_t{0});
        ask(tuner, 1);
        QCOMPARE(tuner.models(), std::size_t{1});
    }

    void itFindsTheBestInFewTrials()
    {
        const ConfigSpace small = numberSpace({8, 9, 7, 2});
        const ConfigSpace large = numberSpace({1000, 1000, 1000}); // 10^9
        std::size_t trials[2] = {};
        for (std::uint64_t seed = 0; seed < 5; ++seed) {
            GaussianTuner one(small, seeded(seed));
            trials[0] += trialsToBest(one, small) / 5;
            GaussianTuner other(large, seeded(seed));
            double least = std::numeric_limits<double>::infinity();
            for (const std::uint64_t index : runAll(other, large, 8, 120))
                least = std::min(least, distance(large, index));
            trials[1] += static_cast<std::size_t>(least) / 5;
        }
        qInfo("trials to the best of %llu: %zu; distance of the best of 120 of 10^9: %zu",
              static_cast<unsigned long long>(small.size()), trials[0], trials[1]);
        QVERIFY(trials[0] < 50); // at random: 500
        QVERIFY(trials[1] < 60); // at random: 300
    }

    /// Half of all fail, which only the second knob says, and the best of the others lie just beside them.
    void failuresAreAvoided()
    {
        const ConfigSpace space = numberSpace({40, 40, 40});
        const auto fails = [&](std::uint64_t index) { return space.digits(index)[1] >= 20; };
        std::size_t failed = 0;
        for (std::uint64_t seed = 0; seed < 5; ++seed) {
            GaussianTuner tuner(space, seeded(seed));
            for (int round = 0; round < 8; ++round)
                for (const std::uint64_t index : ask(tuner, 8)) {
                    const std::vector<std::uint32_t> digits = space.digits(index);
                    tuner.tell(index, fails(index) ? kFailed : 100.0 - digits[1] + digits[0]);
                    failed += round >= 2 && fails(index) ? 1 : 0;
                }
        }
        qInfo("%zu of 240 proposals fail", failed); // without the second process: most
        QVERIFY(failed < 120);
    }

    void allMayFail()
    {
        const ConfigSpace space = numberSpace({9, 9});
        GaussianTuner tuner(space, seeded(1));
        std::size_t given = 0;
        while (!tuner.exhausted())
            for (const std::uint64_t index : ask(tuner, 6)) {
                tuner.tell(index, ++given % 2 == 0 ? kFailed : std::numeric_limits<double>::quiet_NaN());
            }
        QCOMPARE(given, std::size_t{81});
        QCOMPARE(tuner.models(), std::size_t{0});
    }

    void timesMayBeTinyHugeOrEqual()
    {
        const ConfigSpace space = numberSpace({9, 9});
        const double times[] = {1, std::numeric_limits<double>::denorm_min(), std::numeric_limits<double>::max(), 1, 1};
        for (const std::size_t kinds : {1, 3, 5}) {
            GaussianTuner tuner(space, seeded(1));
            std::size_t given = 0;
            while (!tuner.exhausted())
                for (const std::uint64_t index : ask(tuner, 6))
                    tuner.tell(index, times[given++ % kinds]);
            QCOMPARE(given, std::size_t{81});
        }
    }

    /// Those of a round, and those that are asked for one by one while no result comes, are not all next to each other.
    void proposalsDiffer_data()
    {
        QTest::addColumn<int>("batch");
        QTest::newRow("of a round") << 16;
        QTest::newRow("of rounds without results") << 1;
    }
    void proposalsDiffer()
    {
        QFETCH(int, batch);
        const ConfigSpace space = numberSpace({2000});
        std::uint64_t spread = 0;
        for (std::uint64_t seed = 0; seed < 5; ++seed) {
            GaussianTuner tuner(space, seeded(seed));
            for (const std::uint64_t index : ask(tuner, 16))
                tuner.tell(index, 2 + std::sin(static_cast<double>(index) / 60));
            Indices all;
            while (all.size() < 16)
                for (const std::uint64_t index : ask(tuner, static_cast<std::size_t>(batch)))
                    all.push_back(index);
            all = sorted(all);
            QVERIFY(std::adjacent_find(all.begin(), all.end()) == all.end());
            spread += all.back() - all.front();
        }
        qInfo("16 proposals lie in %llu configurations", static_cast<unsigned long long>(spread / 5)); // 16 if alone
        QVERIFY(spread > 5 * 40);
    }

    void theOrderOfResultsDoesNotMatter()
    {
        const ConfigSpace space = numberSpace({20, 20, 20});
        GaussianOptions options = seeded(1);
        options.mostKnown = 20; // fewer than there are
        options.mostFitted = 10;
        GaussianTuner forth(space, options);
        GaussianTuner back(space, options);
        for (int round = 0; round < 4; ++round) {
            Indices indices = ask(forth, 30);
            QVERIFY(ask(back, 30) == indices);
            const auto seconds = [&](std::uint64_t index) {
                return index % 3 != 0 ? kFailed : 1 + std::floor(distance(space, index) / 4);
            };
            for (const std::uint64_t index : indices)
                forth.tell(index, seconds(index));
            std::reverse(indices.begin(), indices.end());
            for (const std::uint64_t index : indices)
                back.tell(index, seconds(index));
        }
    }

    void whatIsStoppedGoesOnAsIfItHadNotBeen()
    {
        for (const ConfigSpace& space : {numberSpace({20, 20}), numberSpace({100, 100, 100})}) {
            GaussianTuner tuner(space, seeded(7));
            GaussianTuner twin(space, seeded(7));
            runAll(tuner, space, 8, 40);
            runAll(twin, space, 8, 40);
            std::stop_source source;
            source.request_stop();
            const auto stopped = tuner.next(8, source.get_token());
            QVERIFY(!stopped && stopped.error().code == Errc::Cancelled);
            QVERIFY(ask(tuner, 8) == ask(twin, 8));
        }
    }

    void whatIsRefusedIsNoCandidate()
    {
        for (const std::int64_t choices : {12, 100}) {
            ConfigSpace space = numberSpace({choices, choices, 9});
            refuseWhere(space, [](std::int64_t x) { return x < 4; }); // where the best is
            GaussianTuner tuner(space, seeded(3));
            const Indices all = runAll(tuner, space, 8, 64);
            for (const std::uint64_t index : all)
                QVERIFY(space.digits(index)[0] >= 4);
            // Of all configurations, or of some thousand candidates in each of six rounds.
            const auto refused = static_cast<double>(tuner.refused());
            QVERIFY2(choices == 12 ? refused == 4 * 12 * 9 : refused > 200, qPrintable(QString::number(refused)));
        }
    }

    /// A space of a template, 500 results: a round takes a bounded time. By the clock of whoever runs it, so only told.
    void aRoundTakesABoundedTime()
    {
        const ConfigSpace space = must(spaceOf(convWorkload("conv2d_nchw.cuda", argsOf(kResnetTasks[1]))));
        GaussianTuner tuner(space, seeded(3));
        Random random(1);
        for (int i = 0; i < 500; ++i) {
            const std::uint64_t index = random.below(space.size());
            tuner.tell(index, i % 3 == 0 ? kFailed : 1 + distance(space, index));
        }
        ask(tuner, 8);
        QElapsedTimer timer;
        timer.start();
        QCOMPARE(ask(tuner, 8).size(), std::size_t{8});
        qInfo("8 proposals of %llu configurations after 500 results: %lld ms",
              static_cast<unsigned long long>(space.size()), static_cast<long long>(timer.elapsed()));
        QVERIFY(timer.elapsed() < 5000);
    }

    void optionsThatMakeNoSenseDoNoHarm()
    {
        const ConfigSpace space = numberSpace({5, 5});
        GaussianOptions options;
        options.first = options.mostKnown = options.mostFitted = options.wholeSpace = options.anywhere = 0;
        options.children = options.parents = options.neighbours = 0;
        options.rounds = -1;
        options.worst = -1;
        GaussianTuner tuner(space, options);
        QVERIFY(sorted(runAll(tuner, space, 4)) == upTo(25));
    }
};

LATHE_TEST(TestGaussianTuner)

} // namespace tst_gaussian_tuner
#include "tst_gaussian_tuner.moc"
