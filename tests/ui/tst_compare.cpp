#include "core/session/exports/library_check.h"
#include "core/session/project/program_reader.h"
#include "core/store/project.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"
#include "tests/ui/window_test.h"
#include "ui/bridge/session_bridge.h"
#include "ui/dialogs/export_dialog.h"
#include "ui/dialogs/report_dialog.h"
#include "ui/models/compare_model.h"
#include "ui/models/coverage_model.h"
#include "ui/models/workspace.h"
#include "ui/pages/compare_page.h"

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTabWidget>
#include <QTableView>
#include <QTemporaryDir>
#include <QtTest>

namespace tst_compare {

using namespace lathe;
using lathe::test::find;
using lathe::test::must;

/// What is held against what, what an export covers, and the report, driven from outside by objectName.
class TestCompare : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;
    std::unique_ptr<ui::Workspace> m_workspace;

    QString file(const char* name) const { return m_dir.filePath(QLatin1String(name)); }
    static QString cell(const QTableView* table, int row, int column)
    {
        return table->model()->index(row, column).data().toString();
    }

    /// A project of zoo:mlp with two runs; the second is twice as fast with another schedule, and knows one task alone.
    void makeProject(const QString& name, const std::string& target, bool partly = false)
    {
        session::OpenOptions options;
        options.model.source = "zoo:mlp";
        options.target = target;
        options.project = name.toStdString();
        const std::vector<session::TaskView> tasks = must(session::TuningSession::open(options))->tasks();
        auto project = must(store::Project::open(options.project, store::Project::Access::Write));
        for (int run = partly ? 1 : 0; run < 2; ++run) {
            const auto id = must(project.addSession({0, must(project.models()).back().id, target,
                                                     R"({"seed": )" + std::to_string(run + 1) + "}",
                                                     1700000000000 + run * 1000000, 60, "stopped"}));
            std::vector<Record> records;
            for (std::size_t i = 0; i < (run == 0 ? tasks.size() : 1); ++i) {
                Record r;
                r.trial = contentHash(std::to_string(run) + "/" + std::to_string(i)).hex();
                r.session = id;
                r.candidate.task = tasks[i].key;
                r.candidate.alternative = "direct";
                r.candidate.steps = run == 0 ? "[]" : R"([["AN", 2, 1, 1]])";
                r.target = target;
                r.result.device = identityOf(R"({"name": "A machine"})");
                r.timeMs = 1700000000000 + run * 1000000;
                r.result.costsNs = {1e6 / (run + 1)};
                records.push_back(r);
            }
            must(project.addRecords(records));
        }
    }
    void open(const QString& name, const QString& target)
    {
        QSignalSpy opened(&m_workspace->bridge(), &ui::SessionBridge::opened);
        m_workspace->open(name, target);
        QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, 20000);
    }

