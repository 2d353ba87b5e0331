#include "ui/views/scatter_view.h"

#include "ui/views/drag_handle.h"
#include "ui/views/plot_axes.h"
#include "ui/views/view_export.h"

#include <QApplication>
#include <QContextMenuEvent>
#include <QKeyEvent>
#include <QLocale>
#include <QMenu>
#include <QMouseEvent>
#include <QPainter>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace lathe::ui {

namespace {

constexpr int kPlace = 2; ///< pixels of a place of the picture
constexpr std::size_t kSingleDots = 4000; ///< up to so many points are drawn one by one
constexpr double kReach = 14; ///< pixels from a click to the point that is meant

/// False for what has no place on a logarithmic axis: QRectF::contains() takes not-a-number for inside.
bool isInside(QPointF point, const QRectF& area)
{
    return std::isfinite(point.x()) && std::isfinite(point.y()) && area.contains(point);
}

} // namespace

ScatterView::ScatterView(QWidget* parent)
    : QWidget(parent)
{
    setObjectName(QStringLiteral("scatterView"));
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(false);
    new DragHandle(*this); // a drag in the chart zooms
}

double ScatterView::place(double value, bool logarithmic) const
{
    return logarithmic ? std::log10(value) : value;
}

ScatterView::Range ScatterView::rangeOf(const std::vector<double>& values, bool logarithmic, qint64* left)
{
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const double value : values) {
        if (logarithmic && !(value > 0)) {
            ++*left;
            continue;
        }
        low = std::min(low, value);
        high = std::max(high, value);
    }
    if (!(low <= high))
        return {};
    if (logarithmic) {
        low = std::log10(low);
        high = std::log10(high);
    }
    const double margin = high > low ? 0.03 * (high - low) : std::max(0.5, 0.1 * std::abs(high));
    return {low - margin, high + margin};
}

void ScatterView::setAxes(const Axis& x, const Axis& y)
{
    m_xAxis = x;
    m_yAxis = y;
    setPoints(m_points, m_diagonal);
}

void ScatterView::setPoints(std::shared_ptr<const Points> points, bool diagonal)
{
    const bool wasAll = m_viewX.low == m_allX.low && m_viewX.high == m_allX.high && m_viewY.low == m_allY.low
                        && m_viewY.high == m_allY.high;
    const bool same = points == m_points;
    m_points = std::move(points);
    m_diagonal = diagonal;
    m_left = 0;
    if (m_points) {
        m_allX = rangeOf(m_points->x, m_xAxis.logarithmic, &m_left);
        m_allY = rangeOf(m_points->y, m_yAxis.logarithmic, &m_left);
    }
    if (wasAll || same || !m_picture) {
        m_viewX = m_allX;
        m_viewY = m_allY;
    }
    count();
}

void ScatterView::setMarked(std::int64_t id)
{
    if (m_marked == id)
        return;
    m_marked = id;
    update();
}

void ScatterView::zoomToFit()
{
    setView(m_allX, m_allY);
}

void ScatterView::setView(Range x, Range y)
{
    if (!(x.high > x.low) || !(y.high > y.low))
        return;
    m_viewX = x;
    m_viewY = y;
    count();
}

void ScatterView::zoomBy(double factor)
{
    const auto about = [factor](Range range) {
        const double middle = (range.low + range.high) / 2, half = (range.high - range.low) / 2 / factor;
        return Range{middle - half, middle + half};
    };
    setView(about(m_viewX), about(m_viewY));
}

QRectF ScatterView::plotArea() const
{
    const int line = fontMetrics().height();
    return QRectF(rect()).adjusted(fontMetrics().horizontalAdvance(QStringLiteral("0000000")) + 8, line + 8, -12,
                                   -2 * line - 8);
}

QPointF ScatterView::toScreen(double x, double y) const
{
    const QRectF area = plotArea();
    return {area.left() + (place(x, m_xAxis.logarithmic) - m_viewX.low) / (m_viewX.high - m_viewX.low) * area.width(),
            area.bottom()
                - (place(y, m_yAxis.logarithmic) - m_viewY.low) / (m_viewY.high - m_viewY.low) * area.height()};
}

