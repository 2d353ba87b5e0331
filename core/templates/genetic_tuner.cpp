#include "core/templates/genetic_tuner.h"

#include <algorithm>
#include <cmath>

namespace lathe::templates {
namespace {

/// Weights of parents are whole numbers, so that the same are drawn on machines that round sums otherwise.
constexpr double kWeightOfBest = 4294967296.0;
/// What even those that failed have: 1e-8 of the best's.
constexpr std::uint64_t kLeastWeight = 43;
/// Choices that a child changes to become a new one.
constexpr int kMostChanges = 100;

constexpr std::size_t kNobody = static_cast<std::size_t>(-1);

} // namespace

GeneticTuner::GeneticTuner(const ConfigSpace& space, GeneticOptions options)
    : Tuner(space)
    , m_options(options)
    , m_random(options.seed)
    , m_knobs(space)
    , m_order(space.size())
{
    const std::uint64_t population = std::max<std::uint64_t>(m_options.population, 1);
    m_options.population = static_cast<std::size_t>(std::min(population, space.size()));
}

void GeneticTuner::given(std::uint64_t index)
{
    ++m_born;
    m_awaited.insert(index);
}

void GeneticTuner::learn(std::uint64_t index, double seconds)
{
    const Member member{index, seconds};
    if (m_awaited.erase(index) != 0)
        m_generation.push_back(member);
    else
        m_earlier.push_back(member);
}

std::optional<std::uint64_t> GeneticTuner::draw()
{
    const bool enoughToStart = m_parents.empty() && m_born == 0 && m_earlier.size() >= m_options.population;
    if (m_born >= m_options.population || enoughToStart) {
        if (!m_awaited.empty())
            return std::nullopt;
        breed();
    }
    if (m_parents.empty())
        return anywhere();
    std::uint64_t index = child();
    for (int i = 0; i < kMostChanges && seen(index); ++i)
        index = m_knobs.neighbour(index, m_random);
    return seen(index) ? anywhere() : index;
}

std::optional<std::uint64_t> GeneticTuner::anywhere()
{
    while (const std::optional<std::uint64_t> index = m_order.next(m_random))
        if (!seen(*index))
            return index;
    return std::nullopt;
}

void GeneticTuner::breed()
{
    // By index where equal, so that the order in which results came does not matter.
    const auto better = [](const Member& a, const Member& b) {
        return a.seconds != b.seconds ? a.seconds < b.seconds : a.index < b.index;
    };
    // Thousands of earlier results would leave no chance to what this run finds.
    std::sort(m_earlier.begin(), m_earlier.end(), better);
    if (m_earlier.size() > m_options.population)
        m_earlier.resize(m_options.population);

    std::vector<Member> pool = std::move(m_generation);
    pool.insert(pool.end(), m_elites.begin(), m_elites.end());
    pool.insert(pool.end(), m_earlier.begin(), m_earlier.end());
    std::sort(pool.begin(), pool.end(), better);
    m_elites.assign(pool.begin(), pool.begin() + static_cast<std::ptrdiff_t>(std::min(m_options.elites, pool.size())));

    m_parents.clear();
    m_weights.clear();
    m_weight = 0;
    const double best = pool.front().seconds;
    for (const Member& member : pool) {
        m_parents.push_back(member.index);
        const double share = std::isfinite(member.seconds) ? best / member.seconds : 0; // of the best's throughput
        m_weights.push_back(static_cast<std::uint64_t>(share * kWeightOfBest) + kLeastWeight);
        m_weight += m_weights.back();
    }
    m_generation.clear();
    m_earlier.clear();
    m_born = 0;
}

std::size_t GeneticTuner::parent(std::size_t other)
{
    std::uint64_t rest = m_random.below(m_weight - (other == kNobody ? 0 : m_weights[other]));
    for (std::size_t i = 0; i < m_parents.size(); ++i) {
        if (i == other)
            continue;
        if (rest < m_weights[i])
            return i;
        rest -= m_weights[i];
    }
    return 0; // the weights are those that were summed up: never
}

std::uint64_t GeneticTuner::child()
{
    const std::size_t head = parent(kNobody);
    std::uint64_t index = m_parents[head];
    const std::size_t knobs = m_knobs.count();
    if (m_parents.size() > 1 && knobs > 0) {
        const std::uint64_t tail = m_parents[parent(head)];
        for (auto j = static_cast<std::size_t>(m_random.below(knobs)); j < knobs; ++j)
            index = m_knobs.changed(index, j, m_knobs.digit(tail, j));
    }
    for (std::size_t j = 0; j < knobs; ++j)
        if (m_random.uniform() < m_options.mutation)
            index = m_knobs.changed(index, j, m_random.below(m_knobs.choices(j)));
    return index;
}

} // namespace lathe::templates
