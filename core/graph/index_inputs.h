#pragma once

#include "core/graph/graph.h"

#include <cstdint>
#include <vector>

namespace lathe::graph {

/// For each graph input how many places its values can name: those of the smallest tensor that values computed from it
/// pick from (OpTraits::picksFrom). 0: it is no integer, or nothing picks by it, so that any value will do.
std::vector<std::int64_t> indexInputs(const Graph& graph);

} // namespace lathe::graph
