// When a tuning run measures its whole network, and what that may take.

#include "core/session/tuning_run.h"
#include "core/support/stop_after.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace lathe::session {

using nlohmann::json;

namespace {

/// Of a budget in time: the untuned network, for comparison, may take no more of it.
constexpr double kUntunedShare = 0.25;

} // namespace

/// Of a budget in time: what measuring the whole network at the end will take, by what it took last.
double TuningRun::networkReserve() const
{
    // The first time, with default schedules, winograd's weights were transformed, which later ones share.
    const double likely = std::isfinite(m_measuredMs) ? 1.1 : 0.6;
    return std::min(likely * m_networkSeconds, 0.3 * m_options.seconds);
}

Result<> TuningRun::measureWhole(bool untuned, std::stop_token stop)
{
    if (!m_setup.measureNetwork)
        return {};
    const auto activity = m_time.in("whole network");
    const double begun = atSeconds();
    const StopAfter end(stop, untuned && m_options.seconds > 0 ? kUntunedShare * m_options.seconds : std::numeric_limits<double>::infinity());
    auto measured = m_setup.measureNetwork(untuned, {conditions(), m_options.strict}, end.token());
    m_networkAt = atSeconds();
    m_networkSeconds = m_networkAt - begun;
    m_networkEstimate = m_scheduler->estimatedLatency();
    if (!measured && end.token().stop_requested() && !stop.stop_requested())
        return emitKept(logged(say(Msg::UntunedNotMeasured, 100 * kUntunedShare)));
    if (!measured) {
        // The search does not depend on it: said, and gone on.
        return emitKept(told(measured.error().code, say(Msg::MeasuringNetwork, measured.error())));
    }
    if (!untuned)
        m_measuredMs = measured->ms;
    emit({Event{m_networkAt, *measured}});
    if (m_setup.project != nullptr)
        LATHE_TRY(m_setup.project->addEvent(m_session, m_networkAt, untuned ? "untuned" : "measured",
                                            json({{"ms", measured->ms}, {"max_rel_error", measured->maxRelError}, {"estimated_ms", toJson(measured->estimated)}}).dump()));
    return {};
}

} // namespace lathe::session
