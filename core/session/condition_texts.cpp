#include "core/session/condition_texts.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace lathe::session {

std::string deviceNameOf(const std::string& fingerprint)
{
    const nlohmann::json device = nlohmann::json::parse(fingerprint, nullptr, false);
    if (device.is_object() && device.contains("name") && device["name"].is_string() && !device["name"].get_ref<const std::string&>().empty())
        return device["name"].get<std::string>();
    return "an unknown device";
}

std::string cacheWord(std::int64_t coldBytes)
{
    return coldBytes > 0 ? "cold" : coldBytes < 0 ? "as in the network" : "warm";
}

std::string differenceOf(const store::Conditions& there, const store::Conditions& here)
{
    std::string text;
    if (there.device != here.device) {
        const std::string a = deviceNameOf(there.device), b = deviceNameOf(here.device);
        text = a == b ? fmt::format("measured on {} with other hardware parameters", a) : fmt::format("measured on {}, not on {}", a, b);
    }
    if (there.coldBytes == here.coldBytes)
        return text;
    const std::string a = cacheWord(there.coldBytes), b = cacheWord(here.coldBytes);
    text += text.empty() ? "measured " : ", ";
    return text + (a == b ? fmt::format("with caches {} over another size", a) : fmt::format("with caches {}, not {}", a, b));
}

} // namespace lathe::session
