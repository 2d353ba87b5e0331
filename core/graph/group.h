#pragma once

#include "core/graph/graph.h"
#include "core/graph/task.h"

#include <string>
#include <vector>

namespace lathe::graph {

/// One fused group of nodes seen as a function: what it reads and gives.
struct Group
{
    std::vector<NodeId> nodes; ///< depth first from the last, arguments left to right
    std::vector<ValueId> inputs; ///< order of first use in that walk; scalar constants are literals and not among them
    std::vector<ValueId> outputs; ///< read outside of the group, or by nobody but the graph
    NodeId anchor; ///< the node with the large computation; the first one if there is none
};

/// `uses` are the consumers of every value (Graph::consumers).
Group makeGroup(const Graph& graph, const std::vector<NodeId>& nodes,
                const std::vector<std::vector<NodeId>>& consumers);

/// True for constants that become literals of the kernel: scalars of the types that the reference inlines.
bool isLiteral(const Value& value);

/// Text that is equal for two groups exactly if one kernel computes both, for the strong key of a task.
std::string structureText(const Graph& graph, const Group& group);

/// The group's compute DAG. `algorithm` is that of the anchor, `era` the spelling. The bindings refer to group.inputs.
/// `splitTransforms` as in ComputeContext.
/// Errors: Unsupported if an operator of the group cannot be computed that way; Internal names the node.
Result<Alternative> buildAlternative(const Graph& graph, const Group& group, const std::string& algorithm,
                                     compute::NameEra era, bool splitTransforms = false);

/// "conv2d 3x3/2 64->128 @28 +add+relu"
std::string readableName(const Graph& graph, const Group& group);
/// The reference's: "fused_nn_conv2d_add_nn_relu".
std::string functionName(const Graph& graph, const Group& group, const std::string& algorithm);

} // namespace lathe::graph
