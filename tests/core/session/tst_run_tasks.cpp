#include "core/session/run/run_estimate.h"
#include "tests/support/fake_run.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <cmath>

namespace tst_run_tasks {

using namespace lathe;
using namespace lathe::session;
using namespace lathe::test;

/// What stands best of a run's tasks, what is said of it, and where its time went.
class TestRunTasks : public QObject
{
    Q_OBJECT

    static std::vector<std::string> originsOf(const RunTask& task)
    {
        std::vector<std::string> all;
        for (const Ahead& one : task.ahead())
            all.push_back(originOf(one.record));
        return all;
    }

private slots:
    void theFastestStandsAndOneThatIsNearlyAsFast()
    {
        FakeRun run(few(100), nullptr, true);
        const auto c = run.candidates(0, 4);
        RunTask& task = run.tasks[0];
        QVERIFY(std::isinf(task.bestNs()) && task.moments() == 0);
        Ahead first = run.trial(c[1], 1e6);
        first.record.result.conditions = R"({"moments": 3})";
        task.takeAhead({run.trial(c[0], 1.04e6), first, run.trial(c[2], 1.2e6), run.trial(c[3], 1.01e6)});
        QCOMPARE(task.bestNs(), 1e6);
        QCOMPARE(task.moments(), std::int64_t{3});
        QCOMPARE(originsOf(task), (std::vector<std::string>{c[1].hash().hex(), c[3].hash().hex()}));
        task.takeAhead({run.trial(c[2], 1.2e6), run.trial(c[0], 1e6)}); // a fifth slower: it does not compete again
        QCOMPARE(originsOf(task), std::vector<std::string>{c[0].hash().hex()});
        QVERIFY(task.offers(first.record));
        first.record.candidate.alternative = "another version's";
        QVERIFY(!task.offers(first.record));
    }

    void theLatestFinalsSayWhoStands()
    {
        FakeRun run(few(100));
        const auto c = run.candidates(1, 3);
        std::vector<Record> records;
        const auto add = [&](const Candidate& candidate, double ns, const char* id) {
            Record record = run.trial(candidate, ns).record;
            record.result.conditions = std::string(R"({"finals": ")") + id + "\"}";
            records.push_back(std::move(record));
        };
        add(c[0], 1e6, "old");
        add(c[1], 2e6, "new");
        add(c[2], 1.95e6, "new");
        add(c[0], 1e5, "new");
        records.back().candidate.task = "of another network";
        run.tasks.takeFinals(records);
        QVERIFY(std::isinf(run.tasks[0].bestNs()));
        QCOMPARE(run.tasks[1].bestNs(), 1.95e6); // slower than the old one, which is past
        QCOMPARE(originsOf(run.tasks[1]), (std::vector<std::string>{c[2].hash().hex(), c[1].hash().hex()}));
    }

    void theNetworkHasAnEstimateOnceEveryTaskHas()
    {
        FakeRun run(few(100));
        const auto count = static_cast<std::int32_t>(run.tasks.size());
        double sum = 0;
        for (std::int32_t i = 0; i < count; ++i) {
            QVERIFY(std::isinf(run.tasks.estimatedSeconds()));
            const EstimateEvent before = estimateAt(1, *run.parts);
            QVERIFY(std::isnan(before.ms));
            QCOMPARE(std::isnan(before.low), i == 0); // a band, once anything is known
            QVERIFY(i == 0 || before.low < before.high);
            run.tasks[i].takeBest(1e6 * (i + 1));
            run.scheduler->tell(i, {8, 1e-3 * (i + 1), 1, false});
            sum += run.tasks[i].weight * 1e-3 * (i + 1);
        }
        QVERIFY(std::abs(run.tasks.estimatedSeconds() - sum) < 1e-12);
        run.clock.countTrial();
        const EstimateEvent known = estimateAt(2, *run.parts);
        QVERIFY(std::abs(known.ms - 1e3 * sum) < 1e-9);
        QCOMPARE(known.etaSeconds, 198.0); // 99 more trials at two seconds
        QVERIFY(known.forecastMs > 0 && known.forecastMs <= known.ms);
    }

    void aDecisionNamesTheTaskThatWouldHaveComeNext()
    {
        FakeRun run(few(100));
        QCOMPARE(explainDecision(*run.scheduler, 0).reason, std::string("first"));
        const auto count = static_cast<std::int32_t>(run.tasks.size());
        for (int round = 0; round < 2; ++round)
            for (std::int32_t i = 0; i < count; ++i)
                run.scheduler->tell(i, {8, 1e-3 / (round + 1), 1, false});
        const std::int32_t next = run.scheduler->next();
        const Decision decision = explainDecision(*run.scheduler, next);
        QCOMPARE(decision.reason, std::string("promise"));
        QVERIFY(decision.terms.contains("next_best"));
        QVERIFY(decision.terms.at("next_best_task") != next);
        QVERIFY(decision.terms.at("next_best") <= decision.terms.at("gain_per_second"));
        run.scheduler->setPinned(next, true);
        QCOMPARE(explainDecision(*run.scheduler, next).reason, std::string("pinned"));
        QVERIFY(!explainDecision(*run.scheduler, next).terms.contains("next_best")); // nobody else is pinned
        QVERIFY(whyNothingIsLeft(*run.scheduler).id == Msg::NothingLeft);
        for (std::int32_t i = 0; i < count; ++i)
            run.scheduler->tell(i, {0, std::numeric_limits<double>::infinity(), 1, true});
        QCOMPARE(textOf(whyNothingIsLeft(*run.scheduler)), std::string("no candidates left"));
    }

    void stretchesOfTimeAddUpToTheWholeWithIdleWorkers()
    {
        FakeRun run(few(100));
        run.time.continueFrom({{{"propose", 100.0}}, {}});
        {
            const auto proposing = run.clock.account().in("propose");
            run.seconds += 2;
        }
        TimeSpent first = run.time.sinceLast();
        QCOMPARE(first.activities, (std::map<std::string, double>{{"propose", 2.0}}));
        QCOMPARE(first.workers.at("runner idle").seconds, 4.0); // of two devices
        QCOMPARE(first.workers.at("builder idle").seconds, 2.0);
        {
            const auto measuring = run.clock.account().in("measure");
            run.seconds += 3;
        }
        run.devices.spent.workers["measure"] = {1.5, 1.25};
        const TimeSpent second = run.time.sinceLast();
        QCOMPARE(second.activities, (std::map<std::string, double>{{"measure", 3.0}}));
        QCOMPARE(second.workers.at("measure").seconds, 1.5);
        QCOMPARE(second.workers.at("runner idle").seconds, 4.5);
        first += second;
        QCOMPARE(run.time.total().activities, (std::map<std::string, double>{{"measure", 3.0}, {"propose", 102.0}}));
    }
};

LATHE_TEST(TestRunTasks)

} // namespace tst_run_tasks

#include "tst_run_tasks.moc"
