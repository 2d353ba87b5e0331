#include "core/broker/connection.h"
#include "core/broker/notices.h"
#include "core/broker/subjects.h"
#include "core/broker/tracker.h"
#include "core/support/files.h"
#include "tests/support/must.h"
#include "tests/support/nats_server.h"
#include "tests/support/processes.h"
#include "tests/support/reference_client.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <csignal>
#include <mutex>
#include <thread>

namespace tst_tracker {

using namespace lathe;
using namespace lathe::broker;
using lathe::test::must, lathe::test::NatsServer;

namespace {

constexpr int kWaitMs = 60000;

/// A tracker on a thread of its own, until this is gone.
class Running
{
public:
    Running(const TrackerFolder& folder, TrackerOptions options)
        : m_thread([this, folder, options = std::move(options)](const std::stop_token& stop) {
            const TrackerEvents events{[this](const std::string& where) { put(m_url, where); },
                                       [this](const Message& message) { put(m_notices, textOf(message)); }};
            const auto ended = runTracker(folder, options, events, stop);
            put(m_end, ended ? "stopped" : ended.error().message);
        })
    {
    }

    std::string url() { return get(m_url); }
    std::string notices() { return get(m_notices); }
    std::string end() { return get(m_end); } ///< empty: it runs
    bool ready()
    {
        for (const Deadline last = Deadline::inSeconds(kWaitMs / 1000.0); !last.passed() && end().empty();
             QTest::qSleep(10))
            if (!url().empty())
                return true;
        return false;
    }
    void stop()
    {
        m_thread.request_stop();
        m_thread.join();
    }

private:
    void put(std::string& where, const std::string& text)
    {
        const std::scoped_lock lock(m_mutex);
        where += text;
    }
    std::string get(const std::string& where)
    {
        const std::scoped_lock lock(m_mutex);
        return where;
    }
    std::mutex m_mutex;
    std::string m_url, m_notices, m_end;
    std::jthread m_thread;
};

/// A member's connection without the library that would make it again: one sees whether it was cut.
class BareConnection
{
public:
    explicit BareConnection(int port)
        : m_socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))
    {
        sockaddr_in there = {};
        there.sin_family = AF_INET;
        there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        there.sin_port = htons(static_cast<std::uint16_t>(port));
        ::connect(m_socket, reinterpret_cast<const sockaddr*>(&there), sizeof there);
        say("CONNECT {\"verbose\":false}\r\n");
    }
    ~BareConnection() { ::close(m_socket); }
    BareConnection(const BareConnection&) = delete;
    BareConnection& operator=(const BareConnection&) = delete;

    /// What it hears in answer to a ping holds the answer, and nothing of a refusal.
    bool answers()
    {
        say("PING\r\n");
        for (std::string heard; heard.find("PONG\r\n") == std::string::npos;) {
            char bytes[4096];
            const ssize_t count = ::recv(m_socket, bytes, sizeof bytes, 0);
            if (count <= 0)
                return false;
            heard.append(bytes, static_cast<std::size_t>(count));
            if (heard.find("-ERR") != std::string::npos)
                return false;
        }
        return true;
    }

private:
    void say(std::string_view text) const { (void)::send(m_socket, text.data(), text.size(), MSG_NOSIGNAL); }
    int m_socket;
};

} // namespace

class TestTracker : public QObject
{
    Q_OBJECT

    TempDir m_dir = must(TempDir::create());
    TrackerFolder m_folder = must(TrackerFolder::open(m_dir.path() / "unused"));
    TrackerOptions m_options;

    Result<std::shared_ptr<Connection>> connect(const std::string& url, const std::optional<Token>& token)
    {
        LATHE_TRY_ASSIGN(const BrokerAddress address, brokerAddress(url, token, "tst_tracker"));
        return Connection::open(address);
    }
    bool letsIn(const std::string& url, const std::optional<Token>& token) { return bool(connect(url, token)); }
    pid_t serverPid() const
    {
        const auto text = readFile(m_folder.path() / "nats.pid");
        return text ? std::stoi(*text) : -1;
    }
    std::string urlOn(const char* scheme) const
    {
        return scheme + std::string("127.0.0.1:") + std::to_string(m_options.listen.port);
    }

private slots:
    void init()
    {
        m_folder = must(TrackerFolder::open(m_dir.path() / QTest::currentTestFunction()));
        m_options = {};
        m_options.listen.port = static_cast<std::uint16_t>(NatsServer().port());
    }

