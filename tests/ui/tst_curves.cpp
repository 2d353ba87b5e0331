#include "core/store/project.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"
#include "tests/ui/made_project.h"
#include "tests/ui/window_test.h"
#include "ui/bridge/session_bridge.h"
#include "ui/models/recent_projects.h"
#include "ui/models/round_model.h"
#include "ui/models/selection.h"
#include "ui/models/task_model.h"
#include "ui/models/workspace.h"
#include "ui/pages/curves_page.h"
#include "ui/views/latency_chart.h"

#include <QClipboard>
#include <QComboBox>
#include <QLabel>
#include <QMenu>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QToolButton>
#include <QtTest>

namespace tst_curves {

using namespace lathe;
using test::find;

namespace {

void hover(QWidget& view, QPointF at)
{
    QMouseEvent move(QEvent::MouseMove, at, view.mapToGlobal(at), Qt::NoButton, Qt::NoButton, Qt::NoModifier);
    QApplication::sendEvent(&view, &move);
}

ui::LatencyChart::Curves someCurves()
{
    ui::LatencyChart::Curves curves;
    curves.estimate = {{0, 8}, {10, 4.5}};
    curves.trials = {{0, 16}, {10, 96}};
    curves.measured = {{8, 5.25}};
    curves.parts = {{8, 4, 0.5, 0.25, 0.25}};
    curves.untunedMs = 9;
    curves.seconds = 20;
    curves.tasks = {{3, "conv2d", {{2, 2}, {12, 1.5}}, {{2, 8}, {12, 24}}}};
    return curves;
}

std::unique_ptr<ui::LatencyChart> shownChart(ui::LatencyChart::Curves curves, QSize size = {800, 420})
{
    auto chart = std::make_unique<ui::LatencyChart>();
    chart->resize(size);
    chart->setCurves(std::move(curves));
    chart->show();
    if (!QTest::qWaitForWindowExposed(chart.get()))
        qFatal("the chart did not come up");
    return chart;
}

/// Where the chart has a time of the run.
QPointF at(const ui::LatencyChart& chart, double seconds)
{
    const QRectF view = chart.shown(), area = chart.plotArea();
    return {area.left() + (seconds - view.left()) / view.width() * area.width(), area.center().y()};
}

QStringList names(const ui::LatencyChart& chart)
{
    QStringList all;
    for (const ui::LatencyChart::EndLabel& label : chart.endLabels())
        all << label.key;
    return all;
}

/// Runs `act` on the menu that a right click opens.
template<typename Act>
void inMenu(QWidget& view, QPoint at, Act act)
{
    bool done = false;
    QTimer::singleShot(0, &view, [&] {
        auto* const menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
        if (menu != nullptr) {
            act(*menu);
            done = true;
            menu->close();
        }
    });
    QContextMenuEvent event(QContextMenuEvent::Mouse, at, view.mapToGlobal(at));
    QApplication::sendEvent(&view, &event);
    QVERIFY(done);
}

QAction* entry(const QMenu& menu, const QString& text)
{
    for (QAction* action : menu.actions())
        if (QString(action->text()).remove(QLatin1Char('&')).startsWith(text))
            return action;
    return nullptr;
}

} // namespace

/// The chart of latencies and its page, driven by mouse and keys.
class TestCurves : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;

    QString file(const char* name) const { return m_dir.filePath(QLatin1String(name)); }

private slots:
    void initTestCase() { test::settleIn(m_dir.path()); }

    void valuesStandUnderThePointer()
    {
        const auto chart = shownChart(someCurves());
        QVERIFY(chart->readout().isEmpty());
        hover(*chart, at(*chart, 13));
        const QStringList told = chart->readout();
        QCOMPARE(told.size(), 9); // the time, four lines, four parts
        QVERIFY2(told[0].startsWith("13."), qPrintable(told[0]));
        QCOMPARE(told[1], QString("untuned\t9.000 ms"));
        QCOMPARE(told[2], QString("measured network\t5.250 ms"));
        QCOMPARE(told[3], QString("estimated network\t4.500 ms\t96 trials"));
        QCOMPARE(told[4], QString("conv2d\t1.500 ms\t24 trials"));
        QCOMPARE(told.mid(5), QStringList({"chain\t0.2500 ms", "call\t0.2500 ms", "untuned functions\t0.5000 ms",
                                           "tasks\t4.000 ms"}));
        hover(*chart, at(*chart, 4));
        QVERIFY(chart->readout().contains("estimated network\t8.000 ms\t16 trials"));
        QVERIFY(chart->readout().filter("measured").isEmpty()); // nothing had been measured by then
        hover(*chart, {2, 2});
        QVERIFY(chart->readout().isEmpty());
        // The arrows do it, too.
        chart->setFocus();
        QTest::keyClick(chart.get(), Qt::Key_Right);
        const QStringList first = chart->readout();
        QTest::keyClick(chart.get(), Qt::Key_Right);
        QVERIFY(!first.isEmpty() && chart->readout()[0] != first[0]);
        QTest::keyClick(chart.get(), Qt::Key_Escape);
        QVERIFY(chart->readout().isEmpty());
    }

