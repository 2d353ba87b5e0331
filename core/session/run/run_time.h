#pragma once

#include "core/session/run/budget_clock.h"
#include "core/session/run/trial_devices.h"

namespace lathe::session {

/// Both accounts of a run's time (time_spent.h), handed out in stretches that add up to the whole. Used on the run's
/// thread.
class RunTime
{
public:
    RunTime(BudgetClock& clock, const TrialDevices& devices)
        : m_clock(clock)
        , m_devices(devices)
    {
    }

    /// What the run had before it was continued, as far as its project tells.
    void continueFrom(TimeSpent past) { m_past = std::move(past); }
    /// Since this was asked last.
    TimeSpent sinceLast();
    /// Of all lives, up to when sinceLast() was asked.
    TimeSpent total() const;

private:
    TimeSpent now() const; ///< since this life began

    BudgetClock& m_clock;
    const TrialDevices& m_devices;
    TimeSpent m_past, m_told;
};

} // namespace lathe::session
