#include "core/broker/connection.h"
#include "core/broker/inbox.h"
#include "core/broker/notices.h"
#include "core/broker/packet.h"
#include "core/broker/subjects.h"
#include "core/measure/batch.h"
#include "core/measure/local_worker.h"
#include "core/measure/measurer.h"
#include "core/measure/remote_devices.h"
#include "core/measure/remote_port.h"
#include "core/serve/farm_runner.h"
#include "core/support/files.h"
#include "core/wire/process_port.h"
#include "tests/support/double_requests.h"
#include "tests/support/nats_server.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <csignal>
#include <thread>

namespace tst_remote_devices {

using namespace lathe;
using namespace lathe::measure;
using lathe::test::NatsServer;

namespace {

std::string describe(const TrialResult& r)
{
    return std::string(toString(r.stage)) + " " + std::string(toString(r.code)) + ": " + r.text;
}

/// A broker, a device that a thread offers there, and one who wants it.
class Farm
{
public:
    Result<> start(const std::string& words = "")
    {
        m_words = words;
        LATHE_TRY(m_server.start());
        LATHE_TRY_ASSIGN(m_ours, broker::Connection::open({m_server.url()}));
        LATHE_TRY_ASSIGN(m_theirs, broker::Connection::open({m_server.url()}));
        const auto put = [inbox = m_inbox](std::string_view subject, std::string_view bytes) {
            inbox->put(subject, bytes);
        };
        LATHE_TRY_ASSIGN(m_offers, m_ours->subscribe(broker::offerSubject("ada"), put));
        LATHE_TRY_ASSIGN(m_devices, m_ours->subscribe("lathe.here.>", put));
        m_options.desk.key = "board";
        m_options.desk.device = "board1";
        m_agent = std::jthread([this](std::stop_token stop) {
            (void)serve::runOnFarm(
                m_theirs, [] { return std::make_unique<wire::ProcessPort>(wire::WorkerProgram{"lathe-runner"}); },
                m_options, stop);
        });
        m_claimant = std::jthread([this](std::stop_token stop) {
            broker::ClaimNotice claim;
            claim.ticket = "t1";
            while (!stop.stop_requested()) {
                m_ours->publish(broker::claimSubject("board", "ada"), broker::toText(claim));
                std::this_thread::sleep_for(std::chrono::milliseconds(200));
            }
        });
        return {};
    }

