#include "core/session/run/rounds.h"
#include "tests/support/fake_run.h"
#include "tests/support/test_program.h"

#include <QtTest>

namespace tst_rounds {

using namespace lathe;
using namespace lathe::session;
using namespace lathe::test;

/// One round after the other, on devices of which the test says what they answer.
class TestRounds : public QObject, Projects
{
    Q_OBJECT

    store::Project writer(const char* name) const
    {
        return must(store::Project::open(file(name), store::Project::Access::Write));
    }
    static std::vector<std::string> hashes(const std::vector<measure::MeasureRequest>& requests)
    {
        std::vector<std::string> all;
        for (const measure::MeasureRequest& request : requests)
            all.push_back(request.candidate.hash().hex());
        return all;
    }
    /// A run whose second round, of the same task, has five of its eight trials. The candidates of that round.
    static std::vector<std::string> cutShort(store::Project& project)
    {
        FakeRun run(few(100), &project);
        Rounds rounds(*run.parts);
        must(rounds.hold(1, {}));
        std::stop_source stop;
        run.devices.answer = [&, left = 5](const measure::MeasureRequest& request) mutable {
            if (--left == 0)
                stop.request_stop();
            return FakeDevices::took(FakeDevices::costNs(request.candidate));
        };
        return rounds.hold(1, stop.get_token()) ? std::vector<std::string>() : hashes(run.devices.asked[1]);
    }

private slots:
    void aRoundIsProposedMeasuredStoredAndTold()
    {
        store::Project project = writer("round.lathe");
        FakeRun run(few(100), &project);
        Rounds rounds(*run.parts);
        std::int64_t onDisk = -1;
        run.watcher.onEvent = [&](const Event& event) {
            if (onDisk < 0 && std::holds_alternative<TrialEvent>(event.what))
                onDisk = must(reader("round.lathe").recordCount());
        };
        must(rounds.hold(1, {}));
        QCOMPARE(rounds.held(), 1);
        QCOMPARE(run.devices.asked.size(), std::size_t{1});
        QCOMPARE(run.devices.asked[0].size(), std::size_t{8});
        QVERIFY2(onDisk >= 1, "a trial was told before it was on disk");
        const auto records = searched(project);
        QCOMPARE(records.size(), std::size_t{8});
        double best = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < records.size(); ++i) {
            QCOMPARE(records[i].index, static_cast<std::int32_t>(i));
            QCOMPARE(records[i].candidate.hash().hex(), hashes(run.devices.asked[0])[i]);
            QVERIFY((records[i].result.device == DeviceIdentity{"fake", "left"}));
            best = std::min(best, records[i].result.meanNs());
        }
        QCOMPARE(run.tasks[1].bestNs(), best);
        QCOMPARE(run.scheduler->progress(1).trials, std::int64_t{8});
        QCOMPARE(run.scheduler->progress(1).bestSeconds, best * 1e-9);
        const auto stored = must(project.rounds(run.journal.session()));
        QCOMPARE(stored.size(), std::size_t{1});
        QCOMPARE(stored[0].task, run.tasks[1].search.key);
        // Announced, then trial by trial, then done.
        const auto events = run.watcher.events();
        QVERIFY(std::holds_alternative<RoundEvent>(events.front().what));
        QCOMPARE(run.watcher.all<RoundEvent>()[0].reason, std::string("first"));
        QCOMPARE(run.watcher.all<TrialEvent>().size(), std::size_t{8});
        QCOMPARE(run.watcher.all<RoundDoneEvent>()[0].trials, 8);
    }

    void failedTrialsCountByTheirCode()
    {
        FakeRun run(few(100));
        Rounds rounds(*run.parts);
        int asked = 0;
        run.devices.answer = [&asked](const measure::MeasureRequest& request) {
            return ++asked <= 3 ? FakeDevices::failed(Errc::WrongAnswer)
                                : FakeDevices::took(FakeDevices::costNs(request.candidate));
        };
        must(rounds.hold(1, {}));
        QCOMPARE(rounds.errors(), (std::map<std::string, std::int64_t>{{"WrongAnswer", 3}}));
        QCOMPARE(run.clock.trials(), std::int64_t{8});
    }

    void theNextRoundIsMeasuredAgainstTheBest()
    {
        FakeRun run(few(100));
        Rounds rounds(*run.parts);
        must(rounds.hold(1, {}));
        must(rounds.hold(1, {}));
        QVERIFY(std::isinf(run.devices.asked[0][0].bestNs));
        QCOMPARE(run.devices.asked[1][0].bestNs, run.scheduler->progress(1).history[0] * 1e9);
        QCOMPARE(run.devices.asked[1][0].ordinal, std::int64_t{8});
        QCOMPARE(run.watcher.all<RoundEvent>()[1].index, 1);
    }

