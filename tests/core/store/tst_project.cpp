#include "core/store/project.h"
#include "core/store/record_range.h"
#include "core/store/schema.h"
#include "core/store/transfer.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QtTest>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <fstream>

namespace tst_project {

using namespace lathe;
using lathe::test::must;
using store::Project;

namespace {

Record trial(int i, double ns, Errc code = Errc::Ok)
{
    Record r;
    r.trial = contentHash("trial " + std::to_string(i)).hex();
    r.session = 1;
    r.round = i / 4;
    r.index = i % 4;
    r.candidate.task = i % 2 == 0 ? "even" : "odd";
    r.candidate.alternative = "direct";
    r.candidate.sketch = "test/1:a";
    r.candidate.genome = {i, 2, 3};
    r.candidate.steps = "[]";
    r.result.code = code;
    if (code == Errc::Ok)
        r.result.costsNs = {ns, ns + 2};
    else {
        r.result.stage = TrialStage::Run;
        r.result.text = "the kernel crashed: \"signal 11\"\nsecond line";
    }
    r.result.durationsMs["build"] = 12.5;
    r.timeMs = 1700000000000 + i;
    return r;
}

} // namespace

class TestProject : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;
    std::filesystem::path file(const char* name) const
    {
        return std::filesystem::path(m_dir.path().toStdString()) / name;
    }

private slots:
    void recordsComeBackAsTheyWereStored()
    {
        const Record good = trial(0, 100);
        const Record bad = trial(1, 0, Errc::WorkerCrashed);
        {
            Project p = must(Project::open(file("a.lathe"), Project::Access::Write));
            must(p.addRecords(std::vector{good, bad}));
            must(p.addRecords(std::vector{good})); // at least once delivery: known ids are ignored
        }
        QVERIFY(!std::filesystem::exists(file("a.lathe-wal")) || std::filesystem::file_size(file("a.lathe-wal")) == 0);
        QVERIFY(!std::filesystem::exists(file("a.lathe-lock")));
        Project p = must(Project::open(file("a.lathe"), Project::Access::Read));
        const auto records = must(p.sessionRecords(1));
        QCOMPARE(records.size(), std::size_t{2});
        QVERIFY(records[0].candidate.hash() == good.candidate.hash());
        QCOMPARE(records[0].result.costsNs, good.result.costsNs);
        QVERIFY(records[1].result.code == Errc::WorkerCrashed);
        QCOMPARE(records[1].result.text, bad.result.text);
        QVERIFY(records[1].result.stage == TrialStage::Run);
        QVERIFY(!p.addRecords(std::vector{good})); // read-only
    }

    void bestIsTheFastestValidTrialOfEachTask()
    {
        Project p = must(Project::open(file("b.lathe"), Project::Access::Write));
        must(p.addRecords(std::vector{trial(0, 300), trial(2, 200), trial(4, 250), trial(6, 0, Errc::RunTimeout),
                                      trial(1, 0, Errc::BuildFailed)}));
        const auto best = must(p.best());
        QCOMPARE(best.size(), std::size_t{1});
        QCOMPARE(best[0].task, std::string("even"));
        QCOMPARE(best[0].costNs, 201.0);
        QCOMPARE(must(p.totals("even")).trials, 4);
        QCOMPARE(must(p.totals("even")).errors, 1);
        QCOMPARE(must(p.totals("odd")).errors, 1);
    }

