#pragma once

#include "core/session/options/options.h"
#include "core/support/result.h"

#include <chrono>
#include <string_view>

namespace lathe::session {

/// How long to tune, in a person's words, English or Chinese: "20 min", "1.5 h", "1000 trials", "until 18:00", "until
/// the last hour gained under 0.1 %", "20 分钟", "1000 次", "到 18:00", "直到最近 1 小时提升不到 0.1 %"; several with
/// commas or "or" ("或"): the first that comes true ends the run. A bare number counts minutes. Sets seconds, trials,
/// minGainPercent and gainWindowSeconds of `options`, the others stay. `sinceMidnight`: what the clock on the wall
/// shows, for "until". InvalidArgument with the part that is not understood.
Result<> applyBudget(std::string_view text, std::chrono::seconds sinceMidnight, TuneOptions& options);

/// What this machine's clock shows.
std::chrono::seconds localTime();

} // namespace lathe::session
