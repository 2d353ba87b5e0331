#include "tests/support/template_project.h"
#include "tests/support/test_program.h"
#include "tests/ui/pouring.h"
#include "tests/ui/window_test.h"
#include "ui/bridge/session_bridge.h"
#include "ui/models/knob_cost_model.h"
#include "ui/models/knob_model.h"
#include "ui/models/selection.h"
#include "ui/models/workspace.h"
#include "ui/pages/templates_page.h"
#include "ui/views/parallel_view.h"

#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QLabel>
#include <QSignalSpy>
#include <QTableView>
#include <QtTest>

#include <cmath>
#include <limits>
#include <set>

namespace tst_templates {

using namespace lathe;
using lathe::test::find;
using lathe::test::must;
using lathe::test::TemplateProject;
using ui::ParallelView;

/// The page of templates, its chart and its figures.
class TestTemplates : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;
    QString path(const char* name) const { return m_dir.filePath(QLatin1String(name)); }

    /// Two knobs of two and three values; costs 1, 2, ... ms, the last one failed.
    static session::TemplateTrials sample()
    {
        session::TemplateTrials trials;
        trials.name = "dense_nopack.x86";
        trials.knobs = {{"tile_y", {{"[-1, 1]", 0}, {"[-1, 2]", 1}}}, {"unroll", {{"0", 0}, {"16", 1}, {"64", 2}}}};
        const std::vector<std::vector<std::int32_t>> values = {{0, 0}, {0, 1}, {1, 2}, {1, 0}, {0, 2}};
        for (std::size_t i = 0; i < values.size(); ++i) {
            const double cost = i + 1 == values.size() ? session::kUnknown : static_cast<double>(i + 1);
            trials.configs.push_back({static_cast<std::int64_t>(i + 1), "t" + std::to_string(i), 0, values[i], cost,
                                      std::isnan(cost) ? "RunTimeout" : "Ok"});
        }
        return trials;
    }
    static std::unique_ptr<ParallelView> shownView(std::size_t copies = 1)
    {
        const session::TemplateTrials trials = sample();
        auto lines = std::make_shared<ParallelView::Lines>();
        for (const session::TriedKnob& knob : trials.knobs) {
            QStringList values;
            for (const auto& value : knob.values)
                values << QString::fromStdString(value.text);
            lines->axes.push_back({QString::fromStdString(knob.name), values});
        }
        for (std::size_t copy = 0; copy < copies; ++copy)
            for (const session::TriedConfig& config : trials.configs)
                lines->lines.push_back({config.row + static_cast<std::int64_t>(10 * copy),
                                        QString::fromStdString(config.trial),
                                        {config.values.begin(), config.values.end()},
                                        config.costMs});
        auto view = std::make_unique<ParallelView>();
        view->resize(600, 320);
        view->setLines(std::move(lines));
        view->show();
        return view;
    }

    /// The trials of a made project as if all of them had been imported from a log.
    static TemplateProject makeImportedProject(const std::string& file, const std::string& own)
    {
        std::vector<Record> records;
        TemplateProject made = test::makeTemplateProject(own, 8, 0);
        const auto from = must(store::Project::open(own, store::Project::Access::Read));
        must(from.forEachRecord({}, [&records](const Record& record) { records.push_back(record); }));
        session::OpenOptions options;
        options.model.source = "zoo:mlp";
        options.target = "sim";
        options.project = file;
        must(session::TuningSession::open(options));
        auto project = must(store::Project::open(file, store::Project::Access::Write));
        const auto run = must(project.addSession(
            {0, must(project.models()).back().id, options.target, "{}", 1700000000000, 60, "stopped"}));
        for (Record& record : records) {
            record.session = run;
            record.target = "imported: llvm -keys=cpu";
        }
        must(project.addRecords(records));
        return made;
    }
    static std::unique_ptr<ParallelView> viewOf(std::size_t axes, const std::vector<double>& costs)
    {
        auto lines = std::make_shared<ParallelView::Lines>();
        for (std::size_t axis = 0; axis < axes; ++axis)
            lines->axes.push_back({QStringLiteral("knob %1").arg(axis), {QStringLiteral("a"), QStringLiteral("b")}});
        for (std::size_t i = 0; i < costs.size(); ++i)
            lines->lines.push_back({static_cast<std::int64_t>(i + 1), QStringLiteral("t%1").arg(i),
                                    std::vector<int>(axes, static_cast<int>(i % 2)), costs[i]});
        auto view = std::make_unique<ParallelView>();
        view->resize(600, 320);
        view->setLines(std::move(lines));
        view->show();
        return view;
    }

private slots:
    void initTestCase() { test::settleIn(m_dir.path()); }

