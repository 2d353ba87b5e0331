#pragma once

#include "core/graph/graph.h"

#include <vector>

namespace lathe::graph {

/// For Lathe's own partition: a transposition that only one convolution of few channels reads joins its group, such as
/// that of a photo in NCHW before a network in NHWC. The convolution reads its data an element at a time, from any
/// layout, so that nothing is gained by a copy in another (cpu-kernels.md 5).
///
/// `groups` as from fuse(), in topological order; so is the result.
std::vector<std::vector<NodeId>> fuseInputs(const Graph& graph, std::vector<std::vector<NodeId>> groups);

} // namespace lathe::graph
