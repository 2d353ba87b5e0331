#include "core/broker/link.h"
#include "core/support/random.h"
#include "core/wire/framing.h"
#include "tests/support/test_program.h"

#include <QtTest>

namespace tst_link {

using namespace lathe;
using namespace lathe::broker;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

const Hash128 kSession = {1, 2};

std::string numbered(int number, std::size_t bytes)
{
    std::string text = std::to_string(number) + ":";
    text.resize(std::max(text.size(), bytes), static_cast<char>('a' + number % 26));
    return text;
}

/// What is done to packets on their way, in hundredths.
struct Faults
{
    int lost = 0, doubled = 0, late = 0;
};

/// Two links and what is between them. Time passes by the milliseconds that the links ask for.
class Line
{
public:
    Line(Faults faults, std::uint64_t seed)
        : m_faults(faults)
        , m_random(seed)
    {
    }
    Link left = Link(kSession), right = Link(kSession);
    Link::Time now = Link::Clock::now();
    bool cut = false; ///< nothing gets through
    std::size_t packets = 0;

    void step()
    {
        carry(left, m_toRight);
        carry(right, m_toLeft);
        deliver(m_toRight, right);
        deliver(m_toLeft, left);
        now += milliseconds(1);
    }
    /// Until everything has arrived, or for a time.
    void settle(Link::Clock::duration most = seconds(600))
    {
        for (const Link::Time end = now + most; now < end && !(left.allArrived() && right.allArrived());)
            step();
    }

private:
    using Way = std::multimap<Link::Time, std::string>;
    void carry(Link& from, Way& way)
    {
        for (std::string& packet : from.outgoing(now)) {
            ++packets;
            for (int copies = chance(m_faults.doubled) ? 2 : 1; copies > 0; --copies)
                if (!cut && !chance(m_faults.lost))
                    way.emplace(now + milliseconds(chance(m_faults.late) ? m_random.below(900) : 1), packet);
        }
    }
    void deliver(Way& way, Link& to) const
    {
        while (!way.empty() && way.begin()->first <= now) {
            to.receive(way.begin()->second, now);
            way.erase(way.begin());
        }
    }
    bool chance(int hundredths) { return m_random.below(100) < static_cast<std::uint64_t>(hundredths); }

    Faults m_faults;
    Random m_random;
    Way m_toRight, m_toLeft;
};

} // namespace

class TestLink : public QObject
{
    Q_OBJECT

private slots:
    void packetsAreWhatTheyWere()
    {
        const std::string data("piece\0of", 8);
        const Packet packet = {{~std::uint64_t(0), 7}, 1, std::uint64_t(1) << 63, Packet::Kind::LastPiece, data};
        const std::string bytes = encode(packet);
        const auto again = decode(bytes);
        QVERIFY(again);
        QVERIFY(again->session == packet.session);
        QCOMPARE(again->sequence, packet.sequence);
        QCOMPARE(again->acknowledged, packet.acknowledged);
        QVERIFY(again->kind == packet.kind);
        QCOMPARE(again->data, packet.data);
        for (std::size_t n = 0; n + data.size() < bytes.size(); ++n)
            QVERIFY(!decode(std::string_view(bytes).substr(0, n)));
        std::string unknown = bytes;
        unknown[36] = 5; // a kind that there is not
        QVERIFY(!decode(unknown));
        QVERIFY(!decode(encode({kSession, 1, 0, Packet::Kind::Piece, std::string(kPieceBytes + 1, 'x')})));
    }

    void messagesArriveWholeOnceAndInOrder_data()
    {
        QTest::addColumn<int>("lost");
        QTest::addColumn<int>("doubled");
        QTest::addColumn<int>("late");
        QTest::newRow("a good line") << 0 << 0 << 0;
        QTest::newRow("lost") << 20 << 0 << 0;
        QTest::newRow("doubled") << 0 << 50 << 0;
        QTest::newRow("out of order") << 0 << 0 << 40;
        QTest::newRow("all of it") << 25 << 25 << 25;
    }
    void messagesArriveWholeOnceAndInOrder()
    {
        QFETCH(int, lost);
        QFETCH(int, doubled);
        QFETCH(int, late);
        for (std::uint64_t seed = 1; seed <= 5; ++seed) {
            Line line({lost, doubled, late}, seed);
            Random random(seed + 100);
            std::vector<std::string> toRight, toLeft;
            for (int i = 0; i < 60; ++i) {
                const std::size_t bytes = i % 10 == 0 ? random.below(5 * kPieceBytes) : random.below(300);
                toRight.push_back(numbered(i, bytes));
                line.left.send(toRight.back());
                toLeft.push_back(numbered(i, random.below(50)));
                line.right.send(toLeft.back());
                for (int steps = 0; steps < 20; ++steps)
                    line.step();
            }
            toRight.emplace_back();
            line.left.send(""); // a message without bytes is one
            line.settle();
            std::vector<std::string> atRight, atLeft;
            while (auto message = line.right.next())
                atRight.push_back(*std::move(message));
            while (auto message = line.left.next())
                atLeft.push_back(*std::move(message));
            QVERIFY2(atRight == toRight && atLeft == toLeft, qPrintable(QString("seed %1").arg(seed)));
            QVERIFY(!line.left.ended() && !line.right.ended());
        }
    }

