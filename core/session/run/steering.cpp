#include "core/session/run/steering.h"

namespace lathe::session {

void Steering::restore(std::vector<TaskBudget> budgets)
{
    const std::scoped_lock lock(m_mutex);
    m_budgets = std::move(budgets);
    m_changed.assign(m_budgets.size(), false);
}

std::vector<TaskBudget> Steering::budgets() const
{
    const std::scoped_lock lock(m_mutex);
    return m_budgets;
}

void Steering::setBudget(std::int32_t task, const TaskBudget& budget)
{
    const std::scoped_lock lock(m_mutex);
    m_budgets[static_cast<std::size_t>(task)] = budget;
    m_changed[static_cast<std::size_t>(task)] = true;
}

std::vector<std::pair<std::int32_t, TaskBudget>> Steering::takeChanges()
{
    const std::scoped_lock lock(m_mutex);
    std::vector<std::pair<std::int32_t, TaskBudget>> changes;
    for (std::size_t i = 0; i < m_budgets.size(); ++i) {
        if (m_changed[i])
            changes.emplace_back(static_cast<std::int32_t>(i), m_budgets[i]);
        m_changed[i] = false;
    }
    return changes;
}

void Steering::setRunBudget(const RunBudget& budget)
{
    const std::scoped_lock lock(m_mutex);
    m_runBudget = budget;
}

std::optional<Steering::RunBudget> Steering::takeRunBudget()
{
    const std::scoped_lock lock(m_mutex);
    return std::exchange(m_runBudget, std::nullopt);
}

void Steering::setRunTimeout(double seconds)
{
    const std::scoped_lock lock(m_mutex);
    m_runTimeout = seconds;
}

std::optional<double> Steering::runTimeout() const
{
    const std::scoped_lock lock(m_mutex);
    return m_runTimeout;
}

} // namespace lathe::session
