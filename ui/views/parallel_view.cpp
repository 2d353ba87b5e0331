#include "ui/views/parallel_view.h"

#include "ui/models/texts.h"
#include "ui/views/drag_handle.h"
#include "ui/views/plot_axes.h"
#include "ui/views/view_export.h"

#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QLocale>
#include <QMenu>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <cmath>
#include <utility>

namespace lathe::ui {

namespace {

constexpr double kLineNear = 7; ///< pixels from the mouse to the line that is meant
constexpr double kAxisReach = 18; ///< and to the axis
constexpr int kAround = 8;
constexpr int kCostColours = 24; ///< steps of the cost axis' colours

double asDouble(std::size_t n)
{
    return static_cast<double>(n);
}

/// Costs are drawn by their logarithm.
bool isCost(double cost)
{
    return std::isfinite(cost) && cost > 0;
}

} // namespace

ParallelView::ParallelView(QWidget* parent)
    : QWidget(parent)
{
    setObjectName(QStringLiteral("parallelView"));
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    m_handle = new DragHandle(*this);
    m_handle->hide();
}

void ParallelView::setLines(std::shared_ptr<const Lines> lines)
{
    const std::int64_t hovered = m_hovered ? m_lines->lines[*m_hovered].id : 0;
    m_lines = std::move(lines);
    m_hovered = lineOf(hovered); // who walks through the lines stays where they were
    order();
    layoutChanged();
    setAccessibleDescription(summary());
    m_handle->setVisible(!isEmpty()); // there is a picture to drag out
}

void ParallelView::setMessage(const QString& text)
{
    m_message = text;
    update();
}

void ParallelView::setMarkedAxis(int axis)
{
    if (std::exchange(m_markedAxis, axis) != axis)
        layoutChanged();
}

void ParallelView::setMarked(std::int64_t id)
{
    if (std::exchange(m_marked, id) != id)
        update();
}

std::optional<std::size_t> ParallelView::lineOf(std::int64_t id) const
{
    if (isEmpty() || id == 0)
        return std::nullopt;
    const auto found = std::ranges::find(m_lines->lines, id, &Line::id);
    return found == m_lines->lines.end() ? std::nullopt
                                         : std::optional(static_cast<std::size_t>(found - m_lines->lines.begin()));
}

/// Failed ones lie below all others, the fastest above.
void ParallelView::order()
{
    m_order.clear();
    m_failed = 0;
    m_low = m_high = 1;
    if (isEmpty())
        return;
    const std::vector<Line>& lines = m_lines->lines;
    const auto slower = [&lines](std::size_t a, std::size_t b) {
        const bool failedA = !isCost(lines[a].cost), failedB = !isCost(lines[b].cost);
        return failedA != failedB ? failedA : !failedA && lines[a].cost > lines[b].cost;
    };
    for (std::size_t i = 0; i < lines.size(); ++i) {
        m_order.push_back(i);
        m_failed += isCost(lines[i].cost) ? 0 : 1;
    }
    std::stable_sort(m_order.begin(), m_order.end(), slower);
    if (m_order.size() > kMostLines)
        m_order.erase(m_order.begin(), m_order.end() - static_cast<std::ptrdiff_t>(kMostLines));
    const auto firstValid = std::find_if(m_order.begin(), m_order.end(),
                                         [&lines](std::size_t i) { return isCost(lines[i].cost); });
    if (firstValid == m_order.end())
        return;
    m_low = lines[m_order.back()].cost;
    m_high = std::max(lines[*firstValid].cost, m_low);
}

QString ParallelView::summary() const
{
    if (isEmpty())
        return {};
    const int all = static_cast<int>(m_lines->lines.size());
    QString text = m_failed == 0 ? tr("%Ln trials.", nullptr, all)
                                 : tr("%Ln trials, %1 of them failed.", nullptr, all)
                                       .arg(QLocale().toString(static_cast<qulonglong>(m_failed)));
    if (m_order.size() < m_lines->lines.size())
        text += QLatin1Char(' ')
                + tr("The fastest %1 are drawn.").arg(QLocale().toString(static_cast<qulonglong>(m_order.size())));
    return text;
}

QString ParallelView::textOf(std::size_t line) const
{
    const Line& shown = m_lines->lines[line];
    QStringList rows{QStringLiteral("%1: %2").arg(shown.name, isCost(shown.cost) ? msText(shown.cost) : tr("failed"))};
    for (std::size_t a = 0; a < m_lines->axes.size(); ++a)
        rows << QStringLiteral("%1 %2").arg(m_lines->axes[a].name, m_lines->axes[a].values.value(shown.values[a]));
    return rows.join(QLatin1Char('\n'));
}

QRectF ParallelView::plotArea() const
{
    const int line = fontMetrics().height();
    // Beside the last axis stand the costs, whose room is wanted if half a column has less.
    const double columns = m_lines ? asDouble(m_lines->axes.size() + 1) : 1;
    const double half = (width() - 2.0 * kAround) / columns / 2;
    const double costs = fontMetrics().horizontalAdvance(QStringLiteral("0000.000 ms")) + 8;
    return QRectF(rect()).adjusted(kAround, 2 * line + kAround, -kAround - std::max(0.0, costs - half), -2 * line);
}

/// The axes stand in the middle of columns of equal width, so that each has room for its name and values.
double ParallelView::axisX(std::size_t axis) const
{
    const QRectF area = plotArea();
    return area.left() + area.width() * (asDouble(axis) + 0.5) / asDouble(m_lines->axes.size() + 1);
}

/// Logarithmic, the fastest at the top; a failed one ends at the bottom, below a gap.
double ParallelView::costY(double cost) const
{
    const QRectF area = plotArea();
    if (!isCost(cost))
        return area.bottom();
    const double bottom = m_failed > 0 ? area.bottom() - 2.0 * fontMetrics().height() : area.bottom();
    const double span = std::log(m_high / m_low);
    if (!(span > 0))
        return area.top();
    const double part = std::clamp(std::log(cost / m_low) / span, 0.0, 1.0);
    return area.top() + part * (bottom - area.top());
}

QPointF ParallelView::crossing(std::size_t line, std::size_t axis) const
{
    const Line& shown = m_lines->lines[line];
    if (axis >= m_lines->axes.size())
        return {axisX(m_lines->axes.size()), costY(shown.cost)};
    const QRectF area = plotArea();
    const auto count = m_lines->axes[axis].values.size();
    const double part = count > 1 ? static_cast<double>(shown.values[axis]) / static_cast<double>(count - 1) : 0.5;
    return {axisX(axis), area.bottom() - part * area.height()};
}

std::optional<std::size_t> ParallelView::lineAt(QPointF position) const
{
    if (isEmpty() || position.x() < axisX(0) - kLineNear || position.x() > axisX(m_lines->axes.size()) + kLineNear)
        return std::nullopt;
    std::size_t left = 0;
    while (left + 1 < m_lines->axes.size() && axisX(left + 1) <= position.x())
        ++left;
    const double from = axisX(left), to = axisX(left + 1);
    const double part = std::clamp((position.x() - from) / (to - from), 0.0, 1.0);
    std::optional<std::size_t> best;
    double nearest = kLineNear;
    for (const std::size_t line : m_order) {
        const QPointF a = crossing(line, left), b = crossing(line, left + 1);
        // Of the line itself, which may be steep.
        const double slope = (b.y() - a.y()) / (to - from);
        const double away = std::abs(a.y() + part * (b.y() - a.y()) - position.y()) / std::sqrt(1 + slope * slope);
        if (away <= nearest + 0.5) { // the later one is faster
            nearest = std::min(nearest, away);
            best = line;
        }
    }
    return best;
}

std::optional<std::size_t> ParallelView::axisAt(QPointF position) const
{
    if (isEmpty())
        return std::nullopt;
    for (std::size_t axis = 0; axis < m_lines->axes.size(); ++axis)
        if (std::abs(axisX(axis) - position.x()) <= kAxisReach)
            return axis;
    return std::nullopt;
}

/// From the fastest to the slowest by logarithm; strong to faint, so that colour alone does not tell.
QColor ParallelView::colourOf(double cost) const
{
    if (!isCost(cost)) {
        QColor failed = palette().color(QPalette::Text);
        failed.setAlphaF(0.12F);
        return failed;
    }
    const double span = std::log(m_high / m_low);
    // Most trials are slow: the fast quarter gets half of the colours.
    const double part = span > 0 ? std::sqrt(std::clamp(std::log(cost / m_low) / span, 0.0, 1.0)) : 0;
    const bool dark = isDark(palette());
    const QColor fast = dark ? QColor(0x7f, 0xd4, 0xff) : QColor(0x00, 0x3f, 0x8a),
                 slow = dark ? QColor(0x9a, 0x7b, 0x3a) : QColor(0xe0, 0xb0, 0x60);
    const auto between = [part](int a, int b) { return static_cast<int>(std::lround(a + part * (b - a))); };
    QColor colour(between(fast.red(), slow.red()), between(fast.green(), slow.green()),
                  between(fast.blue(), slow.blue()));
    // Many lines are fainter each.
    const double crowd = std::clamp(60.0 / std::sqrt(asDouble(m_order.size() + 1)), 1.0, 8.0) / 8;
    colour.setAlphaF(static_cast<float>((0.25 + 0.75 * crowd) * (1 - 0.65 * part)));
    return colour;
}

void ParallelView::layoutChanged()
{
    m_picture = {};
    update();
}

void ParallelView::paintAxes(QPainter& painter) const
{
    const QRectF area = plotArea();
    const int line = painter.fontMetrics().height();
    const double column = area.width() / asDouble(m_lines->axes.size() + 1);
    for (std::size_t a = 0; a < m_lines->axes.size(); ++a) {
        const Axis& axis = m_lines->axes[a];
        const double x = axisX(a);
        const bool marked = static_cast<int>(a) == m_markedAxis;
        painter.setPen(QPen(palette().color(marked ? QPalette::Highlight : QPalette::Mid), marked ? 3 : 1));
        painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()));
        QFont font = painter.font();
        font.setBold(marked);
        painter.save();
        painter.setFont(font);
        painter.setPen(palette().color(QPalette::Text));
        painter.drawText(QRectF(x - column / 2, area.top() - 2 * line - 2, column - 2, line), Qt::AlignHCenter,
                         painter.fontMetrics().elidedText(axis.name, Qt::ElideMiddle, static_cast<int>(column) - 4));
        painter.restore();
        // As many values as there is room for, always the first and the last.
        const auto count = axis.values.size();
        const auto room = std::max<qsizetype>(2, static_cast<qsizetype>(area.height()) / (line + 4));
        const auto every = std::max<qsizetype>(1, (count + room - 1) / room);
        for (qsizetype v = 0; v < count; ++v) {
            if (v != count - 1 && (v % every != 0 || count - 1 - v < every))
                continue;
            const double y = count > 1 ? area.bottom()
                                             - static_cast<double>(v) / static_cast<double>(count - 1) * area.height()
                                       : area.center().y();
            const QString text = painter.fontMetrics().elidedText(axis.values[v], Qt::ElideRight,
                                                                  static_cast<int>(column) - 14);
            const QRectF box(x + 5, y - line / 2.0, painter.fontMetrics().horizontalAdvance(text) + 4, line);
            QColor ground = palette().color(QPalette::Base);
            ground.setAlphaF(0.8F); // lines shine through, the value stays legible
            painter.fillRect(box, ground);
            painter.setPen(palette().color(QPalette::Text));
            painter.drawText(box, Qt::AlignCenter, text);
        }
    }
    paintCostAxis(painter, area);
}

