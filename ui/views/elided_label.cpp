#include "ui/views/elided_label.h"

#include <QPainter>

#include <algorithm>

namespace lathe::ui {

namespace {
constexpr int kLeastCharacters = 12;
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