    void costsCompareOnlyWhereTheyWereMeasuredAlike()
    {
        const auto of = [](int i, double ns, const char* target, const char* device, const char* conditions,
                           const char* alternative) {
            Record r = trial(i, ns);
            r.candidate.task = "conv";
            r.candidate.alternative = alternative;
            r.target = target;
            r.result.device = identityOf(device);
            r.result.conditions = conditions;
            return r;
        };
        Project p = must(Project::open(file("alike.lathe"), Project::Access::Write));
        must(p.addRecords(std::vector{
            of(0, 100, "cpu", "A", "{}", "direct"),
            of(1, 90, "cpu", "A", "{}", "winograd-2"),
            of(2, 80, "cpu", "A", "{}", "direct"),
            of(3, 10, "cpu -threads=2", "A", "{}", "direct"),
            of(4, 20, "cpu", "B", "{}", "direct"),
            of(5, 300, "cpu", "A", "{\"cold_bytes\": 4096}", "direct"),
            of(6, 95, "cpu", "A", "{}", "direct"),
        }));
        QCOMPARE(must(p.best()).size(), std::size_t{5});
        const auto warm = must(p.best({"conv", "cpu", store::Conditions{"A", 0}}));
        QCOMPARE(warm.size(), std::size_t{2});
        QCOMPARE(warm[0].costNs, 81.0);
        QCOMPARE(warm[0].alternative, std::string("direct"));
        QCOMPARE(warm[1].alternative, std::string("winograd-2"));
        const auto cold = must(p.best({{}, "cpu", store::Conditions{"A", 4096}}));
        QCOMPARE(cold.size(), std::size_t{1});
        QCOMPARE(cold[0].costNs, 301.0);
        QCOMPARE(must(p.best({{}, "cpu -threads=2", {}}))[0].costNs, 11.0);
        QVERIFY(must(p.best({{}, "cpu -threads=4", {}})).empty());
        // The latest first, whether or not it brought a gain.
        const auto conditions = must(p.conditions("cpu"));
        QCOMPARE(conditions.size(), std::size_t{3});
        QVERIFY((conditions[0] == store::Conditions{"A", 0}));
        QVERIFY((conditions[1] == store::Conditions{"A", 4096}));
        QVERIFY((conditions[2] == store::Conditions{"B", 0}));
        QCOMPARE(warm[0].record.target, std::string("cpu"));
    }

    void equalDevicesCompeteAndEachRecordKeepsItsOwn()
    {
        const auto of = [](int i, double ns, const char* key, const char* fingerprint) {
            Record r = trial(i, ns);
            r.candidate.task = "conv";
            r.target = "cuda";
            r.result.device = {key, fingerprint};
            return r;
        };
        Project p = must(Project::open(file("classes.lathe"), Project::Access::Write));
        must(p.addRecords(std::vector{of(0, 100, "h100", "left"), of(1, 90, "h100", "right"), of(2, 80, "a100", "odd"),
                                      of(3, 95, "h100", "left")}));
        const auto conditions = must(p.conditions("cuda"));
        QCOMPARE(conditions.size(), std::size_t{2});
        QVERIFY((conditions[0] == store::Conditions{"h100", 0}));
        QCOMPARE(conditions[0].fingerprint, std::string("left")); // of the latest
        QVERIFY((conditions[1] == store::Conditions{"a100", 0}));
        const auto best = must(p.best({"conv", "cuda", conditions[0]}));
        QCOMPARE(best.size(), std::size_t{1});
        QCOMPARE(best[0].costNs, 91.0);
        QVERIFY((best[0].record.result.device == DeviceIdentity{"h100", "right"}));
        std::vector<std::string> seen;
        must(p.forEachContender("conv", "cuda", {"h100", 0, {}}, [&seen](const Record& record) {
            seen.push_back(record.result.device.fingerprint);
            return true;
        }));
        QCOMPARE(seen, (std::vector<std::string>{"right", "left", "left"}));
    }

    void theNextBestStepsInForADeletedRecord()
    {
        {
            Project p = must(Project::open(file("deleted.lathe"), Project::Access::Write));
            must(p.addRecords(std::vector{trial(0, 300), trial(2, 200), trial(4, 250)}));
        }
        auto db = must(store::Database::open(file("deleted.lathe"), store::Database::Mode::ReadWrite));
        must(db.execute("DELETE FROM records WHERE mean_ns < 210"));
        const Project p = must(Project::open(file("deleted.lathe"), Project::Access::Read));
        const auto best = must(p.best());
        QCOMPARE(best.size(), std::size_t{1});
        QCOMPARE(best[0].costNs, 251.0);
    }

