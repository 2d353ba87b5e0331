// How the chart looks.

#include "ui/models/texts.h"
#include "ui/views/elided_label.h"
#include "ui/views/latency_chart.h"
#include "ui/views/pattern_brush.h"
#include "ui/views/plot_axes.h"

#include <QCoreApplication>
#include <QLocale>
#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace lathe::ui {

namespace {

constexpr double kLeastName = 90; ///< pixels of a name beside the pointer
constexpr double kShortName = 150; ///< pixels that a name beside the pointer may have in any chart
constexpr double kNameShare = 0.25; ///< of the chart's width, that names beside the pointer take at most
constexpr double kReadoutShare = 1.0 / 3; ///< of the plot's height, that the values beside the pointer take at most,
constexpr double kLeastLines = 4; ///< unless that is less than a heading, two values, and what says how many more
constexpr double kMark = 14, kColumnGap = 12, kRowGap = 1; ///< pixels, of that table
constexpr double kPartWidth = 16; ///< pixels that a stack has at least
constexpr int kMostSmoothLines = 40; ///< that are drawn with smooth edges

/// Of a logarithmic axis, where each label has its own unit.
QString latencyLabel(double ms)
{
    return ms < kMicroseconds ? QCoreApplication::translate("Texts", "%1 µs").arg(QLocale().toString(ms * 1000, 'g', 4))
                              : QLocale().toString(ms, 'g', 4);
}

} // namespace

void LatencyChart::paintAxes(QPainter& painter) const
{
    const QRectF view = shown();
    const double line = painter.fontMetrics().height();
    const bool micro = !m_logarithmic && view.bottom() < kMicroseconds;
    painter.setPen(palette().color(QPalette::Text));
    painter.drawText(QRectF(8, 4, width(), line + 4), Qt::AlignLeft | Qt::AlignVCenter,
                     micro ? tr("Latency (µs)") : tr("Latency (ms)"));
    paintTimeAxis(painter, m_area, view.left(), view.right(), palette());
    const int wanted = std::max(2, static_cast<int>(m_area.height() / (2.2 * line)));
    const std::vector<double> ticks = m_logarithmic ? logTicks(view.top(), view.bottom(), wanted)
                                                    : roundTicks(view.top(), view.bottom(), wanted);
    for (const double tick : ticks) {
        const double y = toY(tick);
        painter.setPen(gridColor(palette()));
        painter.drawLine(QPointF(m_area.left(), y), QPointF(m_area.right(), y));
        painter.setPen(palette().color(QPalette::Text));
        // Not into the time's labels.
        const double top = std::min(y - line / 2, m_area.bottom() - line + 3);
        painter.drawText(QRectF(0, top, m_area.left() - 5, line), Qt::AlignRight | Qt::AlignVCenter,
                         m_logarithmic ? latencyLabel(tick) : QLocale().toString(micro ? tick * 1000 : tick, 'g', 4));
    }
}

void LatencyChart::paintArea(QPainter& painter, const Line& line) const
{
    if (line.drawn.isEmpty() || line.drawnUpper.isEmpty())
        return;
    QPolygonF area;
    for (const QPointF& p : line.drawnUpper)
        area << QPointF(toX(p.x()), toY(p.y()));
    for (auto p = line.drawn.rbegin(); p != line.drawn.rend(); ++p)
        area << QPointF(toX(p->x()), toY(p->y()));
    painter.setPen(Qt::NoPen);
    painter.setBrush(patternBrush(line.color, line.brush, painter.device()->devicePixelRatioF()));
    // Measured just before the run's end, a stack would be too thin to see.
    if (const double left = toX(line.points.last().x());
        line.kind == Kind::Part && toX(line.drawn.last().x()) - left < kPartWidth)
        painter.drawRect(
            QRectF(QPointF(left, toY(line.upper.last().y())), QPointF(left + kPartWidth, toY(line.points.last().y())))
                .normalized());
    painter.drawPolygon(area);
}

void LatencyChart::paintLine(QPainter& painter, const Line& line, bool strong) const
{
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(line.color, line.width + (strong ? 1.5 : 0), line.pen));
    if (line.kind == Kind::Level) {
        const double y = toY(line.points.first().y());
        painter.drawLine(QPointF(m_area.left(), y), QPointF(m_area.right(), y));
        return;
    }
    QPolygonF corners;
    corners.reserve(line.drawn.size());
    for (const QPointF& p : line.drawn)
        corners << QPointF(toX(p.x()), toY(p.y()));
    painter.drawPolyline(corners);
    if (line.kind != Kind::Points)
        return;
    painter.setPen(Qt::NoPen);
    painter.setBrush(line.color);
    const double radius = (line.named ? 4.5 : 3.0) + (strong ? 1 : 0);
    for (const QPointF& corner : corners)
        painter.drawEllipse(corner, radius, radius);
}

