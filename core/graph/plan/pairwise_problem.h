#pragma once

#include "core/support/result.h"

#include <cstdint>
#include <vector>

namespace lathe::graph::plan {

/// What two nodes cost together, for every pair of their candidates: of a plan, the conversion of the tensor between
/// them.
struct PairwiseEdge
{
    std::int32_t from = 0, to = 0; ///< two nodes
    std::vector<double> seconds; ///< [candidates of `from`, candidates of `to`], row-major
};

/// A discrete energy over pairs: one candidate is chosen for each node, and the sum of what nodes and edges then cost
/// shall be the smallest.
///
/// Costs are seconds, not negative; an infinite one is a choice that is not allowed. There may be several edges between
/// two nodes, in either direction: all of them count.
struct PairwiseProblem
{
    std::vector<std::vector<double>> nodes; ///< seconds, by candidate: at least one
    std::vector<PairwiseEdge> edges;
};

using Choices = std::vector<std::int32_t>; ///< by node, the index of its candidate

/// Errors: InvalidArgument naming the first node or edge that breaks the rules above.
Result<> check(const PairwiseProblem& problem);

/// The sum, of a problem that has been checked; infinite if the choices are not allowed.
/// Errors: InvalidArgument for choices that are not one candidate for each node.
Result<double> energy(const PairwiseProblem& problem, const Choices& choices);

/// What a solver finds.
struct Solution
{
    Choices choices;
    double seconds = 0; ///< their energy; infinite: no allowed choices were found
    bool optimal = false; ///< nothing costs less; with infinite `seconds`: nothing is allowed
};

/// The edges with those of equal ends summed, each from the lower index to the higher, in the order of their ends.
std::vector<PairwiseEdge> mergedEdges(const PairwiseProblem& problem);

} // namespace lathe::graph::plan
