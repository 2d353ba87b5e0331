#pragma once

#include "core/session/time_spent.h"
#include "core/support/result.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>

namespace lathe::store {
class Project;
}

namespace lathe::session {

/// As members "activities" and "workers" of an object.
void putTimeSpent(nlohmann::json& object, const TimeSpent& time);
TimeSpent timeSpentIn(const nlohmann::json& object);
/// Of a stored "finals" event.
TimeSpent finalsTimeIn(const nlohmann::json& event);

/// All that a run's rounds, finals and ends tell. Errors: StoreFailed.
Result<TimeSpent> storedTime(const store::Project& project, std::int64_t session);

} // namespace lathe::session
