#include "core/policy/default_candidate.h"
#include "core/policy/policy_table.h"
#include "core/schedule/default_launches.h"
#include "tests/core/search/lathe_tasks.h"
#include "tests/support/must.h"
#include "tests/support/search/cases.h"
#include "tests/support/search/race.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <nlohmann/json.hpp>

namespace tst_launch_policy {

using namespace lathe;
using namespace lathe::search;
using namespace lathe::test;

namespace {

constexpr std::int32_t kTrials = 16;

double untunedCost(const SearchTask& task, CostSource& costs)
{
    schedule::LaunchScheduleOptions options;
    options.constantInputs = task.alternatives.front().constantInputs;
    const auto state = must(schedule::planDefaultLaunches(task.alternatives.front().dag, options));
    Candidate untuned = policy::plainLoops(task);
    untuned.steps = schedule::toJson(state.steps()).dump();
    return costs.nanoseconds(untuned);
}

} // namespace

/// Lathe's own search on a simulated GPU.
class TestLaunchPolicy : public QObject
{
    Q_OBJECT

private slots:
    void aFewTrialsBeatWhatIsUntuned_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("like");
        QTest::newRow("dense of one sample") << "dense of one"
                                             << "cuda";
        QTest::newRow("dense") << "dense"
                               << "cuda";
        QTest::newRow("1x1, mali") << "conv1x1"
                                   << "mali";
        QTest::newRow("depthwise") << "depthwise"
                                   << "cuda";
    }
    void aFewTrialsBeatWhatIsUntuned()
    {
        QFETCH(QString, name);
        QFETCH(QString, like);
        const SearchTask task = must(searchCase(name.toStdString(), "sim -like=" + like.toStdString()));
        SimulatedCost costs(task, sim::GpuMachine::like(like.toStdString()));
        RaceOptions options{"sketch", 1, kTrials, kTrials / 2, false, 0};
        const auto ours = must(race(task, costs, options));
        options.policy = "reference";
        const auto theirs = must(race(task, costs, options));
        QCOMPARE(ours.size(), static_cast<std::size_t>(kTrials));
        const double untuned = untunedCost(task, costs);
        qInfo("%s: %.2f of the reference's, %.2f of what is untuned", qPrintable(name),
              theirs.empty() ? 0.0 : ours.back() / theirs.back(), ours.back() / untuned);
        QVERIFY(ours.back() <= untuned);
    }

    void equalSeedsGiveEqualCandidates()
    {
        const SearchTask t = task({test::dense(64, 96)}, "sim -like=cuda");
        const auto proposed = [&t](std::uint64_t seed) {
            PolicyOptions options;
            options.seed = seed;
            const auto policy = must(
                policy::makePolicy("sketch", t, must(policy::makeSharedModel("sketch", 1, options)), options));
            SerialExecutor executor;
            std::vector<std::string> steps;
            for (std::uint64_t round = 0; round < 2; ++round) {
                const std::vector<Candidate> candidates = proposals(*policy, round, 8, executor);
                std::vector<Measured> results;
                for (const Candidate& candidate : candidates) {
                    steps.push_back(candidate.steps);
                    TrialResult result;
                    result.costsNs = {1000.0 + static_cast<double>(steps.size() % 5)};
                    results.push_back({candidate, result});
                }
                must(policy->tell(results));
            }
            return steps;
        };
        QCOMPARE(proposed(1).size(), std::size_t{16});
        QVERIFY(proposed(1) == proposed(1));
        QVERIFY(proposed(1) != proposed(2));
    }

    /// What a device cannot run is not proposed, and counted.
    void nothingIsProposedThatTheDeviceCannotRun()
    {
        SearchTask t = task({test::conv(14, 64, 64, 3, 1)}, "opencl");
        t.hardware.limits["max_blocks_x"] = {8, "user"}; // nothing in closed form looks at it
        PolicyOptions options;
        const auto policy = must(
            policy::makePolicy("sketch", t, must(policy::makeSharedModel("sketch", 1, options)), options));
        SerialExecutor executor;
        SimulatedCost costs(t, sim::GpuMachine::like("opencl"));
        for (const Candidate& candidate : proposals(*policy, 0, 16, executor))
            QVERIFY(costs.nanoseconds(candidate) < std::numeric_limits<double>::infinity());
        QVERIFY(policy->statistics().at("rejected") > 0);
    }
};

LATHE_TEST(TestLaunchPolicy)

} // namespace tst_launch_policy

#include "tst_launch_policy.moc"
