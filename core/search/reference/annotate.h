#pragma once

#include "core/schedule/state.h"
#include "core/search/reference/sketch_rules.h"
#include "core/search/sketch.h"
#include "core/support/random.h"

namespace lathe::search {

/// A sketch of the reference with its open choices as a genome: a tuple per open split, then five decisions per stage
/// (compute location, parallel depth, unroll, vector, thread split). The same procedure draws a genome (initial
/// population, auto-scheduler.md 5.1) and replays one.
class ReferenceSketch final : public Sketch
{
public:
    /// `sketch` comes from generateReferenceSketches.
    ReferenceSketch(std::string name, std::string alternative, const schedule::State& sketch,
                    const SketchRuleContext& context);

    Result<std::vector<schedule::Step>> instantiate(const Genome& genome) const override;
    /// The state itself. Errors: IllegalSchedule (a decision that does not exist, limits of the hardware).
    Result<schedule::State> state(const Genome& genome) const;
    /// A random program of the initial population. Errors: IllegalSchedule, as for the reference's invalid samples.
    Result<schedule::State> sample(Random& random, Genome& genome) const;

    /// The reference's mutation rules and weights (5.2); false: this rule found nothing to change.
    bool mutate(Random& random, Genome& genome) const;

    enum Slot : std::size_t
    {
        Location,
        ParallelDepth, ///< 0: by the rule, k: the k outermost iterators
        Unroll, ///< index into unrollCandidates()
        Vector, ///< how many iterators beyond the first are fused, less one
        ThreadSplit, ///< 0: the default, k: factor k - 1 of the extent
        SlotCount
    };
    const std::vector<std::int32_t>& unrollCandidates() const;

private:
    Result<schedule::State> annotate(Genome& genome, Random* random) const;

    SketchRuleContext m_context;
    std::vector<schedule::Step> m_steps;
    std::vector<std::size_t> m_openSplits; ///< positions of steps
    std::size_t m_stages = 0;
};

inline constexpr std::int64_t kMaxInnermostSplitFactor = 64;
inline constexpr std::int64_t kMaxVectorizeSize = 16;

} // namespace lathe::search
