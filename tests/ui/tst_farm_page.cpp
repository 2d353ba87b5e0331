#include "tests/support/farm_runner.h"
#include "tests/support/must.h"
#include "tests/support/nats_server.h"
#include "tests/support/test_program.h"
#include "tests/ui/made_project.h"
#include "tests/ui/window_test.h"
#include "ui/bridge/device_list.h"
#include "ui/bridge/farm_link.h"
#include "ui/bridge/session_bridge.h"
#include "ui/models/farm_device_model.h"
#include "ui/models/workspace.h"
#include "ui/pages/run_bar.h"

#include <QAction>
#include <QComboBox>
#include <QElapsedTimer>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QPushButton>
#include <QTabWidget>
#include <QTableView>
#include <QTimer>
#include <QToolButton>

#include <csignal>

namespace tst_farm_page {

using namespace lathe;
using lathe::test::must;
using State = ui::FarmLink::State;

namespace {

/// How long the event loop ever did not turn, since it was made or reset.
class LagProbe
{
public:
    LagProbe()
    {
        QObject::connect(&m_timer, &QTimer::timeout, [this] { m_longest = std::max(m_longest, m_since.restart()); });
        m_since.start();
        m_timer.start(5);
    }
    qint64 longestMs() const { return m_longest; }

private:
    QTimer m_timer;
    QElapsedTimer m_since;
    qint64 m_longest = 0;
};

/// Takes connections at a port, and never says a word: what a broker is like whose machine hangs.
class SilentServer
{
public:
    explicit SilentServer(int port)
        : m_socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))
    {
        const int yes = 1;
        ::setsockopt(m_socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
        sockaddr_in address = {};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        address.sin_port = htons(static_cast<std::uint16_t>(port));
        m_listens = ::bind(m_socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0
                    && ::listen(m_socket, 16) == 0;
    }
    ~SilentServer() { ::close(m_socket); }
    bool listens() const { return m_listens; }

private:
    int m_socket;
    bool m_listens = false;
};

} // namespace

/// A farm in the window: a real broker, real runners of the simulated device.
class TestFarmPage : public QObject, test::WindowTest
{
    Q_OBJECT

    ui::Workspace& workspace() const { return *m_window->findChild<ui::Workspace*>(); }
    ui::FarmLink& farm() const { return workspace().farm(); }
    QLabel* status() const { return find<QLabel>("statusFarm"); }
    QString cell(int row, ui::FarmDeviceModel::Column column) const
    {
        return find<QTableView>("farmTable")->model()->index(row, column).data().toString();
    }
    QString emptySentence() const
    {
        return test::find<QLabel>(find<QWidget>("farmTableEmpty"), "emptySentence")->text();
    }
    void connectTo(const test::NatsServer& server)
    {
        find<QLineEdit>("farmBroker")->setText(QStringLiteral("127.0.0.1:%1").arg(server.port()));
        QTest::mouseClick(find<QPushButton>("farmConnect"), Qt::LeftButton);
    }

private slots:
    void initTestCase()
    {
        qunsetenv("LATHE_BROKER");
        test::settleIn(m_dir.path());
        const QString file = m_dir.filePath(QStringLiteral("run.lathe"));
        test::makeProject(file, test::Project::Mixed);
        m_window = test::shownWindow({1280, 800});
        m_window->openSource(file);
        QTRY_VERIFY_WITH_TIMEOUT(workspace().session() != nullptr && !workspace().bridge().isOpening(), 20000);
        QTRY_VERIFY_WITH_TIMEOUT(workspace().devices().isKnown(), 20000);
        find<ui::RunBar>("runBar")->setTarget(QStringLiteral("sim"));
        find<QAction>("page.devices")->trigger();
        find<QTabWidget>("devicesTabs")->setCurrentIndex(1);
    }

    void cleanup()
    {
        farm().leave();
        find<ui::RunBar>("runBar")->setDevice({});
        find<QLineEdit>("farmBroker")->clear();
    }

    void withoutABrokerThePageSaysWhatAFarmIs()
    {
        QVERIFY(!status()->isVisible());
        QVERIFY2(emptySentence().contains("broker"), qPrintable(emptySentence()));
        auto* offer = test::find<QPushButton>(find<QWidget>("farmTableEmpty"), "emptyAction");
        QVERIFY(offer->isVisible());
        QVERIFY(!find<QPushButton>("farmConnect")->isEnabled());
        QTest::mouseClick(offer, Qt::LeftButton);
        QTRY_VERIFY(find<QLineEdit>("farmBroker")->hasFocus());
        for (const char* name : {"farmTest", "farmDrain", "farmLeave", "farmPick", "farmAdd"})
            QVERIFY2(!find<QPushButton>(name)->isEnabled(), name);
    }

