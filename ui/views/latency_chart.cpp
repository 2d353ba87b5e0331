#include "ui/views/latency_chart.h"

#include <QtCharts/QChart>
#include <QtCharts/QChartView>
#include <QtCharts/QLegend>
#include <QtCharts/QLegendMarker>
#include <QtCharts/QLineSeries>
#include <QtCharts/QLogValueAxis>
#include <QtCharts/QScatterSeries>
#include <QtCharts/QValueAxis>

#include <QEvent>
#include <QVBoxLayout>

#include <algorithm>

namespace lathe::ui {

namespace {

// Okabe and Ito's colours, told apart by colour-blind people; shape differs too (line, dots, dashes).
const QColor kEstimateColor(0x00, 0x72, 0xb2);
const QColor kMeasuredColor(0xd5, 0x5e, 0x00);
const QColor kBaselineColor(0x7f, 0x7f, 0x7f);
constexpr int kMaxPoints = 4000;

} // namespace

LatencyChart::LatencyChart(QWidget* parent) : QWidget(parent)
{
    m_chart = new QChart;
    m_view = new QChartView(m_chart, this);
    m_view->setObjectName(QStringLiteral("latencyChartView"));
    m_view->setRenderHint(QPainter::Antialiasing);
    m_view->setRubberBand(QChartView::RectangleRubberBand);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_view);

    m_estimate = new QLineSeries(m_chart);
    m_measured = new QScatterSeries(m_chart);
    m_measuredLine = new QLineSeries(m_chart);
    m_baseline = new QLineSeries(m_chart);
    m_estimate->setPen(QPen(kEstimateColor, 2));
    m_measured->setColor(kMeasuredColor);
    m_measured->setBorderColor(kMeasuredColor);
    m_measured->setMarkerSize(9);
    m_measuredLine->setPen(QPen(kMeasuredColor, 1.5, Qt::DotLine));
    m_baseline->setPen(QPen(kBaselineColor, 1.5, Qt::DashLine));
    for (QXYSeries* series : {static_cast<QXYSeries*>(m_baseline), static_cast<QXYSeries*>(m_estimate), static_cast<QXYSeries*>(m_measuredLine), static_cast<QXYSeries*>(m_measured)})
        m_chart->addSeries(series);
    m_time = new QValueAxis(m_chart);
    m_chart->addAxis(m_time, Qt::AlignBottom);
    for (QAbstractSeries* series : m_chart->series())
        series->attachAxis(m_time);
    m_chart->setMargins({4, 4, 4, 4});
    m_chart->legend()->setAlignment(Qt::AlignTop);
    m_chart->setBackgroundRoundness(0);
    setLogarithmic(false);
    applyPalette();
    clear();
}

void LatencyChart::setLogarithmic(bool on)
{
    m_logarithmic = on;
    if (m_latency != nullptr) {
        m_chart->removeAxis(m_latency);
        delete m_latency;
    }
    if (on) {
        auto* axis = new QLogValueAxis(m_chart);
        axis->setLabelFormat(QStringLiteral("%g"));
        axis->setMinorTickCount(8);
        m_latency = axis;
    } else {
        auto* axis = new QValueAxis(m_chart);
        axis->setLabelFormat(QStringLiteral("%.3g"));
        m_latency = axis;
    }
    m_latency->setTitleText(tr("Latency (ms)"));
    m_chart->addAxis(m_latency, Qt::AlignLeft);
    for (QAbstractSeries* series : m_chart->series())
        series->attachAxis(m_latency);
    applyPalette();
    rescale();
}

void LatencyChart::clear()
{
    for (QXYSeries* series : {static_cast<QXYSeries*>(m_baseline), static_cast<QXYSeries*>(m_estimate), static_cast<QXYSeries*>(m_measuredLine), static_cast<QXYSeries*>(m_measured)})
        series->clear();
    m_estimate->setName(tr("estimated (sum of tasks)"));
    m_measured->setName(tr("measured (whole network)"));
    m_measuredLine->setName({});
    m_baseline->setName(tr("untuned"));
    for (QLegendMarker* marker : m_chart->legend()->markers(m_measuredLine))
        marker->setVisible(false);
    m_time->setTitleText(tr("Time (s)"));
    m_lastSeconds = 0;
    m_baselineMs = std::nan("");
    rescale();
}

