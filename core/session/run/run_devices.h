#pragma once

#include "core/session/run/trial_devices.h"

#include <functional>
#include <memory>

namespace lathe::session {

/// The devices of a run, opened by a Measurer.
class RunDevices final : public TrialDevices
{
public:
    /// Opens the devices, once. InvalidArgument: they are of two classes, so that costs would not compare; those of
    /// Measurer::create().
    Result<> open(measure::MeasurerOptions options, std::stop_token stop);
    /// Measurer::lend()
    Result<measure::Endpoint*> lend(const std::stop_token& stop) { return m_measurer->lend(stop); }
    void giveBack() { m_measurer->giveBack(); }
    void setRunTimeout(double seconds) { m_measurer->setRunTimeout(seconds); } ///< of candidates from now on

    const std::vector<DeviceIdentity>& opened() const { return m_measurer->devices(); }
    /// What they can do at most (Measurer::limits()).
    Result<std::string> limits() { return m_measurer->limits(); }

    Result<> measure(std::span<const measure::MeasureRequest> requests,
                     const measure::Measurer::ResultCallback& onResult, std::stop_token stop,
                     const measure::Measurer::AheadCallback& ahead = {}) override;
    bool buildsMeanwhile() const override { return m_measurer && m_measurer->buildsMeanwhile(); }
    measure::MeasureTimes times() const override;
    std::size_t builders() const override { return m_measurer ? m_measurer->builders() : 0; }
    std::size_t devices() const override { return m_measurer ? m_measurer->measuringAtOnce() : 0; }
    std::string networkDevice() const override { return m_measurer ? opened().front().fingerprint : std::string(); }
    const std::string& deviceKey() const override { return m_deviceKey; }

private:
    std::unique_ptr<measure::Measurer> m_measurer;
    std::string m_deviceKey;
};

} // namespace lathe::session
