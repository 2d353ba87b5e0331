#pragma once

#include "core/graph/plan/pairwise_problem.h"

namespace lathe::graph::plan {

/// Good choices in time that grows with the nodes alone: the partitioned boolean quadratic problem's reductions
/// (autotvm.md 12.5).
///
/// A node of one neighbour goes into that one's costs (RI), of two into the edge between them (RII), and of none (R0)
/// takes its cheapest candidate: all of that is exact. Where every node has three neighbours or more, the one with the
/// most takes the candidate that looks cheapest from there (RN), and `optimal` is false. It may then happen that no
/// allowed choices are found though there are some.
/// Errors: those of check().
Result<Solution> solvePbqp(const PairwiseProblem& problem);

} // namespace lathe::graph::plan
