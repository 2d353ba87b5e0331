#pragma once

#include <QHash>
#include <QList>
#include <QPointF>
#include <QStringList>

#include <vector>

namespace lathe::ui {

/// What charts of lines need beside their axes.

/// The value that holds at `x`: that of the last point at or before it. NaN before the first one.
double valueAt(const QList<QPointF>& points, double x);

/// Changes (x, value), each of which holds until the next, as the corners of a line that goes on to `end`.
QList<QPointF> steps(const QList<QPointF>& changes, double end);

/// The points that a view from `low` to `high` needs: those inside, and one more at each side. In the order of x.
QList<QPointF> between(const QList<QPointF>& points, double low, double high);

/// Middles of labels of one height that cover each other nowhere and stand as near as can be to where they are wanted,
/// between `top` and `bottom`. `wanted` is in rising order, and not more than find room.
std::vector<double> spread(const std::vector<double>& wanted, double height, double top, double bottom);

/// Which colour (lineColor()) each of several lines has that are shown at once: none has that of another, and a line
/// keeps its own for as long as it is shown.
class ColorSlots
{
public:
    /// What is shown now. The i-th prefers the place `preferred[i]`, and else takes the first that is free.
    void assign(const QStringList& keys, const std::vector<int>& preferred);
    int slot(const QString& key) const { return m_slots.value(key, 0); }

private:
    QHash<QString, int> m_slots;
};

} // namespace lathe::ui
