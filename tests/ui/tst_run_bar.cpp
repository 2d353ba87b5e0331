#include "core/session/options/tune_options.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"
#include "tests/ui/made_project.h"
#include "tests/ui/window_test.h"
#include "ui/bridge/device_list.h"
#include "ui/bridge/session_bridge.h"
#include "ui/models/hardware_model.h"
#include "ui/models/language.h"
#include "ui/models/workspace.h"
#include "ui/pages/run_bar.h"

#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QTableView>
#include <QTemporaryDir>
#include <QToolButton>
#include <QtTest>

namespace tst_run_bar {

using namespace lathe;
using lathe::test::must;

/// What a run is to be on, and for how long: targets, devices and their parameters, budgets.
class TestRunBar : public QObject, test::WindowTest
{
    Q_OBJECT

    ui::Workspace& workspace() const { return *m_window->findChild<ui::Workspace*>(); }

private slots:
    void initTestCase()
    {
        test::settleIn(m_dir.path());
        const QString file = m_dir.filePath(QStringLiteral("run.lathe"));
        test::makeProject(file, test::Project::Mixed);
        m_window = test::shownWindow();
        m_window->openSource(file);
        QTRY_VERIFY_WITH_TIMEOUT(workspace().session() != nullptr && !workspace().bridge().isOpening(), 20000);
    }

    void theDevicesOfATargetAreNamed()
    {
        auto* bar = m_window->findChild<ui::RunBar*>();
        QTRY_VERIFY_WITH_TIMEOUT(workspace().devices().isKnown(), 20000); // the window asks when it opens
        auto* device = find<QComboBox>("devicePicker");
        for (const char* target : {"cpu", "sim"}) {
            bar->setTarget(QLatin1String(target));
            const auto listed = workspace().devices().directory().forTarget(target);
            QCOMPARE(device->count(), static_cast<int>(listed.size()));
            QCOMPARE(device->currentData().toString().toStdString(), listed[0].key);
            QVERIFY(device->itemData(0, Qt::ToolTipRole).toString().contains(QString::fromStdString(listed[0].name)));
        }
        QCOMPARE(device->currentText(), QStringLiteral("Simulated device"));
        QVERIFY(device->toolTip().contains(QStringLiteral("formula")));
    }

    /// The picker does not go on saying that it looks.
    void whyNobodyCouldBeAskedIsTold()
    {
        auto* bar = m_window->findChild<ui::RunBar*>();
        auto* device = find<QComboBox>("devicePicker");
        session::DeviceView nobody;
        nobody.state = "absent: the runner did not start";
        const session::DeviceDirectory directory({nobody});
        QVERIFY(!directory.isAnswered());
        bar->setDevices(directory);
        QCOMPARE(device->currentText(), QStringLiteral("none"));
        const QString why = device->itemData(0, Qt::ToolTipRole).toString();
        QVERIFY2(why.contains(QStringLiteral("the runner did not start")), qPrintable(why));
        bar->setDevices(workspace().devices().directory());
        QVERIFY(device->currentText() != QStringLiteral("none"));
    }

