#include "ui/views/latency_chart.h"

#include "ui/models/language.h"
#include "ui/views/decimate.h"
#include "ui/views/drag_handle.h"
#include "ui/views/plot_axes.h"

#include <QApplication>
#include <QEvent>
#include <QGraphicsLayout>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QVBoxLayout>
#include <QtCharts/QAreaSeries>
#include <QtCharts/QChart>
#include <QtCharts/QChartView>
#include <QtCharts/QLegend>
#include <QtCharts/QLegendMarker>
#include <QtCharts/QLineSeries>
#include <QtCharts/QLogValueAxis>
#include <QtCharts/QScatterSeries>
#include <QtCharts/QValueAxis>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace lathe::ui {

namespace {

/// Tells what Qt's rubber band has zoomed to, which would be lost as soon as curves grow.
class ZoomingView final : public QChartView
{
public:
    using QChartView::QChartView;
    std::function<void()> dragged; ///< a rectangle was drawn
    std::function<void()> fitWanted;

protected:
    void mouseReleaseEvent(QMouseEvent* event) override
    {
        if (event->button() != Qt::LeftButton)
            return; // the right one opens the menu
        const bool isDrag = (event->position() - m_pressed).manhattanLength() > QApplication::startDragDistance();
        QChartView::mouseReleaseEvent(event);
        if (isDrag)
            dragged();
    }
    void mousePressEvent(QMouseEvent* event) override
    {
        m_pressed = event->position();
        if (parentWidget() != nullptr)
            parentWidget()->setFocus(Qt::MouseFocusReason);
        QChartView::mousePressEvent(event);
    }
    void mouseDoubleClickEvent(QMouseEvent*) override { fitWanted(); }

private:
    QPointF m_pressed;
};

constexpr double kZoomStep = 1.5;
constexpr double kLeastLatency = 1e-9; ///< ms, that a logarithmic axis can show

// Okabe and Ito's colours, told apart by colour-blind people; shape differs too (line, dots, dashes).
const QColor kEstimateColor(0x00, 0x72, 0xb2);
const QColor kMeasuredColor(0xd5, 0x5e, 0x00);
const QColor kBaselineColor(0x7f, 0x7f, 0x7f);

/// (seconds, ms) changes as the corners of a step curve that goes on to `end`.
QList<QPointF> steps(const QList<QPointF>& changes, double end)
{
    QList<QPointF> corners;
    corners.reserve(changes.size() * 2 + 1);
    for (const QPointF& p : changes) {
        if (!corners.isEmpty()) {
            if (corners.last().y() == p.y())
                continue;
            corners << QPointF(p.x(), corners.last().y());
        }
        corners << p;
    }
    if (!corners.isEmpty() && end > corners.last().x())
        corners << QPointF(end, corners.last().y());
    return corners;
}

/// From 0 to at least `high`, so that the labels stand at round values.
void setRoundRange(QValueAxis* axis, double high)
{
    constexpr int kSteps = 8;
    const double step = roundStep(0, high, kSteps);
    const double steps = std::ceil(high / step);
    axis->setTickCount(static_cast<int>(steps) + 1);
    axis->setRange(0, steps * step);
}

} // namespace

