#include "core/session/run/run_devices.h"

#include "core/session/run/measure_plan.h"

namespace lathe::session {

Result<> RunDevices::open(measure::MeasurerOptions options, std::stop_token stop)
{
    LATHE_TRY_ASSIGN(m_measurer, measure::Measurer::create(std::move(options), std::move(stop)));
    LATHE_TRY_ASSIGN(m_deviceKey, classOf(m_measurer->devices()));
    return {};
}

Result<> RunDevices::measure(std::span<const measure::MeasureRequest> requests,
                             const measure::Measurer::ResultCallback& onResult, std::stop_token stop,
                             const measure::Measurer::AheadCallback& ahead)
{
    return m_measurer->measure(requests, onResult, std::move(stop), ahead);
}

measure::MeasureTimes RunDevices::times() const
{
    return m_measurer ? m_measurer->times() : measure::MeasureTimes();
}

} // namespace lathe::session
