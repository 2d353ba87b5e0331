#include "core/session/run/run_finals.h"
#include "tests/support/fake_run.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <nlohmann/json.hpp>

namespace tst_run_finals {

using namespace lathe;
using namespace lathe::session;
using namespace lathe::test;

/// The finals of a run, on devices of which the test says what they answer.
class TestRunFinals : public QObject, Projects
{
    Q_OBJECT

    store::Project writer(const char* name) const
    {
        return must(store::Project::open(file(name), store::Project::Access::Write));
    }
    /// So many trials of each task, whose costs grow by a tenth from one to the next.
    static void store(FakeRun& run, store::Project& project, std::int32_t count)
    {
        for (std::int32_t task = 0; task < static_cast<std::int32_t>(run.tasks.size()); ++task) {
            std::vector<Record> records;
            for (const Candidate& candidate : run.candidates(task, count))
                records.push_back(run.trial(candidate, 1e6 * (1 + 0.1 * static_cast<double>(records.size()))).record);
            must(project.addRecords(records));
            run.tasks[task].takeBest(1e6);
        }
    }
    int m_pauses = 0;
    RunFinals finals(FakeRun& run)
    {
        m_pauses = 0;
        return {*run.parts, [this](std::stop_token) { ++m_pauses; }};
    }

private slots:
    void whoIsFastestSideBySideStands()
    {
        store::Project project = writer("finals.lathe");
        FakeRun run(few(100), &project);
        store(run, project, 3);
        // In truth the last is the fastest: the others were lucky.
        run.devices.answer = [&](const measure::MeasureRequest& request) {
            const double seemed = must(project.record(request.trial)).result.meanNs();
            return FakeDevices::took(4e6 - seemed);
        };
        must(finals(run).hold(5, {}));
        const auto told = run.watcher.all<FinalsEvent>();
        QCOMPARE(told.size(), std::size_t{1});
        QCOMPARE(told[0].tasks, static_cast<std::int32_t>(run.tasks.size()));
        QCOMPARE(told[0].changed, told[0].tasks);
        QCOMPARE(told[0].passes, 3); // model time without a budget in time
        QVERIFY(m_pauses >= 2);
        for (std::int32_t task = 0; task < told[0].tasks; ++task) {
            QVERIFY(std::abs(run.tasks[task].bestNs() - 2.8e6) < 1);
            const auto best = must(project.best({run.tasks[task].search.key, {}, {}}));
            QVERIFY(!finalsOf(best[0].record).empty());
            QVERIFY(std::abs(best[0].costNs - 2.8e6) < 1);
            QVERIFY(best[0].record.result.conditions.find("\"finals_round\":5") != std::string::npos);
        }
        // To and fro, each finalist once a pass.
        const auto& asked = run.devices.asked;
        std::vector<std::string> forwards, backwards;
        for (const auto& request : asked[asked.size() - 1])
            forwards.push_back(request.trial);
        for (const auto& request : asked[asked.size() - 2])
            backwards.insert(backwards.begin(), request.trial);
        QCOMPARE(forwards, backwards);
        // And a replay can tell of it.
        int kept = 0;
        must(project.forEachEvent(run.journal.session(), [&kept](std::string_view kind, double, std::string_view text) {
            kept += kind == "finals" && nlohmann::json::parse(text).at("best").size() > 0;
        }));
        QCOMPARE(kept, 1);
    }

    void withoutAChoiceOrAProjectThereAreNone()
    {
        FakeRun alone(few(100));
        must(finals(alone).hold(1, {}));
        QVERIFY(alone.devices.asked.empty() && alone.watcher.events().empty());
        store::Project project = writer("one.lathe");
        FakeRun run(few(100), &project);
        store(run, project, 1);
        must(finals(run).hold(1, {}));
        QVERIFY(run.devices.asked.empty() && run.watcher.all<FinalsEvent>().empty());
    }

    void theyKeepToTheTimeThatIsLeft()
    {
        store::Project project = writer("late.lathe");
        TuneOptions options = few(0);
        options.seconds = 100;
        FakeRun run(options, &project);
        store(run, project, 3);
        run.seconds = 100; // nothing is left
        must(finals(run).hold(1, {}));
        QVERIFY(run.devices.asked.empty());
        // 8 s for them, 0.3 s for a trial as the search had it: four finalists. But a look takes 0.8 s, and three
        // passes are needed to tell: that does for one task.
        run.seconds = 88;
        const auto bestOf = [&](std::int32_t task) {
            return must(project.best({run.tasks[task].search.key, {}, {}})).at(0);
        };
        run.tasks[1].weight = 2;
        std::int32_t heaviest = 0;
        const auto weightOf = [&](std::int32_t task) { return run.tasks[task].weight * bestOf(task).costNs; };
        for (std::int32_t task = 1; task < static_cast<std::int32_t>(run.tasks.size()); ++task)
            if (weightOf(task) > weightOf(heaviest))
                heaviest = task;
        run.clock.countMeasured(10);
        {
            const auto measuring = run.clock.account().in("measure");
            run.seconds += 3;
        }
        run.devices.answer = [&run](const measure::MeasureRequest& request) {
            run.seconds += 0.8;
            TrialResult result = FakeDevices::took(FakeDevices::costNs(request.candidate));
            result.durationsMs["measure"] = 1600; // two devices share it
            return result;
        };
        must(finals(run).hold(1, {}));
        QCOMPARE(run.devices.asked.front().size(), std::size_t{4});
        const auto told = run.watcher.all<FinalsEvent>();
        QCOMPARE(told.size(), std::size_t{1});
        QCOMPARE(told[0].tasks, 1);
        QCOMPARE(told[0].passes, 3);
        QVERIFY(!finalsOf(bestOf(heaviest).record).empty()); // the one that counts most
        QVERIFY2(run.seconds <= 99, qPrintable(QString::number(run.seconds)));
    }

    void aFinalistThatFailsSitsOut()
    {
        store::Project project = writer("fails.lathe");
        FakeRun run(few(100), &project);
        store(run, project, 3);
        std::map<std::string, int> looks;
        run.devices.answer = [&](const measure::MeasureRequest& request) {
            ++looks[request.trial];
            const double seemed = must(project.record(request.trial)).result.meanNs();
            return seemed < 1.05e6 ? FakeDevices::failed(Errc::WrongAnswer) : FakeDevices::took(seemed);
        };
        must(finals(run).hold(1, {}));
        for (const auto& [trial, count] : looks)
            QCOMPARE(count, must(project.record(trial)).result.meanNs() < 1.05e6 ? 1 : 3);
        for (const RunTask& task : run.tasks)
            QVERIFY(std::abs(task.bestNs() - 1.1e6) < 1);
    }
};

LATHE_TEST(TestRunFinals)

} // namespace tst_run_finals

#include "tst_run_finals.moc"
