// Guided search against random sampling: what random sampling reaches in 1,000 trials must take a third of them at
// most, on the simulated device's cost and on trials of a real one. Counts, no times: seeds are fixed.

#include "core/policy/policy_table.h"
#include "core/support/files.h"
#include "tests/support/search/cases.h"
#include "tests/support/search/recorded_table.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

#include <set>

namespace tst_search_quality {

using namespace lathe;
using namespace lathe::test;

namespace {

constexpr std::int32_t kTrials = 1000;
constexpr std::uint64_t kSeeds = 10;

struct Course
{
    search::SearchTask task;
    std::unique_ptr<CostSource> costs;
};

Course simulated(const std::string& name)
{
    auto task = searchCase(name, "sim -like=cpu -threads=8");
    if (!task)
        qFatal("%s", task.error().message.c_str());
    return {*task, std::make_unique<SimulatedCost>(*task, sim::CpuMachine())};
}

std::unique_ptr<RecordedTable> recorded(const std::string& name)
{
    auto table = RecordedTable::load(LATHE_TEST_DATA "/search/" + name + ".trials");
    if (!table)
        qFatal("%s", table.error().message.c_str());
    return *std::move(table);
}

Course course(const QString& name)
{
    const std::string word = name.section(' ', 1).toStdString();
    if (name.startsWith("simulated"))
        return simulated(word);
    auto table = recorded(word);
    const search::SearchTask task = table->task();
    return {task, std::move(table)};
}

std::vector<double> run(const Course& c, const RaceOptions& options)
{
    auto best = race(c.task, *c.costs, options);
    if (!best)
        qFatal("%s", best.error().message.c_str());
    return *best;
}

/// Trials that each seed's guided search took to random's best, the mean of all; those that did not get there count as
/// one more than `limit`.
double meanTrials(const Course& c, bool modelOff, std::int32_t limit)
{
    double sum = 0;
    QStringList each;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        RaceOptions options;
        options.seed = seed;
        options.policy = "random";
        options.trials = kTrials;
        options.goal = run(c, options).back();
        options.policy = "sketch";
        options.modelOff = modelOff;
        options.trials = limit;
        const auto needed = trialsTo(run(c, options), options.goal);
        sum += static_cast<double>(needed);
        each << QString::number(needed);
    }
    qInfo("%.0f trials: %s", sum / kSeeds, qPrintable(each.join(' ')));
    return sum / kSeeds;
}

} // namespace

class TestSearchQuality : public QObject
{
    Q_OBJECT

private slots:
    void guidedSearchNeedsAThirdOfRandomsTrials_data()
    {
        QTest::addColumn<QString>("name");
        for (const char* name : {"simulated conv1x1", "simulated depthwise", "simulated dense", "recorded conv1x1",
                                 "recorded conv3x3", "recorded depthwise"})
            QTest::newRow(name) << name;
    }
    void guidedSearchNeedsAThirdOfRandomsTrials()
    {
        QFETCH(QString, name);
        const double mean = meanTrials(course(name), false, kTrials);
        QVERIFY2(mean <= kTrials / 3.0, qPrintable(QString::number(mean)));
    }

    void withoutItsModelItDoesNot()
    {
        // The estimate by itself knows nothing of the simulated device: what the row above shows is the model's work.
        QVERIFY(meanTrials(simulated("conv1x1"), true, kTrials * 2 / 5) > kTrials / 3.0);
    }

    void tablesHoldTwoThousandTrials_data()
    {
        QTest::addColumn<QString>("name");
        for (const char* name : {"conv1x1", "conv3x3", "depthwise"})
            QTest::newRow(name) << name;
    }
    void tablesHoldTwoThousandTrials()
    {
        QFETCH(QString, name);
        const auto table = recorded(name.toStdString());
        QCOMPARE(table->recorded(), std::size_t(2000));
        std::size_t valid = 0;
        std::set<double> costs;
        for (const Candidate& candidate : *table->pool())
            if (const double cost = table->nanoseconds(candidate); std::isfinite(cost)) {
                ++valid;
                costs.insert(cost);
            }
        QVERIFY(valid >= 1900);
        // Real times differ.
        QVERIFY(costs.size() > 1500);
        QVERIFY(*costs.rbegin() > 10 * *costs.begin());
    }

