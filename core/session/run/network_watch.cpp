#include "core/session/run/network_watch.h"

#include "core/session/project/stored_events.h"
#include "core/session/run/run_estimate.h"
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
/// Of a budget in time: what either side of the turns may take, and the untuned one at most.
constexpr double kTurnShare = 0.015, kUntunedTurnsShare = 0.05;
/// How much longer turns take where others have all processors. It rests on one observation, of a machine with two (85
/// % of them taken, at load 18: turns of 4.8 s took 30), and is known no better: tests/bench/forecast does not load the
/// machine on purpose. It decides no more than when the search makes room for the turns, so that where it is wrong, a
/// run on a busy machine ends some seconds before or after its budget; no figure depends on it.
constexpr double kBusyFactor = 6;
constexpr double kOpenSeconds = 0.5; ///< what starting two processes takes

} // namespace

/// Of a budget in time: what measuring the whole network at the end will take, by what it took last, and the turns
/// with the untuned one.
void NetworkWatch::reserve()
{
    // The first time, with default schedules, winograd's weights were transformed, which later ones share.
    const double likely = std::isfinite(m_measured.ms) ? 1.1 : 0.6;
    const NetworkRequest last = request(NetworkBuild::Both);
    const double tunedMs = std::isfinite(m_measured.ms) ? m_measured.ms : m_untunedMs;
    double turns = last.turnSeconds + last.untunedSeconds;
    if (std::isfinite(m_untunedMs))
        turns = plannedSeconds(pairPlan(tunedMs, m_untunedMs, last.turnSeconds, last.untunedSeconds), tunedMs,
                               m_untunedMs);
    // Each turn wakes two processes, and waits for the others' programs: the busier the machine, the longer.
    const double busy = std::isfinite(m_others) ? std::clamp(m_others, 0.0, 1.0) : 0.0;
    turns *= 1 + kBusyFactor * busy;
    m_parts.clock.reserveForNetwork(std::min(likely * m_seconds + kOpenSeconds + turns, 0.3 * m_parts.options.seconds));
}

/// Where the budget is small, the turns are short.
NetworkRequest NetworkWatch::request(NetworkBuild build) const
{
    NetworkRequest request{build, {m_parts.conditions(), m_parts.options.strict}};
    request.choice.layouts.measures = false; // the budget is for trials
    request.device = m_parts.devices.networkDevice();
    if (const double budget = m_parts.options.seconds; budget > 0) {
        request.turnSeconds = std::min(request.turnSeconds, kTurnShare * budget);
        request.untunedSeconds = std::min(request.untunedSeconds, kUntunedTurnsShare * budget);
    }
    return request;
}

Result<> NetworkWatch::measureIfDue(std::stop_token stop)
{
    const bool due = m_parts.clock.atSeconds() - m_at > std::max(60.0, 20 * m_seconds);
    return due && m_parts.scheduler.estimatedLatency() < 0.97 * m_estimate ? measure(NetworkBuild::Tuned, stop)
                                                                           : Result<>();
}

Result<> NetworkWatch::measure(NetworkBuild build, std::stop_token stop)
{
    if (!m_measure)
        return {};
    const bool untuned = build == NetworkBuild::Untuned;
    const double budget = m_parts.options.seconds;
    const auto activity = m_parts.clock.account().in("whole network");
    const double begun = m_parts.clock.atSeconds();
    const StopAfter end(stop, untuned && budget > 0 ? kUntunedShare * budget : std::numeric_limits<double>::infinity());
    const auto figures = m_measure(request(build), end.token());
    m_at = m_parts.clock.atSeconds();
    m_seconds = m_at - begun;
    m_estimate = m_parts.scheduler.estimatedLatency();
    if (figures && !untuned)
        m_measured = figures->measured;
    if (figures && untuned)
        m_untunedMs = figures->measured.ms;
    if (figures)
        m_others = figures->measured.machine.others;
    reserve();
    if (figures)
        return keep(*figures);
    if (end.token().stop_requested() && !stop.stop_requested())
        return m_parts.journal.keep(logged(say(Msg::UntunedNotMeasured, 100 * kUntunedShare)));
    return m_parts.journal.keep(told(figures.error().code, say(Msg::MeasuringNetwork, figures.error())));
}

Result<> NetworkWatch::restore()
{
    if (m_parts.journal.project() == nullptr)
        return {};
    return m_parts.journal.project()->forEachEvent(
        m_parts.journal.session(), [this](std::string_view kind, double, std::string_view content) {
            if (kind != "untuned" && kind != "measured")
                return;
            const MeasuredEvent measured = measuredIn(json::parse(content, nullptr, false), kind == "untuned");
            m_parts.takeBeside(measured);
            if (measured.untuned)
                m_untunedMs = measured.ms;
            else
                m_measured = measured;
        });
}

Result<> NetworkWatch::keep(const NetworkFigures& figures)
{
    const MeasuredEvent& measured = figures.measured;
    if (figures.pairs) {
        m_gain = gainOf(figures.pairs->tunedMs, figures.pairs->untunedMs);
        m_machine = figures.pairs->machine;
    }
    m_parts.takeBeside(measured);
    m_parts.journal.tell({Event{m_at, measured}, Event{m_at, estimateAt(m_at, m_parts)}});
    LATHE_TRY(m_parts.journal.addEvent(m_at, measured.untuned ? "untuned" : "measured", toJson(measured).dump()));
    if (figures.unpaired)
        return m_parts.journal.keep(told(figures.unpaired->code, say(Msg::MeasuringInTurns, *figures.unpaired)));
    return {};
}

} // namespace lathe::session