    void finalsLeaveOlderTrialsBehind()
    {
        const auto of = [](int i, double ns, const char* alternative, const char* finals = "") {
            Record r = trial(i, ns);
            r.candidate.task = "conv";
            r.candidate.alternative = alternative;
            r.result.costsNs = {ns};
            r.result.conditions = *finals == '\0' ? "{}" : std::string("{\"finals\": \"") + finals + "\"}";
            return r;
        };
        const auto costs = [](const std::vector<store::BestRow>& rows) {
            std::vector<double> all;
            for (const auto& row : rows)
                all.push_back(row.costNs);
            return all;
        };
        const auto name = file("finals.lathe");
        {
            Project p = must(Project::open(name, Project::Access::Write));
            must(p.addRecords(std::vector{of(0, 50, "direct"), of(1, 70, "winograd-2"), of(2, 60, "gemm")}));
            QCOMPARE(must(p.best())[0].costNs, 50.0);
            must(p.addRecords(
                std::vector{of(3, 95, "direct", "A"), of(4, 90, "direct", "A"), of(5, 92, "winograd-2", "A")}));
            // What no finalist has comes last, however fast it once was.
            QCOMPARE(costs(must(p.best())), (std::vector<double>{90, 92, 60}));
            QCOMPARE(must(p.totals("conv")).trials, 3); // finals are no trials of a search
            QCOMPARE(must(p.recordCount()), 6);
            must(p.addRecords(std::vector{of(6, 99, "direct"), of(7, 80, "gemm")}));
            QCOMPARE(costs(must(p.best())), (std::vector<double>{80, 90, 92})); // newer ones compete
            std::vector<double> running;
            must(p.forEachContender("conv", "", {"", 0}, [&running](const Record& r) {
                running.push_back(r.result.meanNs());
                return true;
            }));
            QCOMPARE(running, (std::vector<double>{80, 90, 92, 95, 99}));
            must(p.addRecords(std::vector{of(8, 85, "gemm", "B"), of(9, 88, "direct", "B")}));
            QCOMPARE(costs(must(p.best())), (std::vector<double>{85, 88, 92}));
            must(p.addRecords(std::vector{of(8, 1, "gemm", "B")})); // known: ignored
            QCOMPARE(must(p.best())[0].costNs, 85.0);
            // Neither a failed final nor one under other conditions says anything.
            Record failed = trial(10, 0, Errc::RunTimeout), cold = of(11, 200, "direct", "C");
            failed.candidate.task = "conv";
            failed.result.conditions = "{\"finals\": \"C\"}";
            cold.result.conditions = "{\"finals\": \"C\", \"cold_bytes\": 4096}";
            must(p.addRecords(std::vector{failed, cold}));
            QCOMPARE(must(p.best({"conv", "", store::Conditions{"", 0}}))[0].costNs, 85.0);
        }
        // A project with these copied in the order of time stands the same.
        {
            Project from = must(Project::open(name, Project::Access::Read));
            for (const bool bestOnly : {false, true}) {
                const auto copy = file(bestOnly ? "finals-best.lathe" : "finals-all.lathe");
                Project to = must(Project::open(copy, Project::Access::Write));
                must(store::copyRecords(from, to, bestOnly));
                QCOMPARE(costs(must(to.best())), costs(must(from.best())));
            }
        }
        auto db = must(store::Database::open(name, store::Database::Mode::ReadWrite));
        must(db.execute("DELETE FROM records WHERE finals = 'B'"));
        {
            const Project p = must(Project::open(name, Project::Access::Read));
            QCOMPARE(costs(must(p.best({"conv", "", store::Conditions{"", 0}}))), (std::vector<double>{80, 90, 92}));
        }
        must(db.execute("DELETE FROM records WHERE finals = 'A'"));
        const Project p = must(Project::open(name, Project::Access::Read));
        QCOMPARE(costs(must(p.best({"conv", "", store::Conditions{"", 0}}))), (std::vector<double>{50, 60, 70}));
    }

    void aPartOfTheHistoryHasTheSameRule()
    {
        const auto name = file("range.lathe");
        const auto of = [](int i, double ns, std::int64_t session, const char* finals = "") {
            Record r = trial(i, ns);
            r.session = session;
            r.result.costsNs = {ns};
            r.candidate.task = "conv";
            r.result.conditions = *finals == '\0' ? "{}" : std::string("{\"finals\": \"") + finals + "\"}";
            return r;
        };
        {
            Project p = must(Project::open(name, Project::Access::Write));
            must(p.addRecords(std::vector{of(0, 50, 1), of(1, 70, 1), of(2, 90, 1, "A"), of(3, 95, 1, "A"),
                                          of(4, 93, 2), of(5, 40, 2)}));
        }
        const auto reader = must(store::RecordReader::open(name));
        const auto first = [&reader](std::int64_t run, std::int64_t untilMs) {
            return must(store::bestIn(reader, {run, untilMs})).at(0).costNs;
        };
        QCOMPARE(first(0, 0), 40.0);
        QCOMPARE(first(1, 0), 90.0);
        QCOMPARE(first(2, 0), 40.0);
        QCOMPARE(first(0, 1700000000000 + 1), 50.0); // before there were finals
        QCOMPARE(first(0, 1700000000000 + 4), 90.0);
        QCOMPARE(must(store::totalsIn(reader, {1, 0})).at("conv").trials, 2);
    }

