#include "core/session/session.h"
#include "core/store/project.h"
#include "tests/support/must.h"

#include <QTemporaryDir>
#include <QtTest>

#include <cmath>
#include <map>
#include <set>

using namespace lathe;
using namespace lathe::session;
using lathe::test::must;

namespace {

struct Watcher final : SessionObserver
{
    std::vector<Event> events;
    void onEvents(std::span<const Event> more) override { events.insert(events.end(), more.begin(), more.end()); }

    template<typename T>
    std::vector<T> all() const
    {
        std::vector<T> found;
        for (const Event& event : events)
            if (const T* what = std::get_if<T>(&event.what))
                found.push_back(*what);
        return found;
    }
};

} // namespace

/// Runs on the simulated device, from opening a model to the last event.
class TestTuningRun : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;

    std::unique_ptr<TuningSession> open(const char* project)
    {
        OpenOptions options;
        options.model.source = "zoo:mlp";
        options.target = "sim";
        options.project = std::filesystem::path(m_dir.path().toStdString()) / project;
        return must(TuningSession::open(options));
    }
    static TuneOptions few(std::int64_t trials)
    {
        TuneOptions options;
        options.trials = trials;
        options.trialsPerRound = 8;
        options.policy = "random";
        options.buildJobs = 1;
        return options;
    }
    static Watcher run(TuningSession& session, const TuneOptions& options)
    {
        Watcher watcher;
        session.setObserver(&watcher);
        must(session.start(options));
        session.wait();
        session.setObserver(nullptr);
        return watcher;
    }

