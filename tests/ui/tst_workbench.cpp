#include "core/session/session.h"
#include "tests/support/test_program.h"
#include "tests/ui/window_test.h"
#include "ui/models/recent_projects.h"
#include "ui/models/task_model.h"
#include "ui/models/workspace.h"

#include <QAction>
#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QTableView>
#include <QTemporaryDir>
#include <QToolButton>
#include <QtTest>

namespace tst_workbench {

/// The whole job in the window, by clicks and keys on widgets found by objectName alone: open a network, tune it,
/// pause, stop, export a library.
class TestWorkbench : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;
    std::unique_ptr<lathe::ui::MainWindow> m_window;

    template<typename T>
    T* find(const char* name, QWidget* in = nullptr) const
    {
        return lathe::test::find<T>(in == nullptr ? m_window.get() : in, name);
    }
    int trials() const
    {
        auto* table = find<QTableView>("taskTable");
        int sum = 0;
        for (int row = 0; row < table->model()->rowCount(); ++row)
            sum += table->model()->index(row, lathe::ui::TaskModel::TrialsColumn).data().toInt();
        return sum;
    }

private slots:
    void initTestCase()
    {
        lathe::test::settleIn(m_dir.path());
        m_window = lathe::test::shownWindow();
    }

    void aNetworkOfTheZooOpensFromTheStartPage()
    {
        QVERIFY(!find<QToolButton>("actionStartButton")->isEnabled());
        auto* zoo = find<QListWidget>("startZoo");
        const auto rows = zoo->findItems("mlp", Qt::MatchExactly);
        QCOMPARE(rows.size(), 1);
        zoo->setFocus();
        zoo->setCurrentItem(rows.first());
        QTest::keyClick(zoo, Qt::Key_Return);
        auto* tasks = find<QTableView>("taskTable");
        QTRY_VERIFY_WITH_TIMEOUT(tasks->model()->rowCount() >= 2, 20000);
        QVERIFY(find<QToolButton>("actionStartButton")->isEnabled());
    }

    void selectingATaskShowsItsProperties()
    {
        auto* tasks = find<QTableView>("taskTable");
        tasks->setFocus();
        tasks->selectRow(0);
        QTest::keyClick(tasks, Qt::Key_Down);
        auto* properties = find<QAbstractItemView>("properties");
        QTRY_VERIFY(properties->model()->rowCount() > 4);
    }

