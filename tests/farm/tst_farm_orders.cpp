#include "core/broker/token.h"
#include "core/broker/tracker_folder.h"
#include "core/session/farm_orders.h"
#include "core/support/files.h"
#include "tests/support/test_program.h"

#include <QtTest>

namespace tst_farm_orders {

using namespace lathe;
using lathe::session::newDevice;

/// What another machine needs to become part of a farm. (Orders to devices are given in tst_cli_farm and tst_farm_page.)
class TestFarmOrders : public QObject
{
    Q_OBJECT

private slots:
    void aBrokerThatLetsEverybodyInWantsNoToken()
    {
        const auto device = newDevice({"127.0.0.1:4222", {}}, "board", "/none");
        QVERIFY(device);
        QCOMPARE(device->line, std::string("lathe-runner --broker nats://127.0.0.1:4222 --key board"));
        QVERIFY(device->token.empty());
        QVERIFY(!newDevice({"127.0.0.1:4222", {}}, "no word", "/none"));
    }

    void theTrackerOfThisMachineMakesAToken()
    {
        const auto dir = TempDir::create();
        QVERIFY(dir);
        qputenv("XDG_DATA_HOME", QByteArray::fromStdString(dir->path().string()));
        const std::string url = "tls://127.0.0.1:4222";
        const auto tracker = broker::TrackerFolder::open(broker::TrackerFolder::usualPlace());
        QVERIFY(tracker && tracker->writeProcess(1, url));
        const auto folder = dir->path() / "not" / "there"; // it is made
        const auto device = newDevice({url, {}}, "board", folder.string());
        QVERIFY2(device, device ? "" : device.error().message.c_str());
        QCOMPARE(device->line, "lathe-runner --broker " + url + " --key board --creds board-1.token");
        const auto token = broker::readToken(device->token, broker::Role::Runner);
        QVERIFY2(token, token ? "" : token.error().message.c_str());
        QCOMPARE(token->member.key, std::string("board"));
        QCOMPARE(tracker->members()->size(), std::size_t(1));

        // One that cannot be written lets nobody in.
        QVERIFY(!newDevice({url, {}}, "board", "/proc/none"));
        QCOMPARE(tracker->members()->size(), std::size_t(1));

        const auto elsewhere = newDevice({"tls://farm:4222", {}}, "board", folder.string());
        QVERIFY(!elsewhere);
        QCOMPARE(int(elsewhere.error().code), int(Errc::NotFound));
        QVERIFY2(elsewhere.error().message.find("lathe-cli tracker token --runner board") != std::string::npos,
                 elsewhere.error().message.c_str());
    }
};

LATHE_TEST(TestFarmOrders)

} // namespace tst_farm_orders

#include "tst_farm_orders.moc"
