#include "tests/support/test_program.h"
#include "tests/ui/window_test.h"
#include "ui/commands/action_catalog.h"
#include "ui/dialogs/command_palette.h"
#include "ui/models/command_line.h"
#include "ui/models/language.h"
#include "ui/models/recent_projects.h"
#include "ui/models/selection.h"
#include "ui/models/task_model.h"
#include "ui/models/workspace.h"
#include "ui/shell/head_start_menu.h"
#include "ui/views/graph_view.h"
#include "ui/views/view_export.h"
#include "ui/views/wrap_delegate.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QDockWidget>
#include <QDropEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenuBar>
#include <QMimeData>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QTabWidget>
#include <QTableView>
#include <QTemporaryDir>
#include <QToolButton>
#include <QTreeView>
#include <QtTest>

namespace tst_window {

using namespace lathe;

/// The frame of the window: pages, layouts, commands, languages, the network page; from outside, by objectName.
class TestWindow : public QObject, test::WindowTest
{
    Q_OBJECT

    void runAction(const char* id) const { find<QAction>(id)->trigger(); }
    int graphNodes() const
    {
        return static_cast<int>(find<ui::GraphView>("graphView")->scene().visible().place.size());
    }

private slots:
    void initTestCase()
    {
        test::settleIn(m_dir.path());
        m_window = test::shownWindow();
    }

    void noDockStandsBesideTheStartPage()
    {
        for (const QDockWidget* dock : m_window->findChildren<QDockWidget*>())
            QVERIFY2(dock->isHidden(), qPrintable(dock->objectName()));
        QVERIFY(find<QWidget>("resumeCard")->isHidden());
    }

    void openingANetworkBringsThePages()
    {
        m_window->openSource("zoo:mlp");
        QTRY_VERIFY_WITH_TIMEOUT(graphNodes() > 0, 20000);
        QVERIFY(find<QDockWidget>("tasksDock")->isVisible());
        QVERIFY(find<QDockWidget>("propertiesDock")->isVisible());
        QCOMPARE(find<QTabWidget>("pages")->currentIndex(), 0);
        QVERIFY(find<QLabel>("statusLatency")->text().contains("estimated"));
    }

    void everyActionHasATextAndNoTwoShareAKey()
    {
        QHash<QString, QString> owners;
        const auto* catalog = m_window->findChild<ui::ActionCatalog*>();
        QVERIFY(catalog != nullptr && catalog->all().size() > 20);
        for (const QAction* action : catalog->all()) {
            QVERIFY2(!action->text().isEmpty(), qPrintable(action->objectName()));
            for (const QKeySequence& key : action->shortcuts()) {
                const QString text = key.toString();
                QVERIFY2(!owners.contains(text),
                         qPrintable(text + " of " + owners.value(text) + " and " + action->objectName()));
                owners[text] = action->objectName();
            }
        }
    }

    void allInputsHaveAccessibleNames()
    {
        for (const QWidget* widget : m_window->findChildren<QWidget*>()) {
            const bool input = qobject_cast<const QAbstractItemView*>(widget) != nullptr
                               || qobject_cast<const QComboBox*>(widget) != nullptr
                               || (qobject_cast<const QLineEdit*>(widget) != nullptr
                                   && qobject_cast<const QComboBox*>(widget->parentWidget()) == nullptr);
            if (!input || widget->objectName().isEmpty() || widget->objectName().startsWith("qt_"))
                continue;
            QVERIFY2(!widget->accessibleName().isEmpty(), qPrintable(widget->objectName()));
        }
    }

    void findMarksNodesAndWalksThem()
    {
        runAction("edit.find");
        auto* field = find<QLineEdit>("graphFind");
        QTRY_VERIFY(field->hasFocus());
        QTest::keyClicks(field, "dense");
        QVERIFY2(find<QLabel>("graphFound")->text().contains("found"), qPrintable(find<QLabel>("graphFound")->text()));
        QTest::keyClick(field, Qt::Key_Return);
        const int first = find<ui::GraphView>("graphView")->selectedNode();
        QVERIFY(first >= 0);
        QTest::keyClick(field, Qt::Key_Return);
        QVERIFY(find<ui::GraphView>("graphView")->selectedNode() != first);
        QTest::keyClick(field, Qt::Key_Return, Qt::ShiftModifier);
        QCOMPARE(find<ui::GraphView>("graphView")->selectedNode(), first);
        field->clear();
        QTest::keyClicks(field, "nothinglikethis");
        QCOMPARE(find<QLabel>("graphFound")->text(), QString("none"));
        QTest::keyClick(field, Qt::Key_Escape);
        QVERIFY(field->text().isEmpty());
    }

