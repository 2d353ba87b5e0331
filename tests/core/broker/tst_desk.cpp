#include "core/broker/desk.h"
#include "core/support/random.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <memory>
#include <utility>

namespace tst_desk {

using namespace lathe;
using namespace lathe::broker;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

DeskOptions optionsOf(const std::string& device)
{
    DeskOptions options;
    options.key = "board";
    options.device = device;
    return options;
}

ClaimNotice claim(const std::string& ticket, const std::string& user, milliseconds reserve = milliseconds(0))
{
    ClaimNotice notice;
    notice.key = "board";
    notice.ticket = ticket;
    notice.user = user;
    notice.reserve = reserve;
    return notice;
}

std::function<Hash128()> counter()
{
    return [next = std::make_shared<std::uint64_t>(0)] { return Hash128{7, ++*next}; };
}

/// A desk, and claims that say each second that they are there. The broker carries them, and what the desk says itself.
struct Scene
{
    Desk desk = Desk(optionsOf("1"), counter());
    Desk::Time now = Desk::Time() + std::chrono::hours(1);
    std::vector<ClaimNotice> claims;
    bool brokerIsThere = true;

    Desk::Step pass(milliseconds time)
    {
        for (const Desk::Time end = now + time; now < end;) {
            if (brokerIsThere) {
                for (const ClaimNotice& notice : claims)
                    desk.hear(notice, now);
                desk.hear(desk.notice(now), now);
            }
            now += milliseconds(250);
            Desk::Step step = desk.turn(now);
            if (step.offer || step.over)
                return step;
        }
        return {};
    }
};

} // namespace

class TestDesk : public QObject
{
    Q_OBJECT

private slots:
    void itIsOfferedToOneWhoWantsItAndIsHisOnceHeTakesIt()
    {
        Scene scene;
        QVERIFY(!scene.pass(seconds(2)).offer);
        QVERIFY(scene.desk.notice(scene.now).state == DeviceState::Free);
        scene.claims = {claim("a", "ada")};
        const auto step = scene.pass(seconds(1));
        QVERIFY(step.offer);
        QCOMPARE(step.offer->ticket, std::string("a"));
        QCOMPARE(step.offer->device, std::string("1"));
        QVERIFY(scene.desk.notice(scene.now).state == DeviceState::Offered);
        scene.desk.taken({7, 99}, scene.now); // another session
        QVERIFY(scene.desk.notice(scene.now).state == DeviceState::Offered);
        scene.desk.taken(step.offer->session, scene.now);
        QVERIFY(!scene.pass(seconds(60)).over); // nobody else wants it
        const DeviceNotice notice = scene.desk.notice(scene.now);
        QVERIFY(notice.state == DeviceState::Leased);
        QCOMPARE(notice.user, std::string("ada"));
        QVERIFY(notice.had >= seconds(59));
    }

    void anOfferThatNobodyTakesGoesToTheNext()
    {
        Scene scene;
        scene.claims = {claim("a", "ada"), claim("b", "bob")};
        const auto first = scene.pass(seconds(1));
        QCOMPARE(first.offer->ticket, std::string("a"));
        const auto withdrawn = scene.pass(seconds(3));
        QVERIFY(withdrawn.over && *withdrawn.over == first.offer->session);
        const auto second = scene.pass(seconds(1));
        QCOMPARE(second.offer->ticket, std::string("b"));
        scene.desk.taken(first.offer->session, scene.now); // too late
        QVERIFY(scene.desk.notice(scene.now).state == DeviceState::Offered);
        scene.pass(seconds(3));
        scene.pass(milliseconds(250));
        const auto third = scene.pass(seconds(1));
        QVERIFY(third.offer);
        QCOMPARE(third.offer->ticket, std::string("a")); // once more
    }

    /// Tickets stand in what devices tell: nobody gets a device by another's.
    void aTicketIsHisWhoNamedItFirst()
    {
        Scene scene;
        scene.claims = {claim("a", "ada"), claim("a", "eve")};
        const auto offer = scene.pass(seconds(1)).offer;
        QVERIFY(offer);
        QCOMPARE(scene.desk.notice(scene.now).user, std::string("ada"));
    }