    void onThisMachineItIsOpenAndStartsAndEnds()
    {
        Running tracker(m_folder, m_options);
        QVERIFY2(tracker.ready(), tracker.end().c_str());
        QCOMPARE(tracker.url(), urlOn("nats://"));
        QCOMPARE(m_folder.url(), tracker.url());
        QVERIFY(letsIn(tracker.url(), {}));
        const pid_t server = serverPid();
        QVERIFY(test::isAlive(server));
        tracker.stop();
        QCOMPARE(tracker.end(), std::string("stopped"));
        QVERIFY(!test::isAlive(server));
        QVERIFY(!std::filesystem::exists(m_folder.path() / "nats.pid"));
        QVERIFY(!letsIn(urlOn("nats://"), {}));
    }

    void whoGetsATokenIsLetInAndNobodyIsCutOff()
    {
        Running tracker(m_folder, m_options);
        QVERIFY2(tracker.ready(), tracker.end().c_str());
        BareConnection before(m_options.listen.port);
        QVERIFY(before.answers());
        // Another program does this.
        const Token token = must(must(TrackerFolder::open(m_folder.path())).add(Role::Runner, {}, "rk3399"));
        QTRY_VERIFY_WITH_TIMEOUT(letsIn(tracker.url(), token), kWaitMs);
        QVERIFY(before.answers());
        const auto member = must(connect(tracker.url(), token));
        const Token other = must(m_folder.add(Role::User, "ada"));
        QTRY_VERIFY_WITH_TIMEOUT(letsIn(tracker.url(), other), kWaitMs);
        QVERIFY(before.answers() && member->connected() && member->settle());

        must(m_folder.revoke(token.member.name));
        QTRY_VERIFY_WITH_TIMEOUT(!letsIn(tracker.url(), token), kWaitMs);
        QTRY_VERIFY_WITH_TIMEOUT(!member->settle(), kWaitMs); // his connection is ended, too
        QVERIFY(letsIn(tracker.url(), other));
        QVERIFY(before.answers());
        QCOMPARE(tracker.notices(), std::string());
    }

    void forOthersItHasTlsAndMembersAlone()
    {
        m_options.listen.host = "0.0.0.0";
        {
            Running tracker(m_folder, m_options);
            QVERIFY(!tracker.ready());
            QVERIFY2(tracker.end().find("nobody has a token yet") != std::string::npos, tracker.end().c_str());
        }
        const Token ada = must(m_folder.add(Role::User, "ada"));
        Running tracker(m_folder, m_options);
        QVERIFY2(tracker.ready(), tracker.end().c_str());
        QVERIFY2(tracker.url().starts_with("tls://"), tracker.url().c_str());
        for (const char* scheme : {"", "tls://"}) {
            const auto connection = connect(urlOn(scheme), ada);
            QVERIFY2(connection, connection ? "" : connection.error().message.c_str());
        }
        Token stranger = ada;
        stranger.seed.clear();
        QVERIFY(!letsIn(urlOn("tls://"), stranger));
        QVERIFY(!BareConnection(m_options.listen.port).answers()); // without TLS
        Token deceived = ada;
        deceived.authority = must(must(TrackerFolder::open(m_dir.path() / "others")).authority());
        QVERIFY(!letsIn(urlOn("tls://"), deceived));
        // Where the last one has gone nobody gets in, rather than everybody.
        must(m_folder.revoke("ada"));
        QTRY_VERIFY_WITH_TIMEOUT(!letsIn(urlOn("tls://"), ada), kWaitMs);
        QVERIFY(!letsIn(urlOn("tls://"), stranger));
    }

