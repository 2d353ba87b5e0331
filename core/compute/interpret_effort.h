#pragma once

#include "core/compute/dag.h"
#include "core/compute/interpret_program.h"

#include <cstdint>
#include <vector>

namespace lathe::compute {

/// How operations are computed when some points of one are asked for.
struct Effort
{
    std::vector<bool> whole; ///< all points, beforehand
    std::vector<bool> kept; ///< those that are asked for, each once: it takes long sums to compute them
};

/// What to do for so many points of `output`. Whole are those of which at least as many points are needed as they have.
/// Several who need one are counted each, so where values are kept it must be several times as many.
/// @param programs  one for each operation; empty for placeholders
Effort effortFor(const Dag& dag, const std::vector<Program>& programs, std::int32_t output, double points);

} // namespace lathe::compute
