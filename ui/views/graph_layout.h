#pragma once

#include <QByteArray>
#include <QPointF>
#include <QPolygonF>
#include <QRectF>
#include <QSizeF>
#include <QVector>

#include <optional>
#include <utility>
#include <vector>

namespace lathe::ui {

/// What is to be drawn. Every edge goes from a lower to a higher item.
struct GraphShape
{
    int items = 0;
    std::vector<std::pair<int, int>> edges;
    std::vector<std::pair<int, int>> frames; ///< [first, last] item; outer frames first
};

/// Where everything stands, from top to bottom, in points; all items are of the size kItemSize.
struct GraphLayout
{
    static constexpr QSizeF kItemSize{164, 36};

    QSizeF size;
    QVector<QPointF> centers; ///< one per item
    QVector<QPolygonF> edges; ///< one per edge: a cubic spline, a point and then three for each piece
    QVector<QRectF> frames; ///< one per frame
};

/// A plain drawing for when there is no better one: layers by longest path, each item near what feeds it, edges
/// straight on.
GraphLayout plainLayout(const GraphShape& shape);

/// What lathe-layout reads (app/layout/graph_text.h). Equal shapes give equal text.
QByteArray layoutQuestion(const GraphShape& shape);
/// What lathe-layout wrote; nothing if it does not fit the shape.
std::optional<GraphLayout> readLayout(const QByteArray& answer, const GraphShape& shape);

} // namespace lathe::ui
