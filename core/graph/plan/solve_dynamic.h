#pragma once

#include "core/graph/plan/pairwise_problem.h"

#include <cstdint>

namespace lathe::graph::plan {

/// States that solveDynamic() looks at unless told otherwise: half a second's work. The tables of ten candidates a node
/// then take 50 MB; half a gigabyte at the very most.
inline constexpr std::uint64_t kMostStates = std::uint64_t{1} << 26;

/// The best choices, by dynamic programming over the nodes.
///
/// Nodes leave one after the other. One that leaves is replaced by a table with what it costs at best for all choices
/// of those that it still shares an edge with, which then share edges among themselves. Time and memory grow with
/// these tables, so the node whose table takes the fewest states leaves next: in a chain that is a pair of candidates,
/// beside open branches their product.
///
/// `mostStates` bounds the states of all nodes together: their number is known before the first table is made, and the
/// tables hold no more numbers than that.
/// Errors: those of check(); Unsupported if more states would be needed, naming their number and the bound.
Result<Solution> solveDynamic(const PairwiseProblem& problem, std::uint64_t mostStates = kMostStates);

} // namespace lathe::graph::plan
