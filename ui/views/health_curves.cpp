#include "ui/views/health_curves.h"

#include "ui/views/plot_axes.h"
#include "ui/views/plot_lines.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace lathe::ui {

namespace {

constexpr int kLeastCurveWidth = 150; ///< of a curve; else fewer stand beside each other
constexpr int kCurveMargin = 6;

QString figureTickText(double value)
{
    return QString::number(value, 'g', std::abs(value) < 1e5 ? 5 : 2);
}

} // namespace

HealthCurves::HealthCurves(QWidget* parent)
    : QWidget(parent)
{
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
}

void HealthCurves::setCurves(std::vector<Curve> curves, double seconds)
{
    m_curves = std::move(curves);
    m_seconds = seconds;
    update();
}

QString HealthCurves::summary() const
{
    QStringList words;
    for (const Curve& curve : m_curves)
        words << tr("%1: %2").arg(curve.title, curve.now);
    return words.join(QStringLiteral(", "));
}

HealthCurves::Cell HealthCurves::cellOf(std::size_t curve) const
{
    const int count = static_cast<int>(m_curves.size());
    const int most = std::clamp(width() / kLeastCurveWidth, 1, count);
    const int rows = (count + most - 1) / most;
    const int columns = (count + rows - 1) / rows;
    const double wide = static_cast<double>(width()) / columns, high = static_cast<double>(height()) / rows;
    Cell cell;
    const auto at = static_cast<int>(curve);
    cell.whole = QRectF(at % columns * wide, at / columns * high, wide, high);
    const int line = fontMetrics().height();
    double low = 0, top = 0; // a load of 0.01 does not look like a mountain, but a temperature does not begin at zero
    bool first = true;
    for (const QPointF& point : m_curves[curve].points) {
        low = first ? point.y() : std::min(low, point.y());
        top = first ? point.y() : std::max(top, point.y());
        first = false;
    }
    if (low > 0 && low < top / 2)
        low = 0;
    const double span = std::max({top - low, std::abs(top) * 0.1, 1e-3});
    const double step = roundStep(low, low + span, 2);
    cell.low = std::floor(low / step) * step;
    cell.high = std::max(std::ceil(top / step) * step, cell.low + step);
    const int labels = std::max(fontMetrics().horizontalAdvance(figureTickText(cell.low)),
                                fontMetrics().horizontalAdvance(figureTickText(cell.high)));
    const int half = fontMetrics().horizontalAdvance(QStringLiteral("00:00")) / 2 + 2; // of the last time below it
    cell.plot = cell.whole.adjusted(kCurveMargin + labels + 4, kCurveMargin + line + 2, -std::max(kCurveMargin, half),
                                    -line - kCurveMargin);
    return cell;
}

void HealthCurves::paintCurve(QPainter& painter, std::size_t curve) const
{
    const Curve& shown = m_curves[curve];
    const Cell cell = cellOf(curve);
    const int line = fontMetrics().height();
    const QRectF title(cell.whole.left() + kCurveMargin, cell.whole.top() + kCurveMargin,
                       cell.whole.width() - 2 * kCurveMargin, line);
    painter.setPen(palette().color(QPalette::Text));
    const QString now = painter.fontMetrics().elidedText(shown.now, Qt::ElideRight, static_cast<int>(title.width()));
    painter.drawText(title, Qt::AlignRight | Qt::AlignVCenter, now);
    const double left = title.width() - painter.fontMetrics().horizontalAdvance(now) - kCurveMargin;
    painter.drawText(title, Qt::AlignLeft | Qt::AlignVCenter,
                     painter.fontMetrics().elidedText(shown.title, Qt::ElideRight, static_cast<int>(left)));
    if (cell.plot.height() < 8 || cell.plot.width() < 8)
        return;
    paintTimeAxis(painter, cell.plot, 0, std::max(m_seconds, 10.0), palette());
    const QRectF labels(cell.whole.left(), 0, cell.plot.left() - 4 - cell.whole.left(), line);
    painter.setPen(palette().color(QPalette::Text));
    painter.drawText(labels.translated(0, cell.plot.top() - 2), Qt::AlignRight | Qt::AlignVCenter,
                     figureTickText(cell.high));
    if (cell.plot.height() > 2 * line)
        painter.drawText(labels.translated(0, labelTop(cell.plot.bottom(), line, cell.plot)),
                         Qt::AlignRight | Qt::AlignVCenter, figureTickText(cell.low));
    QPolygonF path;
    for (const QPointF& point : shown.points)
        path << QPointF(cell.plot.left() + point.x() / std::max(m_seconds, 10.0) * cell.plot.width(),
                        cell.plot.bottom() - (point.y() - cell.low) / (cell.high - cell.low) * cell.plot.height());
    painter.setPen(QPen(lineColor(static_cast<int>(curve), isDark(palette())), 1.6));
    painter.setRenderHint(QPainter::Antialiasing);
    if (path.size() == 1)
        painter.drawLine(path.first(), path.first() + QPointF(2, 0));
    painter.drawPolyline(path);
    painter.setRenderHint(QPainter::Antialiasing, false);
}

void HealthCurves::paintPicture(QPainter& painter) const
{
    painter.fillRect(rect(), palette().base());
    for (std::size_t i = 0; i < m_curves.size(); ++i)
        paintCurve(painter, i);
}

void HealthCurves::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    paintPicture(painter);
}

std::vector<QStringList> HealthCurves::exportRows() const
{
    std::vector<QStringList> rows{{tr("figure"), tr("seconds"), tr("value")}};
    for (const Curve& curve : m_curves)
        for (const QPointF& point : curve.points)
            rows.push_back({curve.title, QString::number(point.x(), 'f', 1), QString::number(point.y(), 'g', 9)});
    return rows;
}

bool HealthCurves::event(QEvent* event)
{
    if (event->type() != QEvent::ToolTip)
        return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    for (std::size_t i = 0; i < m_curves.size(); ++i) {
        const Cell cell = cellOf(i);
        if (!cell.plot.contains(help->pos()))
            continue;
        const double seconds = (help->pos().x() - cell.plot.left()) / cell.plot.width() * std::max(m_seconds, 10.0);
        const double value = valueAt(m_curves[i].points, seconds);
        if (std::isfinite(value)) {
            QToolTip::showText(
                help->globalPos(),
                QStringLiteral("<qt>%1</qt>")
                    .arg(tr("%1 at %2: %3")
                             .arg(m_curves[i].title.toHtmlEscaped(), timeTick(seconds), figureTickText(value))),
                this);
            return true;
        }
    }
    QToolTip::hideText();
    event->ignore();
    return true;
}

} // namespace lathe::ui
