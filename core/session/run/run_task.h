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

/// The best program of a task so far, or one that is nearly as fast.
struct Ahead
{
    Record record; ///< of its latest measurement, which gives its cost
    measure::BuiltKernelPtr built;
};

/// One task of a run: how it is searched, and its best programs so far. Used on the run's thread.
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

    /// What all candidates of an alternative share; computed once, as the activity "reference". Errors: Internal if
    /// there is no such alternative.
    Result<measure::TaskDataPtr> data(const std::string& alternative, TimeAccount& time);

    /// Whether a record's algorithm is one of the task's; else the record is of another version, or not strict.
    bool offers(const Record& known) const;

    /// The cost of the best program so far, in nanoseconds: the least cost of the task's trials, or the one that finals
    /// and runoffs found; infinite: there is no valid program yet.
    double bestNs() const { return m_bestNs; }
    /// How many moments bestNs() is the mean of (smoothedCost()); 0: it is the cost of a single trial.
    std::int64_t moments() const { return m_moments; }
    /// The best programs so far, the best first; empty unless runoffs are held.
    std::span<const Ahead> ahead() const { return m_ahead; }

    /// Takes the cost of a trial that was faster than all before it; not called where runoffs are held.
    void takeBest(double ns) { m_bestNs = ns; }
    /// From now on the best programs are the fastest of these, and another one that is nearly as fast. Not empty.
    void takeAhead(std::vector<Ahead> ahead);
    /// Programs of earlier runs may be the best ones before this run has measured anything.
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

    /// Latency of the network with the best program of each task; infinite while a task has none.
    double estimatedSeconds() const;

    /// Takes over the result of finals (finals.h): from now on trials compete with the latest of these records.
    void takeFinals(std::span<const Record> records);

private:
    std::vector<RunTask> m_tasks;
    std::map<std::string, std::int32_t> m_ofKey;
};

} // namespace lathe::session
