#include "ui/views/wrap_delegate.h"

#include <QApplication>
#include <QFontMetricsF>
#include <QHeaderView>
#include <QStyle>
#include <QTableView>

#include <algorithm>

namespace lathe::ui {

namespace {

/// What a cell's text has of its width: items are drawn with this margin on either side.
int roomIn(const QWidget* widget, int width)
{
    const QStyle* const style = widget != nullptr ? widget->style() : QApplication::style();
    return width - 2 * (style->pixelMetric(QStyle::PM_FocusFrameHMargin, nullptr, widget) + 1);
}

/// How much of the text fits, up to a place where it may be broken; all of it where there is none.
qsizetype firstLine(const QFontMetricsF& metrics, const QString& text, double width)
{
    qsizetype fits = 0;
    for (qsizetype at = 1; at < text.size(); ++at) {
        if (text[at] != QLatin1Char('+') && text[at - 1] != QLatin1Char(' '))
            continue;
        if (metrics.horizontalAdvance(text.left(at).trimmed()) > width)
            break;
        fits = at;
    }
    return fits > 0 ? fits : text.size();
}

} // namespace

QStringList wrappedLines(const QFontMetricsF& metrics, const QString& text, double width, int most)
{
    QStringList lines;
    QString left = text;
    while (lines.size() + 1 < most && metrics.horizontalAdvance(left) > width) {
        const qsizetype end = firstLine(metrics, left, width);
        if (end == left.size())
            break;
        lines << left.left(end).trimmed();
        left = left.mid(end);
    }
    return lines << metrics.elidedText(left, Qt::ElideRight, width);
}

void WrapDelegate::fitRows(QTableView& table, const QList<int>& columns)
{
    QHeaderView& rows = *table.verticalHeader();
    const QFontMetricsF metrics(table.font());
    for (int row = 0; row < table.model()->rowCount(); ++row) {
        qsizetype lines = 1;
        for (const int column : columns)
            if (!table.isColumnHidden(column))
                lines = std::max(lines, wrappedLines(metrics, table.model()->index(row, column).data().toString(),
                                                     roomIn(&table, table.columnWidth(column)))
                                            .size());
        const int height = rows.defaultSectionSize()
                           + static_cast<int>(static_cast<double>(lines - 1) * metrics.lineSpacing());
        if (rows.sectionSize(row) != height)
            rows.resizeSection(row, height);
    }
}

void WrapDelegate::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const
{
    QStyledItemDelegate::initStyleOption(option, index);
    option->text = wrappedLines(QFontMetricsF(option->font), option->text, roomIn(option->widget, option->rect.width()))
                       .join(QChar::LineSeparator);
}

} // namespace lathe::ui
