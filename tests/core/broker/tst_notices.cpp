#include "core/broker/notices.h"
#include "core/broker/subjects.h"
#include "tests/support/test_program.h"

#include <QtTest>

namespace tst_notices {

using namespace lathe;
using namespace lathe::broker;
using std::chrono::milliseconds;

class TestNotices : public QObject
{
    Q_OBJECT

private slots:
    void aClaimIsWhatItWas()
    {
        ClaimNotice notice = {"rk3399", "t1", "ada", "lathe-cli tune \"x\"", -2, milliseconds(1500), milliseconds(7)};
        notice.device = "board2";
        const auto again = claimIn(claimSubject("rk3399", "ada"), toText(notice));
        QVERIFY(again);
        QCOMPARE(again->key, notice.key);
        QCOMPARE(again->ticket, notice.ticket);
        QCOMPARE(again->user, notice.user);
        QCOMPARE(again->program, notice.program);
        QCOMPARE(again->priority, notice.priority);
        QVERIFY(again->waited == notice.waited && again->reserve == notice.reserve);
        QCOMPARE(again->most, notice.most);
        QCOMPARE(again->device, notice.device);
    }

    void aDeviceIsWhatItWas()
    {
        for (const DeviceState state : {DeviceState::Free, DeviceState::Offered, DeviceState::Leased,
                                        DeviceState::Draining, DeviceState::Drained, DeviceState::Sick}) {
            const DeviceNotice notice = {"rk3399", "board1", state, "t1", "ada", milliseconds(90), R"({"host":"b"})"};
            const auto again = deviceIn(hereSubject("rk3399", "board1"), toText(notice));
            QVERIFY(again);
            QVERIFY(again->state == state && again->had == notice.had);
            QCOMPARE(again->device, notice.device);
            QCOMPARE(again->user, notice.user);
            QCOMPARE(again->about, notice.about);
        }
        const Offer offer = {"t1", "board1", {1, 2}};
        const auto again = offerIn(toText(offer));
        QVERIFY(again && again->session == offer.session);
        QCOMPARE(again->device, offer.device);
    }

    void anOrderIsWhatItWas()
    {
        for (const Order::What what : {Order::What::Drain, Order::What::Resume, Order::What::Leave}) {
            const auto again = orderIn(orderSubject("rk3399", "board1", "ada"),
                                       toText(Order{"rk3399", "board1", "ada", what}));
            QVERIFY(again && again->what == what);
            QCOMPARE(again->key + again->device + again->user, std::string("rk3399board1ada"));
        }
        for (const auto& [subject, text] : {std::pair("lathe.order.rk3399.board1", R"({"order":"drain"})"),
                                            {"lathe.order.", R"({"order":"drain"})"},
                                            {"lathe.order.a.b.c.d", R"({"order":"drain"})"},
                                            {"lathe.here.a.b.c", R"({"order":"drain"})"},
                                            {"lathe.order.a.b.c", R"({"order":"burn"})"},
                                            {"lathe.order.a.b.c", R"({"order":1})"},
                                            {"lathe.order.a.b.c", "drain"},
                                            {"lathe.order.a.b.", R"({"order":"drain"})"}})
            QVERIFY2(!orderIn(subject, text), subject);
    }

    /// The broker looks at subjects alone.
    void whoItIsOfStandsInTheSubject()
    {
        const auto claim = claimIn("lathe.claim.rk3399.bob", R"({"ticket": "t", "user": "ada", "key": "phone"})");
        QVERIFY(claim);
        QCOMPARE(claim->user, std::string("bob"));
        QCOMPARE(claim->key, std::string("rk3399"));
        const auto device = deviceIn("lathe.here.rk3399.b1", R"({"state": "free", "device": "b2"})");
        QCOMPARE(device->device, std::string("b1"));
    }

    void whatIsNoneIsRefused_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::newRow("nothing") << QByteArray();
        QTest::newRow("no JSON") << QByteArray("free");
        QTest::newRow("a list") << QByteArray("[]");
        QTest::newRow("an empty object") << QByteArray("{}");
        QTest::newRow("numbers for names") << QByteArray(R"({"ticket": 1, "state": 2, "session": 3, "device": 4})");
        QTest::newRow("names that are no words")
            << QByteArray(R"({"ticket": "a.b", "state": "*", "session": "x", "device": ">"})");
        QTest::newRow("too long") << QByteArray("{\"ticket\": \"t\", \"state\": \"free\", \"x\": \"")
                                         + QByteArray(int(kMostNoticeBytes), 'x') + QByteArray("\"}");
        QTest::newRow("deep") << QByteArray(60000, '[');
    }
    void whatIsNoneIsRefused()
    {
        QFETCH(QByteArray, text);
        const std::string_view bytes(text.constData(), static_cast<std::size_t>(text.size()));
        QVERIFY(!claimIn("lathe.claim.k.u", bytes));
        QVERIFY(!deviceIn("lathe.here.k.d", bytes));
        QVERIFY(!offerIn(bytes));
    }

    void subjectsOfSomethingElseAreRefused()
    {
        const std::string text = R"({"ticket": "t", "state": "free"})";
        for (const char* subject : {"", "lathe.claim.", "lathe.claim.k", "lathe.claim.k.", "lathe.claim.k.u.v",
                                    "lathe.claim.*.u", "lathe.here.k.d", "claim.k.u"})
            QVERIFY2(!claimIn(subject, text), subject);
        QVERIFY(!deviceIn("lathe.claim.k.u", text));
    }

    void numbersAreHeldWithinBounds()
    {
        const auto claim = claimIn("lathe.claim.k.u", R"({"ticket": "t", "priority": 1000, "waited_ms": -5,
            "reserve_ms": 18446744073709551615})");
        QVERIFY(claim);
        QCOMPARE(claim->priority, 4);
        QVERIFY(claim->waited == milliseconds(0));
        QVERIFY(claim->reserve == milliseconds(0));
    }

    /// It would be written again on the stack of whoever hears it.
    void whatIsDeeperThanAnyNoticeIsNone()
    {
        const auto about = [](int levels) {
            return R"({"state": "free", "about": {"a": )" + std::string(levels, '[') + std::string(levels, ']') + "}}";
        };
        QVERIFY(deviceIn("lathe.here.board.b1", about(8)));
        QVERIFY(!deviceIn("lathe.here.board.b1", about(30'000)));
    }
};

LATHE_TEST(TestNotices)

} // namespace tst_notices

#include "tst_notices.moc"
