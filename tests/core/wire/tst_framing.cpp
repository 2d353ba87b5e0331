#include "core/support/random.h"
#include "core/wire/blob_store.h"
#include "core/wire/messages.h"
#include "core/wire/pipe_channel.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <unistd.h>

namespace tst_framing {

using namespace lathe;
using namespace lathe::wire;

namespace {

void feed(FrameReader& reader, std::string_view text)
{
    reader.feed(std::as_bytes(std::span(text)));
}

} // namespace

class TestFraming : public QObject
{
    Q_OBJECT

private slots:
    void framesSurviveAnyCut()
    {
        std::string stream;
        const std::vector<std::string> payloads = {"", "a", std::string(70000, 'b'), std::string("\0\n", 2)};
        for (const std::string& payload : payloads)
            appendFrame(stream, payload);
        Random random(7);
        for (int round = 0; round < 20; ++round) {
            FrameReader reader;
            std::vector<std::string> got;
            for (std::size_t at = 0; at < stream.size();) {
                const std::size_t size = std::min<std::size_t>(1 + random.below(round < 10 ? 9 : 50000),
                                                               stream.size() - at);
                feed(reader, std::string_view(stream).substr(at, size));
                at += size;
                while (true) {
                    const auto frame = reader.next();
                    QVERIFY(frame);
                    if (!*frame)
                        break;
                    got.push_back(**frame);
                }
            }
            QCOMPARE(got, payloads);
            QCOMPARE(reader.pending(), std::size_t(0));
        }
    }

    void aForeignStreamIsRefused_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::newRow("text") << QByteArray("HELLO");
        QTest::newRow("one wrong byte") << QByteArray("LTHX");
        QTest::newRow("huge") << QByteArray("LTHE\xff\xff\xff\xff", 8);
        QTest::newRow("one too long") << QByteArray("LTHE\x01\x00\x00\x01", 8);
    }
    void aForeignStreamIsRefused()
    {
        QFETCH(QByteArray, bytes);
        FrameReader reader;
        feed(reader, {bytes.constData(), static_cast<std::size_t>(bytes.size())});
        const auto frame = reader.next();
        QVERIFY(!frame);
        QCOMPARE(int(frame.error().code), int(Errc::BadFile));
        QVERIFY(!reader.next());
    }

    void randomBytesNeverCrash()
    {
        bool given = false;
        const int fromEnvironment = qEnvironmentVariableIntValue("LATHE_TEST_SEED", &given);
        const int seed = given ? fromEnvironment : 20260;
        qInfo("seed %d", seed);
        Random random(static_cast<std::uint64_t>(seed));
        for (int round = 0; round < 2000; ++round) {
            wire::Message message;
            message.mutable_run_job()->set_id(random.next());
            message.mutable_run_job()->add_launches()->add_buffers(static_cast<std::uint32_t>(random.next()));
            std::string stream;
            appendFrame(stream, message.SerializeAsString());
            for (int flips = 0; flips < 4; ++flips)
                stream[random.below(stream.size())] = static_cast<char>(random.next());
            int fds[2];
            QCOMPARE(::pipe(fds), 0);
            QCOMPARE(::write(fds[1], stream.data(), stream.size()), static_cast<ssize_t>(stream.size()));
            ::close(fds[1]);
            PipeChannel connection(fds[0], -1);
            const auto answer = connection.receive(Deadline::inSeconds(10));
            if (!answer)
                QVERIFY(answer.error().code == Errc::BadFile || answer.error().code == Errc::WorkerCrashed);
            ::close(fds[0]);
        }
    }

    void messagesCrossAPipe()
    {
        int fds[2];
        QCOMPARE(::pipe(fds), 0);
        PipeChannel writer(-1, fds[1]);
        PipeChannel reader(fds[0], -1);
        wire::Message message;
        message.mutable_hello()->set_version("x");
        QVERIFY(writer.send(message, Deadline::inSeconds(10)));
        const auto got = reader.receive(Deadline::inSeconds(10));
        QVERIFY(got && got->has_hello());
        QCOMPARE(int(reader.receive(Deadline::inSeconds(0)).error().code), int(Errc::RunTimeout));
        ::close(fds[1]);
        QCOMPARE(int(reader.receive(Deadline::inSeconds(10)).error().code), int(Errc::WorkerCrashed));
        ::close(fds[0]);
    }

    void blobsComeInChunks()
    {
        const std::string bytes(10000, 'z');
        const Hash128 hash = contentHash(bytes);
        BlobStore store;
        QVERIFY(store.putChunk(hash, 10000, 0, std::string_view(bytes).substr(0, 4000)));
        QVERIFY(!store.find(hash));
        QVERIFY(store.putChunk(hash, 10000, 4000, std::string_view(bytes).substr(4000)));
        QVERIFY(store.find(hash));
        QCOMPARE(*store.find(hash), bytes);
        QVERIFY(store.putChunk(contentHash(""), 0, 0, ""));
        QVERIFY(store.find(contentHash("")));
    }

    void badChunksAreRefused()
    {
        const std::string bytes(100, 'z');
        const Hash128 hash = contentHash(bytes);
        BlobStore store(1000);
        QVERIFY(!store.putChunk(hash, 100, 50, std::string_view(bytes).substr(50))); // not from the start
        QVERIFY(!store.putChunk(hash, 100, 0, bytes + "z")); // too long
        QVERIFY(!store.putChunk(hash, 100, 0, std::string(100, 'y'))); // other contents
        QVERIFY(!store.putChunk(hash, 1001, 0, bytes)); // larger than the store
        QVERIFY(!store.putChunk(hash, 100, 0, "")); // no progress
        QVERIFY(store.putChunk(hash, 100, 0, std::string_view(bytes).substr(0, 10)));
        QVERIFY(!store.putChunk(hash, 90, 10, std::string_view(bytes).substr(10))); // another length
        QVERIFY(!store.find(hash));
        QVERIFY(store.putChunk(hash, 100, 0, bytes));
        QVERIFY(store.find(hash));
    }

    void theOldestBlobGoesFirst()
    {
        BlobStore store(250);
        const Hash128 a = store.put(std::string(100, 'a'));
        const Hash128 b = store.put(std::string(100, 'b'));
        QVERIFY(store.find(a)); // now b is the oldest
        store.put(std::string(100, 'c'));
        QVERIFY(store.find(a));
        QVERIFY(!store.find(b));
        QCOMPARE(store.bytes(), std::uint64_t(200));
    }
};

LATHE_TEST(TestFraming)

} // namespace tst_framing

#include "tst_framing.moc"
