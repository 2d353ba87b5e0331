#pragma once

#include "core/session/layout_part.h"
#include "core/session/plan/network_plan.h"

namespace lathe::session {

/// A plan as views take it, which works out what wishes change.
std::shared_ptr<const NetworkLayouts> viewLayouts(NetworkPlan plan);

} // namespace lathe::session
