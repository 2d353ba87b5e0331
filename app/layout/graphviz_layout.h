#pragma once

#include "app/layout/graph_text.h"

namespace lathe::layout {

/// Lays the graph out from top to bottom with Graphviz's dot and writes, in points, y downwards:
///
///     lathe-layout 1
///     size WIDTH HEIGHT
///     item X Y                the centre
///     edge X Y X Y ...        a cubic spline: a point, then three for each piece; nothing for an edge from an item to
///     itself frame LEFT TOP RIGHT BOTTOM end
///
/// One line per item, edge and frame, in the order of the graph. Empty on success, else what went wrong. Once per
/// process: Graphviz has global state, and cannot be cancelled but by ending the process.
std::string layOut(const GraphText& graph, std::ostream& out);

} // namespace lathe::layout
