#include "core/session/farm_history.h"

#include <algorithm>
#include <set>

namespace lathe::session {

namespace {

void addFault(FarmHistory::Device& device, FarmFault fault)
{
    device.faults.push_back(std::move(fault));
    if (device.faults.size() > FarmHistory::kMostFaults)
        device.faults.pop_front();
}

/// Every second one goes, and what remains still reaches from the first to nearly the latest.
void thin(std::vector<FarmHistory::Sample>& samples)
{
    std::size_t kept = 0;
    for (std::size_t i = 0; i < samples.size(); i += 2)
        samples[kept++] = samples[i];
    samples.resize(kept);
}

} // namespace

void FarmHistory::take(const FarmView& view, Time now)
{
    if (!m_hasBegun)
        m_began = now;
    m_hasBegun = true;
    // A clock that is set back adds nothing, and breaks the order of no curve.
    m_seconds = std::max(m_seconds, std::chrono::duration<double>(now - m_began).count());
    if (view.connected && !m_isConnected)
        m_connected = now;
    m_isConnected = view.connected;
    if (!view.connected)
        return;
    makeRoom(view);
    for (const FarmDeviceView& device : view.devices) {
        const auto known = m_devices.find({device.key, device.name});
        if (known != m_devices.end())
            takeDevice(known->second, device, now);
        else if (m_devices.size() < kMostDevices)
            takeDevice(m_devices[{device.key, device.name}], device, now);
    }
}

void FarmHistory::takeDevice(Kept& kept, const FarmDeviceView& device, Time now)
{
    kept.seen = m_seconds;
    if (device.state == FarmDeviceState::Lost) {
        if (!kept.isLost && now - m_connected >= kListen) {
            kept.isLost = true;
            addFault(kept.device, {FarmFault::Kind::Lost, now, {}});
        }
        kept.isKnown = true;
        return; // what it says of itself is of the time before
    }
    const bool isSick = device.state == FarmDeviceState::Sick;
    if (kept.isKnown && device.lastError != kept.lastError && !device.lastError.empty() && !isSick)
        addFault(kept.device, {FarmFault::Kind::Failed, now, device.lastError});
    if (isSick && (!kept.isSick || device.lastError != kept.lastError))
        addFault(kept.device, {FarmFault::Kind::Sick, now, device.lastError});
    else if (!isSick && (kept.isSick || kept.isLost))
        addFault(kept.device, {FarmFault::Kind::Back, now, {}});
    kept.isKnown = true;
    kept.isLost = false;
    kept.isSick = isSick;
    kept.lastError = device.lastError;
    takeHealth(kept, device.health);
}

void FarmHistory::takeHealth(Kept& kept, const std::map<std::string, double>& health) const
{
    if (kept.sampled >= 0 && m_seconds - kept.sampled < kept.step)
        return;
    kept.sampled = m_seconds;
    bool isFull = false;
    for (const auto& [name, value] : health) {
        const auto known = kept.device.health.find(name);
        if (known == kept.device.health.end() && kept.device.health.size() >= kMostFigures)
            continue;
        std::vector<Sample>& samples = kept.device.health[name];
        samples.push_back({m_seconds, value});
        isFull = isFull || samples.size() >= kMostSamples;
    }
    if (!isFull)
        return;
    for (auto& [name, samples] : kept.device.health)
        thin(samples);
    // From now on as far apart as what is left.
    for (const auto& [name, samples] : kept.device.health)
        if (samples.size() > 1)
            kept.step = std::max(kept.step, (samples.back().seconds - samples.front().seconds)
                                                / static_cast<double>(samples.size() - 1));
}

/// Those that are not in the view go first, of these the ones that were not seen for longest.
void FarmHistory::makeRoom(const FarmView& view)
{
    std::set<std::pair<std::string, std::string>> here;
    std::size_t added = 0;
    for (const FarmDeviceView& device : view.devices)
        if (here.insert({device.key, device.name}).second)
            added += m_devices.contains({device.key, device.name}) ? 0 : 1;
    while (m_devices.size() + added > kMostDevices) {
        auto oldest = m_devices.end();
        for (auto each = m_devices.begin(); each != m_devices.end(); ++each)
            if (!here.contains(each->first) && (oldest == m_devices.end() || each->second.seen < oldest->second.seen))
                oldest = each;
        if (oldest == m_devices.end())
            return;
        m_devices.erase(oldest);
    }
}

const FarmHistory::Device* FarmHistory::find(const std::string& key, const std::string& device) const
{
    const auto kept = m_devices.find({key, device});
    return kept == m_devices.end() ? nullptr : &kept->second.device;
}

} // namespace lathe::session
