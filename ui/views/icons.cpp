#include "ui/views/icons.h"

#include <QPainter>
#include <QPainterPath>
#include <QPixmap>

namespace lathe::ui {

namespace {

/// In a square of 16 units.
QPainterPath glyphPath(Glyph glyph)
{
    QPainterPath path;
    switch (glyph) {
    case Glyph::Open: path.addPolygon(QPolygonF({{1, 3}, {6, 3}, {8, 5}, {15, 5}, {15, 13}, {1, 13}, {1, 3}})); break;
    case Glyph::Start: path.addPolygon(QPolygonF({{4, 2}, {14, 8}, {4, 14}, {4, 2}})); break;
    case Glyph::Resume:
        path.addRect(2, 2, 2.5, 12);
        path.addPolygon(QPolygonF({{6.5, 2}, {15, 8}, {6.5, 14}, {6.5, 2}}));
        break;
    case Glyph::Pause:
        path.addRect(3, 2, 4, 12);
        path.addRect(9, 2, 4, 12);
        break;
    case Glyph::Stop: path.addRect(3, 3, 10, 10); break;
    case Glyph::Export:
        path.addPolygon(QPolygonF({{6.5, 1}, {9.5, 1}, {9.5, 6}, {12.5, 6}, {8, 11}, {3.5, 6}, {6.5, 6}, {6.5, 1}}));
        path.addRect(2, 12.5, 12, 2.5);
        break;
    }
    return path;
}

} // namespace

QIcon glyphIcon(Glyph glyph, const QPalette& palette)
{
    QIcon icon;
    for (const auto& [mode, group] :
         {std::pair{QIcon::Normal, QPalette::Active}, std::pair{QIcon::Disabled, QPalette::Disabled}}) {
        for (const int size : {16, 24, 32, 48, 64}) {
            QPixmap pixmap(size, size);
            pixmap.fill(Qt::transparent);
            QPainter painter(&pixmap);
            painter.setRenderHint(QPainter::Antialiasing);
            painter.scale(size / 16.0, size / 16.0);
            painter.fillPath(glyphPath(glyph), palette.color(group, QPalette::ButtonText));
            painter.end();
            icon.addPixmap(pixmap, mode);
        }
    }
    return icon;
}

} // namespace lathe::ui
