#pragma once

#include "core/support/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lathe::templates {

/// Which orders of loops there are to choose from (autotvm.md 2.2).
enum class ReorderPolicy : std::uint8_t
{
    Identity,
    All, ///< every permutation, in lexicographic order
    IntervalAll, ///< those of the axes in [begin, end) alone
    Candidates, ///< the orders that are given
    /// Outer parts of the spatial chains merged, then their innermost axes and the reduction chains merged.
    Interleave,
    /// Outer parts of the spatial chains merged, the reduction chains merged, then the spatial innermost axes.
    InterleaveCuda
};

/// An axis is named by its position among `axes` axes.
struct ReorderRule
{
    std::int32_t axes = 0;
    ReorderPolicy policy = ReorderPolicy::Identity;
    std::int32_t begin = 0, end = 0;
    std::vector<std::vector<std::int32_t>> candidates = {};
    /// Chains of nested loops, outermost first; a chain keeps its order when chains are merged.
    std::vector<std::vector<std::int32_t>> spatial = {}, reduce = {};
};

/// Errors: InvalidArgument for axes that do not exist and more than kMaxChoices orders; `knob` is named in it.
Result<std::vector<std::vector<std::int32_t>>> reorderChoices(const std::string& knob, const ReorderRule& rule);

} // namespace lathe::templates
