#pragma once

#include "core/graph/task.h"

#include <cstdint>
#include <vector>

namespace lathe::graph {

/// The tasks in the order in which the reference lowers their functions, arguments before what reads them, each at its
/// first occurrence: the order of its template tuner's tasks (autotvm.md 5.1). Indices into Partition::tasks, each
/// once.
std::vector<std::int32_t> loweringOrder(const Graph& graph, const Partition& partition);

} // namespace lathe::graph