void ScatterView::count()
{
    m_counting.drop();
    const QRectF area = plotArea();
    if (!m_points || m_points->x.empty() || area.width() < kPlace || area.height() < kPlace) {
        take(nullptr);
        return;
    }
    // Device pixels: a place is as small on any screen.
    const int columns = std::max(1, static_cast<int>(area.width() * devicePixelRatioF()) / kPlace),
              rows = std::max(1, static_cast<int>(area.height() * devicePixelRatioF()) / kPlace);
    m_counting = m_jobs.run(
        [points = m_points, columns, rows, x = m_viewX, y = m_viewY, logX = m_xAxis.logarithmic,
         logY = m_yAxis.logarithmic](const JobLink& link) {
            auto picture = std::make_shared<Picture>();
            picture->columns = columns;
            picture->rows = rows;
            picture->counts.assign(static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows), 0);
            const std::stop_token stop = link.stopToken();
            const double scaleX = columns / (x.high - x.low), scaleY = rows / (y.high - y.low);
            for (std::size_t i = 0; i < points->x.size(); ++i) {
                if (i % 65536 == 0 && stop.stop_requested())
                    break;
                const double atX = ((logX ? std::log10(points->x[i]) : points->x[i]) - x.low) * scaleX,
                             atY = ((logY ? std::log10(points->y[i]) : points->y[i]) - y.low) * scaleY;
                if (!(atX >= 0 && atX < columns && atY >= 0 && atY < rows))
                    continue;
                std::uint32_t& cell = picture->counts[static_cast<std::size_t>(rows - 1 - static_cast<int>(atY))
                                                          * static_cast<std::size_t>(columns)
                                                      + static_cast<std::size_t>(atX)];
                picture->most = std::max(picture->most, ++cell);
                ++picture->shown;
            }
            return picture;
        },
        [this](std::shared_ptr<const Picture> picture) { take(std::move(picture)); });
}

void ScatterView::take(std::shared_ptr<const Picture> picture)
{
    m_picture = std::move(picture);
    colour();
    const QString text = summary();
    setAccessibleDescription(text);
    emit summaryChanged(text);
}

void ScatterView::colour()
{
    m_image = {};
    update();
    if (!m_picture || static_cast<std::size_t>(m_picture->shown) <= kSingleDots)
        return;
    const bool dark = palette().color(QPalette::Base).lightness() < 128;
    const QColor thin = dark ? QColor(0x2a, 0x4a, 0x66) : QColor(0xb8, 0xd6, 0xec),
                 full = dark ? QColor(0xff, 0xe0, 0x8a) : QColor(0x00, 0x2b, 0x4d);
    std::vector<QRgb> ramp(256);
    for (int i = 0; i < 256; ++i) {
        const double t = i / 255.0;
        ramp[static_cast<std::size_t>(i)] = qRgb(static_cast<int>(thin.red() + t * (full.red() - thin.red())),
                                                 static_cast<int>(thin.green() + t * (full.green() - thin.green())),
                                                 static_cast<int>(thin.blue() + t * (full.blue() - thin.blue())));
    }
    m_image = QImage(m_picture->columns, m_picture->rows, QImage::Format_ARGB32_Premultiplied);
    m_image.fill(Qt::transparent);
    const double scale = 255 / std::log(1.0 + m_picture->most);
    for (int row = 0; row < m_picture->rows; ++row) {
        auto* line = reinterpret_cast<QRgb*>(m_image.scanLine(row));
        const std::uint32_t* counts = m_picture->counts.data()
                                      + static_cast<std::size_t>(row) * static_cast<std::size_t>(m_picture->columns);
        for (int column = 0; column < m_picture->columns; ++column)
            if (counts[column] > 0)
                line[column] = ramp[static_cast<std::size_t>(std::log(1.0 + counts[column]) * scale)];
    }
}

QString ScatterView::summary() const
{
    if (!m_points || m_points->x.empty())
        return m_message.isEmpty() ? tr("No trial has both numbers.") : m_message;
    const QLocale locale;
    const qint64 all = static_cast<qint64>(m_points->x.size());
    const qint64 shown = m_picture ? m_picture->shown : 0;
    QString text = shown == all
                       ? tr("%Ln trials.", nullptr, static_cast<int>(all))
                       : tr("%1 of %Ln trials visible.", nullptr, static_cast<int>(all)).arg(locale.toString(shown));
    if (m_picture && m_picture->shown > static_cast<qint64>(kSingleDots))
        text += QLatin1Char(' ')
                + tr("Stronger colour: more trials in one place, up to %1.").arg(locale.toString(m_picture->most));
    if (m_left > 0)
        text += QLatin1Char(' ')
                + tr("%1 at or below zero cannot be shown on a logarithmic axis.").arg(locale.toString(m_left));
    return text;
}

