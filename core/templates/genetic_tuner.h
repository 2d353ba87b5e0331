#pragma once

#include "core/templates/knob_digits.h"
#include "core/templates/random_order.h"
#include "core/templates/tuner.h"

namespace lathe::templates {

struct GeneticOptions
{
    std::size_t population = 100; ///< of a generation; at least 1, at most the space
    std::size_t elites = 3; ///< the best so far, which are parents of every generation
    double mutation = 0.1; ///< how probable it is that a knob of a child gets a random choice
    std::uint64_t seed = 0;
};

/// Breeds configurations from good ones (autotvm.md 7.1). Genes are the choices of the knobs. The first generation is
/// random. Once all results of a generation are there, it and the elites before it are the parents of the next:
/// probable as their throughput says, two for each child, which has its first knobs of one and the others of the other,
/// cut at random; then knobs mutate; then, as long as the child is not new, some knob gets another choice.
///
/// Between generations next() gives nothing until all of the last was told.
///
/// Other than the reference's (autotvm.md 7.1, 17): children are made when they are asked for, so that none counts as
/// seen that was never measured; refused children are not measured, and others are born instead; when no new child is
/// found near its parents, it is any configuration that is left, so that the last ones of a space are found at once;
/// results of earlier runs are parents too, of the very first generation if they are enough for one.
class GeneticTuner final : public Tuner
{
public:
    explicit GeneticTuner(const ConfigSpace& space, GeneticOptions options = {});

private:
    struct Member
    {
        std::uint64_t index;
        double seconds; ///< infinite: failed
    };

    std::optional<std::uint64_t> draw() override;
    void given(std::uint64_t index) override;
    void learn(std::uint64_t index, double seconds) override;

    /// Ends a generation: its members, the elites and what else was told become the parents.
    void breed();
    std::uint64_t child();
    /// A parent by its weight, another than `other`.
    std::size_t parent(std::size_t other);
    std::optional<std::uint64_t> anywhere();

    GeneticOptions m_options;
    Random m_random;
    KnobDigits m_knobs;
    RandomOrder m_order;
    std::size_t m_born = 0; ///< of this generation, given
    std::unordered_set<std::uint64_t> m_awaited; ///< of these, not told
    std::vector<Member> m_generation; ///< of these, told
    std::vector<Member> m_earlier; ///< told, not given: results of earlier runs
    std::vector<Member> m_elites;
    std::vector<std::uint64_t> m_parents; ///< empty: this generation is random
    std::vector<std::uint64_t> m_weights; ///< of the parents
    std::uint64_t m_weight = 0; ///< of all parents
};

} // namespace lathe::templates
