#pragma once

#include "plugins/cuda/model/sass_loops.h"

namespace lathe::cuda {

/// How often a loop runs once it is reached, if the code alone tells: its closing branch tests a predicate that one
/// comparison in the loop sets; that compares a constant with a register that each pass changes by a constant; and the
/// register's value before the loop is a constant. Sums of several instructions and of the uniform unit are followed.
std::optional<std::uint64_t> tripsOf(const SassKernel& kernel, const SassLoop& loop);

} // namespace lathe::cuda
