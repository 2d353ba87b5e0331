#include "tests/support/command_line.h"
#include "tests/support/test_program.h"

#include <QCoreApplication>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>

namespace tst_cli_project {

/// lathe-cli on a project: tune in words, replay, budgets, hardware parameters. On the simulated device.
class TestCliProject : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;
    QList<QJsonObject> m_live; ///< what tune told
    using Output = lathe::test::CliOutput;
    Output cli(const QStringList& words) const { return lathe::test::runCli(m_dir.path(), words); }
    /// Objects of the lines, states left out: when they come depends on who watches.
    static QList<QJsonObject> lines(const QByteArray& out)
    {
        QList<QJsonObject> objects;
        for (const QByteArray& line : out.split('\n'))
            if (const QJsonObject object = QJsonDocument::fromJson(line).object();
                !object.isEmpty() && object["event"] != QLatin1String("state"))
                objects << object;
        return objects;
    }

private slots:
    void initTestCase()
    {
        QFile board(m_dir.filePath("board.txt"));
        QVERIFY(board.open(QIODevice::WriteOnly));
        board.write("# smaller\nl2_bytes = 65536\n");
        board.close();
        const Output tuned = cli({"tune", "zoo:mlp", "--target", "sim", "--project", "p.lathe", "--budget",
                                  "1 h, 40 trials", "--trials-per-round", "8", "--hardware", "board.txt", "--json"});
        QVERIFY2(tuned.code == 0, tuned.err);
        m_live = lines(tuned.out);
        QVERIFY(m_live.size() > 40);
        QCOMPARE(m_live.last()["trials"].toInt(), 40);
    }

    /// As a program leaves it that is killed when it has just made it.
    void aProjectThatNothingWasWrittenToIsANewOne()
    {
        QFile empty(m_dir.filePath("empty.lathe"));
        QVERIFY(empty.open(QIODevice::WriteOnly));
        empty.close();
        const Output listed = cli({"records", "list", "empty.lathe"});
        QCOMPARE(listed.code != 0, true);
        QVERIFY2(listed.err.contains("is empty"), listed.err);
        const Output resumed = cli({"tune", "zoo:mlp", "--project", "empty.lathe", "--resume"});
        QVERIFY2(resumed.code != 0 && resumed.err.count('\n') == 1, resumed.err);
        QFile::resize(m_dir.filePath("empty.lathe"), 0);
        const Output tuned = cli({"tune", "zoo:mlp", "--target", "sim", "--project", "empty.lathe", "--trials", "4"});
        QVERIFY2(tuned.code == 0, tuned.err);
    }