    void aConfinedSearchProposesEachGivenCandidateOnce()
    {
        const auto table = recorded("conv1x1");
        auto few = std::make_shared<std::vector<Candidate>>(table->pool()->begin(), table->pool()->begin() + 100);
        for (const char* name : {"sketch", "random"}) {
            search::PolicyOptions options;
            options.pool = few;
            const auto policy = policy::makePolicy(name, table->task(), *policy::makeSharedModel(name, 1, options),
                                                   options);
            QVERIFY(policy);
            SerialExecutor executor;
            std::set<std::vector<std::int32_t>> seen;
            for (std::uint64_t round = 0; round < 5; ++round) {
                const auto candidates = (*policy)->propose(round, 32, executor);
                QVERIFY(candidates);
                QCOMPARE(candidates->size(), std::size_t(round < 3 ? 32 : round == 3 ? 4 : 0));
                std::vector<search::Measured> results;
                for (const Candidate& c : *candidates) {
                    results.push_back({c, {}});
                    results.back().result.costsNs = {table->nanoseconds(c)};
                    QVERIFY(seen.insert(c.genome).second);
                    QVERIFY(std::any_of(few->begin(), few->end(),
                                        [&](const Candidate& given) { return given.genome == c.genome; }));
                    QVERIFY(!c.steps.empty());
                }
                QVERIFY((*policy)->tell(results)); // what was not told may be proposed again
            }
        }
    }

    void whatCannotBeConfinedIsRefused()
    {
        const auto table = recorded("conv1x1");
        search::PolicyOptions options;
        options.pool = table->pool();
        for (const char* name : {"evolution", "reference"})
            QVERIFY(policy::makePolicy(name, table->task(), *policy::makeSharedModel(name, 1, options), options)
                        .error()
                        .code
                    == Errc::Unsupported);
        auto foreign = std::make_shared<std::vector<Candidate>>(table->pool()->begin(), table->pool()->begin() + 2);
        foreign->back().sketch = "lathe-cpu/1:elsewhere";
        options.pool = foreign;
        QVERIFY(policy::makePolicy("sketch", table->task(), *policy::makeSharedModel("sketch", 1, options), options)
                    .error()
                    .code
                == Errc::InvalidArgument);
    }

    void brokenTablesAreRefused()
    {
        const QTemporaryDir folder;
        const std::filesystem::path file = folder.filePath("x.trials").toStdString();
        const auto code = [&](const std::string& text) {
            if (!writeFileAtomically(file, text))
                qFatal("cannot write");
            const auto table = RecordedTable::load(file);
            return table ? Errc::Ok : table.error().code;
        };
        const std::string whole = *readFile(LATHE_TEST_DATA "/search/conv1x1.trials");
        const std::string header = whole.substr(0, whole.find('\n') + 1);
        QVERIFY(code("no table") == Errc::BadFile);
        QVERIFY(code(header + "7 0 0 0\n") == Errc::BadFile);
        QVERIFY(code(header + "0 0 0\n") == Errc::BadFile);
        QVERIFY(code(header + "0 0 99 0 0 0 0 0 0 0 0 0 0 100\n") == Errc::BadFile);
        std::string other = whole;
        other.replace(other.find("lathe-cpu/1:direct"), 18, "lathe-cpu/0:direct");
        QVERIFY(code(other) == Errc::Incompatible);
        QVERIFY(code(whole) == Errc::Ok);
        QVERIFY(RecordedTable::load(folder.filePath("none").toStdString()).error().code == Errc::NotFound);
    }
};

LATHE_TEST(TestSearchQuality)

} // namespace tst_search_quality

#include "tst_search_quality.moc"
