#include "core/session/run/tuning_run.h"
#include "core/session/tbb_executor.h"
#include "core/store/sqlite.h"
#include "tests/support/runs.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <cmath>
#include <condition_variable>
#include <fstream>
#include <map>
#include <mutex>
#include <set>

namespace tst_tuning_run {

using namespace lathe;
using namespace lathe::session;
using namespace lathe::test;

/// Runs on the simulated device, from opening a model to the last event.
class TestTuningRun : public QObject, Projects
{
    Q_OBJECT

private slots:
    void theBudgetIsKeptToTheTrialAndDoneIsTheLastWord()
    {
        const auto session = open("budget.lathe");
        TuneOptions options = few(17);
        options.policy = "sketch"; // its first trial of a task comes from elsewhere
        const Watcher watcher(*session, options);
        QCOMPARE(watcher.all<TrialEvent>().size(), std::size_t{17});
        QVERIFY(std::holds_alternative<DoneEvent>(watcher.events().back().what));
        QCOMPARE(watcher.all<DoneEvent>().size(), std::size_t{1});
        QCOMPARE(watcher.all<DoneEvent>()[0].trials, std::int64_t{17});
        QVERIFY(watcher.all<StateEvent>().back().state == RunState::Finished);
        QVERIFY(session->state() == RunState::Finished);
        std::int64_t stored = 0;
        for (const TaskView& task : session->tasks())
            stored += task.trials;
        QCOMPARE(stored, std::int64_t{17});
    }

    void roundsFinalsAndTheRestAreAllOfTheTimeAndTheProjectTellsItAgain()
    {
        TuneOptions options = few(40);
        options.policy = "sketch";
        options.buildJobs = 2;
        TimeSpent sum;
        const auto add = [&sum](const Watcher& watcher) {
            for (const RoundDoneEvent& round : watcher.all<RoundDoneEvent>())
                sum += round.time;
            for (const FinalsEvent& finals : watcher.all<FinalsEvent>())
                sum += finals.time;
            sum += watcher.all<DoneEvent>().at(0).rest;
        };
        const auto near = [](double a, double b) { return std::abs(a - b) < 1e-9 * (1 + std::abs(b)); };
        {
            const Watcher watcher(*open("time.lathe"), options);
            add(watcher);
            const DoneEvent done = watcher.all<DoneEvent>().at(0);
            QVERIFY(near(sum.seconds(), done.time.seconds()));
            QVERIFY(done.time.seconds() <= done.seconds);
            for (const char* activity : {"start", "propose", "score", "reference", "store", "train", "finals", "other"})
                QVERIFY2(done.time.activities.contains(activity), activity);
            for (const char* piece : {"lower", "generate", "builder idle", "upload", "measure", "check", "runner idle"})
                QVERIFY2(done.time.workers.contains(piece), piece);
            QVERIFY(!done.time.activities.contains("search"));
            double builders = 0, runners = 0;
            for (const auto& [name, spent] : done.time.workers)
                (isBuilderPiece(name) ? builders : runners) += spent.seconds;
            const double parts = std::ldexp(64, -30); // each piece and activity is told in whole 2^-30 s
            QVERIFY(builders >= 2 * done.time.seconds() - parts);
            QVERIFY(runners >= done.time.seconds() - parts);
        }
        {
            const auto session = open("time.lathe");
            options.resume = true;
            options.trials = 60;
            const Watcher watcher(*session, options);
            add(watcher);
            const DoneEvent done = watcher.all<DoneEvent>().at(0);
            QVERIFY(near(sum.seconds(), done.time.seconds())); // of both parts of the run
        }
        const auto session = open("time.lathe");
        const auto history = must(session->history());
        const RunView run = must(history->runs()).at(0);
        TimeSpent stored;
        for (const RoundView& round : must(history->rounds(run.id)))
            stored += round.time;
        for (const RunView::Finals& finals : run.finals)
            stored += finals.time;
        QCOMPARE(run.rests.size(), std::size_t{2});
        for (const auto& [at, rest] : run.rests)
            stored += rest;
        QCOMPARE(stored.activities.size(), sum.activities.size());
        for (const auto& [name, seconds] : sum.activities)
            QVERIFY2(near(stored.activities[name], seconds), name.c_str());
        QCOMPARE(stored.workers.size(), sum.workers.size());
        for (const auto& [name, spent] : sum.workers)
            QVERIFY2(near(stored.workers[name].seconds, spent.seconds)
                         && near(stored.workers[name].processor, spent.processor),
                     name.c_str());
    }

