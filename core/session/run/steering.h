#pragma once

#include "core/session/views.h"

#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace lathe::session {

/// What a person asks of the runs of a session while they go on: budgets of tasks, limits. Set on any thread; the run
/// takes it over between two rounds.
class Steering
{
public:
    /// As stored; nothing of it counts as changed.
    void restore(std::vector<TaskBudget> budgets);
    std::vector<TaskBudget> budgets() const; ///< one per task
    void setBudget(std::int32_t task, const TaskBudget& budget);
    /// (task, budget) set since it was last called.
    std::vector<std::pair<std::int32_t, TaskBudget>> takeChanges();

    /// Of a run that goes on, in all; 0: no limit.
    struct RunBudget
    {
        double seconds = 0; ///< active time
        std::int64_t trials = 0;
    };
    void setRunBudget(const RunBudget& budget);
    std::optional<RunBudget> takeRunBudget(); ///< what was asked for since it was last called

    void setRunTimeout(double seconds);
    std::optional<double> runTimeout() const; ///< what was asked for last

private:
    mutable std::mutex m_mutex;
    std::vector<TaskBudget> m_budgets;
    std::vector<bool> m_changed;
    std::optional<double> m_runTimeout;
    std::optional<RunBudget> m_runBudget;
};

} // namespace lathe::session
