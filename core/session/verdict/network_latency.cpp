#include "core/session/verdict/network_latency.h"

#include "core/session/history.h"

#include <cmath>

namespace lathe::session {

void NetworkLatency::take(const MeasuredEvent& measured)
{
    if (!std::isfinite(measured.ms))
        return;
    (measured.untuned ? untunedAloneMs : aloneMs) = measured.ms;
    if (!inTurns) {
        (measured.untuned ? untunedMs : ms) = measured.ms;
        return;
    }
    // Another build than the one of the turns: both figures are those of networks that were timed alone again.
    inTurns = false;
    ms = aloneMs;
    untunedMs = std::isfinite(untunedAloneMs) ? untunedAloneMs : untunedMs;
}

void NetworkLatency::take(const VerdictEvent& verdict)
{
    if (!std::isfinite(verdict.gain.ms) || !std::isfinite(verdict.gain.untunedMs))
        return;
    ms = verdict.gain.ms;
    untunedMs = verdict.gain.untunedMs;
    inTurns = true;
}

NetworkLatency networkLatency(const RunView& run)
{
    NetworkLatency latency;
    MeasuredEvent untuned;
    untuned.ms = run.untunedMs;
    untuned.untuned = true;
    latency.take(untuned);
    MeasuredEvent tuned;
    tuned.ms = run.measured.empty() ? kUnknown : run.measured.back().ms;
    latency.take(tuned);
    // A run that went on after its verdict may have been timed alone since.
    if (!(run.verdictAt < (run.measured.empty() ? kUnknown : run.measured.back().atSeconds)))
        latency.take(run.verdict);
    return latency;
}

} // namespace lathe::session
