#include "core/session/project/stored_runs.h"
#include "core/store/record_reader.h"
#include "core/support/hash.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QtTest>

namespace tst_stored_runs {

using namespace lathe;
using namespace lathe::session;
using test::must;

/// Runs are read from any project, without its network.
class TestStoredRuns : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;

    std::filesystem::path file() const { return m_dir.filePath(QStringLiteral("p.lathe")).toStdString(); }

    static Record record(std::int64_t session, int index, const std::string& target)
    {
        Record made;
        made.trial = contentHash(std::to_string(session * 100 + index)).hex();
        made.session = session;
        made.index = index;
        made.candidate.task = "task";
        made.candidate.steps = "[]";
        made.target = target;
        made.result.costsNs = {1e6};
        made.timeMs = 1;
        return made;
    }

private slots:
    void initTestCase()
    {
        auto project = must(store::Project::open(file(), store::Project::Access::Write));
        const auto model = must(project.addModel({0, "hash", "no/such/file.onnx", "gone", "{}"}));
        for (const char* const name : {"cpu", "sim"}) {
            const std::string target = name;
            const auto run = must(project.addSession({0, model, target, "{}", 1700000000000, 30, "stopped"}));
            must(project.addRound({run, 0, "task", 8, "{}", "{}", 10, std::nan("")}));
            must(project.addRound({run, 1, "task", 8, "{}", "{}", 20, 5}));
            must(project.addEvent(run, 1, "untuned", "{\"ms\": 9}"));
            must(project.addEvent(run, 25, "finals", "{\"ms\": 4.5, \"seconds\": 3}"));
            must(project.addEvent(
                run, 28, "measured",
                R"({"ms": 4.75, "estimated_ms": {"tasks": 4, "chain": 0.25, "untuned": 0.125, "call": 0.0625}})"));
            std::vector<Record> records;
            for (int i = 0; i < (target == "cpu" ? 2 : 3); ++i)
                records.push_back(record(run, i, target));
            must(project.addRecords(records));
        }
    }

    void allRunsAreListed()
    {
        const auto runs = must(storedRuns(file()));
        QCOMPARE(runs.size(), std::size_t{2});
        QCOMPARE(runs[0].run.target, std::string("cpu"));
        QCOMPARE(runs[1].run.target, std::string("sim"));
        QCOMPARE(runs[1].model, std::string("gone"));
        QVERIFY(runs[0].estimate.empty()); // curves are read one by one
    }

    void oneBringsItsCurves()
    {
        const StoredRun run = must(storedRun(file(), 0));
        QCOMPARE(run.run.target, std::string("sim"));
        QCOMPARE(run.run.untunedMs, 9.0);
        using Points = std::vector<std::pair<double, double>>;
        QVERIFY((run.estimate == Points{{20, 5}, {25, 4.5}}));
        QVERIFY((run.trials == Points{{10, 8}, {20, 16}}));
        QCOMPARE(run.run.measured.size(), std::size_t{1});
        QCOMPARE(run.run.measured[0].parts.totalMs(), 4.4375); // each measurement has its own
        QVERIFY(storedRun(file(), 7).error().code == Errc::NotFound);
        QVERIFY(!storedRun(m_dir.filePath("none.lathe").toStdString(), 0));
    }

    void trialsAreFoundByRunAndTarget()
    {
        const auto reader = must(store::RecordReader::open(file()));
        store::RecordQuery query;
        query.target = "sim";
        QCOMPARE(must(reader.find(query)).size(), std::size_t{3});
        query.target = "cuda";
        QCOMPARE(must(reader.find(query)).size(), std::size_t{0});
        query.target.clear();
        query.session = 1;
        QCOMPARE(must(reader.find(query)).size(), std::size_t{2});
    }
};

LATHE_TEST(TestStoredRuns)

} // namespace tst_stored_runs

#include "tst_stored_runs.moc"
