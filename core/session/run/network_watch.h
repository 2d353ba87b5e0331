#pragma once

#include "core/session/exports/network_bench.h"
#include "core/session/run/run_parts.h"

#include <functional>
#include <stop_token>

namespace lathe::session {

/// Measures the whole network (NetworkBench::measure); called between rounds.
using NetworkMeasure = std::function<Result<NetworkFigures>(const NetworkRequest& request, std::stop_token stop)>;

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

    /// Measures the network, emits the result and stores it; then the estimate, which goes by what was measured last.
    /// The time that this takes is reserved for the next time. A failure is only reported, not returned as an error,
    /// since the search does not depend on the measurement.
    Result<> measure(NetworkBuild build, std::stop_token stop);
    /// Of a run that goes on: what was measured before counts.
    Result<> restore();
    /// About once a minute, more rarely where that takes long, and only if the estimate has moved.
    Result<> measureIfDue(std::stop_token stop);

    const MeasuredEvent& measured() const { return m_measured; } ///< of the tuned network, the latest
    const Gain& gain() const { return m_gain; } ///< of the turns with the untuned one; unknown before
    const measure::MachineState& machine() const { return m_machine; } ///< meanwhile

private:
    void reserve();
    NetworkRequest request(NetworkBuild build) const;
    Result<> keep(const NetworkFigures& figures);

    RunParts& m_parts;
    NetworkMeasure m_measure;
    MeasuredEvent m_measured;
    Gain m_gain;
    measure::MachineState m_machine;
    double m_untunedMs = kUnknown; ///< alone, as measured last
    double m_others = kUnknown; ///< what other programs took of the machine then
    double m_at = 0; ///< when it was last measured
    double m_seconds = 0; ///< how long that took
    double m_estimate = std::numeric_limits<double>::infinity(); ///< then
};

} // namespace lathe::session
