#include "core/session/farm_view.h"
#include "tests/support/test_program.h"
#include "ui/models/farm_device_model.h"
#include "ui/models/farm_fault_model.h"
#include "ui/models/farm_key_model.h"
#include "ui/models/farm_offer.h"
#include "ui/models/farm_queue_model.h"
#include "ui/models/farm_texts.h"
#include "ui/views/health_curves.h"

#include <QAbstractItemModelTester>
#include <QElapsedTimer>
#include <QImage>
#include <QPainter>
#include <QSignalSpy>
#include <QtTest>

#include <limits>

namespace tst_farm_models {

using namespace lathe;
using session::FarmClaimView, session::FarmDeviceState, session::FarmDeviceView, session::FarmView;
using ui::FarmDeviceModel, ui::FarmQueueModel;

namespace {

FarmDeviceView device(const std::string& key, const std::string& name, FarmDeviceState state)
{
    FarmDeviceView made;
    made.key = key;
    made.name = name;
    made.state = state;
    return made;
}

FarmView farm(std::vector<FarmDeviceView> devices)
{
    FarmView view;
    view.connected = true;
    view.devices = std::move(devices);
    return view;
}

QString cell(const QAbstractItemModel& model, int row, int column, int role = Qt::DisplayRole)
{
    return model.index(row, column).data(role).toString();
}

/// The rows' texts, a line each.
QStringList names(const FarmDeviceModel& model)
{
    QStringList all;
    for (int row = 0; row < model.rowCount(); ++row)
        all << cell(model, row, FarmDeviceModel::KeyColumn) + '/' + cell(model, row, FarmDeviceModel::DeviceColumn);
    return all;
}

} // namespace

/// What tables of a farm hold, from views made by hand.
class TestFarmModels : public QObject
{
    Q_OBJECT

private slots:
    void devicesComeAndGoRowByRow()
    {
        using enum FarmDeviceState;
        FarmDeviceModel model;
        const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        model.setFarm(farm({device("board", "b1", Free), device("board", "b3", Free), device("phone", "p1", Busy)}), {},
                      true);
        const QPersistentModelIndex chosen(model.index(1, 0));
        QSignalSpy resets(&model, &QAbstractItemModel::modelReset);
        model.setFarm(farm({device("board", "b0", Free), device("board", "b2", Free), device("board", "b3", Sick)}), {},
                      true);
        QCOMPARE(names(model), QStringList({"board/b0", "board/b2", "board/b3"}));
        QCOMPARE(chosen.row(), 2); // who has chosen b3 keeps it
        QVERIFY(resets.isEmpty());
        QCOMPARE(model.rowOf("board", "b2"), 1);
        QCOMPARE(model.rowOf("phone", "p1"), -1);
        model.setFarm({}, {}, true);
        QCOMPARE(model.rowCount(), 0);
        QVERIFY(!chosen.isValid());
    }

    void aStateIsTold_data()
    {
        QTest::addColumn<int>("state");
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("run");
        const auto row = [](const char* name, FarmDeviceState state, const char* text, const char* run) {
            QTest::newRow(name) << int(state) << QString::fromUtf8(text) << QString::fromUtf8(run);
        };
        row("free", FarmDeviceState::Free, "○ free", "");
        row("offered", FarmDeviceState::Offered, "◔ offered", "ada, lathe-cli tune");
        row("busy", FarmDeviceState::Busy, "● busy", "3 min 5 s: ada, lathe-cli tune");
        row("draining", FarmDeviceState::Draining, "◐ draining", "3 min 5 s: ada, lathe-cli tune");
        row("drained", FarmDeviceState::Drained, "– drained", "");
        row("sick", FarmDeviceState::Sick, "▲ sick", "");
        row("lost", FarmDeviceState::Lost, "✕ lost, 7 s ago", "ada, lathe-cli tune");
    }
    void aStateIsTold()
    {
        QFETCH(int, state);
        QFETCH(QString, text);
        QFETCH(QString, run);
        FarmDeviceView one = device("board", "b1", static_cast<FarmDeviceState>(state));
        if (!run.isEmpty()) {
            one.user = "ada";
            one.program = "lathe-cli tune";
        }
        one.hadSeconds = 185;
        one.silentSeconds = 7;
        FarmDeviceModel model;
        model.setFarm(farm({one}), {}, true);
        QCOMPARE(cell(model, 0, FarmDeviceModel::StateColumn), text);
        QCOMPARE(cell(model, 0, FarmDeviceModel::RunColumn), run);
        QVERIFY(model.index(0, FarmDeviceModel::StateColumn).data(Qt::BackgroundRole).value<QColor>().isValid());
        // While the broker is away nobody knows whether that is still so.
        model.setFarm(farm({one}), {}, false);
        QVERIFY(!model.index(0, FarmDeviceModel::StateColumn).data(Qt::BackgroundRole).isValid());
        QVERIFY(model.index(0, FarmDeviceModel::DeviceColumn).data(Qt::ForegroundRole).isValid());
        if (!run.isEmpty()) {
            model.setFarm(farm({one}), QStringLiteral("ada"), true);
            QVERIFY(cell(model, 0, FarmDeviceModel::RunColumn).contains("you (ada)"));
        }
    }