    void weightsAreListedAndSaved()
    {
        const Output listed = cli({"weights", "zoo:mlp", "--target", "sim", "--json"});
        QVERIFY2(listed.code == 0, listed.err);
        const QJsonArray weights = QJsonDocument::fromJson(listed.out).object()["weights"].toArray();
        QVERIFY(weights.size() >= 3);
        const QJsonObject first = weights.first().toObject();
        QCOMPARE(first["name"].toString(), QStringLiteral("fc1_weight"));
        QCOMPARE(first["shape"].toArray(), (QJsonArray{128, 784}));
        QCOMPARE(first["count"].toInt(), 128 * 784);
        QCOMPARE(first["nans"].toInt(), 0);
        QVERIFY(first["min"].toDouble() < first["mean"].toDouble()
                && first["mean"].toDouble() < first["max"].toDouble());
        const Output table = cli({"weights", "zoo:mlp", "--target", "sim"});
        QVERIFY2(table.code == 0 && table.out.contains("fc1_weight") && table.out.contains("128x784"), table.out);
        const Output saved = cli({"weights", "zoo:mlp", "--target", "sim", "--save", "fc1_weight=w.npy"});
        QVERIFY2(saved.code == 0, saved.err);
        QFile file(m_dir.filePath("w.npy"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        QCOMPARE(file.size(), qint64{128 + 128 * 784 * 4});
        const Output wrong = cli({"weights", "zoo:mlp", "--target", "sim", "--save", "nothing=w.npy"});
        QVERIFY(wrong.code != 0 && wrong.err.contains("nothing=w.npy"));
    }

    void aReplayPrintsWhatTunePrinted()
    {
        const Output replayed = cli({"replay", "p.lathe", "--speed", "1000000", "--json"});
        QVERIFY2(replayed.code == 0, replayed.err);
        const QList<QJsonObject> again = lines(replayed.out);
        for (qsizetype i = 0; i < std::min(again.size(), m_live.size()); ++i)
            QCOMPARE(QJsonDocument(again[i]).toJson(), QJsonDocument(m_live[i]).toJson());
        QCOMPARE(again.size(), m_live.size());
    }

    /// What a device cannot run goes to no builder: tune says how much that was, in words and for programs.
    void whatTheDeviceCannotRunIsCounted()
    {
        QFile few(m_dir.filePath("few.txt"));
        QVERIFY(few.open(QIODevice::WriteOnly));
        few.write("max_threads_per_block = 8\n");
        few.close();
        const QStringList words{"tune",       "zoo:mlp",  "--target", "sim -like=cuda",     "--policy",
                                "reference",  "--trials", "8",        "--trials-per-round", "4",
                                "--hardware", "few.txt"};
        const Output told = cli(words + QStringList{"--project", "few.lathe", "--json"});
        QVERIFY2(told.code == 0, told.err);
        int rejected = 0;
        for (const QJsonObject& event : lines(told.out))
            rejected += event["event"] == QLatin1String("round_done") ? event["rejected"].toInt() : 0;
        QVERIFY2(rejected > 0, told.out);
        QCOMPARE(lines(told.out).last()["rejected"].toInt(), rejected);
        const Output replayed = cli({"replay", "few.lathe", "--speed", "1000000"});
        QVERIFY2(replayed.out.contains("\n" + QByteArray::number(rejected)
                                       + " candidates were rejected before building: by the rules of their space, or "
                                         "the limits of the device\n"),
                 replayed.out);
        QVERIFY2(!cli({"replay", "p.lathe", "--speed", "1000000"}).out.contains("rejected"), "where none was");
    }

    void aRunEndsWithAVerdict()
    {
        const auto verdict = std::ranges::find(m_live, QStringLiteral("verdict"),
                                               [](const QJsonObject& event) { return event["event"].toString(); });
        QVERIFY(verdict != m_live.end());
        QCOMPARE((*verdict)["believable"].toBool(), false); // a simulator's networks are not timed: nothing is proven
        QCOMPARE((*verdict)["gain"].toObject()["verdict"].toString(), QString("unknown"));
        QVERIFY((*verdict)["findings"].isArray());
        const Output refused = cli({"gain", "p.lathe"});
        QVERIFY2(refused.code != 0 && refused.err.contains("cannot be timed on this machine"), refused.err);
        QVERIFY(cli({"gain", "none.lathe"}).code != 0);
        QVERIFY(!QFile::exists(m_dir.filePath("none.lathe")));
    }

    void aResumedRunHasItsBudgetOnTop()
    {
        const QStringList begin{"tune", "zoo:mlp", "--target", "sim", "--project", "more.lathe", "--trials-per-round",
                                "8",    "--json"};
        const Output first = cli(begin + QStringList{"--trials", "16"});
        QVERIFY2(first.code == 0, first.err);
        const Output more = cli(
            {"tune", "zoo:mlp", "--target", "sim", "--project", "more.lathe", "--resume", "--trials", "8", "--json"});
        QVERIFY2(more.code == 0, more.err);
        QCOMPARE(lines(more.out).last()["trials"].toInt(), 24);
        // Without one it has what was left: nothing, and it says so.
        const Output none = cli(
            {"tune", "zoo:mlp", "--target", "sim", "--project", "more.lathe", "--resume", "--json"});
        QVERIFY2(none.code == 0, none.err);
        QCOMPARE(lines(none.out).last()["trials"].toInt(), 24);
        QVERIFY2(none.out.contains("the run's budget is used up"), none.out);
    }

    void aSchedulerIsChosen()
    {
        const Output tuned = cli({"tune", "zoo:mlp", "--target", "sim", "--trials", "48", "--trials-per-round", "8",
                                  "--scheduler", "round-robin", "--json"});
        QVERIFY2(tuned.code == 0, tuned.err);
        QList<int> tasks;
        for (const QJsonObject& event : lines(tuned.out))
            if (event["event"] == QLatin1String("round")) {
                tasks << event["task"].toInt();
                QVERIFY(event["terms"].toObject().contains("rounds")); // what this scheduler decides by
            }
        const auto count = *std::max_element(tasks.begin(), tasks.end()) + 1;
        QVERIFY(count >= 2 && tasks.size() >= 2 * count); // first rounds are short
        for (qsizetype i = 0; i < tasks.size(); ++i)
            QCOMPARE(tasks[i], static_cast<int>(i) % count);
        const Output refused = cli({"tune", "zoo:mlp", "--target", "sim", "--trials", "8", "--scheduler", "lottery"});
        QVERIFY(refused.code != 0 && refused.err.contains("lottery"));
    }

    void theManPageIsOneThatManCanRead()
    {
        const Output page = cli({"--man-page"});
        QVERIFY2(page.code == 0 && page.out.startsWith(".TH LATHE"), page.err);
        for (const char* command :
             {"tasks", "tune", "compile", "run", "bench", "verify", "records list", "compare", "gate", "budget",
              "replay", "gain", "report", "roofline", "weights", "zoo export", "devices"})
            QVERIFY2(page.out.contains(QByteArray("\n.SS ") + command + '\n'), command);
        QVERIFY(!page.out.contains("man\\-page")); // for packages alone
        QProcess groff;
        groff.start("groff", {"-man", "-Tutf8", "-ww", "-z"});
        if (!groff.waitForStarted())
            QSKIP("there is no groff here to read it");
        groff.write(page.out);
        groff.closeWriteChannel();
        QVERIFY(groff.waitForFinished());
        QCOMPARE(groff.readAllStandardError(), QByteArray());
    }

    void whatCannotBeReplayedIsRefused()
    {
        QVERIFY(cli({"replay", "p.lathe", "--run", "9"}).err.contains("no run 9"));
        QVERIFY(cli({"replay", "none.lathe"}).code != 0);
        QVERIFY(cli({"replay", "p.lathe", "--speed", "0"}).code != 0);
        QVERIFY(!QFile::exists(m_dir.filePath("none.lathe")));
    }

    void budgetsAreListedAndChanged()
    {
        const Output changed = cli({"budget", "p.lathe", "0", "--pin", "on", "--cap", "100", "--boost", "2", "--json"});
        QVERIFY2(changed.code == 0, changed.err);
        const Output muted = cli({"budget", "p.lathe", "0", "--mute", "on", "--json"});
        QVERIFY2(muted.code == 0, muted.err);
        const Output listed = cli({"budget", "p.lathe", "--json"});
        QVERIFY2(listed.code == 0, listed.err);
        const QJsonArray rows = QJsonDocument::fromJson(listed.out).array();
        QVERIFY(rows.size() >= 2);
        QCOMPARE(rows[0]["muted"].toBool(), true);
        QCOMPARE(rows[0]["pinned"].toBool(), false); // one excludes the other
        QCOMPARE(rows[0]["trial_cap"].toInt(), 100);
        QCOMPARE(rows[0]["boost"].toDouble(), 2.0);
        QCOMPARE(rows[1]["muted"].toBool(), false);
        QVERIFY(cli({"budget", "p.lathe", "wings", "--pin", "on"}).code != 0);
        QVERIFY(cli({"budget", "p.lathe", "--pin", "on"}).err.contains("which task"));
        QVERIFY(cli({"budget", "p.lathe", "0", "--boost", "-1"}).code != 0);
        QVERIFY(cli({"budget", "none.lathe"}).code != 0);
        QVERIFY(!QFile::exists(m_dir.filePath("none.lathe")));
    }

    void logsAreImportedWithACountOfWhatWasReadAndSkipped()
    {
        const Output exported = cli({"records", "export", "p.lathe", "-o", "own.jsonl", "--format", "lathe"});
        QVERIFY2(exported.code == 0, exported.err);
        QFile own(m_dir.filePath("own.jsonl"));
        QVERIFY(own.open(QIODevice::ReadOnly));
        const auto records = static_cast<int>(own.readAll().count('\n')); // trials of the search, and finals
        QVERIFY(records >= 40);
        QVERIFY(cli({"records", "export", "p.lathe", "-o", "ref.log"}).code == 0);
        const Output made = cli(
            {"tune", "zoo:mlp", "--target", "sim", "--project", "q.lathe", "--trials", "1", "--json"});
        QVERIFY2(made.code == 0, made.err);

        const Output imported = cli({"records", "import", "q.lathe", "own.jsonl", "ref.log", "--json"});
        QVERIFY2(imported.code == 0, imported.err);
        const QJsonObject done = QJsonDocument::fromJson(imported.out).object();
        const int foreign = done["foreign"].toInt();
        QVERIFY2(foreign >= 1, imported.out);
        QCOMPARE(done["taken"].toInt(), records + foreign);
        QCOMPARE(done["lines"].toInt(), records + foreign);
        QVERIFY(done["tasks"].toInt() >= 2);
        QVERIFY(done["skipped"].toArray().isEmpty());
        const Output again = cli({"records", "import", "q.lathe", "own.jsonl"});
        const QByteArray said = QStringLiteral(
                                    "lines: %1 read, 0 imported as records of 0 tasks, %1 already present, 0 skipped")
                                    .arg(records)
                                    .toUtf8();
        QVERIFY2(again.out.contains(said), again.out);

        // What was measured elsewhere is listed as that, and measured here when somebody asks for it.
        QVERIFY(cli({"records", "best", "q.lathe"}).out.contains("(imported: sim"));
        const Output measured = cli({"records", "remeasure", "q.lathe", "--imported", "--json"});
        QVERIFY2(measured.code == 0, measured.err);
        const QJsonArray rows = QJsonDocument::fromJson(measured.out).array();
        QVERIFY(!rows.isEmpty());
        for (const QJsonValue& row : rows)
            QCOMPARE(row["status"].toString(), QStringLiteral("Ok"));
    }

    void logsThatHoldNothingAreRefused()
    {
        QFile words(m_dir.filePath("words.log"));
        QVERIFY(words.open(QIODevice::WriteOnly));
        words.write("Best: 3 ms\nBest: 2 ms\n");
        words.close();
        const Output refused = cli({"records", "import", "p.lathe", "words.log"});
        QCOMPARE(refused.code, 1);
        QVERIFY2(refused.out.contains("2 skipped: not JSON (first: words.log:1)"), refused.out);
        QVERIFY2(refused.err.contains("no line could be taken"), refused.err);
        QVERIFY(cli({"records", "import", "p.lathe", "none.log"}).err.contains("there is no file"));
        QVERIFY(cli({"records", "import", "none.lathe", "words.log"}).err.contains("there is no project"));
        QVERIFY(!QFile::exists(m_dir.filePath("none.lathe")));
        QVERIFY(
            cli({"records", "remeasure", "p.lathe", "--imported"}).err.contains("no valid record of an imported log"));
    }

    void budgetsInWordsAndHardwareAreRefusedInOneSentence_data()
    {
        QTest::addColumn<QStringList>("words");
        QTest::addColumn<QByteArray>("says");
        QTest::newRow("not a budget") << QStringList{"--budget", "soon"} << QByteArray("'soon' is not a budget");
        QTest::newRow("twice") << QStringList{"--budget", "20 min", "--time", "5m"} << QByteArray("leave out --time");
        QTest::newRow("nothing") << QStringList() << QByteArray("say how long");
        QTest::newRow("no device") << QStringList{"--trials", "1", "--hardware", "abacus"}
                                   << QByteArray("neither a file nor a CPU");
    }
    void budgetsInWordsAndHardwareAreRefusedInOneSentence()
    {
        QFETCH(QStringList, words);
        QFETCH(QByteArray, says);
        const Output refused = cli(QStringList{"tune", "zoo:mlp", "--target", "sim"} + words);
        QCOMPARE(refused.code, 1);
        QVERIFY2(refused.err.contains(says), refused.err);
        QCOMPARE(refused.err.count('\n'), 1);
    }
};

LATHE_TEST_GUILESS(TestCliProject)

} // namespace tst_cli_project

#include "tst_cli_project.moc"
