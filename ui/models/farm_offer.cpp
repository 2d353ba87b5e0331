#include "ui/models/farm_offer.h"

#include <algorithm>
#include <map>
#include <set>

namespace lathe::ui {

namespace {
/// A list to choose from that is longer helps nobody.
constexpr std::size_t kMostKeys = 100;
} // namespace

bool FarmOffer::Key::isFor(const std::string& target) const
{
    return kinds.empty() || std::ranges::find(kinds, target.substr(0, target.find(' '))) != kinds.end();
}

FarmOffer FarmOffer::of(const FarmLink& farm)
{
    FarmOffer offer;
    offer.state = farm.state();
    offer.place = farm.place();
    std::map<std::string, std::set<std::string>> kinds; // by key
    for (const session::FarmDeviceView& device : farm.view().devices)
        for (const session::FarmDeviceView::Part& part : device.parts)
            kinds[device.key].insert(part.kind);
    for (const session::FarmKeyView& key : farm.view().keys) {
        if (offer.keys.size() >= kMostKeys)
            break;
        const std::set<std::string>& ofKey = kinds[key.key];
        offer.keys.push_back({QString::fromStdString(key.key),
                              static_cast<int>(key.total),
                              static_cast<int>(key.free),
                              {ofKey.begin(), ofKey.end()}});
    }
    return offer;
}

QString plainBroker(const QString& address)
{
    for (const QLatin1String scheme : {QLatin1String("nats://"), QLatin1String("tls://")})
        if (address.startsWith(scheme))
            return address.mid(scheme.size());
    return address;
}

} // namespace lathe::ui