    void selectionIsLinkedAndWalksBackAndForward()
    {
        auto* table = find<QTableView>("taskTable");
        auto* graph = find<ui::GraphView>("graphView");
        table->selectRow(0);
        table->selectRow(1);
        QVERIFY(find<QAction>("go.back")->isEnabled());
        const int second = table->currentIndex().row();
        runAction("go.back");
        QVERIFY(table->currentIndex().row() != second);
        runAction("go.forward");
        QCOMPARE(table->currentIndex().row(), second);
        graph->selectNode(0);
        auto* properties = find<QAbstractItemView>("properties");
        QVERIFY(properties->model()->index(0, 0).data().toString() == "Node");
    }

    void theComputeDagIsShownAndCopied()
    {
        auto* table = find<QTreeView>("properties");
        find<ui::GraphView>("graphView")->selectNode(1);
        QModelIndex dag;
        for (int row = 0; row < table->model()->rowCount(); ++row)
            if (table->model()->index(row, 0).data().toString() == "Compute DAG")
                dag = table->model()->index(row, 0);
        QVERIFY(dag.isValid());
        QVERIFY(table->isExpanded(dag));
        table->setCurrentIndex(dag);
        ui::copyView(*table);
        const QStringList lines = QApplication::clipboard()->text().split('\n', Qt::SkipEmptyParts);
        QCOMPARE(lines.size(), table->model()->rowCount(dag) + 2); // and the headings
        QVERIFY(lines[2].contains("PLACEHOLDER"));
    }

    void colorsSayTheirMeaningInWords()
    {
        auto* graph = find<ui::GraphView>("graphView");
        auto* coloring = find<QComboBox>("graphColoring");
        QCOMPARE(coloring->count(), 4);
        coloring->setCurrentIndex(3);
        bool said = false;
        for (int place = 0; place < static_cast<int>(graph->scene().visible().items.size()); ++place)
            said = said || graph->scene().note(place) == "untuned";
        QVERIFY(said);
        coloring->setCurrentIndex(0);
    }

    void thePaletteFindsACommandByItsLetters()
    {
        QVERIFY(ui::CommandPalette::score("zf", "Zoom to fit") > 0);
        QVERIFY(ui::CommandPalette::score("zf", "Zoom to fit") > ui::CommandPalette::score("zf", "size of"));
        QCOMPARE(ui::CommandPalette::score("xq", "Zoom to fit"), -1);
        runAction("view.palette");
        QDialog* palette = nullptr;
        QTRY_VERIFY((palette = m_window->findChild<QDialog*>("commandPalette")) != nullptr);
        auto* input = palette->findChild<QLineEdit*>("paletteInput");
        QTest::keyClicks(input, "copytasks");
        QTest::keyClick(input, Qt::Key_Return);
        QTRY_COMPARE(QApplication::clipboard()->text(), QString("lathe-cli tasks zoo:mlp"));
    }

    /// Who types the name of a page wants the page, not the command line of what it shows.
    void thePaletteHasViewsBeforeCopiesOfCommands()
    {
        runAction("view.palette");
        QDialog* palette = nullptr;
        QTRY_VERIFY((palette = m_window->findChild<QDialog*>("commandPalette")) != nullptr);
        auto* input = palette->findChild<QLineEdit*>("paletteInput");
        auto* list = palette->findChild<QListWidget*>("paletteList");
        for (const QString name : {"tasks", "records", "re", "r", "replay", "export", "report"}) {
            input->clear();
            QTest::keyClicks(input, name);
            QVERIFY2(list->count() > 0 && !list->item(0)->text().startsWith("Copy command"), qPrintable(name));
        }
        palette->close();
    }

    void commandLinesQuoteWhatAShellWouldTakeApart()
    {
        session::OpenOptions open;
        open.model.source = "it's a model.onnx";
        open.target = "cpu -threads=1";
        open.project = "/tmp/p.lathe";
        session::TuneOptions tune;
        tune.seconds = 90;
        tune.resume = true;
        QCOMPARE(
            ui::tuneCommand(open, tune),
            QString(
                R"(lathe-cli tune 'it'\''s a model.onnx' --target 'cpu -threads=1' --project /tmp/p.lathe --time 90s --resume)"));
    }

