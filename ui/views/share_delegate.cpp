#include "ui/views/share_delegate.h"

#include <QPainter>

#include <algorithm>

namespace lathe::ui {

namespace {

constexpr double kHeight = 2; ///< pixels

} // namespace

void ShareDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    QStyledItemDelegate::paint(painter, option, index);
    QString text = index.data().toString();
    bool good = false;
    const double percent = text.remove(QLatin1Char('%')).trimmed().toDouble(&good);
    if (!good)
        return;
    // At the very bottom: a row of one line leaves no more room below its digits.
    QRectF bar = QRectF(option.rect).adjusted(2, 0, -2, -1);
    bar.setTop(bar.bottom() - kHeight);
    bar.setWidth(std::max(1.0, bar.width() * std::clamp(percent / 100, 0.0, 1.0)));
    const bool selected = option.state.testFlag(QStyle::State_Selected);
    painter->fillRect(bar, option.palette.color(selected ? QPalette::HighlightedText : QPalette::Highlight));
}

} // namespace lathe::ui
