#include "core/session/run/rounds.h"
#include "tests/support/fake_run.h"
#include "tests/support/test_program.h"

#include <QtTest>

namespace tst_lookahead {

using namespace lathe;
using namespace lathe::session;
using namespace lathe::test;

/// The next round of a task is proposed, and built, while devices measure the present one.
class TestLookahead : public QObject, Projects
{
    Q_OBJECT

    static constexpr std::int32_t kTask = 1;

    store::Project writer(const char* name) const
    {
        return must(store::Project::open(file(name), store::Project::Access::Write));
    }
    static TuneOptions byTemplates(std::int64_t trials = 100)
    {
        TuneOptions options = few(trials);
        options.policy = "template";
        options.tuner = "gaussian";
        options.tunerSettings = {"first=4"};
        return options;
    }
    static std::vector<std::string> hashes(const std::vector<measure::MeasureRequest>& requests)
    {
        std::vector<std::string> all;
        for (const measure::MeasureRequest& request : requests)
            all.push_back(request.candidate.hash().hex());
        return all;
    }
    /// Candidates of each round that is held of these tasks, one after the other.
    static std::vector<std::vector<std::string>> candidates(FakeRun& run, Rounds& rounds,
                                                            const std::vector<std::int32_t>& tasks)
    {
        std::vector<std::vector<std::string>> all;
        for (const std::int32_t task : tasks) {
            must(rounds.hold(task, {}));
            all.push_back(hashes(run.devices.asked.back()));
        }
        return all;
    }

private slots:
    void theNextRoundIsBuiltWhileOneIsMeasured()
    {
        FakeRun run(byTemplates());
        run.devices.meanwhile = true;
        Rounds rounds(*run.parts);
        const auto held = candidates(run, rounds, {kTask, kTask, kTask});
        QCOMPARE(held[0].size(), std::size_t{1}); // untuned: what comes after it is not certain yet
        QCOMPARE(run.devices.builtAhead.size(), std::size_t{2});
        QCOMPARE(held[2], hashes(run.devices.builtAhead[0]));
        for (std::size_t i = 0; i < held[2].size(); ++i) {
            const measure::MeasureRequest& request = run.devices.asked[2][i];
            QVERIFY(request.built && request.built == run.devices.builtAhead[0][i].built);
            QCOMPARE(request.trial, run.devices.builtAhead[0][i].trial);
            QCOMPARE(request.ordinal, run.devices.builtAhead[0][i].ordinal);
        }
        std::set<std::string> distinct;
        for (const auto& round : held)
            distinct.insert(round.begin(), round.end());
        QCOMPARE(distinct.size(), held[0].size() + held[1].size() + held[2].size());
    }

    void withTheGateNobodyLooksAhead()
    {
        FakeRun run(byTemplates());
        Rounds rounds(*run.parts);
        candidates(run, rounds, {kTask, kTask, kTask});
        QVERIFY(run.devices.builtAhead.empty());
    }

    /// Whether the answer comes while devices measure or after that changes no candidate.
    void whenTheAnswerComesMakesNoDifference()
    {
        const std::vector<std::int32_t> tasks(5, kTask);
        const auto of = [&](bool looks) {
            FakeRun run(byTemplates());
            run.devices.meanwhile = true;
            run.devices.looks = looks;
            Rounds rounds(*run.parts);
            return candidates(run, rounds, tasks);
        };
        QCOMPARE(of(false), of(true));
    }

    void aRunThatGoesOnHasTheSameRounds_data()
    {
        QTest::addColumn<QList<int>>("tasks");
        QTest::addColumn<int>("before");
        QTest::newRow("one task") << QList<int>{kTask, kTask, kTask, kTask, kTask} << 3;
        QTest::newRow("given back") << QList<int>{kTask, kTask, 2, kTask, kTask, kTask} << 4;
        QTest::newRow("to be given back") << QList<int>{kTask, kTask, 2, kTask, kTask} << 2;
    }
    void aRunThatGoesOnHasTheSameRounds()
    {
        QFETCH(QList<int>, tasks);
        QFETCH(int, before);
        const std::vector<std::int32_t> all(tasks.begin(), tasks.end());
        FakeRun undisturbed(byTemplates());
        undisturbed.devices.meanwhile = true;
        Rounds straight(*undisturbed.parts);
        const auto expected = candidates(undisturbed, straight, all);

        store::Project project = writer((std::string(QTest::currentDataTag()) + ".lathe").c_str());
        {
            FakeRun run(byTemplates(), &project);
            run.devices.meanwhile = true;
            Rounds rounds(*run.parts);
            candidates(run, rounds, {all.begin(), all.begin() + before});
        }
        FakeRun run(byTemplates());
        run.devices.meanwhile = true;
        RunJournal journal(&project, run.control(), run.clock);
        journal.goOn(1);
        RunParts parts = run.partsWith(journal);
        Rounds rounds(parts);
        must(rounds.restore({}));
        const auto got = candidates(run, rounds, {all.begin() + before, all.end()});
        QCOMPARE(got, (std::vector<std::vector<std::string>>(expected.begin() + before, expected.end())));
    }

    /// What is proposed ahead counts, so that a budget in trials is kept to.
    void theBudgetInTrialsHolds()
    {
        FakeRun run(byTemplates(15));
        run.devices.meanwhile = true;
        Rounds rounds(*run.parts);
        const auto held = candidates(run, rounds, {kTask, kTask, kTask});
        QCOMPARE(held[1].size(), std::size_t{8});
        QCOMPARE(held[2].size(), std::size_t{6});
        QCOMPARE(run.devices.builtAhead.size(), std::size_t{1});
    }
};

LATHE_TEST(TestLookahead)

} // namespace tst_lookahead
#include "tst_lookahead.moc"
