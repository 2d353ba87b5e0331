#include "core/broker/roster.h"

#include <algorithm>
#include <ranges>

namespace lathe::broker {

namespace {

/// What has passed is counted so often, however many notices come.
constexpr std::chrono::milliseconds kPassEach(250);

std::chrono::milliseconds millisecondsOf(Roster::Clock::duration span)
{
    return std::max(std::chrono::duration_cast<std::chrono::milliseconds>(span), std::chrono::milliseconds(0));
}

/// What somebody says that he has had or waited for, as a point in time.
Roster::Time before(Roster::Time now, std::chrono::milliseconds span)
{
    return now - std::clamp<std::chrono::milliseconds>(span, std::chrono::milliseconds(0), std::chrono::hours(24 * 7));
}

bool isGiven(const DeviceNotice& notice)
{
    return notice.state != DeviceState::Drained && notice.state != DeviceState::Sick && !notice.ticket.empty();
}

} // namespace

void Roster::hear(const DeviceNotice& notice, Time now)
{
    if (notice.key.empty() || notice.device.empty())
        return;
    pass(now);
    const Name name(notice.key, notice.device);
    auto known = m_devices.find(name);
    if (known == m_devices.end() && m_devices.size() >= kMostDevices)
        return;
    if (known == m_devices.end())
        known = m_devices.emplace(name, HeardDevice{{}, now, now, now}).first;
    HeardDevice& device = known->second;
    if (isSilent(device.last, now))
        device.first = now;
    m_aboutBytes -= device.notice.about.size();
    device.notice = notice;
    if (m_aboutBytes + notice.about.size() > kMostAboutBytes)
        device.notice.about.clear();
    m_aboutBytes += device.notice.about.size();
    device.last = now;
    device.since = before(now, notice.had);
}

void Roster::hear(const ClaimNotice& notice, Time now)
{
    if (notice.key.empty() || notice.ticket.empty())
        return;
    pass(now);
    const Name name(notice.key, notice.ticket);
    const auto known = m_claims.find(name);
    if (known == m_claims.end() && m_claims.size() >= kMostClaims)
        return;
    const bool isThere = known != m_claims.end() && !isSilent(known->second.last, now);
    if (isThere && known->second.notice.user != notice.user) // a ticket is his who named it first
        return;
    // As a desk does it: nobody gets ahead by saying later that he waited longer.
    const Time since = isThere ? known->second.since : before(now, notice.waited);
    m_claims[name] = {notice, since, now};
}

void Roster::pass(Time now)
{
    if (m_passed && now - *m_passed < kPassEach)
        return;
    m_passed = now;
    std::erase_if(m_claims, [&](const auto& entry) { return isSilent(entry.second.last, now); });
    eraseDevices(now, m_devices.size() >= kMostDevices);
    std::map<std::string, std::vector<std::string>> having;
    for (const auto& [name, device] : m_devices)
        if (!device.notice.user.empty() && !isSilent(device.last, now))
            having[name.first].push_back(device.notice.user);
    for (auto& [key, recent] : m_recent)
        if (!having.contains(key))
            recent.pass(now, {});
    for (const auto& [key, users] : having)
        m_recent[key].pass(now, users);
    std::erase_if(m_recent,
                  [&](const auto& entry) { return entry.second.seconds().empty() && !having.contains(entry.first); });
}

/// `full`: those that are lost make room at once.
void Roster::eraseDevices(Time now, bool full)
{
    std::erase_if(m_devices, [&](const auto& entry) {
        const HeardDevice& device = entry.second;
        const bool isGone = isSilent(device.last, now)
                            && (full || now - device.last >= m_options.memory
                                || device.notice.state == DeviceState::Drained);
        m_aboutBytes -= isGone ? device.notice.about.size() : 0;
        return isGone;
    });
}

KeyState Roster::stateOf(const std::string& key, Time now) const
{
    KeyState state;
    const auto ofKey = [&](const auto& all) {
        const auto isOfKey = [&](const auto& entry) { return entry.first.first == key; };
        const auto first = all.lower_bound({key, {}});
        return std::ranges::subrange(first, std::find_if_not(first, all.end(), isOfKey));
    };
    for (const auto& [name, heard] : ofKey(m_claims))
        if (!isSilent(heard.last, now))
            state.claims.push_back({heard.notice.ticket, heard.notice.user, heard.notice.priority, heard.since,
                                    TurnClock::time_point::min(), heard.notice.most});
    for (const auto& [name, heard] : ofKey(m_devices))
        if (isGiven(heard.notice) && !isSilent(heard.last, now))
            state.devices.push_back({heard.notice.device, heard.notice.ticket, heard.since});
    if (const auto recent = m_recent.find(key); recent != m_recent.end())
        state.recentSeconds = recent->second.seconds();
    return state;
}

RosterState Roster::at(Time now)
{
    pass(now);
    RosterState state;
    std::map<std::string, RosterState::Key> keys;
    for (const auto& [name, heard] : m_devices) {
        const bool isLost = isSilent(heard.last, now);
        if (isLost && heard.notice.state == DeviceState::Drained)
            continue;
        RosterState::Key& key = keys[name.first];
        key.total += isLost ? 0 : 1;
        key.free += !isLost && heard.notice.state == DeviceState::Free ? 1 : 0;
        state.devices.push_back(
            {heard.notice, millisecondsOf(now - heard.first), millisecondsOf(now - heard.last), isLost});
        if (isGiven(heard.notice) && !isLost)
            state.devices.back().notice.had = millisecondsOf(now - heard.since);
    }
    for (const auto& [name, heard] : m_claims)
        if (!isSilent(heard.last, now))
            keys[name.first];
    for (auto& [name, key] : keys) {
        key.key = name;
        const KeyState turns = stateOf(name, now);
        std::map<std::string, std::size_t> held;
        for (const DeviceTurn& turn : turns.devices)
            ++held[turn.ticket];
        for (const std::string& ticket : queueOf(turns)) {
            const HeardClaim& heard = m_claims.at({name, ticket});
            const auto has = held.find(ticket);
            const bool isPending = has == held.end();
            key.pending += isPending ? 1 : 0;
            state.claims.push_back({heard.notice, isPending ? 0 : has->second, isPending ? key.pending : 0});
            state.claims.back().notice.waited = millisecondsOf(now - heard.since);
        }
        state.keys.push_back(key);
    }
    return state;
}

} // namespace lathe::broker
