#include "tests/support/command_line.h"
#include "tests/support/nats_server.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>

#include <csignal>
#include <memory>

namespace tst_cli_farm {

/// A farm as people bring it up: a tracker, runners, and runs that measure there.
class TestCliFarm : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;
    QString m_broker;
    using Output = lathe::test::CliOutput;
    using Program = std::unique_ptr<QProcess>;

    Output cli(const QStringList& words) const { return lathe::test::runCli(m_dir.path(), words, 300); }
    Program start(const QString& name, const QStringList& words) const
    {
        auto process = std::make_unique<QProcess>();
        process->setWorkingDirectory(m_dir.path());
        process->setProcessChannelMode(QProcess::ForwardedErrorChannel);
        process->start(QCoreApplication::applicationDirPath() + "/../bin/" + name, words);
        return process;
    }
    /// Asked to, it ends in order.
    static bool ends(const Program& program)
    {
        ::kill(static_cast<pid_t>(program->processId()), SIGTERM);
        return program->waitForFinished(60000) && program->exitStatus() == QProcess::NormalExit
               && program->exitCode() == 0;
    }
    QJsonArray devices(const QStringList& more = {}) const
    {
        return QJsonDocument::fromJson(cli(QStringList{"devices", "--broker", m_broker, "--json"} + more).out)
            .object()["devices"]
            .toArray();
    }
    bool isThere(int count, const QStringList& more = {}) const
    {
        for (int i = 0; i < 20; ++i)
            if (devices(more).size() == count)
                return true;
        return false;
    }
    Program tracker(const QStringList& more = {})
    {
        auto program = start("lathe-cli", QStringList{"tracker", "--folder", "farm", "--listen", m_broker} + more);
        return program->waitForReadyRead(60000) ? std::move(program) : nullptr;
    }

private slots:
    void init() { m_broker = "127.0.0.1:" + QString::number(lathe::test::NatsServer().port()); }

    void aRunMeasuresOnAllDevicesOfAKey()
    {
        const Program broker = tracker();
        QVERIFY(broker);
        const Program first = start("lathe-runner", {"--broker", m_broker, "--key", "board", "--name", "cli1"});
        const Program second = start(
            "lathe-runner", {"--broker", m_broker, "--key", "board", "--name", "cli2", "--audit", "audit.jsonl"});
        QVERIFY(isThere(2));
        const Output tuned = cli({"tune", "zoo:mlp", "--target", "sim", "--project", "mlp.lathe", "--broker", m_broker,
                                  "--device", "board", "--trials", "24", "--trials-per-round", "8"});
        QVERIFY2(tuned.code == 0, tuned.err);
        const QByteArray said = tuned.out + tuned.err;
        QVERIFY2(said.contains("cli1 measures for this run"), said);
        const Output best = cli({"records", "best", "mlp.lathe"});
        QVERIFY2(best.code == 0 && best.out.count('\n') > 3, best.out + best.err);
        // The devices were looked at in between.
        const Output records = cli({"records", "export", "mlp.lathe", "--format", "jsonl", "-o", "records.jsonl"});
        QVERIFY2(records.code == 0, records.err);
        QFile exported(m_dir.filePath("records.jsonl"));
        QVERIFY(exported.open(QIODevice::ReadOnly) && exported.readAll().contains("probe_drift"));
        const Output compared = cli({"compare", "mlp.lathe", "mlp.lathe,device=board"});
        QVERIFY2(compared.code == 0 && compared.out.contains("[B] mlp.lathe,device=board"),
                 compared.out + compared.err);
        const Output alone = cli({"compare", "mlp.lathe", "--devices"});
        QVERIFY2(alone.code == 1 && alone.err.contains("several devices"), alone.err);
        const Output twice = cli({"compare", "mlp.lathe", "mlp.lathe,run=1", "--devices"});
        QVERIFY2(twice.code == 0 && twice.out.contains("[A] mlp.lathe,device=board")
                     && twice.out.contains("[B] mlp.lathe,run=1,device=board"),
                 twice.out + twice.err);
        const Output nobody = cli({"compare", "mlp.lathe", "mlp.lathe,device=other"});
        QVERIFY2(nobody.code == 1 && nobody.err.contains("no trials of a device other"), nobody.err);
        // It goes on at the same broker without being told.
        const Output resumed = cli({"tune", "--project", "mlp.lathe", "--resume", "--trials", "8"});
        QVERIFY2(resumed.code == 0, resumed.err);
        QVERIFY2((resumed.out + resumed.err).contains(" measures for this run"), resumed.out + resumed.err);
        QVERIFY(ends(second));
        QFile audit(m_dir.filePath("audit.jsonl"));
        QVERIFY(audit.open(QIODevice::ReadOnly));
        const QByteArray lines = audit.readAll();
        QVERIFY2(lines.contains("\"lease\"") && lines.contains("\"program\"") && lines.contains("\"end\""), lines);
        QVERIFY(ends(first));
        QVERIFY(ends(broker));
    }

