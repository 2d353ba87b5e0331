#pragma once

#include "core/session/events.h"

#include <condition_variable>
#include <mutex>
#include <stop_token>

namespace lathe::session {

/// What the caller's thread asks of a run's thread, and the observer between them.
class RunControl
{
public:
    void setObserver(SessionObserver* observer); ///< returns when no call to the old one is in flight
    void tell(std::span<const Event> events);

    void requestPause(bool pause);
    bool pauseRequested() const;
    /// Blocks while a pause is requested and no stop is.
    void waitWhilePaused(std::stop_token stop);

    /// A run that goes on is Stopping from now on.
    void noteStop();

    RunState state() const;
    void setState(RunState state);

private:
    std::mutex m_observerMutex; ///< held during callbacks, so that removing waits for them
    SessionObserver* m_observer = nullptr;
    mutable std::mutex m_mutex;
    std::condition_variable_any m_changed;
    bool m_pause = false;
    RunState m_state = RunState::Idle;
};

} // namespace lathe::session
