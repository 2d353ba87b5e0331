#include "core/graph/value_range.h"

#include <algorithm>

namespace lathe::graph {

namespace {

std::optional<ValueRange> bothOf(const std::optional<ValueRange>& a, const std::optional<ValueRange>& b)
{
    if (!a || !b)
        return a ? a : b;
    const ValueRange both{std::max(a->low, b->low), std::min(a->high, b->high)};
    return both.empty() ? a : both;
}

} // namespace

void Demand::add(const Demand& other)
{
    needed = bothOf(needed, other.needed);
    if (guarded && other.guarded) // each is asked under a condition of its own
        guarded = ValueRange{std::min(guarded->low, other.guarded->low), std::max(guarded->high, other.guarded->high)};
    else if (other.guarded)
        guarded = other.guarded;
    usual = bothOf(usual, other.usual);
    distinct = distinct || other.distinct;
}

Demand Demand::mapped(const std::function<ValueRange(const ValueRange&)>& map) const
{
    const auto put = [&map](const std::optional<ValueRange>& range) {
        std::optional<ValueRange> there;
        if (range)
            there = map(*range);
        return there && !there->empty() ? there : std::nullopt;
    };
    return {put(needed), put(guarded), put(usual), distinct};
}

} // namespace lathe::graph
