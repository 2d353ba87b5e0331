#pragma once

#include "core/templates/config_space.h"

#include <span>
#include <vector>

namespace lathe::templates {

/// A configuration and what a model thinks of it; more is better.
struct ScoredIndex
{
    std::uint64_t index = 0;
    float score = 0;
    bool operator==(const ScoredIndex&) const = default;
};

/// Of `candidates`, which are sorted from the best, up to `count` that differ: each time the one that brings the most
/// choices of knobs which none of those before has, and among equals the best (the diversity filter of autotvm.md 7.2).
/// `scoreWeight`: how many new choices a score of 1 is worth; 0, as in the reference: scores only decide among equals.
std::vector<ScoredIndex> pickDiverse(const ConfigSpace& space, std::span<const ScoredIndex> candidates,
                                     std::size_t count, float scoreWeight = 0);

} // namespace lathe::templates