void ScatterView::paintAxes(QPainter& painter, const QRectF& area) const
{
    const QPalette colours = palette();
    QColor grid = colours.color(QPalette::Text);
    grid.setAlphaF(0.18F);
    const int line = painter.fontMetrics().height();
    const auto ticks = [](const Range& range, const Axis& axis, int wanted) {
        std::vector<std::pair<double, QString>> made;
        if (!axis.logarithmic) {
            for (const double tick : roundTicks(range.low, range.high, wanted))
                made.emplace_back(tick, axis.time ? timeTick(tick) : QString::number(tick, 'g', 7));
            return made;
        }
        for (const double tick : logTicks(std::pow(10.0, range.low), std::pow(10.0, range.high), wanted))
            made.emplace_back(std::log10(tick), QString::number(tick, 'g', 6));
        return made;
    };
    const int label = painter.fontMetrics().horizontalAdvance(QStringLiteral("0000000")) + 12;
    for (const auto& [tick, text] : ticks(m_viewX, m_xAxis, std::max(1, static_cast<int>(area.width()) / label))) {
        const double x = area.left() + (tick - m_viewX.low) / (m_viewX.high - m_viewX.low) * area.width();
        painter.setPen(grid);
        painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()));
        painter.setPen(colours.color(QPalette::Text));
        painter.drawText(QRectF(x - label / 2.0, area.bottom() + 2, label, line), Qt::AlignHCenter | Qt::AlignTop,
                         text);
    }
    for (const auto& [tick, text] :
         ticks(m_viewY, m_yAxis, std::max(1, static_cast<int>(area.height()) / (2 * line)))) {
        const double y = area.bottom() - (tick - m_viewY.low) / (m_viewY.high - m_viewY.low) * area.height();
        painter.setPen(grid);
        painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y));
        painter.setPen(colours.color(QPalette::Text));
        painter.drawText(QRectF(0, labelTop(y, line, area), area.left() - 4, line), Qt::AlignRight | Qt::AlignVCenter,
                         text);
    }
    painter.setPen(colours.color(QPalette::Text));
    painter.drawText(QRectF(4, 2, width() - 8, line), Qt::AlignLeft | Qt::AlignVCenter, m_yAxis.title);
    painter.drawText(QRectF(area.left(), height() - line - 2, width() - DragHandle::kRoom - area.left(), line),
                     Qt::AlignRight | Qt::AlignVCenter, m_xAxis.title);
    painter.setPen(grid);
    painter.drawRect(area);
}