    void theBudgetInTimeEndsARoundInItsMiddle()
    {
        // The fifth trial hangs for longer than the budget: the round's first four are all of it.
        std::ofstream(file("hang.json")) << R"({"rules": [{"fault": "hang", "ordinal": 4}]})";
        {
            const auto session = open("cut.lathe", "sim -script=" + file("hang.json").string());
            TuneOptions options = few(0);
            options.seconds = 3;
            options.timeoutSeconds = 600;
            const Watcher watcher(*session, options);
            QVERIFY(session->state() == RunState::Finished);
            const auto rounds = watcher.all<RoundDoneEvent>();
            QCOMPARE(rounds.size(), std::size_t{1});
            QCOMPARE(rounds[0].trials, 4);
            QCOMPARE(watcher.all<TrialEvent>().size(), std::size_t{4});
        }
        const store::Project project = reader("cut.lathe");
        const auto rounds = must(project.rounds(1));
        QCOMPARE(rounds.size(), std::size_t{1});
        QCOMPARE(rounds[0].trials, 4);
        QCOMPARE(searched(project).size(), std::size_t{4});
    }

    void aRoundThatCannotGoOnIsClosedWithWhatItHas()
    {
        // Killed after three trials of its second round, of six; resumed with a budget that gives it eight, other ones.
        Watcher().run(*open("killed.lathe"), few(11)); // the first task has five programs
        {
            auto db = must(store::Database::open(file("killed.lathe"), store::Database::Mode::ReadWrite));
            must(db.execute("DELETE FROM records WHERE round < 0 OR (round = 1 AND position > 2); DELETE FROM rounds "
                            "WHERE position = 1; DELETE FROM events"));
        }
        const auto session = open("killed.lathe");
        TuneOptions more = few(20);
        more.resume = true;
        const Watcher watcher(*session, more);
        QVERIFY(session->state() == RunState::Finished);
        QCOMPARE(watcher.all<DoneEvent>().back().trials, std::int64_t{20});
        std::set<std::string> seen;
        for (const Record& record : searched(reader("killed.lathe")))
            QVERIFY2(seen.insert(record.candidate.task + record.candidate.hash().hex()).second,
                     "a candidate was measured twice");
        QCOMPARE(seen.size(), std::size_t{20});
        const auto rounds = must(reader("killed.lathe").rounds(1));
        QVERIFY(rounds.size() >= 3);
        QVERIFY(rounds[1].trials == 3
                || rounds[1].trials == 8); // eight where the larger round begins with the same candidates
    }

    void theWholeNetworkIsEstimatedBeforeAnyTaskIsSearched()
    {
        const auto session = open("first.lathe");
        TuneOptions options = few(40);
        options.policy = "sketch";
        const Watcher watcher(*session, options);
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
        const Watcher watcher(*session, options);
        std::map<std::int32_t, int> trials;
        for (const TrialEvent& trial : watcher.all<TrialEvent>())
            ++trials[trial.trial.task];
        QCOMPARE(trials.size(), session->tasks().size());
        for (const auto& [task, count] : trials)
            QCOMPARE(count, 5);
        QVERIFY(watcher.all<StateEvent>().back().state == RunState::Finished);
        QVERIFY2(watcher.all<StateEvent>().back().text.find("at its cap") != std::string::npos,
                 watcher.all<StateEvent>().back().text.c_str());
    }

    void earlyStopCountsFromTheNetworksBest()
    {
        const auto session = open("early.lathe");
        TuneOptions options = few(2000);
        options.earlyStop = 30;
        const Watcher watcher(*session, options);
        // Recount: the estimate after each round, and the trials before it.
        std::int64_t trials = 0, atBest = 0;
        double best = std::numeric_limits<double>::infinity();
        for (const Event& event : watcher.events()) {
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
        const Watcher watcher(*session, options);
        QVERIFY(watcher.all<TrialEvent>().size() < 400);
        QVERIFY(watcher.all<StateEvent>().back().state == RunState::Finished);
        QVERIFY2(watcher.all<StateEvent>().back().text.find("less than 99 %") != std::string::npos,
                 watcher.all<StateEvent>().back().text.c_str());
    }

    void recordsSayForWhatTheyWereMade()
    {
        const auto session = open("facts.lathe");
        TuneOptions options = few(8);
        options.cache = "cold";
        Watcher().run(*session, options);
        const auto project = reader("facts.lathe");
        const auto conditions = must(project.conditions("sim"));
        QCOMPARE(conditions.size(), std::size_t{1});
        QVERIFY(conditions[0].coldBytes > 0);
        QVERIFY(conditions[0].fingerprint.find("Simulated device") != std::string::npos);
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
            Watcher().run(*session, few(4));
        }
        OpenOptions options;
        options.project = file("target.lathe");
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
        Watcher().run(*session, few(16));
        TuneOptions more = few(24);
        more.resume = true;
        const Watcher watcher(*session, more);
        std::set<std::string> ids;
        for (const TrialEvent& trial : watcher.all<TrialEvent>())
            ids.insert(trial.trial.id);
        QCOMPARE(ids.size(), std::size_t{8}); // the first sixteen are known
        QCOMPARE(watcher.all<DoneEvent>().back().trials, std::int64_t{24});
    }