LatencyChart::LatencyChart(QWidget* parent)
    : QWidget(parent)
{
    m_chart = new QChart;
    auto* const view = new ZoomingView(m_chart, this);
    view->dragged = [this] { zoomTo(shown()); };
    view->fitWanted = [this] { zoomToFit(); };
    m_view = view;
    m_view->setObjectName(QStringLiteral("latencyChartView"));
    m_view->setRenderHint(QPainter::Antialiasing);
    m_view->setRubberBand(QChartView::RectangleRubberBand);
    m_view->setFocusPolicy(Qt::NoFocus);
    setFocusPolicy(Qt::StrongFocus);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_view);
    new DragHandle(*this); // a drag in the chart zooms

    m_lower = new QLineSeries(m_chart);
    m_upper = new QLineSeries(m_chart);
    m_band = new QAreaSeries(m_upper, m_lower);
    m_estimate = new QLineSeries(m_chart);
    m_tasksSum = new QLineSeries(m_chart);
    m_measured = new QScatterSeries(m_chart);
    m_measuredLine = new QLineSeries(m_chart);
    m_baseline = new QLineSeries(m_chart);
    QColor band = kEstimateColor;
    band.setAlphaF(0.25F);
    m_band->setBrush(band);
    m_band->setPen(Qt::NoPen);
    m_estimate->setPen(QPen(kEstimateColor, 2));
    m_tasksSum->setPen(QPen(kEstimateColor, 1.2, Qt::DashDotLine));
    m_measured->setColor(kMeasuredColor);
    m_measured->setBorderColor(kMeasuredColor);
    m_measured->setMarkerSize(9);
    m_measuredLine->setPen(QPen(kMeasuredColor, 1.5, Qt::DotLine));
    m_baseline->setPen(QPen(kBaselineColor, 1.5, Qt::DashLine));
    for (QAbstractSeries* series :
         {static_cast<QAbstractSeries*>(m_band), static_cast<QAbstractSeries*>(m_baseline),
          static_cast<QAbstractSeries*>(m_tasksSum), static_cast<QAbstractSeries*>(m_estimate),
          static_cast<QAbstractSeries*>(m_measuredLine), static_cast<QAbstractSeries*>(m_measured)})
        m_chart->addSeries(series);
    m_time = new QValueAxis(m_chart);
    m_time->setLabelFormat(QStringLiteral("%.0f"));
    m_chart->addAxis(m_time, Qt::AlignBottom);
    for (QAbstractSeries* series : m_chart->series())
        series->attachAxis(m_time);
    m_chart->setMargins({4, 4, 4, 4});
    m_chart->legend()->setAlignment(Qt::AlignTop);
    m_chart->setBackgroundRoundness(0);
    setLogarithmic(false);
    retranslated(this, [this] {
        setNames();
        rescale();
        tell();
    });
}

void LatencyChart::setNames()
{
    m_band->setName(tr("likely range"));
    m_estimate->setName(tr("estimated network"));
    m_tasksSum->setName(tr("sum of tasks"));
    m_measured->setName(tr("measured network"));
    m_baseline->setName(tr("untuned"));
    m_time->setTitleText(tr("Time (s)"));
    m_latency->setTitleText(tr("Latency (ms)"));
    for (QLegendMarker* marker : m_chart->legend()->markers(m_measuredLine))
        marker->setVisible(false);
    for (QLegendMarker* marker : m_chart->legend()->markers(m_tasksSum))
        marker->setVisible(!m_curves.tasksSum.isEmpty());
    if (m_chart->legend()->layout() != nullptr) // which does not see that a marker came or went
        m_chart->legend()->layout()->invalidate();
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
        axis->setLabelFormat(QStringLiteral("%.6g"));
        m_latency = axis;
    }
    m_latency->setTitleText(tr("Latency (ms)"));
    m_chart->addAxis(m_latency, Qt::AlignLeft); // a place that was zoomed to is set by draw()
    for (QAbstractSeries* series : m_chart->series())
        series->attachAxis(m_latency);
    applyPalette();
    draw();
}

void LatencyChart::setCurves(Curves curves)
{
    m_curves = std::move(curves);
    draw();
}

