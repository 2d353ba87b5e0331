#include "ui/views/two_line_delegate.h"

#include <QApplication>
#include <QPainter>

namespace lathe::ui {

namespace {

constexpr int kMargin = 4;

QString detailOf(const QModelIndex& index)
{
    return index.data(TwoLineDelegate::DetailRole).toString();
}

} // namespace

void TwoLineDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    const QString detail = detailOf(index);
    if (detail.isEmpty())
        return QStyledItemDelegate::paint(painter, option, index);
    QStyleOptionViewItem item = option;
    initStyleOption(&item, index);
    const QString title = std::exchange(item.text, QString());
    const QStyle* style = item.widget == nullptr ? QApplication::style() : item.widget->style();
    style->drawControl(QStyle::CE_ItemViewItem, &item, painter, item.widget); // background, focus, selection

    const bool selected = item.state.testFlag(QStyle::State_Selected) && item.state.testFlag(QStyle::State_Active);
    const QPalette::ColorGroup group = !item.state.testFlag(QStyle::State_Enabled) ? QPalette::Disabled
                                                                                   : QPalette::Normal;
    const int line = item.fontMetrics.height();
    const QRect inside = item.rect.adjusted(kMargin, kMargin, -kMargin, -kMargin);
    painter->save();
    painter->setFont(item.font);
    painter->setPen(item.palette.color(group, selected ? QPalette::HighlightedText : QPalette::Text));
    painter->drawText(QRect(inside.left(), inside.top(), inside.width(), line), Qt::AlignLeft | Qt::AlignVCenter,
                      item.fontMetrics.elidedText(title, Qt::ElideMiddle, inside.width()));
    if (!selected)
        painter->setPen(item.palette.color(group, QPalette::PlaceholderText));
    painter->drawText(QRect(inside.left(), inside.top() + line, inside.width(), line), Qt::AlignLeft | Qt::AlignVCenter,
                      item.fontMetrics.elidedText(detail, Qt::ElideRight, inside.width()));
    painter->restore();
}

QSize TwoLineDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    const QSize one = QStyledItemDelegate::sizeHint(option, index);
    return detailOf(index).isEmpty() ? one : QSize(one.width(), 2 * option.fontMetrics.height() + 2 * kMargin);
}

} // namespace lathe::ui
