#pragma once

#include "core/compute/dag.h"

namespace lathe::compute {

/// Floating point (or integer, for integer tensors) operations of one run, as the reference counts
/// (auto-scheduler.md 1.3). An attribute FLOP on an operation overrides its count.
double flop(const Dag& dag);

} // namespace lathe::compute
