#pragma once

#include "core/graph/operator.h"

namespace lathe::graph::operators {

/// The tables of the operator families. Each is built on first use and lives until the process ends.
std::span<const OpDef> controlOperators();
std::span<const OpDef> convolutionOperators();
std::span<const OpDef> countedOperators(); ///< whose results are as large as the data says
std::span<const OpDef> elementwiseOperators();
std::span<const OpDef> broadcastOperators();
std::span<const OpDef> indexingOperators();
std::span<const OpDef> matmulOperators();
std::span<const OpDef> normOperators();
std::span<const OpDef> orderingOperators();
std::span<const OpDef> poolOperators();
std::span<const OpDef> quantizeOperators();
std::span<const OpDef> reduceOperators();
std::span<const OpDef> reshapeOperators();
std::span<const OpDef> samplingOperators(); ///< grids, regions of interest
std::span<const OpDef> scatterOperators();
std::span<const OpDef> sliceOperators();
std::span<const OpDef> windowOperators(); ///< laid out and put back

} // namespace lathe::graph::operators