void ScatterView::paintPicture(QPainter& painter) const
{
    painter.fillRect(rect(), palette().color(QPalette::Base));
    const QRectF area = plotArea();
    if (!m_points || m_points->x.empty()) {
        painter.setPen(palette().color(QPalette::PlaceholderText));
        painter.drawText(rect().adjusted(8, 8, -8, -8), Qt::AlignCenter | Qt::TextWordWrap,
                         m_message.isEmpty() ? tr("No trial has both numbers.") : m_message);
        return;
    }
    paintAxes(painter, area);
    painter.setClipRect(area);
    if (!m_image.isNull()) {
        painter.drawImage(area, m_image);
    } else if (m_picture) {
        painter.setRenderHint(QPainter::Antialiasing);
        QColor dot = seriesColor(palette().color(QPalette::Base).lightness() < 128 ? 4 : 0);
        dot.setAlphaF(0.7F);
        painter.setPen(Qt::NoPen);
        painter.setBrush(dot);
        // In sight are few of them; of a million only those are drawn that are.
        for (std::size_t i = 0; i < m_points->x.size(); ++i)
            if (const QPointF at = toScreen(m_points->x[i], m_points->y[i]); isInside(at, area))
                painter.drawEllipse(at, 2.5, 2.5);
    }
    if (m_diagonal) {
        // Where both numbers are equal.
        painter.setRenderHint(QPainter::Antialiasing);
        const double low = std::min(m_xAxis.logarithmic ? std::pow(10.0, m_viewX.low) : m_viewX.low,
                                    m_yAxis.logarithmic ? std::pow(10.0, m_viewY.low) : m_viewY.low);
        const double high = std::max(m_xAxis.logarithmic ? std::pow(10.0, m_viewX.high) : m_viewX.high,
                                     m_yAxis.logarithmic ? std::pow(10.0, m_viewY.high) : m_viewY.high);
        QPolygonF line;
        for (int i = 0; i <= 64; ++i) { // a curve where one axis alone is logarithmic
            const double value = m_xAxis.logarithmic || m_yAxis.logarithmic
                                     ? (low > 0 ? low * std::pow(high / low, i / 64.0)
                                                : high * std::pow(10.0, (i - 64) / 10.0))
                                     : low + (high - low) * i / 64.0;
            line << toScreen(value, value);
        }
        painter.setPen(QPen(palette().color(QPalette::Text), 1, Qt::DashLine));
        painter.drawPolyline(line);
    }
    const auto marked = std::lower_bound(m_points->ids.begin(), m_points->ids.end(), m_marked);
    const auto i = static_cast<std::size_t>(marked - m_points->ids.begin());
    if (m_marked != 0 && marked != m_points->ids.end() && *marked == m_marked
        && isInside(toScreen(m_points->x[i], m_points->y[i]), area)) {
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(palette().color(QPalette::Base), 5));
        painter.drawEllipse(toScreen(m_points->x[i], m_points->y[i]), 6, 6);
        painter.setPen(QPen(QColor(0xd5, 0x5e, 0x00), 2.5));
        painter.drawEllipse(toScreen(m_points->x[i], m_points->y[i]), 6, 6);
    }
    painter.setClipping(false);
}

void ScatterView::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    paintPicture(painter);
    if (m_dragging) {
        QColor fill = palette().color(QPalette::Highlight);
        fill.setAlphaF(0.2F);
        painter.setPen(palette().color(QPalette::Highlight));
        painter.setBrush(fill);
        painter.drawRect(QRectF(m_pressed, m_dragged).normalized());
    }
    if (hasFocus()) {
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(palette().color(QPalette::Highlight), 1));
        painter.drawRect(rect().adjusted(0, 0, -1, -1));
    }
}

void ScatterView::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    count();
}

void ScatterView::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::StyleChange)
        colour();
}

void ScatterView::mousePressEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton)
        return;
    m_pressed = m_dragged = event->position();
    m_dragging = false;
}

void ScatterView::mouseMoveEvent(QMouseEvent* event)
{
    if (!(event->buttons() & Qt::LeftButton))
        return;
    m_dragged = event->position();
    m_dragging = m_dragging || (m_dragged - m_pressed).manhattanLength() >= QApplication::startDragDistance();
    update();
}

void ScatterView::mouseReleaseEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton)
        return;
    if (!std::exchange(m_dragging, false)) {
        if (const std::int64_t id = nearest(event->position()); id != 0)
            emit picked(id);
        return;
    }
    const QRectF area = plotArea(), chosen = QRectF(m_pressed, event->position()).normalized().intersected(area);
    update();
    if (chosen.width() < 4 || chosen.height() < 4)
        return;
    const auto part = [](Range range, double from, double to) {
        return Range{range.low + from * (range.high - range.low), range.low + to * (range.high - range.low)};
    };
    setView(part(m_viewX, (chosen.left() - area.left()) / area.width(), (chosen.right() - area.left()) / area.width()),
            part(m_viewY, (area.bottom() - chosen.bottom()) / area.height(),
                 (area.bottom() - chosen.top()) / area.height()));
}

void ScatterView::mouseDoubleClickEvent(QMouseEvent*)
{
    zoomToFit();
}

void ScatterView::wheelEvent(QWheelEvent* event)
{
    const QRectF area = plotArea();
    const double factor = std::pow(1.25, event->angleDelta().y() / 120.0);
    const auto about = [factor](Range range, double at) {
        const double fixed = range.low + at * (range.high - range.low);
        return Range{fixed - (fixed - range.low) / factor, fixed + (range.high - fixed) / factor};
    };
    setView(about(m_viewX, std::clamp((event->position().x() - area.left()) / area.width(), 0.0, 1.0)),
            about(m_viewY, std::clamp((area.bottom() - event->position().y()) / area.height(), 0.0, 1.0)));
    event->accept();
}

