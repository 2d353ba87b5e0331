#include "tests/support/layout_project.h"
#include "tests/support/test_program.h"
#include "tests/ui/pouring.h"
#include "tests/ui/window_test.h"
#include "ui/bridge/session_bridge.h"
#include "ui/bridge/trial_jobs.h"
#include "ui/models/language.h"
#include "ui/models/layout_figure_model.h"
#include "ui/models/layout_function_model.h"
#include "ui/models/layout_tensor_model.h"
#include "ui/models/workspace.h"
#include "ui/pages/layouts_panel.h"
#include "ui/views/graph_legend.h"
#include "ui/views/graph_view.h"

#include <QAbstractItemModelTester>
#include <QAction>
#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QTabWidget>
#include <QTableView>
#include <QtTest>

#include <algorithm>

namespace tst_layouts {

using namespace lathe;
using lathe::test::find;
using lathe::test::must;

/// The layouts beside the network: what was chosen, and what a wish changes.
class TestLayouts : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;
    QString path(const char* name) const { return m_dir.filePath(QLatin1String(name)); }

private slots:
    void initTestCase() { test::settleIn(m_dir.path()); }

    void modelsShowWhatChanges()
    {
        session::LayoutsView chosen;
        chosen.functions = {{"first", 0, 0, "NCHW", "NCHW8c", 1.0, "t1", {"NCHW8c", "NCHW"}},
                            {"second", 1, 1, "NCHW8c", "NCHW", 2.0, "t2", {"NCHW"}}};
        chosen.tensors = {{0, 1, "a", "float32", {1, 8, 4, 4}, "NCHW8c", "NCHW8c", 0, {"NCHW8c"}},
                          {1, -1, "b", "float32", {1, 8, 4, 4}, "NCHW", "NCHW", 0, {"NCHW"}}};
        session::WishedLayouts wished{chosen, 0.5, {0}, {0}};
        wished.view.functions[0].output = wished.view.tensors[0].written = "NCHW";
        wished.view.functions[0].kernelMs = 1.25;
        wished.view.tensors[0].conversionMs = 0.25;
        ui::LayoutFunctionModel functions;
        ui::LayoutTensorModel tensors;
        QAbstractItemModelTester one(&functions, QAbstractItemModelTester::FailureReportingMode::Fatal);
        QAbstractItemModelTester two(&tensors, QAbstractItemModelTester::FailureReportingMode::Fatal);
        functions.setLayouts(chosen, {});
        tensors.setLayouts(chosen, {});
        QVERIFY(functions.index(0, ui::LayoutFunctionModel::ChangeColumn).data().toString().isEmpty());
        QCOMPARE(tensors.index(1, ui::LayoutTensorModel::ToColumn).data().toString(), QString("rest of the network"));
        functions.setLayouts(chosen, wished);
        tensors.setLayouts(chosen, wished);
        QCOMPARE(functions.index(0, ui::LayoutFunctionModel::ChangeColumn).data().toString(), QString("+0.2500 ms"));
        QVERIFY(functions.index(1, ui::LayoutFunctionModel::ChangeColumn).data().toString().isEmpty());
        QCOMPARE(tensors.index(0, ui::LayoutTensorModel::WrittenColumn).data().toString(), QString("NCHW"));
        QCOMPARE(tensors.index(0, ui::LayoutTensorModel::CostColumn).data().toString(), QString("0.2500 ms"));
        QVERIFY(tensors.index(0, 0).data(Qt::FontRole).value<QFont>().bold());
        QVERIFY(!tensors.index(1, 0).data(Qt::FontRole).isValid());
    }

