#include "ui/views/sparkline_delegate.h"

#include <QPainter>

#include <algorithm>

namespace lathe::ui {

void SparklineDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    QStyledItemDelegate::paint(painter, option, index);
    const auto values = index.data(m_role).value<QList<double>>();
    if (values.isEmpty())
        return;
    const QRectF area = QRectF(option.rect).adjusted(4, 4, -4, -4);
    // From zero: a gain looks as large as it is.
    const double high = *std::max_element(values.begin(), values.end());
    const auto y = [&](double value) {
        return high > 0 ? area.bottom() - value / high * area.height() : area.center().y();
    };
    QPolygonF line;
    const double step = area.width() / static_cast<double>(values.size());
    for (qsizetype i = 0; i < values.size(); ++i) {
        line << QPointF(area.left() + step * static_cast<double>(i), y(values[i]))
             << QPointF(area.left() + step * static_cast<double>(i + 1), y(values[i]));
    }
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setPen(QPen(option.palette.color(option.state.testFlag(QStyle::State_Selected) ? QPalette::HighlightedText
                                                                                            : QPalette::Highlight),
                         1.4));
    painter->drawPolyline(line);
    painter->restore();
}

} // namespace lathe::ui
