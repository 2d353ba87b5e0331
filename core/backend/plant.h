#pragma once

#include "core/backend/fault_script.h"
#include "core/schedule/lower.h"

namespace lathe::backend {

/// Makes a lowered kernel misbehave when it runs, for tests of what surrounds it: Crash, Hang, Wrong and OutOfBounds
/// become statements of the nest, so that any generator emits them. Other faults leave it as it is.
void plantFault(schedule::LoweredKernel& kernel, Fault fault);

/// Acts out BuildCrash and BuildHang here and now; BuildFailed is the Error.
Result<> actBuildFault(Fault fault);

} // namespace lathe::backend
