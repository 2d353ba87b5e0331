#pragma once

#include <algorithm>
#include <chrono>

namespace lathe::wire {

/// Until when a supervisor waits for a run job. A job has two times: one for what it does on the device, and one for
/// what the device itself compiles before (LATHE_STAGE_BUILD). One of them passes at a time, as the worker says where
/// it is. A worker that goes there and back gets no more of either, so that it ends after both together, whatever it
/// says.
class JobClock
{
public:
    using Clock = std::chrono::steady_clock;
    using Time = Clock::time_point;

    JobClock() = default; ///< of a job that has not begun
    JobClock(Time now, Clock::duration run, Clock::duration build)
        : m_deadline(now + run)
        , m_other(build)
    {
    }

    /// What the worker says.
    void tell(bool builds, Time now)
    {
        if (builds == m_builds || m_deadline == Time::max())
            return;
        const Clock::duration left = std::max(m_deadline - now, Clock::duration::zero());
        m_deadline = now + m_other;
        m_other = left;
        m_builds = builds;
    }
    bool begun() const { return m_deadline != Time::max(); }
    bool builds() const { return m_builds; }
    Time deadline() const { return m_deadline; } ///< of what it does now

private:
    Time m_deadline = Time::max();
    Clock::duration m_other = {}; ///< that is left of the one that does not pass
    bool m_builds = false;
};

} // namespace lathe::wire
