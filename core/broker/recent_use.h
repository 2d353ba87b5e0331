#pragma once

#include "core/broker/turns.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace lathe::broker {

/// How long each user had devices of one key of late, in seconds: use counts half after ten minutes. Everyone who hears
/// the same notices finds about the same, so that turns are decided alike everywhere, and shown as they are decided.
class RecentUse
{
public:
    /// Counts what passed since the last call. `having`: who has devices, once for each.
    void pass(TurnClock::time_point now, const std::vector<std::string>& having);
    const std::map<std::string, double>& seconds() const { return m_seconds; } ///< by user

private:
    std::map<std::string, double> m_seconds;
    std::optional<TurnClock::time_point> m_counted;
};

} // namespace lathe::broker
