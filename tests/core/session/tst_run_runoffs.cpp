#include "core/session/run/runoffs.h"
#include "tests/support/fake_run.h"
#include "tests/support/test_program.h"

#include <QtTest>

namespace tst_run_runoffs {

using namespace lathe;
using namespace lathe::session;
using namespace lathe::test;

/// Who wins a runoff, on devices of which the test says what they answer.
class TestRunRunoffs : public QObject, Projects
{
    Q_OBJECT

    /// Costs by candidate, in place of what they seemed.
    static void let(FakeRun& run, std::map<std::string, double> costs)
    {
        run.devices.answer = [costs = std::move(costs)](const measure::MeasureRequest& request) {
            return FakeDevices::took(costs.at(request.candidate.hash().hex()));
        };
    }

private slots:
    void theFirstValidProgramStandsWithoutARunoff()
    {
        FakeRun run(few(100), nullptr, true);
        Runoffs runoffs(*run.parts);
        const auto candidates = run.candidates(0, 1);
        const std::vector<Ahead> round{run.trial(candidates[0], 5e6)};
        const RoundBest best = must(runoffs.hold(0, round, 1, 0, {}));
        QVERIFY(run.devices.asked.empty());
        QCOMPARE(best.ms, 5.0);
        QVERIFY(!best.final);
        QCOMPARE(best.toldSeconds, 5e-3);
        QCOMPARE(run.tasks[0].ahead().size(), std::size_t{1});
    }

    void aLuckyNewcomerDoesNotWin()
    {
        FakeRun run(few(100), nullptr, true);
        Runoffs runoffs(*run.parts);
        const auto c = run.candidates(0, 2);
        must(runoffs.hold(0, std::vector<Ahead>{run.trial(c[0], 5e6)}, 1, 0, {}));
        run.scheduler->tell(0, {1, 5e-3, 1, false});
        let(run, {{c[0].hash().hex(), 5e6}, {c[1].hash().hex(), 8e6}});
        const RoundBest best = must(runoffs.hold(0, std::vector<Ahead>{run.trial(c[1], 2e6)}, 1, 1, {}));
        QVERIFY(best.final);
        QVERIFY(std::abs(best.ms - 5) < 1e-9);
        QVERIFY(std::isinf(best.toldSeconds)); // nothing was won
        QCOMPARE(run.devices.asked.size(), std::size_t{3}); // model time: the least number of passes
        QCOMPARE(run.devices.asked[0].size(), std::size_t{2});
        QVERIFY(run.devices.asked[0][0].trial == run.devices.asked[1][1].trial); // to and fro
    }

    void aNewcomerWinsByWhatItTakesBesideTheOldOne()
    {
        store::Project project = must(store::Project::open(file("wins.lathe"), store::Project::Access::Write));
        FakeRun run(few(100), &project, true);
        Runoffs runoffs(*run.parts);
        const auto c = run.candidates(0, 2);
        must(runoffs.hold(0, std::vector<Ahead>{run.trial(c[0], 5e6)}, 1, 0, {}));
        run.scheduler->tell(0, {1, 5e-3, 1, false});
        let(run, {{c[0].hash().hex(), 10e6}, {c[1].hash().hex(), 8e6}}); // a slow minute
        const RoundBest best = must(runoffs.hold(0, std::vector<Ahead>{run.trial(c[1], 4e6)}, 1, 7, {}));
        QVERIFY2(std::abs(best.toldSeconds - 4e-3) < 1e-9,
                 qPrintable(QString::number(best.toldSeconds))); // 8 of 10 of what was told before
        QCOMPARE(originOf(run.tasks[0].ahead()[0].record), c[1].hash().hex());
        // What was measured is in the project, as a runoff that was held before round 8.
        const auto records = must(project.sessionRecords(run.journal.session()));
        QCOMPARE(records.size(), std::size_t{2});
        for (const Record& record : records) {
            QVERIFY(isRunoff(record));
            QVERIFY(record.result.conditions.find("\"finals_round\":8") != std::string::npos);
            QVERIFY((record.result.device == DeviceIdentity{"fake", "left"}));
        }
    }

    void aDeviceThatFailsChangesNothing()
    {
        FakeRun run(few(100), nullptr, true);
        Runoffs runoffs(*run.parts);
        const auto c = run.candidates(0, 2);
        must(runoffs.hold(0, std::vector<Ahead>{run.trial(c[0], 5e6)}, 1, 0, {}));
        for (const Errc code : {Errc::DeviceLost, Errc::RunTimeout}) {
            run.devices.answer = [code](const measure::MeasureRequest&) { return FakeDevices::failed(code); };
            const RoundBest best = must(runoffs.hold(0, std::vector<Ahead>{run.trial(c[1], 2e6)}, 1, 1, {}));
            QVERIFY(!best.final && std::isinf(best.toldSeconds));
            QCOMPARE(best.ms, 5.0);
            QCOMPARE(originOf(run.tasks[0].ahead()[0].record), c[0].hash().hex());
        }
        // What crashes alone is out.
        run.devices.answer = [&c](const measure::MeasureRequest& request) {
            return request.candidate.hash() == c[0].hash() ? FakeDevices::failed(Errc::WorkerCrashed)
                                                           : FakeDevices::took(3e6);
        };
        const RoundBest best = must(runoffs.hold(0, std::vector<Ahead>{run.trial(c[1], 2e6)}, 1, 1, {}));
        QVERIFY(best.final);
        QCOMPARE(originOf(run.tasks[0].ahead()[0].record), c[1].hash().hex());
    }

    void whatAnotherRunLeftTakesPart()
    {
        store::Project project = must(store::Project::open(file("earlier.lathe"), store::Project::Access::Write));
        FakeRun run(few(100), &project, true);
        Runoffs runoffs(*run.parts);
        const auto c = run.candidates(0, 2);
        Record earlier = run.trial(c[0], 1e6).record;
        earlier.session = 77;
        must(project.addRecords(std::span(&earlier, 1)));
        let(run, {{c[0].hash().hex(), 1e6}, {c[1].hash().hex(), 2e6}});
        const RoundBest best = must(runoffs.hold(0, std::vector<Ahead>{run.trial(c[1], 2e6)}, 1, 0, {}));
        QVERIFY(best.final);
        QCOMPARE(originOf(run.tasks[0].ahead()[0].record), c[0].hash().hex());
    }

    void whoStoodIsKnownAgainFromTheProject()
    {
        FakeRun run(few(100), nullptr, true);
        const auto c = run.candidates(0, 1);
        const std::vector<Record> told{run.trial(c[0], 4e6).record};
        QVERIFY(!Runoffs::restore(run.tasks[0], R"({"elapsed_s": 1})", told)); // no runoffs were held
        QVERIFY(run.tasks[0].ahead().empty());
        const auto first = Runoffs::restore(run.tasks[0], R"({"best": {"ms": 4, "final": false, "told_s": 0.004}})",
                                            told);
        QCOMPARE(first.value(), 0.004);
        QCOMPARE(run.tasks[0].bestNs(), 4e6);
        QVERIFY(std::isinf(Runoffs::restore(run.tasks[0], R"({"best": {"ms": 4, "final": true}})", told).value()));
    }
};

LATHE_TEST(TestRunRunoffs)

} // namespace tst_run_runoffs

#include "tst_run_runoffs.moc"
