#include "core/broker/channel.h"
#include "core/wire/blob_store.h"
#include "core/wire/hash_field.h"
#include "core/wire/messages.h"
#include "tests/support/nats_server.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <thread>

namespace tst_broker_channel {

using namespace lathe;
using namespace lathe::broker;
using lathe::test::NatsServer;

namespace {

const Hash128 kSession = {3, 4};

wire::Message numbered(std::uint64_t number)
{
    wire::Message message;
    message.mutable_progress()->set_id(number);
    return message;
}

struct Ends
{
    std::shared_ptr<Connection> leftConnection, rightConnection;
    std::unique_ptr<Channel> left, right;
};

Result<Ends> open(const NatsServer& server)
{
    Ends ends;
    LATHE_TRY_ASSIGN(ends.leftConnection, Connection::open({server.url()}));
    LATHE_TRY_ASSIGN(ends.rightConnection, Connection::open({server.url()}));
    LATHE_TRY_ASSIGN(ends.left, Channel::open(ends.leftConnection, "test.right", "test.left", kSession));
    LATHE_TRY_ASSIGN(ends.right, Channel::open(ends.rightConnection, "test.left", "test.right", kSession));
    return ends;
}

} // namespace

class TestBrokerChannel : public QObject
{
    Q_OBJECT

private slots:
    void messagesAndBlobsCross()
    {
        NatsServer server;
        QVERIFY(server.start());
        const auto ends = open(server);
        QVERIFY2(ends, ends ? "" : ends.error().message.c_str());
        const std::string bytes(5'000'000, 'b');
        const Hash128 hash = contentHash(bytes);
        std::jthread sender([&] {
            ends->left->queueBlob(hash, bytes);
            (void)ends->left->send(numbered(7), Deadline::inSeconds(20));
            (void)ends->left->receive(Deadline::inSeconds(20)); // as a worker does: waits for what comes next
        });
        wire::BlobStore store;
        while (true) {
            const auto message = ends->right->receive(Deadline::inSeconds(20));
            QVERIFY2(message, message ? "" : message.error().message.c_str());
            if (!message->has_blob()) {
                QCOMPARE(message->progress().id(), std::uint64_t(7));
                break;
            }
            QVERIFY(store.putChunk(wire::fromWire(message->blob().hash()), message->blob().total(),
                                   message->blob().offset(), message->blob().data()));
        }
        QVERIFY(store.find(hash));
        QVERIFY(ends->right->send(numbered(8), Deadline::inSeconds(20)));
    }

    void theEndIsToldByTheOneWhoGoes()
    {
        NatsServer server;
        QVERIFY(server.start());
        auto ends = open(server);
        QVERIFY(ends);
        QVERIFY(ends->leftConnection->settle() && ends->rightConnection->settle());
        ends->left.reset();
        const auto message = ends->right->receive(Deadline::inSeconds(10));
        QVERIFY(!message);
        QCOMPARE(int(message.error().code), int(Errc::DeviceLost));
    }

    void aBrokerThatIsKilledAndStartedAgainLosesNothing()
    {
        NatsServer server;
        QVERIFY(server.start());
        const auto ends = open(server);
        QVERIFY(ends);
        constexpr std::uint64_t kCount = 400;
        std::jthread sender([&] {
            for (std::uint64_t i = 1; i <= kCount; ++i) {
                (void)ends->left->send(numbered(i), Deadline::inSeconds(60));
                std::this_thread::sleep_for(std::chrono::milliseconds(5));
            }
            (void)ends->left->receive(Deadline::inSeconds(60));
        });
        for (std::uint64_t i = 1; i <= kCount; ++i) {
            if (i == 100 || i == 250) {
                server.kill();
                QVERIFY(server.start());
            }
            const auto message = ends->right->receive(Deadline::inSeconds(60));
            QVERIFY2(message, message ? "" : message.error().message.c_str());
            QCOMPARE(message->progress().id(), i);
        }
        QVERIFY(ends->right->send(numbered(0), Deadline::inSeconds(60)));
        QVERIFY(ends->leftConnection->connected());
    }

    void nobodyThereIsToldInTwoSeconds()
    {
        const NatsServer server; // not started
        QElapsedTimer timer;
        timer.start();
        const auto connection = Connection::open({server.url()});
        QVERIFY(!connection);
        QVERIFY(connection.error().code == Errc::NotFound);
        QVERIFY(connection.error().message.find(server.url()) != std::string::npos);
        QCOMPARE(int(Connection::open({""}).error().code), int(Errc::InvalidArgument));
    }
};

LATHE_TEST(TestBrokerChannel)

} // namespace tst_broker_channel

#include "tst_broker_channel.moc"
