#pragma once

#include "core/measure/measurer.h"

#include <span>
#include <stop_token>
#include <string>

namespace lathe::session {

/// What builds and measures a run's candidates: equal devices, wherever they are, and builders. The parts of a run know
/// no more of them than this; tests put their own in its place. Used on the run's thread.
class TrialDevices
{
public:
    virtual ~TrialDevices() = default;

    /// As Measurer::measure().
    virtual Result<> measure(std::span<const measure::MeasureRequest> requests,
                             const measure::Measurer::ResultCallback& onResult, std::stop_token stop,
                             const measure::Measurer::AheadCallback& ahead = {}) = 0;
    virtual bool buildsMeanwhile() const { return false; } ///< as Measurer::buildsMeanwhile()
    virtual measure::MeasureTimes times() const = 0; ///< since the run began
    virtual std::size_t builders() const = 0; ///< processes
    virtual std::size_t devices() const = 0; ///< that measure at the same time
    /// DeviceIdentity::fingerprint of the one on which the whole network is timed.
    virtual std::string networkDevice() const = 0;
    virtual const std::string& deviceKey() const = 0; ///< of the class that all of them are of
};

} // namespace lathe::session
