#include "core/session/run_control.h"

namespace lathe::session {

void RunControl::setObserver(SessionObserver* observer)
{
    const std::scoped_lock lock(m_observerMutex);
    m_observer = observer;
}

void RunControl::tell(std::span<const Event> events)
{
    const std::scoped_lock lock(m_observerMutex);
    if (m_observer != nullptr && !events.empty())
        m_observer->onEvents(events);
}

void RunControl::requestPause(bool pause)
{
    {
        const std::scoped_lock lock(m_mutex);
        m_pause = pause;
        if (pause && m_state == RunState::Running)
            m_state = RunState::Pausing;
        else if (!pause && m_state == RunState::Pausing)
            m_state = RunState::Running;
    }
    m_changed.notify_all();
}

bool RunControl::pauseRequested() const
{
    const std::scoped_lock lock(m_mutex);
    return m_pause;
}

void RunControl::waitWhilePaused(std::stop_token stop)
{
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, stop, [this] { return !m_pause; });
}

void RunControl::noteStop()
{
    const std::scoped_lock lock(m_mutex);
    if (m_state == RunState::Starting || m_state == RunState::Running || m_state == RunState::Pausing
        || m_state == RunState::Paused)
        m_state = RunState::Stopping;
}

RunState RunControl::state() const
{
    const std::scoped_lock lock(m_mutex);
    return m_state;
}

void RunControl::setState(RunState state)
{
    const std::scoped_lock lock(m_mutex);
    m_state = state;
}

} // namespace lathe::session
