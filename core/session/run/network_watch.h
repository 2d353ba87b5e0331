#pragma once

#include "core/session/exports/kernel_choices.h"
#include "core/session/run/run_parts.h"

#include <functional>
#include <stop_token>

namespace lathe::session {

/// Measures the whole network with the best records (or, untuned, with default schedules); called between rounds.
using NetworkMeasure =
    std::function<Result<MeasuredEvent>(bool untuned, const RecordChoice& choice, std::stop_token stop)>;

/// Decides when a run measures its whole network, and how long that may take.
class NetworkWatch
{
public:
    /// `measure` empty: never.
    NetworkWatch(RunParts& parts, NetworkMeasure measure)
        : m_parts(parts)
        , m_measure(std::move(measure))
    {
    }

    /// Measures the network, emits the result and stores it. The time that this takes is reserved for the next time. A
    /// failure is only reported, not returned as an error, since the search does not depend on the measurement.
    Result<> measure(bool untuned, std::stop_token stop);
    /// About once a minute, more rarely where that takes long, and only if the estimate has moved.
    Result<> measureIfDue(std::stop_token stop);

    double measuredMs() const { return m_measuredMs; } ///< of the tuned network, the latest

private:
    void reserve();

    RunParts& m_parts;
    NetworkMeasure m_measure;
    double m_measuredMs = kUnknown;
    double m_at = 0; ///< when it was last measured
    double m_seconds = 0; ///< how long that took
    double m_estimate = std::numeric_limits<double>::infinity(); ///< then
};

} // namespace lathe::session
