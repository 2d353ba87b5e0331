#pragma once

#include "core/templates/gaussian_process.h"
#include "core/templates/random_order.h"
#include "core/templates/tuner.h"

namespace lathe::templates {

struct GaussianOptions
{
    std::size_t first = 16; ///< configurations that are random, before there is a model; at least 2
    /// Results that a model is made of, in all and to find how far each knob reaches: what bounds the time of a round.
    std::size_t mostKnown = 256;
    std::size_t mostFitted = 96;
    /// A result counts as at most so many times slower than the best, so that what is hopeless does not hide what is
    /// good among the others.
    double worst = 20;

    std::size_t wholeSpace = 2048; ///< up to this size all of a space are candidates
    // In larger ones: some at random, children of the best, neighbours of the best; then rounds of neighbours of the
    // most promising.
    std::size_t anywhere = 512;
    std::size_t children = 256;
    std::size_t parents = 16; ///< whose neighbours are looked at
    std::size_t neighbours = 16; ///< of each
    int rounds = 8;

    std::uint64_t seed = 0;
};

/// Chooses what a Gaussian process expects to gain most from: a model of today's kind, after BaCO (Hellsten et al.,
/// "BaCO: A Fast and Portable Bayesian Compiler Optimization Framework", ASPLOS 2024), for few trials.
///
/// After some random configurations it says for each candidate what time is to be expected and how uncertain that is,
/// from logarithms of times, by kernels over the coordinates of knobs (knob_coordinates.h, gaussian_process.h), whose
/// scales are fitted anew in each round. What is measured next has the most expected improvement (Jones et al. 1998)
/// times the chance that it works, which a second process says from what failed. Those that were given, and those that
/// the same round has chosen already, count as measured with the time that is expected (Ginsbourger et al. 2010,
/// "kriging believer"), so that the next differs.
///
/// Other than BaCO: a process says what works, not a forest of trees; the kernel has a part that is each
/// configuration's own, as what no knob explains may make it the best; the scales are the most probable ones instead of
/// samples; where all of a space are candidates, nothing need be searched. Measured in tests/bench/templates.
///
/// It learns nothing from other tasks. It thinks in next(): a tenth of a second in a space of 10^8, less in small ones.
/// In which order results come does not matter. exp() and erfc() have a last digit of each machine's own, so sequences
/// may differ between machines of different kinds.
class GaussianTuner final : public Tuner
{
public:
    explicit GaussianTuner(const ConfigSpace& space, GaussianOptions options = {});

    /// How many times it made a model; 0: all so far is random.
    std::size_t models() const { return m_models; }

private:
    struct Known
    {
        std::uint64_t index;
        double value; ///< logarithm of seconds; of those that failed nothing is known but that
    };
    class Candidates;

    Result<> prepare(std::size_t count, std::stop_token stop) override;
    std::optional<std::uint64_t> draw() override;
    void given(std::uint64_t index) override { m_awaited.push_back(index); }
    void learn(std::uint64_t index, double seconds) override;

    Observations times(std::size_t most) const;
    Observations outcomes(std::size_t most) const;
    /// Adds all that may be chosen. False: stopped.
    bool gather(Candidates& candidates, std::stop_token stop);

    GaussianOptions m_options;
    KnobCoordinates m_coordinates;
    Random m_random;
    RandomOrder m_order;
    std::vector<Known> m_worked; ///< from the best on
    std::vector<std::uint64_t> m_failed; ///< ascending
    std::vector<std::uint64_t> m_awaited; ///< given, not told
    KernelScales m_timeScales; ///< of the last model, from which the next starts
    KernelScales m_outcomeScales;
    std::size_t m_models = 0;
    std::vector<std::uint64_t> m_plan;
    std::size_t m_place = 0; ///< in the plan
};

} // namespace lathe::templates