    void eachValueHasItsMedianItsBestAndItsTrials()
    {
        const auto costs = ui::knobCosts(sample(), 0, 0);
        QCOMPARE(costs.size(), std::size_t{2});
        QCOMPARE(costs[0].medianMs, 1.5); // of 1 and 2; one failed
        QCOMPARE(costs[0].bestMs, 1.0);
        QCOMPARE(costs[0].trials, std::int64_t{3});
        QCOMPARE(costs[0].failed, std::int64_t{1});
        QCOMPARE(costs[1].medianMs, 3.5);
        QCOMPARE(costs[1].bestMs, 3.0);
        QVERIFY(ui::knobCosts(sample(), 0, 1).empty()); // another origin has none
        session::TemplateTrials allFailed = sample();
        allFailed.configs.erase(allFailed.configs.begin(), allFailed.configs.end() - 1);
        QVERIFY(std::isnan(ui::knobCosts(allFailed, 0, 0).at(0).medianMs));

        ui::KnobCostModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
        const session::TemplateTrials trials = sample();
        model.setKnob(&trials, 0, 0);
        QStringList row;
        for (int column = 0; column < model.columnCount(); ++column)
            row << model.index(0, column).data().toString();
        QCOMPARE(row, QStringList({"[-1, 1]", "1.500 ms", "1.000 ms", "67 %", "3", "1"}));
        model.setKnob(nullptr, 0, 0);
        QCOMPARE(model.rowCount(), 0);
    }

    void linesCrossTheAxesAtTheirValues()
    {
        const auto view = shownView();
        // From the bottom to the top as the values stand, evenly.
        QVERIFY(view->crossing(0, 0).y() > view->crossing(2, 0).y());
        QCOMPARE(view->crossing(0, 0), view->crossing(1, 0));
        const double low = view->crossing(0, 1).y(), middle = view->crossing(1, 1).y(), high = view->crossing(2, 1).y();
        QVERIFY(qFuzzyCompare(low - middle, middle - high) && low > middle);
        // The fastest ends at the top of the costs, the failed one below all others.
        for (std::size_t line = 1; line < 5; ++line)
            QVERIFY(view->crossing(line, 2).y() > view->crossing(line - 1, 2).y());
        QCOMPARE(view->summary(), QString("5 trials, 1 of them failed."));
    }

    void theMouseNamesTheLineAndPicksIt()
    {
        const auto view = shownView();
        const QPointF on = (view->crossing(3, 1) + view->crossing(3, 2)) / 2;
        QCOMPARE(view->lineAt(on), std::optional<std::size_t>(3));
        QCOMPARE(view->textOf(3), QString("t3: 4.000 ms\ntile_y [-1, 2]\nunroll 0"));
        QVERIFY(view->textOf(4).startsWith("t4: failed"));
        QVERIFY(!view->lineAt({2, 2}));
        QSignalSpy picked(view.get(), &ParallelView::picked), axis(view.get(), &ParallelView::axisPicked);
        QTest::mouseClick(view.get(), Qt::LeftButton, {}, on.toPoint());
        QCOMPARE(picked.size(), 1);
        QCOMPARE(picked.front().front().toLongLong(), 4);
        QTest::mouseClick(view.get(), Qt::LeftButton, {}, QPoint(qRound(view->crossing(0, 1).x()), 12));
        QCOMPARE(axis.size(), 1);
        QCOMPARE(axis.front().front().toInt(), 1);
        // Where several lie on each other the fastest is meant.
        QCOMPARE(view->lineAt(view->crossing(0, 0)), std::optional<std::size_t>(0));
    }

