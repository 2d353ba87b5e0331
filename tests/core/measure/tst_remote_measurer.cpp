#include "core/broker/connection.h"
#include "core/broker/inbox.h"
#include "core/broker/notices.h"
#include "core/broker/subjects.h"
#include "core/measure/measurer.h"
#include "core/support/files.h"
#include "tests/support/double_requests.h"
#include "tests/support/farm_runner.h"
#include "tests/support/nats_server.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <nlohmann/json.hpp>

#include <csignal>
#include <map>
#include <thread>

namespace tst_remote_measurer {

using namespace lathe;
using namespace lathe::measure;
using lathe::test::doubleRequests;
using lathe::test::FarmRunner;
using lathe::test::NatsServer;

namespace {

MeasurerOptions optionsFor(const NatsServer& server, const std::string& words = "")
{
    MeasurerOptions options;
    options.target = "sim" + words;
    options.builders = 1;
    options.runTimeoutSeconds = 5;
    options.remote = RemoteClaim{{server.url()}, "board", "ada"};
    return options;
}

std::string describe(const TrialResult& result)
{
    return std::string(toString(result.stage)) + " " + std::string(toString(result.code)) + ": " + result.text;
}

/// What devices say of themselves.
class Listener
{
public:
    explicit Listener(const NatsServer& server)
    {
        auto connection = broker::Connection::open({server.url()});
        if (!connection)
            qFatal("%s", connection.error().message.c_str());
        m_connection = *connection;
        auto heard = m_connection->subscribe(
            "lathe.here.>", [inbox = m_inbox](auto subject, auto bytes) { inbox->put(subject, bytes); });
        m_devices = std::move(*heard);
    }
    /// Whether that is what it said last.
    bool hears(const std::string& device, broker::DeviceState state)
    {
        for (const auto& heard : m_inbox->takeAll())
            if (const auto notice = broker::deviceIn(heard.subject, heard.bytes))
                m_said[notice->device] = notice->state;
        const auto said = m_said.find(device);
        return said != m_said.end() && said->second == state;
    }

private:
    std::shared_ptr<broker::Inbox> m_inbox = std::make_shared<broker::Inbox>();
    std::shared_ptr<broker::Connection> m_connection;
    std::unique_ptr<broker::Subscription> m_devices;
    std::map<std::string, broker::DeviceState> m_said;
};

} // namespace

class TestRemoteMeasurer : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase() { std::signal(SIGPIPE, SIG_IGN); }

    void devicesOfAKeyMeasureTogetherAndComeAndGo()
    {
        NatsServer server;
        QVERIFY(server.start());
        auto first = FarmRunner::start(server.url(), "board", "board1");
        QVERIFY(first);
        std::vector<std::string> notices;
        MeasurerOptions options = optionsFor(server);
        options.onNotice = [&](const Message& notice) { notices.push_back(textOf(notice)); };
        const auto measurer = Measurer::create(options);
        QVERIFY2(measurer, measurer ? "" : measurer.error().message.c_str());
        QCOMPARE((*measurer)->measuringAtOnce(), std::size_t(1));
        QCOMPARE((*measurer)->devices().size(), std::size_t(1));
        const auto limits = (*measurer)->limits();
        QVERIFY2(limits, limits ? "" : limits.error().message.c_str());

        // A second one comes while it measures, and the first is gone without a word.
        std::optional<FarmRunner> second;
        std::size_t next = 0;
        bool killed = false, joined = false;
        const auto all = doubleRequests(120);
        const auto measured = (*measurer)->measure(all, [&](std::size_t index, TrialResult result) {
            QCOMPARE(index, next++);
            QVERIFY2(result.ok() && result.verified, describe(result).c_str());
            if (index == 5) {
                auto started = FarmRunner::start(server.url(), "board", "board2");
                QVERIFY(started);
                second = std::move(*started);
            }
            joined = std::ranges::any_of(notices, [](const auto& n) { return n.starts_with("board2 measures"); });
            if (joined && !killed) {
                killed = true;
                first->kill();
            }
            if (!joined) // until it is there, which takes a second or two
                std::this_thread::sleep_for(std::chrono::milliseconds(100));
        });
        QVERIFY2(measured, measured ? "" : measured.error().message.c_str());
        QCOMPARE(next, all.size());
        QVERIFY(killed);
        const auto left = std::ranges::find_if(notices,
                                               [](const auto& n) { return n.starts_with("board1 no longer"); });
        QVERIFY2(left != notices.end() && left->find("heard of it") != std::string::npos,
                 notices.empty() ? "" : notices.back().c_str());
    }

