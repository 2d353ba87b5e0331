#include "core/store/project.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"
#include "tests/ui/made_project.h"
#include "tests/ui/window_test.h"
#include "ui/bridge/session_bridge.h"
#include "ui/bridge/trial_jobs.h"
#include "ui/models/edits.h"
#include "ui/models/issue_model.h"
#include "ui/models/record_model.h"
#include "ui/models/round_model.h"
#include "ui/models/selection.h"
#include "ui/models/task_model.h"
#include "ui/models/trial_filter.h"
#include "ui/models/workspace.h"
#include "ui/pages/budget_bar.h"
#include "ui/pages/curves_page.h"
#include "ui/pages/failures_page.h"
#include "ui/pages/listing_panel.h"
#include "ui/pages/records_page.h"
#include "ui/pages/scatter_panel.h"
#include "ui/pages/scheduler_page.h"
#include "ui/pages/time_page.h"
#include "ui/views/code_view.h"

#include <QAbstractItemModelTester>
#include <QClipboard>
#include <QComboBox>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QTabWidget>
#include <QTableView>
#include <QTemporaryDir>
#include <QToolButton>
#include <QTreeWidget>
#include <QtTest>

namespace tst_history_pages {

using namespace lathe;
using lathe::test::find;
using lathe::test::must;

/// The pages about a project's history, driven from outside by objectName: one project with trials and failures, one
/// empty.
class TestHistoryPages : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;
    std::unique_ptr<ui::Workspace> m_workspace;
    std::unique_ptr<ui::RecordsPage> m_records;
    std::unique_ptr<ui::FailuresPage> m_failures;
    std::unique_ptr<ui::SchedulerPage> m_scheduler;
    std::unique_ptr<ui::TimePage> m_time;
    std::unique_ptr<ui::CurvesPage> m_curves;

    QString file(const char* name) const { return m_dir.filePath(QLatin1String(name)); }

    void open(const QString& name)
    {
        QSignalSpy opened(&m_workspace->bridge(), &ui::SessionBridge::opened);
        m_workspace->open(name, QStringLiteral("sim"));
        QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, 20000);
    }

