#pragma once

#include "core/schedule/state.h"
#include "core/target/target.h"

#include <string>
#include <vector>

namespace lathe::search {

/// The reference's features of a store (auto-scheduler.md 6): 57 of computation, 5 buffers x 18, 10 of the curve of
/// arithmetic intensity, 4 of the allocation, 3 of the outer scope.
inline constexpr std::int32_t kReferenceFeatures = 164;
const std::vector<std::string>& referenceFeatureNames();

/// One row per written buffer, in stage order, by a walk over the loops of a concrete state. Errors: IllegalSchedule.
Result<std::vector<float>> referenceFeatures(const schedule::State& state, const Hardware& hardware);

} // namespace lathe::search
