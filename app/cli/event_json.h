#pragma once

#include "core/session/events.h"

namespace lathe::cli {

/// One event as one line of JSON (design.md 7). Unknown numbers are left out.
std::string eventLine(const session::Event& event);

} // namespace lathe::cli