void LatencyChart::paintLabels(QPainter& painter) const
{
    for (const EndLabel& label : m_labels) {
        QColor faint = label.color;
        faint.setAlphaF(0.35F);
        painter.setPen(QPen(faint, 1, Qt::DotLine));
        painter.drawLine(QPointF(label.lineX, label.lineY), QPointF(m_area.right(), label.lineY));
        faint.setAlphaF(1);
        painter.setPen(QPen(faint, 1.5));
        painter.drawLine(QPointF(m_area.right() + 1, label.lineY),
                         QPointF(label.place.left() - 3, label.place.center().y()));
        painter.setPen(palette().color(QPalette::Text));
        painter.drawText(label.place, Qt::AlignLeft | Qt::AlignVCenter, label.text);
    }
}

void LatencyChart::paintPicture(QPainter& painter) const
{
    painter.fillRect(rect(), palette().base());
    painter.setFont(font());
    m_legend.paint(painter, palette());
    paintAxes(painter);
    painter.save();
    painter.setClipRect(m_area.adjusted(-5, -5, 5, 1), Qt::IntersectClip);
    painter.setRenderHint(QPainter::Antialiasing, m_lines.size() <= kMostSmoothLines);
    for (const Line& line : m_lines) {
        if (!isShown(line) || line.drawn.isEmpty())
            continue;
        if (line.kind == Kind::Band || line.kind == Kind::Part)
            paintArea(painter, line);
        else
            paintLine(painter, line, false);
    }
    painter.restore();
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    paintLabels(painter);
    painter.restore();
}

void LatencyChart::paintPointer(QPainter& painter) const
{
    if (!m_pointer)
        return;
    const double seconds = secondsAt(m_pointer->x());
    QColor hair = palette().color(QPalette::Text);
    hair.setAlphaF(0.6F);
    painter.setPen(QPen(hair, 1));
    painter.drawLine(QPointF(m_pointer->x(), m_area.top()), QPointF(m_pointer->x(), m_area.bottom()));
    painter.setRenderHint(QPainter::Antialiasing);
    painter.save();
    painter.setClipRect(m_area.adjusted(-5, -5, 5, 5));
    const Line* const near = lineNear(*m_pointer);
    if (near != nullptr)
        paintLine(painter, *near, true);
    const std::vector<Value> values = valuesAt(seconds);
    painter.setPen(QPen(palette().color(QPalette::Base), 1.5));
    for (const Value& value : values)
        if (value.line->kind != Kind::Part && value.line->kind != Kind::Band) {
            painter.setBrush(value.line->color);
            painter.drawEllipse(QPointF(m_pointer->x(), toY(value.ms)), 4, 4);
        }
    painter.restore();
    paintValues(painter);
}

/// Beside the pointer, on the side where there is room.
LatencyChart::Readout LatencyChart::readoutAt(QPointF pointer) const
{
    Readout readout;
    readout.heading = timeText(secondsAt(pointer.x()));
    readout.near = lineNear(pointer);
    std::vector<Value> values = valuesAt(secondsAt(pointer.x()));
    QFont bold = font();
    bold.setBold(true);
    const QFontMetricsF metrics(font()), boldMetrics(bold);
    const double line = metrics.height() + kRowGap;
    // The heading is a line, too; so is what says that there are more.
    const double lines = std::floor((m_area.height() * kReadoutShare - 8) / line);
    const auto most = static_cast<std::size_t>(std::max<double>(lines, kLeastLines));
    if (values.size() + 1 > most) {
        const std::size_t kept = most - 2;
        readout.more = tr("and %n more", nullptr, static_cast<int>(values.size() - kept));
        values = nearest(std::move(values), kept, pointer);
    }
    for (const Value& value : values) {
        readout.names = std::max(readout.names, std::min(std::max(kShortName, width() * kNameShare),
                                                         boldMetrics.horizontalAdvance(value.name)));
        readout.latencies = std::max(readout.latencies, boldMetrics.horizontalAdvance(value.latency));
        readout.trials = std::max(readout.trials, boldMetrics.horizontalAdvance(value.trials));
    }
    // What is pointed at stays in sight: on the wider side of it, above or below it where names would be cut there.
    const double figures = kMark + kColumnGap + readout.latencies
                           + (readout.trials > 0 ? kColumnGap + readout.trials : 0) + 12;
    const double side = std::max(pointer.x(), width() - pointer.x()) - 20;
    const double high = line * static_cast<double>(1 + values.size() + (readout.more.isEmpty() ? 0 : 1)) + 8;
    const double above = pointer.y() - m_area.top() - 16, below = m_area.bottom() - pointer.y() - 16;
    const bool isBeside = readout.names <= side - figures || high > std::max(above, below);
    if (isBeside)
        readout.names = std::min(readout.names, std::max(kLeastName, side - figures));
    const double wide = std::max({metrics.horizontalAdvance(readout.heading) + 12,
                                  metrics.horizontalAdvance(readout.more) + 12, figures + readout.names});
    QRectF& box = readout.place;
    box = QRectF(pointer.x() + 14, pointer.y() - high / 2, wide, high);
    if (box.right() > width() - 4)
        box.moveRight(pointer.x() - 14);
    box.moveLeft(std::max(2.0, box.left()));
    if (!isBeside)
        box.moveTop(below >= high ? pointer.y() + 14 : pointer.y() - 14 - high);
    box.moveTop(std::clamp(box.top(), m_area.top() + 2, std::max(m_area.top() + 2, m_area.bottom() - high - 2)));
    readout.values = std::move(values);
    return readout;
}