    void aCertificateOfOnesOwnIsUsed()
    {
        const TrackerFolder other = must(TrackerFolder::open(m_dir.path() / "company"));
        const auto files = must(other.serverCertificate(std::vector<std::string>{"127.0.0.1"}));
        m_options.certificate = files.certificate;
        m_options.privateKey = files.privateKey;
        Token ada = must(m_folder.add(Role::User, "ada"));
        Running tracker(m_folder, m_options);
        QVERIFY2(tracker.ready(), tracker.end().c_str());
        QCOMPARE(tracker.url(), urlOn("tls://"));
        QVERIFY(!letsIn(tracker.url(), ada));
        ada.authority = must(other.authority());
        QVERIFY(letsIn(tracker.url(), ada));
        ada.seed.clear();
        QVERIFY(!letsIn(tracker.url(), ada)); // with TLS not even this machine is
    }

    void anAddressOfIpv6IsAsGood()
    {
        const auto files = must(m_folder.serverCertificate(std::vector<std::string>{"::1"}));
        m_options.listen.host = "::1";
        m_options.certificate = files.certificate;
        m_options.privateKey = files.privateKey;
        const Token ada = must(m_folder.add(Role::User, "ada"));
        Running tracker(m_folder, m_options);
        if (!tracker.ready() && tracker.end().find("assign requested address") != std::string::npos)
            QSKIP("this machine has no IPv6");
        QVERIFY2(tracker.ready(), tracker.end().c_str());
        QCOMPARE(tracker.url(), "tls://[::1]:" + std::to_string(m_options.listen.port));
        const auto connection = connect(tracker.url(), ada);
        QVERIFY2(connection, connection ? "" : connection.error().message.c_str());
    }

    void aPortInUseIsSaid()
    {
        NatsServer other;
        must(other.start());
        m_options.listen.port = static_cast<std::uint16_t>(other.port());
        Running tracker(m_folder, m_options);
        QVERIFY(!tracker.ready());
        QVERIFY2(tracker.end().starts_with("nats-server ended: ")
                     && tracker.end().find("address already in use") != std::string::npos,
                 tracker.end().c_str());
    }

    void aServerThatIsKilledComesBack()
    {
        const Token ada = must(m_folder.add(Role::User, "ada"));
        Running tracker(m_folder, m_options);
        QVERIFY2(tracker.ready(), tracker.end().c_str());
        const auto connection = must(connect(tracker.url(), ada));
        const pid_t first = serverPid();
        QCOMPARE(::kill(first, SIGKILL), 0);
        QTRY_VERIFY_WITH_TIMEOUT(serverPid() != first && serverPid() > 0, kWaitMs);
        QTRY_VERIFY_WITH_TIMEOUT(connection->settle(), kWaitMs);
        QVERIFY2(tracker.notices().find("nats-server ended: signal 9") != std::string::npos, tracker.notices().c_str());
        QCOMPARE(tracker.end(), std::string());
    }