    void theEndOfTheBudgetIsTheEndOfTheRound()
    {
        store::Project project = writer("cut.lathe");
        TuneOptions options = few(0);
        options.seconds = 0.05;
        FakeRun run(options, &project);
        Rounds rounds(*run.parts);
        run.devices.most = 3; // then the devices work until they are stopped
        must(rounds.hold(1, {}));
        QCOMPARE(rounds.held(), 1);
        QCOMPARE(searched(project).size(), std::size_t{3});
        QCOMPARE(run.scheduler->progress(1).trials, std::int64_t{3});
        QVERIFY(!run.scheduler->progress(1).exhausted);
        QCOMPARE(run.watcher.all<RoundDoneEvent>()[0].trials, 3);
    }

    void aRoundWithoutTimeForATrialIsNone()
    {
        store::Project project = writer("none.lathe");
        TuneOptions options = few(0);
        options.seconds = 0.05;
        FakeRun run(options, &project);
        Rounds rounds(*run.parts);
        run.devices.most = 0;
        must(rounds.hold(1, {}));
        QCOMPARE(rounds.held(), 0);
        QCOMPARE(run.scheduler->progress(1).rounds, std::int64_t{0});
        QVERIFY(must(project.rounds(run.journal.session())).empty());
    }

    void aStopIsCancelledAndKeepsWhatWasMeasured()
    {
        store::Project project = writer("stopped.lathe");
        FakeRun run(few(100), &project);
        Rounds rounds(*run.parts);
        std::stop_source stop;
        run.devices.answer = [&, left = 5](const measure::MeasureRequest& request) mutable {
            if (--left == 0)
                stop.request_stop();
            return FakeDevices::took(FakeDevices::costNs(request.candidate));
        };
        const auto held = rounds.hold(1, stop.get_token());
        QVERIFY(!held && held.error().code == Errc::Cancelled);
        QCOMPARE(searched(project).size(), std::size_t{5});
        QVERIFY(must(project.rounds(run.journal.session())).empty());
    }

    void aRoundThatWasCutShortGoesOnWithItsCandidates_data()
    {
        QTest::addColumn<int>("trials");
        QTest::newRow("the same budget") << 100;
        QTest::newRow("another one, of which a round would have four candidates") << 12;
    }
    void aRoundThatWasCutShortGoesOnWithItsCandidates()
    {
        QFETCH(int, trials);
        store::Project project = writer(("again" + std::to_string(trials) + ".lathe").c_str());
        const std::vector<std::string> before = cutShort(project);
        QCOMPARE(before.size(), std::size_t{8});
        FakeRun run(few(trials));
        RunJournal journal(&project, run.control(), run.clock);
        journal.goOn(1);
        RunParts parts = run.partsWith(journal);
        Rounds rounds(parts);
        must(rounds.restore({}));
        QCOMPARE(rounds.held(), 1);
        QCOMPARE(rounds.cutShort(), 1);
        QCOMPARE(run.clock.trials(), std::int64_t{8});
        QCOMPARE(run.scheduler->progress(1).trials, std::int64_t{8});
        must(rounds.hold(1, {}));
        QCOMPARE(rounds.cutShort(), -1);
        QCOMPARE(hashes(run.devices.asked[0]),
                 (std::vector<std::string>(before.begin() + 5, before.end()))); // the missing ones alone
        QCOMPARE(searched(project).size(), std::size_t{16});
        QCOMPARE(run.watcher.all<RoundEvent>()[0].reason, std::string("continued"));
        QCOMPARE(run.watcher.all<RoundEvent>()[0].trials, 8);
        QVERIFY(run.watcher.all<LogEvent>().empty());
        const auto asked = askedOf(must(project.rounds(1)).at(1).durations);
        QVERIFY(asked);
        QCOMPARE(asked->count, 8);
    }

