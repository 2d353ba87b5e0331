#include "core/session/run/run_journal.h"
#include "tests/support/runs.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <thread>

namespace tst_run_journal {

using namespace lathe;
using namespace lathe::session;
using namespace lathe::test;

/// What a run writes and tells.
class TestRunJournal : public QObject, Projects
{
    Q_OBJECT

    struct Told
    {
        std::string kind, json;
        double at = 0;
    };
    static std::vector<Told> kept(const store::Project& project)
    {
        std::vector<Told> all;
        must(project.forEachEvent(1, [&all](std::string_view kind, double at, std::string_view json) {
            all.push_back({std::string(kind), std::string(json), at});
        }));
        return all;
    }
    store::Project writer(const char* name) const
    {
        return must(store::Project::open(file(name), store::Project::Access::Write));
    }
    static Result<> begin(RunJournal& journal)
    {
        LATHE_TRY_ASSIGN(const std::int64_t model, journal.project()->addModel({0, "hash", "zoo:mlp", "mlp", "{}"}));
        return journal.begin({0, model, "sim", "{}", 5, 0, "running"});
    }

    double m_now = 0;
    const TuneOptions m_options;
    RunControl m_control;

private slots:
    void init()
    {
        m_now = 0;
        m_control.setObserver(nullptr);
    }

    void whatIsKeptIsToldAndInTheProject()
    {
        store::Project project = writer("kept.lathe");
        BudgetClock clock(m_options, [this] { return m_now; });
        RunJournal journal(&project, m_control, clock);
        must(begin(journal));
        Watcher watcher;
        m_control.setObserver(&watcher);
        m_now = 2;
        must(journal.keep(LogEvent{"begun"}));
        m_now = 3;
        must(journal.keep(ErrorEvent{Errc::DeviceLost, "gone"}));
        must(journal.keep(BudgetEvent{4, {true, false, 1.5, 20}}));
        m_control.setObserver(nullptr);
        QCOMPARE(watcher.events().size(), std::size_t{3});
        QCOMPARE(watcher.events()[0].atSeconds, 2.0);
        QCOMPARE(watcher.all<BudgetEvent>()[0].budget.boost, 1.5);
        const auto stored = kept(project);
        QCOMPARE(stored.size(), std::size_t{3});
        QCOMPARE(stored[0].kind, std::string("log"));
        QCOMPARE(stored[0].json, std::string(R"({"text":"begun"})"));
        QCOMPARE(stored[0].at, 2.0);
        QCOMPARE(stored[1].json, std::string(R"({"code":"DeviceLost","text":"gone"})"));
        QCOMPARE(stored[2].json, std::string(R"({"boost":1.5,"muted":false,"pinned":true,"task":4,"trial_cap":20})"));
    }

    void aRunWithoutAProjectTellsAlone()
    {
        BudgetClock clock(m_options, [this] { return m_now; });
        RunJournal journal(nullptr, m_control, clock);
        Watcher watcher;
        m_control.setObserver(&watcher);
        must(journal.begin({0, 1, "sim", "{}", 5, 0, "running"}));
        must(journal.keep(LogEvent{"begun"}));
        const Record record;
        must(journal.addRecords(std::span(&record, 1)));
        must(journal.addRound({}));
        must(journal.putSnapshot("model", 0, {}));
        journal.setState(RunState::Finished, "all is done");
        m_control.setObserver(nullptr);
        QCOMPARE(journal.session(), std::int64_t{0});
        QCOMPARE(watcher.events().size(), std::size_t{2});
        QCOMPARE(watcher.all<StateEvent>()[0].text, std::string("all is done"));
    }

    void roundsAndStatesCarryTheRunsTime()
    {
        store::Project project = writer("states.lathe");
        BudgetClock clock(m_options, [this] { return m_now; });
        clock.continueFrom(100);
        RunJournal journal(&project, m_control, clock);
        must(begin(journal));
        m_now = 7;
        journal.setState(RunState::Running);
        QCOMPARE(must(project.sessions())[0].activeSeconds, 107.0);
        QCOMPARE(must(project.sessions())[0].state, std::string("running"));
        must(journal.addRound({0, 3, "task", 12, "{}", "{}", 110.5, 4.0}));
        QCOMPARE(must(project.sessions())[0].activeSeconds, 110.5);
        const auto rounds = must(project.rounds(journal.session()));
        QCOMPARE(rounds.size(), std::size_t{1});
        QCOMPARE(rounds[0].index, 3);
        QCOMPARE(rounds[0].trials, 12);
        journal.setState(RunState::Finished);
        QCOMPARE(must(project.sessions())[0].state, std::string("finished"));
        QVERIFY(journal.state() == RunState::Finished);
    }

    void recordsAreAllThereOrNone()
    {
        store::Project project = writer("records.lathe");
        BudgetClock clock(m_options, [this] { return m_now; });
        RunJournal journal(&project, m_control, clock);
        must(begin(journal));
        std::vector<Record> records(2);
        records[0].trial = "a";
        records[1].trial = "b";
        must(journal.addRecords(records));
        QCOMPARE(must(project.recordCount()), std::int64_t{2});
    }

    void aPauseLastsUntilItIsOverAndUsesUpNoTime()
    {
        int asked = 0;
        // Asked for the time of the event first, then for that at which the pause begins: a minute later it is over.
        BudgetClock clock(m_options, [this, &asked] {
            const double now = m_now;
            if (m_control.state() == RunState::Paused && ++asked == 2) {
                m_now += 60;
                m_control.requestPause(false);
            }
            return now;
        });
        RunJournal journal(nullptr, m_control, clock);
        journal.pauseIfAsked({}); // nobody did
        Watcher watcher;
        m_control.setObserver(&watcher);
        m_control.requestPause(true);
        journal.pauseIfAsked({});
        m_control.setObserver(nullptr);
        const auto states = watcher.all<StateEvent>();
        QCOMPARE(states.size(), std::size_t{2});
        QVERIFY(states[0].state == RunState::Paused && states[1].state == RunState::Running);
        QCOMPARE(m_now, 60.0);
        QCOMPARE(clock.atSeconds(), 0.0);
        // A stop ends it without going on.
        std::stop_source stop;
        m_control.requestPause(true);
        std::thread stopper([&stop] { stop.request_stop(); });
        journal.pauseIfAsked(stop.get_token());
        stopper.join();
        QVERIFY(m_control.state() == RunState::Paused);
        m_control.requestPause(false);
    }
};

LATHE_TEST(TestRunJournal)

} // namespace tst_run_journal

#include "tst_run_journal.moc"