void LatencyChart::draw()
{
    rescale(); // the range first: each change of it makes every series again
    // Many curves lie upon each other: coarser columns and edges that are not smoothed keep the drawing quick.
    constexpr std::size_t kFine = 8; // curves
    const auto share = static_cast<double>(kFine) / static_cast<double>(std::max(kFine, m_curves.tasks.size()));
    const int columns = std::max(200, static_cast<int>(width() * share));
    m_view->setRenderHint(QPainter::Antialiasing, share == 1);
    const auto replace = [&](QXYSeries* series, const QList<QPointF>& points) {
        series->replace(decimated(points, columns, m_logarithmic));
    };
    const double end = std::max(m_curves.seconds, 0.0);
    // Thinned before it is made of steps: each pixel keeps its least and greatest value, so no step is lost.
    const auto replaceSteps = [&](QXYSeries* series, const QList<QPointF>& changes) {
        replace(series, steps(decimated(changes, columns, m_logarithmic), end));
    };
    replace(m_lower, m_curves.low);
    replace(m_upper, m_curves.high);
    replaceSteps(m_estimate, m_curves.estimate);
    replaceSteps(m_tasksSum, m_curves.tasksSum);
    replace(m_measured, m_curves.measured);
    replace(m_measuredLine, m_curves.measured);
    QList<QPointF> baseline;
    if (std::isfinite(m_curves.untunedMs))
        baseline << QPointF(0, m_curves.untunedMs) << QPointF(m_time->max(), m_curves.untunedMs);
    replace(m_baseline, baseline);
    while (m_tasks.size() > m_curves.tasks.size()) {
        m_chart->removeSeries(m_tasks.back());
        delete m_tasks.back();
        m_tasks.pop_back();
    }
    while (m_tasks.size() < m_curves.tasks.size()) {
        auto* series = new QLineSeries(m_chart);
        m_chart->addSeries(series);
        series->attachAxis(m_time);
        series->attachAxis(m_latency);
        m_tasks.push_back(series);
    }
    static constexpr Qt::PenStyle kStyles[] = {Qt::SolidLine, Qt::DashLine, Qt::DotLine, Qt::DashDotLine};
    for (std::size_t i = 0; i < m_tasks.size(); ++i) {
        const TaskCurve& curve = m_curves.tasks[i];
        m_tasks[i]->setPen(QPen(seriesColor(std::max(0, curve.task)), 1.2,
                                kStyles[static_cast<std::size_t>(std::max(0, curve.task)) / 8 % 4]));
        m_tasks[i]->setName(curve.name);
        replaceSteps(m_tasks[i], curve.points);
    }
    setNames();
    tell();
}

void LatencyChart::tell()
{
    const QString text = summary();
    setAccessibleName(tr("Latency over time"));
    setAccessibleDescription(text);
    emit summaryChanged(text);
}

QRectF LatencyChart::shown() const
{
    double low = 0, high = 1;
    if (const auto* const logarithmic = qobject_cast<const QLogValueAxis*>(m_latency)) {
        low = logarithmic->min();
        high = logarithmic->max();
    } else if (const auto* const linear = qobject_cast<const QValueAxis*>(m_latency)) {
        low = linear->min();
        high = linear->max();
    }
    return {m_time->min(), low, m_time->max() - m_time->min(), high - low};
}

void LatencyChart::zoomTo(const QRectF& place)
{
    if (!(place.width() > 0) || !(place.height() > 0))
        return;
    m_zoom = place;
    draw();
}

void LatencyChart::zoomBy(double factor)
{
    const QRectF now = shown();
    QRectF wanted(0, 0, now.width() / factor, now.height() / factor);
    wanted.moveCenter(now.center());
    if (m_logarithmic) { // the middle of what is seen
        const double middle = std::sqrt(std::max(now.top(), kLeastLatency) * now.bottom());
        const double half = std::pow(now.bottom() / std::max(now.top(), kLeastLatency), 0.5 / factor);
        wanted.setTop(middle / half);
        wanted.setBottom(middle * half);
    }
    zoomTo(wanted);
}

void LatencyChart::zoomToFit()
{
    m_zoom.reset();
    m_time->setRange(0, 0); // so that rescale() finds its own
    draw();
}

void LatencyChart::keyPressEvent(QKeyEvent* event)
{
    switch (event->key()) {
    case Qt::Key_Plus:
    case Qt::Key_Equal: zoomBy(kZoomStep); break;
    case Qt::Key_Minus: zoomBy(1 / kZoomStep); break;
    case Qt::Key_0: zoomToFit(); break;
    default: QWidget::keyPressEvent(event);
    }
}

