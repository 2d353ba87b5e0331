#pragma once

#include "core/session/events.h"
#include "core/session/loaded_model.h"

#include <vector>

namespace lathe::session {

/// What the rules say of a network that was measured, with what is known of its model's target.
VerdictEvent judged(const LoadedModel& model, const MeasuredEvent& measured, const Gain& gain,
                    const measure::MachineState& machine, std::vector<TaskFacts> tasks, const Proposed& proposed);

} // namespace lathe::session