    void aDeviceIsSeenPickedAndDrained()
    {
        test::NatsServer server;
        QVERIFY(server.start());
        connectTo(server);
        QTRY_COMPARE(int(farm().state()), int(State::Connected));
        QTRY_VERIFY2(emptySentence().contains("lathe-runner --broker"), qPrintable(emptySentence()));
        auto runner = must(test::FarmRunner::start(server.url(), "board", "b1"));
        QTRY_COMPARE_WITH_TIMEOUT(cell(0, ui::FarmDeviceModel::StateColumn), QStringLiteral("○ free"), 20000);
        QCOMPARE(cell(0, ui::FarmDeviceModel::DeviceColumn), QStringLiteral("b1"));
        QTRY_COMPARE(status()->text(), QStringLiteral("Farm: 1 device, 1 free"));
        QVERIFY(status()->isVisible());
        auto* picker = find<QComboBox>("devicePicker");
        QTRY_VERIFY(picker->findText(QStringLiteral("board at the farm (1 of 1 free)")) > 0);
        QVERIFY(must(find<ui::RunBar>("runBar")->tuneOptions()).broker.empty()); // nobody has picked it yet

        find<QTableView>("farmTable")->selectRow(0);
        QTRY_VERIFY(find<QPushButton>("farmPick")->isEnabled());
        QTest::mouseClick(find<QPushButton>("farmPick"), Qt::LeftButton);
        const auto picked = must(find<ui::RunBar>("runBar")->tuneOptions());
        QCOMPARE(picked.devices, std::vector<std::string>{"board"});
        QCOMPARE(QString::fromStdString(picked.broker), farm().place().broker);
        QVERIFY(find<QToolButton>("actionStartButton")->isEnabled());

        QTest::mouseClick(find<QPushButton>("farmDrain"), Qt::LeftButton);
        QTRY_COMPARE_WITH_TIMEOUT(cell(0, ui::FarmDeviceModel::StateColumn), QStringLiteral("– drained"), 20000);
        QTRY_COMPARE(status()->text(), QStringLiteral("Farm: 1 device, 0 free"));
        QTRY_COMPARE(find<QPushButton>("farmDrain")->text(), QStringLiteral("&Resume"));
        QTest::mouseClick(find<QPushButton>("farmDrain"), Qt::LeftButton);
        QTRY_COMPARE_WITH_TIMEOUT(cell(0, ui::FarmDeviceModel::StateColumn), QStringLiteral("○ free"), 20000);

        QTest::mouseClick(find<QPushButton>("farmTest"), Qt::LeftButton);
        QTRY_VERIFY2_WITH_TIMEOUT(find<QLabel>("farmSaid")->text().startsWith("Self-test on cpu passed"),
                                  qPrintable(find<QLabel>("farmSaid")->text()), 60000);

        QTest::mouseClick(find<QPushButton>("farmLeave"), Qt::LeftButton);
        QTRY_VERIFY(m_window->findChild<QMessageBox*>(QStringLiteral("farmLeaveQuestion")) != nullptr);
        QTest::mouseClick(find<QPushButton>("farmLeaveYes"), Qt::LeftButton);
        QTRY_COMPARE_WITH_TIMEOUT(find<QTableView>("farmTable")->model()->rowCount(), 0, 30000);
    }

    void aDeadBrokerIsToldWithinTwoSecondsAndStallsNothing_data()
    {
        QTest::addColumn<bool>("killed");
        QTest::addColumn<bool>("silent");
        QTest::newRow("killed") << true << false;
        QTest::newRow("killed, and its port takes connections without a word") << true << true;
        QTest::newRow("its machine hangs") << false << false;
    }
    void aDeadBrokerIsToldWithinTwoSecondsAndStallsNothing()
    {
        QFETCH(bool, killed);
        QFETCH(bool, silent);
        test::NatsServer server;
        QVERIFY(server.start());
        const auto runner = must(test::FarmRunner::start(server.url(), "board", "b1"));
        connectTo(server);
        QTRY_COMPARE_WITH_TIMEOUT(cell(0, ui::FarmDeviceModel::StateColumn), QStringLiteral("○ free"), 20000);
        auto* bar = find<ui::RunBar>("runBar");
        QTRY_VERIFY(bar->pickFarmKey(QStringLiteral("board")));
        QTest::qWait(600); // a look lies behind, another is to come
        const LagProbe lag;
        QElapsedTimer since;
        since.start();
        if (killed)
            server.kill();
        else
            ::kill(server.pid(), SIGSTOP);
        std::optional<SilentServer> other;
        if (silent) {
            other.emplace(server.port());
            QVERIFY(other->listens());
        }
        QTRY_VERIFY(status()->text().contains("does not answer"));
        QVERIFY2(since.elapsed() < 2000, qPrintable(QString::number(since.elapsed())));
        QTest::qWait(5000); // the library tries again and again
        QVERIFY2(lag.longestMs() < 500, qPrintable(QString::number(lag.longestMs())));
        QCOMPARE(int(farm().state()), int(State::Away));
        QVERIFY(find<QLabel>("farmState")->text().contains("heard last"));
        // What was heard last stays; nothing can be asked of it.
        QCOMPARE(cell(0, ui::FarmDeviceModel::StateColumn), QStringLiteral("○ free"));
        QVERIFY(!find<QPushButton>("farmDrain")->isEnabled());
        // No run begins, and none moves to this machine.
        QVERIFY(!find<QToolButton>("actionStartButton")->isEnabled());
        QVERIFY(find<QComboBox>("devicePicker")->toolTip().contains("does not answer"));
        QCOMPARE(must(bar->tuneOptions()).devices, std::vector<std::string>{"board"});
        QVERIFY(!must(bar->tuneOptions()).broker.empty());

        other.reset();
        if (killed)
            QVERIFY(server.start());
        else
            ::kill(server.pid(), SIGCONT);
        QTRY_COMPARE_WITH_TIMEOUT(int(farm().state()), int(State::Connected), 15000);
        QTRY_COMPARE_WITH_TIMEOUT(status()->text(), QStringLiteral("Farm: 1 device, 1 free"), 15000);
        QTRY_VERIFY_WITH_TIMEOUT(find<QToolButton>("actionStartButton")->isEnabled(), 10000);
        // Left by hand, the choice still stands, and says that it cannot be had.
        QTest::mouseClick(find<QPushButton>("farmConnect"), Qt::LeftButton);
        QVERIFY(!status()->isVisible());
        QVERIFY(!find<QToolButton>("actionStartButton")->isEnabled());
        QVERIFY(find<QComboBox>("devicePicker")->toolTip().contains("not connected"));
        find<QComboBox>("devicePicker")->setCurrentIndex(0);
        QVERIFY(must(bar->tuneOptions()).broker.empty());
    }

