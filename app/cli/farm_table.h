#pragma once

#include "core/session/farm_view.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace lathe::cli {

/// A farm for people: its devices, its keys and its queue as tables, then what each device says of itself.
/// @param key  only what is of this key; empty: all
std::string farmText(const session::FarmView& farm, const std::string& key);

/// The same for programs, one object.
nlohmann::json farmJson(const session::FarmView& farm, const std::string& key);

/// A span of time for people, in two units at most: "12 s", "3 min 20 s", "2 h 5 min", "3 d 4 h".
std::string spanText(double seconds);

} // namespace lathe::cli
