#pragma once

#include "core/graph/graph.h"
#include "core/graph/plan/layout.h"
#include "core/graph/plan/layout_flow.h"
#include "core/graph/task.h"

#include <functional>
#include <string>
#include <vector>

namespace lathe::graph::plan {

/// A fused group whose layouts are chosen.
struct LayoutNode
{
    std::int32_t subgraph = -1; ///< index into Partition::subgraphs
    std::int32_t task = -1; ///< index into Partition::tasks, whose candidates it has; -1: it only takes several inputs
    std::string name; ///< the subgraph's
    std::string order; ///< what the dimensions of its result are called: "NCHW"
    /// What is fused behind the anchor works in one order only: candidates that give another one do not fit, and for
    /// its readers the node is a boundary.
    bool plainResult = false;
    std::int64_t runs = 1; ///< in one run of the network
    /// Of a node of several inputs: the edge whose writer's layout it takes over.
    std::int32_t leader = -1;
    std::vector<std::int64_t> joinedChannels; ///< likewise: see layout_flow.h

    bool isTuned() const { return task >= 0; }
};

/// A tensor on its way from where it is written in a layout that is chosen, or to where it is read so.
struct LayoutEdge
{
    std::int32_t from = -1, to = -1; ///< nodes; -1: a boundary, where all is plain
    /// Where a conversion stands: the input of this subgraph, behind all that passes layouts on.
    ValueId value;
    std::int32_t reader = -1; ///< subgraph; -1: the network's outputs
    Reads reads = Reads::Plain;
    std::vector<std::int64_t> shape; ///< of the value
    DType dtype = DType::F32;
    std::string order; ///< what its dimensions are called
    std::int64_t runs = 1; ///< of a conversion in one run of the network: those of the reader
};

/// A network as the choice of layouts sees it (autotvm.md 12.1).
///
/// Nodes are the groups that are tuned, and those that take several inputs which have to lie alike: residual sums,
/// joins. Everything else either passes layouts on, and edges lead through it, or works in one order only: reshapes,
/// softmax, matrix products, control flow, the network's inputs and outputs are boundaries. A group of several inputs
/// that all come from boundaries is one itself.
///
/// Nodes are in topological order; edges stand by reader, in the order of its inputs. A boundary that reads a tensor
/// several times, or several that do, are one edge: it is converted once for all. Other edges do not share conversions,
/// as in the reference: a choice that needs the same one twice may look dearer than it is.
struct LayoutGraph
{
    std::vector<LayoutNode> nodes;
    std::vector<LayoutEdge> edges;
};

struct LayoutGraphOptions
{
    /// Which operators are tuned: a task that has such a node is. Null: convolutions.
    std::function<bool(const Node&)> isTarget = {};
    /// False: edges that begin or end at a boundary are left out, as in the reference, where a network's inputs cost
    /// nothing in whatever layout they are wanted.
    bool boundaries = true;
};

LayoutGraph reduced(const Graph& graph, const Partition& partition, const LayoutGraphOptions& options = {});

} // namespace lathe::graph::plan