    void linesHaveTheirNamesAtTheirEnds()
    {
        ui::LatencyChart::Curves curves = someCurves();
        for (int i = 0; i < 40; ++i) // all of them close together
            curves.tasks.push_back({i + 10, QString("task %1").arg(i), {{1, 0.5 + i * 0.001}}});
        const auto chart = shownChart(curves);
        const auto& labels = chart->endLabels();
        for (const char* key : {"estimate", "measured", "untuned"})
            QVERIFY2(names(*chart).contains(key), key); // they go first, whatever else there is
        QVERIFY(labels.size() > 6);
        for (std::size_t i = 0; i < labels.size(); ++i) {
            QVERIFY(chart->rect().contains(labels[i].place.toAlignedRect()));
            QVERIFY(labels[i].place.left() > chart->plotArea().right());
            QVERIFY(std::abs(labels[i].place.center().y() - labels[i].lineY) < 5 * labels[i].place.height()); // near it
            for (std::size_t j = 0; j < i; ++j)
                QVERIFY2(!labels[i].place.adjusted(0, 0.01, 0, -0.01).intersects(labels[j].place),
                         qPrintable(labels[i].text + " / " + labels[j].text));
        }
    }

    void theLegendHidesAndShows()
    {
        const auto chart = shownChart(someCurves());
        const QPoint untuned = chart->legend().place("untuned").center().toPoint();
        QTest::mouseClick(chart.get(), Qt::LeftButton, {}, untuned);
        QVERIFY(chart->hidden().contains("untuned"));
        QVERIFY(!names(*chart).contains("untuned"));
        hover(*chart, at(*chart, 13));
        QVERIFY(chart->readout().filter("untuned\t").isEmpty());
        chart->setCurves(someCurves()); // the run goes on
        QVERIFY(!names(*chart).contains("untuned"));
        QTest::mouseClick(chart.get(), Qt::LeftButton, {}, untuned);
        QVERIFY(names(*chart).contains("untuned"));
        // A double click shows one alone; the next, all.
        const auto twice = [&chart](const QString& key) {
            const QPoint place = chart->legend().place(key).center().toPoint();
            QTest::mouseClick(chart.get(), Qt::LeftButton, {}, place);
            QTest::mouseDClick(chart.get(), Qt::LeftButton, {}, place);
        };
        twice("estimate");
        QCOMPARE(names(*chart), QStringList("estimate"));
        twice("estimate");
        QVERIFY(chart->hidden().isEmpty());
    }

    void whatTheLegendHasNoRoomForIsBehindItsLastEntry()
    {
        ui::LatencyChart::Curves curves = someCurves();
        for (int i = 0; i < 30; ++i)
            curves.tasks.push_back({i, QString("a task with a long name %1").arg(i), {{1, 1.0 + i}}});
        const auto chart = shownChart(curves);
        QVERIFY(!chart->legend().morePlace().isEmpty());
        QTimer::singleShot(0, chart.get(), [] {
            if (auto* const menu = qobject_cast<QMenu*>(QApplication::activePopupWidget())) {
                menu->actions().last()->trigger();
                menu->close();
            }
        });
        QTest::mouseClick(chart.get(), Qt::LeftButton, {}, chart->legend().morePlace().center().toPoint());
        QVERIFY(chart->hidden().contains("task:a task with a long name 29"));
    }