    void whatOthersWroteIntoTheProjectIsNoCrash()
    {
        const auto session = open("damaged.lathe");
        Watcher().run(*session, few(16));
        {
            auto project = must(store::Database::open(file("damaged.lathe"), store::Database::Mode::ReadWrite));
            must(project.execute(
                R"(UPDATE rounds SET durations_ms = '{"elapsed_s": "long", "activities": 3, "told": [[0, "x"], 1]}', terms = '[]')"));
            must(project.execute(R"(UPDATE sessions SET options = json_set(options, '$.nonce', 5))"));
            must(project.execute(R"(UPDATE events SET json = '{"ms": "soon", "levels": 1}')"));
        }
        TuneOptions more = few(24);
        more.resume = true;
        const Watcher watcher(*session, more);
        QVERIFY2(session->state() == RunState::Finished, watcher.all<StateEvent>().back().text.c_str());
        const auto history = must(session->history());
        for (const RunView& run : must(history->runs()))
            must(history->rounds(run.id));
        OpenOptions options;
        options.project = file("damaged.lathe");
        options.replay = ReplayOptions{0, 1e6};
        const auto replay = must(TuningSession::open(options));
        QCOMPARE(Watcher(*replay, {}).all<TrialEvent>().size(), std::size_t{24});
    }

    void whatWasLearnedIsKept()
    {
        const auto session = open("learned.lathe");
        TuneOptions options = few(40);
        options.policy = "sketch";
        Watcher().run(*session, options);
        const auto project = reader("learned.lathe");
        const auto model = must(project.snapshot(must(project.sessions()).back().id, "cost model"));
        QVERIFY(model && model->size() > 100);
    }

    /// It is for people: a run that goes on learns from its records alone, whatever stands in its place.
    void nothingReadsAStoredCostModel()
    {
        std::vector<std::vector<std::string>> candidates;
        for (const char* name : {"own.lathe", "hostile.lathe"}) {
            const auto session = open(name);
            TuneOptions options = few(32);
            options.policy = "sketch";
            Watcher().run(*session, options);
            if (name == std::string("hostile.lathe")) {
                auto project = must(store::Database::open(file(name), store::Database::Mode::ReadWrite));
                must(project.execute("UPDATE snapshots SET bytes = zeroblob(4096) WHERE kind = 'cost model'"));
            }
            TuneOptions more = few(48);
            more.policy = "sketch";
            more.resume = true;
            const Watcher watcher(*session, more);
            QVERIFY2(session->state() == RunState::Finished, watcher.all<StateEvent>().back().text.c_str());
            std::vector<std::string>& all = candidates.emplace_back();
            for (const TrialEvent& trial : watcher.all<TrialEvent>())
                all.push_back(trial.trial.candidate);
            QVERIFY(!all.empty());
        }
        QVERIFY(candidates[0] == candidates[1]);
    }

    void aRunGoesOnWithoutTheUntunedNetworkWhereThatTakesTooLong()
    {
        Watcher watcher;
        const auto executor = makeTbbExecutor();
        RunControl control;
        control.setObserver(&watcher);
        Steering steering;
        RunSetup setup;
        ModelSpec spec;
        spec.source = "zoo:mlp";
        setup.model = must(loadModel(spec, "sim"));
        setup.options = few(4);
        setup.options.seconds = 2;
        setup.executor = executor.get();
        setup.control = &control;
        setup.steering = &steering;
        setup.measureNetwork = [](const NetworkRequest& request, std::stop_token stop) -> Result<NetworkFigures> {
            std::mutex mutex;
            std::unique_lock lock(mutex);
            std::condition_variable_any never;
            if (request.build == NetworkBuild::Untuned && !never.wait(lock, stop, [] { return false; }))
                return makeError(Errc::Cancelled, "stopped");
            NetworkFigures figures;
            figures.measured = {1.5, 0, false, {1, 0.25, 0.125, 0.0625}};
            figures.unpaired = makeError(Errc::Cancelled, "as the test says");
            return figures;
        };
        QVERIFY(TuningRun(std::move(setup)).run({}));
        QCOMPARE(watcher.all<LogEvent>().size(), std::size_t{1});
        QCOMPARE(watcher.all<LogEvent>()[0].text,
                 std::string("the untuned network was not measured: it would take more than 25 % of the run's time"));
        QCOMPARE(watcher.all<MeasuredEvent>().size(), std::size_t{1});
        QCOMPARE(watcher.all<MeasuredEvent>()[0].estimated.totalMs(), 1.4375);
        QCOMPARE(watcher.all<ErrorEvent>().size(), std::size_t{1}); // that they were not timed in turns
        const auto verdicts = watcher.all<VerdictEvent>();
        QCOMPARE(verdicts.size(), std::size_t{1});
        QVERIFY(verdicts[0].gain.verdict() == Verdict::Unknown);
        QVERIFY(!believable(verdicts[0].gain, verdicts[0].findings));
    }

    void aModelThatCannotBeReadLeavesNoProject()
    {
        OpenOptions options;
        options.model.source = "zoo:nothing";
        options.project = file("none.lathe");
        QVERIFY(!TuningSession::open(options));
        QVERIFY(!std::filesystem::exists(options.project));
    }
};

LATHE_TEST_GUILESS(TestTuningRun)

} // namespace tst_tuning_run

#include "tst_tuning_run.moc"
