#pragma once

#include "core/compute/name_era.h"
#include "core/graph/graph.h"
#include "core/target/target.h"

#include <string>
#include <vector>

namespace lathe::graph {

/// Which algorithm the reference compiler takes for a node when its auto-scheduler is on: "direct", for conv2d also
/// "winograd:2" or "winograd:4" (auto-scheduler.md 2.4). Its implementations carry fixed priorities, so that the choice
/// needs no measurement.
std::string referenceAlgorithm(const Graph& graph, const Node& conv, const Target& target);

/// All algorithms that Lathe lets compete for a convolution of images; "direct" is the first.
std::vector<std::string> algorithmsFor(const Graph& graph, const Node& conv);

/// The reference expands operands to full rank where it knows a layout; after a dense layer it did not in its first two
/// eras.
bool referenceKeepsShortOperands(const Node& anchor, compute::NameEra era);

/// m of "winograd:m"; 0 for other algorithms.
std::int64_t winogradTile(std::string_view algorithm);

} // namespace lathe::graph