    void whereARunBeginsIsChosenAndItsCommandSaysSo()
    {
        const auto copied = [this] {
            runAction("copy.tune");
            return QApplication::clipboard()->text();
        };
        auto* menu = find<ui::HeadStartMenu>("headStartMenu");
        QVERIFY(find<QAction>("headStartInstalled")->isChecked());
        QVERIFY(!find<QAction>("headStartFile")->isVisible());
        QVERIFY2(!copied().contains("--head-start"), qPrintable(copied()));
        find<QAction>("headStartNone")->trigger();
        QVERIFY2(copied().contains("--head-start none"), qPrintable(copied()));
        menu->choose("/tmp/its own.headstart");
        QVERIFY(find<QAction>("headStartFile")->isChecked() && find<QAction>("headStartFile")->isVisible());
        QCOMPARE(find<QAction>("headStartFile")->text(), QString("its own.headstart"));
        QVERIFY2(copied().contains("--head-start '/tmp/its own.headstart'"), qPrintable(copied()));
        const auto kept = [this] { // with the project
            const auto* const session = m_window->findChild<ui::Workspace*>()->session();
            return session->project()->choices()->headStart.value_or(std::string());
        };
        QTRY_COMPARE(kept(), menu->choice().toStdString());
        QCOMPARE(ui::HeadStartMenu(nullptr).choice(), QString()); // the next project's is the settings'
        runAction("copy.resume");
        QVERIFY(!QApplication::clipboard()->text().contains("--head-start")); // a run goes on as it began
        find<QAction>("headStartInstalled")->trigger();
        QVERIFY(!find<QAction>("headStartFile")->isVisible());
        QVERIFY(!copied().contains("--head-start"));
    }

    void layoutsAreSavedAndTheDefaultComesBack()
    {
        auto* tasks = find<QDockWidget>("tasksDock");
        tasks->hide();
        QVERIFY(tasks->isHidden());
        runAction("view.defaultLayout");
        QVERIFY(tasks->isVisible());
        runAction("dock.tasks");
        QVERIFY(tasks->isHidden());
        runAction("page.tasks");
        QVERIFY(tasks->isVisible());
    }

    void theTasksShowTheirBudgetAndCurveInTheDefaultDock()
    {
        m_window->resize(1280, 800);
        QTRY_COMPARE(m_window->width(), 1280);
        runAction("view.defaultLayout");
        auto* tasks = find<QTableView>("taskTable");
        for (const int column : {ui::TaskModel::NameColumn, ui::TaskModel::ShareColumn, ui::TaskModel::LatencyColumn,
                                 ui::TaskModel::CurveColumn, ui::TaskModel::BudgetColumn})
            QTRY_VERIFY2(tasks->columnViewportPosition(column) >= 0
                             && tasks->columnViewportPosition(column) + tasks->columnWidth(column)
                                    <= tasks->viewport()->width(),
                         qPrintable(QString::number(column)));
    }