/// The line that is pointed at, then those whose values are nearest to the pointer; in the order in which they were.
std::vector<LatencyChart::Value> LatencyChart::nearest(std::vector<Value> values, std::size_t count,
                                                       QPointF pointer) const
{
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const Line* const near = lineNear(pointer);
    const auto apart = [&](std::size_t i) {
        const Value& value = values[i];
        if (value.line == near)
            return -1.0;
        const bool isArea = value.line->kind == Kind::Part || value.line->kind == Kind::Band; // of no one height
        return isArea ? std::numeric_limits<double>::max() : std::abs(toY(value.ms) - pointer.y());
    };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return apart(a) < apart(b); });
    order.resize(std::min(count, order.size()));
    std::sort(order.begin(), order.end());
    std::vector<Value> kept;
    for (const std::size_t i : order)
        kept.push_back(std::move(values[i]));
    return kept;
}

QStringList LatencyChart::paintedReadout() const
{
    if (!m_pointer)
        return {};
    const Readout readout = readoutAt(*m_pointer);
    QStringList lines{readout.heading};
    for (const Value& value : readout.values)
        lines << QStringList{value.name, value.latency, value.trials}.join(QLatin1Char('\t')).trimmed();
    if (!readout.more.isEmpty())
        lines << readout.more;
    return lines;
}

QRectF LatencyChart::readoutPlace() const
{
    return m_pointer ? readoutAt(*m_pointer).place : QRectF();
}

void LatencyChart::paintValues(QPainter& painter) const
{
    const Readout readout = readoutAt(*m_pointer);
    const QRectF& box = readout.place;
    QFont bold = painter.font();
    bold.setBold(true);
    const QFontMetricsF boldMetrics(bold);
    const double line = QFontMetricsF(painter.font()).height() + kRowGap;
    QColor ground = palette().color(QPalette::Window);
    ground.setAlphaF(0.95F);
    painter.setPen(gridColor(palette()));
    painter.setBrush(ground);
    painter.drawRoundedRect(box, 3, 3);
    QRectF row(box.left() + 6, box.top() + 4, box.width() - 12, line);
    painter.setPen(palette().color(QPalette::WindowText));
    painter.drawText(row, Qt::AlignLeft | Qt::AlignVCenter, readout.heading);
    const QFont plain = painter.font();
    for (const Value& value : readout.values) {
        row.translate(0, line);
        painter.fillRect(QRectF(row.left(), row.center().y() - 3, 9, 6), value.line->color);
        painter.setPen(palette().color(QPalette::WindowText));
        painter.setFont(value.line == readout.near ? bold : plain);
        QRectF cell(row.left() + kMark, row.top(), readout.names, line);
        painter.drawText(cell, Qt::AlignLeft | Qt::AlignVCenter, elidedName(boldMetrics, value.name, readout.names));
        cell = QRectF(cell.right() + kColumnGap, row.top(), readout.latencies, line);
        painter.drawText(cell, Qt::AlignRight | Qt::AlignVCenter, value.latency);
        cell = QRectF(cell.right() + kColumnGap, row.top(), readout.trials, line);
        painter.drawText(cell, Qt::AlignRight | Qt::AlignVCenter, value.trials);
    }
    painter.setFont(plain);
    row.translate(0, line);
    if (!readout.more.isEmpty())
        painter.drawText(row, Qt::AlignLeft | Qt::AlignVCenter, readout.more);
}

void LatencyChart::paintEvent(QPaintEvent*)
{
    const double scale = devicePixelRatioF();
    if (m_still.isNull()) {
        m_still = QPixmap((QSizeF(size()) * scale).toSize());
        m_still.setDevicePixelRatio(scale);
        QPainter still(&m_still);
        paintPicture(still);
    }
    QPainter painter(this);
    painter.drawPixmap(0, 0, m_still);
    if (m_pressed && m_dragged) {
        QColor fill = palette().color(QPalette::Highlight);
        fill.setAlphaF(0.2F);
        painter.setPen(palette().color(QPalette::Highlight));
        painter.setBrush(fill);
        painter.drawRect(QRectF(*m_pressed, *m_dragged).normalized());
    } else {
        painter.setFont(font());
        paintPointer(painter);
    }
    if (hasFocus()) {
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(palette().color(QPalette::Highlight), 2));
        painter.drawRect(rect().adjusted(1, 1, -1, -1));
    }
}

} // namespace lathe::ui
