#pragma once

#include "core/session/events.h"
#include "core/store/project.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::session {

// How events of the network are kept in a project: the content of its rows of kind "untuned" and "measured", and of
// kind "verdict". What is absent, as in projects of older versions, or damaged, reads as unknown.

nlohmann::json toJson(const MeasuredEvent& measured);
MeasuredEvent measuredIn(const nlohmann::json& object, bool untuned);

nlohmann::json toJson(const VerdictEvent& verdict);
VerdictEvent verdictIn(const nlohmann::json& object);

// As a run tells them, from what it stores:

/// What a row of the events' table tells; nothing where it tells views nothing, or of another network's tasks. The
/// bests that finals decided come before the finals, the estimate behind them.
std::vector<Event> eventsOf(std::string_view kind, double atSeconds, const nlohmann::json& event, std::size_t tasks);
/// Of a row of kind "done"; `time` is not stored there whole.
DoneEvent doneIn(double atSeconds, const nlohmann::json& event);
/// Of a round's durations, or of a row of kind "done": RoundDoneEvent::rejected.
std::int64_t rejectedIn(const nlohmann::json& durations);
/// The JSON that withAbout() made.
About aboutIn(const nlohmann::json& event);

/// That a round begins: the content of a row of kind "asked", with what it asks its policy for.
nlohmann::json toJson(const RoundEvent& begins, std::string_view taskKey);
/// Of such a row; task -1: `taskOf` does not know its key, or it is of a version that did not store it.
RoundEvent roundBegunIn(const nlohmann::json& event, const std::function<std::int32_t(const std::string&)>& taskOf);

/// How a stored round began, and what was told at its end, apart from its trials: the task's best, where a runoff
/// decided it, the round's end, the estimate. `atSeconds` is where it ended.
RoundEvent roundBegunOf(const store::RoundRow& round, std::int32_t task);
std::vector<Event> roundEndOf(const store::RoundRow& round, std::int32_t task, double atSeconds);

} // namespace lathe::session
