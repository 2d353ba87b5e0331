#pragma once

#include <QBrush>

namespace lathe::ui {

/// A brush of one of Qt's patterns (Dense3Pattern, BDiagPattern, ...) whose dots and lines are as large on a screen of
/// any scale as at 100 %: Qt's own are of single device pixels, too fine to be seen at 200 %.
///
/// @param scale  device pixels per pixel of what is painted on (QPaintDevice::devicePixelRatioF()); at 1 and with
///               SolidPattern it is Qt's own brush, which vector graphics keep as such.
QBrush patternBrush(const QColor& color, Qt::BrushStyle style, double scale);

} // namespace lathe::ui