/// Its colours are those of the lines: the axis is their legend.
void ParallelView::paintCostAxis(QPainter& painter, const QRectF& area) const
{
    const int line = painter.fontMetrics().height();
    const double x = axisX(m_lines->axes.size());
    const double half = area.width() / asDouble(m_lines->axes.size() + 1) / 2;
    const auto label = [&](double y, const QString& text) {
        const QRectF box(x + 7, y - line / 2.0, width() - x - 7, line);
        painter.setPen(palette().color(QPalette::Text));
        painter.drawText(box, Qt::AlignLeft | Qt::AlignVCenter,
                         painter.fontMetrics().elidedText(text, Qt::ElideRight, static_cast<int>(box.width())));
    };
    painter.setPen(palette().color(QPalette::Text));
    painter.drawText(QRectF(x - half, area.top() - 2 * line - 2, 2 * half, line), Qt::AlignHCenter,
                     painter.fontMetrics().elidedText(tr("Cost"), Qt::ElideRight, static_cast<int>(2 * half)));
    const bool any = m_failed < m_lines->lines.size();
    if (any) {
        const double top = costY(m_low), bottom = std::max(costY(m_high), top + 1);
        for (int i = 0; i < kCostColours; ++i) {
            QColor colour = colourOf(m_low * std::pow(m_high / m_low, (i + 0.5) / kCostColours));
            colour.setAlphaF(1);
            const double from = top + (bottom - top) * i / kCostColours,
                         to = top + (bottom - top) * (i + 1) / kCostColours;
            painter.fillRect(QRectF(x - 2, from, 4, to - from + 0.5), colour);
        }
        label(costY(m_low), msText(m_low));
        if (bottom - top > 3 * line) {
            const double middle = std::sqrt(m_low * m_high);
            label(costY(middle), msText(middle));
        }
        if (bottom - top > line)
            label(costY(m_high), msText(m_high));
    }
    if (m_failed > 0) {
        painter.setPen(QPen(palette().color(QPalette::Text), 1));
        painter.drawLine(QPointF(x - 4, area.bottom()), QPointF(x + 4, area.bottom()));
        label(area.bottom(), tr("failed"));
    }
}

