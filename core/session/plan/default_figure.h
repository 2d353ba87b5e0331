#pragma once

#include "core/session/loaded_model.h"
#include "core/session/plan/network_plan.h"
#include "core/store/project.h"
#include "core/support/result.h"

#include <cstdint>
#include <stop_token>

namespace lathe::session {

/// What the network takes where nothing is tuned: of each function the schedule that an export takes then, as it was
/// measured. Such kernels read and write the network's own layout, so that nothing is converted. Functions without any
/// record count as nothing, as they do in a plan.
struct DefaultFigure
{
    double seconds = 0; ///< of those that were measured
    std::int32_t missing = 0; ///< functions whose default schedule was not, under the conditions of the task's records
};

/// @param project  null: nothing was measured
/// Errors: StoreFailed, Cancelled.
Result<DefaultFigure> defaultFigure(const LoadedModel& model, const store::Project* project, const NetworkPlan& plan,
                                    bool strict, const std::stop_token& stop);

} // namespace lathe::session
