#pragma once

#include "core/graph/graph.h"
#include "core/graph/operator.h"

#include <vector>

namespace lathe::graph {

struct FuseOptions
{
    std::int32_t maxNodes = 256; ///< of one group; 1 turns fusion off
};

/// Cuts the graph into groups that one kernel computes each (model-zoo.md 8): every node is in exactly one group.
///
/// Groups are in topological order, the nodes of a group too; a group lies in one region (Node::region), and the groups
/// of a region stand together. All values that leave a group are outputs of its last
/// node. Nodes whose operator is unknown, has no compute definition or several outputs stay alone.
std::vector<std::vector<NodeId>> fuse(const Graph& graph, const FuseOptions& options = {});

/// The kind with which a node takes part in fusion.
Pattern patternOf(const Node& node);

} // namespace lathe::graph