void ParallelView::paintLine(QPainter& painter, std::size_t line, const QColor& colour, double width) const
{
    QPolygonF way;
    for (std::size_t a = 0; a <= m_lines->axes.size(); ++a)
        way << crossing(line, a);
    painter.setPen(QPen(colour, width, isCost(m_lines->lines[line].cost) ? Qt::SolidLine : Qt::DashLine));
    painter.drawPolyline(way);
}

void ParallelView::paintLines(QPainter& painter) const
{
    painter.setRenderHint(QPainter::Antialiasing);
    for (const std::size_t line : m_order)
        paintLine(painter, line, colourOf(m_lines->lines[line].cost), 1.2);
    if (m_order.empty() || !isCost(m_lines->lines[m_order.back()].cost))
        return;
    paintLine(painter, m_order.back(), palette().color(QPalette::Base), 6);
    paintLine(painter, m_order.back(), QColor(0xd5, 0x5e, 0x00), 3);
}

void ParallelView::paintPicture(QPainter& painter) const
{
    painter.fillRect(rect(), palette().color(QPalette::Base));
    if (isEmpty()) {
        painter.setPen(palette().color(QPalette::PlaceholderText));
        painter.drawText(rect().adjusted(kAround, kAround, -kAround, -kAround), Qt::AlignCenter | Qt::TextWordWrap,
                         m_message);
        return;
    }
    paintLines(painter);
    paintAxes(painter);
    painter.setPen(palette().color(QPalette::Text));
    const int line = painter.fontMetrics().height();
    painter.drawText(
        QRectF(kAround, height() - line - 2, width() - kAround - DragHandle::kRoom, line), Qt::AlignLeft,
        painter.fontMetrics().elidedText(summary(), Qt::ElideRight, width() - kAround - DragHandle::kRoom));
}