    void whatIsPickedIsWhatARunMeasuresOn()
    {
        auto* bar = m_window->findChild<ui::RunBar*>();
        auto* device = find<QComboBox>("devicePicker");
        auto* target = find<QComboBox>("targetPicker");
        const auto view = [](const char* kind, const char* key, const char* state) {
            session::DeviceView made;
            made.kind = kind;
            made.key = key;
            made.name = "A device";
            made.state = state;
            return made;
        };
        const session::DeviceDirectory known = workspace().devices().directory();
        bar->setDevices(session::DeviceDirectory({view("sim", "left", "ready"), view("sim", "right", "ready"),
                                                  view("abacus", "", "absent: nobody has one")}));
        bar->setTarget(QStringLiteral("sim"));
        QCOMPARE(device->count(), 2);
        QCOMPARE(device->itemText(1), QStringLiteral("A device (right)"));
        QCOMPARE(must(bar->tuneOptions()).devices, std::vector<std::string>{"left"});
        device->setCurrentIndex(1);
        QCOMPARE(must(bar->tuneOptions()).devices, std::vector<std::string>{"right"});
        // What is known anew does not change what was picked.
        bar->setDevices(
            session::DeviceDirectory({view("sim", "left", "ready"), view("sim", "middle", "ready"),
                                      view("sim", "right", "ready"), view("cuda", "", "absent: nobody has one")}));
        QCOMPARE(device->currentData().toString(), QStringLiteral("right"));
        QCOMPARE(must(bar->tuneOptions()).devices, std::vector<std::string>{"right"});
        // Equal ones measure together, unless one of them is picked.
        std::vector<session::DeviceView> equal = {view("sim", "left", "ready"), view("sim", "middle", "ready"),
                                                  view("sim", "right", "ready")};
        equal[0].deviceKey = equal[2].deviceKey = "sim-1";
        equal[1].deviceKey = "sim-2";
        bar->setDevices(session::DeviceDirectory(equal));
        QCOMPARE(device->currentData().toString(), QStringLiteral("right"));
        QCOMPARE(device->count(), 4);
        QCOMPARE(device->itemText(0), QStringLiteral("A device, all 2"));
        device->setCurrentIndex(0);
        QCOMPARE(must(bar->tuneOptions()).devices, std::vector<std::string>{"sim-1"});
        bar->setDevices(session::DeviceDirectory(
            {view("sim", "left", "ready"), view("sim", "right", "ready"), view("cuda", "", "absent: nobody has one")}));
        // A target without a device is there to be picked, and says why nothing can be measured.
        QVERIFY(target->findData(QStringLiteral("cuda")) >= 0);
        bar->setTarget(QStringLiteral("cuda"));
        QCOMPARE(device->currentText(), QStringLiteral("none"));
        QVERIFY2(device->toolTip().contains(QStringLiteral("nobody has one")), qPrintable(device->toolTip()));
        QVERIFY(must(bar->tuneOptions()).devices.empty());
        QVERIFY(!find<QToolButton>("actionStartButton")->isEnabled());
        bar->setTarget(QStringLiteral("sim"));
        bar->setDevices(known);
    }

    void keysOfAFarmArePickedAndNeverLeftSilently()
    {
        auto* bar = m_window->findChild<ui::RunBar*>();
        auto* device = find<QComboBox>("devicePicker");
        auto* start = find<QToolButton>("actionStartButton");
        bar->setTarget(QStringLiteral("sim"));
        ui::FarmOffer farm;
        farm.state = ui::FarmLink::State::Connected;
        farm.place = {QStringLiteral("nats://host:4222"), QStringLiteral("/home/ada/ada.token")};
        farm.keys = {{QStringLiteral("board"), 3, 2, {"cpu", "sim"}},
                     {QStringLiteral("gpus"), 2, 2, {"cuda"}}, // measure for another target
                     {QStringLiteral("gone"), 0, 0, {"sim"}}};
        const int here = device->count();
        bar->setFarm(farm);
        QCOMPARE(device->count(), here + 1);
        QCOMPARE(device->itemText(here), QStringLiteral("board at the farm (2 of 3 free)"));
        QCOMPARE(device->currentIndex(), 0);
        QVERIFY(must(bar->tuneOptions()).broker.empty());
        QVERIFY(!bar->pickFarmKey(QStringLiteral("gpus")));
        QVERIFY(bar->pickFarmKey(QStringLiteral("board")));
        const auto isAtBoard = [bar] {
            const auto options = must(bar->tuneOptions());
            return options.devices == std::vector<std::string>{"board"} && options.broker == "nats://host:4222"
                   && options.credentials == "/home/ada/ada.token" && session::check(options).has_value();
        };
        QVERIFY(isAtBoard());
        QVERIFY(start->isEnabled());
        farm.keys[0].free = 0; // it waits for one, then
        bar->setFarm(farm);
        QVERIFY(isAtBoard() && start->isEnabled());
        bar->setDevices(workspace().devices().directory());
        QVERIFY(isAtBoard());

        // Away, without its devices, for another target, left: it stays picked, and nothing begins.
        farm.state = ui::FarmLink::State::Away;
        bar->setFarm(farm);
        QVERIFY(isAtBoard() && !start->isEnabled());
        QVERIFY2(start->toolTip().contains("does not answer"), qPrintable(start->toolTip()));
        farm.state = ui::FarmLink::State::Connected;
        farm.keys[0].devices = 0;
        bar->setFarm(farm);
        QVERIFY(isAtBoard() && !start->isEnabled());
        QVERIFY2(start->toolTip().contains("No device of the key board"), qPrintable(start->toolTip()));
        farm.keys[0].devices = 1;
        bar->setFarm(farm);
        QVERIFY(start->isEnabled());
        bar->setFarm({});
        QVERIFY(!start->isEnabled());
        QVERIFY2(start->toolTip().contains("not connected"), qPrintable(start->toolTip()));
        QCOMPARE(must(bar->tuneOptions()).devices, std::vector<std::string>{"board"});
        QVERIFY(!must(bar->tuneOptions()).broker.empty());

        // A project whose latest run measured there has it picked before any broker is connected.
        bar->setDevice({});
        QVERIFY(must(bar->tuneOptions()).broker.empty() && start->isEnabled());
        bar->setDevice(QStringLiteral("board"), QStringLiteral("host:4222"));
        QVERIFY(!start->isEnabled());
        bar->setFarm(farm);
        QVERIFY(isAtBoard() && start->isEnabled());
        // Somebody picks another one.
        device->setCurrentIndex(0);
        QVERIFY(must(bar->tuneOptions()).broker.empty());
        bar->setFarm({});
        QCOMPARE(device->count(), here);
        QVERIFY(start->isEnabled());
        bar->setDevice({});
    }

