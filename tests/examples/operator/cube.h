#pragma once

#include "core/graph/operator.h"

namespace lathe::examples {

/// x^3 of floats, element by element.
graph::OpDef cube();

} // namespace lathe::examples
