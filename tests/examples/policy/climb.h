#pragma once

#include "core/policy/policy_table.h"

namespace lathe::examples {

/// Hill climbing: begins anywhere, then changes one choice of the best that was measured.
policy::PolicyEntry climb();

} // namespace lathe::examples