private slots:
    void initTestCase()
    {
        test::settleIn(m_dir.path());
        lathe::test::makeProject(file("full.lathe"), lathe::test::Project::Mixed);
        lathe::test::makeProject(file("empty.lathe"), lathe::test::Project::Empty);
        m_workspace = std::make_unique<ui::Workspace>();
        m_records = std::make_unique<ui::RecordsPage>(*m_workspace, nullptr);
        m_failures = std::make_unique<ui::FailuresPage>(*m_workspace, nullptr);
        m_scheduler = std::make_unique<ui::SchedulerPage>(*m_workspace, nullptr);
        m_time = std::make_unique<ui::TimePage>(*m_workspace, nullptr);
        m_curves = std::make_unique<ui::CurvesPage>(*m_workspace, nullptr);
        for (QWidget* page : {static_cast<QWidget*>(m_records.get()), static_cast<QWidget*>(m_failures.get()),
                              static_cast<QWidget*>(m_scheduler.get()), static_cast<QWidget*>(m_time.get()),
                              static_cast<QWidget*>(m_curves.get())}) {
            page->resize(1000, 600);
            page->show();
        }
        open(file("full.lathe"));
    }

    void theRecordsAreListedFilteredAndOrdered()
    {
        auto* table = find<QTableView>(m_records.get(), "recordTable");
        QTRY_COMPARE(table->model()->rowCount(), 96);
        auto* state = find<QComboBox>(m_records.get(), "recordState");
        state->setFocus();
        QTest::keyClicks(state, "failed");
        QTRY_COMPARE(table->model()->rowCount(), 12);
        QTRY_VERIFY(find<QLabel>(m_records.get(), "recordCount")->text().contains("12"));
        QTest::mouseClick(find<QToolButton>(m_records.get(), "recordClear"), Qt::LeftButton);
        QTRY_COMPARE(table->model()->rowCount(), 96);
        QTest::keyClicks(find<QLineEdit>(m_records.get(), "recordMax"), "10.5");
        QTRY_VERIFY(table->model()->rowCount() > 0 && table->model()->rowCount() < 10);
        QTest::mouseClick(find<QToolButton>(m_records.get(), "recordClear"), Qt::LeftButton);
        QTRY_COMPARE(table->model()->rowCount(), 96);
        QVERIFY(find<QLineEdit>(m_records.get(), "recordMax")->text().isEmpty());
        table->horizontalHeader()->setSortIndicator(ui::RecordModel::LatencyColumn, Qt::AscendingOrder);
        QTRY_COMPARE(table->model()->index(0, ui::RecordModel::LatencyColumn).data().toString(), QString("9.0000"));
    }

    void aRecordShowsItsProgram()
    {
        auto* table = find<QTableView>(m_records.get(), "recordTable");
        table->setCurrentIndex(table->model()->index(0, 0));
        auto* loops = find<QPlainTextEdit>(m_records.get(), "recordLoops");
        QTRY_VERIFY(loops->toPlainText().contains("for"));
        QVERIFY(!find<QPlainTextEdit>(m_records.get(), "recordProgram")->toPlainText().isEmpty());
        QVERIFY(find<QTreeWidget>(m_records.get(), "recordFeatures")->topLevelItemCount() > 5);
        const auto predicted =
            find<QTreeWidget>(m_records.get(), "recordOverview")->findItems("Predicted", Qt::MatchExactly);
        QCOMPARE(predicted.size(), 1);
        QVERIFY2(predicted[0]->text(1).contains("450 %"), qPrintable(predicted[0]->text(1)));
    }

    /// The simulator names one listing: its source, which is the program itself.
    void aRecordHasATabForEachListingOfItsBackEnd()
    {
        auto* table = find<QTableView>(m_records.get(), "recordTable");
        table->setCurrentIndex(table->model()->index(0, 0));
        QTRY_VERIFY(m_records->findChild<ui::ListingPanel*>(QStringLiteral("recordListing-source")) != nullptr);
        QCOMPARE(m_records->findChildren<ui::ListingPanel*>().size(), 1);
        auto* panel = find<ui::ListingPanel>(m_records.get(), "recordListing-source");
        auto* tabs = find<QTabWidget>(m_records.get(), "recordTabs");
        QCOMPARE(tabs->tabText(tabs->indexOf(panel)), QStringLiteral("Source"));
        tabs->setCurrentWidget(panel);
        QTRY_VERIFY_WITH_TIMEOUT(panel->code()->toPlainText().contains(QStringLiteral("model time")), 30000);
        QCOMPARE(panel->code()
                     ->toPlainText()
                     .section(QLatin1Char('\n'), 1)
                     .section(QStringLiteral("model time"), 0, 0)
                     .trimmed(),
                 panel->program()->toPlainText().section(QLatin1Char('\n'), 1).trimmed());
        tabs->setCurrentIndex(0);
    }

    void selectedTrialsAreCopiedAsText()
    {
        auto* table = find<QTableView>(m_records.get(), "recordTable");
        table->setFocus();
        table->selectAll();
        QGuiApplication::clipboard()->clear();
        QTest::keyClick(table, Qt::Key_C, Qt::ControlModifier);
        QTRY_COMPARE(QGuiApplication::clipboard()->text().count('\n'), 97);
    }

    void failuresAreGroupedAndRestrictTheRecords()
    {
        auto* table = find<QTableView>(m_failures.get(), "failureTable");
        QAbstractItemModelTester tester(table->model(), QAbstractItemModelTester::FailureReportingMode::Fatal);
        QTRY_COMPARE(table->model()->rowCount(), 2); // times that differ are one cause
        QCOMPARE(table->model()->index(0, 0).data().toString(), QString("8"));
        table->setCurrentIndex(table->model()->index(0, 0));
        QVERIFY(find<QPlainTextEdit>(m_failures.get(), "failureText")->toPlainText().contains("took longer than 2"));
        QTRY_COMPARE(find<QTableView>(m_records.get(), "recordTable")->model()->rowCount(), 8);
        auto* cure = find<QPushButton>(m_failures.get(), "failureCure");
        QVERIFY(cure->isVisible());
        const double before = m_workspace->session()->project()->runTimeout();
        QTest::mouseClick(cure, Qt::LeftButton);
        QCOMPARE(m_workspace->session()->project()->runTimeout(), 63.0); // the latest had 21 s
        QVERIFY(!cure->isVisible());
        QVERIFY(find<QLabel>(m_failures.get(), "failureAdvice")->text().contains("63 s"));
        m_workspace->edits().stack().undo();
        QCOMPARE(m_workspace->session()->project()->runTimeout(), before);
        QVERIFY(cure->isVisible());
        table->setCurrentIndex(table->model()->index(1, 0));
        QVERIFY(!cure->isVisible());
        auto* records = find<QTableView>(m_records.get(), "recordTable");
        QTRY_COMPARE(records->model()->rowCount(), 4);
        QTest::mouseClick(find<QPushButton>(m_failures.get(), "failureExample"), Qt::LeftButton);
        QTRY_VERIFY(find<QLabel>(m_records.get(), "recordTitle")->text().contains("Crashed"));
        QTRY_COMPARE(records->currentIndex().data(ui::RecordModel::RowIdRole).toLongLong(), 80); // the last of round 9
        QTest::mouseClick(find<QToolButton>(m_records.get(), "recordClear"), Qt::LeftButton);
    }

    void roundsSayWhy()
    {
        auto* table = find<QTableView>(m_scheduler.get(), "roundTable");
        QAbstractItemModelTester tester(table->model(), QAbstractItemModelTester::FailureReportingMode::Fatal);
        QTRY_COMPARE(table->model()->rowCount(), 12);
        QCOMPARE(table->model()->index(0, ui::RoundModel::IndexColumn).data().toString(),
                 QString("11")); // newest first
        table->setCurrentIndex(table->model()->index(0, 0));
        QVERIFY(find<QLabel>(m_scheduler.get(), "schedulerWhy")->text().contains("per second of search"));
        table->setCurrentIndex(table->model()->index(11, 0));
        QVERIFY(find<QLabel>(m_scheduler.get(), "schedulerWhy")->text().contains("First round"));
        QVERIFY(find<QLabel>(m_scheduler.get(), "schedulerSummary")->text().contains("%"));
    }

    void liveRoundsAreAdded()
    {
        ui::RoundModel& rounds = ui::RoundModel::of(*m_workspace);
        const int before = rounds.rowCount();
        session::RoundEvent begun{12, 0, 8, {{"gain_per_second", 0.01}}, "pinned"};
        emit m_workspace->bridge().eventsArrived({{61, begun}});
        QCOMPARE(rounds.rowCount(), before + 1);
        QVERIFY(rounds.isLastOpen());
        QVERIFY(rounds.why(0).contains("pinned"));
        emit m_workspace->bridge().eventsArrived(
            {{66, session::RoundDoneEvent{12, 0, 8, {{{"measure", 5.0}}, {}}, 20.0, 24}},
             {66, session::EstimateEvent{20, session::kUnknown, session::kUnknown, 120, 17, 15.2, 18.5}}});
        QVERIFY(!rounds.isLastOpen());
        QVERIFY2(rounds.forecast().contains("likely 15.2–18.5"), qPrintable(rounds.forecast()));
        // Why trials are few stands where one looks for it.
        QVERIFY2(rounds.why(0).contains("24 candidates were rejected before building"), qPrintable(rounds.why(0)));
        QVERIFY(!rounds.why(1).contains("rejected"));
        const auto* const summary = find<QLabel>(m_scheduler.get(), "schedulerSummary");
        QTRY_VERIFY2(
            summary->text().contains("24 candidates were rejected before building: more threads or memory than "
                                     "the device has"),
            qPrintable(summary->text()));
    }

    void theTimeIsSummedByActivity()
    {
        auto* sums = find<QTreeWidget>(m_time.get(), "timeSums");
        QTRY_COMPARE(sums->topLevelItemCount(), 4); // what an older version noted: search, build, measure, train
        QCOMPARE(sums->topLevelItem(1)->text(1), QString("24.0")); // 12 rounds of 2 s of building
        QVERIFY(find<QLabel>(m_time.get(), "timeHint")->text().contains("measures"));
    }

    void finalsAndTheRestBelongToTheTimeAndWorkersHaveATableOfTheirOwn()
    {
        auto* sums = find<QTreeWidget>(m_time.get(), "timeSums");
        auto* workers = find<QTreeWidget>(m_time.get(), "timeWorkers");
        QCOMPARE(workers->topLevelItemCount(), 1); // says that there is nothing
        session::FinalsEvent finals;
        finals.seconds = 6;
        finals.time.activities = {{"finals", 6}, {"reference", 0.5}};
        finals.time.workers = {{"generate", {3, 3}}, {"builder idle", {9, 0}}, {"measure", {4, 7}}};
        session::DoneEvent done;
        done.rest.activities = {{"whole network", 2}, {"what a later version adds", 1}};
        done.rest.workers = {{"builder idle", {3, 0}}};
        emit m_workspace->bridge().eventsArrived({{67, finals}, {68, done}});
        QTRY_COMPARE(sums->topLevelItemCount(), 8);
        const auto row = [](QTreeWidget* table, const QString& name) {
            const auto found = table->findItems(name, Qt::MatchExactly);
            QStringList cells;
            for (int column = 1; !found.isEmpty() && column < table->columnCount() - 1; ++column)
                cells << found.first()->text(column);
            return cells;
        };
        QCOMPARE(row(sums, "finals").value(0), QString("6.0"));
        QCOMPARE(row(sums, "whole network").value(0), QString("2.0"));
        QCOMPARE(row(sums, "other").value(0), QString("1.0")); // whatever this version does not know
        QCOMPARE(workers->topLevelItemCount(), 3);
        QCOMPARE(row(workers, "Builders: generate"), (QStringList{"3.0", "20.0 %", "3.0"}));
        QCOMPARE(row(workers, "Builders: idle"), (QStringList{"12.0", "80.0 %", "0.0"}));
        QCOMPARE(row(workers, "Devices: measure"), (QStringList{"4.0", "100.0 %", "7.0"}));
    }

    void curvesHoldWhileTheRunGoesOn()
    {
        auto* summary = find<QLabel>(m_curves.get(), "chartSummary");
        QTRY_VERIFY2(summary->text().contains("untuned 90.000"), qPrintable(summary->text()));
        auto* hold = find<QToolButton>(m_curves.get(), "chartHold");
        QTest::mouseClick(hold, Qt::LeftButton);
        const QString held = summary->text();
        emit m_workspace->bridge().eventsArrived({{70, session::MeasuredEvent{12.5, 0, false, {}}}});
        QCOMPARE(summary->text(), held);
        QTest::mouseClick(hold, Qt::LeftButton);
        QTRY_VERIFY2(summary->text().contains("measured 12.500"), qPrintable(summary->text()));
        find<QComboBox>(m_curves.get(), "chartTasks")->setCurrentIndex(3);
    }

    void budgetsAreKeptWithTheProject()
    {
        session::ProjectPart& opened = *m_workspace->session()->project();
        QVERIFY(!opened.setBudget(99, {}));
        QVERIFY(!opened.setBudget(0, {false, false, 0, 0})); // a boost of nothing
        QVERIFY(opened.setBudget(0, {true, false, 2, 100}));
        open(file("empty.lathe"));
        QVERIFY(m_workspace->session()->project()->budgets()[0] == session::TaskBudget());
        open(file("full.lathe"));
        QVERIFY((m_workspace->session()->project()->budgets()[0] == session::TaskBudget{true, false, 2, 100}));
    }

    void budgetsAreUndone()
    {
        ui::Edits& edits = m_workspace->edits();
        const session::TaskBudget before = m_workspace->tasks().budget(1);
        ui::BudgetBar bar(*m_workspace, nullptr);
        bar.show();
        m_workspace->selection().selectTask(1);
        auto* pin = find<QToolButton>(&bar, "budgetPin");
        auto* cap = find<QSpinBox>(&bar, "budgetCap");
        QTest::mouseClick(pin, Qt::LeftButton);
        QVERIFY(m_workspace->session()->project()->budgets()[1].pinned);
        QVERIFY2(edits.stack().undoText().startsWith("pin "), qPrintable(edits.stack().undoText()));
        for (int i = 0; i < 3; ++i)
            QTest::keyClick(cap, Qt::Key_Up);
        QCOMPARE(m_workspace->session()->project()->budgets()[1].trialCap, std::int64_t{192});
        QCOMPARE(edits.stack().count(), 2); // three steps of the cap are one
        edits.stack().undo();
        QCOMPARE(cap->value(), 0);
        edits.stack().undo();
        QVERIFY(!pin->isChecked());
        QVERIFY(m_workspace->session()->project()->budgets()[1] == before);
        edits.stack().redo();
        QVERIFY(pin->isChecked() && m_workspace->tasks().budget(1).pinned);
        edits.stack().undo();
        QVERIFY(!edits.setBudget(1, {false, false, -1, 0})); // refused: nothing to undo
        QVERIFY(!edits.stack().canUndo());
        QVERIFY(m_workspace->issues().rowCount() > 0);
        m_workspace->issues().clear();
        m_workspace->selection().reset();
    }

    void notesAreWrittenFoundAndUndone()
    {
        auto* table = find<QTableView>(m_records.get(), "recordTable");
        QTRY_COMPARE(table->model()->rowCount(), 96);
        table->horizontalHeader()->setSortIndicator(ui::RecordModel::TimeColumn, Qt::AscendingOrder);
        auto* note = find<QPlainTextEdit>(m_records.get(), "recordNote");
        QTRY_VERIFY(table->model()->index(2, 0).data(ui::RecordModel::TrialIdRole).toString().size() == 32);
        table->setCurrentIndex(table->model()->index(2, 0));
        QTRY_VERIFY(note->isEnabled());
        note->setFocus();
        QTest::keyClicks(note, "odd one");
        QTest::keyClick(note, Qt::Key_Return, Qt::ControlModifier);
        // The new order may have come meanwhile: the selection stays on its trial.
        QTRY_COMPARE(table->currentIndex().siblingAtColumn(ui::RecordModel::NoteColumn).data().toString(),
                     QString("odd one"));
        auto* noted = find<QToolButton>(m_records.get(), "recordNoted");
        QTest::mouseClick(noted, Qt::LeftButton);
        QTRY_COMPARE(table->model()->rowCount(), 1);
        QVERIFY(m_workspace->edits().stack().undoText().startsWith("note on trial"));
        m_workspace->edits().stack().undo();
        QTRY_COMPARE(table->model()->rowCount(), 0);
        QVERIFY(note->toPlainText().isEmpty());
        m_workspace->edits().stack().redo();
        QTRY_COMPARE(table->model()->rowCount(), 1);
        QTest::mouseClick(find<QToolButton>(m_records.get(), "recordClear"), Qt::LeftButton);
        QTRY_COMPARE(table->model()->rowCount(), 96);
        QVERIFY(!noted->isChecked());
        // The project's own note stands above the list.
        m_workspace->edits().setNote({}, {}, "second board");
        QTRY_COMPARE(find<QLabel>(m_records.get(), "recordProjectNote")->text(), QString("second board"));
    }

    void aTrialIsMeasuredAgainFromTheTable()
    {
        auto* table = find<QTableView>(m_records.get(), "recordTable");
        QTRY_COMPARE(table->model()->rowCount(), 96);
        auto* again = find<QToolButton>(m_records.get(), "recordAgain");
        table->clearSelection();
        QVERIFY(!again->isEnabled());
        table->selectRow(0);
        QVERIFY(again->isEnabled());
        const qint64 before = m_workspace->figures().trials;
        QTest::mouseClick(again, Qt::LeftButton);
        QTRY_COMPARE_WITH_TIMEOUT(table->model()->rowCount(), 97, 20000);
        QCOMPARE(m_workspace->figures().trials, before + 1);
        auto* text = find<QLabel>(m_records.get(), "remeasureText");
        QVERIFY2(text->text().startsWith("Measured again: "), qPrintable(text->text()));
        QTRY_VERIFY(!table->model()->index(96, ui::RecordModel::RepeatsColumn).data().toString().isEmpty());
        QTRY_COMPARE(
            find<QTreeWidget>(m_records.get(), "recordOverview")->findItems("Measured again", Qt::MatchExactly).size(),
            1);
    }

    void aWholeCauseIsTriedAgain()
    {
        auto* table = find<QTableView>(m_failures.get(), "failureTable");
        QTRY_COMPARE(table->model()->rowCount(), 2);
        table->setCurrentIndex(table->model()->index(1, 0));
        auto* retry = find<QPushButton>(m_failures.get(), "failureRetry");
        QVERIFY2(retry->text().contains("4"), qPrintable(retry->text()));
        QSignalSpy ended(&m_workspace->trialJobs(), &ui::TrialJobs::ended);
        QTest::mouseClick(retry, Qt::LeftButton);
        QTRY_COMPARE_WITH_TIMEOUT(ended.count(), 1, 20000);
        QCOMPARE(ended[0][0].value<std::vector<session::RemeasuredTrial>>().size(), std::size_t{4});
        QVERIFY2(find<QLabel>(m_failures.get(), "remeasureText")->text().contains("4 valid"),
                 qPrintable(find<QLabel>(m_failures.get(), "remeasureText")->text()));
        QTest::mouseClick(find<QToolButton>(m_failures.get(), "remeasureClose"), Qt::LeftButton);
        QVERIFY(!find<QWidget>(m_failures.get(), "remeasureBar")->isVisible());
    }

    void theChartFollowsTheList()
    {
        auto* table = find<QTableView>(m_records.get(), "recordTable");
        QTest::mouseClick(find<QToolButton>(m_records.get(), "recordClear"), Qt::LeftButton);
        auto* summary = find<QLabel>(m_records.get(), "scatterSummary");
        QTest::mouseClick(find<QToolButton>(m_records.get(), "recordChart"), Qt::LeftButton);
        find<QComboBox>(m_records.get(), "scatterX")->setCurrentIndex(3); // place in the project: of every valid trial
        QTRY_VERIFY2(summary->text().startsWith("89 trials"),
                     qPrintable(summary->text())); // 84, one and four that were measured again
        find<QComboBox>(m_records.get(), "recordState")->setCurrentIndex(2); // failed: none has a latency
        QTRY_VERIFY2(summary->text().startsWith("No trial"), qPrintable(summary->text()));
        QTest::mouseClick(find<QToolButton>(m_records.get(), "recordClear"), Qt::LeftButton);
        QTRY_VERIFY(summary->text().startsWith("89 trials"));
        emit find<ui::ScatterPanel>(m_records.get(), "scatterPanel")->picked(5);
        QTRY_COMPARE(table->currentIndex().data(ui::RecordModel::RowIdRole).toLongLong(), 5);
        QTest::mouseClick(find<QToolButton>(m_records.get(), "recordChart"), Qt::LeftButton);
        QVERIFY(!summary->isVisible());
    }

    void failuresAreShownAsAListWhereTheChartStood()
    {
        auto* chart = find<QToolButton>(m_records.get(), "recordChart");
        chart->setChecked(true);
        auto* causes = find<QTableView>(m_failures.get(), "failureTable");
        causes->setCurrentIndex(causes->model()->index(0, 0));
        QTest::mouseClick(find<QPushButton>(m_failures.get(), "failureShow"), Qt::LeftButton);
        QVERIFY(!chart->isChecked()); // a failed trial is no point of it
        auto* table = find<QTableView>(m_records.get(), "recordTable");
        QTRY_VERIFY(table->isVisible() && table->model()->rowCount() > 0);
        QTest::mouseClick(find<QToolButton>(m_records.get(), "recordClear"), Qt::LeftButton);
    }

    void aNoteThatIsBeingTypedOutlivesItsProject()
    {
        auto* table = find<QTableView>(m_records.get(), "recordTable");
        auto* note = find<QPlainTextEdit>(m_records.get(), "recordNote");
        const auto noteOfRow = [table](int row) {
            return table->model()->index(row, 0).data(ui::RecordModel::NoteRole).toString();
        };
        QTRY_COMPARE(noteOfRow(6), QString());
        table->setCurrentIndex(table->model()->index(6, 0));
        QTRY_VERIFY(note->isEnabled());
        note->setFocus();
        QTest::keyClicks(note, "half a thought");
        open(file("empty.lathe"));
        open(file("full.lathe"));
        QTRY_VERIFY(table->model()->rowCount() > 6);
        QTRY_COMPARE(noteOfRow(6), QString("half a thought"));
    }

    void anEmptyProjectSaysSo()
    {
        open(file("empty.lathe"));
        QTRY_COMPARE(find<QTableView>(m_records.get(), "recordTable")->model()->rowCount(), 0);
        QTRY_VERIFY(find<QLabel>(m_failures.get(), "failureSummary")->text().contains("No trial has failed"));
        QTRY_VERIFY(find<QLabel>(find<QWidget>(m_scheduler.get(), "roundTableEmpty"), "emptySentence")
                        ->text()
                        .contains("No rounds"));
        QTRY_VERIFY(find<QLabel>(m_time.get(), "timeHint")->text().contains("No round"));
        QCOMPARE(find<QLabel>(m_curves.get(), "chartSummary")->text(), QString("Nothing measured yet"));
        QCOMPARE(m_workspace->issues().rowCount(), 0);
    }

    void cleanupTestCase()
    {
        m_records.reset();
        m_failures.reset();
        m_scheduler.reset();
        m_time.reset();
        m_curves.reset();
        m_workspace.reset();
    }
};

LATHE_TEST_GUI(TestHistoryPages)

} // namespace tst_history_pages

#include "tst_history_pages.moc"