    void devicesDoWhatTheyAreTold()
    {
        const Program broker = tracker();
        QVERIFY(broker);
        const Program first = start("lathe-runner", {"--broker", m_broker, "--key", "board", "--name", "cli5"});
        const Program second = start("lathe-runner", {"--broker", m_broker, "--key", "board", "--name", "cli6"});
        QVERIFY(isThere(2));
        const auto devices = [&](const QStringList& words) {
            return cli(QStringList{"devices"} + words + QStringList{"--broker", m_broker});
        };
        const Output tested = devices({"test", "cli5", "--target", "sim"});
        QVERIFY2(tested.code == 0 && tested.out.contains("cli5 sim: a kernel was built"), tested.out + tested.err);
        QCOMPARE(devices({"drain", "cli5", "cli6"}).code, 0);
        QVERIFY(devices({}).out.count("drained") >= 4); // in the table, and by whom
        const Output resumed = devices({"resume", "cli5"});
        QVERIFY2(resumed.code == 0 && resumed.out.contains("again"), resumed.out + resumed.err);
        const Output removed = devices({"remove", "cli6"});
        QVERIFY2(removed.code == 0, removed.err);
        QVERIFY(second->waitForFinished(30000));
        QCOMPARE(second->exitCode(), 0);
        const Output left = devices({});
        QVERIFY2(left.out.contains("cli5") && !left.out.contains("cli6") && !left.out.contains("drained"), left.out);
        const Output nobody = devices({"drain", "cli7"});
        QVERIFY2(nobody.code == 1 && nobody.err.contains("cli7") && nobody.err.count('\n') == 1, nobody.err);
        QVERIFY(ends(first));
        QVERIFY(ends(broker));
    }

    void whatIsWrongIsSaidInOneSentence_data()
    {
        QTest::addColumn<QStringList>("words");
        QTest::addColumn<QByteArray>("says");
        const QStringList tune = {"tune", "zoo:mlp", "--target", "sim", "--trials", "8"};
        QTest::newRow("no key") << tune + QStringList{"--broker", "BROKER"} << QByteArray("--device KEY");
        QTest::newRow("two keys") << tune + QStringList{"--broker", "BROKER", "--device", "a", "--device", "b"}
                                  << QByteArray("a or b");
        QTest::newRow("nobody has the key")
            << tune + QStringList{"--broker", "BROKER", "--device", "rasp"} << QByteArray("board");
        QTest::newRow("no broker") << tune + QStringList{"--broker", "127.0.0.1:1", "--device", "board"}
                                   << QByteArray("cannot be reached");
        QTest::newRow("no address") << tune + QStringList{"--broker", "there", "--device", "board"}
                                    << QByteArray("HOST:PORT");
        QTest::newRow("no token") << tune + QStringList{"--broker", "BROKER", "--device", "board", "--creds", "none"}
                                  << QByteArray("none");
        QTest::newRow("a library, no key")
            << QStringList{"bench", "zoo:mlp", "--broker", "BROKER"} << QByteArray("--device KEY");
    }
    void whatIsWrongIsSaidInOneSentence()
    {
        QFETCH(QStringList, words);
        QFETCH(QByteArray, says);
        const Program broker = tracker();
        QVERIFY(broker);
        const Program runner = start("lathe-runner", {"--broker", m_broker, "--key", "board", "--name", "cli3"});
        if (says == "board")
            QVERIFY(isThere(1));
        const Output output = cli(words.replaceInStrings("BROKER", m_broker));
        QCOMPARE(output.code, 1);
        QVERIFY2(output.err.contains(says) && output.err.count('\n') == 1, output.err);
    }

