#include "ui/views/pattern_brush.h"

#include <QImage>
#include <QPainter>

#include <cmath>

namespace lathe::ui {

namespace {

constexpr int kTile = 8; ///< pixels at 100 %: after as many, each of Qt's patterns repeats

/// Lines across the tile and its corners, so that they go on in the tiles beside it.
void drawDiagonals(QPainter& painter, bool rising)
{
    for (const double shift : {-1.0 * kTile, 0.0, 1.0 * kTile})
        if (rising)
            painter.drawLine(QPointF(shift - kTile, 2.0 * kTile), QPointF(shift + 2.0 * kTile, -1.0 * kTile));
        else
            painter.drawLine(QPointF(shift - kTile, -1.0 * kTile), QPointF(shift + 2.0 * kTile, 2.0 * kTile));
}

} // namespace

QBrush patternBrush(const QColor& color, Qt::BrushStyle style, double scale)
{
    if (style == Qt::SolidPattern || scale <= 1)
        return {color, style};
    const bool lines = style == Qt::BDiagPattern || style == Qt::FDiagPattern || style == Qt::DiagCrossPattern;
    // Dots are squares, which painting magnifies by itself; lines are drawn as fine as the screen can show them.
    const int pixels = lines ? static_cast<int>(std::ceil(kTile * scale)) : kTile;
    QImage tile(pixels, pixels, QImage::Format_ARGB32_Premultiplied);
    tile.fill(Qt::transparent);
    if (!lines) {
        QPainter(&tile).fillRect(tile.rect(), QBrush(color, style));
        return QBrush(tile);
    }
    tile.setDevicePixelRatio(static_cast<double>(pixels) / kTile);
    QPainter painter(&tile);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(color, 1));
    if (style != Qt::FDiagPattern)
        drawDiagonals(painter, true);
    if (style != Qt::BDiagPattern)
        drawDiagonals(painter, false);
    painter.end();
    return QBrush(tile);
}

} // namespace lathe::ui
