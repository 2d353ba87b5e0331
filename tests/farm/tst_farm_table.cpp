#include "app/cli/farm_table.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <nlohmann/json.hpp>

namespace tst_farm_table {

using namespace lathe;
using namespace lathe::session;

namespace {

FarmView farm()
{
    FarmView view;
    view.broker = "nats://10.0.0.1:4222";
    view.connected = true;
    FarmDeviceView free, busy, lost;
    free.key = busy.key = "rk3399";
    free.name = "board1";
    free.host = "board-one";
    free.version = "0.1.0";
    free.parts = {{"cpu", "cpu", "Cortex-A72", "cpu-1"}};
    free.health = {{"load", 0.25}, {"temperature_c", 51}};
    busy.name = "board2";
    busy.state = FarmDeviceState::Busy;
    busy.user = "ada";
    busy.program = "lathe-cli tune zoo:resnet-18";
    busy.hadSeconds = 83;
    busy.lastError = "the kernel hung";
    busy.trials = 7;
    lost.key = "phone";
    lost.name = "p1";
    lost.state = FarmDeviceState::Lost;
    lost.silentSeconds = 7300;
    view.devices = {lost, free, busy};
    view.claims = {{"rk3399", "bob", "lathe-cli tune zoo:mlp", 12, 1, 0, 1},
                   {"rk3399", "ada", "lathe-cli tune zoo:resnet-18", 90, 0, 1, 0}};
    view.keys = {{"phone", 0, 0, 0}, {"rk3399", 2, 1, 1}};
    return view;
}

} // namespace

class TestFarmTable : public QObject
{
    Q_OBJECT

private slots:
    void itReadsAsPeopleKnowIt()
    {
        const char* expected = R"(Devices at the broker nats://10.0.0.1:4222

host       key     device  state
---------------------------------------------------------------------------------
board-one  rk3399  board1  free
-          rk3399  board2  busy for 1 min 23 s: ada, lathe-cli tune zoo:resnet-18
---------------------------------------------------------------------------------

key     total  free  pending
----------------------------
rk3399  2      1     1
----------------------------

place  key     user  waited  priority  program
-------------------------------------------------------------
1      rk3399  bob   12 s    1         lathe-cli tune zoo:mlp
-------------------------------------------------------------

board1 (rk3399)
    hardware    cpu: Cortex-A72 (cpu-1)
    health      load 0.25, 51 °C
    version     0.1.0

board2 (rk3399)
    trials      7
    last error  the kernel hung
)";
        QCOMPARE(QString::fromStdString(cli::farmText(farm(), "rk3399")), QString::fromUtf8(expected));
    }

    void allKeysAreShownWhereNoneIsAskedFor()
    {
        const std::string text = cli::farmText(farm(), "");
        QVERIFY(text.find("p1      lost, heard 2 h 1 min ago") != std::string::npos);
        QVERIFY(text.find("phone   0      0     0") != std::string::npos);
    }

    void aKeyThatNobodyOffersIsSaidSo()
    {
        const std::string text = cli::farmText(farm(), "rk3588");
        QVERIFY(text.find("No device offers itself under the key rk3588; the keys there: rk3399.")
                != std::string::npos);
        QVERIFY(cli::farmText({}, "").find("No device offers itself.") != std::string::npos);
    }

    void aBrokerThatIsAwayIsSaidSo()
    {
        FarmView view = farm();
        QVERIFY(cli::farmText(view, "").find("does not answer") == std::string::npos);
        view.connected = false;
        QVERIFY(cli::farmText(view, "").find("The broker does not answer") != std::string::npos);
    }

    void programsGetTheSame()
    {
        const nlohmann::json object = cli::farmJson(farm(), "rk3399");
        QCOMPARE(object.at("devices").size(), std::size_t(2));
        QCOMPARE(object.at("devices")[1].at("state").get<std::string>(), std::string("busy"));
        QCOMPARE(object.at("devices")[0].at("health").at("load").get<double>(), 0.25);
        QCOMPARE(object.at("devices")[0].at("devices")[0].at("device_key").get<std::string>(), std::string("cpu-1"));
        QCOMPARE(object.at("keys")[0].at("free").get<int>(), 1);
        QCOMPARE(object.at("claims")[0].at("place").get<int>(), 1);
        QVERIFY(object.at("connected").get<bool>());
    }

    void spansHaveTwoUnitsAtMost()
    {
        QCOMPARE(cli::spanText(0.9), std::string("0 s"));
        QCOMPARE(cli::spanText(3599), std::string("59 min 59 s"));
        QCOMPARE(cli::spanText(3600), std::string("1 h 0 min"));
        QCOMPARE(cli::spanText(100 * 3600), std::string("4 d 4 h"));
        QCOMPARE(cli::spanText(-5), std::string("0 s"));
    }
};

LATHE_TEST(TestFarmTable)

} // namespace tst_farm_table

#include "tst_farm_table.moc"
