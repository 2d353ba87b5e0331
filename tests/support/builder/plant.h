#pragma once

#include "core/schedule/lower.h"
#include "plugins/sim/fault.h"

namespace lathe::test {

/// Makes a lowered kernel misbehave when it runs, for tests of what surrounds it: Crash, Hang, Wrong and OutOfBounds
/// become statements of the nest, so that any generator emits them. Other faults leave it as it is.
void plantFault(schedule::LoweredKernel& kernel, sim::Fault fault);

/// Leaves a nest that computes what it did, but is not what lowering may hand on (core/ir/verify.h): a parameter that
/// nobody passes.
void plantMalformed(schedule::LoweredKernel& kernel);

} // namespace lathe::test
