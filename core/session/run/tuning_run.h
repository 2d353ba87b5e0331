#pragma once

#include "core/session/run/network_watch.h"
#include "core/session/run/rounds.h"
#include "core/session/run/run_devices.h"
#include "core/session/run/run_finals.h"
#include "core/session/run/run_head_start.h"
#include "core/session/run/steering.h"
#include "core/support/message.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace lathe::session {

struct RunSetup
{
    std::shared_ptr<const LoadedModel> model;
    store::Project* project = nullptr; ///< null: nothing is kept
    std::int64_t modelRow = 0;
    TuneOptions options;
    Executor* executor = nullptr;
    RunControl* control = nullptr;
    Steering* steering = nullptr;
    NetworkMeasure measureNetwork; ///< may be empty
    /// Called with the fingerprint of a device that was opened. Returns the model with the hardware figures that the
    /// device tells, which the run uses from then on. May be empty.
    std::function<Result<std::shared_ptr<const LoadedModel>>(std::string_view device)> deviceOpened;
};

/// The tuning loop: joins search (ask/tell), measure and store. One object per run, used on one thread. Its parts:
/// rounds (rounds.h), runoffs and finals (runoffs.h, run_finals.h), the journal that writes and tells (run_journal.h),
/// the clock of its budget (budget_clock.h), the whole network beside it all (network_watch.h).
class TuningRun
{
public:
    explicit TuningRun(RunSetup setup);

    /// Runs until the budget is used, nothing is left, or `stop`. Emits all events, StateEvents too.
    Result<> run(std::stop_token stop);

private:
    Result<std::optional<store::SessionRow>> latestRun() const;
    Result<std::optional<store::SessionRow>> earlierRun();
    Result<> letGoWhereUnfit(std::optional<store::SessionRow>& earlier, std::stop_token stop);
    Result<> inheritEarlier(std::stop_token stop);
    Result<> inheritAgain(const nlohmann::json& options, std::stop_token stop);
    Result<bool> open(std::stop_token stop);
    Result<> prepare(std::stop_token stop);
    std::int64_t trialCapOf(std::int32_t task) const; ///< 0: none
    Result<> openDevices(std::stop_token stop);
    Result<> loop(std::stop_token stop);
    Result<> followSteering();
    std::string storedOptions() const; ///< JSON
    Result<> keepModel();
    Result<> keepLimits();
    Result<> judge();
    void tellDone();

    RunSetup m_setup;
    TuneOptions& m_options;
    BudgetClock m_clock;
    RunJournal m_journal;
    RunDevices m_devices;
    RunTime m_time;
    RunTasks m_tasks;
    std::shared_ptr<search::SharedModel> m_costModel;
    std::unique_ptr<search::TaskScheduler> m_scheduler;
    std::vector<bool> m_chosen; ///< the tasks that are tuned
    RunHeadStart m_headStart;
    DeviceLimits m_limits; ///< as measured at the run's start
    std::optional<TuneOptions> m_onTop; ///< what was asked for, where the latest run is tuned on
    std::vector<std::int64_t> m_inherited; ///< earlier runs that a new one began with
    std::vector<Message> m_notes; ///< on how it begins
    std::optional<Message> m_ending; ///< why the run ended, unless the budget was used
    // Made by prepare(); parts first, which the others work with.
    std::optional<RunParts> m_parts;
    std::optional<NetworkWatch> m_network;
    std::optional<Rounds> m_rounds;
    std::optional<RunFinals> m_finals;
};

} // namespace lathe::session