    void keysGoThroughTheLinesByTheirCost()
    {
        const auto view = shownView();
        QSignalSpy picked(view.get(), &ParallelView::picked);
        QTest::keyClick(view.get(), Qt::Key_Down);
        QTest::keyClick(view.get(), Qt::Key_Return);
        QTest::keyClick(view.get(), Qt::Key_Down);
        QTest::keyClick(view.get(), Qt::Key_Return);
        QCOMPARE(picked.size(), 2);
        QCOMPARE(picked[0].front().toLongLong(), 1);
        QCOMPARE(picked[1].front().toLongLong(), 2);
    }

    void theFastestOfManyAreDrawn()
    {
        const auto view = shownView(1000);
        QVERIFY2(view->summary().contains("The fastest 3,000 are drawn."), qPrintable(view->summary()));
        QVERIFY(view->lineAt(view->crossing(0, 0)).has_value());
        const auto rows = view->exportRows();
        QCOMPARE(rows.size(), std::size_t{5001}); // all of them leave the view
        QCOMPARE(rows.front(), QStringList({"tile_y", "unroll", "cost_ms", "trial"}));
        QElapsedTimer timer;
        timer.start();
        QVERIFY(!view->grab().isNull());
        QVERIFY2(timer.elapsed() < 2000, qPrintable(QString::number(timer.elapsed())));
    }

    void theBestLineIsSeen()
    {
        const auto view = shownView();
        const QImage picture = view->grab().toImage();
        const QPointF a = view->crossing(0, 1), b = view->crossing(0, 2);
        const QColor there = picture.pixelColor(((a + b) / 2).toPoint());
        QVERIFY2(there.red() > 150 && there.blue() < 100, qPrintable(there.name()));
    }

    void oneAxisAndOddCostsAreDrawn()
    {
        const double unknown = session::kUnknown, endless = std::numeric_limits<double>::infinity();
        for (const std::size_t axes : {0U, 1U, 3U})
            for (const std::vector<double>& costs :
                 {std::vector<double>{2}, {unknown}, {unknown, unknown}, {3, unknown, 1}, {0, endless, 2}, {5, 5}}) {
                const auto view = viewOf(axes, costs);
                QVERIFY(!view->grab().isNull());
                for (std::size_t line = 0; line < costs.size(); ++line)
                    for (std::size_t axis = 0; axis <= axes; ++axis) {
                        const QPointF at = view->crossing(line, axis);
                        QVERIFY(std::isfinite(at.x()) && std::isfinite(at.y()));
                        QVERIFY(QRectF(view->rect()).contains(at));
                        QVERIFY(!view->textOf(line).contains("nan"));
                    }
                QTest::mouseMove(view.get(), view->rect().center());
                for (const int key : {Qt::Key_Left, Qt::Key_Right, Qt::Key_Up, Qt::Key_Down, Qt::Key_Return})
                    QTest::keyClick(view.get(), static_cast<Qt::Key>(key));
            }
        QCOMPARE(viewOf(1, {3, unknown, 0, endless})->summary(), QString("4 trials, 3 of them failed."));
        const auto none = viewOf(0, {1});
        QSignalSpy picked(none.get(), &ParallelView::axisPicked);
        QTest::keyClick(none.get(), Qt::Key_Right);
        QCOMPARE(picked.size(), 0); // there is none
    }

    void theSelectedLineIsSeenThoughItIsSlow()
    {
        const auto view = shownView(1000);
        const QImage before = view->grab().toImage();
        view->setMarked(4); // 4 ms: not among the fastest, which are drawn
        QVERIFY(view->grab().toImage() != before);
        view->setMarked(0);
        QCOMPARE(view->grab().toImage(), before);
    }

