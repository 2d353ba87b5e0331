#include "tests/support/test_program.h"
#include "tests/ui/window_test.h"
#include "ui/models/record_model.h"
#include "ui/models/task_model.h"
#include "ui/pages/listing_panel.h"
#include "ui/views/code_view.h"

#include <QAction>
#include <QComboBox>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTabWidget>
#include <QTableView>
#include <QToolButton>
#include <QtTest>

namespace tst_opencl_window {

using namespace lathe;

/// A network on an OpenCL device, in the window: target and device are picked, it is tuned, a trial's OpenCL C is read,
/// and a library is exported. On PoCL, where nothing else is.
class TestOpenClWindow : public QObject, test::WindowTest
{
    Q_OBJECT

    bool m_isThere = false; ///< a device

    int trials() const
    {
        auto* table = find<QTableView>("taskTable");
        int sum = 0;
        for (int row = 0; row < table->model()->rowCount(); ++row)
            sum += table->model()->index(row, ui::TaskModel::TrialsColumn).data().toInt();
        return sum;
    }

private slots:
    void initTestCase()
    {
        test::settleIn(m_dir.path());
        m_window = test::shownWindow({1280, 800});
    }

    void theDeviceIsPicked()
    {
        auto* target = find<QComboBox>("targetPicker");
        const int at = target->findText(QStringLiteral("OpenCL device"));
        QVERIFY(at >= 0);
        target->setCurrentIndex(at);
        auto* device = find<QComboBox>("devicePicker");
        QTRY_VERIFY_WITH_TIMEOUT(!device->currentText().startsWith(QStringLiteral("Looking")), 120000);
        if (!device->currentData().isValid())
            QSKIP(qPrintable(device->currentText() + ": no OpenCL device is here"));
        QVERIFY2(device->currentData().toString().startsWith(QStringLiteral("cl")), qPrintable(device->currentText()));
        m_isThere = true;
    }

    void aNetworkIsTuned()
    {
        if (!m_isThere)
            QSKIP("no OpenCL device is here");
        m_window->openSource(QStringLiteral("zoo:mlp"));
        QTRY_VERIFY_WITH_TIMEOUT(find<QTableView>("taskTable")->model()->rowCount() >= 2, 20000);
        auto* budget = find<QComboBox>("budgetPicker");
        budget->setFocus();
        budget->lineEdit()->selectAll();
        QTest::keyClicks(budget->lineEdit(), QStringLiteral("8 trials"));
        QTRY_VERIFY(find<QToolButton>("actionStartButton")->isEnabled());
        QTest::mouseClick(find<QToolButton>("actionStartButton"), Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(trials() >= 4, 120000);
        QTRY_VERIFY_WITH_TIMEOUT(find<QToolButton>("actionStartButton")->isEnabled(), 120000);
        QTRY_VERIFY2_WITH_TIMEOUT(find<QLabel>("statusLatency")->text().contains(QStringLiteral("measured")),
                                  qPrintable(find<QLabel>("statusLatency")->text()), 20000);
    }

    void aTrialShowsItsOpenClC()
    {
        if (!m_isThere)
            QSKIP("no OpenCL device is here");
        find<QAction>("page.records")->trigger();
        auto* table = find<QTableView>("recordTable");
        QTRY_VERIFY_WITH_TIMEOUT(table->model()->rowCount() >= 4, 20000);
        table->horizontalHeader()->setSortIndicator(ui::RecordModel::LatencyColumn, Qt::AscendingOrder);
        table->setCurrentIndex(table->model()->index(0, 0));
        QTRY_VERIFY_WITH_TIMEOUT(
            m_window->findChild<ui::ListingPanel*>(QStringLiteral("recordListing-source")) != nullptr, 20000);
        auto* panel = find<ui::ListingPanel>("recordListing-source");
        auto* tabs = find<QTabWidget>("recordTabs");
        QCOMPARE(tabs->tabText(tabs->indexOf(panel)), QStringLiteral("OpenCL C"));
        tabs->setCurrentWidget(panel);
        QTRY_VERIFY_WITH_TIMEOUT(panel->code()->toPlainText().contains(QStringLiteral("__kernel")), 60000);
        // Its loops are those that the device runs: launches, not phases of a processor.
        const QString program = find<QPlainTextEdit>("recordProgram")->toPlainText();
        QVERIFY2(program.contains(QStringLiteral("launch")), qPrintable(program));
    }

    void exportWritesAVerifiedLibrary()
    {
        if (!m_isThere)
            QSKIP("no OpenCL device is here");
        QTest::mouseClick(find<QToolButton>("actionExportButton"), Qt::LeftButton);
        QWidget* dialog = nullptr;
        QTRY_VERIFY((dialog = m_window->findChild<QWidget*>(QStringLiteral("exportDialog"))) != nullptr);
        const QString file = m_dir.filePath(QStringLiteral("libmlp.so"));
        auto* name = test::find<QLineEdit>(dialog, "exportFile");
        name->selectAll();
        QTest::keyClicks(name, file);
        for (const char* box :
             {"exportAllowDefault", "exportBenchmark"}) // not every task was tuned; no time is asked for
            QTest::keyClick(test::find<QWidget>(dialog, box), Qt::Key_Space);
        auto* go = test::find<QPushButton>(dialog, "exportButton");
        QTRY_VERIFY_WITH_TIMEOUT(go->isEnabled(), 20000);
        QTest::mouseClick(go, Qt::LeftButton);
        auto* result = test::find<QLabel>(dialog, "exportResult");
        QTRY_VERIFY_WITH_TIMEOUT(!result->text().isEmpty(), 120000);
        QVERIFY2(result->text().contains(QStringLiteral("Verified")), qPrintable(result->text()));
        QVERIFY(QFile::exists(file));
        QTest::mouseClick(test::find<QPushButton>(dialog, "exportClose"), Qt::LeftButton);
    }

    void cleanupTestCase() { m_window.reset(); }
};

LATHE_TEST_GUI(TestOpenClWindow)

} // namespace tst_opencl_window

#include "tst_opencl_window.moc"
