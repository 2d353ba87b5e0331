#include "core/broker/recent_use.h"

#include <cmath>

namespace lathe::broker {

namespace {

constexpr double kHalfLifeSeconds = 600;
/// Devices that name ever new users are a flood.
constexpr std::size_t kMostUsers = 10'000;

} // namespace

void RecentUse::pass(TurnClock::time_point now, const std::vector<std::string>& having)
{
    const double passed = m_counted ? std::chrono::duration<double>(now - *m_counted).count() : 0;
    m_counted = now;
    if (passed <= 0)
        return;
    const double kept = std::exp2(-passed / kHalfLifeSeconds);
    for (auto& [user, seconds] : m_seconds)
        seconds *= kept;
    std::erase_if(m_seconds, [](const auto& entry) { return entry.second < 1e-3; });
    for (const std::string& user : having)
        if (m_seconds.contains(user) || m_seconds.size() < kMostUsers)
            m_seconds[user] += passed;
}

} // namespace lathe::broker
