#include "core/broker/roster.h"
#include "tests/support/test_program.h"

#include <QtTest>

namespace tst_roster {

using namespace lathe;
using namespace lathe::broker;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

DeviceNotice device(const std::string& key, const std::string& name, DeviceState state = DeviceState::Free,
                    const std::string& ticket = {}, const std::string& user = {})
{
    return {key, name, state, ticket, user, milliseconds(0), "{}"};
}

ClaimNotice claim(const std::string& key, const std::string& ticket, const std::string& user, int priority = 0)
{
    return {key, ticket, user, "lathe-cli tune", priority, milliseconds(0), milliseconds(0)};
}

/// A roster that hears the same devices and claims each second.
struct Scene
{
    Roster roster;
    Roster::Time now = Roster::Time() + std::chrono::hours(1);
    std::vector<DeviceNotice> devices;
    std::vector<ClaimNotice> claims;

    RosterState pass(milliseconds time)
    {
        for (const Roster::Time end = now + time; now < end; now += milliseconds(500)) {
            for (const DeviceNotice& notice : devices)
                roster.hear(notice, now);
            for (const ClaimNotice& notice : claims)
                roster.hear(notice, now);
        }
        return roster.at(now);
    }
};

/// A line for each key: "board 3 2 1".
std::string keysOf(const RosterState& state)
{
    std::string text;
    for (const auto& key : state.keys)
        text += (text.empty() ? "" : ", ") + key.key + " " + std::to_string(key.total) + " " + std::to_string(key.free)
                + " " + std::to_string(key.pending);
    return text;
}

/// Tickets with their places.
std::string queue(const RosterState& state)
{
    std::string text;
    for (const auto& each : state.claims)
        text += (text.empty() ? "" : ", ") + each.notice.ticket + " " + std::to_string(each.place);
    return text;
}

} // namespace

class TestRoster : public QObject
{
    Q_OBJECT

private slots:
    void nothingIsKnownAtFirst()
    {
        Scene scene;
        const RosterState state = scene.pass(seconds(1));
        QVERIFY(state.devices.empty() && state.claims.empty() && state.keys.empty());
    }

    void devicesAndClaimsAreCountedByKey()
    {
        Scene scene;
        scene.devices = {device("board", "1"), device("board", "2", DeviceState::Leased, "a", "ada"),
                         device("board", "3", DeviceState::Sick), device("phone", "1", DeviceState::Drained)};
        scene.claims = {claim("board", "a", "ada"), claim("board", "b", "bob"), claim("watch", "c", "cay")};
        const RosterState state = scene.pass(seconds(10));
        QCOMPARE(keysOf(state), std::string("board 3 1 1, phone 1 0 0, watch 0 0 1"));
        QCOMPARE(queue(state), std::string("b 1, a 0, c 1"));
        QCOMPARE(state.devices.size(), std::size_t(4));
        QCOMPARE(state.devices[3].notice.key, std::string("phone"));
        QVERIFY(state.devices[0].there == seconds(10));
        QVERIFY(state.devices[0].silent == milliseconds(500));
        QCOMPARE(state.claims[1].devices, std::size_t(1));
        QVERIFY(state.claims[0].notice.waited == seconds(10));
    }

    void whatItHadGoesOnCounting()
    {
        Scene scene;
        scene.devices = {device("board", "1", DeviceState::Leased, "a", "ada")};
        scene.devices[0].had = seconds(5);
        scene.pass(milliseconds(500));
        scene.devices.clear();
        const RosterState state = scene.pass(seconds(2));
        QVERIFY(state.devices[0].notice.had == milliseconds(7500));
        const RosterState later = scene.pass(seconds(60)); // it is lost: who knows what it does
        QVERIFY(later.devices[0].isLost);
        QVERIFY(later.devices[0].notice.had == seconds(5));
    }

    /// A dead machine must not stay free, as it does on other farms.
    void oneThatFallsSilentIsLostAndForgottenAfterMinutes()
    {
        Scene scene;
        scene.devices = {device("board", "1"), device("board", "2")};
        scene.pass(seconds(5));
        scene.devices.pop_back();
        QCOMPARE(keysOf(scene.pass(milliseconds(2500))), std::string("board 2 2 0"));
        const RosterState state = scene.pass(milliseconds(500));
        QCOMPARE(keysOf(state), std::string("board 1 1 0"));
        QVERIFY(!state.devices[0].isLost && state.devices[1].isLost);
        QVERIFY(state.devices[1].silent >= milliseconds(3500));
        QCOMPARE(scene.pass(std::chrono::minutes(4)).devices.size(), std::size_t(2));
        QCOMPARE(scene.pass(std::chrono::minutes(1)).devices.size(), std::size_t(1));
    }

