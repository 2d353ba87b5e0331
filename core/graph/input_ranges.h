#pragma once

#include "core/graph/value_range.h"

#include <vector>

namespace lathe::graph {

/// Which elements suit one input of a network, as far as the nodes that read it tell (OpTraits::demands, picksFrom).
struct InputRange
{
    /// What test values are taken from: places that exist, positive divisors, masks of 0 and 1, lengths up to what
    /// there is. Both ends are finite, whole for an input of integers, and fit its type. Nothing: any value will do.
    std::optional<ValueRange> range;
    bool needed = false; ///< other values are refused
    bool distinct = false; ///< no two elements are equal: they name what is written to, and there is room enough

    bool operator==(const InputRange&) const = default;
};

/// For each graph input. Ranges are followed through what computes with them (casts, sums with constants, limits,
/// selections, joins ...); through an operator that tells nothing of itself integers keep their range, as a guess.
std::vector<InputRange> inputRanges(const Graph& graph);

} // namespace lathe::graph