    void oneWhoWantsOneDeviceIsOfferedNoSecond()
    {
        Scene scene;
        scene.claims = {claim("a", "ada")};
        scene.claims[0].most = 1;
        DeviceNotice other;
        other.key = "board";
        other.device = "2";
        other.state = DeviceState::Leased;
        other.ticket = "a";
        other.user = "ada";
        scene.desk.hear(other, scene.now);
        scene.desk.hear(scene.claims[0], scene.now);
        QVERIFY(!scene.desk.turn(scene.now).offer);
        scene.claims[0].most = 2;
        scene.desk.hear(scene.claims[0], scene.now);
        QVERIFY(scene.desk.turn(scene.now).offer);
    }

    void oneWhoWantsAnotherDeviceIsOfferedNone()
    {
        Scene scene;
        scene.claims = {claim("a", "ada")};
        scene.claims.front().device = "2";
        QVERIFY(!scene.pass(seconds(3)).offer);
        scene.claims.front().device = "1";
        const auto step = scene.pass(seconds(1));
        QVERIFY(step.offer);
        QCOMPARE(step.offer->ticket, std::string("a"));
    }

    /// One who wants this device alone has it in turn though another is free, and one who wants another ends no turn.
    void aTurnEndsForOneWhoWantsThisDeviceAlone()
    {
        for (const bool isThis : {true, false}) {
            Scene scene;
            scene.claims = {claim("a", "ada")};
            const auto offered = scene.pass(seconds(1));
            QVERIFY(offered.offer);
            scene.desk.taken(offered.offer->session, scene.now);
            scene.claims.push_back(claim("b", "bob"));
            scene.claims.back().device = isThis ? "1" : "2";
            bool isOver = false;
            for (int i = 0; i < 60 && !isOver; ++i) {
                DeviceNotice other;
                other.key = "board";
                other.device = "2";
                scene.desk.hear(other, scene.now);
                isOver = scene.pass(seconds(1)).over.has_value();
            }
            QCOMPARE(isOver, isThis);
        }
    }

    /// Locks that never expire are what users of other farms suffer from.
    void oneWhoFallsSilentLosesIt()
    {
        Scene scene;
        scene.claims = {claim("a", "ada")};
        const auto offer = scene.pass(seconds(1)).offer;
        scene.desk.taken(offer->session, scene.now);
        scene.claims.clear();
        const auto step = scene.pass(seconds(4));
        QVERIFY(step.over && *step.over == offer->session);
        QVERIFY(step.why == LeaseEnd::HolderSilent);
        QVERIFY(!scene.pass(seconds(5)).over); // he is told once
        scene.desk.returned(offer->session, scene.now);
        QVERIFY(scene.desk.notice(scene.now).state == DeviceState::Free);
    }

    /// A farm's server is started anew, on a busy machine: nobody is heard, and nobody has fallen silent.
    void aBrokerThatIsAwayEndsNoLease()
    {
        Scene scene;
        scene.claims = {claim("a", "ada")};
        const auto offer = scene.pass(seconds(1)).offer;
        scene.desk.taken(offer->session, scene.now);
        for (int i = 0; i < 3; ++i) {
            scene.brokerIsThere = false;
            QVERIFY(!scene.pass(seconds(20)).over);
            scene.brokerIsThere = true;
            const auto claims = std::exchange(scene.claims, {}); // the holder takes a while to find it again
            QVERIFY(!scene.pass(seconds(3)).over);
            scene.claims = claims;
            QVERIFY(!scene.pass(seconds(2)).over);
        }
        // It comes and goes: the desk is back each time before the holder is.
        const auto claims = std::exchange(scene.claims, {});
        for (int i = 0; i < 5; ++i) {
            QVERIFY(!scene.pass(milliseconds(1500)).over);
            scene.desk.brokerWasAway(scene.now);
        }
        scene.claims = claims;
        QVERIFY(!scene.pass(seconds(2)).over);
        scene.brokerIsThere = false;
        QVERIFY(!scene.pass(seconds(20)).over);
        scene.brokerIsThere = true;
        scene.claims.clear(); // he went meanwhile
        const auto step = scene.pass(seconds(4));
        QVERIFY(step.over && *step.over == offer->session);
        QVERIFY(step.why == LeaseEnd::HolderSilent);
    }