    void tuningFillsTheTable()
    {
        auto* budget = find<QComboBox>("budgetPicker");
        budget->setFocus();
        budget->lineEdit()->selectAll();
        QTest::keyClicks(budget->lineEdit(), "5");
        QTest::mouseClick(find<QToolButton>("actionStartButton"), Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(trials() >= 8, 60000);
        QTRY_VERIFY_WITH_TIMEOUT(find<QLabel>("chartSummary")->text().contains("estimated"), 60000);
    }

    void pauseHoldsTheRunAndResumes()
    {
        auto* pause = find<QToolButton>("actionPauseButton");
        QTest::mouseClick(pause, Qt::LeftButton);
        auto* log = find<QWidget>("log");
        QTRY_VERIFY_WITH_TIMEOUT(log->property("plainText").toString().contains("Paused"), 60000);
        const int held = trials();
        QTest::qWait(400);
        QCOMPARE(trials(), held);
        QTest::mouseClick(pause, Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(trials() > held, 60000);
    }

    void stopKeepsWhatWasMeasured()
    {
        QTest::mouseClick(find<QToolButton>("actionStopButton"), Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(find<QToolButton>("actionStartButton")->isEnabled(), 60000);
        QVERIFY(trials() > 0);
        QTRY_VERIFY_WITH_TIMEOUT(find<QToolButton>("actionResumeButton")->isEnabled(),
                                 20000); // known a moment after the end
    }

    void exportWritesAVerifiedLibrary()
    {
        QTest::mouseClick(find<QToolButton>("actionExportButton"), Qt::LeftButton);
        QWidget* dialog = nullptr;
        QTRY_VERIFY((dialog = m_window->findChild<QWidget*>("exportDialog")) != nullptr);
        const QString file = m_dir.filePath("libmlp.so");
        auto* name = find<QLineEdit>("exportFile", dialog);
        name->selectAll();
        QTest::keyClicks(name, file);
        QTest::keyClick(find<QWidget>("exportAllowDefault", dialog), Qt::Key_Space);
        auto* go = find<QPushButton>("exportButton", dialog);
        QTRY_VERIFY_WITH_TIMEOUT(go->isEnabled(), 20000);
        QTest::mouseClick(go, Qt::LeftButton);
        auto* result = find<QLabel>("exportResult", dialog);
        QTRY_VERIFY_WITH_TIMEOUT(!result->text().isEmpty(), 60000);
        QVERIFY2(result->text().contains("Verified"), qPrintable(result->text()));
        QVERIFY(QFile::exists(file));
        QTest::mouseClick(find<QPushButton>("exportClose", dialog), Qt::LeftButton);
    }

    void aLibraryForArmIsExportedWithoutRunningIt()
    {
        auto* target = find<QComboBox>("targetPicker");
        target->setCurrentIndex(target->findText("64-bit Arm", Qt::MatchStartsWith));
        QCOMPARE(find<QComboBox>("devicePicker")->currentText(), QStringLiteral("none"));
        auto* open = find<QToolButton>("actionExportButton");
        QTRY_VERIFY_WITH_TIMEOUT(open->isEnabled(), 20000);
        const auto* start = find<QToolButton>("actionStartButton");
        QVERIFY(!start->isEnabled() && start->toolTip().contains("This machine cannot measure for this target"));
        QTest::mouseClick(open, Qt::LeftButton);
        QWidget* dialog = nullptr;
        QTRY_VERIFY((dialog = m_window->findChild<QWidget*>("exportDialog")) != nullptr);
        QVERIFY(find<QLabel>("exportTarget", dialog)->text().contains("aarch64-linux-gnu"));
        auto* verify = find<QCheckBox>("exportVerify", dialog);
        QTRY_VERIFY_WITH_TIMEOUT(!verify->isEnabled() && !verify->isChecked() && !verify->toolTip().isEmpty(), 20000);
        QVERIFY(!find<QCheckBox>("exportBenchmark", dialog)->isEnabled());
        const QString file = m_dir.filePath("libarm.so");
        auto* name = find<QLineEdit>("exportFile", dialog);
        name->selectAll();
        QTest::keyClicks(name, file);
        QTest::keyClick(find<QWidget>("exportAllowDefault", dialog), Qt::Key_Space);
        auto* go = find<QPushButton>("exportButton", dialog);
        if (find<QLabel>("exportSummary", dialog)->text().contains("g++-aarch64-linux-gnu"))
            QVERIFY(!go->isEnabled()); // this build has no runtime for it, and says so
        else {
            QVERIFY(find<QLabel>("exportCommand", dialog)->text().contains("--no-verify --no-bench"));
            QTRY_VERIFY(go->isEnabled());
            QTest::mouseClick(go, Qt::LeftButton);
            auto* result = find<QLabel>("exportResult", dialog);
            QTRY_VERIFY_WITH_TIMEOUT(!result->text().isEmpty(), 60000);
            QVERIFY2(result->text().contains("Not verified"), qPrintable(result->text()));
            QVERIFY(QFile::exists(file));
        }
        QTest::mouseClick(find<QPushButton>("exportClose", dialog), Qt::LeftButton);
        target->setCurrentIndex(0);
        QTRY_VERIFY_WITH_TIMEOUT(start->isEnabled() && start->toolTip().contains("F5"), 20000);
    }

    void aProjectIsShownForTheTargetThatIsPicked()
    {
        const QString project = lathe::ui::Workspace::projectFor("zoo:mlp");
        QVERIFY(QFile::exists(project));
        auto* target = find<QComboBox>("targetPicker");
        const auto* start = find<QToolButton>("actionStartButton");
        const int arm = target->findText("64-bit Arm", Qt::MatchStartsWith);
        const int here = target->currentIndex();
        // What is open is noted among the recent projects, target included.
        const auto shownFor = [&] {
            const auto known = lathe::ui::recentProjects();
            const auto found = std::find_if(known.begin(), known.end(),
                                            [&](const auto& recent) { return recent.source == project; });
            return found == known.end() ? QString() : found->target;
        };
        m_window->openSource(project);
        QTRY_COMPARE_WITH_TIMEOUT(shownFor(), QString("cpu"), 20000); // what it was tuned for
        QCOMPARE(target->currentIndex(), here);
        target->setCurrentIndex(arm);
        QTRY_VERIFY_WITH_TIMEOUT(shownFor().contains("aarch64"), 20000);
        QCOMPARE(target->currentIndex(), arm);
        QVERIFY(!start->isEnabled() && start->toolTip().contains("This machine cannot measure for this target"));
        target->setCurrentIndex(here);
        QTRY_VERIFY_WITH_TIMEOUT(start->isEnabled() && start->toolTip().contains("F5"), 20000);
    }

    void aBrokenFileBecomesAnIssue()
    {
        const QString file = m_dir.filePath("broken.onnx");
        QFile out(file);
        QVERIFY(out.open(QIODevice::WriteOnly));
        out.write(QByteArray(1000, 'x'));
        out.close();
        m_window->openSource(file);
        auto* issues = find<QTableView>("issueTable");
        // Beside what was found out about the run before, which stays open.
        const auto isToldOf = [issues] {
            for (int row = 0; row < issues->model()->rowCount(); ++row)
                for (int column = 0; column < issues->model()->columnCount(); ++column)
                    if (issues->model()->index(row, column).data().toString().contains("broken.onnx"))
                        return true;
            return false;
        };
        QTRY_VERIFY_WITH_TIMEOUT(isToldOf(), 20000);
        m_window->grab().save(m_dir.filePath("issues.png"));
    }

    void cleanupTestCase() { m_window.reset(); }
};

LATHE_TEST_GUI(TestWorkbench)

} // namespace tst_workbench

#include "tst_workbench.moc"
