#include "core/session/run/run_time.h"

#include <algorithm>

namespace lathe::session {

TimeSpent RunTime::now() const
{
    TimeSpent time;
    time.activities = m_clock.account().sums();
    if (m_devices.devices() == 0)
        return time; // none was opened yet
    const double all = time.seconds();
    WorkerSeconds builders{all * static_cast<double>(m_devices.builders()), 0},
        runners{all * static_cast<double>(m_devices.devices()), 0};
    for (const auto& [name, spent] : m_devices.times().workers) {
        time.workers[name] = {spent.seconds, spent.processorSeconds};
        (isBuilderPiece(name) ? builders : runners).seconds -= spent.seconds;
    }
    builders.seconds = std::max(0.0, builders.seconds);
    runners.seconds = std::max(0.0, runners.seconds);
    time.workers["builder idle"] = builders;
    time.workers["runner idle"] = runners;
    return time;
}

TimeSpent RunTime::sinceLast()
{
    TimeSpent spent = now().since(m_told);
    m_told += spent;
    return spent;
}

TimeSpent RunTime::total() const
{
    TimeSpent total = m_past;
    total += m_told;
    return total;
}

} // namespace lathe::session
