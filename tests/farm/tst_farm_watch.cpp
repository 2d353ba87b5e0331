#include "core/broker/connection.h"
#include "core/broker/inbox.h"
#include "core/broker/nkey.h"
#include "core/broker/notices.h"
#include "core/broker/server_config.h"
#include "core/broker/subjects.h"
#include "core/broker/token.h"
#include "core/measure/endpoint.h"
#include "core/measure/remote_port.h"
#include "core/serve/farm_runner.h"
#include "core/session/farm_watch.h"
#include "core/support/files.h"
#include "tests/support/farm_device.h"
#include "tests/support/nats_server.h"
#include "tests/support/processes.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <csignal>
#include <thread>

namespace tst_farm_watch {

using namespace lathe;
using lathe::session::FarmDeviceState, lathe::session::FarmDeviceView, lathe::session::FarmView,
    lathe::session::FarmWatch;
using lathe::test::FarmDevice;
using lathe::test::NatsServer;

namespace {

serve::FarmRunnerOptions optionsOf(const std::string& key, const std::string& name, const std::string& about)
{
    serve::FarmRunnerOptions options;
    options.desk.key = key;
    options.desk.device = name;
    options.about = about;
    return options;
}

/// A program that wants devices of a key, and takes none by itself.
class Claimant
{
public:
    Claimant(const NatsServer& server, const std::string& key, const std::string& user, const std::string& program)
        : m_user(user)
    {
        auto connection = broker::Connection::open({server.url()});
        if (!connection)
            return;
        m_connection = *connection;
        if (auto offers = m_connection->subscribe(
                broker::offerSubject(user),
                [inbox = m_inbox](auto subject, auto bytes) { inbox->put(subject, bytes); }))
            m_offers = std::move(*offers);
        m_thread = std::jthread([this, key, user, program](std::stop_token stop) {
            broker::ClaimNotice claim;
            claim.ticket = "ticket-" + user;
            claim.program = program;
            for (; !stop.stop_requested(); std::this_thread::sleep_for(std::chrono::milliseconds(200)))
                m_connection->publish(broker::claimSubject(key, user), broker::toText(claim));
        });
    }

    /// The first one that is offered.
    std::unique_ptr<measure::Endpoint> take()
    {
        for (const Deadline end = Deadline::inSeconds(10); !end.passed(); ::usleep(10'000))
            for (const auto& heard : m_inbox->takeAll())
                if (const auto offer = broker::offerIn(heard.bytes)) {
                    measure::EndpointTraits traits;
                    traits.device = measure::DeviceSpec{"sim", "", ""};
                    traits.supervised = true;
                    auto endpoint = std::make_unique<measure::Endpoint>(
                        std::make_unique<measure::RemotePort>(m_connection, m_user, *offer), traits);
                    return endpoint->waitUntilReady() ? std::move(endpoint) : nullptr;
                }
        return nullptr;
    }

private:
    std::string m_user;
    std::shared_ptr<broker::Inbox> m_inbox = std::make_shared<broker::Inbox>();
    std::shared_ptr<broker::Connection> m_connection;
    std::unique_ptr<broker::Subscription> m_offers;
    std::jthread m_thread;
};

/// "board1 free, p1 busy": by key and name.
std::string states(const FarmView& view)
{
    std::string text;
    for (const FarmDeviceView& device : view.devices)
        text += (text.empty() ? "" : ", ") + device.name + " " + toString(device.state);
    return text;
}

/// "board 1 0 1": total, free, pending.
std::string keys(const FarmView& view)
{
    std::string text;
    for (const auto& key : view.keys)
        text += (text.empty() ? "" : ", ") + key.key + " " + std::to_string(key.total) + " " + std::to_string(key.free)
                + " " + std::to_string(key.pending);
    return text;
}

} // namespace

/// A farm as it is shown: a real broker, devices, and programs that want them.
class TestFarmWatch : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase() { std::signal(SIGPIPE, SIG_IGN); }

    void devicesClaimsAndQueuesAreSeen()
    {
        NatsServer server;
        QVERIFY(server.start());
        const FarmDevice board(server.url(), optionsOf("board", "board1", R"({"host": "h1", "version": "9"})"));
        const auto watch = FarmWatch::open(server.url());
        QVERIFY2(watch, watch ? "" : watch.error().message.c_str());
        {
            const FarmDevice phone(server.url(), optionsOf("phone", "p1", R"({"host": "h2"})"));
            QTRY_COMPARE(states((*watch)->snapshot()), std::string("board1 free, p1 free"));
            const FarmView view = (*watch)->snapshot();
            QVERIFY(view.connected);
            QCOMPARE(view.broker, server.url());
            QCOMPARE(keys(view), std::string("board 1 1 0, phone 1 1 0"));
            QCOMPARE(view.devices[0].host, std::string("h1"));
            QCOMPARE(view.devices[0].version, std::string("9"));
            QVERIFY(view.devices[0].health.at("memory_free_mb") > 0); // of this machine
            QVERIFY(view.devices[0].silentSeconds < 2);
        }
        Claimant ada(server, "board", "ada", "lathe-cli tune zoo:mlp");
        const auto endpoint = ada.take();
        QVERIFY(endpoint);
        const Claimant bob(server, "board", "bob", "lathe-cli bench\x1b[2J");
        QTRY_COMPARE(keys((*watch)->snapshot()).substr(0, 11), std::string("board 1 0 1"));
        FarmView view = (*watch)->snapshot();
        QCOMPARE(view.devices[0].user, std::string("ada"));
        QCOMPARE(view.devices[0].program, std::string("lathe-cli tune zoo:mlp"));
        QVERIFY(view.devices[0].state == FarmDeviceState::Busy);
        QCOMPARE(view.claims.size(), std::size_t(2));
        QCOMPARE(view.claims[0].user, std::string("bob"));
        QCOMPARE(view.claims[0].program, std::string("lathe-cli bench [2J"));
        QCOMPARE(view.claims[0].place, std::size_t(1));
        QCOMPARE(view.claims[1].devices, std::size_t(1));
        QVERIFY((*watch)->snapshot().devices[0].hadSeconds > 0);
        // The phone was stopped in order: it is not lost, but gone.
        QTRY_COMPARE_WITH_TIMEOUT(states((*watch)->snapshot()), std::string("board1 busy"), 10000);
    }