    /// Proposals that were not measured, as a budget in time ended, are known to the life that made them alone.
    void aLifeThatEndsByItsTimeLeavesWhatItsResultsSay_data()
    {
        QTest::addColumn<QString>("policy");
        for (const char* policy : {"sketch", "evolution", "random"})
            QTest::newRow(policy) << QString(policy);
    }
    void aLifeThatEndsByItsTimeLeavesWhatItsResultsSay()
    {
        QFETCH(QString, policy);
        const std::string name = "timed_" + policy.toStdString() + ".lathe";
        store::Project project = writer(name.c_str());
        TuneOptions options = few(100);
        options.policy = policy.toStdString();
        {
            FakeRun run(options, &project);
            Rounds rounds(*run.parts);
            must(rounds.hold(1, {}));
            must(rounds.hold(1, {}));
            run.options.seconds = 0.05; // which ends in the middle of the third round
            run.devices.most = 3;
            must(rounds.hold(1, {}));
            QVERIFY(run.devices.asked[2].size() > 3);
        }
        FakeRun run(options);
        RunJournal journal(&project, run.control(), run.clock);
        journal.goOn(1);
        RunParts parts = run.partsWith(journal);
        Rounds rounds(parts);
        must(rounds.restore({}));
        must(rounds.hold(1, {}));
        must(rounds.hold(1, {}));

        // One that is told the same, and was never stopped.
        FakeRun other(options);
        search::Policy& undisturbed = *other.tasks[1].policy;
        const std::vector<Record> records = searched(project);
        std::size_t at = 0;
        for (const store::RoundRow& row : must(project.rounds(1))) {
            const std::optional<Asked> asked = askedOf(row.durations);
            QVERIFY(asked.has_value());
            const std::vector<Candidate> proposed = asked->count > 0 ? must(
                                                        undisturbed.propose(static_cast<std::uint64_t>(row.index),
                                                                            asked->count, other.parts->executor))
                                                                     : must(undisturbed.firstRound(asked->first));
            std::vector<search::Measured> told;
            for (; at < records.size() && records[at].round == row.index; ++at) {
                const auto index = static_cast<std::size_t>(records[at].index);
                QVERIFY2(index < proposed.size() && proposed[index].hash() == records[at].candidate.hash(),
                         qPrintable(QStringLiteral("round %1, trial %2").arg(row.index).arg(index)));
                told.push_back({records[at].candidate, records[at].result});
            }
            must(undisturbed.tell(told));
        }
        QCOMPARE(at, records.size());
        QCOMPARE(must(project.rounds(1)).size(), std::size_t{5});
    }

    void aRoundThatCannotBeRepeatedIsTold()
    {
        store::Project project = writer("unlike.lathe");
        const std::vector<std::string> before = cutShort(project);
        TuneOptions other = few(100);
        other.seed = 77; // as another version of Lathe might propose
        FakeRun run(other);
        RunJournal journal(&project, run.control(), run.clock);
        journal.goOn(1);
        RunParts parts = run.partsWith(journal);
        Rounds rounds(parts);
        must(rounds.restore({}));
        must(rounds.hold(1, {}));
        QCOMPARE(searched(project).size(), std::size_t{13});
        const auto told = run.watcher.all<LogEvent>();
        QCOMPARE(told.size(), std::size_t{1});
        QVERIFY2(told[0].text.find("round 1 was interrupted and cannot be repeated") != std::string::npos
                     && told[0].text.find("5 stored trials") != std::string::npos,
                 told[0].text.c_str());
    }

    void aRunOfOtherTasksIsNotContinued()
    {
        store::Project project = writer("other.lathe");
        FakeRun run(few(100), &project);
        must(project.addRound({run.journal.session(), 0, "another network's", 1, "{}", "{}", 1, 1}));
        Rounds rounds(*run.parts);
        const auto restored = rounds.restore({});
        QVERIFY(!restored && restored.error().code == Errc::Incompatible);
    }

    void aRunOfAnotherDeviceIsNotContinued()
    {
        store::Project project = writer("elsewhere.lathe");
        {
            FakeRun run(few(100), &project);
            run.devices.answer = [](const measure::MeasureRequest& request) {
                TrialResult result = FakeDevices::took(FakeDevices::costNs(request.candidate));
                result.device = {"other", R"({"name":"Another device"})"};
                return result;
            };
            Rounds rounds(*run.parts);
            must(rounds.hold(0, {}));
        }
        FakeRun run(few(100));
        RunJournal journal(&project, run.control(), run.clock);
        journal.goOn(1);
        RunParts parts = run.partsWith(journal);
        Rounds rounds(parts);
        const auto restored = rounds.restore({});
        QVERIFY(!restored && restored.error().code == Errc::Incompatible);
        QVERIFY2(restored.error().message.find("Another device") != std::string::npos,
                 restored.error().message.c_str());
    }

    void runoffsSayWhatTheRoundBrought()
    {
        FakeRun run(few(100), nullptr, true);
        Rounds rounds(*run.parts);
        must(rounds.hold(1, {}));
        // Twice as slow as it seemed: what the runoff said stands.
        run.devices.answer = [](const measure::MeasureRequest& request) {
            return FakeDevices::took(2 * FakeDevices::costNs(request.candidate));
        };
        must(rounds.hold(1, {}));
        QVERIFY(run.watcher.all<BestEvent>().size() >= 2);
        QCOMPARE(run.watcher.all<BestEvent>().back().costMs, run.tasks[1].bestNs() * 1e-6);
        QVERIFY(run.watcher.all<BestEvent>().back().final);
        QVERIFY(run.devices.asked.size() > 3); // passes besides the two rounds
    }
};

LATHE_TEST(TestRounds)

} // namespace tst_rounds

#include "tst_rounds.moc"
