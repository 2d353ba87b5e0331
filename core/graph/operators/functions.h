#pragma once

#include "core/graph/operators/rules.h"
#include "core/runtime/functions/functions.h"
#include "core/runtime/index_map.h"
#include "core/support/element_count.h"

#include <fmt/format.h>

#include <array>
#include <bit>

namespace lathe::graph::operators {

/// A call with a parameter struct of core/runtime/functions/functions.h, which holds 64-bit integers alone.
template<typename Parameters>
FunctionCall functionCall(std::vector<std::string> phases, const Parameters& parameters)
{
    static_assert(sizeof(Parameters) % sizeof(std::int64_t) == 0);
    const auto numbers = std::bit_cast<std::array<std::int64_t, sizeof(Parameters) / sizeof(std::int64_t)>>(parameters);
    FunctionCall call;
    call.phases = std::move(phases);
    call.parameters.assign(numbers.begin(), numbers.end());
    return call;
}

/// Errors: InvalidArgument if functions cannot be given a tensor of so many dimensions.
inline Result<> needRunnable(std::size_t rank)
{
    if (rank > static_cast<std::size_t>(kMaxRank))
        return brokenRule(fmt::format("there are {} dimensions, {} can be run", rank, kMaxRank));
    return {};
}

/// A shape seen along one dimension.
inline runtime::RowsParameters rowsAlong(const Shape& shape, std::size_t axis)
{
    return {elementCount(std::span(shape).first(axis)), shape[axis], elementCount(std::span(shape).subspan(axis + 1))};
}

} // namespace lathe::graph::operators