    void oneThatComesBackIsThereSinceThen()
    {
        Scene scene;
        scene.devices = {device("board", "1")};
        scene.pass(seconds(100));
        const auto devices = std::exchange(scene.devices, {});
        QVERIFY(scene.pass(seconds(10)).devices[0].isLost);
        scene.devices = devices;
        const RosterState state = scene.pass(seconds(3));
        QVERIFY(!state.devices[0].isLost && state.devices[0].there == seconds(3));
    }

    void oneThatWasDrainedAndFallsSilentIsGone()
    {
        Scene scene;
        scene.devices = {device("board", "1", DeviceState::Drained)};
        QCOMPARE(scene.pass(seconds(2)).devices.size(), std::size_t(1));
        scene.devices.clear();
        QVERIFY(scene.pass(seconds(4)).devices.empty());
    }

    void aClaimThatFallsSilentWaitsNoLonger()
    {
        Scene scene;
        scene.claims = {claim("board", "a", "ada"), claim("board", "b", "bob")};
        QCOMPARE(queue(scene.pass(seconds(2))), std::string("a 1, b 2"));
        scene.claims.erase(scene.claims.begin());
        QCOMPARE(queue(scene.pass(seconds(4))), std::string("b 1"));
    }

    /// Who used devices less of late is before one who used them more, as devices decide it.
    void theQueueKnowsWhoHadDevicesOfLate()
    {
        Scene scene;
        scene.devices = {device("board", "1", DeviceState::Leased, "a", "ada")};
        scene.claims = {claim("board", "a", "ada")};
        scene.pass(seconds(60));
        scene.claims.push_back(claim("board", "b", "bob"));
        scene.devices = {device("board", "1", DeviceState::Sick)};
        QCOMPARE(queue(scene.pass(seconds(2))), std::string("b 1, a 2"));
    }

    void priorityComesFirst()
    {
        Scene scene;
        scene.claims = {claim("board", "a", "ada"), claim("board", "b", "bob", 2), claim("board", "c", "cay", -1)};
        QCOMPARE(queue(scene.pass(seconds(2))), std::string("b 1, a 2, c 3"));
    }

    void aLeaseOfOneThatIsLostIsNone()
    {
        Scene scene;
        scene.devices = {device("board", "1", DeviceState::Leased, "a", "ada")};
        scene.claims = {claim("board", "a", "ada")};
        QCOMPARE(queue(scene.pass(seconds(2))), std::string("a 0"));
        scene.devices.clear();
        const RosterState state = scene.pass(seconds(5));
        QCOMPARE(queue(state), std::string("a 1"));
        QCOMPARE(keysOf(state), std::string("board 0 0 1"));
    }

    /// Tickets stand in what devices tell everybody.
    void nobodyTakesAnothersTicket()
    {
        Scene scene;
        scene.claims = {claim("board", "a", "ada"), claim("board", "a", "bob", 4)};
        const RosterState state = scene.pass(seconds(5));
        QCOMPARE(state.claims.size(), std::size_t(1));
        QCOMPARE(state.claims[0].notice.user, std::string("ada"));
        QCOMPARE(state.claims[0].notice.priority, 0);
    }

    void nobodyGetsOlderThanAWeek()
    {
        Scene scene;
        scene.claims = {claim("board", "a", "ada")};
        scene.claims[0].waited = milliseconds::max();
        QVERIFY(scene.pass(milliseconds(500)).claims[0].notice.waited <= std::chrono::hours(24 * 7 + 1));
    }

    void aFloodFillsNothing()
    {
        Roster roster;
        Roster::Time now = Roster::Time() + std::chrono::hours(1);
        DeviceNotice big = device("board", "");
        big.about.assign(kMostNoticeBytes, 'x');
        for (std::size_t i = 0; i < Roster::kMostDevices + 1000; ++i) {
            big.device = std::to_string(i);
            roster.hear(big, now);
            roster.hear(claim("key" + std::to_string(i), "t", "mallory"), now);
        }
        const RosterState full = roster.at(now);
        QCOMPARE(full.devices.size(), Roster::kMostDevices);
        QCOMPARE(full.claims.size(), Roster::kMostClaims);
        std::size_t bytes = 0;
        for (const auto& each : full.devices)
            bytes += each.notice.about.size();
        QVERIFY(bytes <= Roster::kMostAboutBytes);
        now += seconds(4); // what is lost makes room
        roster.hear(device("board", "late"), now);
        QCOMPARE(keysOf(roster.at(now)), std::string("board 1 1 0"));
    }
};

LATHE_TEST(TestRoster)

} // namespace tst_roster

#include "tst_roster.moc"
