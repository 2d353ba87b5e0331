#pragma once

#include <QPointF>
#include <QPolygonF>
#include <QVector>

#include <utility>
#include <vector>

namespace lathe::ui {

/// Where the items of a drawing stand: layers from top to bottom by longest path, within a layer ordered so that few edges
/// cross. Pure arithmetic: some ms for 500 items.
struct GraphLayout
{
    QVector<QPointF> centers; ///< one per item, in units of cells (column, layer)
    QVector<QPolygonF> edges; ///< one per edge: the centres of its ends, between them where it passes each layer
    int layers = 0;
    double width = 0; ///< columns
};

/// Every edge goes from a lower to a higher item.
GraphLayout layoutGraph(int items, const std::vector<std::pair<int, int>>& edges);

} // namespace lathe::ui
