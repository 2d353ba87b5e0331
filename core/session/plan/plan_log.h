#pragma once

#include "core/session/loaded_model.h"
#include "core/session/plan/network_plan.h"
#include "core/support/result.h"

#include <cstdint>
#include <filesystem>

namespace lathe::session {

/// NetworkLayouts::writeLog(): a line for each function, in the order in which the reference reads them again
/// (autotvm.md 11). Written whole, unlike the reference's, which adds to what is there.
Result<std::int64_t> writePlanLog(const NetworkPlan& plan, const LoadedModel& model, const std::filesystem::path& file);

} // namespace lathe::session
