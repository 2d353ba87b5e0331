#include "tests/support/test_program.h"
#include "tests/ui/window_test.h"
#include "ui/views/latency_chart.h"
#include "ui/views/scatter_view.h"
#include "ui/views/zoomable.h"

#include <QAction>
#include <QTabWidget>
#include <QTemporaryDir>

namespace tst_zoom {

using namespace lathe;
using test::find;

namespace {

ui::LatencyChart::Curves curvesUntil(double seconds)
{
    ui::LatencyChart::Curves curves;
    for (int i = 0; i <= static_cast<int>(seconds); i += 10)
        curves.estimate << QPointF(i, 10.0 - i * 0.01);
    curves.seconds = seconds;
    curves.untunedMs = 12;
    return curves;
}

double lastSecond(const ui::LatencyChart& chart)
{
    return chart.shown().right();
}

} // namespace

/// The zoom of charts: kept while they grow, taken back in several ways.
class TestZoom : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;

private slots:
    void initTestCase() { test::settleIn(m_dir.path()); }

    void aPlaceThatWasZoomedToStays()
    {
        ui::LatencyChart chart;
        chart.resize(600, 400);
        chart.show();
        QVERIFY(QTest::qWaitForWindowExposed(&chart));
        chart.setCurves(curvesUntil(100));
        const double all = lastSecond(chart);
        // A rectangle, drawn with the mouse.
        const auto drag = [&chart](QPoint to) {
            QMouseEvent move(QEvent::MouseMove, to, chart.mapToGlobal(to), Qt::NoButton, Qt::LeftButton,
                             Qt::NoModifier);
            QApplication::sendEvent(&chart, &move);
        };
        QTest::mousePress(&chart, Qt::LeftButton, {}, {200, 150});
        drag({250, 200});
        drag({300, 250});
        QTest::mouseRelease(&chart, Qt::LeftButton, {}, {300, 250});
        QVERIFY(chart.isZoomed());
        const double zoomed = lastSecond(chart);
        QVERIFY(zoomed < all);
        chart.setCurves(curvesUntil(500)); // the run goes on
        QCOMPARE(lastSecond(chart), zoomed);
        chart.setLogarithmic(true);
        QCOMPARE(lastSecond(chart), zoomed);
        QVERIFY(chart.isZoomed());
        QTest::mouseDClick(&chart, Qt::LeftButton, {}, {300, 200});
        QVERIFY(!chart.isZoomed());
        QVERIFY(lastSecond(chart) > 500);
        const QPointF pointer = chart.plotArea().center();
        QWheelEvent wheel(pointer, chart.mapToGlobal(pointer), {}, {0, 120}, Qt::NoButton, Qt::NoModifier,
                          Qt::NoScrollPhase, false);
        QApplication::sendEvent(&chart, &wheel);
        QVERIFY(chart.isZoomed());
        QTest::keyClick(&chart, Qt::Key_0);
        QVERIFY(!chart.isZoomed());
        QTest::keyClick(&chart, Qt::Key_Plus);
        QVERIFY(chart.isZoomed());
        QTest::keyClick(&chart, Qt::Key_0);
        QVERIFY(!chart.isZoomed());
    }

    void theMenuZoomsTheViewThatHasTheFocus()
    {
        const auto window = test::shownWindow({1280, 800});
        auto* const chart = find<ui::LatencyChart>(window.get(), "latencyChart");
        QWidget* page = chart;
        while (page != nullptr && qobject_cast<QTabWidget*>(page->parentWidget()->parentWidget()) == nullptr)
            page = page->parentWidget();
        QVERIFY(page != nullptr);
        qobject_cast<QTabWidget*>(page->parentWidget()->parentWidget())->setCurrentWidget(page);
        chart->setCurves(curvesUntil(100));
        chart->setFocus();
        QCOMPARE(ui::zoomableView(QApplication::focusWidget()), static_cast<ui::Zoomable*>(chart));
        find<QAction>(window.get(), "view.zoomIn")->trigger();
        QVERIFY(chart->isZoomed());
        QTest::keyClick(window.get(), Qt::Key_0, Qt::ControlModifier);
        QTRY_VERIFY(!chart->isZoomed());
    }
};

LATHE_TEST_GUI(TestZoom)

} // namespace tst_zoom

#include "tst_zoom.moc"