private slots:
    void initTestCase()
    {
        test::settleIn(m_dir.path());
        makeProject(file("two.lathe"), "cpu");
        makeProject(file("sim.lathe"), "sim");
        makeProject(file("part.lathe"), "cpu -threads=1", true);
        m_workspace = std::make_unique<ui::Workspace>();
        open(file("two.lathe"), "cpu");
    }

    void runsArePinnedComparedAndRemembered()
    {
        ui::ComparePage page(*m_workspace, nullptr);
        page.resize(1000, 600);
        page.show();
        auto* standings = find<QTableView>(&page, "compareStandings");
        auto* tasks = find<QTableView>(&page, "compareTable");
        auto* conditions = find<QTableView>(&page, "compareConditions");
        const QAbstractItemModelTester first(standings->model(), QAbstractItemModelTester::FailureReportingMode::Fatal),
            second(tasks->model(), QAbstractItemModelTester::FailureReportingMode::Fatal),
            third(conditions->model(), QAbstractItemModelTester::FailureReportingMode::Fatal);
        QTRY_COMPARE(standings->model()->rowCount(), 1);
        QVERIFY(page.command().endsWith("--runs"));
        page.compareWith(file("two.lathe") + ",run=1");
        page.compareWith(file("two.lathe") + ",run=2");
        QTRY_COMPARE(standings->model()->rowCount(), 3);
        QVERIFY(cell(standings, 1, 0).startsWith("A: two.lathe, run 1"));
        QVERIFY(cell(standings, 1, ui::StandingModel::ChangeColumn).startsWith(QStringLiteral("▼")));
        QVERIFY(page.command().contains("two.lathe,run=1 ") && page.command().contains(",run=2 "));
        // The task that got better has its sign and word; what did not change says so.
        QStringList changes;
        for (int row = 0; row < tasks->model()->rowCount(); ++row)
            changes << cell(tasks, row, ui::CompareModel::changeColumn(0));
        QCOMPARE(changes.filter(QStringLiteral("▼▼ 50.0 % faster")).size(), 1);
        QCOMPARE(changes.filter(QStringLiteral("same")).size(), changes.size() - 1);
        QCOMPARE(cell(conditions, 0, 1), QStringLiteral("≠ differs"));
        QVERIFY(find<QTabWidget>(&page, "compareTabs")->tabText(1).contains("(1 "));

        standings->selectRow(2);
        QTest::mouseClick(find<QPushButton>(&page, "compareRemove"), Qt::LeftButton);
        QTRY_COMPARE(standings->model()->rowCount(), 2);
        QTest::mouseClick(find<QPushButton>(&page, "compareCopyCommand"), Qt::LeftButton);
        QCOMPARE(QApplication::clipboard()->text(), page.command());
        ui::ComparePage again(*m_workspace, nullptr);
        again.show();
        QTRY_COMPARE(find<QTableView>(&again, "compareStandings")->model()->rowCount(), 2);
    }

    void aDeviceIsPinnedFromItsMenu()
    {
        ui::ComparePage page(*m_workspace, nullptr);
        page.resize(1000, 600);
        page.show();
        auto* standings = find<QTableView>(&page, "compareStandings");
        const auto* devices = find<QPushButton>(&page, "compareDevice")->menu();
        QTRY_COMPARE(standings->model()->rowCount(), 2); // of the test before
        QTRY_COMPARE(devices->actions().size(), 1);
        const QString text = devices->actions().front()->text();
        QVERIFY2(text.endsWith(": A machine"), qPrintable(text));
        devices->actions().front()->trigger();
        QTRY_COMPARE(standings->model()->rowCount(), 3);
        const QString device = text.section(QLatin1Char(':'), 0, 0);
        QVERIFY2(cell(standings, 2, 0).contains(", on " + device), qPrintable(cell(standings, 2, 0)));
        QVERIFY2(page.command().contains(",device=" + device), qPrintable(page.command()));
        standings->selectRow(2);
        QTest::mouseClick(find<QPushButton>(&page, "compareRemove"), Qt::LeftButton);
        QTRY_COMPARE(standings->model()->rowCount(), 2);
    }

    void programsOfTwoRunsAreShownLineByLine()
    {
        ui::ComparePage page(*m_workspace, nullptr);
        page.resize(1000, 600);
        page.show();
        auto* tasks = find<QTableView>(&page, "compareTable");
        QTRY_VERIFY(tasks->model()->columnCount() > ui::CompareModel::FixedColumns);
        int better = -1;
        for (int row = 0; row < tasks->model()->rowCount(); ++row)
            if (cell(tasks, row, ui::CompareModel::changeColumn(0)).contains("faster"))
                better = row;
        tasks->selectRow(better);
        find<QTabWidget>(&page, "compareTabs")->setCurrentIndex(2);
        auto* title = find<QLabel>(&page, "compareProgramTitle");
        auto* left = find<QPlainTextEdit>(&page, "diffLeft");
        auto* right = find<QPlainTextEdit>(&page, "diffRight");
        auto* what = find<QComboBox>(&page, "compareWhat");
        what->setCurrentIndex(what->findData("steps"));
        QTRY_VERIFY_WITH_TIMEOUT(right->toPlainText().contains("+ [\"AN\",2,1,1]"), 20000);
        // What the targets' back end names, and no other.
        QStringList forms;
        for (int i = 0; i < what->count(); ++i)
            forms << what->itemText(i);
        QCOMPARE(forms, QStringList({"Schedule steps", "Loop tree", "Loop nest", "LLVM IR", "Assembly", "llvm-mca"}));
        what->setCurrentIndex(what->findData("loops"));
        QTRY_VERIFY_WITH_TIMEOUT(left->toPlainText().contains(" - "), 20000);
        QTRY_VERIFY2_WITH_TIMEOUT(title->text().contains("only on the left"), qPrintable(title->text()), 20000);
        QVERIFY(left->document()->blockCount() == right->document()->blockCount());
        find<QComboBox>(&page, "compareHow")->setCurrentIndex(1);
        QVERIFY(!right->isVisible());
        QVERIFY(left->toPlainText().contains(" - ") && left->toPlainText().contains(" + "));
        // The same on both sides.
        find<QComboBox>(&page, "compareLeft")->setCurrentIndex(0);
        QTRY_VERIFY_WITH_TIMEOUT(title->text().contains("identical"), 20000);
    }

    void whatCannotBeReadIsSaidAndTheRestStays()
    {
        ui::ComparePage page(*m_workspace, nullptr);
        page.show();
        page.compareWith(file("nowhere.lathe"));
        auto* problem = find<QLabel>(&page, "compareProblem");
        QTRY_VERIFY(problem->isVisible());
        QVERIFY(problem->text().contains("nowhere.lathe"));
        QCOMPARE(find<QTableView>(&page, "compareStandings")->model()->rowCount(), 2);
        page.compareWith("p.lathe,run=none");
        QVERIFY(page.command().count("run=") == 1);
        QVERIFY(page.command().contains("nowhere"));
        emit problem->linkActivated(QStringLiteral("drop"));
        QTRY_VERIFY(!problem->isVisible());
        QVERIFY(!page.command().contains("nowhere"));
    }

    void anExportIsRefusedUntilDefaultsAreAllowed()
    {
        open(file("part.lathe"), "cpu -threads=1");
        ui::ExportDialog dialog(m_workspace->bridge(), file("libx.so"));
        dialog.setAttribute(Qt::WA_DeleteOnClose, false);
        dialog.show();
        auto* table = find<QTableView>(&dialog, "exportCoverage");
        const QAbstractItemModelTester tester(table->model(), QAbstractItemModelTester::FailureReportingMode::Fatal);
        auto* button = find<QPushButton>(&dialog, "exportButton");
        QVERIFY(!button->isEnabled());
        QTRY_VERIFY_WITH_TIMEOUT(table->model()->rowCount() > 0, 20000);
        QVERIFY(!button->isEnabled());
        auto* allow = find<QCheckBox>(&dialog, "exportAllowDefault");
        QVERIFY2(allow->text().contains("have no valid record"), qPrintable(allow->text()));
        QVERIFY(allow->text().contains("(3 of 4 "));
        int records = 0;
        for (int row = 0; row < table->model()->rowCount(); ++row) {
            const bool covered = cell(table, row, ui::CoverageModel::RunsColumn).contains("record");
            records += covered ? 1 : 0;
            QCOMPARE(cell(table, row, ui::CoverageModel::ReasonColumn),
                     covered ? QString() : QStringLiteral("it has no valid record"));
        }
        QCOMPARE(records, 1);
        QTest::keyClick(allow, Qt::Key_Space);
        QVERIFY(button->isEnabled());
        QTest::keyClick(find<QCheckBox>(&dialog, "exportStrict"), Qt::Key_Space);
        QTest::keyClicks(find<QLineEdit>(&dialog, "exportName"), "net");
        QTRY_VERIFY_WITH_TIMEOUT(button->isEnabled(), 20000);
        QTest::mouseClick(find<QPushButton>(&dialog, "exportCopyCommand"), Qt::LeftButton);
        const QString command = QApplication::clipboard()->text();
        for (const char* word :
             {"compile", "--target 'cpu -threads=1'", "--allow-default", "--strict", "--name net", "libx.so"})
            QVERIFY2(command.contains(QLatin1String(word)), qPrintable(command));
    }

    void anExportMayRunOnADeviceOfAFarm()
    {
        open(file("part.lathe"), "cpu -threads=1");
        ui::ExportDialog dialog(m_workspace->bridge(), file("libfarm.so"));
        dialog.setAttribute(Qt::WA_DeleteOnClose, false);
        dialog.show();
        auto* where = find<QComboBox>(&dialog, "exportWhere");
        auto* command = find<QLabel>(&dialog, "exportCommand");
        QVERIFY(!where->isVisible()); // there is no farm
        ui::FarmOffer farm;
        farm.place = {QStringLiteral("farm:9190"), QStringLiteral("me.token")};
        farm.keys = {{QStringLiteral("pi"), 2, 1, {"cpu"}},
                     {QStringLiteral("gpus"), 1, 1, {"opencl"}},
                     {QStringLiteral("gone"), 0, 0, {"cpu"}}};
        dialog.offerFarm(farm, QStringLiteral("pi"));
        QVERIFY(!where->isVisible()); // it is not connected
        farm.state = ui::FarmLink::State::Connected;
        dialog.offerFarm(farm, QStringLiteral("pi"));
        QVERIFY(where->isVisible());
        QCOMPARE(where->count(), 2);
        QCOMPARE(where->currentText(), QStringLiteral("pi at the farm"));
        for (const char* word : {"--device pi", "--broker farm:9190", "--creds me.token"})
            QVERIFY2(command->text().contains(QLatin1String(word)), qPrintable(command->text()));
        where->setCurrentIndex(0);
        QVERIFY2(!command->text().contains("--broker") && !command->text().contains("--device"),
                 qPrintable(command->text()));
    }

    void anExportSaysBeforehandWhichFilesItWouldNotReplace()
    {
        open(file("part.lathe"), "cpu -threads=1");
        QFile mine(file("taken.json"));
        QVERIFY(mine.open(QIODevice::WriteOnly) && mine.write("mine") > 0);
        mine.close();
        ui::ExportDialog dialog(m_workspace->bridge(), file("free.so"));
        dialog.setAttribute(Qt::WA_DeleteOnClose, false);
        dialog.show();
        auto* button = find<QPushButton>(&dialog, "exportButton");
        QTest::keyClick(find<QCheckBox>(&dialog, "exportAllowDefault"), Qt::Key_Space);
        QTRY_VERIFY_WITH_TIMEOUT(button->isEnabled(), 20000);
        auto* text = find<QLabel>(&dialog, "exportInTheWay");
        auto* replace = find<QCheckBox>(&dialog, "exportOverwrite");
        QVERIFY(!text->isVisible() && !replace->isVisible());
        find<QLineEdit>(&dialog, "exportFile")->setText(file("taken.so"));
        QVERIFY(!button->isEnabled()); // until that is known
        QTRY_VERIFY2(text->isVisible() && text->text().contains("taken.json"), qPrintable(text->text()));
        QVERIFY(!button->isEnabled() && button->toolTip() == text->text());
        QVERIFY(!find<QLabel>(&dialog, "exportCommand")->text().contains("--overwrite"));
        QTest::keyClick(replace, Qt::Key_Space);
        QVERIFY(button->isEnabled());
        QVERIFY(find<QLabel>(&dialog, "exportCommand")->text().contains("--overwrite"));
        QTest::keyClicks(find<QLineEdit>(&dialog, "exportName"), "other");
        QTRY_VERIFY(!text->isVisible() && button->isEnabled());
        QVERIFY(!find<QLabel>(&dialog, "exportCommand")->text().contains("--overwrite")); // nothing is replaced
    }

    void whoAgreesToReplaceFilesAgreesToThoseThatWereNamed()
    {
        open(file("part.lathe"), "cpu -threads=1");
        for (const char* name : {"one.json", "two.h"}) {
            QFile mine(file(name));
            QVERIFY(mine.open(QIODevice::WriteOnly) && mine.write("mine") > 0);
        }
        ui::ExportDialog dialog(m_workspace->bridge(), file("one.so"));
        dialog.setAttribute(Qt::WA_DeleteOnClose, false);
        dialog.show();
        auto* button = find<QPushButton>(&dialog, "exportButton");
        auto* replace = find<QCheckBox>(&dialog, "exportOverwrite");
        auto* name = find<QLineEdit>(&dialog, "exportName");
        QTest::keyClick(find<QCheckBox>(&dialog, "exportAllowDefault"), Qt::Key_Space);
        QTRY_VERIFY_WITH_TIMEOUT(
            replace->isVisible() && find<QLabel>(&dialog, "exportSummary")->text().contains("tasks"), 20000);
        QTest::keyClick(replace, Qt::Key_Space);
        QTRY_VERIFY_WITH_TIMEOUT(button->isEnabled(), 20000);
        name->setText("two"); // now another file is in the way
        QVERIFY(!button->isEnabled());
        QTRY_VERIFY(find<QLabel>(&dialog, "exportInTheWay")->text().contains("two.h"));
        QVERIFY(replace->isVisible() && !replace->isChecked() && !button->isEnabled());
        QVERIFY(!find<QLabel>(&dialog, "exportCommand")->text().contains("--overwrite"));
        name->clear();
        QTRY_VERIFY(find<QLabel>(&dialog, "exportInTheWay")->text().contains("one.json"));
        QVERIFY(!replace->isChecked() && !button->isEnabled());
        QTest::keyClick(replace, Qt::Key_Space);
        find<QCheckBox>(&dialog, "exportVerify")->toggle(); // which says nothing about files
        QVERIFY(replace->isChecked() && button->isEnabled());
    }

    void aTargetWithoutLibrariesIsSaidInTheDialog()
    {
        open(file("sim.lathe"), "sim");
        ui::ExportDialog dialog(m_workspace->bridge(), file("libx.so"));
        dialog.setAttribute(Qt::WA_DeleteOnClose, false);
        dialog.show();
        QTRY_VERIFY_WITH_TIMEOUT(find<QLabel>(&dialog, "exportSummary")->text().contains("for the target sim"), 20000);
        QVERIFY(!find<QPushButton>(&dialog, "exportButton")->isEnabled());
    }

    void theReportIsWrittenOrSaysWhyNot()
    {
        ui::ReportDialog dialog(file("two.lathe"), file("two.html"));
        dialog.setAttribute(Qt::WA_DeleteOnClose, false);
        dialog.show();
        const auto* about = find<QLabel>(&dialog, "reportAbout");
        QVERIFY(about->height() >= about->heightForWidth(about->width())); // no line of it is cut
        auto* result = find<QLabel>(&dialog, "reportResult");
        QVERIFY(!find<QPushButton>(&dialog, "reportOpen")->isEnabled());
        QTest::mouseClick(find<QPushButton>(&dialog, "reportWrite"), Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(result->text().startsWith("Written"), 20000);
        QVERIFY(QFile::exists(file("two.html")));
        QVERIFY(find<QPushButton>(&dialog, "reportOpen")->isEnabled());
        find<QLineEdit>(&dialog, "reportFile")->setText(file("no/where.html"));
        QVERIFY(!find<QPushButton>(&dialog, "reportOpen")->isEnabled());
        QTest::mouseClick(find<QPushButton>(&dialog, "reportWrite"), Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(result->text().startsWith("Not written"), 20000);
    }

    /// So the window closes at once while an export is verified.
    void aStopEndsTheCheckOfALibrary()
    {
        const session::LoadedModel model;
        std::stop_source stop;
        stop.request_stop();
        const auto verified = session::verifyExported("nowhere.so", model, stop.get_token());
        QVERIFY(!verified && verified.error().code == Errc::Cancelled);
        const auto timed = session::benchExported("nowhere.so", 1, stop.get_token());
        QVERIFY(!timed && timed.error().code == Errc::Cancelled);
        const auto asked = session::benchExported("nowhere.so", 1);
        QVERIFY(!asked && asked.error().code == Errc::NotFound);
    }

    void cleanupTestCase() { m_workspace.reset(); }
};

LATHE_TEST_GUI(TestCompare)

} // namespace tst_compare

#include "tst_compare.moc"