    void aReadEndsThoughTrialsPourIn()
    {
        const TemplateProject made = test::makeTemplateProject(path("pouring.lathe").toStdString(), 24, 0);
        ui::Workspace workspace;
        ui::TemplatesPage page(workspace, nullptr);
        page.show();
        auto* lines = find<ParallelView>(&page, "parallelView");
        QSignalSpy opened(&workspace.bridge(), &ui::SessionBridge::opened);
        workspace.open(path("pouring.lathe"), QStringLiteral("sim"));
        QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, 20000);
        QTRY_VERIFY_WITH_TIMEOUT(lines->message().startsWith("Select a task"), 20000);
        workspace.selection().selectTask(made.task);
        QCOMPARE(lines->message(), QString("Reading the trials…"));
        QVERIFY(test::whileTrialsPour(workspace, [lines] { return !lines->summary().isEmpty(); }));
    }

    void theSelectedTrialStaysMarked()
    {
        const TemplateProject made = test::makeTemplateProject(path("marked.lathe").toStdString(), 8, 0);
        ui::Workspace workspace;
        ui::TemplatesPage page(workspace, nullptr);
        page.show();
        auto* lines = find<ParallelView>(&page, "parallelView");
        QSignalSpy opened(&workspace.bridge(), &ui::SessionBridge::opened);
        workspace.open(path("marked.lathe"), QStringLiteral("sim"));
        QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, 20000);
        workspace.selection().selectRecord(QString::fromStdString(TemplateProject::trial(2)), made.task);
        QTRY_VERIFY_WITH_TIMEOUT(!lines->summary().isEmpty(), 20000);
        QCOMPARE(lines->marked(), std::int64_t{3}); // though its line came later
        emit workspace.trialJobs().ended({}); // all is read again
        QTest::qWait(200);
        QCOMPARE(lines->marked(), std::int64_t{3});
        workspace.selection().selectTask(made.task);
        QCOMPARE(lines->marked(), std::int64_t{0});
    }

    void trialsOfLogsAreMarked()
    {
        const TemplateProject made = makeImportedProject(path("imported.lathe").toStdString(),
                                                         path("own.lathe").toStdString());
        ui::Workspace workspace;
        ui::TemplatesPage page(workspace, nullptr);
        page.resize(900, 700);
        page.show();
        auto* lines = find<ParallelView>(&page, "parallelView");
        QSignalSpy opened(&workspace.bridge(), &ui::SessionBridge::opened);
        workspace.open(path("imported.lathe"), QStringLiteral("sim"));
        QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, 20000);
        workspace.selection().selectTask(made.task);
        QTRY_VERIFY_WITH_TIMEOUT(lines->summary().startsWith("8 trials"), 20000);
        auto* origin = find<QComboBox>(&page, "templateOrigin");
        QVERIFY(origin->isVisible());
        QCOMPARE(origin->currentText(), QString("from a log: llvm -keys=cpu"));
        const QString best = find<QLabel>(&page, "templateBest")->text();
        QVERIFY2(best.startsWith("Fastest trial so far (from a log: llvm -keys=cpu): "), qPrintable(best));
        QVERIFY2(lines->textOf(0).contains("(from a log: llvm -keys=cpu)"), qPrintable(lines->textOf(0)));
    }

    void thePageShowsTheSelectedTask()
    {
        const TemplateProject made = test::makeTemplateProject(path("page.lathe").toStdString(), 24, 0.5);
        ui::Workspace workspace;
        ui::TemplatesPage page(workspace, nullptr);
        page.resize(900, 700);
        page.show();
        auto* lines = find<ParallelView>(&page, "parallelView");
        QSignalSpy opened(&workspace.bridge(), &ui::SessionBridge::opened);
        workspace.open(path("page.lathe"), QStringLiteral("sim"));
        QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, 20000);
        workspace.selection().selectTask(made.task);
        QTRY_VERIFY_WITH_TIMEOUT(lines->summary().startsWith("24 trials, 3 of them failed."), 20000);
        const QString winner = find<QLabel>(&page, "templateWinner")->text();
        QVERIFY2(winner.contains(QStringLiteral("%1 1.000 ms, sketch 0.5000 ms: the sketch is used.")
                                     .arg(QString::fromStdString(made.name))),
                 qPrintable(winner));
        const QString space = find<QLabel>(&page, "templateSpace")->text();
        QVERIFY2(space.contains("configurations of") && space.contains("valid"), qPrintable(space));
        QVERIFY(find<QLabel>(&page, "templateBest")->text().startsWith("Fastest trial so far: 1.000 ms with "));
        auto* knobs = find<QTableView>(&page, "knobTable");
        auto* costs = find<QTableView>(&page, "knobCostTable");
        QVERIFY(knobs->model()->rowCount() > 1);
        // In a narrow table, too, a value's costs and what they rest on are in sight.
        using enum ui::KnobCostModel::Column;
        for (const int column : {ValueColumn, MedianColumn, BestColumn, TrialsColumn})
            QVERIFY2(costs->columnViewportPosition(column) + costs->columnWidth(column) <= 250,
                     qPrintable(QString::number(column)));
        for (int knob = 0; knob < knobs->model()->rowCount(); ++knob) {
            knobs->setCurrentIndex(knobs->model()->index(knob, 0));
            int trials = 0;
            for (int row = 0; row < costs->model()->rowCount(); ++row)
                trials += costs->model()->index(row, ui::KnobCostModel::TrialsColumn).data().toInt();
            QCOMPARE(trials, 24);
            QVERIFY(find<QLabel>(&page, "knobCostTitle")
                        ->text()
                        .contains(knobs->model()->index(knob, ui::KnobModel::NameColumn).data().toString()));
        }
        // A line that is picked is the trial that is selected everywhere.
        emit lines->picked(1);
        QCOMPARE(workspace.selection().current().record, QString::fromStdString(TemplateProject::trial(0)));
        QCOMPARE(workspace.selection().current().task, made.task);
    }

    void thePageSaysWhyItIsEmpty()
    {
        const TemplateProject made = test::makeTemplateProject(path("empty.lathe").toStdString(), 8, 0);
        ui::Workspace workspace;
        ui::TemplatesPage page(workspace, nullptr);
        page.resize(900, 700);
        page.show();
        auto* lines = find<ParallelView>(&page, "parallelView");
        QVERIFY(lines->message().startsWith("Open a network"));
        QSignalSpy opened(&workspace.bridge(), &ui::SessionBridge::opened);
        workspace.open(path("empty.lathe"), QStringLiteral("sim"));
        QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, 20000);
        QTRY_VERIFY_WITH_TIMEOUT(lines->message().startsWith("Select a task"), 20000);
        QVERIFY(!find<QTableView>(&page, "knobTable")->isVisible());
        auto* handle = find<QWidget>(lines, "dragHandle");
        QVERIFY2(!handle->isVisible(), "there is no picture to drag out");
        std::set<std::int32_t> computed;
        for (const session::TemplateView& view : workspace.session()->templates())
            computed.insert(view.tasks.begin(), view.tasks.end());
        const auto tasks = static_cast<int>(workspace.session()->tasks().size());
        int without = 0;
        while (without < tasks && computed.contains(without))
            ++without;
        QVERIFY2(without < tasks, "the softmax at the end of the network has no template");
        workspace.selection().selectTask(without);
        QTRY_VERIFY2(lines->message().startsWith("No template computes this task"), qPrintable(lines->message()));
        workspace.selection().selectTask(made.task);
        QTRY_COMPARE_WITH_TIMEOUT(lines->summary(), QString("8 trials, 1 of them failed."), 20000);
        QVERIFY(handle->isVisible());
        workspace.selection().selectTask(without);
        QVERIFY(!handle->isVisible());
    }
};

LATHE_TEST_GUI(TestTemplates)

} // namespace tst_templates

#include "tst_templates.moc"
