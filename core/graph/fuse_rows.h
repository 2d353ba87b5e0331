#pragma once

#include "core/graph/graph.h"

#include <vector>

namespace lathe::graph {

/// For Lathe's own partition: groups that work by rows become one where all between them stays inside, such as mean,
/// difference, variance and scaling of a layer norm. A row is then read once, from memory, instead of once per group.
///
/// `groups` as from fuse(), in topological order; so is the result. What joins is elementwise work, reductions of the
/// last axis and reshapes that only add or drop dimensions of one element; the result of the whole has the rows'
/// elements.
std::vector<std::vector<NodeId>> fuseRows(const Graph& graph, std::vector<std::vector<NodeId>> groups);

} // namespace lathe::graph
