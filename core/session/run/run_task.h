#pragma once

#include "core/measure/types.h"
#include "core/search/policy.h"
#include "core/search/search_task.h"
#include "core/session/time_spent.h"

#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lathe::session {

/// A program that stands best of its task, or nearly so.
struct Ahead
{
    Record record; ///< what it costs, by the latest that measured it
    measure::BuiltKernelPtr built;
};

/// One task of a run: how it is searched, and what stands best of it. Used on the run's thread.
class RunTask
{
public:
    RunTask(search::SearchTask searched, std::unique_ptr<search::Policy> by, double weighs)
        : search(std::move(searched))
        , policy(std::move(by))
        , weight(weighs)
    {
    }

    search::SearchTask search;
    std::unique_ptr<search::Policy> policy;
    double weight = 1; ///< how often the network has it

    /// What all candidates of an alternative share; computed once, as the activity "reference". Internal: there is no
    /// such one.
    Result<measure::TaskDataPtr> data(const std::string& alternative, TimeAccount& time);

    /// Whether a record's algorithm is one of the task's; else the record is of another version, or not strict.
    bool offers(const Record& known) const;

    /// Nanoseconds of what stands best: the least of its trials, or what finals and runoffs said; infinite: nothing
    /// stands.
    double bestNs() const { return m_bestNs; }
    /// That bestNs() is the mean of; 0: it is a single trial's.
    std::int64_t moments() const { return m_moments; }
    /// Where runoffs are held; the best first.
    std::span<const Ahead> ahead() const { return m_ahead; }

    /// A trial that was faster than all before it; not where runoffs are held.
    void takeBest(double ns) { m_bestNs = ns; }
    /// Who stands best from now on: the fastest of these, and another one that is nearly as fast. Not empty.
    void takeAhead(std::vector<Ahead> ahead);
    /// Another run's may stand before this one has measured anything.
    void begin(std::vector<Ahead> ahead) { m_ahead = std::move(ahead); }

private:
    std::map<std::string, measure::TaskDataPtr> m_data; ///< by alternative
    double m_bestNs = std::numeric_limits<double>::infinity();
    std::vector<Ahead> m_ahead;
    std::int64_t m_moments = 0;
};

/// All tasks of a run, in the network's order.
class RunTasks
{
public:
    void add(RunTask task);

    std::size_t size() const { return m_tasks.size(); }
    RunTask& operator[](std::int32_t task) { return m_tasks[static_cast<std::size_t>(task)]; }
    const RunTask& operator[](std::int32_t task) const { return m_tasks[static_cast<std::size_t>(task)]; }
    std::vector<RunTask>::const_iterator begin() const { return m_tasks.begin(); }
    std::vector<RunTask>::const_iterator end() const { return m_tasks.end(); }
    /// By Task::key; nothing: the network has no such task.
    std::optional<std::int32_t> find(const std::string& key) const;

    /// Of the network, by what stands best; infinite while a task has nothing.
    double estimatedSeconds() const;

    /// Of finals (finals.h): from now on trials compete with the latest of these.
    void takeFinals(std::span<const Record> records);

private:
    std::vector<RunTask> m_tasks;
    std::map<std::string, std::int32_t> m_ofKey;
};

} // namespace lathe::session
