#pragma once

#include "core/templates/config_space.h"

namespace lathe::templates {

// Configurations for where nothing was measured (autotvm.md 2.5). A template has a rule of its own (template_table.h),
// or takes over what was best for similar workloads.

/// The first choice of each knob, which rules then change.
Config plainFallback(const ConfigSpace& space);

/// From the innermost size outwards the largest divisor of what remains that is not above its limit; -1: no limit. 128
/// into 3 with [-1, 8, 4] is [4, 8, 4], 49 is [7, 7, 1].
/// Errors: InvalidArgument if there is no such divisor, or the limits are no list of sizes.
Result<SplitEntity> fallbackSplit(std::int64_t extent, std::span<const std::int64_t> limits);

/// Splits a knob of two sizes so, the inner one not above `limit`. Errors: as fallbackSplit().
Result<> setLimited(Config& config, const std::string& knob, std::int64_t extent, std::int64_t limit);

/// A good configuration of another workload of the same template.
struct Reference
{
    const ConfigSpace* space = nullptr; ///< of its workload
    const Config* config = nullptr;
};

/// How alike the axes of two spaces are: the sum over our splits of |divisors that both axes have| / |our axis's|.
double likeness(const ConfigSpace& ours, const ConfigSpace& theirs);

/// What the most similar reference chose (of equal ones the first): its sizes limit ours (fallbackSplit, the outermost
/// without a limit), its other knobs are taken as they are. plainFallback() where there is no similar one.
Config fallbackLike(const ConfigSpace& space, std::span<const Reference> references);

} // namespace lathe::templates
