#pragma once

#include "core/session/views.h"

#include <set>

namespace lathe::ui {

/// What lies between two nodes: every node on a path along edges from one to the other.
struct GraphWay
{
    int from = -1, to = -1; ///< in the direction of the edges
    std::set<int> nodes; ///< both ends included; empty: there is no path
    int shortest = 0, longest = 0; ///< edges of the shortest and of the longest path
    double paths = 0; ///< how many there are; branches multiply, so that it may be huge
    bool exists() const { return !nodes.empty(); }
};

/// Whichever of the two comes first. Takes as long as the network has edges.
GraphWay wayBetween(const session::GraphView& graph, int a, int b);

} // namespace lathe::ui
