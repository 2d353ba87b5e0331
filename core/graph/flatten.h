#pragma once

#include "core/graph/graph.h"

#include <optional>

namespace lathe::graph {

/// Lays the bodies of control flow into the graph around them, for the partition and the plan, which see one list of
/// nodes. Nodes of a body carry the region that they are in; a region's nodes, with those of regions inside it, stand
/// together between the two nodes that take the place of the node with bodies:
///
///     if(condition, captured...)  ->  taken = branch_begin(condition)
///                                     nodes of the branch for true, then those of the branch for false
///                                     results = branch_end(taken, results of the one..., results of the other...)
///
///     loop(trips, condition, initial..., captured...)
///                                 ->  iteration, condition, carried... = loop_begin(trips, condition, initial...)
///                                     nodes of the body
///                                     final..., stacked..., count = loop_end(iteration, next condition, next...,
///                                     rows...)
///
/// What a body captures is read directly; what it captures and does not use goes, with what was computed for it. Where
/// a loop's body wants what it only reads in another order of dimensions, that is made in front of the loop. The order
/// of nodes means something here: no pass may be run behind this. A graph without control flow comes back as it is.
/// Errors: those of verify().
Result<Graph> flatten(Graph graph);

/// Whether `region` is `outer` or inside of it. Everything is inside of region -1.
bool isInside(const Graph& graph, std::int32_t region, std::int32_t outer);

/// How often a node with a loop's body runs, if it counts to a constant and ends for no other reason.
std::optional<std::int64_t> knownTrips(const Graph& graph, const Node& loop);

/// How often what is in the region runs in one run of the network: see Region::trips.
std::int64_t runsOf(const Graph& graph, std::int32_t region);

} // namespace lathe::graph
