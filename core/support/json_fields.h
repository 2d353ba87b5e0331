#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <limits>
#include <map>
#include <string>

namespace lathe {

// Members of JSON that others wrote, or damaged: what is absent, of another kind or in something that is no object
// reads as the fallback.

double numberIn(const nlohmann::json& object, const char* key,
                double fallback = std::numeric_limits<double>::quiet_NaN());
std::int64_t wholeIn(const nlohmann::json& object, const char* key, std::int64_t fallback = 0);
bool flagIn(const nlohmann::json& object, const char* key);
std::string textIn(const nlohmann::json& object, const char* key, std::string fallback = {});
/// A member that is an object, else an empty one.
nlohmann::json partIn(const nlohmann::json& object, const char* key);
/// All members that are numbers.
std::map<std::string, double> numbersIn(const nlohmann::json& object);

} // namespace lathe
