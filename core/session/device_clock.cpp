#include "core/session/device_clock.h"

#include "core/session/condition_texts.h"
#include "core/session/device_directory.h"
#include "core/support/json_fields.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace lathe::session {

CostClock clockOf(const BackendTraits& traits, const std::string& fingerprint)
{
    const std::string told = textIn(nlohmann::json::parse(fingerprint, nullptr, false), "clock");
    return told == "model" ? CostClock::Model : traits.clock;
}

bool givesTimesOfModel(const std::string& kind, const std::string& deviceName)
{
    const DeviceDirectory directory = DeviceDirectory::ask(kind);
    return std::ranges::any_of(directory.all(), [&](const DeviceView& device) {
        return device.ready() && deviceNameOf(device.fingerprint) == deviceName
               && clockOf({}, device.fingerprint) == CostClock::Model;
    });
}

} // namespace lathe::session
