#include "core/session/run/budget_clock.h"

#include "core/search/task_scheduler.h"
#include "core/support/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lathe::session {

namespace {

constexpr std::size_t kLeastTrialsPerRound = 8, kMostTrialsPerRound = 64;

} // namespace

BudgetClock::BudgetClock(const TuneOptions& options, TimeAccount::Clock clock)
    : m_options(options)
    , m_clock(std::move(clock))
    , m_time(m_clock)
{
}

void BudgetClock::begin()
{
    m_time = TimeAccount(m_clock);
}

double BudgetClock::searchSeconds() const
{
    if (m_options.seconds <= 0)
        return std::numeric_limits<double>::infinity();
    return m_options.seconds - m_finals - m_network;
}

double BudgetClock::secondsPerTrial()
{
    double spent = 0;
    for (const auto& [name, seconds] : m_time.sums())
        if (name == "build" || name == "measure" || name == "store")
            spent += seconds;
    return m_measured > 0 ? spent / static_cast<double>(m_measured) : 0.05;
}

void BudgetClock::noteObjective(double seconds)
{
    if (seconds < m_bestObjective) {
        m_bestObjective = seconds;
        m_trialsAtBest = m_trials;
    }
}

void BudgetClock::noteGain(double atSeconds, double objectiveSeconds)
{
    if (std::isfinite(objectiveSeconds))
        m_gains.emplace_back(atSeconds, objectiveSeconds * 1e3);
}

bool BudgetClock::left() const
{
    if (atSeconds() >= searchSeconds())
        return false;
    if (m_options.trials > 0 && m_trials >= m_options.trials)
        return false;
    // As the reference's: since the objective's best, and only once every task has a valid result.
    return m_options.earlyStop <= 0 || !std::isfinite(m_bestObjective)
           || m_trials - m_trialsAtBest < m_options.earlyStop;
}

std::optional<Message> BudgetClock::gainedTooLittle() const
{
    if (m_options.minGainPercent <= 0 || m_gains.empty())
        return {};
    const double now = m_gains.back().second, since = atSeconds() - m_options.gainWindowSeconds;
    if (m_gains.front().first > since)
        return {}; // the network has not been known for that long
    double before = m_gains.front().second;
    for (const auto& [at, ms] : m_gains)
        if (at <= since)
            before = ms;
    const double gain = 100 * (before - now) / before;
    if (gain >= m_options.minGainPercent)
        return {};
    return say(Msg::GainTooSmall, m_options.gainWindowSeconds / 60, std::max(gain, 0.0), m_options.minGainPercent);
}

std::int32_t BudgetClock::roundTrials(const search::TaskProgress& progress, std::size_t tasks) const
{
    std::int32_t count = m_options.trialsPerRound;
    if (m_options.trials > 0)
        count = static_cast<std::int32_t>(std::min<std::int64_t>(count, m_options.trials - m_trials));
    if (progress.trialCap > 0)
        count = static_cast<std::int32_t>(std::min<std::int64_t>(count, progress.trialCap - progress.trials));
    // Where trials are slow, fewer of them: a round takes a quarter of the task's even share of the budget at most.
    // Durations are stored, so that a run that goes on counts alike.
    if (m_options.seconds > 0 && progress.trials > 0 && progress.elapsedSeconds > 0) {
        const double share = m_options.seconds / (4.0 * static_cast<double>(tasks));
        const double fits = share * static_cast<double>(progress.trials) / progress.elapsedSeconds;
        count = static_cast<std::int32_t>(std::min<double>(count, std::max(fits, static_cast<double>(m_leastOfRound))));
    }
    return std::max(1, count);
}

std::int32_t BudgetClock::firstRoundTrials(std::int32_t count, std::size_t tasks) const
{
    const double share = expectedTrials(m_options) / (4.0 * static_cast<double>(tasks));
    return std::max(1, static_cast<std::int32_t>(std::min(share, static_cast<double>(count))));
}

std::int32_t leastRound(std::size_t builders)
{
    return static_cast<std::int32_t>(std::clamp(builders, kLeastTrialsPerRound, kMostTrialsPerRound));
}

std::int32_t roundSize(const TuneOptions& options, std::size_t tasks, std::size_t builders)
{
    if (options.trialsPerRound > 0)
        return options.trialsPerRound;
    const double fits = expectedTrials(options) / (4.0 * static_cast<double>(tasks));
    return static_cast<std::int32_t>(
        std::clamp(fits, static_cast<double>(leastRound(builders)), static_cast<double>(kMostTrialsPerRound)));
}

} // namespace lathe::session