    /// Devices may say anything of themselves: it is text, of a bearable length, and no markup.
    void hostileTextsStayTexts()
    {
        FarmDeviceView one = device("board", "b1", FarmDeviceState::Sick);
        one.host = "<b>h</b>";
        one.lastError = "<img src='http://x/y'> \xff\xfe";
        one.parts = {{"sim", "k", "<h1>big</h1>", "c"}};
        one.trials = std::numeric_limits<std::int64_t>::max();
        one.hadSeconds = 1e300;
        one.silentSeconds = std::numeric_limits<double>::quiet_NaN();
        one.health = {{"load", 1e308}, {"temperature_c", -1e300}, {"<i>x</i>", 1}};
        FarmDeviceModel model;
        const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        model.setFarm(farm({one}), {}, true);
        QCOMPARE(cell(model, 0, FarmDeviceModel::HostColumn), QStringLiteral("<b>h</b>"));
        for (const int column :
             {FarmDeviceModel::HostColumn, FarmDeviceModel::ErrorColumn, FarmDeviceModel::HardwareColumn}) {
            const QString tip = cell(model, 0, column, Qt::ToolTipRole);
            QVERIFY2(tip.startsWith("<qt>") && tip.count('<') == 2, qPrintable(tip));
        }
        for (const int column : {FarmDeviceModel::LoadColumn, FarmDeviceModel::TemperatureColumn}) {
            const QString text = cell(model, 0, column);
            QVERIFY2(!text.isEmpty() && text.size() <= 12, qPrintable(text));
        }
        for (const double value : {1e308, -1e308, 0.0, 1e-300, std::numeric_limits<double>::infinity()})
            QVERIFY(ui::healthText("clock_mhz", value).size() <= 14);
        QCOMPARE(ui::spanText(1e300), ui::spanText(1e9));
        QCOMPARE(ui::spanText(-5), QStringLiteral("0 s"));
    }