    void aBrokerThatIsNotThereYetIsTriedAgain()
    {
        test::NatsServer server; // not started
        connectTo(server);
        QTRY_COMPARE_WITH_TIMEOUT(int(farm().state()), int(State::Failed), 10000);
        QVERIFY2(emptySentence().contains("cannot be reached"), qPrintable(emptySentence()));
        QVERIFY(status()->text().contains("does not answer"));
        QVERIFY(server.start());
        QTRY_COMPARE_WITH_TIMEOUT(int(farm().state()), int(State::Connected), 15000);
    }

    void whatIsNoBrokerSaysSo()
    {
        find<QLineEdit>("farmBroker")->setText(QStringLiteral("what:is:this"));
        QTest::mouseClick(find<QPushButton>("farmConnect"), Qt::LeftButton);
        QTRY_COMPARE_WITH_TIMEOUT(int(farm().state()), int(State::Failed), 10000);
        QVERIFY(status()->text().contains("not connected"));
        QVERIFY(!emptySentence().contains("tried again"));
    }

    void theLineForAnotherDeviceIsMade()
    {
        test::NatsServer server;
        QVERIFY(server.start());
        connectTo(server);
        QTRY_COMPARE(int(farm().state()), int(State::Connected));
        QTest::mouseClick(find<QPushButton>("farmAdd"), Qt::LeftButton);
        auto* dialog = find<QDialog>("addDeviceDialog");
        auto* make = test::find<QPushButton>(dialog, "addDeviceMake");
        QVERIFY(!make->isEnabled()); // without a key
        test::find<QComboBox>(dialog, "addDeviceKey")->setEditText(QStringLiteral("not a word"));
        QVERIFY(!make->isEnabled());
        test::find<QComboBox>(dialog, "addDeviceKey")->setEditText(QStringLiteral("phone"));
        QTest::mouseClick(make, Qt::LeftButton);
        auto* line = test::find<QLineEdit>(dialog, "addDeviceLine");
        QTRY_VERIFY2(line->text().contains("--key phone"),
                     qPrintable(test::find<QLabel>(dialog, "addDeviceSays")->text()));
        QVERIFY2(line->text().contains("lathe-runner --broker"), qPrintable(line->text()));
        QVERIFY(line->isVisible());
        QVERIFY(!test::find<QLineEdit>(dialog, "addDeviceToken")->isVisible()); // this broker lets everybody in
        dialog->close();
    }

    void theFarmOfLastTimeIsConnectedAgain()
    {
        test::NatsServer server;
        QVERIFY(server.start());
        connectTo(server);
        QTRY_COMPARE(int(farm().state()), int(State::Connected));
        auto second = test::shownWindow();
        auto& itsFarm = second->findChild<ui::Workspace*>()->farm();
        QTRY_COMPARE(int(itsFarm.state()), int(State::Connected));
        QCOMPARE(itsFarm.place().broker, farm().place().broker);
        farm().leave();
        second = test::shownWindow();
        QCOMPARE(int(second->findChild<ui::Workspace*>()->farm().state()), int(State::None));
    }
};

LATHE_TEST_GUI(TestFarmPage)

} // namespace tst_farm_page

#include "tst_farm_page.moc"
