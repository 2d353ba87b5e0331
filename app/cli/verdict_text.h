#pragma once

#include "core/session/events.h"

#include <string>

namespace lathe::cli {

/// What a verdict says, for people: the gain, whether it can be believed and why not, and what can be done.
std::string verdictText(const session::VerdictEvent& verdict);
/// The same for programs: members "text", "believable", "gain", "machine", "findings".
nlohmann::json verdictJson(const session::VerdictEvent& verdict);

} // namespace lathe::cli
