#pragma once

#include "core/session/events.h"

#include <nlohmann/json_fwd.hpp>

namespace lathe::session {

// How events of the network are kept in a project: the content of its rows of kind "untuned" and "measured", and of
// kind "verdict". What is absent, as in projects of older versions, or damaged, reads as unknown.

nlohmann::json toJson(const MeasuredEvent& measured);
MeasuredEvent measuredIn(const nlohmann::json& object, bool untuned);

nlohmann::json toJson(const VerdictEvent& verdict);
VerdictEvent verdictIn(const nlohmann::json& object);

} // namespace lathe::session
