#include "core/broker/turns.h"
#include "tests/support/test_program.h"

#include <QtTest>

namespace tst_turns {

using namespace lathe::broker;
using std::chrono::seconds;

namespace {

const TurnClock::time_point kStart = TurnClock::time_point() + std::chrono::hours(1);

Claim claim(const std::string& ticket, const std::string& user, int since = 0, int priority = 0)
{
    return {ticket, user, priority, kStart + seconds(since)};
}

DeviceTurn has(const std::string& device, const std::string& ticket, int since = 0)
{
    return {device, ticket, kStart + seconds(since)};
}

/// Devices that decide as they would, each second: how many seconds each user had a device.
std::map<std::string, int> simulate(KeyState state, int duration)
{
    std::map<std::string, int> had;
    for (int t = 0; t < duration; ++t) {
        const auto now = kStart + seconds(t);
        const KeyState seen = state; // all decide by the same news
        for (DeviceTurn& turn : state.devices)
            if (!turn.ticket.empty() && isTurnOver(seen, turn.device, now))
                turn.ticket.clear();
        for (DeviceTurn& turn : state.devices)
            if (turn.ticket.empty())
                if (const auto ticket = nextTicket(state)) {
                    turn.ticket = *ticket;
                    turn.since = now;
                }
        for (const DeviceTurn& turn : state.devices)
            for (const Claim& one : state.claims)
                if (one.ticket == turn.ticket) {
                    ++had[one.user];
                    state.recentSeconds[one.user] += 1;
                }
    }
    return had;
}

} // namespace

class TestTurns : public QObject
{
    Q_OBJECT

private slots:
    void aFreeDeviceGoesToWhoHasFewest()
    {
        const KeyState state = {{claim("a", "ada", 0), claim("b", "bob", 5)}, {has("1", "a"), has("2", "")}};
        QCOMPARE(*nextTicket(state), std::string("b"));
        const std::string refused[] = {"b"};
        QCOMPARE(*nextTicket(state, refused), std::string("a"));
        QVERIFY(!nextTicket({{}, {has("1", "")}}));
    }

    void ofEqualOnesTheOneWhoWaitsLongest()
    {
        QCOMPARE(*nextTicket({{claim("b", "bob", 5), claim("a", "ada", 0)}, {has("1", "")}}), std::string("a"));
    }

    void twoClaimsOfOneUserShareWhatHeIsToHave()
    {
        const KeyState state = {{claim("a1", "ada", 0), claim("a2", "ada", 0), claim("b", "bob", 9)},
                                {has("1", "a1"), has("2", "")}};
        QCOMPARE(*nextTicket(state), std::string("b"));
    }

    void nobodyIsSentAwayWhileADeviceIsFree()
    {
        const KeyState state = {{claim("a", "ada"), claim("b", "bob")}, {has("1", "a"), has("2", "a"), has("3", "")}};
        QVERIFY(!isTurnOver(state, "1", kStart + seconds(100)));
    }

    void whoHasManyGivesAsManyAsAreOwed()
    {
        const KeyState state = {{claim("a", "ada"), claim("b", "bob")},
                                {has("4", "a"), has("3", "a"), has("2", "a"), has("1", "a")}};
        const auto now = kStart + seconds(30);
        QVERIFY(isTurnOver(state, "1", now));
        QVERIFY(isTurnOver(state, "2", now));
        QVERIFY(!isTurnOver(state, "3", now));
        QVERIFY(!isTurnOver(state, "4", now));
        QVERIFY(!isTurnOver(state, "1", kStart + seconds(19))); // everybody has a slice
        QVERIFY(!isTurnOver(state, "none", now));
    }

    void aReservationHolds()
    {
        KeyState state = {{claim("a", "ada"), claim("b", "bob")}, {has("1", "a")}};
        state.claims[0].reservedUntil = kStart + seconds(100);
        QVERIFY(!isTurnOver(state, "1", kStart + seconds(99)));
        QVERIFY(isTurnOver(state, "1", kStart + seconds(100)));
    }

    void oneDeviceGoesBackAndForth()
    {
        const auto had = simulate({{claim("a", "ada"), claim("b", "bob")}, {has("1", "")}}, 4000);
        QVERIFY(std::abs(had.at("ada") - had.at("bob")) <= 20);
    }

    void prioritiesAreWeights()
    {
        const auto had = simulate(
            {{claim("a", "ada", 0, 1), claim("b", "bob", 0, 0)}, {has("1", ""), has("2", ""), has("3", "")}}, 3000);
        QVERIFY2(had.at("ada") > 1.8 * had.at("bob") && had.at("ada") < 2.2 * had.at("bob"),
                 qPrintable(QString("%1 and %2").arg(had.at("ada")).arg(had.at("bob"))));
    }

    void nobodyIsLeftWithout()
    {
        KeyState state = {{claim("a", "ada", 0, 4), claim("b", "bob", 0, -4), claim("c", "cay", 0, 0)},
                          {has("1", ""), has("2", "")}};
        const auto had = simulate(state, 5000);
        QVERIFY(had.contains("bob") && had.at("bob") > 0);
        QVERIFY(had.at("ada") > had.at("cay"));
    }

    void theQueueIsInTheOrderOfOffers()
    {
        const KeyState state = {{claim("a", "ada", 0), claim("b", "bob", 3), claim("c", "cay", 1)},
                                {has("1", "a"), has("2", "a")}};
        const std::vector<std::string> expected = {"c", "b", "a"};
        QVERIFY(queueOf(state) == expected);
    }
};

LATHE_TEST(TestTurns)

} // namespace tst_turns

#include "tst_turns.moc"