    void noTwoColoursAreAlike()
    {
        for (const bool few : {true, false}) {
            ui::LatencyChart::Curves curves = someCurves();
            curves.tasks.clear();
            QStringList keys{"estimate", "measured", "untuned"};
            // Tasks whose numbers would give them one colour.
            for (int i = 0; i < (few ? 5 : 24); ++i) {
                curves.tasks.push_back({few ? i * 8 : i, QString("t%1").arg(i), {{1, 1}}});
                keys << QString("task:t%1").arg(i);
            }
            curves.overlays = {{"a", "a", {{1, 2}}, {}, {}, 9}, {"b", "b", {{1, 3}}, {}, {}, 9}};
            keys << "a"
                 << "b";
            ui::LatencyChart chart;
            chart.setCurves(curves);
            for (qsizetype i = 0; i < keys.size(); ++i)
                for (qsizetype j = 0; j < i; ++j) {
                    const QColor a = chart.colorOf(keys[i]), b = chart.colorOf(keys[j]);
                    QVERIFY(a.isValid() && b.isValid());
                    const int apart = std::abs(a.red() - b.red()) + std::abs(a.green() - b.green())
                                      + std::abs(a.blue() - b.blue());
                    QVERIFY2(apart > 24, qPrintable(keys[i] + " " + a.name() + " / " + keys[j] + " " + b.name()));
                }
            // One that stays keeps its own.
            const QColor kept = chart.colorOf("task:t3");
            curves.tasks.erase(curves.tasks.begin(), curves.tasks.begin() + 3);
            chart.setCurves(curves);
            QCOMPARE(chart.colorOf("task:t3"), kept);
        }
    }

    void partsAreStackedBelowTheMeasuredLine()
    {
        const auto chart = shownChart(someCurves());
        QVERIFY(names(*chart).contains("part:tasks"));
        double top = chart->plotArea().bottom();
        for (const char* key : {"part:tasks", "part:functions", "part:call", "part:chain"}) {
            const auto& labels = chart->endLabels();
            const auto label = std::ranges::find(labels, QString(key), &ui::LatencyChart::EndLabel::key);
            QVERIFY2(label != labels.end(), key);
            QVERIFY2(label->lineY < top, key); // each above the one before
            top = label->lineY;
        }
        chart->setLogarithmic(true); // where heights do not add up
        QVERIFY(!names(*chart).contains("part:tasks"));
    }

    void shortLatenciesAreMicroseconds()
    {
        ui::LatencyChart::Curves curves;
        curves.estimate = {{0, 0.0512}};
        curves.seconds = 5;
        const auto chart = shownChart(curves);
        QVERIFY2(chart->summary().contains("51.20 µs"), qPrintable(chart->summary()));
        hover(*chart, at(*chart, 2));
        QCOMPARE(chart->readout().last(), QString("estimated network\t51.20 µs"));
    }

    void theMenuHasWhatOneWouldDo()
    {
        const auto chart = shownChart(someCurves());
        hover(*chart, at(*chart, 13));
        inMenu(*chart, at(*chart, 13).toPoint(), [](QMenu& menu) {
            for (const char* text : {"Lines", "Logarithmic", "Copy these values", "Zoom to fit", "Copy picture",
                                     "Copy as CSV", "Save this view"})
                QVERIFY2(entry(menu, text) != nullptr, text);
            entry(menu, "Copy these values")->trigger();
            entry(menu, "Logarithmic")->trigger();
        });
        QVERIFY(QApplication::clipboard()->text().contains("estimated network\t4.500 ms"));
        QVERIFY(chart->isLogarithmic());
        inMenu(*chart, chart->legend().place("untuned").center().toPoint(),
               [](QMenu& menu) { entry(menu, "Show it alone")->trigger(); });
        QCOMPARE(names(*chart), QStringList("untuned"));
    }

