#include "core/policy/policy_table.h"
#include "core/search/task_scheduler.h"
#include "core/session/exports/kernel_choices.h"
#include "core/session/loaded_model.h"
#include "core/session/tbb_executor.h"
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
        ModelSpec spec;
        spec.source = "zoo:mlp";
        const auto model = must(loadModel(spec, must(project.sessions()).at(0).target));
        const auto executor = makeTbbExecutor(threads);
        search::PolicyOptions options;
        options.seed = 7;
        options.trialsPerRound = kPerRound;
        const auto shared = must(policy::makeSharedModel("sketch", model->partition.tasks.size(), options));
        std::vector<std::unique_ptr<search::Policy>> policies;
        std::vector<search::ScheduledTask> scheduled;
        std::map<std::string, std::int32_t> taskOf;
        for (const graph::Task& task : model->partition.tasks) {
            taskOf[task.key] = static_cast<std::int32_t>(policies.size());
            policies.push_back(must(policy::makePolicy("sketch", searchTask(task, *model, false), shared, options)));
            scheduled.push_back({task.name, static_cast<double>(task.weight), task.flop, {}, 0});
        }
        search::SchedulerOptions schedulerOptions;
        schedulerOptions.trialsPerRound = kPerRound;
        schedulerOptions.seed = 7;
        const auto scheduler = must(search::TaskScheduler::create("gradient", scheduled, schedulerOptions));

        const std::vector<Record> records = searched(project);
        QCOMPARE(records.size(), std::size_t{60});
        int compared = 0;
        std::size_t at = 0;
        for (const store::RoundRow& round : must(project.rounds(1))) {
            const std::int32_t task = taskOf.at(round.task);
            QCOMPARE(scheduler->next(), task);
            std::vector<search::Measured> told;
            search::RoundOutcome outcome;
            for (; at < records.size() && records[at].round == round.index; ++at)
                told.push_back({records[at].candidate, records[at].result});
            // By its runoff, which is not held again.
            const auto durations = nlohmann::json::parse(round.durations);
            outcome.bestSeconds = durations.at("best").value("told_s", outcome.bestSeconds);
            if (scheduler->progress(task).rounds > 0) { // its first is the schedule that it has without a search
                const auto proposed = must(policies[static_cast<std::size_t>(task)]->propose(
                    static_cast<std::uint64_t>(round.index), static_cast<std::int32_t>(told.size()), *executor));
                QCOMPARE(proposed.size(), told.size());
                for (std::size_t i = 0; i < told.size(); ++i, ++compared)
                    QVERIFY2(proposed[i].hash() == told[i].candidate.hash(),
                             qPrintable(QStringLiteral("round %1, trial %2").arg(round.index).arg(i)));
            }
            must(policies[static_cast<std::size_t>(task)]->tell(told));
            outcome.trials = static_cast<std::int64_t>(told.size());
            outcome.exhausted = told.empty(); // as the run has it: a small task may have no candidates left
            outcome.elapsedSeconds = durations.at("elapsed_s").get<double>();
            scheduler->tell(task, outcome);
        }
        QVERIFY2(compared > 40, qPrintable(QString::number(compared)));
        QVERIFY(shared->ready()); // the model had a say
    }
};

LATHE_TEST_GUILESS(TestSameCandidates)

} // namespace tst_same_candidates

#include "tst_same_candidates.moc"