void ParallelView::paintEvent(QPaintEvent*)
{
    // Thousands of lines are painted once; what follows the mouse lies above them.
    if (m_picture.isNull() && !size().isEmpty()) {
        m_picture = QPixmap(size() * devicePixelRatioF());
        m_picture.setDevicePixelRatio(devicePixelRatioF());
        m_picture.fill(Qt::transparent);
        QPainter into(&m_picture);
        into.setFont(font());
        paintPicture(into);
    }
    QPainter painter(this);
    if (isEmpty())
        paintPicture(painter);
    else
        painter.drawPixmap(0, 0, m_picture);
    painter.setRenderHint(QPainter::Antialiasing);
    if (!isEmpty()) {
        if (const auto marked = lineOf(m_marked))
            paintLine(painter, *marked, palette().color(QPalette::Highlight), 3);
        if (m_hovered) {
            paintLine(painter, *m_hovered, palette().color(QPalette::Base), 6);
            paintLine(painter, *m_hovered, palette().color(QPalette::Text), 2.5);
        }
    }
    if (hasFocus()) {
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(palette().color(QPalette::Highlight), 1));
        painter.drawRect(rect().adjusted(0, 0, -1, -1));
    }
}

std::vector<QStringList> ParallelView::exportRows() const
{
    if (isEmpty())
        return {};
    std::vector<QStringList> rows(1);
    for (const Axis& axis : m_lines->axes)
        rows.front() << axis.name;
    rows.front() << QStringLiteral("cost_ms") << QStringLiteral("trial");
    for (const Line& line : m_lines->lines) {
        QStringList row;
        for (std::size_t a = 0; a < m_lines->axes.size(); ++a)
            row << m_lines->axes[a].values.value(line.values[a]);
        row << (isCost(line.cost) ? QString::number(line.cost, 'g', 9) : QString()) << line.name;
        rows.push_back(row);
    }
    return rows;
}