    /// The three figures of the reference's tutorial, and those of what is tried.
    void figuresStandSideBySide()
    {
        using Model = ui::LayoutFigureModel;
        session::LayoutsView chosen;
        Model figures;
        QAbstractItemModelTester tester(&figures, QAbstractItemModelTester::FailureReportingMode::Fatal);
        figures.setLayouts(chosen, {});
        QCOMPARE(figures.rowCount(), 0); // there is nothing to compare
        chosen.functions = {{"first", 0, 0, "NCHW", "NCHW8c", 1.0, "t1", {}}};
        chosen.defaultMs = 8;
        chosen.fastestKernelsMs = 3;
        chosen.fastestMs = 6;
        chosen.kernelsMs = 3.5;
        chosen.totalMs = 4;
        figures.setLayouts(chosen, {});
        const auto row = [&figures](int number) {
            QStringList texts;
            for (int column = 0; column < Model::ColumnCount; ++column)
                texts << figures.index(number, column).data().toString();
            return texts.join(" | ");
        };
        QCOMPARE(figures.rowCount(), 3);
        QCOMPARE(row(Model::DefaultRow), QString("Default | 8.000 ms | 0.0000 ms | 8.000 ms | 1.00"));
        QCOMPARE(row(Model::KernelTunedRow), QString("Kernel-tuned | 3.000 ms | 3.000 ms | 6.000 ms | 0.75"));
        QCOMPARE(row(Model::GraphTunedRow), QString("Graph-tuned | 3.500 ms | 0.5000 ms | 4.000 ms | 0.50"));
        session::WishedLayouts wished{chosen, 2, {}, {}};
        wished.view.totalMs = 6;
        figures.setLayouts(chosen, wished);
        QCOMPARE(row(Model::TriedRow), QString("As tried | 3.500 ms | 2.500 ms | 6.000 ms | 0.75"));
        // What was not measured is no figure.
        chosen.defaultMs = session::kUnknown;
        chosen.defaultsMissing = 2;
        figures.setLayouts(chosen, {});
        QCOMPARE(row(Model::DefaultRow), QString::fromUtf8("Default | – | – | – | –"));
        QVERIFY(row(Model::GraphTunedRow).endsWith(QString::fromUtf8("4.000 ms | –")));
        QVERIFY(figures.index(Model::DefaultRow, 0).data(Qt::ToolTipRole).toString().contains("of 2 functions"));
    }