    void aSecondWriterGetsItReadOnlyAndIsToldWhy()
    {
        Project first = must(Project::open(file("c.lathe"), Project::Access::Write));
        Project second = must(Project::open(file("c.lathe"), Project::Access::Write));
        QVERIFY(!first.readOnly());
        QVERIFY(second.readOnly());
        const auto who = QStringLiteral("(process %1 on ").arg(QCoreApplication::applicationPid());
        const QString why = QString::fromStdString(second.readOnlyReason());
        QVERIFY2(why.contains(who) && why.endsWith("is writing to it"), qPrintable(why));
        const auto holder = Project::writerOf(file("c.lathe"));
        QVERIFY(holder && holder->pid == QCoreApplication::applicationPid() && holder->program == "store_tests");
        must(first.addRecords(std::vector{trial(0, 1)}));
        QCOMPARE(must(second.recordCount()), 1);
    }

    void whatWasAcknowledgedSurvivesKill()
    {
        int pipes[2];
        QCOMPARE(::pipe(pipes), 0);
        const pid_t child = ::fork();
        if (child == 0) {
            auto p = Project::open(file("d.lathe"), Project::Access::Write);
            for (int i = 0; p; ++i) {
                if (!p->addRecords(std::vector{trial(i, i + 1)}))
                    break;
                if (::write(pipes[1], &i, sizeof i) != sizeof i)
                    break;
            }
            ::_exit(1);
        }
        ::close(pipes[1]);
        int last = -1;
        for (int n = 0; n < 20; ++n)
            QCOMPARE(::read(pipes[0], &last, sizeof last), static_cast<ssize_t>(sizeof last));
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
        while (::read(pipes[0], &last, sizeof last) == sizeof last) {
        }
        ::close(pipes[0]);
        Project p = must(Project::open(file("d.lathe"), Project::Access::Write));
        QVERIFY2(!p.readOnly(), "the dead writer's lock must be gone");
        QVERIFY(must(p.recordCount()) >= last + 1);
    }

    void otherFilesAreRefused_data()
    {
        QTest::addColumn<QByteArray>("contents");
        QTest::addColumn<int>("code");
        QTest::newRow("text") << QByteArray(4096, 'x') << int(Errc::BadFile);
        QTest::newRow("truncated") << QByteArray("SQLite format 3\0garbage after the magic", 39) << int(Errc::BadFile);
    }
    void otherFilesAreRefused()
    {
        QFETCH(QByteArray, contents);
        QFETCH(int, code);
        {
            std::ofstream out(file("e.lathe"), std::ios::binary | std::ios::trunc);
            out.write(contents.data(), contents.size());
        }
        auto p = Project::open(file("e.lathe"), Project::Access::Write);
        QVERIFY(!p);
        QCOMPARE(int(p.error().code), code);
        std::ifstream in(file("e.lathe"), std::ios::binary);
        const std::string after((std::istreambuf_iterator<char>(in)), {});
        QCOMPARE(QByteArray::fromStdString(after), contents); // untouched
    }

    void aNewerSchemaIsRefused()
    {
        {
            Project p = must(Project::open(file("f.lathe"), Project::Access::Write));
        }
        {
            auto db = must(store::Database::open(file("f.lathe"), store::Database::Mode::ReadWrite));
            must(db.execute("PRAGMA user_version=99"));
        }
        for (const auto access : {Project::Access::Write, Project::Access::Read}) {
            auto p = Project::open(file("f.lathe"), access);
            QVERIFY(!p);
            QVERIFY(p.error().code == Errc::Incompatible);
            QCOMPARE(p.error().message, file("f.lathe").string()
                                            + " was written by a newer Lathe (schema 99; this version reads up to "
                                            + std::to_string(store::kSchemaVersion) + ")");
        }
        auto db = must(store::Database::open(file("f.lathe"), store::Database::Mode::ReadOnly)); // left as it was
        auto version = must(store::Statement::prepare(db, "PRAGMA user_version"));
        QVERIFY(must(version.step()));
        QCOMPARE(version.integer(0), std::int64_t{99});
    }

    void aSchemaThatNoLatheWroteIsRefused()
    {
        must(Project::open(file("i.lathe"), Project::Access::Write));
        for (const char* version : {"0", "-3"}) {
            must(must(store::Database::open(file("i.lathe"), store::Database::Mode::ReadWrite))
                     .execute(std::string("PRAGMA user_version=") + version));
            for (const auto access : {Project::Access::Write, Project::Access::Read}) {
                auto p = Project::open(file("i.lathe"), access);
                QVERIFY(!p);
                QVERIFY(p.error().code == Errc::BadFile);
            }
        }
    }

