#pragma once

#include "core/session/events.h"

namespace lathe::cli {

/// One event as one line of JSON (design.md 7). Unknown numbers are left out.
/// @param isExpected  the run's latencies are a model's: lines with one say "expected": true
std::string eventLine(const session::Event& event, bool isExpected = false);

} // namespace lathe::cli
