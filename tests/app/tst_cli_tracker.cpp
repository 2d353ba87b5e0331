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

namespace tst_cli_tracker {

/// `lathe-cli tracker`, as people type it.
class TestCliTracker : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;
    using Output = lathe::test::CliOutput;
    Output tracker(const QStringList& words) const
    {
        return lathe::test::runCli(m_dir.path(), QStringList{"tracker"} + words + QStringList{"--folder", "farm"});
    }
    QJsonArray members() const { return QJsonDocument::fromJson(tracker({"members", "--json"}).out).array(); }

private slots:
    void itSaysWhereItListensAndEndsWhenItIsTold_data()
    {
        QTest::addColumn<int>("signal");
        QTest::newRow("Ctrl+C") << SIGINT;
        QTest::newRow("a service that is stopped") << SIGTERM;
    }
    void itSaysWhereItListensAndEndsWhenItIsTold()
    {
        QFETCH(int, signal);
        const QString url = "127.0.0.1:" + QString::number(lathe::test::NatsServer().port());
        QProcess process;
        process.setWorkingDirectory(m_dir.path());
        process.start(QCoreApplication::applicationDirPath() + "/../bin/lathe-cli",
                      {"tracker", "--listen", url, "--folder", "farm"});
        QByteArray said;
        while (said.count('\n') < 3 && process.waitForReadyRead(60000))
            said += process.readAllStandardOutput();
        QVERIFY2(said.startsWith(QString("The tracker listens at nats://%1\n").arg(url).toUtf8()),
                 said + process.readAllStandardError());
        QVERIFY(said.contains(QString("lathe-runner --broker nats://%1 --key KEY\n").arg(url).toUtf8()));
        QVERIFY(said.contains(QString("lathe-cli tune MODEL --broker nats://%1 --device KEY\n").arg(url).toUtf8()));
        ::kill(static_cast<pid_t>(process.processId()), signal);
        QVERIFY(process.waitForFinished(60000));
        QCOMPARE(process.exitStatus(), QProcess::NormalExit);
        QCOMPARE(process.exitCode(), 0);
        QCOMPARE(process.readAllStandardError(), QByteArray());
    }

    void tokensAreWrittenListedAndTakenBack()
    {
        const Output made = tracker({"token", "--runner", "rk3399"});
        QVERIFY2(made.code == 0, made.err);
        QVERIFY2(made.out.startsWith(m_dir.filePath("rk3399-1.token").toUtf8() + "\n"), made.out);
        QVERIFY2(made.out.contains(" --key rk3399 --creds rk3399-1.token\n"), made.out);
        QVERIFY(QFile::permissions(m_dir.filePath("rk3399-1.token"))
                == (QFile::ReadOwner | QFile::WriteOwner | QFile::ReadUser | QFile::WriteUser));
        QCOMPARE(tracker({"token", "--user", "ada", "--output", "a.token"}).code, 0);
        QCOMPARE(members().size(), 2);

        const Output again = tracker({"token", "--user", "bob", "--output", "a.token"});
        QVERIFY2(again.code == 1 && again.err.contains("a.token is there already"), again.err);
        const Output nowhere = tracker({"token", "--user", "bob", "--output", "nowhere/b.token"});
        QVERIFY2(nowhere.code == 1 && nowhere.err.contains("cannot write"), nowhere.err);
        QCOMPARE(members().size(), 2); // bob has none, and so is none
        const Output twice = tracker({"token", "--user", "ada"});
        QVERIFY2(twice.code == 1 && twice.err.contains("tracker revoke"), twice.err);

        const Output listed = tracker({"members"});
        QVERIFY2(listed.out.contains("runner    rk3399-1 ") && listed.out.contains("user      ada "), listed.out);
        QVERIFY(!listed.out.contains("SU"));
        QCOMPARE(tracker({"revoke", "rk3399-1"}).code, 0);
        QCOMPARE(members().size(), 1);
        QCOMPARE(members().at(0).toObject()["name"].toString(), QString("ada"));
        QCOMPARE(tracker({"revoke", "rk3399-1"}).code, 1);
    }

    void whoATokenIsForMustBeSaid()
    {
        for (const QStringList& words :
             {QStringList{"token"}, QStringList{"token", "--user", "ada", "--runner", "x"},
              QStringList{"token", "--user", "ada", "--name", "x"}, QStringList{"token", "--user", "a.b"}}) {
            const Output refused = tracker(words);
            QVERIFY2(refused.code == 1 && refused.err.count('\n') == 1, refused.err);
        }
    }

    void permissionsArePrintedForTheServersOfOthers()
    {
        const Output printed = lathe::test::runCli(m_dir.path(), {"tracker", "permissions", "--user", "ada"});
        QVERIFY2(printed.out.contains("permissions: { publish: { allow: [\"lathe.claim.*.ada\""), printed.out);
        QCOMPARE(lathe::test::runCli(m_dir.path(), {"tracker", "permissions", "--user", "*"}).code, 1);
    }
};

LATHE_TEST_GUILESS(TestCliTracker)

} // namespace tst_cli_tracker

#include "tst_cli_tracker.moc"