void LatencyChart::rescale()
{
    if (m_zoom) {
        m_time->setRange(m_zoom->left(), m_zoom->right());
        m_latency->setRange(m_logarithmic ? std::max(m_zoom->top(), kLeastLatency) : m_zoom->top(), m_zoom->bottom());
        return;
    }
    double low = std::numeric_limits<double>::infinity();
    double high = 0;
    const auto see = [&](double y) {
        if (!std::isfinite(y) || y <= 0)
            return;
        low = std::min(low, y);
        high = std::max(high, y);
    };
    for (const QList<QPointF>* points : {&m_curves.estimate, &m_curves.tasksSum, &m_curves.measured})
        for (const QPointF& p : *points)
            see(p.y());
    // The range of the first seconds is wide: it sets the scale only while there is nothing else to see.
    if (m_curves.estimate.isEmpty() && !std::isfinite(m_curves.untunedMs))
        for (const QList<QPointF>* points : {&m_curves.low, &m_curves.high})
            for (const QPointF& p : *points)
                see(p.y());
    for (const TaskCurve& curve : m_curves.tasks)
        for (const QPointF& p : curve.points)
            see(p.y());
    see(m_curves.untunedMs);
    if (high <= 0) {
        low = 0.1;
        high = 1;
    }
    // Grown in steps, so that most updates leave the axes alone.
    const double wanted = std::max(10.0, m_curves.seconds * 1.02);
    if (wanted > m_time->max() || wanted < m_time->max() * 0.7)
        setRoundRange(m_time, wanted * 1.1);
    if (m_logarithmic)
        m_latency->setRange(low * 0.8, high * 1.25);
    else
        setRoundRange(static_cast<QValueAxis*>(m_latency), high * 1.08);
}

QString LatencyChart::summary() const
{
    QStringList parts;
    if (!m_curves.estimate.isEmpty())
        parts << tr("estimated %1 ms").arg(m_curves.estimate.last().y(), 0, 'f', 3);
    else if (!m_curves.low.isEmpty())
        parts << tr("estimated %1 to %2 ms, since some tasks have no valid program yet")
                     .arg(m_curves.low.last().y(), 0, 'f', 3)
                     .arg(m_curves.high.last().y(), 0, 'f', 3);
    if (!m_curves.measured.isEmpty())
        parts << tr("measured %1 ms").arg(m_curves.measured.last().y(), 0, 'f', 3);
    if (std::isfinite(m_curves.untunedMs))
        parts << tr("untuned %1 ms").arg(m_curves.untunedMs, 0, 'f', 3);
    if (parts.isEmpty())
        return tr("Nothing measured yet");
    return tr("%1 after %2 s").arg(parts.join(QStringLiteral(", "))).arg(m_curves.seconds, 0, 'f', 0);
}

qsizetype LatencyChart::drawnPoints() const
{
    qsizetype count = m_estimate->count() + m_tasksSum->count() + m_measured->count() + m_lower->count()
                      + m_upper->count();
    for (const QLineSeries* series : m_tasks)
        count += series->count();
    return count;
}

void LatencyChart::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::PaletteChange)
        applyPalette();
    QWidget::changeEvent(event);
}

void LatencyChart::focusInEvent(QFocusEvent* event)
{
    QWidget::focusInEvent(event);
    applyPalette();
}

void LatencyChart::focusOutEvent(QFocusEvent* event)
{
    QWidget::focusOutEvent(event);
    applyPalette();
}

void LatencyChart::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    draw();
}

void LatencyChart::applyPalette()
{
    const QPalette& colors = palette();
    m_chart->setBackgroundBrush(colors.base());
    m_chart->setBackgroundPen(hasFocus() ? QPen(colors.color(QPalette::Highlight), 2) : QPen(Qt::NoPen));
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

QSize LatencyChart::pictureSize() const
{
    return m_view->size();
}

void LatencyChart::paintPicture(QPainter& painter) const
{
    m_view->render(&painter, QRectF(QPointF(), m_view->size()), m_view->rect());
}

std::vector<QStringList> LatencyChart::exportRows() const
{
    std::vector<QStringList> rows{{tr("Curve"), tr("Time (s)"), tr("Latency (ms)")}};
    const auto add = [&rows](const QString& name, const QList<QPointF>& points) {
        for (const QPointF& p : points)
            rows.push_back({name, QString::number(p.x(), 'f', 3), QString::number(p.y(), 'g', 10)});
    };
    add(m_estimate->name(), m_curves.estimate);
    add(m_tasksSum->name(), m_curves.tasksSum);
    add(tr("low"), m_curves.low);
    add(tr("high"), m_curves.high);
    add(m_measured->name(), m_curves.measured);
    if (std::isfinite(m_curves.untunedMs))
        add(m_baseline->name(), {{0, m_curves.untunedMs}});
    for (const TaskCurve& curve : m_curves.tasks)
        add(curve.name, curve.points);
    return rows;
}

} // namespace lathe::ui
