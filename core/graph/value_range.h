#pragma once

#include "core/graph/graph.h"

#include <functional>
#include <optional>

namespace lathe::graph {

/// Numbers from `low` to `high`, both included.
struct ValueRange
{
    double low = 0, high = 0;

    bool empty() const { return !(low <= high); }
    bool holds(const ValueRange& other) const { return low <= other.low && other.high <= high; }
    bool operator==(const ValueRange&) const = default;
};

/// What is asked of the elements of a tensor by the nodes that read it, directly or through others.
struct Demand
{
    std::optional<ValueRange> needed = {}; ///< others are refused: places in a tensor, divisors
    /// Others may be refused, if a condition does not keep them away: what is asked through one branch of a selection.
    std::optional<ValueRange> guarded = {};
    /// Others are taken, but say little: a mask is 0 or 1, what is compared with numbers is near them.
    std::optional<ValueRange> usual = {};
    bool distinct = false; ///< places that are written to: two equal ones leave open which of the writers wins

    bool any() const { return needed || guarded || usual || distinct; }
    /// Adds what another reader asks. Readers that contradict each other cannot both be served: the one that was there
    /// first is kept.
    void add(const Demand& other);
    /// Each range put through `map`.
    Demand mapped(const std::function<ValueRange(const ValueRange&)>& map) const;
};

/// A node that is asked what it wants of one of its operands (OpTraits::demands).
struct DemandQuestion
{
    const Graph& graph;
    const Node& node;
    std::size_t operand;
    const Demand& results; ///< what is asked of the node's results
    /// The least and the largest element of a value, if it is a constant that is not too large to look through.
    const std::function<std::optional<ValueRange>(ValueId)>& constant;
};

} // namespace lathe::graph