    void noTaskIsCutInASmallWindow_data()
    {
        QTest::addColumn<QSize>("size");
        for (const QSize size : {QSize(1024, 700), QSize(1280, 800)})
            QTest::addRow("%d", size.width()) << size;
    }
    void noTaskIsCutInASmallWindow()
    {
        QFETCH(QSize, size);
        m_window->resize(size);
        QTRY_COMPARE(m_window->size(), size);
        runAction("view.defaultLayout");
        auto* tasks = find<QTableView>("taskTable");
        auto* workspace = m_window->findChild<ui::Workspace*>();
        const std::vector<session::TaskView> before = workspace->session()->tasks();
        std::vector<session::TaskView> made = before;
        // The longest that networks of the zoo have, but for whole layer norms.
        const char* const names[] = {"depthwise_conv2d 3x3/2 192 @14 +add+clip",
                                     "conv2d 3x3/2 3->32 @112 +transpose+add+clip",
                                     "conv2d 3x3 512->512 @7 +residual+multiply+add+relu"};
        for (std::size_t i = 0; i < made.size(); ++i)
            made[i].name = names[i % std::size(names)];
        workspace->tasks().setTasks(made);
        workspace->tasks().setBudget(0, {true, false, 2, 400}); // "pinned, ×2, ≤ 400"
        for (const int column : {ui::TaskModel::NameColumn, ui::TaskModel::ShareColumn, ui::TaskModel::LatencyColumn,
                                 ui::TaskModel::CurveColumn, ui::TaskModel::BudgetColumn})
            QTRY_VERIFY2(tasks->columnViewportPosition(column) >= 0
                             && tasks->columnViewportPosition(column) + tasks->columnWidth(column)
                                    <= tasks->viewport()->width(),
                         qPrintable(QString::number(column)));
        const QFontMetricsF metrics(tasks->font());
        QVERIFY(metrics.horizontalAdvance(QStringLiteral("#99"))
                <= tasks->columnWidth(ui::TaskModel::NumberColumn) - 8);
        for (int row = 0; row < tasks->model()->rowCount(); ++row)
            for (const int column : {ui::TaskModel::NameColumn, ui::TaskModel::BudgetColumn}) {
                const QString text = tasks->model()->index(row, column).data().toString();
                const QStringList lines = ui::wrappedLines(metrics, text, tasks->columnWidth(column) - 8);
                QVERIFY2(!lines.join(QString()).contains(QChar(0x2026)),
                         qPrintable(QStringLiteral("%1 in %2").arg(text).arg(tasks->columnWidth(column))));
                QTRY_VERIFY2(tasks->rowHeight(row) >= static_cast<double>(lines.size()) * metrics.lineSpacing(),
                             qPrintable(text));
            }
        workspace->tasks().setBudget(0, {});
        // Nor the number of a task of a network with very many.
        std::vector<session::TaskView> many(1200, before.front());
        for (std::size_t i = 0; i < many.size(); ++i)
            many[i].id = static_cast<std::int32_t>(i);
        workspace->tasks().setTasks(many);
        QVERIFY(metrics.horizontalAdvance(QStringLiteral("#1111"))
                <= tasks->columnWidth(ui::TaskModel::NumberColumn) - 8);
        workspace->tasks().setTasks(before);
        m_window->resize(1280, 800);
        QTRY_COMPARE(m_window->width(), 1280);
        runAction("view.defaultLayout");
    }

    void theLanguageChangesWhileTheWindowIsOpen()
    {
        const auto first = [this] { return m_window->menuBar()->actions().first()->text(); };
        const QString english = first();
        ui::Language::instance().set("zh_CN");
        QVERIFY(first() != english);
        QVERIFY(first().contains(QString::fromUtf8("文件")));
        QVERIFY(find<QLabel>("statusLatency")->text().contains(QString::fromUtf8("估计")));
        QCOMPARE(find<QAction>("edit.find")->text(), QString::fromUtf8("查找(&F)…"));
        QVERIFY(find<QTabWidget>("pages")->tabText(0) == QString::fromUtf8("网络"));
        ui::Language::instance().set("en");
        QCOMPARE(first(), english);
    }

    void shortcutsAreRememberedAndClashesAreSolved()
    {
        auto* catalog = m_window->findChild<ui::ActionCatalog*>();
        QAction* fit = find<QAction>("view.fit");
        QAction* settings = find<QAction>("edit.settings");
        const auto taken = catalog->setKeys(fit, settings->shortcuts());
        QCOMPARE(taken.size(), std::size_t(1));
        QVERIFY(settings->shortcuts().isEmpty());
        QVERIFY(QSettings().contains("shortcuts/view.fit"));
        catalog->setKeys(fit, catalog->defaultKeys(fit));
        catalog->setKeys(settings, catalog->defaultKeys(settings));
        QVERIFY(!QSettings().contains("shortcuts/view.fit"));
    }

    void settingsShowEveryCommand()
    {
        runAction("edit.settings");
        QDialog* dialog = nullptr;
        QTRY_VERIFY((dialog = m_window->findChild<QDialog*>("settingsDialog")) != nullptr);
        auto* shortcuts = dialog->findChild<QAbstractItemView*>("settingsShortcuts");
        QCOMPARE(shortcuts->model()->rowCount(),
                 static_cast<int>(m_window->findChild<ui::ActionCatalog*>()->all().size()));
        dialog->close();
    }

