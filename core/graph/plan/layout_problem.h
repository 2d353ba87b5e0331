#pragma once

#include "core/graph/plan/conversion.h"
#include "core/graph/plan/layout_graph.h"
#include "core/graph/plan/pairwise_problem.h"
#include "core/support/result.h"

#include <limits>
#include <map>
#include <string>
#include <vector>

namespace lathe::graph::plan {

/// A kernel that a group may take.
struct LayoutCandidate
{
    Layout input; ///< of the anchor's data
    Layout output; ///< of the result, and of what is read index for index with it
    double seconds = 0; ///< of one run
    std::string id; ///< the caller's: a trial, a record
};

/// The reference's max_sch_num.
inline constexpr std::size_t kMostCandidates = 20;

/// The fastest for each pair of layouts, the fastest pair first, and of these so many. Candidates without a finite time
/// are none. Equal times: the lower input layout, then the lower output layout; of the same pair the one that came
/// first.
std::vector<LayoutCandidate> fastestByLayouts(std::vector<LayoutCandidate> candidates,
                                              std::size_t most = kMostCandidates);

/// By index into Partition::tasks. Groups of one task have the same candidates, and may choose different ones.
using TaskCandidates = std::map<std::int32_t, std::vector<LayoutCandidate>>;

/// By node of the layout graph.
using NodeCandidates = std::vector<std::vector<LayoutCandidate>>;

/// What each node can be, each task's list as fastestByLayouts() makes it. A node of several inputs has a candidate
/// without cost for each layout that the writer of its leading input may give, in the order of that one's candidates;
/// where a block goes across a seam, for the plain one instead.
/// Errors: NotFound for a tuned node without a candidate that fits; InvalidArgument for layouts of other dimensions
/// than the node's and for times that are negative or NaN. Both name the node.
Result<NodeCandidates> candidatesOf(const LayoutGraph& graph, const TaskCandidates& tasks,
                                    std::size_t most = kMostCandidates);

/// All that may have to be converted, each once and in order: what a ConversionCost is asked for.
std::vector<Conversion> conversionsOf(const LayoutGraph& graph, const NodeCandidates& candidates);

/// The layouts on the two ends of an edge.
struct EdgeLayouts
{
    Layout written, read;
};
/// `from` and `to` are the candidates of its two nodes; what stands for a boundary means nothing.
EdgeLayouts layoutsOf(const NodeCandidates& candidates, const LayoutEdge& edge, std::int32_t from, std::int32_t to);

/// The choice of layouts as an energy over pairs, in seconds of one run of the network.
struct LayoutProblem
{
    LayoutGraph graph;
    NodeCandidates candidates;
    /// [writer's candidates, reader's candidates] of each edge, 1 where a boundary stands: its conversions in one run
    /// of the network. Infinite where a node of several inputs would not follow its leader.
    std::vector<std::vector<double>> edgeSeconds;
    /// Nodes as in the graph; edges of boundaries are in the costs of their other ends.
    PairwiseProblem pairwise;
};

/// Asks for each conversion once. Equal layouts cost nothing.
/// Errors: NotFound for a conversion that nobody knows the cost of (NaN), InvalidArgument for a negative cost.
Result<LayoutProblem> makeLayoutProblem(LayoutGraph graph, NodeCandidates candidates, const ConversionCost& cost);

} // namespace lathe::graph::plan
