#include "core/policy/policy_table.h"
#include "core/search/task_scheduler.h"
#include "core/session/exports/kernel_choices.h"
#include "core/session/loaded_model.h"
#include "core/session/options/options_json.h"
#include "core/session/run/rounds.h"
#include "core/session/tbb_executor.h"
#include "core/session/untuned.h"
#include "tests/support/killed_run.h"
#include "tests/support/runs.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <nlohmann/json.hpp>

#include <map>

namespace tst_same_candidates {

using namespace lathe;
using namespace lathe::session;
using namespace lathe::test;

/// What real processors measured, fed back: the search asks for the same candidates again, on any number of threads.
class TestSameCandidates : public QObject, Projects
{
    Q_OBJECT

    static constexpr std::int32_t kPerRound = 8;

private slots:
    void initTestCase()
    {
        const auto session = open("run.lathe", "cpu -threads=2");
        TuneOptions tune;
        tune.trials = 60;
        tune.trialsPerRound = kPerRound;
        tune.seed = 7;
        tune.minRepeatMs = 1;
        tune.headStart = "none";
        must(session->start(tune));
        session->wait();
        QVERIFY(session->state() == RunState::Finished);
    }

    void theSearchAsksForTheSameAgain_data()
    {
        QTest::addColumn<unsigned>("threads");
        QTest::newRow("1 thread") << 1u;
        QTest::newRow("2 threads") << 2u;
    }
    void theSearchAsksForTheSameAgain()
    {
        QFETCH(unsigned, threads);
        const store::Project project = reader("run.lathe");
        QCOMPARE(searched(project).size(), std::size_t{60});
        feed(project, "zoo:mlp", threads, 40);
    }

