#include "core/session/condition_texts.h"

#include "core/support/json_fields.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <optional>

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

Message differenceOf(const store::Conditions& there, const store::Conditions& here)
{
    std::optional<Message> device;
    if (there.deviceKey != here.deviceKey) {
        const Message a = phrase(deviceNameOf(there.fingerprint)), b = phrase(deviceNameOf(here.fingerprint));
        device = textOf(a) == textOf(b) ? say(Msg::OtherHardware, a) : say(Msg::OtherDevice, a, b);
    }
    if (there.coldBytes == here.coldBytes && device)
        return *device;
    const Message a = phrase(cacheWord(there.coldBytes)), b = phrase(cacheWord(here.coldBytes));
    if (!device)
        return a.id == b.id ? say(Msg::OtherCacheSize, a) : say(Msg::OtherCache, a, b);
    return a.id == b.id ? say(Msg::WithCacheSize, *device, a) : say(Msg::WithCache, *device, a, b);
}

} // namespace lathe::session