    void aKeyThatNobodyOffersIsToldWithThoseThatThereAre()
    {
        NatsServer server;
        QVERIFY(server.start());
        const auto none = Measurer::create(optionsFor(server));
        QVERIFY(!none);
        QCOMPARE(int(none.error().code), int(Errc::NotFound));
        QVERIFY2(none.error().message.find("lathe-runner") != std::string::npos, none.error().message.c_str());
        auto other = FarmRunner::start(server.url(), "rasp4b", "rasp1");
        QVERIFY(other);
        Listener listener(server);
        QTRY_VERIFY_WITH_TIMEOUT(listener.hears("rasp1", broker::DeviceState::Free), 60000);
        const auto still = Measurer::create(optionsFor(server));
        QVERIFY(!still);
        QVERIFY2(still.error().message.find("rasp4b") != std::string::npos, still.error().message.c_str());
    }

    void aDeviceWithoutTheKindIsRefused()
    {
        NatsServer server;
        QVERIFY(server.start());
        auto board = FarmRunner::start(server.url(), "board", "board1");
        QVERIFY(board);
        Listener listener(server);
        QTRY_VERIFY_WITH_TIMEOUT(listener.hears("board1", broker::DeviceState::Free), 60000);
        MeasurerOptions options = optionsFor(server);
        options.devices = {DeviceSpec{"toaster", "", ""}};
        const auto refused = Measurer::create(options);
        QVERIFY(!refused);
        QVERIFY2(refused.error().message.find("board1") != std::string::npos
                     && refused.error().message.find("toaster") != std::string::npos,
                 refused.error().message.c_str());
        // It is free for others at once.
        QTRY_VERIFY_WITH_TIMEOUT(listener.hears("board1", broker::DeviceState::Free), 60000);
    }

    void whoDoesNotMeasureGivesDevicesBackAndGetsThemAgain()
    {
        NatsServer server;
        QVERIFY(server.start());
        auto board = FarmRunner::start(server.url(), "board", "board1");
        QVERIFY(board);
        Listener listener(server);
        MeasurerOptions options = optionsFor(server);
        options.remote->idle = std::chrono::milliseconds(1000);
        const auto measurer = Measurer::create(options);
        QVERIFY2(measurer, measurer ? "" : measurer.error().message.c_str());
        QTRY_VERIFY_WITH_TIMEOUT(listener.hears("board1", broker::DeviceState::Leased), 60000);
        QTRY_VERIFY_WITH_TIMEOUT(listener.hears("board1", broker::DeviceState::Free), 60000);
        std::size_t done = 0;
        const auto all = doubleRequests(4);
        const auto measured = (*measurer)->measure(all, [&](std::size_t, TrialResult result) { done += result.ok(); });
        QVERIFY2(measured, measured ? "" : measured.error().message.c_str());
        QCOMPARE(done, all.size());
    }

    void aBrokerThatIsAwayIsToldAndWaitedFor()
    {
        NatsServer server;
        QVERIFY(server.start());
        auto board = FarmRunner::start(server.url(), "board", "board1");
        QVERIFY(board);
        std::vector<std::string> notices;
        MeasurerOptions options = optionsFor(server);
        options.onNotice = [&](const Message& notice) { notices.push_back(textOf(notice)); };
        const auto measurer = Measurer::create(options);
        QVERIFY2(measurer, measurer ? "" : measurer.error().message.c_str());
        std::jthread outage;
        std::size_t done = 0;
        const auto all = doubleRequests(60);
        const auto measured = (*measurer)->measure(all, [&](std::size_t index, TrialResult result) {
            QVERIFY2(result.ok(), describe(result).c_str());
            ++done;
            if (index == 10)
                outage = std::jthread([&server](const std::stop_token& over) {
                    server.kill();
                    std::this_thread::sleep_for(std::chrono::seconds(3));
                    (void)server.start();
                    while (!over.stop_requested()) // it ends with the thread that started it
                        std::this_thread::sleep_for(std::chrono::milliseconds(20));
                });
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        });
        outage = {};
        QVERIFY2(measured, measured ? "" : measured.error().message.c_str());
        QCOMPARE(done, all.size());
        QVERIFY(
            std::ranges::any_of(notices, [](const auto& n) { return n.find("does not answer") != std::string::npos; }));
        QVERIFY(
            std::ranges::any_of(notices, [](const auto& n) { return n.find("answers again") != std::string::npos; }));
    }

    void aRunnerThatIsStoppedGivesBackWhatItHad()
    {
        NatsServer server;
        QVERIFY(server.start());
        auto board = FarmRunner::start(server.url(), "board", "board1");
        QVERIFY(board);
        const auto measurer = Measurer::create(optionsFor(server));
        QVERIFY2(measurer, measurer ? "" : measurer.error().message.c_str());
        const auto ended = board->stop();
        QVERIFY(ended && ended->ok());
    }
};

LATHE_TEST(TestRemoteMeasurer)

} // namespace tst_remote_measurer

#include "tst_remote_measurer.moc"