    void aTurnEndsWhenAnotherWaits()
    {
        Scene scene;
        scene.claims = {claim("a", "ada")};
        const auto offer = scene.pass(seconds(1)).offer;
        scene.desk.taken(offer->session, scene.now);
        QVERIFY(!scene.pass(seconds(100)).over);
        scene.claims.push_back(claim("b", "bob"));
        const auto step = scene.pass(seconds(1));
        QVERIFY(step.over);
        QVERIFY(!scene.pass(seconds(1)).offer); // it is still ada's until she is done
        scene.desk.returned(offer->session, scene.now);
        const auto next = scene.pass(seconds(1));
        QCOMPARE(next.offer->ticket, std::string("b"));
    }

    void aReservationHoldsButNotForEver()
    {
        Scene scene;
        scene.claims = {claim("a", "ada", std::chrono::hours(100)), claim("b", "bob")};
        const auto offer = scene.pass(seconds(1)).offer;
        scene.desk.taken(offer->session, scene.now);
        QVERIFY(!scene.pass(std::chrono::minutes(29)).over);
        QVERIFY(scene.pass(std::chrono::minutes(2)).over);
    }

    void oneThatIsDrainedIsGivenToNobody()
    {
        Scene scene;
        scene.claims = {claim("a", "ada")};
        const auto offer = scene.pass(seconds(1)).offer;
        scene.desk.taken(offer->session, scene.now);
        scene.desk.drain(true);
        QVERIFY(scene.desk.notice(scene.now).state == DeviceState::Draining);
        QVERIFY(scene.pass(seconds(1)).over);
        scene.desk.returned(offer->session, scene.now);
        QVERIFY(!scene.pass(seconds(10)).offer);
        QVERIFY(scene.desk.notice(scene.now).state == DeviceState::Drained);
        scene.desk.drain(false);
        QVERIFY(scene.pass(seconds(1)).offer);
    }

    void whatIsOfAnotherKeyIsNotHeard()
    {
        Scene scene;
        ClaimNotice other = claim("a", "ada");
        other.key = "phone";
        scene.claims = {other};
        QVERIFY(!scene.pass(seconds(5)).offer);
    }

    /// Ten boards, three people who come and go, notices that are lost: each board is one person's at a time, nobody
    /// who stays is left out, and what one has is about what the others have.
    void manyDesksShareFairly()
    {
        Random random(5);
        struct Board
        {
            std::unique_ptr<Desk> desk;
            std::optional<Offer> offer;
            std::optional<Hash128> leased;
            std::string holder;
        };
        std::vector<Board> boards;
        const auto sessions = counter();
        for (int i = 0; i < 10; ++i)
            boards.push_back({std::make_unique<Desk>(optionsOf("board" + std::to_string(i)), sessions), {}, {}, {}});
        const std::vector<std::string> people = {"ada", "bob", "cay"};
        std::map<std::string, int> had;
        Desk::Time now = Desk::Time() + std::chrono::hours(1);
        for (int step = 0; step < 4 * 1800; ++step) {
            now += milliseconds(250);
            const bool cayIsHere = step > 2400; // after ten minutes
            if (step % 4 == 0)
                for (Board& to : boards) {
                    for (const std::string& person : people)
                        if ((person != "cay" || cayIsHere) && random.below(10) > 0)
                            to.desk->hear(claim(person, person), now);
                    for (const Board& from : boards)
                        if (random.below(10) > 0)
                            to.desk->hear(from.desk->notice(now), now);
                }
            for (Board& board : boards) {
                const auto todo = board.desk->turn(now);
                if (todo.over && board.leased && *todo.over == *board.leased) {
                    board.desk->returned(*board.leased, now);
                    board.leased.reset();
                }
                if (todo.offer) {
                    board.leased = todo.offer->session;
                    board.holder = todo.offer->ticket;
                    board.desk->taken(*board.leased, now);
                }
                if (board.leased && step > 4 * 900) // what the last quarter of an hour is like
                    ++had[board.holder];
            }
        }
        int all = 0;
        for (const std::string& person : people)
            all += had[person];
        QVERIFY(all > 10 * 4 * 900 * 9 / 10); // they are used nearly always
        for (const std::string& person : people)
            QVERIFY2(had[person] > all / 3 * 8 / 10 && had[person] < all / 3 * 12 / 10,
                     qPrintable(QString::fromStdString(person) + QString(": %1 of %2").arg(had[person]).arg(all)));
    }
};

LATHE_TEST(TestDesk)

} // namespace tst_desk

#include "tst_desk.moc"