    void aFileDroppedAnywhereIsOpened()
    {
        const QString file = m_dir.filePath("broken.onnx");
        QFile out(file);
        QVERIFY(out.open(QIODevice::WriteOnly));
        out.write("not a model");
        out.close();
        QMimeData mime;
        mime.setUrls({QUrl::fromLocalFile(file)});
        QDragEnterEvent enter({300, 300}, Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(m_window.get(), &enter);
        QVERIFY(enter.isAccepted());
        QVERIFY(find<QLabel>("dropHint")->isVisible());
        QDropEvent drop(QPointF(300, 300), Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(m_window.get(), &drop);
        QVERIFY(find<QLabel>("dropHint")->isHidden());
        QTRY_COMPARE_WITH_TIMEOUT(find<QTableView>("issueTable")->model()->rowCount(), 1, 20000);
        QVERIFY(find<QDockWidget>("issuesDock")->isVisible());
        QMimeData words;
        words.setText("no file");
        QDragEnterEvent refused({300, 300}, Qt::CopyAction, &words, Qt::LeftButton, Qt::NoModifier);
        refused.ignore();
        QApplication::sendEvent(m_window.get(), &refused);
        QVERIFY(!refused.isAccepted());
    }

    void panesOpenFromTheStripOneAtATime()
    {
        runAction("view.defaultLayout");
        auto* issues = find<QDockWidget>("issuesDock");
        auto* log = find<QDockWidget>("logDock");
        QVERIFY(issues->isHidden() && log->isHidden()); // what is empty takes no room
        QTest::mouseClick(find<QToolButton>("pane.logButton"), Qt::LeftButton);
        QTRY_VERIFY(log->isVisible() && find<QAction>("pane.log")->isChecked());
        QTest::mouseClick(find<QToolButton>("pane.issuesButton"), Qt::LeftButton);
        QTRY_VERIFY(issues->isVisible() && log->isHidden() && !find<QAction>("pane.log")->isChecked());
        QTest::mouseClick(find<QToolButton>("pane.issuesButton"), Qt::LeftButton);
        QTRY_VERIFY(issues->isHidden());
        const int rows = find<QTableView>("issueTable")->model()->rowCount();
        m_window->openSource(m_dir.filePath("nothing.onnx"));
        QTRY_VERIFY_WITH_TIMEOUT(find<QTableView>("issueTable")->model()->rowCount() > rows, 20000);
        QTRY_VERIFY(issues->isVisible());
        QVERIFY2(find<QAction>("pane.issues")->text().endsWith(QString::number(rows + 1)),
                 qPrintable(find<QAction>("pane.issues")->text()));
        issues->hide();
    }

    void theStartPageTellsOfTheLatestProject()
    {
        ui::RecentProject project;
        project.source = "zoo:mlp";
        project.target = "cpu";
        project.when = QDateTime::currentDateTime();
        project.estimatedMs = 1.25;
        project.trials = 1234;
        project.state = "running";
        project.curve = {{0, 4}, {10, 1.25}};
        ui::rememberProject(project);
        const auto stored = ui::recentProjects();
        QCOMPARE(stored.first().source, QString("zoo:mlp"));
        QCOMPARE(stored.first().curve, project.curve);
        QVERIFY(std::isnan(stored.first().measuredMs));
        ui::MainWindow second;
        second.show();
        QVERIFY(second.findChild<QWidget*>("resumeCard")->isVisible());
        const QString text = second.findChild<QLabel*>("resumeText")->text();
        QVERIFY2(text.contains("1.250") && text.contains("interrupted"), qPrintable(text));
    }

    void aLongCurveIsThinnedToItsEnds()
    {
        QVector<QPointF> curve;
        for (int i = 0; i < 1000; ++i)
            curve << QPointF(i, 1000 - i);
        const auto thin = ui::thinned(curve);
        QCOMPARE(thin.size(), ui::RecentProject::kCurvePoints);
        QCOMPARE(thin.first(), curve.first());
        QCOMPARE(thin.last(), curve.last());
    }

    void theWayIsForgottenAheadWhenAnotherIsTaken()
    {
        ui::Selection selection;
        QSignalSpy changed(&selection, &ui::Selection::changed);
        selection.selectTask(1);
        selection.selectTask(1);
        QCOMPARE(changed.size(), 1);
        selection.selectTask(2);
        selection.selectTask(3);
        selection.back();
        selection.back();
        QCOMPARE(selection.current().task, 1);
        QVERIFY(!selection.canGoBack());
        selection.selectNode(7, 4);
        QVERIFY(!selection.canGoForward());
        selection.back();
        QCOMPARE(selection.current().task, 1);
    }

    void cleanupTestCase() { m_window.reset(); }
};

LATHE_TEST_GUI(TestWindow)

} // namespace tst_window

#include "tst_window.moc"
