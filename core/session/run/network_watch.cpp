#include "core/session/run/network_watch.h"

#include "core/support/message.h"
#include "core/support/stop_after.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace lathe::session {

using nlohmann::json;

namespace {

/// Of a budget in time: the untuned network, for comparison, may take no more of it.
constexpr double kUntunedShare = 0.25;

} // namespace

/// Of a budget in time: what measuring the whole network at the end will take, by what it took last.
void NetworkWatch::reserve()
{
    // The first time, with default schedules, winograd's weights were transformed, which later ones share.
    const double likely = std::isfinite(m_measuredMs) ? 1.1 : 0.6;
    m_parts.clock.reserveForNetwork(std::min(likely * m_seconds, 0.3 * m_parts.options.seconds));
}

Result<> NetworkWatch::measureIfDue(std::stop_token stop)
{
    const bool due = m_parts.clock.atSeconds() - m_at > std::max(60.0, 20 * m_seconds);
    return due && m_parts.scheduler.estimatedLatency() < 0.97 * m_estimate ? measure(false, stop) : Result<>();
}

Result<> NetworkWatch::measure(bool untuned, std::stop_token stop)
{
    if (!m_measure)
        return {};
    const double budget = m_parts.options.seconds;
    const auto activity = m_parts.clock.account().in("whole network");
    const double begun = m_parts.clock.atSeconds();
    const StopAfter end(stop, untuned && budget > 0 ? kUntunedShare * budget : std::numeric_limits<double>::infinity());
    auto measured = m_measure(untuned, {m_parts.conditions(), m_parts.options.strict}, end.token());
    m_at = m_parts.clock.atSeconds();
    m_seconds = m_at - begun;
    m_estimate = m_parts.scheduler.estimatedLatency();
    if (measured && !untuned)
        m_measuredMs = measured->ms;
    reserve();
    if (!measured && end.token().stop_requested() && !stop.stop_requested())
        return m_parts.journal.keep(logged(say(Msg::UntunedNotMeasured, 100 * kUntunedShare)));
    if (!measured)
        return m_parts.journal.keep(told(measured.error().code, say(Msg::MeasuringNetwork, measured.error())));
    m_parts.journal.tell({Event{m_at, *measured}});
    const json kept = {
        {"ms", measured->ms}, {"max_rel_error", measured->maxRelError}, {"estimated_ms", toJson(measured->estimated)}};
    return m_parts.journal.addEvent(m_at, untuned ? "untuned" : "measured", kept.dump());
}

} // namespace lathe::session