void ScatterView::keyPressEvent(QKeyEvent* event)
{
    const auto shifted = [](Range range, double part) {
        return Range{range.low + part * (range.high - range.low), range.high + part * (range.high - range.low)};
    };
    switch (event->key()) {
    case Qt::Key_Plus:
    case Qt::Key_Equal: zoomBy(1.5); break;
    case Qt::Key_Minus: zoomBy(1 / 1.5); break;
    case Qt::Key_0: zoomToFit(); break;
    case Qt::Key_Left: setView(shifted(m_viewX, -0.2), m_viewY); break;
    case Qt::Key_Right: setView(shifted(m_viewX, 0.2), m_viewY); break;
    case Qt::Key_Up: setView(m_viewX, shifted(m_viewY, 0.2)); break;
    case Qt::Key_Down: setView(m_viewX, shifted(m_viewY, -0.2)); break;
    default: QWidget::keyPressEvent(event);
    }
}

void ScatterView::contextMenuEvent(QContextMenuEvent* event)
{
    QMenu menu(this);
    emit menuAboutToShow(&menu, nearest(event->pos()));
    if (!menu.isEmpty())
        menu.addSeparator();
    addViewActions(menu, *this);
    menu.exec(event->globalPos());
    event->accept();
}

std::int64_t ScatterView::nearest(QPointF position) const
{
    if (!m_points)
        return 0;
    // Raw numbers first: logarithms of a million would be felt.
    const QRectF area = plotArea();
    const auto bound = [](const Range& range, double at, bool logarithmic) {
        const double value = range.low + at * (range.high - range.low);
        return logarithmic ? std::pow(10.0, value) : value;
    };
    const double lowX = bound(m_viewX, (position.x() - kReach - area.left()) / area.width(), m_xAxis.logarithmic),
                 highX = bound(m_viewX, (position.x() + kReach - area.left()) / area.width(), m_xAxis.logarithmic);
    const double lowY = bound(m_viewY, (area.bottom() - position.y() - kReach) / area.height(), m_yAxis.logarithmic),
                 highY = bound(m_viewY, (area.bottom() - position.y() + kReach) / area.height(), m_yAxis.logarithmic);
    double least = kReach * kReach;
    std::int64_t found = 0;
    for (std::size_t i = 0; i < m_points->x.size(); ++i) {
        if (m_points->x[i] < lowX || m_points->x[i] > highX || m_points->y[i] < lowY || m_points->y[i] > highY)
            continue;
        const QPointF off = toScreen(m_points->x[i], m_points->y[i]) - position;
        const double distance = QPointF::dotProduct(off, off);
        if (distance <= least) {
            least = distance;
            found = m_points->ids[i];
        }
    }
    return found;
}

std::vector<QStringList> ScatterView::exportRows() const
{
    if (!m_points)
        return {};
    const auto text = [](double value) { return QString::number(value, 'g', 9); };
    std::vector<QStringList> rows;
    if (!m_picture || static_cast<std::size_t>(m_picture->shown) <= kSingleDots) {
        rows.push_back({tr("Position in the project"), m_xAxis.title, m_yAxis.title});
        const QRectF area = plotArea();
        for (std::size_t i = 0; i < m_points->x.size(); ++i)
            if (isInside(toScreen(m_points->x[i], m_points->y[i]), area))
                rows.push_back({QString::number(m_points->ids[i]), text(m_points->x[i]), text(m_points->y[i])});
        return rows;
    }
    rows.push_back({m_xAxis.title, m_yAxis.title, tr("Trials")});
    const auto middle = [](const Range& range, const Axis& axis, double part) {
        const double value = range.low + part * (range.high - range.low);
        return axis.logarithmic ? std::pow(10.0, value) : value;
    };
    for (int row = m_picture->rows - 1; row >= 0; --row)
        for (int column = 0; column < m_picture->columns; ++column)
            if (const std::uint32_t count =
                    m_picture->counts[static_cast<std::size_t>(row) * static_cast<std::size_t>(m_picture->columns)
                                      + static_cast<std::size_t>(column)];
                count > 0)
                rows.push_back({text(middle(m_viewX, m_xAxis, (column + 0.5) / m_picture->columns)),
                                text(middle(m_viewY, m_yAxis, (m_picture->rows - row - 0.5) / m_picture->rows)),
                                QString::number(count)});
    return rows;
}

} // namespace lathe::ui
