#pragma once

#include "core/session/options/tune_options.h"
#include "core/session/time_spent.h"
#include "core/support/message.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lathe::search {
struct TaskProgress;
}

namespace lathe::session {

/// What a run has used of its budget: active time over all its lives, trials, and what the latest of them gained. Used
/// on the run's thread.
class BudgetClock
{
public:
    /// `options` are read whenever something is asked, and must outlive this. `clock`: as of TimeAccount.
    explicit BudgetClock(const TuneOptions& options, TimeAccount::Clock clock = {});

    /// From now on time counts, from zero.
    void begin();
    /// The run has had so many seconds in earlier lives.
    void continueFrom(double seconds) { m_before = seconds; }
    double atSeconds() const { return m_before + m_time.seconds(); } ///< active, over all lives
    TimeAccount& account() { return m_time; } ///< of this life

    /// Seconds that the search leaves to what comes after it.
    void reserveForFinals(double seconds) { m_finals = seconds; }
    /// leastRound().
    void setLeastOfRound(std::int32_t trials) { m_leastOfRound = trials; }
    void reserveForNetwork(double seconds) { m_network = seconds; }
    double networkReserve() const { return m_network; }
    /// At which the search ends; infinite without a budget in time.
    double searchSeconds() const;

    /// A trial was told; stored ones of an earlier life count, too.
    void countTrial() { ++m_trials; }
    std::int64_t trials() const { return m_trials; }
    /// So many trials go to the devices in this life.
    void countMeasured(std::size_t trials) { m_measured += static_cast<std::int64_t>(trials); }
    /// What building, measuring and storing a trial took in this life.
    double secondsPerTrial();

    /// The scheduler's objective after a round, in seconds: the network's latency, infinite while a task has no valid
    /// result.
    void noteObjective(double seconds);
    /// The same at a time of the run, for gainedTooLittle().
    void noteGain(double atSeconds, double objectiveSeconds);

    /// Whether the search may go on.
    bool left() const;
    /// Why the budget "until the last hour gained under 0.1 %" is used up; nothing: it is not.
    std::optional<Message> gainedTooLittle() const;
    /// How many trials the next round of a task may have, at least one. `tasks`: of the network.
    std::int32_t roundTrials(const search::TaskProgress& progress, std::size_t tasks) const;

    /// Of these, how many its first round may have: every task is to be known soon, so where the budget is small the
    /// first rounds are not to use more than a quarter of it.
    std::int32_t firstRoundTrials(std::int32_t count, std::size_t tasks) const;

private:
    const TuneOptions& m_options;
    TimeAccount::Clock m_clock;
    TimeAccount m_time;
    double m_before = 0, m_finals = 0, m_network = 0;
    std::int64_t m_trials = 0, m_measured = 0;
    std::int32_t m_leastOfRound = 8;
    double m_bestObjective = std::numeric_limits<double>::infinity();
    std::int64_t m_trialsAtBest = 0; ///< when it was reached
    std::vector<std::pair<double, double>>
        m_gains; ///< (seconds of the run, objective in ms) after each round, since it is finite
};

/// Trials of a round: as the options say, else 64, as the reference's; where the budget in time is small, so few that
/// each task gets some four rounds, but at least leastRound().
std::int32_t roundSize(const TuneOptions& options, std::size_t tasks, std::size_t builders);
/// Of a round, where nothing but time limits it: as many trials as builders can work on at once, and some eight. Twice
/// as many were half as fast again on 16 processors (13 trials a second instead of 9), but in a minute too few tasks
/// had a second round.
std::int32_t leastRound(std::size_t builders);

} // namespace lathe::session
