#include "core/session/condition_texts.h"

#include "core/support/json_fields.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace lathe::session {

std::string deviceNameOf(const std::string& fingerprint)
{
    const std::string name = textIn(nlohmann::json::parse(fingerprint, nullptr, false), "name");
    return name.empty() ? "an unknown device" : name;
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
