#pragma once

#include "core/ir/loop_nest.h"

namespace lathe::schedule {

/// Writes out unrolled loops on whose variables selects inside depend: matrices of constants (winograd's) are nested
/// selects over unrolled indices, and their zeros are left out only where each element has become a literal. The result
/// wants to be simplified.
ir::Stmt expandConstantMatrices(const ir::Stmt& s);

} // namespace lathe::schedule
