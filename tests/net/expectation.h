#pragma once

#include "core/graph/operator.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::net {

/// How far code may be from the evaluation of one operator: core/compute/README.md.
struct Bound
{
    double ulps = 4; ///< units of the last place of f32 and f64; half floats are rounded from f32, once
    double absolute = 0; ///< where digits cancel, of f32; f64 has 29 digits more
    bool anyZero = false; ///< of two zeros either may come out
};
Bound boundOf(std::string_view op);
/// Whether equal operands give equal results in any code: moving, choosing and comparing elements, and what IEEE 754
/// defines to the last digit.
bool isExact(std::string_view op);
/// Whether a zero that comes out may have either sign: where an operator says so, on the way or in a body.
bool mayGiveAnyZero(const graph::Graph& graph);

/// What a network should give, by the plain evaluation of its operators (graph::OpDef::evaluate): once with each tensor
/// rounded to its type, once in double, and a few times in double with the errors that code may make where it sums and
/// approximates. What these say of each other is how far code may be off.
struct Expected
{
    graph::HostTensor tensor; ///< rounded to its type everywhere
    std::vector<double> slack; ///< by element; infinite: nothing can be said of it
    Bound bound; ///< of the operator that gave it
    bool isExact = false; ///< whether every operator of the graph is
};

struct ExpectationOptions
{
    std::uint64_t seed = 1;
    /// Whether the errors of each operator's own bound are passed on to what follows: for networks of several.
    bool passErrorsOn = false;
};

/// One for each output of the graph. `slack` is 16 times what the runs differ by. Errors: those of the evaluation.
Result<std::vector<Expected>> expect(const graph::Graph& graph, const std::vector<graph::HostTensor>& inputs,
                                     const ExpectationOptions& options = {});

/// Element by element: integers as integers, NaN with NaN, infinities equal, zeros with their sign, all else within
/// bound and slack. Empty if all agree, else what is wrong with the first that does not.
std::string compare(const graph::HostTensor& got, const Expected& wanted);

} // namespace lathe::net