    void otherRunsStandBesideThisOne()
    {
        test::makeProject(file("full.lathe"), test::Project::Mixed);
        test::makeProject(file("other.lathe"), test::Project::Mixed);
        {
            auto project = test::must(
                store::Project::open(file("full.lathe").toStdString(), store::Project::Access::Write));
            const auto run = test::must(project.addSession(
                {0, test::must(project.models()).back().id, "sim", "{}", 1700000100000, 30, "stopped"}));
            test::must(project.addRound({run, 0, "none", 8, "{}", "{}", 15, 22}));
        }
        ui::RecentProject recent;
        recent.source = file("other.lathe");
        ui::rememberProject(recent);
        ui::Workspace workspace;
        ui::CurvesPage page(workspace, nullptr);
        page.resize(1024, 600);
        page.show();
        QSignalSpy opened(&workspace.bridge(), &ui::SessionBridge::opened);
        workspace.open(file("full.lathe"), QStringLiteral("sim"));
        QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, 20000);
        auto* const chart = find<ui::LatencyChart>(&page, "latencyChart");
        QTRY_VERIFY(chart->colorOf("estimate").isValid());
        auto* const menu = find<QToolButton>(&page, "chartAdd")->menu();
        emit menu->aboutToShow();
        QTRY_VERIFY(entry(*menu, "run 1,") != nullptr); // the latest is shown anyway
        QVERIFY(entry(*menu, "run 2,") == nullptr);
        entry(*menu, "run 1,")->trigger();
        const auto labels = [chart] {
            QStringList texts;
            for (const ui::LatencyChart::EndLabel& label : chart->endLabels())
                texts << label.text;
            return texts;
        };
        QTRY_VERIFY2(labels().contains("full, run 1"), qPrintable(labels().join('/')));
        entry(*menu, "other.lathe")->trigger();
        QTRY_VERIFY(labels().contains("other, run 1"));
        hover(*chart, at(*chart, 12));
        QVERIFY2(!chart->readout().filter("other, run 1\t").isEmpty(), qPrintable(chart->readout().join('/')));
        // Each can be taken away, in the menu or where it stands.
        emit menu->aboutToShow();
        entry(*menu, "other, run 1")->trigger();
        QTRY_VERIFY(!labels().contains("other, run 1"));
        emit menu->aboutToShow();
        find<QAction>(menu, "overlayRemoveAll")->trigger();
        QTRY_VERIFY(!labels().contains("full, run 1"));
    }

    void chosenRunsAreRememberedWithTheirProject()
    {
        const auto labels = [](const ui::LatencyChart& chart) {
            QStringList texts;
            for (const ui::LatencyChart::EndLabel& label : chart.endLabels())
                texts << label.text;
            return texts;
        };
        const auto open = [](ui::Workspace& workspace, const QString& project) {
            QSignalSpy opened(&workspace.bridge(), &ui::SessionBridge::opened);
            workspace.open(project, QStringLiteral("sim"));
            QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, 20000);
        };
        test::makeProject(file("kept.lathe"), test::Project::Mixed);
        std::int64_t begun = 0; // another run, which has no round yet
        {
            auto project = test::must(
                store::Project::open(file("kept.lathe").toStdString(), store::Project::Access::Write));
            begun = test::must(project.addSession(
                {0, test::must(project.models()).back().id, "sim", "{}", 1700000200000, 0, "stopped"}));
        }
        {
            ui::Workspace workspace;
            ui::CurvesPage page(workspace, nullptr);
            page.resize(1024, 600);
            page.show();
            open(workspace, file("kept.lathe"));
            auto* const chart = find<ui::LatencyChart>(&page, "latencyChart");
            auto* const menu = find<QToolButton>(&page, "chartAdd")->menu();
            emit menu->aboutToShow();
            QTRY_VERIFY(entry(*menu, "other.lathe") != nullptr);
            entry(*menu, "other.lathe")->trigger();
            QTRY_VERIFY(labels(*chart).contains("other, run 1"));
            // A run with other options begins: the one before it stays in sight.
            emit workspace.bridge().eventsArrived({{0, session::RunBegunEvent{begun}}});
            QTRY_VERIFY2(labels(*chart).contains("kept, run 1"), qPrintable(labels(*chart).join('/')));
            open(workspace, file("full.lathe"));
            QTRY_VERIFY(!labels(*chart).contains("other, run 1")); // they were chosen beside another project
        }
        ui::Workspace workspace;
        ui::CurvesPage page(workspace, nullptr);
        page.resize(1024, 600);
        page.show();
        open(workspace, file("kept.lathe"));
        auto* const chart = find<ui::LatencyChart>(&page, "latencyChart");
        QTRY_VERIFY2(labels(*chart).contains("other, run 1") && labels(*chart).contains("kept, run 1"),
                     qPrintable(labels(*chart).join('/')));
        auto* const menu = find<QToolButton>(&page, "chartAdd")->menu();
        emit menu->aboutToShow();
        find<QAction>(menu, "overlayRemoveAll")->trigger();
        QTRY_VERIFY(!labels(*chart).contains("kept, run 1"));
    }

    void manyValuesLeaveTheChartInSight()
    {
        ui::LatencyChart::Curves curves = someCurves();
        for (int i = 0; i < 30; ++i)
            curves.tasks.push_back(
                {i + 10, QString("conv2d 3x3 %1->%1 @14 +residual+add+relu").arg(i), {{1, 0.2 * i}}});
        const auto chart = shownChart(curves);
        const QPointF pointer = at(*chart, 13);
        hover(*chart, pointer);
        QVERIFY(chart->readout().size() > 30); // what is copied is all of it
        const QStringList painted = chart->paintedReadout();
        QVERIFY(painted.size() >= 4);
        QVERIFY2(painted.last().contains("more"), qPrintable(painted.join('/')));
        const QRectF place = chart->readoutPlace(), area = chart->plotArea();
        QVERIFY2(place.height() <= area.height() / 3, qPrintable(QString::number(place.height() / area.height())));
        QVERIFY(place.width() < area.width() * 2 / 3);
        // The values beside the pointer, not the slowest: it stands in the middle of the axis.
        const double middle = chart->shown().center().y();
        for (const QString& line : painted.mid(1, painted.size() - 2))
            QVERIFY2(std::abs(line.section('\t', 1, 1).section(' ', 0, 0).toDouble() - middle) < middle / 2,
                     qPrintable(line));
        const auto few = shownChart(someCurves(), {800, 800});
        hover(*few, at(*few, 13));
        QCOMPARE(few->paintedReadout(), few->readout());
    }

    void theHeadingIsNeverCut()
    {
        ui::Workspace workspace;
        ui::CurvesPage page(workspace, nullptr);
        page.resize(420, 500); // beside docks
        page.show();
        QSignalSpy opened(&workspace.bridge(), &ui::SessionBridge::opened);
        workspace.open(file("other.lathe"), QStringLiteral("sim"));
        QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, 20000);
        auto* const summary = find<QLabel>(&page, "chartSummary");
        QTRY_VERIFY(summary->text().contains("measured")); // what is stored has been read
        workspace.clearRun();
        emit workspace.bridge().eventsArrived({{20, session::EstimateEvent{session::kUnknown, 12.09, 41.6, 40}},
                                               {20, session::MeasuredEvent{141.3, 0, true, {}}}});
        QTRY_VERIFY2(summary->text().contains("untuned") && summary->text().contains("some tasks"),
                     qPrintable(summary->text()));
        QTRY_VERIFY(summary->height() >= summary->heightForWidth(summary->width()));
        QVERIFY(summary->wordWrap());
        QVERIFY(page.rect().contains(summary->geometry()));
    }

    void thePageHasTwoLinesOfTextAndKeepsWhatIsHidden()
    {
        ui::Workspace workspace;
        auto page = std::make_unique<ui::CurvesPage>(workspace, nullptr);
        page->resize(1024, 600);
        page->show();
        QSignalSpy opened(&workspace.bridge(), &ui::SessionBridge::opened);
        workspace.open(file("other.lathe"), QStringLiteral("sim"));
        QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, 20000);
        session::EstimateEvent estimate;
        estimate.ms = 22;
        estimate.etaSeconds = 45;
        estimate.forecastLow = 20;
        estimate.forecastHigh = 21;
        emit workspace.bridge().eventsArrived({{61, estimate}});
        auto* const forecast = find<QLabel>(page.get(), "chartForecast");
        QTRY_VERIFY2(forecast->text().contains("likely"), qPrintable(forecast->text()));
        QApplication::processEvents();
        const int line = forecast->fontMetrics().height();
        int lines = 0;
        for (const char* name : {"chartSummary", "chartForecast"}) {
            const auto* const label = find<QLabel>(page.get(), name);
            QVERIFY(label->isVisible() && label->height() < 2 * line); // one line each
            QVERIFY2(label->fontMetrics().horizontalAdvance(label->text()) <= label->width(), name); // and all of it
            ++lines;
        }
        QCOMPARE(lines, 2);
        auto* chart = find<ui::LatencyChart>(page.get(), "latencyChart");
        QTest::mouseClick(chart, Qt::LeftButton, {}, chart->legend().place("untuned").center().toPoint());
        QVERIFY(chart->hidden().contains("untuned"));
        page = std::make_unique<ui::CurvesPage>(workspace, nullptr);
        page->resize(1024, 600);
        page->show();
        chart = find<ui::LatencyChart>(page.get(), "latencyChart");
        QTRY_VERIFY(chart->colorOf("estimate").isValid());
        QVERIFY(!names(*chart).contains("untuned"));
        // A click on the line of a task selects it.
        chart->setHidden({});
        find<QComboBox>(page.get(), "chartTasks")->setCurrentIndex(3);
        QApplication::processEvents();
        const auto& labels = chart->endLabels();
        const auto task = std::ranges::find_if(labels, [](const auto& label) { return label.key.startsWith("task:"); });
        QVERIFY(task != labels.end());
        QTest::mouseClick(chart, Qt::LeftButton, {}, QPointF(task->lineX - 12, task->lineY).toPoint());
        QVERIFY(workspace.selection().current().task >= 0);
    }
};

LATHE_TEST_GUI(TestCurves)

} // namespace tst_curves

#include "tst_curves.moc"
