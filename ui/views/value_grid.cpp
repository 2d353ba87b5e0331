#include "ui/views/value_grid.h"

#include <QApplication>
#include <QContextMenuEvent>
#include <QFontDatabase>
#include <QKeyEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QPainter>
#include <QRegularExpression>
#include <QScrollBar>

#include <algorithm>
#include <limits>

namespace lathe::ui {

namespace {

constexpr std::int64_t kLeastColumns = 8; ///< trailing dimensions are joined until a row has as many
constexpr int kDigits = 14; ///< what most values take: "-1.2345678e-05"

} // namespace

ValueGrid::ValueGrid(QWidget* parent)
    : QAbstractScrollArea(parent)
{
    setFocusPolicy(Qt::StrongFocus);
    setMinimumSize(120, 80);
    setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    viewport()->setBackgroundRole(QPalette::Base);
    viewport()->setAutoFillBackground(true);
    measure();
}

void ValueGrid::setTensor(std::vector<std::int64_t> shape, std::function<QString(std::int64_t)> text)
{
    m_shape = std::move(shape);
    m_text = std::move(text);
    m_rowDimensions = m_shape.size();
    m_columns = 1;
    while (m_rowDimensions > 0 && m_columns < kLeastColumns)
        m_columns *= m_shape[--m_rowDimensions];
    m_rows = m_columns > 0 ? 1 : 0;
    for (std::size_t d = 0; d < m_rowDimensions; ++d)
        m_rows *= m_shape[d];
    m_row = m_column = m_anchorRow = m_anchorColumn = 0;
    measure();
    horizontalScrollBar()->setValue(0);
    verticalScrollBar()->setValue(0);
    viewport()->update();
}

void ValueGrid::refresh()
{
    viewport()->update();
}

void ValueGrid::measure()
{
    const QFontMetrics metrics(font());
    m_rowHeight = metrics.height() + 4;
    m_columnWidth = metrics.horizontalAdvance(QLatin1Char('0')) * kDigits + 12;
    m_headerWidth = m_rows > 0 ? metrics.horizontalAdvance(rowName(m_rows - 1)) + 16 : 0;
    updateScrollBars();
}

int ValueGrid::seenRows() const
{
    return std::max(1, viewport()->height() / m_rowHeight - 1);
}

int ValueGrid::seenColumns() const
{
    return std::max(1, (viewport()->width() - m_headerWidth) / m_columnWidth);
}

void ValueGrid::updateScrollBars()
{
    // A scroll bar counts in int: where there are more rows, a step of it is several.
    const std::int64_t most = std::max<std::int64_t>(0, m_rows - seenRows());
    m_rowsPerStep = 1 + most / std::numeric_limits<int>::max();
    verticalScrollBar()->setRange(0, static_cast<int>((most + m_rowsPerStep - 1) / m_rowsPerStep));
    verticalScrollBar()->setPageStep(std::max(1, static_cast<int>(seenRows() / m_rowsPerStep)));
    horizontalScrollBar()->setRange(
        0, static_cast<int>(std::min<std::int64_t>(std::numeric_limits<int>::max(),
                                                   std::max<std::int64_t>(0, m_columns - seenColumns()))));
    horizontalScrollBar()->setPageStep(seenColumns());
}

std::int64_t ValueGrid::firstRow() const
{
    return std::min(verticalScrollBar()->value() * m_rowsPerStep, std::max<std::int64_t>(0, m_rows - seenRows()));
}

QString ValueGrid::indices(std::int64_t index, std::size_t first, std::size_t last) const
{
    QStringList parts;
    for (std::size_t d = last; d-- > first;) {
        parts.prepend(QString::number(index % m_shape[d]));
        index /= m_shape[d];
    }
    return parts.join(QStringLiteral(", "));
}

QString ValueGrid::rowName(std::int64_t row) const
{
    return m_rowDimensions == 0 ? QString() : QLatin1Char('[') + indices(row, 0, m_rowDimensions) + QLatin1Char(']');
}

QString ValueGrid::columnName(std::int64_t column) const
{
    return m_shape.empty() ? QString()
                           : QLatin1Char('[') + indices(column, m_rowDimensions, m_shape.size()) + QLatin1Char(']');
}

QString ValueGrid::placeOf(std::int64_t index) const
{
    return QLatin1Char('[') + indices(index, 0, m_shape.size()) + QLatin1Char(']');
}

std::int64_t ValueGrid::indexOf(const QString& place) const
{
    static const QRegularExpression numbers(QStringLiteral("-?\\d+"));
    std::vector<std::int64_t> found;
    for (auto match = numbers.globalMatch(place); match.hasNext();)
        found.push_back(match.next().captured().toLongLong());
    const std::int64_t count = m_rows * m_columns;
    if (found.size() == 1 && m_shape.size() != 1)
        return found[0] >= 0 && found[0] < count ? found[0] : -1;
    if (found.size() != m_shape.size())
        return -1;
    std::int64_t index = 0;
    for (std::size_t d = 0; d < found.size(); ++d) {
        if (found[d] < 0 || found[d] >= m_shape[d])
            return -1;
        index = index * m_shape[d] + found[d];
    }
    return index;
}

void ValueGrid::goTo(std::int64_t index)
{
    if (m_columns > 0)
        moveTo(index / m_columns, index % m_columns, false);
}

ValueGrid::Rectangle ValueGrid::selected() const
{
    const std::int64_t row = std::min(m_row, m_anchorRow);
    const std::int64_t column = std::min(m_column, m_anchorColumn);
    return {row, column, std::max(m_row, m_anchorRow) - row + 1, std::max(m_column, m_anchorColumn) - column + 1};
}

void ValueGrid::moveTo(std::int64_t row, std::int64_t column, bool selects)
{
    if (m_rows == 0 || m_columns == 0)
        return;
    m_row = std::clamp<std::int64_t>(row, 0, m_rows - 1);
    m_column = std::clamp<std::int64_t>(column, 0, m_columns - 1);
    if (!selects) {
        m_anchorRow = m_row;
        m_anchorColumn = m_column;
    }
    if (m_row < firstRow())
        verticalScrollBar()->setValue(static_cast<int>(m_row / m_rowsPerStep));
    else if (m_row >= firstRow() + seenRows())
        verticalScrollBar()->setValue(static_cast<int>((m_row - seenRows() + m_rowsPerStep) / m_rowsPerStep));
    if (m_column < horizontalScrollBar()->value())
        horizontalScrollBar()->setValue(static_cast<int>(m_column));
    else if (m_column >= horizontalScrollBar()->value() + seenColumns())
        horizontalScrollBar()->setValue(static_cast<int>(m_column - seenColumns() + 1));
    viewport()->update();
    setAccessibleDescription(placeOf(current()) + QLatin1Char(' ') + (m_text ? m_text(current()) : QString()));
    emit currentChanged(current());
}

std::vector<QStringList> ValueGrid::seen() const
{
    std::vector<QStringList> rows;
    QStringList head{QString()};
    const std::int64_t left = horizontalScrollBar()->value();
    const std::int64_t right = std::min(m_columns, left + seenColumns() + 1);
    for (std::int64_t c = left; c < right; ++c)
        head << columnName(c);
    rows.push_back(head);
    for (std::int64_t r = firstRow(); r < std::min(m_rows, firstRow() + seenRows()); ++r) {
        QStringList line{rowName(r)};
        for (std::int64_t c = left; c < right; ++c)
            line << (m_text ? m_text(r * m_columns + c) : QString());
        rows.push_back(line);
    }
    return rows;
}

void ValueGrid::paintEvent(QPaintEvent*)
{
    QPainter painter(viewport());
    const QPalette& colors = palette();
    const Rectangle marked = selected();
    const std::int64_t left = horizontalScrollBar()->value();
    const std::int64_t right = std::min(m_columns, left + seenColumns() + 1);
    const int width = viewport()->width();
    painter.fillRect(0, 0, width, m_rowHeight, colors.button());
    painter.fillRect(0, 0, m_headerWidth, viewport()->height(), colors.button());
    painter.setPen(colors.color(QPalette::ButtonText));
    const auto xOf = [&](std::int64_t column) {
        return m_headerWidth + static_cast<int>(column - left) * m_columnWidth;
    };
    for (std::int64_t c = left; c < right; ++c)
        painter.drawText(QRect(xOf(c), 0, m_columnWidth - 6, m_rowHeight), Qt::AlignRight | Qt::AlignVCenter,
                         columnName(c));
    const std::int64_t first = firstRow();
    for (std::int64_t r = first; r < std::min(m_rows, first + seenRows() + 1); ++r) {
        const int y = static_cast<int>(r - first + 1) * m_rowHeight;
        painter.setPen(colors.color(QPalette::ButtonText));
        painter.drawText(QRect(0, y, m_headerWidth - 8, m_rowHeight), Qt::AlignRight | Qt::AlignVCenter, rowName(r));
        if (r % 2 != 0)
            painter.fillRect(m_headerWidth, y, width, m_rowHeight, colors.alternateBase());
        for (std::int64_t c = left; c < right; ++c) {
            const QRect cell(xOf(c), y, m_columnWidth, m_rowHeight);
            const bool isMarked = r >= marked.row && r < marked.row + marked.rows && c >= marked.column
                                  && c < marked.column + marked.columns;
            if (isMarked)
                painter.fillRect(cell, colors.highlight());
            painter.setPen(colors.color(isMarked ? QPalette::HighlightedText : QPalette::Text));
            const QString text = m_text ? m_text(r * m_columns + c) : QString();
            painter.drawText(cell.adjusted(2, 0, -6, 0), Qt::AlignRight | Qt::AlignVCenter,
                             text.isEmpty() ? QStringLiteral("…") : text);
            if (hasFocus() && r == m_row && c == m_column) {
                painter.setPen(colors.color(QPalette::Text));
                painter.drawRect(cell.adjusted(0, 0, -1, -1));
            }
        }
    }
}

void ValueGrid::resizeEvent(QResizeEvent* event)
{
    QAbstractScrollArea::resizeEvent(event);
    updateScrollBars();
}

void ValueGrid::changeEvent(QEvent* event)
{
    QAbstractScrollArea::changeEvent(event);
    if (event->type() == QEvent::FontChange)
        measure();
    viewport()->update();
}

void ValueGrid::keyPressEvent(QKeyEvent* event)
{
    if (event->matches(QKeySequence::Copy)) {
        emit copyWanted();
        return;
    }
    const bool selects = event->modifiers().testFlag(Qt::ShiftModifier);
    const bool far = event->modifiers().testFlag(Qt::ControlModifier);
    switch (event->key()) {
    case Qt::Key_Up: moveTo(far ? 0 : m_row - 1, m_column, selects); return;
    case Qt::Key_Down: moveTo(far ? m_rows - 1 : m_row + 1, m_column, selects); return;
    case Qt::Key_Left: moveTo(m_row, far ? 0 : m_column - 1, selects); return;
    case Qt::Key_Right: moveTo(m_row, far ? m_columns - 1 : m_column + 1, selects); return;
    case Qt::Key_PageUp: moveTo(m_row - seenRows(), m_column, selects); return;
    case Qt::Key_PageDown: moveTo(m_row + seenRows(), m_column, selects); return;
    case Qt::Key_Home: moveTo(far ? 0 : m_row, 0, selects); return;
    case Qt::Key_End: moveTo(far ? m_rows - 1 : m_row, m_columns - 1, selects); return;
    default: QAbstractScrollArea::keyPressEvent(event);
    }
}

bool ValueGrid::cellAt(QPoint point, std::int64_t& row, std::int64_t& column) const
{
    if (point.y() < m_rowHeight || point.x() < m_headerWidth)
        return false;
    row = firstRow() + point.y() / m_rowHeight - 1;
    column = horizontalScrollBar()->value() + (point.x() - m_headerWidth) / m_columnWidth;
    return row < m_rows && column < m_columns;
}

void ValueGrid::mousePressEvent(QMouseEvent* event)
{
    std::int64_t row = 0;
    std::int64_t column = 0;
    if (event->button() == Qt::LeftButton && cellAt(event->pos(), row, column))
        moveTo(row, column, event->modifiers().testFlag(Qt::ShiftModifier));
}

void ValueGrid::mouseMoveEvent(QMouseEvent* event)
{
    std::int64_t row = 0;
    std::int64_t column = 0;
    if (event->buttons().testFlag(Qt::LeftButton) && cellAt(event->pos(), row, column))
        moveTo(row, column, true);
}

void ValueGrid::contextMenuEvent(QContextMenuEvent* event)
{
    QMenu menu(this);
    QAction* const copy = menu.addAction(tr("&Copy"), this, &ValueGrid::copyWanted);
    copy->setShortcut(QKeySequence::Copy);
    copy->setEnabled(m_rows > 0);
    menu.exec(event->globalPos());
}

} // namespace lathe::ui
