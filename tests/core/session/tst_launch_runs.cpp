#include "core/support/files.h"
#include "tests/support/runs.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <set>

namespace tst_launch_runs {

using namespace lathe;
using namespace lathe::session;
using namespace lathe::test;

/// Runs on devices whose kernels are launches: on simulated GPUs, whose results are the interpreter's.
class TestLaunchRuns : public QObject, Projects
{
    Q_OBJECT

    static TuneOptions some(std::int64_t trials, std::string policy)
    {
        TuneOptions options = few(trials);
        options.policy = std::move(policy);
        options.seed = 5;
        options.headStart = "none";
        return options;
    }

private slots:
    void aRunFindsCandidatesThatComputeRight_data()
    {
        QTest::addColumn<QString>("target");
        QTest::newRow("cuda") << "sim -like=cuda";
        QTest::newRow("mali") << "sim -like=mali";
    }
    void aRunFindsCandidatesThatComputeRight()
    {
        QFETCH(QString, target);
        const std::string project = target.toStdString().substr(10) + ".lathe";
        const auto session = open(project.c_str(), target.toStdString());
        const Watcher watcher(*session, some(24, "reference"));
        QVERIFY(session->state() == RunState::Finished);
        const std::vector<Record> records = searched(reader(project.c_str()));
        QCOMPARE(records.size(), std::size_t{24});
        std::size_t right = 0;
        for (const Record& record : records) {
            // The interpreter names races, divergent barriers, reads of what nobody wrote.
            QVERIFY2(record.result.ok(), record.result.text.c_str());
            right += record.result.verified ? 1 : 0;
        }
        QCOMPARE(right, records.size());
    }

    void equalSeedsAskForEqualCandidates()
    {
        std::vector<std::vector<std::string>> steps;
        for (const char* project : {"one.lathe", "other.lathe"}) {
            const auto session = open(project, "sim -like=cuda");
            const Watcher watcher(*session, some(16, "reference"));
            auto& own = steps.emplace_back();
            for (const Record& record : searched(reader(project)))
                own.push_back(record.candidate.steps);
        }
        QCOMPARE(steps[0].size(), std::size_t{16});
        QVERIFY(steps[0] == steps[1]);
    }

    /// Tuning on learns from what an earlier run measured, and measures nothing twice.
    void aSecondRunGoesOnFromTheFirst()
    {
        for (int run = 0; run < 2; ++run) {
            const auto session = open("goes.lathe", "sim -like=cuda");
            const Watcher watcher(*session, some(8, "reference"));
            QVERIFY(session->state() == RunState::Finished);
        }
        std::set<std::string> steps;
        std::size_t stored = 0;
        for (const std::int64_t run : {1, 2})
            for (const Record& record : must(reader("goes.lathe").sessionRecords(run)))
                if (record.round >= 0) {
                    ++stored;
                    steps.insert(record.candidate.task + record.candidate.steps);
                }
        QCOMPARE(stored, std::size_t{16});
        QCOMPARE(steps.size(), stored);
    }

    void eachFaultIsTold()
    {
        const auto script = file("script.json");
        QVERIFY(writeFileAtomically(script,
                                    R"({"rules": [{"fault": "crash", "ordinal": 3}, {"fault": "wrong", "ordinal": 6},
                                                           {"fault": "build-failed", "ordinal": 9}]})"));
        const auto session = open("faults.lathe", "sim -like=cuda -script=" + script.string());
        const Watcher watcher(*session, some(16, "reference"));
        std::map<Errc, int> codes;
        for (const Record& record : searched(reader("faults.lathe")))
            ++codes[record.result.code];
        QCOMPARE(codes[Errc::WorkerCrashed], 1);
        QCOMPARE(codes[Errc::WrongAnswer], 1);
        QCOMPARE(codes[Errc::BuildFailed], 1);
        QCOMPARE(codes[Errc::Ok], 13);
    }
};

LATHE_TEST_GUILESS(TestLaunchRuns)

} // namespace tst_launch_runs

#include "tst_launch_runs.moc"