void ParallelView::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    layoutChanged();
}

void ParallelView::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::StyleChange
        || event->type() == QEvent::FontChange || event->type() == QEvent::LanguageChange)
        layoutChanged();
}

bool ParallelView::event(QEvent* event)
{
    if (event->type() != QEvent::ToolTip)
        return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    if (const auto line = lineAt(help->pos()))
        QToolTip::showText(help->globalPos(), textOf(*line), this);
    else
        QToolTip::hideText();
    return true;
}

void ParallelView::hover(std::optional<std::size_t> line)
{
    if (std::exchange(m_hovered, line) != line)
        update();
}

void ParallelView::mouseMoveEvent(QMouseEvent* event)
{
    hover(lineAt(event->position()));
    if (!m_hovered)
        QToolTip::hideText();
}

void ParallelView::leaveEvent(QEvent* event)
{
    QWidget::leaveEvent(event);
    hover(std::nullopt);
}

void ParallelView::mouseReleaseEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton)
        return;
    const auto axis = axisAt(event->position());
    if (axis && event->position().y() < plotArea().top()) { // its name
        emit axisPicked(static_cast<int>(*axis));
        return;
    }
    if (const auto line = lineAt(event->position()))
        emit picked(m_lines->lines[*line].id);
    else if (axis)
        emit axisPicked(static_cast<int>(*axis));
}

/// Up and down go through the lines by their cost, left and right through the axes.
void ParallelView::keyPressEvent(QKeyEvent* event)
{
    if (isEmpty()) {
        QWidget::keyPressEvent(event);
        return;
    }
    const auto axes = static_cast<int>(m_lines->axes.size());
    const auto at = m_hovered ? std::find(m_order.begin(), m_order.end(), *m_hovered) : m_order.end();
    switch (event->key()) {
    case Qt::Key_Left:
    case Qt::Key_Right:
        if (axes > 0) // a template may have no knob
            emit axisPicked(std::clamp(m_markedAxis + (event->key() == Qt::Key_Left ? -1 : 1), 0, axes - 1));
        break;
    case Qt::Key_Up: hover(at == m_order.end() || at + 1 == m_order.end() ? m_order.back() : *(at + 1)); break;
    case Qt::Key_Down: hover(at == m_order.end() ? m_order.back() : at == m_order.begin() ? *at : *(at - 1)); break;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (m_hovered)
            emit picked(m_lines->lines[*m_hovered].id);
        break;
    default: QWidget::keyPressEvent(event); return;
    }
    if (m_hovered && (event->key() == Qt::Key_Up || event->key() == Qt::Key_Down)) {
        setAccessibleDescription(textOf(*m_hovered));
        QToolTip::showText(mapToGlobal(crossing(*m_hovered, m_lines->axes.size()).toPoint()), textOf(*m_hovered), this);
    }
}

void ParallelView::contextMenuEvent(QContextMenuEvent* event)
{
    QMenu menu(this);
    const auto line = lineAt(event->pos());
    emit menuAboutToShow(&menu, line ? m_lines->lines[*line].id : 0);
    if (!menu.isEmpty())
        menu.addSeparator();
    addViewActions(menu, *this);
    menu.exec(event->globalPos());
    event->accept();
}

} // namespace lathe::ui