    /// A broker that is started again.
    void nothingIsLostWhereTheLineIsCutForAWhile()
    {
        Line line({}, 1);
        line.left.send(numbered(1, 10 * kPieceBytes));
        line.step();
        line.cut = true;
        for (int i = 0; i < 30'000; ++i)
            line.step();
        line.cut = false;
        line.settle(seconds(10));
        const auto message = line.right.next();
        QVERIFY(message && *message == numbered(1, 10 * kPieceBytes));
    }

    void oneThatFallsSilentIsGivenUp()
    {
        Line line({}, 1);
        line.left.send("x");
        line.cut = true;
        line.settle(Link::kGiveUp - seconds(1));
        QVERIFY(!line.left.ended());
        line.settle(seconds(2));
        QVERIFY(line.left.ended());
        QCOMPARE(int(line.left.ended()->code), int(Errc::DeviceLost));
        QVERIFY(line.packets < 40); // at growing intervals
        QVERIFY(line.left.wake() == Link::Time::max());
    }

    void theEndIsToldBehindWhatCameBefore()
    {
        Line line({}, 1);
        line.left.send("last");
        line.settle();
        line.left.end("the lease is over");
        line.step();
        line.step();
        line.step();
        QVERIFY(line.right.ended());
        QCOMPARE(line.right.ended()->message, std::string("the lease is over"));
        QCOMPARE(*line.right.next(), std::string("last"));
        line.left.send("nobody hears this");
        QVERIFY(line.left.outgoing(line.now).empty());
    }

    /// He may be there after all, and would keep what he has for us.
    void oneThatWasGivenUpIsToldTheEnd()
    {
        Line line({}, 1);
        line.right.send("x");
        line.settle();
        line.left.giveUp(say(Msg::DeviceSilent, "board1"));
        for (int i = 0; i < 1000; ++i)
            line.step();
        QVERIFY(!line.right.ended());
        line.left.end(textOf(say(Msg::DeviceGivenBack)));
        for (int i = 0; i < 1000; ++i)
            line.step();
        QVERIFY(line.right.ended());
        QVERIFY2(line.right.ended()->message.find("given back") != std::string::npos,
                 line.right.ended()->message.c_str());
        // And not he who said the end himself.
        const std::size_t before = line.packets;
        line.right.end("so be it");
        for (int i = 0; i < 1000; ++i)
            line.step();
        QCOMPARE(line.packets, before);
    }

    void packetsOfAnotherSessionAreLeftOut()
    {
        Link link(kSession);
        const auto now = Link::Clock::now();
        link.receive(encode({{9, 9}, 1, 0, Packet::Kind::LastPiece, "x"}), now);
        link.receive("nonsense", now);
        link.receive(encode({kSession, 1000, 0, Packet::Kind::LastPiece, "far ahead"}), now);
        QCOMPARE(link.leftOut(), std::uint64_t(3));
        QVERIFY(!link.next());
        link.send("x");
        link.receive(encode({kSession, 0, 77, Packet::Kind::Acknowledgement, {}}), now); // of what was never sent
        QVERIFY(!link.allArrived());
    }

    void aMessageWithoutEndIsRefused()
    {
        Link link(kSession);
        const auto now = Link::Clock::now();
        const std::string piece(kPieceBytes, 'x');
        for (std::uint64_t i = 1; i <= wire::kMaxFrameBytes / kPieceBytes + 1; ++i)
            link.receive(encode({kSession, i, 0, Packet::Kind::Piece, piece}), now);
        QVERIFY(link.ended());
        QCOMPARE(int(link.ended()->code), int(Errc::BadFile));
    }

    /// Whoever takes nothing out does not have to hold everything.
    void whatIsHeldIsBounded()
    {
        Line line({}, 1);
        for (int i = 0; i < 5; ++i)
            line.left.send(std::string(12u << 20, 'x'));
        line.settle(seconds(30));
        QVERIFY(!line.left.allArrived());
        int got = 0;
        for (int i = 0; i < 20'000 && got < 5; ++i) {
            line.step();
            while (line.right.next())
                ++got;
        }
        QCOMPARE(got, 5);
        QVERIFY(line.left.allArrived() || !line.left.ended());
    }

    /// On a good line nothing is sent twice, and most acknowledgements ride on what is sent anyway.
    void aGoodLineCarriesLittleElse()
    {
        Line line({}, 1);
        for (int i = 0; i < 100; ++i) {
            line.left.send("question");
            line.step();
            line.step();
            line.step();
            QVERIFY(line.right.next());
            line.right.send("answer");
            line.step();
            line.step();
            line.step();
            QVERIFY(line.left.next());
        }
        QVERIFY2(line.packets <= 205, qPrintable(QString::number(line.packets)));
    }
};

LATHE_TEST(TestLink)

} // namespace tst_link

#include "tst_link.moc"
