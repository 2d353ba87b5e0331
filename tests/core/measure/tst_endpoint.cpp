#include "core/measure/endpoint.h"
#include "tests/support/fake_port.h"
#include "tests/support/test_program.h"

#include <QtTest>

namespace tst_endpoint {

using namespace lathe;
using namespace lathe::measure;
using lathe::test::FakePort;

namespace {

struct Fixture
{
    std::shared_ptr<FakePort::Seen> seen = std::make_shared<FakePort::Seen>();
    Endpoint::Time now = Endpoint::Clock::now();

    Endpoint endpoint(EndpointTraits traits = {DeviceSpec{"fake", "0", "-x=1"}})
    {
        return Endpoint(std::make_unique<FakePort>(seen), std::move(traits));
    }
};

} // namespace

class TestEndpoint : public QObject
{
    Q_OBJECT

private slots:
    void itIsReadyOnceItsDeviceIsOpen()
    {
        Fixture f;
        f.seen->device.clear();
        Endpoint endpoint = f.endpoint();
        QVERIFY(!endpoint.ready() && !endpoint.opening());
        QVERIFY(endpoint.open(f.now));
        QVERIFY(endpoint.opening());
        QVERIFY(endpoint.turn(f.now));
        QVERIFY(!endpoint.ready()); // greeted, but the device is not open
        QCOMPARE(f.seen->channel->sent.size(), std::size_t(2));
        QVERIFY(f.seen->channel->sent[0].has_hello());
        QCOMPARE(f.seen->channel->sent[1].open_device().options(), std::string("-x=1"));
        wire::Message opened;
        opened.mutable_device_opened()->set_json(R"({"kind": "fake", "key": "0"})");
        f.seen->answer(opened);
        QVERIFY(endpoint.turn(f.now));
        QVERIFY(endpoint.ready());
        QVERIFY(!endpoint.identity().key.empty());
    }

    void oneOfAnotherBuildIsRefused()
    {
        Fixture f;
        EndpointTraits traits;
        traits.buildId = "another";
        Endpoint endpoint = f.endpoint(traits);
        QVERIFY(endpoint.open(f.now));
        const auto turned = endpoint.turn(f.now);
        QVERIFY(!turned);
        QCOMPARE(int(turned.error().code), int(Errc::Incompatible));
        QVERIFY(turned.error().message.find("lathe-fake") != std::string::npos);
        QCOMPARE(f.seen->closed, 1);
    }

    void oneThatSaysNothingIsGivenUp()
    {
        Fixture f;
        f.seen->silent = true;
        Endpoint endpoint = f.endpoint();
        QVERIFY(endpoint.open(f.now));
        QVERIFY(endpoint.turn(f.now + std::chrono::seconds(59)));
        QVERIFY(endpoint.wake() <= f.now + std::chrono::seconds(60));
        const auto turned = endpoint.turn(f.now + std::chrono::seconds(60));
        QVERIFY(!turned);
        QCOMPARE(int(turned.error().code), int(Errc::RunTimeout));
        QVERIFY(!endpoint.opening());
    }

    /// What it stands still does not count against it.
    void timeStandsStillWhileItIsSuspended()
    {
        Fixture f;
        f.seen->silent = true;
        Endpoint endpoint = f.endpoint();
        QVERIFY(endpoint.open(f.now));
        endpoint.suspend(f.now + std::chrono::seconds(10));
        QVERIFY(f.seen->suspended);
        endpoint.resume(f.now + std::chrono::seconds(100));
        QVERIFY(!f.seen->suspended);
        QVERIFY(endpoint.turn(f.now + std::chrono::seconds(149)));
        QVERIFY(!endpoint.turn(f.now + std::chrono::seconds(150)));
    }

    void itsLastWordsAreTold()
    {
        Fixture f;
        f.seen->silent = true;
        Endpoint endpoint = f.endpoint();
        QVERIFY(endpoint.open(f.now));
        f.seen->channel->ended = makeError(Errc::WorkerCrashed, "exit status 3");
        f.seen->words = "no memory left";
        const auto turned = endpoint.turn(f.now);
        QVERIFY(!turned);
        QCOMPARE(turned.error().message, std::string("lathe-fake ended with exit status 3: no memory left"));
        QVERIFY(!endpoint.killed());
    }

    void oneThatOthersKillIsStartedAgain()
    {
        Fixture f;
        f.seen->killedFromOutside = true;
        struct KilledOnce : FakePort
        {
            using FakePort::FakePort;
            int left = 2;
            Result<> open() override
            {
                const Result<> opened = FakePort::open();
                if (left-- > 0)
                    static_cast<test::FakeChannel*>(channel())->inbox.clear(),
                        static_cast<test::FakeChannel*>(channel())->ended = makeError(Errc::WorkerCrashed, "signal 9");
                return opened;
            }
            wire::PortEnd close(const Error& why) override
            {
                wire::PortEnd end = FakePort::close(why);
                end.killed = true;
                return end;
            }
        };
        Endpoint endpoint(std::make_unique<KilledOnce>(f.seen), {DeviceSpec{"fake", "0", ""}});
        QVERIFY(endpoint.waitUntilReady());
        QCOMPARE(f.seen->opened, 3);
        QCOMPARE(endpoint.starts(), std::uint64_t(3));
    }

    void aBlobIsSentOnceToEachWorker()
    {
        Fixture f;
        Endpoint endpoint = f.endpoint();
        QVERIFY(endpoint.waitUntilReady());
        const std::string bytes = "abc";
        const Hash128 hash = contentHash(bytes);
        f.seen->channel->sent.clear();
        endpoint.offerBlob(hash, bytes);
        endpoint.offerBlob(hash, bytes);
        QCOMPARE(f.seen->channel->sent.size(), std::size_t(1));
        endpoint.forgetBlob(hash);
        endpoint.offerBlob(hash, bytes);
        QCOMPARE(f.seen->channel->sent.size(), std::size_t(2));
        endpoint.stop();
        QVERIFY(endpoint.waitUntilReady());
        f.seen->channel->sent.clear();
        endpoint.offerBlob(hash, bytes);
        QCOMPARE(f.seen->channel->sent.size(), std::size_t(1));
    }
};

LATHE_TEST(TestEndpoint)

} // namespace tst_endpoint

#include "tst_endpoint.moc"
