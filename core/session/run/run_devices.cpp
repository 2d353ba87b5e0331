#include "core/session/run/run_devices.h"

#include "core/session/condition_texts.h"
#include "core/session/run/measure_plan.h"
#include "core/support/message.h"

namespace lathe::session {

Result<> RunDevices::open(measure::MeasurerOptions options)
{
    LATHE_TRY_ASSIGN(auto measurer, measure::Measurer::create(std::move(options)));
    LATHE_TRY_ASSIGN(std::string key, classOf(measurer->devices()));
    if (m_measurer && key != m_deviceKey)
        return makeError(Errc::InvalidArgument,
                         say(Msg::DevicesDiffer, deviceNameOf(opened().back().fingerprint), m_deviceKey,
                             deviceNameOf(measurer->devices().back().fingerprint), key));
    if (m_measurer)
        m_before += m_measurer->times();
    m_measurer = std::move(measurer);
    m_deviceKey = std::move(key);
    return {};
}

Result<> RunDevices::measure(std::span<const measure::MeasureRequest> requests,
                             const measure::Measurer::ResultCallback& onResult, std::stop_token stop)
{
    return m_measurer->measure(requests, onResult, std::move(stop));
}

measure::MeasureTimes RunDevices::times() const
{
    measure::MeasureTimes times = m_before;
    if (m_measurer)
        times += m_measurer->times();
    return times;
}

} // namespace lathe::session
