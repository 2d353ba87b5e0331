#pragma once

#include "core/search/task_scheduler.h"
#include "core/session/loaded_model.h"
#include "core/session/run/run_journal.h"
#include "core/session/run/run_task.h"
#include "core/session/run/run_time.h"
#include "core/session/run/trial_devices.h"
#include "core/support/executor.h"

#include <cmath>

namespace lathe::session {

/// What rounds, runoffs and finals of a run work with. All of it outlives them; the run's thread alone touches it.
struct RunParts
{
    const LoadedModel& model;
    const TuneOptions& options;
    Executor& executor;
    BudgetClock& clock;
    RunJournal& journal;
    RunTasks& tasks;
    TrialDevices& devices;
    RunTime& time;
    search::TaskScheduler& scheduler;
    search::SharedModel& costModel;
    std::string nonce; ///< of the run: trial ids are hashes of it, round and index
    std::int64_t coldBytes = 0; ///< lathe::coldBytes of its records
    bool runoffs = false; ///< are held
    bool modelTime = false; ///< the device computes its times: durations come from results, so that runs replay
    /// What a run of the network has beside its tasks' sum, as measured last; 0 before, and where nobody measures it.
    double besideTasksMs = 0;

    void takeBeside(const MeasuredEvent& measured)
    {
        if (std::isfinite(measured.beside()))
            besideTasksMs = measured.beside();
    }

    /// Under which the run's costs are measured.
    store::Conditions conditions() const { return {devices.deviceKey(), coldBytes, {}}; }
};

} // namespace lathe::session