void LatencyChart::addEstimate(double seconds, double ms)
{
    m_lastSeconds = std::max(m_lastSeconds, seconds); // time passes also while some task has no valid program
    if (!std::isfinite(ms)) {
        rescale();
        return;
    }
    QList<QPointF> points = m_estimate->points();
    // A step curve: a value holds until the next. Equal neighbours are one step, whatever their number.
    if (!points.isEmpty())
        points << QPointF(seconds, points.last().y());
    if (points.size() >= 3 && points[points.size() - 2].y() == points.last().y() && points[points.size() - 3].y() == points.last().y())
        points.removeAt(points.size() - 2);
    if (points.isEmpty() || points.last().y() != ms)
        points << QPointF(seconds, ms);
    if (points.size() > kMaxPoints)
        for (qsizetype i = points.size() - 3; i > 0; i -= 4)
            points.remove(i, 2);
    m_estimate->replace(points);
    rescale();
}

void LatencyChart::addMeasured(double seconds, double ms)
{
    if (!std::isfinite(ms))
        return;
    m_measured->append(seconds, ms);
    m_measuredLine->append(seconds, ms);
    m_lastSeconds = std::max(m_lastSeconds, seconds);
    rescale();
}

void LatencyChart::setBaseline(double ms)
{
    m_baselineMs = ms;
    rescale();
}

void LatencyChart::rescale()
{
    double low = std::numeric_limits<double>::infinity();
    double high = 0;
    const auto see = [&](double y) {
        low = std::min(low, y);
        high = std::max(high, y);
    };
    for (const QPointF& p : m_estimate->points())
        see(p.y());
    for (const QPointF& p : m_measured->points())
        see(p.y());
    const double end = std::max(10.0, m_lastSeconds * 1.02);
    m_baseline->clear();
    if (std::isfinite(m_baselineMs)) {
        m_baseline->append(0, m_baselineMs);
        m_baseline->append(end, m_baselineMs);
        see(m_baselineMs);
    }
    if (high <= 0) {
        low = 0.1;
        high = 1;
    }
    m_time->setRange(0, end);
    if (m_logarithmic)
        m_latency->setRange(low * 0.8, high * 1.25);
    else
        m_latency->setRange(0, high * 1.08);
    const QString text = summary();
    m_view->setAccessibleName(tr("Latency over time"));
    m_view->setAccessibleDescription(text);
    emit summaryChanged(text);
}

QString LatencyChart::summary() const
{
    QStringList parts;
    if (m_estimate->count() > 0)
        parts << tr("estimated %1 ms").arg(m_estimate->at(m_estimate->count() - 1).y(), 0, 'f', 3);
    if (m_measured->count() > 0)
        parts << tr("measured %1 ms").arg(m_measured->at(m_measured->count() - 1).y(), 0, 'f', 3);
    if (std::isfinite(m_baselineMs))
        parts << tr("untuned %1 ms").arg(m_baselineMs, 0, 'f', 3);
    if (parts.isEmpty())
        return tr("Nothing measured yet");
    return tr("%1 after %2 s").arg(parts.join(QStringLiteral(", "))).arg(m_lastSeconds, 0, 'f', 0);
}

int LatencyChart::estimateCount() const
{
    return m_estimate->count();
}

int LatencyChart::measuredCount() const
{
    return m_measured->count();
}

void LatencyChart::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::PaletteChange)
        applyPalette();
    QWidget::changeEvent(event);
}

void LatencyChart::applyPalette()
{
    const QPalette& colors = palette();
    m_chart->setBackgroundBrush(colors.base());
    m_chart->legend()->setLabelColor(colors.color(QPalette::Text));
    QColor grid = colors.color(QPalette::Text);
    grid.setAlphaF(0.15F);
    for (QAbstractAxis* axis : m_chart->axes()) {
        axis->setLabelsColor(colors.color(QPalette::Text));
        axis->setTitleBrush(colors.text());
        axis->setGridLineColor(grid);
        axis->setLinePenColor(grid);
    }
}

} // namespace lathe::ui
