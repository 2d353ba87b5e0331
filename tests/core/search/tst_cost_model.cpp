#include "core/search/cost_model.h"
#include "core/support/random.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace tst_cost_model {

using namespace lathe;
using namespace lathe::search;

namespace {

/// Programs of two tasks whose cost follows two of eight features, with `rows` rows each.
TrainingSet sample(std::uint64_t seed, int programs, int rows)
{
    TrainingSet data;
    data.features.columns = 8;
    Random random(seed);
    for (int i = 0; i < programs; ++i) {
        std::vector<float> values;
        double cost = 1e-3;
        for (int r = 0; r < rows; ++r) {
            for (int c = 0; c < 8; ++c)
                values.push_back(static_cast<float>(random.uniform()));
            const float* row = values.data() + 8 * r;
            cost += 2e-3 * row[0] + (row[3] > 0.5f ? 1e-3 : 0);
        }
        data.features.append(values);
        data.tasks.push_back(i % 2);
        data.costs.push_back(i % 2 ? cost * 40 : cost);
    }
    return data;
}

XGBoostOptions quick(Objective objective)
{
    XGBoostOptions options = objective == Objective::PackSum ? referenceModelOptions() : XGBoostOptions();
    options.objective = objective;
    options.rounds = 40;
    options.maxDepth = 4;
    return options;
}

/// Mean over i <= n of best label among the top i predicted / best label, averaged over tasks.
double averagePeakScore(const TrainingSet& data, std::span<const float> predicted, std::int32_t n)
{
    const std::vector<float> labels = throughputLabels(data);
    std::map<std::int32_t, std::vector<std::size_t>> byTask;
    for (std::size_t i = 0; i < labels.size(); ++i)
        byTask[data.tasks[i]].push_back(i);
    double sum = 0;
    std::size_t counted = 0;
    for (auto& [task, members] : byTask) {
        std::stable_sort(members.begin(), members.end(),
                         [&](std::size_t a, std::size_t b) { return predicted[a] > predicted[b]; });
        float best = 0;
        for (const std::size_t i : members)
            best = std::max(best, labels[i]);
        if (best <= 0)
            continue;
        float peak = 0;
        double total = 0;
        for (std::int32_t i = 0; i < n; ++i) {
            if (static_cast<std::size_t>(i) < members.size())
                peak = std::max(peak, labels[members[static_cast<std::size_t>(i)]]);
            total += peak / best;
        }
        sum += total / n;
        ++counted;
    }
    return counted == 0 ? 0 : sum / static_cast<double>(counted);
}

} // namespace

class TestCostModel : public QObject
{
    Q_OBJECT

private slots:
    void everyObjectiveRanksUnseenPrograms_data()
    {
        QTest::addColumn<int>("objective");
        QTest::addColumn<int>("rows");
        QTest::newRow("pack sum") << static_cast<int>(Objective::PackSum) << 3;
        QTest::newRow("regression") << static_cast<int>(Objective::Regression) << 1;
        QTest::newRow("pairwise") << static_cast<int>(Objective::Pairwise) << 1;
    }
    void everyObjectiveRanksUnseenPrograms()
    {
        QFETCH(int, objective);
        QFETCH(int, rows);
        const auto model = makeXGBoostModel(quick(static_cast<Objective>(objective)));
        QVERIFY(!model->trained());
        const auto status = model->train(sample(1, 240, rows));
        QVERIFY2(bool(status), status ? "" : status.error().message.c_str());
        QVERIFY(model->trained());
        const TrainingSet unseen = sample(2, 200, rows);
        const auto scores = model->predict(unseen.features);
        QVERIFY(scores);
        const auto random = makeRandomModel(5)->predict(unseen.features);
        QVERIFY2(averagePeakScore(unseen, *scores, 8) > 0.9,
                 qPrintable(QString::number(averagePeakScore(unseen, *scores, 8))));
        QVERIFY(averagePeakScore(unseen, *scores, 8) > averagePeakScore(unseen, *random, 8) + 0.05);
    }

    void trainingTwiceGivesTheSameModel()
    {
        const TrainingSet data = sample(3, 100, 2);
        const auto a = makeXGBoostModel(quick(Objective::PackSum)), b = makeXGBoostModel(quick(Objective::PackSum));
        QVERIFY(a->train(data));
        QVERIFY(b->train(data));
        QVERIFY(*a->predict(data.features) == *b->predict(data.features));
        QVERIFY(a->train(data)); // and again, over the old one
        QVERIFY(*a->predict(data.features) == *b->predict(data.features));
    }

    void modelsAreSavedForOthersAndTheSameDataGivesTheSameBytes()
    {
        const TrainingSet data = sample(4, 80, 1);
        const auto model = makeXGBoostModel(quick(Objective::Regression));
        QVERIFY(model->save().error().code == Errc::NotFound);
        QVERIFY(model->train(data));
        const auto bytes = model->save();
        QVERIFY(bytes && bytes->size() > 100);
        QCOMPARE(static_cast<char>(bytes->front()), '{'); // an object of UBJSON
        const auto again = makeXGBoostModel(quick(Objective::Regression));
        QVERIFY(again->train(data));
        QVERIFY(*again->save() == *bytes);
    }

    void featuresOfAnotherWidthAreRefused()
    {
        const auto model = makeXGBoostModel(quick(Objective::Regression));
        QVERIFY(model->train(sample(4, 80, 1)));
        FeatureMatrix other;
        other.columns = 5;
        other.append(std::vector<float>(5));
        QVERIFY(model->predict(other).error().code == Errc::InvalidArgument);
        QVERIFY(model->train(sample(4, 80, 2)).error().code == Errc::InvalidArgument);
        QVERIFY(model->train(TrainingSet{FeatureMatrix{8, {}, {}}, {}, {}, {}}).error().code == Errc::InvalidArgument);
    }

    void aStopRequestEndsTraining()
    {
        std::stop_source stop;
        stop.request_stop();
        const auto model = makeXGBoostModel(quick(Objective::PackSum));
        QVERIFY(model->train(sample(4, 80, 1), stop.get_token()).error().code == Errc::Cancelled);
        QVERIFY(!model->trained());
    }

    void labelsAreRelativeToTheTasksBest()
    {
        TrainingSet data;
        data.features.columns = 1;
        for (int i = 0; i < 4; ++i)
            data.features.append(std::vector<float>{0});
        data.costs = {2e-3, 1e-3, std::numeric_limits<double>::infinity(), 5.0};
        data.tasks = {0, 0, 0, 1};
        QCOMPARE(throughputLabels(data), (std::vector<float>{0.5f, 1.0f, 0.0f, 1.0f}));
        // Task 0: top 1 has 0.5, top 2 has 1; task 1: 1 throughout.
        QCOMPARE(averagePeakScore(data, std::vector<float>{9, 8, 7, 6}, 2), (0.75 + 1.0) / 2);
    }

    void randomScoresReplay()
    {
        const TrainingSet data = sample(6, 50, 1);
        QVERIFY(*makeRandomModel(1)->predict(data.features) == *makeRandomModel(1)->predict(data.features));
        QVERIFY(*makeRandomModel(1)->predict(data.features) != *makeRandomModel(2)->predict(data.features));
    }
};

LATHE_TEST(TestCostModel)

} // namespace tst_cost_model

#include "tst_cost_model.moc"