    void aProjectThatWasCutOffIsRefusedAndLeftAlone()
    {
        must(must(Project::open(file("j.lathe"), Project::Access::Write)).addRecords(std::vector{trial(0, 1)}));
        const auto whole = std::filesystem::file_size(file("j.lathe"));
        for (const auto cut : {std::uintmax_t{1}, std::uintmax_t{4000}, std::uintmax_t{4096}, whole / 2}) {
            std::filesystem::copy_file(file("j.lathe"), file("k.lathe"),
                                       std::filesystem::copy_options::overwrite_existing);
            std::filesystem::resize_file(file("k.lathe"), whole - cut);
            for (const auto access : {Project::Access::Write, Project::Access::Read}) {
                auto p = Project::open(file("k.lathe"), access);
                QVERIFY2(!p, qPrintable(QString::number(cut)));
                QVERIFY(p.error().code == Errc::BadFile);
            }
            QCOMPARE(std::filesystem::file_size(file("k.lathe")), whole - cut);
        }
    }

    void aReaderLeavesNothingBesideTheProject()
    {
        must(must(Project::open(file("l.lathe"), Project::Access::Write)).addRecords(std::vector{trial(0, 1)}));
        const auto beside = [this] {
            return std::filesystem::exists(file("l.lathe-wal")) || std::filesystem::exists(file("l.lathe-shm"));
        };
        {
            const Project p = must(Project::open(file("l.lathe"), Project::Access::Read));
            QCOMPARE(must(p.recordCount()), 1);
        }
        QVERIFY(!beside());
        Project writer = must(Project::open(file("l.lathe"), Project::Access::Write));
        must(writer.addRecords(std::vector{trial(1, 1)}));
        {
            const Project p = must(Project::open(file("l.lathe"), Project::Access::Read));
            QCOMPARE(must(p.recordCount()), 2);
        }
        QVERIFY(beside()); // it is the writer's
        must(writer.addRecords(std::vector{trial(2, 1)}));
        QCOMPARE(must(writer.recordCount()), 3);
    }

    void aProjectThatWasOverwrittenInTheMiddleIsSaidAndLeftAlone()
    {
        {
            Project p = must(Project::open(file("m.lathe"), Project::Access::Write));
            for (int i = 0; i < 400; ++i)
                must(p.addRecords(std::vector{trial(i, i + 1)}));
        }
        const auto size = std::filesystem::file_size(file("m.lathe"));
        const auto read = [this] {
            std::ifstream in(file("m.lathe"), std::ios::binary);
            return std::string((std::istreambuf_iterator<char>(in)), {});
        };
        { // the second half, page for page
            std::fstream out(file("m.lathe"), std::ios::binary | std::ios::in | std::ios::out);
            out.seekp(static_cast<std::streamoff>(size / 2 / 4096 * 4096));
            out << std::string(size - size / 2 / 4096 * 4096, '\x5a');
        }
        const std::string before = read();
        {
            const Project p = must(Project::open(file("m.lathe"), Project::Access::Read));
            const auto records = p.sessionRecords(1);
            QVERIFY(!records);
            QVERIFY(records.error().code == Errc::BadFile);
            QCOMPARE(records.error().message, "reading " + file("m.lathe").string() + ": the file is damaged");
        }
        {
            Project p = must(Project::open(file("m.lathe"), Project::Access::Write));
            const auto added = p.addRecords(std::vector{trial(1000, 1)});
            QVERIFY(!added);
            QVERIFY(added.error().code == Errc::BadFile);
        }
        QVERIFY(read() == before);
    }

    void placesWithoutAProjectAreNamed()
    {
        auto p = Project::open(file("nowhere.lathe"), Project::Access::Read);
        QVERIFY(!p);
        QVERIFY(p.error().code == Errc::NotFound);
        QVERIFY(!std::filesystem::exists(file("nowhere.lathe")));
        p = Project::open(file("no/folder.lathe"), Project::Access::Write);
        QVERIFY(!p);
        QVERIFY(p.error().code == Errc::NotFound);
        p = Project::open(m_dir.path().toStdString(), Project::Access::Write);
        QVERIFY(!p);
        QVERIFY(p.error().code == Errc::BadFile);
    }

