#pragma once

#include <QList>
#include <QPointF>

namespace lathe::ui {

/// At most four points for each of `columns` equal stretches of x: the first, least, greatest and last of it, so that a
/// line drawn `columns` pixels wide looks the same. Points come in the order of x; those that are not finite, and with
/// `positive` those that are not above zero, are left out.
QList<QPointF> decimated(const QList<QPointF>& points, int columns, bool positive);

} // namespace lathe::ui
