#include "tests/support/command_line.h"
#include "tests/support/nats_server.h"
#include "tests/support/reference_client.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>

#include <csignal>
#include <memory>
#include <vector>

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
    using Client = lathe::test::ReferenceClient;
    static int freePort() { return lathe::test::NatsServer().port(); }
    /// One that speaks TVM's tracker. Null: it did not say so.
    std::unique_ptr<QProcess> compatTracker(int port, const QString& host = {}, const QStringList& more = {}) const
    {
        auto process = std::make_unique<QProcess>();
        process->setWorkingDirectory(m_dir.path());
        process->setProcessChannelMode(QProcess::ForwardedErrorChannel);
        const QString where = (host.isEmpty() ? QString() : host + ":") + QString::number(port);
        process->start(QCoreApplication::applicationDirPath() + "/../bin/lathe-cli",
                       QStringList{"tracker", "--listen", "127.0.0.1:" + QString::number(freePort()), "--folder",
                                   "farm", "--compat", where}
                           + more);
        const QString line =
            QString("\nINFO:RPCTracker:bind to %1:%2\n").arg(host.isEmpty() ? "127.0.0.1" : host).arg(port);
        QByteArray said;
        while (!said.contains(line.toUtf8()) && process->waitForReadyRead(60000))
            said += process->readAllStandardOutput();
        return said.endsWith(line.toUtf8()) ? std::move(process) : nullptr;
    }
    static bool ends(QProcess& process)
    {
        ::kill(static_cast<pid_t>(process.processId()), SIGTERM);
        return process.waitForFinished(60000) && process.exitStatus() == QProcess::NormalExit
               && process.exitCode() == 0;
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
        QVERIFY(!QString(listed.out).contains(QRegularExpression("\\bSU[A-Z2-7]{56}\\b"))); // no secret
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

    void scriptsOfTheReferenceFindTheirTracker()
    {
        const int port = freePort();
        const auto process = compatTracker(port);
        QVERIFY(process);
        auto server = std::make_unique<Client>(port);
        const Client script(port);
        QVERIFY(server->isThere() && script.isThere());
        QCOMPARE(script.ask("[1]"), std::string("0"));
        QCOMPARE(server->ask(R"([5, {"key": "server:board", "addr": [null, 9090]}])"), std::string("0"));
        QCOMPARE(server->ask(R"([3, "board", [9090, "board:0.5"], null])"), std::string("0"));
        QCOMPARE(server->ask("[7]"), std::string(R"(["board:0.5"])"));
        QCOMPARE(script.ask("[6]"),
                 std::string(R"([0,{"queue_info":{"board":{"free":1,"pending":0}},)"
                             R"("server_info":[{"addr":["127.0.0.1",9090],"key":"server:board"}]}])"));
        QCOMPARE(script.ask(R"([4, "board", "", 1])"), std::string(R"([0,["127.0.0.1",9090,"board:0.5"]])"));
        QCOMPARE(server->ask("[7]"), std::string("[]"));
        // Whoever waits is told later; who has gone meanwhile gets nothing.
        auto gone = std::make_unique<Client>(port);
        gone->send(Client::frame(R"([4, "board", "", 2])"));
        script.send(Client::frame(R"([4, "board", "", 1])"));
        const auto pending = [&](const char* count) {
            return Client(port).ask("[6]").find(R"("pending":)" + std::string(count)) != std::string::npos;
        };
        QTRY_VERIFY_WITH_TIMEOUT(pending("2"), 60000);
        gone.reset();
        QTRY_VERIFY_WITH_TIMEOUT(pending("1"), 60000);
        // Also one who has said more meanwhile.
        gone = std::make_unique<Client>(port);
        gone->send(Client::frame(R"([4, "board", "", 2])"));
        for (int i = 0; i < 5'000; ++i)
            gone->send(Client::frame("[1]"));
        QTRY_VERIFY_WITH_TIMEOUT(pending("2"), 60000);
        gone.reset();
        QTRY_VERIFY_WITH_TIMEOUT(pending("1"), 60000);
        // Whoever says more than is read while he waits is dropped, for his end might lie behind it.
        const Client loud(port);
        loud.send(Client::frame(R"([4, "board", "", 2])"));
        const auto isDropped = [&loud] {
            while (loud.sendNow(Client::frame("[1]")))
                ;
            return loud.isClosed();
        };
        QTRY_VERIFY_WITH_TIMEOUT(isDropped(), 60000);
        QTRY_VERIFY_WITH_TIMEOUT(pending("1"), 60000);
        QVERIFY(script.hearsNothing());
        QCOMPARE(server->ask(R"([3, "board", [9090, "board:0.6"], "10.0.0.7"])"), std::string("0"));
        QCOMPARE(script.answer(), std::string(R"([0,["10.0.0.7",9090,"board:0.6"]])"));
        // What a server offered goes with it.
        QCOMPARE(server->ask(R"([3, "board", [9090, "board:0.7"], null])"), std::string("0"));
        server.reset();
        QTRY_COMPARE_WITH_TIMEOUT(script.ask("[6]"), std::string(R"([0,{"queue_info":{},"server_info":[]}])"), 60000);
        QVERIFY(ends(*process));
        QCOMPARE(script.answer(), std::string("closed"));
    }

    void whoIsSilentOrSaysNonsenseStallsNobody()
    {
        const int port = freePort();
        const auto process = compatTracker(port);
        QVERIFY(process);
        const Client script(port), server(port);
        const Client silent(port, false), half(port), loud(port);
        half.send(std::string("\x10\x00\x00\x00[3,", 7));
        QCOMPARE(server.ask(R"([3, "board", [9090, "a"], null])"), std::string("0"));
        while (loud.sendNow(Client::frame("[6]"))) // and never takes an answer
            ;
        QCOMPARE(script.ask(R"([4, "board", "", 1])"), std::string(R"([0,["127.0.0.1",9090,"a"]])"));
        for (const std::string& bytes : {std::string("\xFF\xFF\xFF\xFF"), std::string("\xFF\xFF\xFF\x7F"),
                                         Client::frame("[1"), Client::frame("[8]"), Client::frame("[3, 1]")}) {
            const Client hostile(port);
            hostile.send(bytes);
            QCOMPARE(hostile.answer(), std::string("closed"));
        }
        const Client browser(port, false);
        browser.send("GET / HTTP/1.1\r\n\r\n");
        QCOMPARE(browser.answer(), std::string("closed"));
        QCOMPARE(script.ask("[1]"), std::string("0"));
        QVERIFY(silent.hearsNothing() && half.hearsNothing());
        QVERIFY(ends(*process));
    }

    void thereIsRoomForSoManyConnections()
    {
        const int port = freePort();
        const auto process = compatTracker(port);
        QVERIFY(process);
        std::vector<std::unique_ptr<Client>> all;
        while (all.size() < 1000) {
            all.push_back(std::make_unique<Client>(port));
            if (!all.back()->isThere())
                break;
        }
        QCOMPARE(all.size(), std::size_t(513));
        QCOMPARE(all[0]->ask("[1]"), std::string("0"));
        all[1].reset();
        QTRY_VERIFY_WITH_TIMEOUT(Client(port).isThere(), 60000);
        QVERIFY(ends(*process));
    }

    void otherMachinesReachItOnlyIfThatIsSaid()
    {
        for (const char* host : {"0.0.0.0", "[::]"}) {
            const Output refused = tracker({"--compat", QString("%1:%2").arg(host).arg(freePort())});
            QVERIFY2(refused.code == 1 && refused.err.count('\n') == 1 && refused.err.contains("--compat-anybody"),
                     refused.err);
        }
        QVERIFY(tracker({"--compat-anybody"}).code != 0);
        const int port = freePort();
        const auto process = compatTracker(port, "0.0.0.0", {"--compat-anybody"});
        QVERIFY(process && Client(port).isThere());
        QVERIFY(ends(*process));
    }

    void anAddressThatCannotBeIsSaid()
    {
        const int port = freePort();
        const auto process = compatTracker(port);
        QVERIFY(process);
        const QString number = QString::number(port);
        const auto second = [&](const QString& where) {
            return lathe::test::runCli(m_dir.path(), {"tracker", "--folder", "second", "--listen",
                                                      "127.0.0.1:" + QString::number(freePort()), "--compat", where});
        };
        const Output taken = second(number);
        QVERIFY2(taken.code == 1 && taken.err.contains(("cannot listen at 127.0.0.1:" + number).toUtf8()), taken.err);
        for (const char* where :
             {"0", "65536", "here", "127.0.0.1:", "tls://127.0.0.1:9190", "no.such.host.invalid:9190"}) {
            const Output wrong = second(where);
            QVERIFY2(wrong.code == 1 && wrong.err.count('\n') == 1, wrong.err);
        }
        QVERIFY(ends(*process));
    }
};

LATHE_TEST_GUILESS(TestCliTracker)

} // namespace tst_cli_tracker

#include "tst_cli_tracker.moc"