    Result<std::unique_ptr<Endpoint>> device()
    {
        for (const Deadline end = Deadline::inSeconds(10); !end.passed(); ::usleep(10'000))
            for (const auto& heard : m_inbox->takeAll())
                if (const auto offer = broker::offerIn(heard.bytes)) {
                    EndpointTraits traits;
                    traits.device = DeviceSpec{"sim", "", m_words};
                    traits.supervised = true;
                    traits.capacity = 2;
                    auto endpoint = std::make_unique<Endpoint>(std::make_unique<RemotePort>(m_ours, "ada", *offer),
                                                               traits);
                    LATHE_TRY(endpoint->waitUntilReady());
                    return endpoint;
                }
        return makeError(Errc::RunTimeout, "no offer came");
    }

    /// What the device says of itself next.
    std::optional<broker::DeviceNotice> notice()
    {
        (void)m_inbox->takeAll();
        for (const Deadline end = Deadline::inSeconds(10); !end.passed(); ::usleep(10'000))
            for (const auto& heard : m_inbox->takeAll())
                if (const auto notice = broker::deviceIn(heard.subject, heard.bytes))
                    return notice;
        return std::nullopt;
    }
    void stopDevice() { m_agent.request_stop(); }
    void joinDevice() { m_agent.join(); }
    void stopClaiming() { m_claimant = {}; }
    NatsServer& server() { return m_server; }

private:
    std::string m_words;
    NatsServer m_server;
    std::shared_ptr<broker::Inbox> m_inbox = std::make_shared<broker::Inbox>();
    std::shared_ptr<broker::Connection> m_ours, m_theirs;
    std::unique_ptr<broker::Subscription> m_offers, m_devices;
    serve::FarmRunnerOptions m_options;
    std::jthread m_agent, m_claimant;
};

/// All results in order, or fewer after a minute. `meanwhile` is called after each turn.
std::vector<TrialResult> measureAll(Endpoint& device, int count, const std::string& words = "",
                                    const std::function<void(std::size_t)>& meanwhile = {})
{
    const auto all = lathe::test::doubleRequests(count);
    const std::unique_ptr<Endpoint> builder = makeLocalWorker(WorkerKind::Builder, {});
    BatchOptions options;
    options.target = "sim" + (words.empty() ? "" : " " + words);
    options.buildTimeoutSeconds = 8;
    options.runTimeoutSeconds = 3;
    std::vector<TrialResult> results;
    const Measurer::ResultCallback onResult = [&](std::size_t, TrialResult result) {
        results.push_back(std::move(result));
    };
    Endpoint* const builders[] = {builder.get()};
    Endpoint* const runners[] = {&device};
    std::size_t last = 0;
    MeasureTimes times;
    Batch batch(options, builders, runners, last, all, onResult, times, Batch::Clock::now());
    for (const Deadline end = Deadline::inSeconds(60); !batch.done() && !end.passed();) {
        if (const auto turned = batch.turn(Batch::Clock::now()); !turned) {
            qWarning("%s", turned.error().message.c_str());
            return results;
        }
        if (meanwhile)
            meanwhile(results.size());
        std::vector<pollfd> fds;
        batch.watch(fds);
        const auto wake = std::min(batch.wake(Batch::Clock::now()), Batch::Clock::now() + std::chrono::seconds(1));
        ::poll(fds.data(), fds.size(), Deadline::at(wake).pollMs());
    }
    return results;
}

} // namespace

class TestRemoteDevices : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase() { std::signal(SIGPIPE, SIG_IGN); }

    void aDeviceElsewhereMeasuresWhatIsBuiltHere()
    {
        Farm farm;
        const auto started = farm.start();
        QVERIFY2(started, started ? "" : started.error().message.c_str());
        const auto device = farm.device();
        QVERIFY2(device, device ? "" : device.error().message.c_str());
        QVERIFY((*device)->identity().fingerprint.find("sim") != std::string::npos);
        const auto notice = farm.notice();
        QVERIFY(notice && notice->state == broker::DeviceState::Leased);
        QCOMPARE(notice->user, std::string("ada"));
        const auto results = measureAll(**device, 10);
        QCOMPARE(results.size(), std::size_t(10));
        for (const TrialResult& result : results)
            QVERIFY2(result.ok() && result.verified, describe(result).c_str());
    }

    /// A board goes on whatever a kernel does to its process.
    void eachFaultCostsOneTrialThereToo()
    {
        auto dir = TempDir::create();
        QVERIFY(dir);
        QVERIFY(writeFileAtomically(dir->path() / "script.json", R"({"rules": [
            {"fault": "crash", "ordinal": 1}, {"fault": "hang", "ordinal": 3}, {"fault": "wrong", "ordinal": 5}]})"));
        const std::string words = "-script=" + (dir->path() / "script.json").string();
        Farm farm;
        QVERIFY(farm.start(words));
        const auto device = farm.device();
        QVERIFY2(device, device ? "" : device.error().message.c_str());
        const auto results = measureAll(**device, 8, words);
        QCOMPARE(results.size(), std::size_t(8));
        for (std::size_t i = 0; i < results.size(); ++i) {
            const Errc expected = i == 1   ? Errc::WorkerCrashed
                                  : i == 3 ? Errc::RunTimeout
                                  : i == 5 ? Errc::WrongAnswer
                                           : Errc::Ok;
            QVERIFY2(results[i].code == expected, (std::to_string(i) + ": " + describe(results[i])).c_str());
        }
        QVERIFY2(results[1].text.find("SIGSEGV") != std::string::npos, describe(results[1]).c_str());
        QVERIFY2(results[3].text.find("longer than 3 s") != std::string::npos, describe(results[3]).c_str());
        QCOMPARE((*device)->starts(), std::uint64_t(1)); // it was one lease
    }

    void whatADeviceThereCompilesCountsAsBuildToo()
    {
        auto dir = TempDir::create();
        QVERIFY(dir);
        QVERIFY(writeFileAtomically(dir->path() / "script.json", R"({"rules": [
            {"fault": "device-build-slow", "ordinal": 1, "seconds": 4}, {"fault": "device-build-failed", "ordinal": 2},
            {"fault": "device-build-crash", "ordinal": 3}, {"fault": "device-build-hang", "ordinal": 5}]})"));
        const std::string words = "-script=" + (dir->path() / "script.json").string();
        Farm farm;
        QVERIFY(farm.start(words));
        const auto device = farm.device();
        QVERIFY2(device, device ? "" : device.error().message.c_str());
        const auto results = measureAll(**device, 8, words);
        QCOMPARE(results.size(), std::size_t(8));
        for (std::size_t i = 0; i < results.size(); ++i) {
            const Errc expected = i == 2   ? Errc::BuildFailed
                                  : i == 3 ? Errc::WorkerCrashed
                                  : i == 5 ? Errc::BuildTimeout
                                           : Errc::Ok;
            QVERIFY2(results[i].code == expected, (std::to_string(i) + ": " + describe(results[i])).c_str());
            QVERIFY2(results[i].stage == (expected == Errc::Ok ? TrialStage::Done : TrialStage::Build),
                     (std::to_string(i) + ": " + describe(results[i])).c_str());
        }
        QVERIFY(results[1].durationsMs.at("build") >= 4000);
        QVERIFY2(results[3].text.find("the device's compiler crashed: signal 11") == 0, describe(results[3]).c_str());
        QCOMPARE(results[5].text, std::string("the device's compiler did not finish within 8 s"));
        QCOMPARE((*device)->starts(), std::uint64_t(1)); // it was one lease
    }

