#pragma once

#include "core/graph/operator.h"

#include <vector>

namespace lathe::graph {

/// The same network with float64 wherever it has another float type: evaluated beside the network itself, it tells how
/// much of what comes out is rounding. Large constants are converted when they are looked at. Errors: InvalidArgument
/// if an operator does not take doubles; those of looking at constants.
Result<Graph> inDoubles(const Graph& network);

/// Inputs for it.
std::vector<HostTensor> inDoubles(const std::vector<HostTensor>& tensors);

} // namespace lathe::graph