private slots:
    void theBudgetIsKeptToTheTrialAndDoneIsTheLastWord()
    {
        const auto session = open("budget.lathe");
        TuneOptions options = few(17);
        options.policy = "sketch"; // its first trial of a task comes from elsewhere
        const Watcher watcher = run(*session, options);
        QCOMPARE(watcher.all<TrialEvent>().size(), std::size_t{17});
        QVERIFY(std::holds_alternative<DoneEvent>(watcher.events.back().what));
        QCOMPARE(watcher.all<DoneEvent>().size(), std::size_t{1});
        QCOMPARE(watcher.all<DoneEvent>()[0].trials, std::int64_t{17});
        QVERIFY(watcher.all<StateEvent>().back().state == RunState::Finished);
        QVERIFY(session->state() == RunState::Finished);
        std::int64_t stored = 0;
        for (const TaskView& task : session->tasks())
            stored += task.trials;
        QCOMPARE(stored, std::int64_t{17});
    }

    void theWholeNetworkIsEstimatedBeforeAnyTaskIsSearched()
    {
        const auto session = open("first.lathe");
        TuneOptions options = few(40);
        options.policy = "sketch";
        const Watcher watcher = run(*session, options);
        const std::size_t tasks = session->tasks().size();
        const auto rounds = watcher.all<RoundEvent>();
        const auto trials = watcher.all<TrialEvent>();
        const auto estimates = watcher.all<EstimateEvent>();
        QVERIFY(rounds.size() > tasks && estimates.size() > tasks);
        std::set<std::int32_t> seen;
        for (std::size_t i = 0; i < tasks; ++i) {
            QCOMPARE(rounds[i].trials, 1);
            QCOMPARE(trials[i].trial.sketch, std::string("default"));
            seen.insert(rounds[i].task);
            QCOMPARE(std::isfinite(estimates[i].ms), i + 1 == tasks);
        }
        QCOMPARE(seen.size(), tasks);
        QCOMPARE(rounds[tasks].trials, 8);
    }

    void noTaskGetsMoreThanItsShare()
    {
        const auto session = open("share.lathe");
        TuneOptions options = few(0);
        options.trialsPerTask = 5;
        options.policy = "sketch";
        const Watcher watcher = run(*session, options);
        std::map<std::int32_t, int> trials;
        for (const TrialEvent& trial : watcher.all<TrialEvent>())
            ++trials[trial.trial.task];
        QCOMPARE(trials.size(), session->tasks().size());
        for (const auto& [task, count] : trials)
            QCOMPARE(count, 5);
        QVERIFY(watcher.all<StateEvent>().back().state == RunState::Finished);
        QVERIFY2(watcher.all<StateEvent>().back().text.find("all of its trials") != std::string::npos, watcher.all<StateEvent>().back().text.c_str());
    }

    void earlyStopCountsFromTheNetworksBest()
    {
        const auto session = open("early.lathe");
        TuneOptions options = few(2000);
        options.earlyStop = 30;
        const Watcher watcher = run(*session, options);
        // Recount: the estimate after each round, and the trials before it.
        std::int64_t trials = 0, atBest = 0;
        double best = std::numeric_limits<double>::infinity();
        for (const Event& event : watcher.events) {
            if (std::holds_alternative<TrialEvent>(event.what))
                ++trials;
            const auto* round = std::get_if<RoundDoneEvent>(&event.what);
            if (round != nullptr && round->estimateMs < best) {
                best = round->estimateMs;
                atBest = trials;
            }
        }
        QVERIFY(std::isfinite(best));
        QVERIFY2(trials < 2000, "it stops by itself");
        QVERIFY(trials - atBest >= 30);
        QVERIFY2(trials - atBest < 30 + 8, "and at once");
    }

    void aRunEndsWhenItGainsTooLittle()
    {
        const auto session = open("gain.lathe");
        TuneOptions options = few(2000);
        options.minGainPercent = 99;
        options.gainWindowSeconds = 0.001;
        const Watcher watcher = run(*session, options);
        QVERIFY(watcher.all<TrialEvent>().size() < 400);
        QVERIFY(watcher.all<StateEvent>().back().state == RunState::Finished);
        QVERIFY2(watcher.all<StateEvent>().back().text.find("less than 99 %") != std::string::npos, watcher.all<StateEvent>().back().text.c_str());
    }

    void recordsSayForWhatTheyWereMade()
    {
        const auto session = open("facts.lathe");
        TuneOptions options = few(8);
        options.cache = "cold";
        run(*session, options);
        const auto project = must(store::Project::open(std::filesystem::path(m_dir.path().toStdString()) / "facts.lathe", store::Project::Access::Read));
        const auto conditions = must(project.conditions("sim"));
        QCOMPARE(conditions.size(), std::size_t{1});
        QVERIFY(conditions[0].coldBytes > 0);
        QVERIFY(conditions[0].device.find("Simulated device") != std::string::npos);
        QVERIFY(must(project.conditions("cpu")).empty());
    }

    void aRunWithImpossibleOptionsDoesNotStart()
    {
        const auto session = open("refused.lathe");
        TuneOptions options = few(-5);
        const auto started = session->start(options);
        QVERIFY(!started);
        QVERIFY(started.error().code == Errc::InvalidArgument);
        QVERIFY(session->state() == RunState::Idle);
    }

    void aProjectIsOpenedForWhatItWasTunedFor()
    {
        {
            const auto session = open("target.lathe");
            run(*session, few(4));
        }
        OpenOptions options;
        options.project = std::filesystem::path(m_dir.path().toStdString()) / "target.lathe";
        const auto again = must(TuningSession::open(options));
        QCOMPARE(again->options().target, std::string("sim"));
        OpenOptions fresh;
        fresh.model.source = "zoo:mlp";
        QCOMPARE(must(TuningSession::open(fresh))->options().target, std::string("cpu"));
    }

    void aStoppedRunGoesOnWhereItWas()
    {
        const auto session = open("resumed.lathe");
        QVERIFY(!session->canResume());
        run(*session, few(16));
        TuneOptions more = few(24);
        more.resume = true;
        const Watcher watcher = run(*session, more);
        std::set<std::string> ids;
        for (const TrialEvent& trial : watcher.all<TrialEvent>())
            ids.insert(trial.trial.id);
        QCOMPARE(ids.size(), std::size_t{8}); // the first sixteen are known
        QCOMPARE(watcher.all<DoneEvent>().back().trials, std::int64_t{24});
    }

    void whatWasLearnedIsKept()
    {
        const auto session = open("learned.lathe");
        TuneOptions options = few(40);
        options.policy = "sketch";
        run(*session, options);
        const auto project = must(store::Project::open(std::filesystem::path(m_dir.path().toStdString()) / "learned.lathe", store::Project::Access::Read));
        const auto model = must(project.snapshot(must(project.sessions()).back().id, "cost model"));
        QVERIFY(model && model->size() > 100);
    }

    void aModelThatCannotBeReadLeavesNoProject()
    {
        OpenOptions options;
        options.model.source = "zoo:nothing";
        options.project = std::filesystem::path(m_dir.path().toStdString()) / "none.lathe";
        QVERIFY(!TuningSession::open(options));
        QVERIFY(!std::filesystem::exists(options.project));
    }
};

QTEST_GUILESS_MAIN(TestTuningRun)
#include "tst_tuning_run.moc"