    void aBrokerThatIsKilledAndStartedAgainCostsNothing()
    {
        Farm farm;
        QVERIFY(farm.start());
        const auto device = farm.device();
        QVERIFY(device);
        int kills = 0;
        const auto results = measureAll(**device, 40, "", [&](std::size_t done) {
            if (done < static_cast<std::size_t>(10 * (kills + 1)) || kills == 3)
                return;
            ++kills;
            farm.server().kill();
            if (kills == 3) // a busy machine takes its time: longer than anybody may be silent
                std::this_thread::sleep_for(broker::kSilence + std::chrono::seconds(2));
            QVERIFY(farm.server().start());
        });
        QCOMPARE(kills, 3);
        QCOMPARE(results.size(), std::size_t(40));
        for (const TrialResult& result : results)
            QVERIFY2(result.ok(), describe(result).c_str());
    }

    void aDeviceThatIsStoppedEndsWhatItHasInHandAndIsGone()
    {
        Farm farm;
        QVERIFY(farm.start());
        const auto device = farm.device();
        QVERIFY(device);
        QCOMPARE(measureAll(**device, 4).size(), std::size_t(4));
        farm.stopDevice();
        farm.joinDevice();
        QVERIFY((*device)->turn(Endpoint::Clock::now()));
        Result<std::optional<wire::Message>> next = std::optional<wire::Message>();
        for (const Deadline end = Deadline::inSeconds(10); next && !end.passed(); ::usleep(10'000)) {
            (void)(*device)->turn(Endpoint::Clock::now());
            next = (*device)->next();
        }
        QVERIFY(!next);
        QCOMPARE(int(next.error().code), int(Errc::DeviceLost));
        QVERIFY2(next.error().message.find("drained") != std::string::npos, next.error().message.c_str());
    }

    /// A farm of thousands tells more than a run has time to hear; but who waits in vain is told what else there is.
    void otherKeysAreHeardWhileOursHasNoDevice()
    {
        NatsServer server;
        QVERIFY(server.start());
        const auto teller = broker::Connection::open({server.url()});
        QVERIFY(teller);
        const auto tell = [&](const char* key) {
            broker::DeviceNotice notice;
            notice.state = broker::DeviceState::Free;
            (*teller)->publish(broker::hereSubject(key, "device"), broker::toText(notice));
        };
        const auto devices = RemoteDevices::open(RemoteClaim{{server.url()}, "board", "ada"}, std::nullopt);
        QVERIFY(devices);
        const auto comes = [&](bool isOursThere, const std::vector<std::string>& heard) {
            for (const Deadline end = Deadline::inSeconds(15); !end.passed(); ::usleep(100'000)) {
                tell("other");
                if (isOursThere)
                    tell("board");
                const auto state = (*devices)->state();
                if (state.there == (isOursThere ? 1 : 0) && state.otherKeys == heard)
                    return true;
            }
            return false;
        };
        QVERIFY(comes(false, {"other"}));
        QVERIFY(comes(true, {}));
        QVERIFY(comes(false, {"other"})); // ours is lost, and remembered as such
    }

    /// Its line was away for a while, and the end of its lease was lost with it.
    void aDeviceThatWasThoughtLostIsToldThatItIsFree()
    {
        NatsServer server;
        QVERIFY(server.start());
        const auto board = broker::Connection::open({server.url()});
        QVERIFY(board);
        const auto inbox = std::make_shared<broker::Inbox>();
        const auto put = [inbox](std::string_view subject, std::string_view bytes) { inbox->put(subject, bytes); };
        const auto to = (*board)->subscribe("lathe.to.board1.>", put);
        const auto claims = (*board)->subscribe("lathe.claim.>", put);
        QVERIFY(to && claims && (*board)->settle());
        const auto devices = RemoteDevices::open({{server.url()}, "board", "ada"}, DeviceSpec{"sim", "", ""});
        QVERIFY(devices);
        (*devices)->hold(true);
        broker::DeviceNotice notice;
        notice.key = "board";
        notice.device = "board1";
        const broker::Offer offer = {{}, "board1", {5, 6}};
        std::size_t packets = 0, ends = 0;
        const auto hear = [&] {
            for (const auto& heard : inbox->takeAll()) {
                if (const auto claim = broker::claimIn(heard.subject, heard.bytes))
                    notice.ticket = claim->ticket;
                const auto packet = broker::decode(heard.bytes);
                packets += packet.has_value();
                ends += packet && packet->kind == broker::Packet::Kind::End && packet->session == offer.session;
            }
        };
        const auto tell = [&](broker::DeviceState state) {
            notice.state = state;
            (*board)->publish(broker::hereSubject("board", "board1"), broker::toText(notice));
            hear();
        };
        bool isOffered = false;
        const auto isTaken = [&] {
            tell(broker::DeviceState::Offered);
            if (!notice.ticket.empty() && !std::exchange(isOffered, true)) {
                broker::Offer ours = offer;
                ours.ticket = notice.ticket;
                (*board)->publish(broker::offerSubject("ada"), broker::toText(ours));
            }
            hear();
            return packets > 0;
        };
        QTRY_VERIFY_WITH_TIMEOUT(isTaken(), 20000);
        // As long as it is thought to be there, the end is none of its business.
        for (int i = 0; i < 10; ++i, ::usleep(200'000))
            tell(broker::DeviceState::Leased);
        QCOMPARE(ends, std::size_t(0));
        const auto isLost = [&] { return (*devices)->state().there == 0; };
        QTRY_VERIFY_WITH_TIMEOUT(isLost(), 20000);
        ::usleep(500'000);
        hear();
        ends = 0; // what was said until now was lost
        const auto isTold = [&] {
            tell(broker::DeviceState::Leased);
            return ends > 0;
        };
        QTRY_VERIFY_WITH_TIMEOUT(isTold(), 20000);
    }

    void whoFallsSilentLosesTheDevice()
    {
        Farm farm;
        QVERIFY(farm.start());
        const auto device = farm.device();
        QVERIFY(device);
        farm.stopClaiming();
        const auto isFree = [&] {
            const auto notice = farm.notice();
            return notice && notice->state == broker::DeviceState::Free;
        };
        QTRY_VERIFY_WITH_TIMEOUT(isFree(), 15000);
    }
};

LATHE_TEST(TestRemoteDevices)

} // namespace tst_remote_devices

#include "tst_remote_devices.moc"
