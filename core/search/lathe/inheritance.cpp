#include "core/search/head_start.h"
#include "core/search/lathe/adapt.h"
#include "core/search/lathe/lathe_policy.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace lathe::search {
namespace {

constexpr std::size_t kMostInherited = 48; ///< members of the first population

} // namespace

std::vector<double> LathePolicy::inherit(const HeadStart& headStart)
{
    std::vector<double> nearest(headStart.tasks.size(), std::numeric_limits<double>::infinity());
    if (m_confined)
        return nearest; // to candidates of its own task
    struct Ancestor
    {
        std::int32_t sketch;
        const HeadStart::Seed* seed;
        double order; ///< the nearer the task, and the closer to its best, the sooner
    };
    std::vector<Ancestor> ancestors;
    for (std::size_t s = 0; s < m_sketches.size(); ++s) {
        const std::string form = formOf(*m_sketches[s]);
        const std::vector<std::int64_t> extents = extentsOf(*m_sketches[s]);
        for (std::size_t t = 0; t < headStart.tasks.size(); ++t) {
            const HeadStart::Task& task = headStart.tasks[t];
            for (const HeadStart::Seed& seed : task.seeds) {
                const double far = seed.form == form ? distance(seed.extents, extents)
                                                     : std::numeric_limits<double>::infinity();
                if (!std::isfinite(far))
                    continue;
                nearest[t] = std::min(nearest[t], far);
                // A candidate twice as slow as its task's best is worth as much as one of a task four times as far in
                // every extent.
                ancestors.push_back(
                    {static_cast<std::int32_t>(s), &seed, far + 2 * std::log2(seed.ns / task.seeds.front().ns)});
            }
        }
    }
    std::stable_sort(ancestors.begin(), ancestors.end(),
                     [](const Ancestor& a, const Ancestor& b) { return a.order < b.order; });
    for (const Ancestor& ancestor : ancestors) {
        if (m_inherited.size() == kMostInherited)
            break;
        const auto genome = adapt(*m_sketches[static_cast<std::size_t>(ancestor.sketch)], ancestor.seed->values);
        if (!genome)
            continue;
        Individual individual{ancestor.sketch, *genome, {}, 0, {}, 0};
        if (!evaluate(individual))
            continue;
        const bool twin = std::any_of(m_inherited.begin(), m_inherited.end(), [&individual](const Individual& other) {
            return other.identity == individual.identity;
        });
        if (!twin)
            m_inherited.push_back(std::move(individual));
    }
    return nearest;
}

Result<std::vector<Candidate>> LathePolicy::heirs() const
{
    std::vector<Candidate> candidates;
    for (const Individual& individual : m_inherited) {
        if (candidates.size() == kHeirs)
            break;
        LATHE_TRY_ASSIGN(Candidate made, candidate(individual, individual.seconds));
        candidates.push_back(std::move(made));
    }
    return candidates;
}

Result<std::vector<Candidate>> LathePolicy::firstRound(std::int32_t count) const
{
    std::vector<Candidate> candidates;
    // Policies that are there to be compared with begin with what they propose themselves.
    std::optional<Candidate> untuned = m_guidance == Guidance::Model && m_untuned && count > 0 ? m_untuned(m_task)
                                                                                               : std::nullopt;
    if (!untuned)
        return candidates;
    candidates.push_back(*std::move(untuned));
    LATHE_TRY_ASSIGN(std::vector<Candidate> inherited, heirs());
    inherited.resize(std::min(inherited.size(), static_cast<std::size_t>(count) - 1));
    candidates.insert(candidates.end(), std::make_move_iterator(inherited.begin()),
                      std::make_move_iterator(inherited.end()));
    return candidates;
}

bool LathePolicy::onlyHeirsTold() const
{
    const auto end = m_inherited.begin() + static_cast<std::ptrdiff_t>(std::min(m_inherited.size(), kHeirs));
    return m_told.size()
           == static_cast<std::size_t>(std::count_if(
               m_inherited.begin(), end, [this](const Individual& heir) { return m_told.contains(heir.identity); }));
}

Result<Candidate> LathePolicy::candidate(const Individual& individual, double seconds) const
{
    const PartedSketch& sketch = *m_sketches[static_cast<std::size_t>(individual.sketch)];
    LATHE_TRY_ASSIGN(const std::vector<schedule::Step> steps, sketch.instantiate(individual.genome));
    Candidate made;
    made.task = m_task.key;
    made.alternative = sketch.alternative();
    made.sketch = sketch.name();
    made.genome = individual.genome;
    made.steps = schedule::toJson(steps).dump();
    made.predictedNs = seconds * 1e9;
    return made;
}

} // namespace lathe::search
