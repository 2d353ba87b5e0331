#include "ui/views/elided_label.h"

#include <QFontMetricsF>
#include <QPainter>

#include <algorithm>

namespace lathe::ui {

namespace {
constexpr int kLeastCharacters = 12;
constexpr qsizetype kEnd = 5; ///< letters of a name's end that are kept
} // namespace

QString elidedName(const QFontMetricsF& metrics, const QString& name, double width)
{
    if (metrics.horizontalAdvance(name) <= width)
        return name;
    const QString end = QChar(0x2026) + name.right(kEnd);
    const double room = width - metrics.horizontalAdvance(end);
    qsizetype kept = name.size() - kEnd;
    while (kept > kEnd && metrics.horizontalAdvance(name.left(kept)) > room)
        --kept;
    return kept > kEnd ? name.left(kept) + end : metrics.elidedText(name, Qt::ElideRight, width);
}

QSize ElidedLabel::minimumSizeHint() const
{
    const QSize whole = QLabel::sizeHint();
    const QMargins margins = contentsMargins();
    return {
        std::min(whole.width(), fontMetrics().averageCharWidth() * kLeastCharacters + margins.left() + margins.right()),
        whole.height()};
}

void ElidedLabel::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.setPen(palette().color(foregroundRole()));
    const QRect area = contentsRect();
    painter.drawText(area, static_cast<int>(alignment()),
                     fontMetrics().elidedText(text(), Qt::ElideRight, area.width()));
}

} // namespace lathe::ui
