#pragma once

#include "core/session/views.h"

#include <QPointF>
#include <QVector>

namespace lathe::ui {

/// Where the nodes of a network stand: layers from top to bottom by longest path, within a layer ordered so that few edges
/// cross (barycentre sweeps). Pure arithmetic, fit for a worker thread; 200 nodes take some ms.
struct GraphLayout
{
    QVector<QPointF> centers; ///< one per node, in units of node cells (column, layer)
    int layers = 0;
    double width = 0; ///< columns
};

GraphLayout layoutGraph(const session::GraphView& graph);

} // namespace lathe::ui
