#include "tests/support/test_program.h"
#include "tests/ui/window_test.h"
#include "ui/views/appearance.h"
#include "ui/views/band_chart.h"

#include <QTemporaryDir>
#include <QToolTip>

namespace tst_band_chart {

using namespace lathe;
using Row = ui::BandChart::LegendRow;

namespace {

/// Twelve tasks; the i-th gets i + 1 trials a second, and eight before, in its first round.
std::unique_ptr<ui::BandChart> shownChart()
{
    auto chart = std::make_unique<ui::BandChart>();
    QStringList names;
    std::vector<ui::BandChart::Sample> samples;
    for (int i = 0; i < 12; ++i) {
        names << QString("conv2d 3x3 %1->256 @14 +add+residual+relu, twice").arg(100 + i);
        samples.push_back({static_cast<double>(i), i + 1.0, {{i, 8.0}}, true});
    }
    for (int second = 12; second < 60; ++second)
        for (int i = 0; i < 12; ++i)
            samples.push_back({static_cast<double>(second), second + 1.0, {{i, i + 1.0}}});
    chart->resize(600, 260);
    chart->setBands(names, "trials");
    chart->setMostBands(5);
    chart->setSamples(std::move(samples));
    chart->show();
    if (!QTest::qWaitForWindowExposed(chart.get()))
        qFatal("the chart did not come up");
    return chart;
}

QList<int> bands(const ui::BandChart& chart)
{
    QList<int> all;
    for (const Row& row : chart.legendRows())
        all << row.band;
    return all;
}

} // namespace

/// The bands of the scheduler's page, driven by the mouse.
class TestBandChart : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;

private slots:
    void initTestCase() { test::settleIn(m_dir.path()); }

    void theLargestFiveAndOthersAreBands()
    {
        const auto chart = shownChart();
        QCOMPARE(bands(*chart), QList<int>({11, 10, 9, 8, 7, ui::BandChart::kOther, ui::BandChart::kWarmUp}));
        double sum = 0;
        for (const Row& row : chart->legendRows())
            sum += row.band == ui::BandChart::kWarmUp ? 0 : row.amount;
        QCOMPARE(sum, 12 * 8.0 + 48 * 78.0); // nothing is left out
    }

    void warmUpIsToldApart()
    {
        const auto chart = shownChart();
        const Row warm = chart->legendRows().back();
        QCOMPARE(warm.amount, 12 * 8.0);
        QVERIFY(warm.name.contains("warm-up"));
        // A band of one colour is hatched there, and only there.
        const QImage picture = chart->grab().toImage();
        const auto colours = [&picture](int fromX, int toX, int y) {
            QSet<QRgb> found;
            for (int x = fromX; x < toX; ++x)
                for (int down = 0; down < 12; ++down)
                    found << picture.pixel(x, y + down);
            return found.size();
        };
        QVERIFY(colours(60, 66, 100) > 1);
        QCOMPARE(colours(200, 206, 20), 1);
    }

    void aTaskThatIsSelectedDimsTheOthers()
    {
        const auto chart = shownChart();
        QSignalSpy clicked(chart.get(), &ui::BandChart::bandClicked);
        const QRectF second = chart->legendRows()[1].place;
        const QImage before = chart->grab().toImage();
        QTest::mouseClick(chart.get(), Qt::LeftButton, {}, second.center().toPoint());
        QCOMPARE(clicked.takeFirst()[0].toInt(), 10);
        chart->setHighlight(10);
        for (const Row& row : chart->legendRows())
            QCOMPARE(row.dimmed, row.band != 10 && row.band != ui::BandChart::kWarmUp);
        // Its mark in the legend stays as it was, and those of the others fade like their bands.
        const QImage after = chart->grab().toImage();
        const auto mark = [&chart](int row) {
            return chart->legendRows()[static_cast<std::size_t>(row)].place.topLeft().toPoint() + QPoint(5, 8);
        };
        QCOMPARE(after.pixel(mark(1)), before.pixel(mark(1)));
        QVERIFY(after.pixel(mark(0)) != before.pixel(mark(0)));
        QVERIFY(after.pixel(200, 20) != before.pixel(200, 20));
        QCOMPARE(after.pixel(200, 20), after.pixel(mark(5))); // alike: it is one of the others
        QTest::mouseClick(chart.get(), Qt::LeftButton, {}, second.center().toPoint());
        QCOMPARE(clicked.takeFirst()[0].toInt(), ui::BandChart::kNone); // again: none
    }

    void oneOfTheOthersThatIsSelectedHasABandOfItsOwn()
    {
        const auto chart = shownChart();
        chart->setHighlight(2);
        QVERIFY(bands(*chart).contains(2));
        QCOMPARE(bands(*chart).size(), 8);
    }

    void namesHaveRoom()
    {
        const auto chart = shownChart();
        const Row first = chart->legendRows()[0];
        QVERIFY2(chart->fontMetrics().horizontalAdvance(first.shown) > 135, qPrintable(first.shown));
        QVERIFY(first.shown.startsWith("conv2d") && first.shown.endsWith("twice")); // cut in the middle
        const QPoint at = first.place.center().toPoint();
        QHelpEvent help(QEvent::ToolTip, at, chart->mapToGlobal(at));
        QApplication::sendEvent(chart.get(), &help);
        QVERIFY2(QToolTip::text().contains(first.name), qPrintable(QToolTip::text()));
    }
};

LATHE_TEST_GUI(TestBandChart)

} // namespace tst_band_chart

#include "tst_band_chart.moc"
