#include "core/search/scheduler_strategies.h"

#include "core/support/random.h"

#include <algorithm>
#include <cmath>

namespace lathe::search {
namespace {

/// The reference's gradient of the objective by the task's next round (auto-scheduler.md 8); the least one is chosen.
class ReferenceStrategy final : public TaskScheduler
{
public:
    ReferenceStrategy(std::vector<ScheduledTask> tasks, const SchedulerOptions& options)
        : TaskScheduler(std::move(tasks), options)
        , m_group(m_tasks.size())
    {
        for (std::size_t i = 0; i < m_tasks.size(); ++i) {
            const ScheduledTask& task = m_tasks[i];
            // Tasks of about equal size (steps of the golden ratio) and equal tag are alike.
            if (!task.similarityTag.empty())
                m_group[i] = task.similarityTag
                             + std::to_string(static_cast<int>(std::log(task.flop + 1) / std::log(1.618)));
        }
    }

private:
    Terms termsOf(std::int32_t task) const override
    {
        const TaskProgress& p = progress(task);
        const double weight = m_tasks[static_cast<std::size_t>(task)].weight;
        if (p.dead || p.rounds == 0)
            return {{"chain", weight}, {"backward", 0}, {"forward", 0}, {"gradient", 0}};
        const auto t = static_cast<std::size_t>(p.rounds);
        const auto window = static_cast<std::size_t>(m_options.window);
        double backward = 0;
        if (t - 1 >= window)
            backward = (p.history[t - 1] - p.history[t - 1 - window]) / static_cast<double>(window);
        const double byRounds = p.bestSeconds - p.bestSeconds / static_cast<double>(t);
        const double byLikes = fromSimilar(task);
        const double forward = std::min(byRounds, byLikes) - p.bestSeconds;
        const double gradient = p.boost * weight * (m_options.alpha * backward + (1 - m_options.alpha) * forward);
        return {{"chain", weight}, {"backward", backward}, {"forward", forward}, {"gradient", gradient}};
    }

    double fromSimilar(std::int32_t task) const
    {
        const std::string& group = m_group[static_cast<std::size_t>(task)];
        if (group.empty() || std::count(m_group.begin(), m_group.end(), group) < 2)
            return std::numeric_limits<double>::infinity();
        double best = 0;
        for (std::size_t i = 0; i < m_tasks.size(); ++i)
            if (m_group[i] == group)
                best = std::max(best, m_tasks[i].flop / m_progress[i].bestSeconds);
        return m_options.beta * m_tasks[static_cast<std::size_t>(task)].flop / best;
    }

    std::int32_t choose(const std::vector<std::int32_t>& alive) const override
    {
        std::vector<double> gradients;
        for (const std::int32_t task : alive)
            gradients.push_back(termsOf(task).at("gradient"));
        const auto [least, most] = std::minmax_element(gradients.begin(), gradients.end());
        if (*least == *most)
            return alive[Random(m_options.seed, static_cast<std::uint64_t>(m_rounds), 0).below(alive.size())];
        return alive[static_cast<std::size_t>(least - gradients.begin())];
    }

    void afterRound(std::int32_t task, const RoundOutcome&) override
    {
        std::string& group = m_group[static_cast<std::size_t>(task)];
        if (group.empty())
            return;
        // A task that stays far behind its likes after many more rounds is not like them.
        double best = 0;
        std::int64_t others = 0;
        for (std::size_t i = 0; i < m_tasks.size(); ++i) {
            if (m_group[i] != group)
                continue;
            best = std::max(best, m_tasks[i].flop / m_progress[i].bestSeconds);
            if (static_cast<std::int32_t>(i) != task)
                others = std::max(others, m_progress[i].rounds);
        }
        const TaskProgress& p = progress(task);
        if (m_tasks[static_cast<std::size_t>(task)].flop / p.bestSeconds < best / m_options.beta
            && p.rounds > 5 + others)
            group.clear();
    }

    std::vector<std::string> m_group;
};

/// Lathe's: the expected gain of the whole network per second spent. Two guesses are joined: the task's own recent gain
/// per round, and a share of what still separates it from its lower bound, which shrinks with the rounds spent; both
/// shrink with rounds without gain, the first faster. The leap from a default schedule to the first searched ones says
/// nothing of the rounds after and is no gain: on a GPU, where it is 10 to 30 times, the tasks that leapt first got all
/// rounds of a minute. A task without gain is not given up for good: when all have stopped, the best of those that
/// have candidates left gets another round.
class GainStrategy final : public TaskScheduler
{
public:
    GainStrategy(std::vector<ScheduledTask> tasks, const SchedulerOptions& options)
        : TaskScheduler(std::move(tasks), options)
    {
        m_revivesDead = true;
    }

private:
    static constexpr double kShare = 0.5; ///< of the distance to the bound, that the first further round may win
    static constexpr double kStaleDecay = 0.75; ///< of what it may win, per round without gain
    static constexpr double kRecentDecay = 0.5; ///< of what it won, per round without gain
    static constexpr double kPriorTrials = 8; ///< of the others' speed: what weighs as much as a task's own trials
    static constexpr double kExploration = 0.02; ///< what a long look away is worth, as a share of the distance