    void anOpenClTargetIsOfferedByANameForPeople()
    {
        auto* bar = m_window->findChild<ui::RunBar*>();
        auto* target = find<QComboBox>("targetPicker");
        const session::DeviceDirectory known = workspace().devices().directory();
        const auto device = [](const char* key, const char* name) {
            session::DeviceView made;
            made.kind = "opencl";
            made.key = key;
            made.name = name;
            made.state = "ready";
            return made;
        };
        const auto title = [target] { return target->itemText(target->findData(QStringLiteral("opencl"))); };
        QVERIFY(target->findData(QStringLiteral("opencl")) >= 0); // whatever is installed here
        bar->setDevices(session::DeviceDirectory({device("cl0", "Iris Xe")}));
        QCOMPARE(title(), QStringLiteral("OpenCL device: Iris Xe"));
        QCOMPARE(target->findText(QStringLiteral("Iris Xe")), -1); // nor once more by its driver's name
        ui::Language::instance().set(QStringLiteral("zh_CN"));
        QCOMPARE(title(), QStringLiteral("OpenCL 设备：Iris Xe"));
        ui::Language::instance().set(QStringLiteral("en"));
        // Which of several is meant says the choice of the device.
        bar->setDevices(session::DeviceDirectory({device("cl0", "Iris Xe"), device("cl1", "Arc A770")}));
        QCOMPARE(title(), QStringLiteral("OpenCL device"));
        const QString before = bar->target();
        bar->setDevices(session::DeviceDirectory({device("cl0", "Iris Xe")}));
        bar->setTarget(QStringLiteral("opencl"));
        QCOMPARE(bar->targetName(), QStringLiteral("OpenCL device")); // beside figures
        QCOMPARE(must(bar->tuneOptions()).devices, std::vector<std::string>{"cl0"});
        bar->setTarget(before);
        bar->setDevices(known);
    }

