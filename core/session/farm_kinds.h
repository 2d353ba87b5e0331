#pragma once

#include "core/session/farm_view.h"

#include <string>
#include <vector>

namespace lathe::session {

/// The kinds of targets that devices of a key have, by name; where there are others, without those whose costs are a
/// model's. @param device  the only one that is looked at; empty: all that are not lost
std::vector<std::string> kindsOffered(const FarmView& farm, const std::string& key, const std::string& device = {});

/// The hardware parameters that a device of a key tells for targets of a kind, as readHardware() takes them; empty:
/// none does.
std::string hardwareOffered(const FarmView& farm, const std::string& key, const std::string& kind);

} // namespace lathe::session
