#include "core/session/farm_kinds.h"

#include "core/session/back_ends.h"

#include <algorithm>
#include <set>

namespace lathe::session {

std::vector<std::string> kindsOffered(const FarmView& farm, const std::string& key, const std::string& device)
{
    std::set<std::string> kinds;
    for (const FarmDeviceView& offered : farm.devices)
        if (offered.key == key && offered.state != FarmDeviceState::Lost && (device.empty() || offered.name == device))
            for (const FarmDeviceView::Part& part : offered.parts)
                kinds.insert(part.kind);
    const auto isModel = [](const std::string& kind) {
        const auto target = parseTarget(kind);
        return target && target->traits().clock == CostClock::Model;
    };
    if (!std::ranges::all_of(kinds, isModel))
        std::erase_if(kinds, isModel);
    return {kinds.begin(), kinds.end()};
}

std::string hardwareOffered(const FarmView& farm, const std::string& key, const std::string& kind)
{
    for (const FarmDeviceView& offered : farm.devices)
        if (offered.key == key && offered.state != FarmDeviceState::Lost)
            for (const FarmDeviceView::Part& part : offered.parts)
                if (part.kind == kind && !part.hardware.empty())
                    return part.hardware;
    return {};
}

} // namespace lathe::session