    void tenThousandDevicesStallNothing()
    {
        std::vector<FarmDeviceView> devices;
        for (int i = 0; i < 10'000; ++i)
            devices.push_back(device("key" + std::to_string(10'000 + i / 10), "device" + std::to_string(i % 10),
                                     FarmDeviceState::Free));
        const FarmView view = farm(std::move(devices));
        FarmDeviceModel model;
        QElapsedTimer timer;
        timer.start();
        model.setFarm(view, {}, true);
        model.setFarm(view, {}, true);
        QCOMPARE(model.rowCount(), 10'000);
        QVERIFY2(timer.elapsed() < 500, qPrintable(QString::number(timer.elapsed())));
    }

    void theQueueMarksWhoIsOurs()
    {
        FarmView view = farm({});
        view.claims = {{"board", "bob", "lathe-cli bench", 61, 2, 0, 1},
                       {"board", "ada", "lathe", 5, 0, 0, 2},
                       {"board", "eve", "lathe", 500, 0, 3, 0}}; // has devices
        FarmQueueModel model;
        const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        model.setFarm(view, QStringLiteral("ada"));
        QCOMPARE(model.rowCount(), 2);
        QCOMPARE(cell(model, 0, FarmQueueModel::UserColumn), QStringLiteral("bob"));
        QCOMPARE(cell(model, 0, FarmQueueModel::WaitedColumn), QStringLiteral("1 min 1 s"));
        QCOMPARE(cell(model, 1, FarmQueueModel::PlaceColumn), QStringLiteral("2"));
        QVERIFY(cell(model, 1, FarmQueueModel::UserColumn).contains("you (ada)"));
        QVERIFY(!model.isOurs(0) && model.isOurs(1));
        QVERIFY(model.index(1, 0).data(Qt::FontRole).value<QFont>().bold());
        view.claims.erase(view.claims.begin());
        model.setFarm(view, {}); // to look only
        QCOMPARE(model.rowCount(), 1);
        QVERIFY(!model.isOurs(0));
        model.setFarm({}, {});
        QCOMPARE(model.rowCount(), 0);
    }

    void keysAreCounted()
    {
        FarmView view = farm({});
        view.keys = {{"board", 3, 2, 0}, {"phone", 1, 0, 4}};
        ui::FarmKeyModel model;
        const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        model.setFarm(view);
        QCOMPARE(model.rowCount(), 2);
        QCOMPARE(cell(model, 0, ui::FarmKeyModel::FreeColumn), QStringLiteral("2"));
        QCOMPARE(cell(model, 1, ui::FarmKeyModel::WaitingColumn), QStringLiteral("4"));
        view.keys.pop_back();
        model.setFarm(view);
        QCOMPARE(model.rowCount(), 1);
    }

    void faultsAreListedLatestFirst()
    {
        using Kind = session::FarmFault::Kind;
        session::FarmHistory::Device past;
        const auto at = [](int second) { return session::FarmHistory::Time(std::chrono::seconds(second)); };
        past.faults = {{Kind::Failed, at(1), "<b>hung</b>"}, {Kind::Lost, at(2), {}}, {Kind::Back, at(3), {}}};
        ui::FarmFaultModel model;
        const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        model.setDevice(&past);
        QCOMPARE(model.rowCount(), 3);
        QVERIFY(cell(model, 0, ui::FarmFaultModel::WhatColumn).contains("Back"));
        QVERIFY(cell(model, 2, ui::FarmFaultModel::WhatColumn).contains("<b>hung</b>"));
        QVERIFY(!cell(model, 2, ui::FarmFaultModel::WhatColumn, Qt::ToolTipRole).contains("<b>"));
        QSignalSpy resets(&model, &QAbstractItemModel::modelReset);
        model.setDevice(&past); // nothing new
        QVERIFY(resets.isEmpty());
        model.setDevice(nullptr);
        QCOMPARE(model.rowCount(), 0);
    }

    /// Whatever a device says of itself is drawn somewhere inside, and told in words and numbers.
    void curvesOfAnyValuesArePainted()
    {
        ui::HealthCurves curves;
        curves.resize(400, 120);
        QVERIFY(curves.pictureSize().isEmpty());
        QVERIFY(curves.exportRows().size() == 1);
        const auto inked = [&curves] {
            QImage image(curves.size(), QImage::Format_RGB32);
            QPainter painter(&image);
            curves.paintPicture(painter);
            int count = 0;
            for (int y = 0; y < image.height(); ++y)
                for (int x = 0; x < image.width(); ++x)
                    count += image.pixelColor(x, y).saturation() > 60 ? 1 : 0; // all else is grey
            return count;
        };
        for (const QList<QPointF>& points :
             {QList<QPointF>{{0, 5}, {10, 5}}, QList<QPointF>{{0, -1e15}, {10, 1e15}}, QList<QPointF>{{0, 0}, {60, 0}},
              QList<QPointF>{{0, 1e-300}, {10, 1e-300}}, QList<QPointF>{{0, 61.5}, {600, 62}}}) {
            curves.setCurves({{QStringLiteral("Load"), QStringLiteral("0.5"), points}}, points.last().x());
            QVERIFY2(inked() > 20, qPrintable(QString::number(points.first().y())));
            QCOMPARE(curves.summary(), QStringLiteral("Load: 0.5"));
            QCOMPARE(curves.exportRows().size(), std::size_t(1 + points.size()));
        }
        curves.resize(20, 10); // no room
        inked();
    }

    void keysAreOfferedForTheTargetsThatTheirDevicesMeasure()
    {
        const ui::FarmOffer::Key board{QStringLiteral("board"), 2, 1, {"cpu", "sim"}};
        QVERIFY(board.isFor("cpu -mcpu=x"));
        QVERIFY(board.isFor("sim"));
        QVERIFY(!board.isFor("cuda"));
        const ui::FarmOffer::Key silent{QStringLiteral("board"), 2, 1, {}};
        QVERIFY(silent.isFor("cuda"));
        QCOMPARE(ui::plainBroker(QStringLiteral("nats://h:1")), QStringLiteral("h:1"));
        QCOMPARE(ui::plainBroker(QStringLiteral("tls://h:1")), QStringLiteral("h:1")); // with a token it is the same
    }
};

LATHE_TEST_GUI(TestFarmModels)

} // namespace tst_farm_models

#include "tst_farm_models.moc"