    void lathesDevicesAreInTheReferencesSummary_data()
    {
        QTest::addColumn<QString>("host");
        QTest::addColumn<QString>("certificate");
        QTest::newRow("open on this machine") << "127.0.0.1" << QString();
        QTest::newRow("for others") << "0.0.0.0" << QString();
        QTest::newRow("a certificate of the company's, for another name") << "127.0.0.1"
                                                                          << "farm.example";
    }
    void lathesDevicesAreInTheReferencesSummary()
    {
        QFETCH(QString, host);
        QFETCH(QString, certificate);
        std::error_code ignored;
        std::filesystem::remove_all(m_folder.path(), ignored);
        m_folder = must(TrackerFolder::open(m_folder.path()));
        Token runner = must(m_folder.add(Role::Runner, "one", "board"));
        m_options.listen.host = host.toStdString();
        m_options.compat = Address{"127.0.0.1", static_cast<std::uint16_t>(NatsServer().port())};
        if (!certificate.isEmpty()) {
            const TrackerFolder other = must(TrackerFolder::open(m_dir.path() / "company"));
            const auto files = must(other.serverCertificate(std::vector{certificate.toStdString()}));
            m_options.certificate = files.certificate;
            m_options.privateKey = files.privateKey;
            runner.authority = must(other.authority());
        }
        Running tracker(m_folder, m_options);
        QVERIFY2(tracker.ready(), tracker.end().c_str());
        const bool isOpen = tracker.url().starts_with("nats://");
        BrokerAddress there = must(brokerAddress(urlOn(isOpen ? "nats://" : "tls://"), runner, "tst_tracker"));
        there.isUnchecked = !certificate.isEmpty();
        const auto device = must(Connection::open(there));
        const test::ReferenceClient script(m_options.compat->port);
        QVERIFY(script.isThere());
        const auto isShown = [&] {
            device->publish(hereSubject("board", "one"), R"({"state": "free", "about": {"host": "attic"}})");
            device->settle();
            return script.ask("[6]")
                   == R"([0,{"queue_info":{"board":{"free":1,"pending":0}},"server_info":[{"addr":["attic",0],)"
                      R"("key":"server:board"}]}])";
        };
        QTRY_VERIFY_WITH_TIMEOUT(isShown(), kWaitMs);
        QTRY_COMPARE_WITH_TIMEOUT(
            script.ask("[6]"), std::string(R"([0,{"queue_info":{"board":{"free":0,"pending":0}},"server_info":[]}])"),
            kWaitMs);
        // Also after the server was killed, and after its list has changed.
        must(m_folder.add(Role::User, "ada"));
        QCOMPARE(::kill(serverPid(), SIGKILL), 0);
        QTRY_VERIFY_WITH_TIMEOUT(isShown(), kWaitMs);
        QVERIFY2(tracker.notices().find("cannot be reached") == std::string::npos, tracker.notices().c_str());
        tracker.stop();
        QCOMPARE(tracker.end(), std::string("stopped"));
        QVERIFY(!test::ReferenceClient(m_options.compat->port).isThere());
        const QString config = QString::fromStdString(must(readFile(m_folder.path() / "nats.conf")));
        QCOMPARE(config.count(QRegularExpression("\\bU[A-Z2-7]{55}\\b")), 3); // its public key, and those of the two
        QVERIFY(!config.contains(QRegularExpression("\\bSU[A-Z2-7]{56}\\b")));
        QCOMPARE(must(m_folder.members()).size(), std::size_t(2)); // the tracker itself is none that could be revoked
    }

    void twoTrackersDoNotShareAFolder()
    {
        Running tracker(m_folder, m_options);
        QVERIFY2(tracker.ready(), tracker.end().c_str());
        TrackerOptions options = m_options;
        options.listen.port = static_cast<std::uint16_t>(NatsServer().port());
        Running second(m_folder, options);
        QVERIFY(!second.ready());
        QVERIFY2(second.end().starts_with("a tracker runs with "), second.end().c_str());
        QVERIFY(letsIn(tracker.url(), {}));
    }

    void withADamagedListItDoesNotStart()
    {
        must(writeFileAtomically(m_folder.membersFile(), "{"));
        Running tracker(m_folder, m_options);
        QVERIFY(!tracker.ready());
        QVERIFY2(tracker.end().find("does not say who has a token") != std::string::npos, tracker.end().c_str());
    }

    void aListThatIsDamagedMeanwhileChangesNothing()
    {
        const Token ada = must(m_folder.add(Role::User, "ada"));
        Running tracker(m_folder, m_options);
        QVERIFY2(tracker.ready(), tracker.end().c_str());
        must(writeFileAtomically(m_folder.membersFile(), "{"));
        QTRY_VERIFY_WITH_TIMEOUT(tracker.notices().find("does not say who has a token") != std::string::npos, kWaitMs);
        QVERIFY(letsIn(tracker.url(), ada));
    }
};

LATHE_TEST(TestTracker)

} // namespace tst_tracker

#include "tst_tracker.moc"