    void oneThatFallsSilentIsLost()
    {
        NatsServer server;
        QVERIFY(server.start());
        const auto watch = FarmWatch::open("127.0.0.1:" + std::to_string(server.port()));
        const auto connection = broker::Connection::open({server.url()});
        QVERIFY(watch && connection);
        (*connection)->publish("lathe.here.board.b1", broker::toText(broker::DeviceNotice{}));
        (*connection)->publish("lathe.here.board.b2", "{\"state\": \"on fire\"}"); // none
        QTRY_COMPARE(states((*watch)->snapshot()), std::string("b1 free"));
        QTRY_COMPARE_WITH_TIMEOUT(states((*watch)->snapshot()), std::string("b1 lost"), 10000);
        QCOMPARE(keys((*watch)->snapshot()), std::string("board 0 0 0"));
    }

    void aBrokerThatIsKilledAndStartedAgainIsHeardAgain()
    {
        NatsServer server;
        QVERIFY(server.start());
        const FarmDevice board(server.url(), optionsOf("board", "board1", "{}"));
        const auto watch = FarmWatch::open(server.url());
        QVERIFY(watch);
        QTRY_COMPARE(states((*watch)->snapshot()), std::string("board1 free"));
        server.kill();
        QTRY_VERIFY(!(*watch)->snapshot().connected);
        QTRY_COMPARE_WITH_TIMEOUT(states((*watch)->snapshot()), std::string("board1 lost"), 10000);
        QVERIFY(server.start());
        QTRY_VERIFY_WITH_TIMEOUT((*watch)->snapshot().connected, 10000);
        QTRY_COMPARE_WITH_TIMEOUT(states((*watch)->snapshot()), std::string("board1 free"), 10000);
    }

    /// The connection stays for a while when the broker's machine hangs; a sign of life does not.
    void aBrokerThatHangsDoesNotAnswer()
    {
        NatsServer server;
        QVERIFY(server.start());
        const auto watch = FarmWatch::open(server.url());
        QVERIFY(watch);
        QVERIFY((*watch)->answers());
        ::kill(server.pid(), SIGSTOP);
        QTRY_VERIFY(lathe::test::isStopped(server.pid()));
        QElapsedTimer timer;
        timer.start();
        QVERIFY(!(*watch)->answers());
        QVERIFY2(timer.elapsed() < 1900, qPrintable(QString::number(timer.elapsed())));
        ::kill(server.pid(), SIGCONT);
        QTRY_VERIFY_WITH_TIMEOUT((*watch)->answers(), 10000);
        server.kill();
        QTRY_VERIFY(!(*watch)->answers());
    }

    void nobodyThereIsAnError()
    {
        const NatsServer server; // not started
        const auto watch = FarmWatch::open(server.url());
        QVERIFY(!watch);
        QCOMPARE(int(watch.error().code), int(Errc::NotFound));
        QVERIFY2(watch.error().message.find(server.url()) != std::string::npos, watch.error().message.c_str());
    }

    void aBrokerThatKnowsItsMembersLetsInAnObserver()
    {
        const auto dir = TempDir::create();
        const auto pair = broker::makeUserKey();
        QVERIFY(dir && pair);
        broker::Token token;
        token.member = {broker::Role::Observer, "olga", "", pair->publicKey};
        token.seed = pair->seed;
        NatsServer server;
        broker::ServerOptions options;
        options.port = static_cast<std::uint16_t>(server.port());
        options.members = {token.member};
        const auto config = broker::serverConfig(options);
        QVERIFY(config);
        QVERIFY(writeFileAtomically(dir->path() / "config", *config));
        QVERIFY(writeFileAtomically(dir->path() / "token", broker::toText(token)));
        QVERIFY(server.start(dir->path() / "config"));
        const auto watch = FarmWatch::open(server.url(), dir->path() / "token");
        QVERIFY2(watch, watch ? "" : watch.error().message.c_str());
        QVERIFY((*watch)->snapshot().connected);
        const auto stranger = FarmWatch::open(server.url());
        QVERIFY(!stranger);
        QCOMPARE(int(stranger.error().code), int(Errc::Incompatible));
    }

    /// It may hear one key alone, and would show a farm with nothing in it.
    void aRunnersTokenIsRefused()
    {
        const auto dir = TempDir::create();
        const auto pair = broker::makeUserKey();
        QVERIFY(dir && pair);
        broker::Token token;
        token.member = {broker::Role::Runner, "board1", "board", pair->publicKey};
        token.seed = pair->seed;
        QVERIFY(writeFileAtomically(dir->path() / "token", broker::toText(token)));
        const auto watch = FarmWatch::open("127.0.0.1:1", dir->path() / "token");
        QVERIFY(!watch);
        QCOMPARE(int(watch.error().code), int(Errc::InvalidArgument));
        QVERIFY2(watch.error().message.find("a runner") != std::string::npos, watch.error().message.c_str());
    }
};

LATHE_TEST(TestFarmWatch)

} // namespace tst_farm_watch

#include "tst_farm_watch.moc"