    void aProjectIsReadWhereNothingCanBeWritten()
    {
        const auto name = file("read ?#%.lathe");
        must(must(Project::open(name, Project::Access::Write)).addRecords(std::vector{trial(0, 1)}));
        // Whoever tests may write anywhere; a link in the place of the file that SQLite wants to make is refused even
        // so.
        std::filesystem::create_symlink("elsewhere", name.string() + "-shm");
        QCOMPARE(must(must(Project::open(name, Project::Access::Read)).recordCount()), 1);
        // What waits in the WAL cannot be read there; that must not go unsaid.
        {
            std::ofstream(name.string() + "-wal") << "something";
        }
        auto p = Project::open(name, Project::Access::Read);
        QVERIFY(!p);
        QVERIFY(p.error().code == Errc::StoreFailed);
    }

    void aGeneThatFitsNoGenomeIsDamage_data()
    {
        QTest::addColumn<QByteArray>("genome");
        for (const char* genome :
             {"[2147483648]", "[-2147483649]", "[18446744073709551615]", "[0.5]", "[\"1\"]", "{}", "["})
            QTest::newRow(genome) << QByteArray(genome);
    }
    void aGeneThatFitsNoGenomeIsDamage()
    {
        QFETCH(QByteArray, genome);
        const auto name = file("genome.lathe");
        std::filesystem::remove(name);
        Project p = must(Project::open(name, Project::Access::Write));
        must(p.addRecords(std::vector{trial(0, 1)}));
        auto db = must(store::Database::open(name, store::Database::Mode::ReadWrite));
        must(db.execute("UPDATE records SET genome = '" + genome.toStdString() + "'"));
        const auto read = p.sessionRecords(1);
        QVERIFY(!read);
        QVERIFY(read.error().code == Errc::BadFile);
    }

    void aFullDiskIsOneSentenceAndLosesNothing()
    {
        must(must(Project::open(file("g.lathe"), Project::Access::Write)).addRecords(std::vector{trial(0, 1)}));
        const pid_t child = ::fork();
        if (child == 0) {
            std::signal(SIGXFSZ, SIG_IGN);
            const rlimit limit{200000, 200000};
            ::setrlimit(RLIMIT_FSIZE, &limit);
            auto p = Project::open(file("g.lathe"), Project::Access::Write);
            if (!p)
                ::_exit(2);
            for (int i = 1; i < 5000; ++i)
                if (auto added = p->addRecords(std::vector{trial(i, i)}); !added)
                    ::_exit(added.error().code == Errc::StoreFailed
                                    && added.error().message.find('\n') == std::string::npos
                                ? 0
                                : 3);
            ::_exit(4);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        QCOMPARE(WEXITSTATUS(status), 0);
        QVERIFY(must(must(Project::open(file("g.lathe"), Project::Access::Read)).recordCount()) > 1);
    }

    void sessionsRoundsEventsAndSnapshotsComeBack()
    {
        Project p = must(Project::open(file("h.lathe"), Project::Access::Write));
        const auto model = must(p.addModel({0, "hash", "zoo:mlp", "mlp", "{}"}));
        QCOMPARE(must(p.addModel({0, "hash", "zoo:mlp", "mlp", "{}"})), model);
        must(p.addTasks(model, {{"even", "dense", 2, 10, "[]"}}));
        QCOMPARE(must(p.tasks(model)).at(0).weight, 2);
        const auto session = must(p.addSession({0, model, "cpu", "{}", 5, 0, "running"}));
        must(p.addRound({session, 0, "even", 4, "{}", "{}", 1.5, store::SessionRow{}.activeSeconds + 2.5}));
        must(p.updateSession(session, "stopped", 7.25));
        must(p.addEvent(session, 0.5, "measured", "{\"ms\":1}"));
        must(p.putSnapshot(session, "model", 3, std::as_bytes(std::span("abc", 3))));
        QCOMPARE(must(p.sessions()).at(0).activeSeconds, 7.25);
        QCOMPARE(must(p.rounds(session)).at(0).estimateMs, 2.5);
        int events = 0;
        must(p.forEachEvent(session, [&](std::string_view kind, double at, std::string_view) {
            events += kind == "measured" && at == 0.5;
        }));
        QCOMPARE(events, 1);
        QCOMPARE(must(p.snapshot(session, "model"))->size(), std::size_t{3});
        QVERIFY(!must(p.snapshot(session, "other")));
        must(p.setNote("even", "slow on Tuesdays"));
        QCOMPARE(must(p.note("even")), std::string("slow on Tuesdays"));
    }
};

LATHE_TEST(TestProject)

} // namespace tst_project

#include "tst_project.moc"