    Terms termsOf(std::int32_t task) const override
    {
        const TaskProgress& p = progress(task);
        const ScheduledTask& spec = m_tasks[static_cast<std::size_t>(task)];
        const double seconds = secondsPerRound(task);
        if (p.rounds == 0)
            return {{"weight", spec.weight},
                    {"recent", 0},
                    {"potential", 0},
                    {"round_seconds", seconds},
                    {"gain_per_second", 0}};
        const auto t = static_cast<std::size_t>(p.rounds);
        const std::size_t window = std::min(static_cast<std::size_t>(m_options.window),
                                            std::max<std::size_t>(t, 2) - 2);
        double recent = 0;
        if (window > 0 && p.history[t - 1 - window] < 1e10)
            recent = (p.history[t - 1 - window] - p.history[t - 1]) / static_cast<double>(window)
                     * std::pow(kRecentDecay, static_cast<double>(p.rounds - p.bestRound));
        const double distance = std::max(0.0, p.bestSeconds - spec.floorSeconds);
        const double stale = std::pow(kStaleDecay, static_cast<double>(p.rounds - p.bestRound));
        const double explore = kExploration
                               * std::sqrt(std::log1p(static_cast<double>(m_rounds)) / static_cast<double>(t));
        const double potential = distance
                                 * (kShare * stale / static_cast<double>(t) + explore / static_cast<double>(t));
        const double gain = p.boost * spec.weight * (0.5 * recent + 0.5 * potential) / seconds;
        return {{"weight", spec.weight},
                {"recent", recent},
                {"potential", potential},
                {"round_seconds", seconds},
                {"gain_per_second", gain}};
    }

    /// What a whole round of the task takes, by its trials so far. The first one brings what is done once for a task
    /// (data, outputs to compare with): until there are more, the others' speed counts, too.
    double secondsPerRound(std::int32_t task) const
    {
        const TaskProgress& p = progress(task);
        double seconds = 0, trials = 0;
        for (const TaskProgress& other : m_progress)
            if (other.rounds > 1) {
                seconds += other.elapsedSeconds;
                trials += static_cast<double>(other.trials);
            }
        const double prior = seconds > 0 && trials > 0 ? kPriorTrials : 0;
        const double own = static_cast<double>(p.trials) + prior;
        if (own <= 0)
            return 1.0;
        const double each = (p.elapsedSeconds + (prior > 0 ? prior * seconds / trials : 0)) / own;
        return each > 0 ? each * static_cast<double>(m_options.trialsPerRound) : 1.0;
    }

    std::int32_t choose(const std::vector<std::int32_t>& alive) const override
    {
        std::int32_t best = alive.front();
        double most = -1;
        for (const std::int32_t task : alive) {
            const double gain = termsOf(task).at("gain_per_second");
            if (gain > most) {
                most = gain;
                best = task;
            }
        }
        return best;
    }
};

class RoundRobinStrategy final : public TaskScheduler
{
public:
    RoundRobinStrategy(std::vector<ScheduledTask> tasks, const SchedulerOptions& options)
        : TaskScheduler(std::move(tasks), options)
    {
    }

private:
    Terms termsOf(std::int32_t task) const override { return {{"rounds", static_cast<double>(progress(task).rounds)}}; }
    std::int32_t choose(const std::vector<std::int32_t>& alive) const override
    {
        return *std::min_element(alive.begin(), alive.end(), [this](std::int32_t a, std::int32_t b) {
            return progress(a).rounds < progress(b).rounds;
        });
    }
};

class SequentialStrategy final : public TaskScheduler
{
public:
    bool staysWithTask() const override { return true; }
    SequentialStrategy(std::vector<ScheduledTask> tasks, const SchedulerOptions& options)
        : TaskScheduler(std::move(tasks), options)
    {
    }

private:
    std::int32_t placeOf(std::int32_t task) const { return m_tasks[static_cast<std::size_t>(task)].place; }
    Terms termsOf(std::int32_t task) const override { return {{"place", static_cast<double>(placeOf(task))}}; }
    std::int32_t choose(const std::vector<std::int32_t>& alive) const override
    {
        return *std::min_element(alive.begin(), alive.end(),
                                 [this](std::int32_t a, std::int32_t b) { return placeOf(a) < placeOf(b); });
    }
};

} // namespace

std::unique_ptr<TaskScheduler> makeReferenceStrategy(std::vector<ScheduledTask> tasks, const SchedulerOptions& options)
{
    return std::make_unique<ReferenceStrategy>(std::move(tasks), options);
}
std::unique_ptr<TaskScheduler> makeGainStrategy(std::vector<ScheduledTask> tasks, const SchedulerOptions& options)
{
    return std::make_unique<GainStrategy>(std::move(tasks), options);
}
std::unique_ptr<TaskScheduler> makeRoundRobinStrategy(std::vector<ScheduledTask> tasks, const SchedulerOptions& options)
{
    return std::make_unique<RoundRobinStrategy>(std::move(tasks), options);
}

std::unique_ptr<TaskScheduler> makeSequentialStrategy(std::vector<ScheduledTask> tasks, const SchedulerOptions& options)
{
    return std::make_unique<SequentialStrategy>(std::move(tasks), options);
}

} // namespace lathe::search
