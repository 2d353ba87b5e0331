#pragma once

#include "core/support/random.h"
#include "core/templates/diversity.h"
#include "core/templates/knob_digits.h"

#include <functional>
#include <stop_token>
#include <unordered_set>

namespace lathe::templates {

struct AnnealingOptions
{
    std::size_t walkers = 128; ///< at least 1, at most the space
    std::size_t iterations = 500;
    double startTemperature = 1; ///< in units of scores, which are about 1 for the best
    double endTemperature = 0;
    std::size_t patience = 50; ///< iterations without a change among the best, then it ends
    bool persistent = true; ///< each call goes on where the walkers of the last one stand
    double diversityRatio = 0; ///< so many times the wanted are found, then the most different picked; below 1: not
    std::uint64_t seed = 0;
};

/// Finds configurations of high score without looking at all, by simulated annealing (autotvm.md 7.2): walkers change
/// one knob at a time, go uphill always and downhill with the probability exp(difference / temperature); the
/// temperature falls linearly. What a score is, it does not know: usually a model's guess, cheap for many at once.
///
/// Other than the reference's, which drops what scores below 0, so that its plans are short where scores are ranks: all
/// scores count but those that are no number. What constraints refuse is never in a plan, though walkers may cross it.
///
/// The same seed, calls and scores give the same plans on every machine: what is drawn needs no exp(), of which each
/// machine has its own last digit.
/// Threads: one at a time. Lifetime: the space must outlive it.
class Annealing
{
public:
    /// A score for each index, in their order.
    using Scores = std::function<std::vector<float>(std::span<const std::uint64_t>)>;
    using Excluded = std::function<bool(std::uint64_t)>;

    explicit Annealing(const ConfigSpace& space, AnnealingOptions options = {});

    /// Up to `count` configurations, the best of those that walkers met, from the best on (with the diversity filter:
    /// as it picks them). Fewer where they met fewer.
    ///
    /// @param excluded  what shall not be in the plan, for instance since it was measured; empty: nothing
    /// Stopped early, it returns what was found so far.
    std::vector<ScoredIndex> plan(std::size_t count, const Scores& scores, const Excluded& excluded = {},
                                  std::stop_token stop = {});

    /// Different configurations, good enough for a plan, that constraints refused.
    std::uint64_t refused() const { return m_refused.size(); }
    /// How many iterations the last plan took.
    std::size_t iterations() const { return m_iterations; }

private:
    void placeWalkers();

    const ConfigSpace& m_space;
    AnnealingOptions m_options;
    KnobDigits m_knobs;
    std::vector<std::uint64_t> m_walkers;
    std::unordered_set<std::uint64_t> m_refused;
    std::uint64_t m_calls = 0;
    std::size_t m_iterations = 0;
};

/// True with the probability exp(-x), x >= 0, exactly, from comparisons alone (von Neumann's method): of uniform
/// numbers that fall, x first, the run has odd or even length; for x > 1, once for each whole and once for the rest.
bool drawExpMinus(double x, Random& random);

} // namespace lathe::templates