    void budgetsAreTakenInWords()
    {
        auto* bar = m_window->findChild<ui::RunBar*>();
        auto* budget = find<QComboBox>("budgetPicker");
        const auto type = [budget](const char* text) { budget->lineEdit()->setText(QString::fromUtf8(text)); };
        type("1.5 h, 1000 trials");
        auto options = bar->tuneOptions();
        QVERIFY(options);
        QCOMPARE(options->seconds, 5400.0);
        QCOMPARE(options->trials, std::int64_t{1000});
        type("until the last hour gained under 0.1 %");
        options = bar->tuneOptions();
        QVERIFY(options);
        QCOMPARE(options->minGainPercent, 0.1);
        type("when it is done");
        QVERIFY(!bar->tuneOptions());
        // Refused as a row among the issues; nothing starts.
        QTest::mouseClick(find<QToolButton>("actionStartButton"), Qt::LeftButton);
        auto* issues = find<QTableView>("issueTable");
        QTRY_VERIFY(issues->model()->rowCount() > 0);
        QVERIFY(workspace().session()->state() == session::RunState::Idle);
        type("20 min");
    }

    void hardwareParametersAreEditedInPlace()
    {
        ui::HardwareModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
        model.setLimits({{"l2_bytes", 1048576, "detected"}, {"num_cores", 2, "user"}, {"new_thing", 5, "file a.txt"}});
        const QModelIndex value = model.index(0, ui::HardwareModel::ValueColumn);
        QVERIFY(!(model.flags(value) & Qt::ItemIsEditable));
        QVERIFY(!model.setData(value, 5, Qt::EditRole));
        std::int64_t taken = 0;
        QString problem;
        model.setEditor([&](const std::string& name, std::int64_t wanted) {
            taken = wanted;
            return name == "l2_bytes" ? QString() : QStringLiteral("no");
        });
        connect(&model, &ui::HardwareModel::refused, this, [&problem](const QString& text) { problem = text; });
        QVERIFY(model.flags(value) & Qt::ItemIsEditable);
        QVERIFY(!(model.flags(value.siblingAtColumn(0)) & Qt::ItemIsEditable));
        QVERIFY(model.setData(value, QStringLiteral("2 MiB"), Qt::EditRole));
        QCOMPARE(taken, std::int64_t{2} << 20);
        QVERIFY(!model.setData(value, QStringLiteral("much"), Qt::EditRole));
        QVERIFY(problem.contains(QStringLiteral("much")));
        QVERIFY(!model.setData(model.index(1, ui::HardwareModel::ValueColumn), 9, Qt::EditRole));
        QCOMPARE(problem, QStringLiteral("no"));
        QCOMPARE(model.index(0, ui::HardwareModel::UnitColumn).data().toString(), QStringLiteral("bytes"));
        QCOMPARE(model.index(2, ui::HardwareModel::NameColumn).data().toString(), QStringLiteral("new_thing"));
    }

    void theOpenNetworksParametersAreStored()
    {
        auto* list = find<QListWidget>("deviceList");
        QTRY_VERIFY(list->count() >= 1);
        list->setCurrentRow(0);
        auto* table = find<QTableView>("hardwareTable");
        QAbstractItemModel* model = table->model();
        int row = -1;
        for (int i = 0; i < model->rowCount(); ++i)
            if (model->index(i, 0).data(Qt::ToolTipRole).toString() == QStringLiteral("l2_bytes"))
                row = i;
        QVERIFY(row >= 0);
        const QString own = model->index(row, ui::HardwareModel::ValueColumn).data().toString();
        QVERIFY2(
            model->setData(model->index(row, ui::HardwareModel::ValueColumn), QStringLiteral("65536"), Qt::EditRole),
            qPrintable(find<QLabel>("deviceProblem")->text()));
        QTRY_COMPARE(model->index(row, ui::HardwareModel::OriginColumn).data().toString(), QStringLiteral("edited"));
        table->setCurrentIndex(model->index(row, ui::HardwareModel::ValueColumn));
        auto* reset = find<QPushButton>("deviceReset");
        QTRY_VERIFY(reset->isEnabled());
        reset->click();
        QTRY_COMPARE(model->index(row, ui::HardwareModel::ValueColumn).data().toString(), own);
    }
};

LATHE_TEST_GUI(TestRunBar)

} // namespace tst_run_bar

#include "tst_run_bar.moc"