    void aWishSaysWhatItCosts()
    {
        test::makeLayoutProject(path("layouts.lathe").toStdString());
        ui::Workspace workspace;
        ui::LayoutsPanel panel(workspace, nullptr);
        panel.resize(700, 600);
        panel.show();
        QSignalSpy opened(&workspace.bridge(), &ui::SessionBridge::opened);
        workspace.open(path("layouts.lathe"), QStringLiteral("sim"));
        QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, 20000);
        auto* tensors = find<QTableView>(&panel, "layoutTensors");
        QTRY_VERIFY_WITH_TIMEOUT(tensors->model()->rowCount() > 0, 20000);
        const QString summary = find<QLabel>(&panel, "layoutsSummary")->text();
        QVERIFY2(summary.contains(" tensors are converted."), qPrintable(summary));
        QVERIFY2(summary.contains("conversions are estimates"), qPrintable(summary));
        QVERIFY(find<QPushButton>(&panel, "layoutsMeasure")->isVisible());
        auto* figures = find<QTableView>(&panel, "layoutFigures");
        QCOMPARE(figures->model()->rowCount(), 3);
        const int high = figures->height();
        // A function that can give another layout than the chosen one.
        find<QTabWidget>(&panel, "layoutsTabs")->setCurrentIndex(1);
        auto* functions = find<QTableView>(&panel, "layoutFunctions");
        auto* wish = find<QComboBox>(&panel, "layoutsWish");
        QSignalSpy picked(&panel, &ui::LayoutsPanel::subgraphPicked);
        QString other;
        for (int row = 0; row < functions->model()->rowCount() && other.isEmpty(); ++row) {
            functions->setCurrentIndex(functions->model()->index(row, 0));
            const QString now = functions->model()->index(row, ui::LayoutFunctionModel::OutputColumn).data().toString();
            for (int i = 1; i < wish->count(); ++i)
                if (wish->itemText(i) != now)
                    other = wish->itemText(i);
        }
        QVERIFY2(!other.isEmpty(), "some function must have a choice");
        QVERIFY(picked.size() > 0);
        const int row = functions->currentIndex().row();
        wish->setCurrentIndex(wish->findText(other));
        emit wish->activated(wish->currentIndex());
        auto* change = find<QLabel>(&panel, "layoutsChange");
        QTRY_VERIFY2(change->text().contains("against what was chosen"), qPrintable(change->text()));
        QVERIFY2(change->text().contains("+"), qPrintable(change->text())); // nothing beats what was chosen
        QCOMPARE(functions->model()->index(row, ui::LayoutFunctionModel::OutputColumn).data().toString(), other);
        QCOMPARE(figures->model()->rowCount(), 4);
        QTRY_VERIFY(figures->height() > high); // all of its rows are in sight
        find<QPushButton>(&panel, "layoutsClear")->click();
        QTRY_VERIFY(!change->isVisible());
        QVERIFY(functions->model()->index(row, ui::LayoutFunctionModel::OutputColumn).data().toString() != other);
    }

    void conversionsAreMeasuredOnDemand()
    {
        test::makeLayoutProject(path("measured.lathe").toStdString());
        ui::Workspace workspace;
        ui::LayoutsPanel panel(workspace, nullptr);
        panel.show();
        QSignalSpy opened(&workspace.bridge(), &ui::SessionBridge::opened);
        workspace.open(path("measured.lathe"), QStringLiteral("sim"));
        QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, 20000);
        auto* measure = find<QPushButton>(&panel, "layoutsMeasure");
        QTRY_VERIFY_WITH_TIMEOUT(measure->isVisible(), 20000);
        measure->click();
        QTRY_VERIFY_WITH_TIMEOUT(!measure->isVisible(), 60000);
        QVERIFY(!find<QLabel>(&panel, "layoutsSummary")->text().contains("estimate"));
    }

    /// A button that cannot help is not offered.
    void recordsOfAnotherDeviceAreNotTimedHere()
    {
        session::LayoutsView view;
        view.functions = {{"first", 0, 0, "NCHW", "NCHW8c", 1.0, "t1", {}}};
        view.guessed = 3;
        view.canMeasure = false;
        const QString text = ui::LayoutsPanel::notesText(view);
        QVERIFY2(text.contains("only be timed on the device of the records"), qPrintable(text));
        view.canMeasure = true;
        QVERIFY(!ui::LayoutsPanel::notesText(view).contains("only be timed"));
    }

    void notesSayWhatTheFiguresLeaveOut()
    {
        session::LayoutsView view;
        view.functions = {{"first", 0, 0, "NCHW", "NCHW8c", 1.0, "t1", {}},
                          {"untimed", 1, 1, "NCHW", "NCHW", 0, "", {}},
                          {"adds", 2, -1, "NCHW", "NCHW", 0, "", {}}}; // which needs no kernel of its own
        view.totalMs = view.kernelsMs = 1;
        view.optimal = true;
        const QString text = ui::LayoutsPanel::notesText(view);
        QVERIFY2(text.contains("Functions that were never timed count as 0 here: 1 of 3."), qPrintable(text));
        view.functions[1].trial = "t2";
        QVERIFY(!ui::LayoutsPanel::notesText(view).contains("never timed"));
    }

    void ofManyFunctionsTheFirstAreNamed()
    {
        session::WishedLayouts wished;
        for (std::int32_t i = 0; i < 8; ++i) {
            wished.view.functions.push_back({"f" + std::to_string(i), i, i, "NCHW", "NCHW", 1.0, "t", {}});
            wished.functions.push_back(i);
        }
        const QString all = ui::LayoutsPanel::changeText(wished);
        QVERIFY2(all.endsWith("Other kernels or layouts: f0, f1, f2, f3, f4, and 3 more."), qPrintable(all));
        wished.functions.resize(5);
        const QString five = ui::LayoutsPanel::changeText(wished);
        QVERIFY2(five.endsWith("Other kernels or layouts: f0, f1, f2, f3, f4."), qPrintable(five));
    }

    void aReadEndsThoughTrialsPourIn()
    {
        test::makeLayoutProject(path("pouring.lathe").toStdString());
        ui::Workspace workspace;
        ui::LayoutsPanel panel(workspace, nullptr);
        panel.show();
        workspace.open(path("pouring.lathe"), QStringLiteral("sim"));
        auto* tensors = find<QTableView>(&panel, "layoutTensors");
        QVERIFY(test::whileTrialsPour(workspace, [tensors] { return tensors->model()->rowCount() > 0; }));
    }

    void measuringGoesOnThoughTrialsChange()
    {
        test::makeLayoutProject(path("changing.lathe").toStdString());
        ui::Workspace workspace;
        ui::LayoutsPanel panel(workspace, nullptr);
        panel.show();
        QSignalSpy opened(&workspace.bridge(), &ui::SessionBridge::opened);
        workspace.open(path("changing.lathe"), QStringLiteral("sim"));
        QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, 20000);
        auto* measure = find<QPushButton>(&panel, "layoutsMeasure");
        QTRY_VERIFY_WITH_TIMEOUT(measure->isVisible(), 20000);
        measure->click();
        emit workspace.trialJobs().ended({});
        const QString text = find<QLabel>(&panel, "layoutsSummary")->text();
        QVERIFY2(text.endsWith("Measuring conversions…"), qPrintable(text));
        QTRY_VERIFY_WITH_TIMEOUT(!measure->isVisible(), 60000);
    }

    void importedLogsAreHeard()
    {
        test::makeLayoutProject(path("imports.lathe").toStdString());
        ui::Workspace workspace;
        ui::LayoutsPanel panel(workspace, nullptr);
        panel.show();
        auto* summary = find<QLabel>(&panel, "layoutsSummary");
        workspace.open(path("imports.lathe"), QStringLiteral("sim"));
        QTRY_VERIFY_WITH_TIMEOUT(summary->text().endsWith("estimates."), 20000);
        session::LogImport done;
        done.lines = done.taken = 1;
        emit workspace.trialJobs().imported(done, workspace.session()->tasks());
        QVERIFY2(summary->text().endsWith("Choosing layouts…"), qPrintable(summary->text()));
        ui::Language::instance().set(QStringLiteral("zh_CN")); // what it is doing, too
        QVERIFY2(summary->text().endsWith(QString::fromUtf8("正在选择布局…")), qPrintable(summary->text()));
        ui::Language::instance().set(QStringLiteral("en"));
        QTRY_VERIFY_WITH_TIMEOUT(summary->text().endsWith("estimates."), 20000);
    }

    void theMenuTellsWhetherThePanelIsShown()
    {
        const auto window = test::shownWindow({1280, 800});
        auto& workspace = *window->findChild<ui::Workspace*>();
        QSignalSpy opened(&workspace.bridge(), &ui::SessionBridge::opened);
        window->openSource(QStringLiteral("zoo:mlp"), QStringLiteral("sim"));
        QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, 20000);
        auto* entry = find<QAction>(window.get(), "graph.layouts");
        auto* panel = find<ui::LayoutsPanel>(window.get(), "layoutsPanel");
        QVERIFY(entry->isCheckable() && !entry->isChecked());
        entry->trigger();
        QVERIFY(entry->isChecked() && panel->isVisible());
        find<QAction>(window.get(), "graphLayouts")->trigger(); // the button above the network
        QVERIFY(!entry->isChecked() && !panel->isVisible());
        find<QAction>(window.get(), "graphLayouts")->trigger();
        find<QAction>(window.get(), "page.curves")->trigger();
        QTRY_VERIFY(!panel->isVisible());
        entry->trigger(); // out of sight it is brought to the front
        QVERIFY(entry->isChecked());
        QTRY_VERIFY(panel->isVisible());
        entry->trigger();
        QVERIFY(!entry->isChecked() && !panel->isVisible());
    }

    void theGraphSaysWhatThePanelShows()
    {
        test::makeLayoutProject(path("graph.lathe").toStdString());
        const auto window = test::shownWindow({1280, 800});
        auto& workspace = *window->findChild<ui::Workspace*>();
        QSignalSpy opened(&workspace.bridge(), &ui::SessionBridge::opened);
        window->openSource(path("graph.lathe"), QStringLiteral("sim"));
        QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, 20000);
        const auto& scene = find<ui::GraphView>(window.get(), "graphView")->scene();
        auto* legend = find<ui::GraphLegend>(window.get(), "graphLegend");
        const auto explains = [legend](const char* what) {
            return legend->words().filter(QLatin1String(what)).size() == 1;
        };
        QVERIFY(scene.edgeLabels().empty() && !explains("text on edges"));
        auto* entry = find<QAction>(window.get(), "graph.layouts");
        entry->trigger();
        QTRY_VERIFY_WITH_TIMEOUT(!scene.edgeLabels().empty(), 20000);
        QVERIFY(explains("text on edges") && !explains("that are tried"));
        const auto count = [&scene](bool ui::GraphScene::EdgeLabel::*what) {
            return std::ranges::count(scene.edgeLabels(), true, what);
        };
        auto* tensors = find<QTableView>(window.get(), "layoutTensors");
        // Each tensor has its edge, but for the network's input, which is not drawn.
        QCOMPARE(static_cast<int>(scene.edgeLabels().size()), tensors->model()->rowCount() - 1);
        QCOMPARE(count(&ui::GraphScene::EdgeLabel::converts), 0);
        QCOMPARE(count(&ui::GraphScene::EdgeLabel::changes), 0);
        // Under a wish.
        auto* wish = find<QComboBox>(window.get(), "layoutsWish");
        QString other;
        for (int row = 0; row < tensors->model()->rowCount() && other.isEmpty(); ++row) {
            tensors->setCurrentIndex(tensors->model()->index(row, 0));
            const QString now = tensors->model()->index(row, ui::LayoutTensorModel::ReadColumn).data().toString();
            for (int i = 1; i < wish->count(); ++i)
                if (wish->itemText(i) != now)
                    other = wish->itemText(i);
        }
        QVERIFY2(!other.isEmpty(), "some tensor must have a choice");
        wish->setCurrentIndex(wish->findText(other));
        emit wish->activated(wish->currentIndex());
        QTRY_VERIFY_WITH_TIMEOUT(count(&ui::GraphScene::EdgeLabel::changes) > 0, 20000);
        QVERIFY(explains("that are tried"));
        QVERIFY(count(&ui::GraphScene::EdgeLabel::converts) > 0);
        find<QPushButton>(window.get(), "layoutsClear")->click();
        QCOMPARE(count(&ui::GraphScene::EdgeLabel::changes), 0);
        QVERIFY(!scene.edgeLabels().empty() && !explains("that are tried"));
        entry->trigger();
        QVERIFY(scene.edgeLabels().empty() && !explains("text on edges"));
        entry->trigger();
        QVERIFY(!scene.edgeLabels().empty());
        workspace.bridge().close();
        QTRY_VERIFY(scene.edgeLabels().empty() && !explains("text on edges"));
    }

    void thePanelSaysWhyThereIsNothingToChoose()
    {
        session::OpenOptions options;
        options.model.source = "zoo:mlp";
        options.target = "sim";
        options.project = path("plain.lathe").toStdString();
        must(session::TuningSession::open(options));
        ui::Workspace workspace;
        ui::LayoutsPanel panel(workspace, nullptr);
        panel.show();
        auto* summary = find<QLabel>(&panel, "layoutsSummary");
        QVERIFY(summary->text().startsWith("Open a network"));
        workspace.open(path("plain.lathe"), QStringLiteral("sim"));
        QTRY_VERIFY_WITH_TIMEOUT(summary->text().startsWith("No record of this project has a layout of its own"),
                                 20000);
        QVERIFY(!find<QTableView>(&panel, "layoutTensors")->isVisible());
    }
};

LATHE_TEST_GUI(TestLayouts)

} // namespace tst_layouts

#include "tst_layouts.moc"
