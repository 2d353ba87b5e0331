#include "ui/views/decimate.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace lathe::ui {

QList<QPointF> decimated(const QList<QPointF>& points, int columns, bool positive)
{
    const auto good = [positive](const QPointF& p) {
        return std::isfinite(p.x()) && std::isfinite(p.y()) && (!positive || p.y() > 0);
    };
    QList<QPointF> kept;
    if (points.size() <= 4 * qsizetype{columns}) {
        std::copy_if(points.begin(), points.end(), std::back_inserter(kept), good);
        return kept;
    }
    const double from = points.first().x(), span = points.last().x() - from;
    const double perUnit = span > 0 ? columns / span : 0;
    kept.reserve(4 * qsizetype{columns});
    qsizetype first = -1, least = -1, greatest = -1, last = -1;
    qint64 column = -1;
    const auto flush = [&] {
        if (first < 0)
            return;
        qsizetype chosen[] = {first, least, greatest, last};
        std::sort(std::begin(chosen), std::end(chosen));
        const qsizetype* end = std::unique(std::begin(chosen), std::end(chosen));
        for (const qsizetype* i = chosen; i != end; ++i)
            kept << points[*i];
        first = -1;
    };
    for (qsizetype i = 0; i < points.size(); ++i) {
        const QPointF& p = points[i];
        if (!good(p))
            continue;
        const auto at = static_cast<qint64>((p.x() - from) * perUnit);
        if (at != column) {
            flush();
            column = at;
        }
        if (first < 0) {
            first = least = greatest = last = i;
            continue;
        }
        last = i;
        if (p.y() < points[least].y())
            least = i;
        if (p.y() > points[greatest].y())
            greatest = i;
    }
    flush();
    return kept;
}

} // namespace lathe::ui