    void membersAloneGetInWhereOthersReachTheBroker()
    {
        const QString port = m_broker.mid(m_broker.indexOf(':'));
        m_broker = "0.0.0.0" + port;
        QVERIFY(!tracker()); // nobody could get in
        QCOMPARE(cli({"tracker", "token", "--user", "ada", "--folder", "farm", "--output", "ada.token"}).code, 0);
        const Program broker = tracker();
        QVERIFY(broker);
        m_broker = "127.0.0.1" + port;
        // Somebody is added while it runs.
        QCOMPARE(cli({"tracker", "token", "--runner", "board", "--folder", "farm", "--output", "board.token"}).code, 0);
        const Program runner = start("lathe-runner", {"--broker", m_broker, "--creds", "board.token"});
        QVERIFY(isThere(1, {"--creds", "ada.token"}));
        QCOMPARE(devices({"--creds", "ada.token"})[0].toObject()["name"].toString(), QString("board-1"));
        const Output stranger = cli({"devices", "--broker", "tls://" + m_broker});
        QVERIFY2(stranger.code == 1, stranger.out);
        const Output tuned = cli({"tune", "zoo:mlp", "--target", "sim", "--project", "secure.lathe", "--broker",
                                  m_broker, "--creds", "ada.token", "--device", "board", "--trials", "8"});
        QVERIFY2(tuned.code == 0, tuned.err);
        const Output wrong = cli({"tune", "zoo:mlp", "--target", "sim", "--broker", m_broker, "--creds", "board.token",
                                  "--device", "board", "--trials", "8"});
        QVERIFY2(wrong.code == 1 && wrong.err.contains("a runner"), wrong.err);
        QVERIFY(ends(runner));
        QVERIFY(ends(broker));
    }

    void librariesRunOnADevice()
    {
#ifdef LATHE_TEST_CPU
        const Program broker = tracker();
        QVERIFY(broker);
        const Program runner = start("lathe-runner", {"--broker", m_broker, "--key", "board", "--name", "cli4"});
        QVERIFY(isThere(1));
        const QStringList there = {"--broker", m_broker, "--device", "board"};
        const Output compiled = cli({"compile", "zoo:mlp", "-o", "libmlp.so", "--allow-default", "--no-bench"});
        QVERIFY2(compiled.code == 0, compiled.err);
        const Output verified = cli(QStringList{"verify", "libmlp.so"} + there);
        QVERIFY2(verified.code == 0, verified.err);
        const Output timed = cli(QStringList{"bench", "libmlp.so", "--json"} + there);
        QVERIFY2(timed.code == 0, timed.err);
        QVERIFY(QJsonDocument::fromJson(timed.out).object()["latency_ms"].toObject()["median"].toDouble() > 0);
        const Output model = cli(QStringList{"bench", "zoo:mlp", "--json"} + there);
        QVERIFY2(model.code == 0, model.err);
        const Output exported = cli(QStringList{"compile", "zoo:mlp", "-o", "libthere.so", "--allow-default", "--json"}
                                    + there);
        QVERIFY2(exported.code == 0, exported.err);
        const QJsonObject report = QJsonDocument::fromJson(exported.out).object();
        QCOMPARE(report["runner"].toString(), QStringLiteral("cli4"));
        QVERIFY(report["latency_ms"].toDouble() > 0 && report["max_rel_error"].isDouble());
        const Output nobody = cli(
            {"compile", "zoo:mlp", "-o", "libno.so", "--allow-default", "--broker", m_broker, "--device", "other"});
        QVERIFY2(nobody.code == 1 && nobody.err.contains("no device offers itself under the key other"), nobody.err);
        QVERIFY(!QFile::exists(m_dir.filePath("libno.so")));
        const Output keyless = cli({"compile", "zoo:mlp", "-o", "libno.so", "--allow-default", "--broker", m_broker});
        QVERIFY2(keyless.code == 1 && keyless.err.contains("--device KEY"), keyless.err);
        QVERIFY(ends(runner));
#else
        QSKIP("built without the CPU's back end");
#endif
    }
};

LATHE_TEST_GUILESS(TestCliFarm)

} // namespace tst_cli_farm

#include "tst_cli_farm.moc"
