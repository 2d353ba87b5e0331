#include "ui/views/share_delegate.h"

#include <QPainter>

#include <algorithm>

namespace lathe::ui {

void ShareDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    QStyledItemDelegate::paint(painter, option, index);
    QString text = index.data().toString();
    bool good = false;
    const double percent = text.remove(QLatin1Char('%')).trimmed().toDouble(&good);
    if (!good)
        return;
    QRectF bar = QRectF(option.rect).adjusted(2, 0, -2, -2);
    bar.setTop(bar.bottom() - 3);
    bar.setWidth(std::max(1.0, bar.width() * std::clamp(percent / 100, 0.0, 1.0)));
    const bool selected = option.state.testFlag(QStyle::State_Selected);
    painter->fillRect(bar, option.palette.color(selected ? QPalette::HighlightedText : QPalette::Highlight));
}

} // namespace lathe::ui