    void aRunThatIsKilledAndGoesOnAsksForTheSameWhenItIsFedItsResults_data()
    {
        QTest::addColumn<QString>("network");
        QTest::addColumn<int>("trials");
        QTest::newRow("mlp") << "zoo:mlp" << 60;
        QTest::newRow("dcgan") << "zoo:dcgan" << 24;
    }
    void aRunWhoseLivesEndByTheirTimeAsksForTheSameWhenItIsFedItsResults()
    {
        const KilledRun place;
        const QString file = place.project("timed.lathe");
        int told = 0;
        for (const char* budget :
             {"8s", "11s", "14s"}) { // over all lives; the first starts its workers on a busy machine too
            QProcess run;
            run.setProcessEnvironment(place.environment());
            QStringList words = {"tune", "zoo:mlp",         "--target", "cpu -threads=2", "--project", file, "--time",
                                 budget, "--min-repeat-ms", "1",        "--json"};
            if (told > 0)
                words << "--resume";
            else
                words << "--seed"
                      << "7"
                      << "--head-start"
                      << "none"
                      << "--trials-per-round"
                      << "32";
            run.start(place.program("lathe-cli"), words);
            QVERIFY(run.waitForFinished(60000));
            QVERIFY2(run.exitCode() == 0, run.readAllStandardError());
            const QByteArray out = run.readAllStandardOutput();
            QVERIFY(!out.contains("cannot be repeated"));
            told += static_cast<int>(out.count("\"trial\""));
            QVERIFY(told > 0);
        }
        feed(must(store::Project::open(file.toStdString(), store::Project::Access::Read)), "zoo:mlp", 2, 8);
    }
    /// Its lives have different budgets, in time, on which the size of its rounds depends.
    void aRunThatIsKilledAndGoesOnAsksForTheSameWhenItIsFedItsResults()
    {
        QFETCH(QString, network);
        QFETCH(int, trials);
        const KilledRun place;
        const QString file = place.project("shaken.lathe");
        QRandomGenerator random = seededRandom();
        const char* const budgets[] = {"30m", "20m", "40m"};
        for (const char* budget : budgets) {
            QProcess run;
            run.setProcessEnvironment(place.environment());
            QStringList words = {
                "tune",   network, "--target",     "cpu -threads=2", "--project",       file, "--time", budget,
                "--seed", "7",     "--head-start", "none",           "--min-repeat-ms", "1",  "--json"};
            if (budget != budgets[0])
                words << "--resume";
            run.start(place.program("lathe-cli"), words);
            const int lives = random.bounded(5, 30);
            int told = 0;
            while (told < lives && (run.waitForReadyRead(60000) || run.state() == QProcess::Running))
                while (run.canReadLine())
                    told += run.readLine().contains("\"trial\"") ? 1 : 0;
            QTest::qSleep(random.bounded(0, 300));
            run.kill();
            QVERIFY(run.state() == QProcess::NotRunning || run.waitForFinished(120000));
            QVERIFY2(told > 0, run.readAllStandardError());
            QTRY_VERIFY_WITH_TIMEOUT(place.processes().isEmpty(), 20000);
        }
        // The last life has a budget in trials.
        QProcess run;
        run.setProcessEnvironment(place.environment());
        run.start(place.program("lathe-cli"), {"tune", network, "--target", "cpu -threads=2", "--project", file,
                                               "--trials", QString::number(trials), "--resume", "--json"});
        QVERIFY(run.waitForFinished(300000));
        QVERIFY2(run.exitCode() == 0, run.readAllStandardError());
        QVERIFY(!run.readAllStandardOutput().contains("cannot be repeated"));
        feed(must(store::Project::open(file.toStdString(), store::Project::Access::Read)), network.toUtf8().constData(),
             2, trials - 1);
    }

private:
    /// Tells a search what a run was told, and compares what it asks for.
    void feed(const store::Project& project, const char* network, unsigned threads, int least)
    {
        ModelSpec spec;
        spec.source = network;
        const store::SessionRow run = must(project.sessions()).at(0);
        const TuneOptions tune = must(tuneOptionsFromJson(run.options));
        const auto model = must(loadModel(spec, run.target));
        const auto executor = makeTbbExecutor(threads);
        search::PolicyOptions options;
        options.seed = tune.seed;
        options.trialsPerRound = tune.trialsPerRound;
        options.untuned = untunedCandidate;
        const auto shared = must(policy::makeSharedModel(tune.policy, model->partition.tasks.size(), options));
        std::vector<std::unique_ptr<search::Policy>> policies;
        std::vector<search::ScheduledTask> scheduled;
        std::map<std::string, std::int32_t> taskOf;
        for (const graph::Task& task : model->partition.tasks) {
            taskOf[task.key] = static_cast<std::int32_t>(policies.size());
            policies.push_back(
                must(policy::makePolicy(tune.policy, searchTask(task, *model, tune.strict), shared, options)));
            scheduled.push_back({task.name, static_cast<double>(task.weight), task.flop, {}, 0});
        }
        search::SchedulerOptions schedulerOptions;
        schedulerOptions.trialsPerRound = tune.trialsPerRound;
        schedulerOptions.seed = tune.seed;
        const auto scheduler = must(search::TaskScheduler::create(session::schedulerOf(tune), scheduled, schedulerOptions));

        const std::vector<Record> records = searched(project);
        int compared = 0;
        std::size_t at = 0;
        for (const store::RoundRow& round : must(project.rounds(run.id))) {
            const std::int32_t task = taskOf.at(round.task);
            QCOMPARE(scheduler->next(), task);
            search::Policy& policy = *policies[static_cast<std::size_t>(task)];
            const std::optional<Asked> asked = askedOf(round.durations);
            QVERIFY(asked && (asked->first > 0 || asked->count > 0));
            std::vector<Candidate> proposed;
            if (asked->first > 0)
                proposed = must(policy.firstRound(asked->first));
            if (asked->count > 0)
                proposed = must(policy.propose(static_cast<std::uint64_t>(round.index), asked->count, *executor));
            std::vector<search::Measured> told;
            search::RoundOutcome outcome;
            for (; at < records.size() && records[at].round == round.index; ++at, ++compared) {
                const auto index = static_cast<std::size_t>(records[at].index);
                QVERIFY2(index < proposed.size() && proposed[index].hash() == records[at].candidate.hash(),
                         qPrintable(QStringLiteral("round %1, trial %2").arg(round.index).arg(index)));
                told.push_back({records[at].candidate, records[at].result});
            }
            // By its runoff, which is not held again.
            const auto durations = nlohmann::json::parse(round.durations);
            outcome.bestSeconds = durations.at("best").value("told_s", outcome.bestSeconds);
            must(policy.tell(told));
            outcome.trials = static_cast<std::int64_t>(told.size());
            outcome.exhausted = told.empty(); // as the run has it: a small task may have no candidates left
            outcome.elapsedSeconds = durations.at("elapsed_s").get<double>();
            scheduler->tell(task, outcome);
        }
        QVERIFY2(compared > least, qPrintable(QString::number(compared)));
        if (compared > 40)
            QVERIFY(shared->ready()); // the model had a say
    }
};

LATHE_TEST_GUILESS(TestSameCandidates)

} // namespace tst_same_candidates

#include "tst_same_candidates.moc"
